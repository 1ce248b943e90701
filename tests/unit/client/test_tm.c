/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tm.c - tasks of a job against a daemon that is played: what it says is taken, what is wrong ends the connection.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "frame.h"
#include "harness.h"
#include "pack.h"
#include "tm.h"

#define STREAM (UINT64_C(1) << 32)

static char path[64];
static int listener, peer;
static pthread_t thread;
static struct frame_reader reader;

/* ---- the daemon -------------------------------------------------------------------------------------------------- */
static bool send_bytes(const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(peer, bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static bool send_body(uint16_t type, uint64_t corr, const struct buf *body)
{
	char head[WIRE_HEADER_SIZE];

	frame_header(head, type, corr, (uint32_t)body->len);
	return send_bytes(head, sizeof(head)) && send_bytes(body->data, body->len);
}

static void say(uint16_t type, uint64_t corr, const char *key, int64_t n, int64_t event)
{
	struct buf b;

	buf_init(&b);
	pack_map(&b, event ? 3 : 1);
	pack_key_int(&b, key, n);
	if (event) {
		pack_key_int(&b, "event", event);
		pack_key_int(&b, "code", 0);
	}
	send_body(type, corr, &b);
	buf_fini(&b);
}

static void greet_with(int64_t nodes, int64_t node)
{
	struct buf b;

	buf_init(&b);
	pack_map(&b, 3);
	pack_key_int(&b, "client", 1);
	pack_key_int(&b, "nodes", nodes);
	pack_key_int(&b, "node", node);
	send_body(WIRE_PART, STREAM, &b);
	buf_fini(&b);
}

static void greet(void)
{
	greet_with(2, 0);
}

/* Reads the next request; returns its correlation id, 0 at the end. */
static uint64_t request(void)
{
	struct frame f;
	size_t len;
	char *room;
	ssize_t n;

	while (frame_next(&reader, &f) == 0) {
		if (frame_reader_room(&reader, 4096, &room, &len) < 0 || (n = recv(peer, room, len, 0)) <= 0)
			return 0;
		frame_reader_added(&reader, (size_t)n);
	}
	return f.corr;
}

static void play(void *(*part)(void *))
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(path, sizeof(path), "/tmp/test_tm.%d", (int)getpid());
	unlink(path);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_FATAL(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 5) == 0);
	setenv("KEELSON_MOM_SOCKET", path, 1);
	setenv("PBS_JOBID", "7.svr", 1);
	setenv("PBS_JOBCOOKIE", "C", 1);
	setenv("PBS_NODENUM", "0", 1);
	setenv("PBS_TASKNUM", "0000000A", 1);
	setenv("PBS_MOMPORT", "15003", 1);
	frame_reader_init(&reader, WIRE_BODY_MAX);
	CU_ASSERT_FATAL(pthread_create(&thread, NULL, part, NULL) == 0);
}

static void ended(void)
{
	pthread_join(thread, NULL);
	close(listener);
	unlink(path);
	frame_reader_fini(&reader);
}

#define ACCEPT() (peer = accept(listener, NULL, NULL), request())

static void *refuses(void *arg)
{
	ACCEPT();
	say(WIRE_REPLY, STREAM, "code", TM_ENOTFOUND, 0);
	close(peer);
	return arg;
}

static void *babbles(void *arg)
{
	ACCEPT();
	send_bytes("\xff\xff\xff\xff no frame at all", 20);
	while (request() != 0)
		;
	close(peer);
	return arg;
}

static int64_t nodes_said, node_said;

static void *lies(void *arg)
{
	ACCEPT();
	greet_with(nodes_said, node_said);
	request(); /* the end */
	close(peer);
	return arg;
}

