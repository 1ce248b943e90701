/* SPDX-License-Identifier: Apache-2.0
 *
 * test_restart.c - a server that says goodbye and comes back: calls wait, and no request is sent twice that may
 * have been read.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "fake_server.h"
#include "harness.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

static int n_read; /* requests that the server has read */

/* The next connection takes the place of the last one. */
static void next_client(struct fake_server *f, int fd)
{
	int next;

	shutdown(fd, SHUT_RDWR);
	next = accept(f->listener, NULL, NULL);
	CU_ASSERT_FATAL(next >= 0);
	dup2(next, fd);
	close(next);
	frame_reader_fini(&f->reader);
	frame_reader_init(&f->reader, WIRE_BODY_MAX);
}

static void goodbye(struct fake_server *f, int fd)
{
	fake_begin(f);
	pack_map(&f->body, 0);
	fake_send(f, fd, WIRE_GOODBYE);
}

static void goodbye_for_good(struct fake_server *f, int fd)
{
	fake_begin(f);
	pack_map(&f->body, 1);
	pack_key_int(&f->body, "stop", 1);
	fake_send(f, fd, WIRE_GOODBYE);
}

/* Returns its address. */
static struct sockaddr_un socket_remove(const struct fake_server *f)
{
	struct sockaddr_un address;
	socklen_t len = sizeof(address);

	getsockname(f->listener, (struct sockaddr *)&address, &len);
	shutdown(f->listener, SHUT_RDWR);
	close(f->listener);
	unlink(address.sun_path);
	return address;
}

static void reply_again(struct fake_server *f, int fd)
{
	fake_begin(f);
	pack_map(&f->body, 2);
	pack_key_int(&f->body, "code", PBSE_SVRDOWN);
	pack_key_int(&f->body, "again", 1);
	fake_send(f, fd, WIRE_REPLY);
}

/* Reads a request, which must be `name`; false: the client is gone. */
static bool reads(struct fake_server *f, int fd, const char *name)
{
	struct pack p;
	size_t len;
	const char *req;

	if (fake_request(f, fd, &p) < 0)
		return false;
	n_read++;
	req = pack_bytes(&p.root, "req", &len);
	CU_ASSERT(req != NULL && len == strlen(name) && memcmp(req, name, len) == 0);
	pack_fini(&p);
	return true;
}

static void serve_deletes(struct fake_server *f, int fd)
{
	while (reads(f, fd, "delete"))
		fake_reply(f, fd, 0, NULL, NULL, NULL);
}

static int start(struct fake_server *f, void (*serve)(struct fake_server *f, int fd))
{
	int c;

	n_read = 0;
	fake_start(f, serve, NULL);
	c = pbs_connect(NULL);
	CU_ASSERT_FATAL(c > 0);
	return c;
}

static void finish(struct fake_server *f, int c)
{
	CU_ASSERT_EQUAL(pbs_disconnect(c), 0);
	fake_stop(f);
}

static void serve_idle(struct fake_server *f, int fd)
{
	CU_ASSERT(reads(f, fd, "delete"));
	fake_reply(f, fd, 0, NULL, NULL, NULL);
	goodbye(f, fd);
	next_client(f, fd);
	serve_deletes(f, fd);
}

static void test_handle_stays(void)
{
	struct fake_server f;
	int c = start(&f, serve_idle);

	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), 0);
	finish(&f, c);
	CU_ASSERT_EQUAL(n_read, 3);
}

/* The request waits in the socket of a server that reads no more. */
static void serve_unread(struct fake_server *f, int fd)
{
	char byte;

	CU_ASSERT_EQUAL(recv(fd, &byte, 1, MSG_PEEK), 1);
	goodbye(f, fd);
	next_client(f, fd);
	serve_deletes(f, fd);
}

static void test_unread(void)
{
	struct fake_server f;
	int c = start(&f, serve_unread);

	CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), 0);
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(c));
	CU_ASSERT_EQUAL(pbs_errno, 0);
	finish(&f, c);
	CU_ASSERT_EQUAL(n_read, 1);
}

static void serve_again(struct fake_server *f, int fd)
{
	char byte;

	CU_ASSERT(reads(f, fd, "delete"));
	reply_again(f, fd);
	CU_ASSERT_EQUAL(recv(fd, &byte, 1, MSG_PEEK), 1);
	goodbye(f, fd);
	next_client(f, fd);
	serve_deletes(f, fd);
}

static void test_again(void)
{
	struct fake_server f;
	int c = start(&f, serve_again);

	CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), 0);
	finish(&f, c);
	CU_ASSERT_EQUAL(n_read, 2);
}

/* As a server that is stopped and started: its socket goes, too. */
static void serve_elsewhere(struct fake_server *f, int fd)
{
	struct sockaddr_un address;

	CU_ASSERT(reads(f, fd, "delete"));
	address = socket_remove(f);
	reply_again(f, fd);
	goodbye(f, fd);
	shutdown(fd, SHUT_RDWR);
	f->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	CU_ASSERT_FATAL(bind(f->listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	CU_ASSERT_FATAL(listen(f->listener, 4) == 0);
	next_client(f, fd);
	serve_deletes(f, fd);
}

static void test_new_socket(void)
{
	struct fake_server f;
	int c = start(&f, serve_elsewhere);

	CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), 0);
	finish(&f, c);
	CU_ASSERT_EQUAL(n_read, 2);
}

static void serve_the_last(struct fake_server *f, int fd)
{
	CU_ASSERT(reads(f, fd, "delete"));
	socket_remove(f);
	f->listener = -1;
	reply_again(f, fd);
	goodbye_for_good(f, fd);
	shutdown(fd, SHUT_RDWR);
}

/* A server that does not restart is not waited for. */
static void test_stopped(void)
{
	struct fake_server f;
	int c = start(&f, serve_the_last);
	int64_t begun = time(NULL);

	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), PBSE_SYSTEM);
		CU_ASSERT_STRING_EQUAL(pbs_geterrmsg(c), "Cannot connect to the server: it has stopped");
	}
	CU_ASSERT(time(NULL) - begun < 30);
	finish(&f, c);
	CU_ASSERT_EQUAL(n_read, 1);
}

static void serve_before_and_after(struct fake_server *f, int fd)
{
	goodbye_for_good(f, fd);
	next_client(f, fd);
	serve_deletes(f, fd);
}

static void test_stopped_and_started(void)
{
	struct fake_server f;
	int c = start(&f, serve_before_and_after);

	CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), 0);
	finish(&f, c);
	CU_ASSERT_EQUAL(n_read, 1);
}

static void send_objects(struct fake_server *f, int fd)
{
	fake_begin(f);
	pack_map(&f->body, 1);
	pack_str(&f->body, "objects");
	pack_array(&f->body, 1);
	pack_array(&f->body, 2);
	pack_str(&f->body, "1.server");
	pack_array(&f->body, 0);
	fake_send(f, fd, WIRE_PART);
}

static void serve_cut_list(struct fake_server *f, int fd)
{
	CU_ASSERT(reads(f, fd, "status"));
	send_objects(f, fd);
	goodbye(f, fd);
	next_client(f, fd);
	while (reads(f, fd, "status")) {
		send_objects(f, fd);
		fake_reply(f, fd, 0, NULL, NULL, NULL);
	}
}

static int count(struct batch_status *one, void *arg)
{
	(void)one;
	++*(int *)arg;
	return 0;
}

static void test_cut_list_is_an_error(void)
{
	struct fake_server f;
	struct batch_status *list;
	int c = start(&f, serve_cut_list), n = 0;

	CU_ASSERT_EQUAL(pbs_stat_each(c, "job", NULL, NULL, NULL, NULL, count, &n), PBSE_SVRDOWN);
	CU_ASSERT_EQUAL(n, 1);
	CU_ASSERT_STRING_EQUAL(pbs_geterrmsg(c), "The server restarts: its answer is incomplete");
	list = pbs_statjob(c, NULL, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	CU_ASSERT_PTR_NULL(list->next);
	pbs_statfree(list);
	finish(&f, c);
	CU_ASSERT_EQUAL(n_read, 2);
}

static void serve_then_die(struct fake_server *f, int fd)
{
	CU_ASSERT(reads(f, fd, "delete"));
	shutdown(fd, SHUT_RDWR);
}

/* Without a goodbye the request may have acted. */
static void test_lost(void)
{
	struct fake_server f;
	int c = start(&f, serve_then_die);

	CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), PBSE_PROTOCOL);
	CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), PBSE_PROTOCOL);
	CU_ASSERT_EQUAL(pbs_asyrunjob(c, "1", NULL, NULL), PBSE_PROTOCOL);
	finish(&f, c);
	CU_ASSERT_EQUAL(n_read, 1);
}

static void serve_runs(struct fake_server *f, int fd)
{
	goodbye(f, fd);
	next_client(f, fd);
	CU_ASSERT(reads(f, fd, "run"));
	fake_reply(f, fd, 0, NULL, NULL, NULL);
	CU_ASSERT(reads(f, fd, "run"));
	fake_reply(f, fd, 0, NULL, NULL, NULL);
	goodbye(f, fd);
	next_client(f, fd);
	CU_ASSERT(reads(f, fd, "run"));
	fake_reply(f, fd, 0, NULL, NULL, NULL);
}

/* A request whose reply is not waited for is sent to a server that is there. */
static void test_no_reply_wanted(void)
{
	struct fake_server f;
	int c = start(&f, serve_runs);

	CU_ASSERT_EQUAL(pbs_runjob(c, "1", NULL, NULL), 0);
	CU_ASSERT_EQUAL(pbs_runjob(c, "2", NULL, NULL), 0);
	CU_ASSERT_EQUAL(poll(&(struct pollfd){ .fd = c, .events = POLLRDHUP }, 1, 10000), 1);
	CU_ASSERT_EQUAL(pbs_asyrunjob(c, "3", NULL, NULL), 0);
	finish(&f, c);
	CU_ASSERT_EQUAL(n_read, 3);
}

TESTS_MAIN("restart", TEST(test_handle_stays), TEST(test_unread), TEST(test_again), TEST(test_new_socket),
	   TEST(test_stopped), TEST(test_stopped_and_started),
	   TEST(test_cut_list_is_an_error), TEST(test_lost), TEST(test_no_reply_wanted))