static void *serves(void *arg)
{
	uint64_t spawn, obit;

	ACCEPT();
	greet();
	spawn = request();
	say(WIRE_PART, STREAM, "task", 77, 4711); /* of no event */
	say(WIRE_REPLY, 4711, "code", 17000, 0);
	say(WIRE_REPLY, spawn, "code", 0, 0);
	say(WIRE_PART, STREAM, "task", 5, (int64_t)spawn);
	obit = request();
	say(WIRE_PART, STREAM, "status", 271, (int64_t)obit);
	say(WIRE_PART, STREAM, "status", 3, (int64_t)obit); /* once more */
	spawn = request();
	say(WIRE_REPLY, spawn, "code", 15007, 0);
	request(); /* the end */
	close(peer);
	return arg;
}

/* Sends more than a client takes once a request comes, and reads nothing of that. */
static void *floods(void *arg)
{
	static char much[1 << 16];

	ACCEPT();
	greet();
	(void)!recv(peer, much, 1, MSG_PEEK); /* the greeting was read alone: a request follows it */
	much[0] = '\0';
	while (send_bytes(much, sizeof(much)))
		;
	close(peer);
	return arg;
}

/* Is killed, and comes again: the end of the task is waited for on, the start is not repeated. */
static void *restarts(void *arg)
{
	uint64_t obit;

	ACCEPT();
	greet();
	say(WIRE_PART, STREAM, "task", 5, (int64_t)request());
	request();
	request();
	close(peer);
	frame_reader_fini(&reader);
	frame_reader_init(&reader, WIRE_BODY_MAX);
	ACCEPT();
	greet();
	obit = request();
	say(WIRE_PART, STREAM, "status", 4, (int64_t)obit);
	request();
	close(peer);
	return arg;
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */
static struct tm_roots roots;
static char *argv[] = { "true", NULL };

static void test_refused(void)
{
	play(refuses);
	CU_ASSERT_EQUAL(tm_init(NULL, &roots), TM_ENOTFOUND);
	ended();
	CU_ASSERT_EQUAL(tm_init(NULL, &roots), TM_ESYSTEM); /* there is no daemon */
	unsetenv("PBS_JOBCOOKIE");
	CU_ASSERT_EQUAL(tm_init(NULL, &roots), TM_EBADENVIRONMENT);
	setenv("PBS_JOBCOOKIE", "C", 1);
	setenv("PBS_TASKNUM", "x", 1);
	CU_ASSERT_EQUAL(tm_init(NULL, &roots), TM_EBADENVIRONMENT);
}

static void test_garbage(void)
{
	play(babbles);
	CU_ASSERT_EQUAL(tm_init(NULL, &roots), TM_ENOTCONNECTED);
	ended();
}

static int init_with(int64_t nodes, int64_t node)
{
	tm_node_id *list = NULL;
	int n = 0, ret;

	nodes_said = nodes;
	node_said = node;
	play(lies);
	ret = tm_init(NULL, &roots);
	if (ret == TM_SUCCESS) {
		CU_ASSERT_EQUAL(tm_nodeinfo(&list, &n), TM_SUCCESS);
		CU_ASSERT(n == nodes && list[n] == TM_ERROR_NODE);
		free(list);
		tm_finalize();
	}
	ended();
	return ret;
}

/* past sdk/client/tm.c NODES_MAX */
static void test_lies(void)
{
	CU_ASSERT_EQUAL(init_with(1000000, 999999), TM_SUCCESS);
	CU_ASSERT_EQUAL(init_with(1000001, 0), TM_ESYSTEM);
	CU_ASSERT_EQUAL(init_with(-1, 0), TM_ESYSTEM);
	CU_ASSERT_EQUAL(init_with(-5, -6), TM_ESYSTEM);
	CU_ASSERT_EQUAL(init_with(INT64_C(0x100000002), 0), TM_ESYSTEM);
	CU_ASSERT_EQUAL(init_with(2, -1), TM_ESYSTEM);
	CU_ASSERT_EQUAL(init_with(2, 3), TM_ESYSTEM);
}

static int next(tm_event_t *event)
{
	int error = -1;

	CU_ASSERT_EQUAL(tm_poll(TM_NULL_EVENT, event, 1, &error), TM_SUCCESS);
	return error;
}

static void test_events(void)
{
	tm_task_id task = 0;
	tm_event_t event, got;
	int status = 0;

	play(serves);
	CU_ASSERT_EQUAL_FATAL(tm_init(NULL, &roots), TM_SUCCESS);
	CU_ASSERT_EQUAL(roots.tm_me, 10);
	CU_ASSERT_EQUAL(roots.tm_nnodes, 2);
	CU_ASSERT_EQUAL(tm_spawn(1, argv, NULL, 1, &task, &event), TM_SUCCESS);
	CU_ASSERT_EQUAL(next(&got), TM_SUCCESS);
	CU_ASSERT_EQUAL(got, event);
	CU_ASSERT_EQUAL(task, 5);
	CU_ASSERT_EQUAL(tm_obit(77, &status, &event), TM_ENOTFOUND);
	CU_ASSERT_EQUAL(tm_obit(5, &status, &event), TM_SUCCESS);
	CU_ASSERT_EQUAL(next(&got), TM_SUCCESS);
	CU_ASSERT_EQUAL(status, 271);
	CU_ASSERT_EQUAL(tm_spawn(1, argv, NULL, 1, &task, &event), TM_SUCCESS);
	CU_ASSERT_EQUAL(next(&got), TM_ESYSTEM);
	CU_ASSERT_EQUAL(tm_poll(TM_NULL_EVENT, &got, 1, &status), TM_ENOTFOUND);
	CU_ASSERT_EQUAL(tm_finalize(), TM_SUCCESS);
	ended();
}

/* past sdk/client/tm_link.c UNREAD_MAX */
static void test_flood(void)
{
	char *large = malloc(1 << 20), *many[] = { "true", large, NULL };
	tm_task_id task = 0;
	tm_event_t event, got;

	memset(large, 'x', (1 << 20) - 1);
	large[(1 << 20) - 1] = '\0';
	play(floods);
	CU_ASSERT_EQUAL_FATAL(tm_init(NULL, &roots), TM_SUCCESS);
	CU_ASSERT_EQUAL(tm_spawn(2, many, NULL, 1, &task, &event), TM_SUCCESS);
	CU_ASSERT_EQUAL(next(&got), TM_ESYSTEM);
	CU_ASSERT_EQUAL(got, event);
	CU_ASSERT_EQUAL(tm_finalize(), TM_SUCCESS);
	ended();
	free(large);
}

static void test_restart(void)
{
	tm_task_id task = 0, other = 0;
	tm_event_t first, second, got;
	int status = 0;

	play(restarts);
	CU_ASSERT_EQUAL_FATAL(tm_init(NULL, &roots), TM_SUCCESS);
	CU_ASSERT_EQUAL(tm_spawn(1, argv, NULL, 1, &task, &first), TM_SUCCESS);
	CU_ASSERT_EQUAL(next(&got), TM_SUCCESS);
	CU_ASSERT_EQUAL(tm_obit(task, &status, &first), TM_SUCCESS);
	CU_ASSERT_EQUAL(tm_spawn(1, argv, NULL, 1, &other, &second), TM_SUCCESS);
	CU_ASSERT_EQUAL(next(&got), TM_ESYSTEM);
	CU_ASSERT_EQUAL(got, second);
	CU_ASSERT_EQUAL(next(&got), TM_SUCCESS);
	CU_ASSERT_EQUAL(got, first);
	CU_ASSERT_EQUAL(status, 4);
	CU_ASSERT_EQUAL(tm_finalize(), TM_SUCCESS);
	ended();
}

TESTS_MAIN("tm", TEST(test_refused), TEST(test_garbage), TEST(test_lies), TEST(test_events), TEST(test_flood), TEST(test_restart))
