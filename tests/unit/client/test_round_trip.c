/* SPDX-License-Identifier: Apache-2.0
 *
 * test_round_trip.c - calls of the library against a server that behaves, and against some that do
 * not.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "fake_server.h"
#include "harness.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

static int connect_fatal(void)
{
	int c = pbs_connect(NULL);

	CU_ASSERT_FATAL(c > 0);
	CU_ASSERT_STRING_EQUAL(pbs_server, "testserver");
	return c;
}

/* The text of argument `key`, compared with `expected` (NULL: nil or absent). */
static int is_text(const struct pack *p, const char *key, const char *expected)
{
	char *text = pack_strdup(pack_get(&p->root, key));
	int same = text == NULL || expected == NULL ? text == expected : !strcmp(text, expected);

	free(text);
	return same;
}

static void serve_submit(struct fake_server *f, int fd)
{
	const struct pack_value *attrs, *first;
	struct pack p;
	const char *script;
	size_t len = 0;

	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "submit"));
	CU_ASSERT(is_text(&p, "dest", "workq"));
	script = pack_bytes(&p.root, "script", &len);
	CU_ASSERT_FATAL(script != NULL && len == 10);
	CU_ASSERT_EQUAL(memcmp(script, "#!/bin/sh\n", 10), 0);
	attrs = pack_get(&p.root, "attrs");
	CU_ASSERT_EQUAL_FATAL(attrs->n, 2);
	first = attrs->at[0].at;
	CU_ASSERT_EQUAL(memcmp(first[0].text, "Resource_List", 13), 0);
	CU_ASSERT_EQUAL(memcmp(first[1].text, "ncpus", 5), 0);
	CU_ASSERT_EQUAL(memcmp(first[2].text, "2", 1), 0);
	CU_ASSERT_EQUAL(first[3].i, SET);
	first = attrs->at[1].at;
	CU_ASSERT_EQUAL(first[1].kind, PACK_NIL);
	CU_ASSERT_EQUAL(memcmp(first[2].text, "afterok:1.testserver", 20), 0);
	pack_fini(&p);
	fake_reply(f, fd, 0, NULL, "id", "12.testserver");
}

static void test_submit(void)
{
	char name[] = ATTR_l, resource[] = "ncpus", two[] = "2", depend[] = ATTR_depend;
	char parent[] = "afterok:1", script[] = "/tmp/keelson-test-script-XXXXXX";
	/* whatever the caller left in `op`, a submission sets */
	struct attropl after = { NULL, depend, NULL, parent, UNSET };
	struct attropl cpus = { &after, name, resource, two, (enum batch_op)77 };
	struct fake_server f;
	int c, fd = mkstemp(script);
	char *id;

	CU_ASSERT_FATAL(fd >= 0 && write(fd, "#!/bin/sh\n", 10) == 10);
	close(fd);
	fake_start(&f, serve_submit, NULL);
	c = connect_fatal();
	id = pbs_submit(c, &cpus, script, "workq", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(id);
	CU_ASSERT_STRING_EQUAL(id, "12.testserver");
	CU_ASSERT_EQUAL(pbs_errno, 0);
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(c));
	CU_ASSERT_STRING_EQUAL(parent, "afterok:1"); /* the caller's value is left alone */
	free(id);
	CU_ASSERT_EQUAL(pbs_disconnect(c), 0);
	CU_ASSERT_EQUAL(pbs_disconnect(c), -1);
	fake_stop(&f);
	unlink(script);
}

static void serve_refusals(struct fake_server *f, int fd)
{
	struct pack p;

	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	pack_fini(&p);
	fake_reply(f, fd, PBSE_NOATTR, "Undefined attribute  x", NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	pack_fini(&p);
	fake_reply(f, fd, PBSE_UNKQUE, NULL, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "holds", "u"));
	CU_ASSERT(is_text(&p, "extend", NULL));
	pack_fini(&p);
	fake_reply(f, fd, PBSE_PERM, "only the owner may", NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	pack_fini(&p);
	fake_reply(f, fd, 0, NULL, NULL, NULL);
}

static void test_refusals(void)
{
	struct fake_server f;
	int c;

	fake_start(&f, serve_refusals, NULL);
	c = connect_fatal();
	CU_ASSERT_PTR_NULL(pbs_submit(c, NULL, NULL, NULL, NULL));
	CU_ASSERT_EQUAL(pbs_errno, PBSE_NOATTR);
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(c)); /* submit tells this one by its number */
	CU_ASSERT_PTR_NULL(pbs_submit(c, NULL, NULL, NULL, NULL));
	CU_ASSERT_STRING_EQUAL(pbs_geterrmsg(c), "Unknown queue");
	CU_ASSERT_EQUAL(pbs_holdjob(c, "1.testserver", "", NULL), PBSE_PERM);
	CU_ASSERT_EQUAL(pbs_errno, PBSE_PERM);
	CU_ASSERT_STRING_EQUAL(pbs_geterrmsg(c), "only the owner may");
	CU_ASSERT_EQUAL(pbs_deljob(c, "1.testserver", NULL), 0);
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(c));
	pbs_disconnect(c);
	fake_stop(&f);
}

/* `n` objects "<i>.testserver" with two attributes, 7 to a PART; an old answer comes in between. */
static void send_objects(struct fake_server *f, int fd, unsigned n)
{
	for (unsigned i = 0; i < n; i += 7) {
		unsigned now = n - i < 7 ? n - i : 7;
		char name[32];

		fake_begin(f);
		pack_map(&f->body, 1);
		pack_str(&f->body, "objects");
		pack_array(&f->body, now);
		for (unsigned k = 0; k < now; k++) {
			pack_array(&f->body, 2);
			snprintf(name, sizeof(name), "%u.testserver", i + k);
			pack_str(&f->body, name);
			pack_array(&f->body, 2);
			pack_array(&f->body, 3);
			pack_str(&f->body, ATTR_state);
			pack_str(&f->body, NULL);
			pack_str(&f->body, "Q");
			pack_array(&f->body, 3);
			pack_str(&f->body, ATTR_l);
			pack_str(&f->body, "ncpus");
			pack_str(&f->body, "1");
		}
		fake_send(f, fd, WIRE_PART);
	}
	f->corr += 100;
	fake_reply(f, fd, 0, NULL, NULL, NULL); /* answers nobody */
	f->corr -= 100;
	fake_reply(f, fd, 0, NULL, NULL, NULL);
}

static void serve_status(struct fake_server *f, int fd)
{
	struct pack p;

	while (fake_request(f, fd, &p) == 0) {
		CU_ASSERT(is_text(&p, "req", "status"));
		CU_ASSERT(is_text(&p, "class", "job"));
		pack_fini(&p);
		fake_begin(f);
		pack_map(&f->body, 0);
		fake_send(f, fd, WIRE_PING);
		send_objects(f, fd, *(unsigned *)f->arg);
		if (fake_request(f, fd, &p) == 0) /* the PONG has an empty body */
			pack_fini(&p);
	}
}

static void test_status(void)
{
	unsigned n = 1000, seen = 0;
	struct fake_server f;
	struct batch_status *list;
	int c;

	fake_start(&f, serve_status, &n);
	c = connect_fatal();
	list = pbs_statjob(c, NULL, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	for (const struct batch_status *b = list; b != NULL; b = b->next, seen++) {
		CU_ASSERT_EQUAL((unsigned)atoi(b->name), seen);
		CU_ASSERT_PTR_NULL(b->text);
		CU_ASSERT_STRING_EQUAL(b->attribs->value, "Q");
		CU_ASSERT_PTR_NULL(b->attribs->resource);
		CU_ASSERT_STRING_EQUAL(b->attribs->next->resource, "ncpus");
		CU_ASSERT_PTR_NULL(b->attribs->next->next);
	}
	CU_ASSERT_EQUAL(seen, n);
	pbs_statfree(list);
	pbs_statfree(NULL);
	n = 0;
	CU_ASSERT_PTR_NULL(pbs_statjob(c, NULL, NULL, NULL));
	CU_ASSERT_EQUAL(pbs_errno, 0);
	pbs_disconnect(c);
	fake_stop(&f);
}

static int stop_at_ten(struct batch_status *one, void *arg)
{
	unsigned *seen = arg;

	CU_ASSERT_PTR_NULL(one->next);
	return ++*seen == 10 ? 42 : 0;
}

static void test_each_stops_and_goes_on(void)
{
	unsigned n = 100, seen = 0;
	struct fake_server f;
	int c;

	fake_start(&f, serve_status, &n);
	c = connect_fatal();
	CU_ASSERT_EQUAL(pbs_stat_each(c, "job", NULL, NULL, NULL, NULL, stop_at_ten, &seen), 42);
	CU_ASSERT_EQUAL(seen, 10);
	seen = 10; /* never ten again */
	CU_ASSERT_EQUAL(pbs_stat_each(c, "job", NULL, NULL, NULL, NULL, stop_at_ten, &seen), 0);
	CU_ASSERT_EQUAL(seen, 110);
	CU_ASSERT_EQUAL(pbs_stat_each(c, NULL, NULL, NULL, NULL, NULL, stop_at_ten, &seen),
			PBSE_IVALREQ);
	pbs_disconnect(c);
	fake_stop(&f);
}

static void serve_ids(struct fake_server *f, int fd)
{
	struct pack p;

	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	pack_fini(&p);
	fake_begin(f);
	pack_map(&f->body, 1);
	pack_str(&f->body, "ids");
	pack_array(&f->body, 2);
	pack_str(&f->body, "1.a");
	pack_str(&f->body, "2.a");
	fake_send(f, fd, WIRE_PART);
	fake_reply(f, fd, 0, NULL, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	pack_fini(&p);
	fake_reply(f, fd, 0, NULL, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	pack_fini(&p);
	fake_begin(f);
	pack_map(&f->body, 2);
	pack_key_int(&f->body, "code", 0);
	pack_str(&f->body, "failed");
	pack_array(&f->body, 1);
	pack_array(&f->body, 2);
	pack_str(&f->body, "2.a");
	pack_number(&f->body, PBSE_UNKJOBID);
	fake_send(f, fd, WIRE_REPLY);
}

static void test_select_and_delete(void)
{
	char one[] = "1.a", two[] = "2.a", *both[] = { one, two };
	struct batch_deljob_status *failed;
	struct fake_server f;
	char **ids;
	int c;

	fake_start(&f, serve_ids, NULL);
	c = connect_fatal();
	ids = pbs_selectjob(c, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ids);
	CU_ASSERT_STRING_EQUAL(ids[1], "2.a");
	CU_ASSERT_PTR_NULL(ids[2]);
	for (int i = 0; i < 2; i++)
		free(ids[i]);
	free(ids);
	ids = pbs_selectjob(c, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ids);
	CU_ASSERT_PTR_NULL(ids[0]);
	free(ids);
	failed = pbs_deljoblist(c, both, 2, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(failed);
	CU_ASSERT_EQUAL(failed->code, PBSE_UNKJOBID);
	CU_ASSERT_PTR_NULL(failed->next);
	pbs_delstatfree(failed);
	pbs_disconnect(c);
	fake_stop(&f);
}

/* Bytes that no server should send; the call answers PBSE_PROTOCOL, and so does the next. */
struct nonsense {
	const char *bytes;
	size_t len;
};

static void serve_nonsense(struct fake_server *f, int fd)
{
	const struct nonsense *n = f->arg;
	struct pack p;

	if (fake_request(f, fd, &p) == 0)
		pack_fini(&p);
	fake_write(fd, n->bytes, n->len);
}

#define HEAD(len, type) "\0\0\0" len "\0" type "\0\0\0\0\0\0\0\0\0\1"
#define NONSENSE(bytes) { bytes, sizeof(bytes) - 1 }

static void test_nonsense(void)
{
	static struct nonsense all[] = {
		NONSENSE(""),				/* gone at once */
		NONSENSE("\0\0\0"),			/* half a header */
		NONSENSE(HEAD("\x09", "\2") "\x81\xa4"), /* half a body */
		NONSENSE(HEAD("\1", "\2") "\x90"),	/* no map */
		NONSENSE(HEAD("\1", "\2") "\x80"),	/* no code */
		NONSENSE(HEAD("\1", "\x09") "\x80"),	/* unknown type */
		NONSENSE("\xff\xff\xff\xff\0\2\0\0\0\0\0\0\0\0\0\1"), /* oversized */
		NONSENSE(HEAD("\x0a", "\3") "\x81\xa7objects\xc0"),   /* objects is nil */
		NONSENSE(HEAD("\x0b", "\3") "\x81\xa7objects\x91\xc0"),
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct fake_server f;
		int c;

		fake_start(&f, serve_nonsense, &all[i]);
		c = connect_fatal();
		CU_ASSERT_PTR_NULL(pbs_statjob(c, "1", NULL, NULL));
		CU_ASSERT_EQUAL(pbs_errno, PBSE_PROTOCOL);
		CU_ASSERT_EQUAL(strncmp(pbs_geterrmsg(c), "Batch protocol error", 20), 0);
		CU_ASSERT(i >= 3 || strstr(pbs_geterrmsg(c), ": the daemon hung up before it answered") != NULL);
		CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), PBSE_PROTOCOL);
		pbs_disconnect(c);
		fake_stop(&f);
	}
}

static void test_no_server(void)
{
	struct fake_server f;

	fake_start(&f, serve_nonsense, NULL);
	setenv("PBS_SERVER_SOCKET", "/nonexistent/socket", 1);
	errno = 0;
	CU_ASSERT(pbs_connect(NULL) < 0);
	CU_ASSERT_EQUAL(pbs_errno, PBSE_SYSTEM);
	CU_ASSERT_EQUAL(errno, ECONNREFUSED);
	unsetenv("PBS_SERVER_SOCKET");
	CU_ASSERT(pbs_connect("no such host name") < 0);
	CU_ASSERT_EQUAL(pbs_errno, PBSE_BADHOST);
	CU_ASSERT(pbs_connect("testserver:99999999") < 0);
	CU_ASSERT_EQUAL(pbs_errno, PBSE_BADHOST);
	CU_ASSERT(pbs_connect("localhost:1") < 0);
	CU_ASSERT_EQUAL(pbs_errno, PBSE_SYSTEM);
	setenv("PBS_DEFAULT", "no such host name", 1);
	CU_ASSERT(pbs_connect("") < 0);
	CU_ASSERT_EQUAL(pbs_errno, PBSE_BADHOST);
	CU_ASSERT_STRING_EQUAL(pbs_default(), "no such host name");
	unsetenv("PBS_DEFAULT");
	CU_ASSERT_EQUAL(pbs_deljob(12345, "1", NULL), PBSE_IVALREQ);
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(12345));
	fake_stop(&f);
}

static void serve_wait(struct fake_server *f, int fd)
{
	struct pack p;

	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
		CU_ASSERT(is_text(&p, "req", "wait"));
		pack_fini(&p);
		fake_begin(f);
		pack_map(&f->body, 2);
		pack_key_int(&f->body, "code", 0);
		if (i == 0)
			pack_key_int(&f->body, "exit", 271);
		else
			pack_key_str(&f->body, "text", "was deleted");
		fake_send(f, fd, WIRE_REPLY);
	}
}

static void test_wait(void)
{
	struct fake_server f;
	char *text;
	int c, status;

	fake_start(&f, serve_wait, NULL);
	c = connect_fatal();
	CU_ASSERT_EQUAL(pbs_waitjob(c, "1", &status, &text), 0);
	CU_ASSERT_EQUAL(status, 271);
	CU_ASSERT_PTR_NULL(text);
	CU_ASSERT_EQUAL(pbs_waitjob(c, "1", &status, &text), 0);
	CU_ASSERT_STRING_EQUAL(text, "was deleted");
	free(text);
	pbs_disconnect(c);
	fake_stop(&f);
}

static void ignore(int number)
{
	(void)number;
}

/* Answers a wait only when the next request has come. */
static void serve_late(struct fake_server *f, int fd)
{
	uint64_t waiting;
	struct pack p;

	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	pack_fini(&p);
	waiting = f->corr;
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "delete"));
	pack_fini(&p);
	f->corr = waiting;
	fake_reply(f, fd, PBSE_PERM, "too late", NULL, NULL);
	f->corr = waiting + 1;
	fake_reply(f, fd, 0, NULL, NULL, NULL);
}

static void test_wait_is_interrupted(void)
{
	struct sigaction action = { .sa_handler = ignore }, old;
	struct itimerval soon = { { 0, 20000 }, { 0, 20000 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct fake_server f;
	sigset_t alarm_only;
	int c;

	/* The server's thread must not be the one to take the signal. */
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	fake_start(&f, serve_late, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	c = connect_fatal();
	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &soon, NULL);
	CU_ASSERT_EQUAL(pbs_waitjob(c, "1", NULL, NULL), EINTR);
	CU_ASSERT_EQUAL(pbs_errno, EINTR);
	CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), 0); /* and this one is not */
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	pbs_disconnect(c);
	fake_stop(&f);
}

/* Answers each request at length, before it reads the next one. */
static void serve_at_length(struct fake_server *f, int fd)
{
	static char text[4096];
	struct pack p;

	memset(text, 'x', sizeof(text) - 1);
	while (fake_request(f, fd, &p) == 0) {
		pack_fini(&p);
		fake_reply(f, fd, PBSE_PERM, text, NULL, NULL);
	}
}

/* Neither side waits for the other to read, however many replies have no caller. */
static void test_answers_that_nobody_waits_for(void)
{
	char name[] = ATTR_p, value[] = "1";
	struct attrl priority = { .name = name, .value = value };
	struct fake_server f;
	int c, failed = 0;

	fake_start(&f, serve_at_length, NULL);
	c = connect_fatal();
	alarm(120); /* it stood still for good */
	for (int i = 0; i < 5000; i++)
		failed += pbs_asyalterjob(c, "1", &priority, NULL) != 0;
	CU_ASSERT_EQUAL(failed, 0);
	CU_ASSERT_EQUAL(pbs_deljob(c, "1", NULL), PBSE_PERM);
	alarm(0);
	pbs_disconnect(c);
	fake_stop(&f);
}

/* Says what no request asked for, in frames as long as they may be, while one is on its way; reads that only then. */
static void serve_unasked(struct fake_server *f, int fd)
{
	static char block[1 << 20];
	const size_t more = *(size_t *)f->arg;
	char head[WIRE_HEADER_SIZE];
	struct pack p;

	frame_header(head, WIRE_PART, 0, WIRE_BODY_MAX);
	for (int frames = 0; frames < 2; frames++) {
		fake_write(fd, head, sizeof(head));
		for (size_t sent = 0; sent < WIRE_BODY_MAX; sent += sizeof(block))
			fake_write(fd, block, sizeof(block));
	}
	for (size_t sent = 0; sent < more; sent += sizeof(block))
		fake_write(fd, block, sizeof(block));
	if (fake_request(f, fd, &p) < 0)
		return;
	pack_fini(&p);
	fake_reply(f, fd, 0, NULL, NULL, NULL);
}

/* past sdk/client/call.c UNREAD_MAX: two of the longest frames are heard out, and no more. */
static void test_too_much_that_nobody_asked_for(void)
{
	const size_t long_enough = 16 << 20; /* no socket holds it */
	char name[] = ATTR_v, *value = calloc(1, long_enough + 1);
	struct attrl variables = { .name = name, .value = memset(value, 'x', long_enough) };
	struct fake_server f;

	for (size_t more = 0; more <= 2 << 20; more += 2 << 20) {
		int c;

		fake_start(&f, serve_unasked, &more);
		c = connect_fatal();
		alarm(120);
		CU_ASSERT_EQUAL(pbs_alterjob(c, "1", &variables, NULL), more ? PBSE_PROTOCOL : 0);
		alarm(0);
		pbs_disconnect(c);
		fake_stop(&f);
	}
	free(value);
}

struct asking_back {
	int c;
	unsigned seen;
};

static int ask_back(struct batch_status *one, void *arg)
{
	struct asking_back *a = arg;

	(void)one;
	if (a->seen++ == 0) {
		CU_ASSERT_EQUAL(pbs_deljob(a->c, "1", NULL), PBSE_IVALREQ);
		CU_ASSERT_EQUAL(pbs_asyrunjob(a->c, "1", NULL, NULL), PBSE_IVALREQ);
		CU_ASSERT_PTR_NOT_NULL(pbs_geterrmsg(a->c));
		CU_ASSERT_EQUAL(pbs_disconnect(a->c), -1);
	}
	return 0;
}

/* In the middle of an answer nothing can be asked on the same connection: it says so. */
static void test_each_is_asked_back(void)
{
	struct asking_back a = { 0 };
	unsigned n = 100;
	struct fake_server f;

	fake_start(&f, serve_status, &n);
	a.c = connect_fatal();
	alarm(120);
	CU_ASSERT_EQUAL(pbs_stat_each(a.c, "job", NULL, NULL, NULL, NULL, ask_back, &a), 0);
	CU_ASSERT_EQUAL(pbs_errno, 0);
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(a.c));
	CU_ASSERT_EQUAL(a.seen, 100);
	CU_ASSERT_EQUAL(pbs_stat_each(a.c, "job", NULL, NULL, NULL, NULL, ask_back, &a), 0);
	CU_ASSERT_EQUAL(a.seen, 200);
	alarm(0);
	CU_ASSERT_EQUAL(pbs_disconnect(a.c), 0);
	pbs_errno = 0;
	CU_ASSERT_EQUAL(pbs_disconnect(a.c), -1);
	CU_ASSERT_EQUAL(pbs_errno, PBSE_IVALREQ);
	fake_stop(&f);
}

struct vnode_row {
	const char *name, *resource, *value;
};

static bool is_asked_for(const struct pack_value *want, const struct vnode_row *row)
{
	if (want == NULL || want->kind != PACK_ARRAY)
		return true;
	for (uint32_t i = 0; i < want->n; i++) {
		const struct pack_value *pair = want->at[i].at;
		char *name = pack_strdup(&pair[0]), *resource = pack_strdup(&pair[1]);
		bool same = strcmp(name, row->name) == 0 &&
			    (resource == NULL || (row->resource && !strcmp(resource, row->resource)));

		free(name);
		free(resource);
		if (same)
			return true;
	}
	return false;
}

/* Two vnodes of one host; of their attributes what is asked for, as a server does. */
static void serve_vnodes(struct fake_server *f, int fd)
{
	static const struct vnode_row rows[] = {
		{ "state", NULL, "free" },
		{ "resources_available", "host", "h" },
		{ "resources_available", "ncpus", "4" },
		{ "resources_assigned", "ncpus", "1" },
	};
	struct pack p;

	while (fake_request(f, fd, &p) == 0) {
		const struct pack_value *want = pack_get(&p.root, "want");
		bool sent[4];
		size_t n = 0;

		for (int i = 0; i < 4; i++)
			n += sent[i] = is_asked_for(want, &rows[i]);
		fake_begin(f);
		pack_map(&f->body, 1);
		pack_str(&f->body, "objects");
		pack_array(&f->body, 2);
		for (int v = 0; v < 2; v++) {
			pack_array(&f->body, 2);
			pack_str(&f->body, v == 0 ? "v0" : "v1");
			pack_array(&f->body, n);
			for (int i = 0; i < 4; i++) {
				if (!sent[i])
					continue;
				pack_array(&f->body, 3);
				pack_str(&f->body, rows[i].name);
				pack_str(&f->body, rows[i].resource);
				pack_str(&f->body, rows[i].value);
			}
		}
		pack_fini(&p);
		fake_send(f, fd, WIRE_PART);
		fake_reply(f, fd, 0, NULL, NULL, NULL);
	}
}

static void host_says(int c, struct attrl *want, const char *expected)
{
	struct batch_status *host = pbs_stathost(c, NULL, want, NULL);
	char text[512] = "";
	size_t n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(host);
	CU_ASSERT_PTR_NULL(host->next);
	CU_ASSERT_STRING_EQUAL(host->name, "h");
	for (const struct attrl *a = host->attribs; a != NULL; a = a->next)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s=%s ", a->name,
				      a->resource ? "." : "", a->resource ? a->resource : "",
				      a->value);
	CU_ASSERT_STRING_EQUAL(text, expected);
	pbs_statfree(host);
}

/* What a host has does not depend on what else is asked for, and nothing else comes back. */
static void test_some_attributes_of_hosts(void)
{
	char available[] = "resources_available", assigned[] = "resources_assigned";
	char ncpus[] = "ncpus", state[] = "state";
	struct attrl want = { .name = available, .resource = ncpus };
	struct fake_server f;
	int c;

	fake_start(&f, serve_vnodes, NULL);
	c = connect_fatal();
	host_says(c, &want, "resources_available.ncpus=8 ");
	want.name = assigned;
	host_says(c, &want, "resources_assigned.ncpus=2 ");
	want = (struct attrl){ .name = state };
	host_says(c, &want, "state=free ");
	want = (struct attrl){ .name = NULL };
	host_says(c, &want, "");
	want.name = available;
	host_says(c, &want, "resources_available.host=h resources_available.ncpus=8 ");
	host_says(c, NULL, "state=free resources_available.host=h resources_available.ncpus=8 "
			   "resources_assigned.ncpus=2 ");
	pbs_disconnect(c);
	fake_stop(&f);
}

TESTS_MAIN("round trip", TEST(test_submit), TEST(test_refusals), TEST(test_status),
	   TEST(test_each_stops_and_goes_on), TEST(test_select_and_delete), TEST(test_nonsense),
	   TEST(test_no_server), TEST(test_wait), TEST(test_wait_is_interrupted),
	   TEST(test_answers_that_nobody_waits_for), TEST(test_too_much_that_nobody_asked_for),
	   TEST(test_each_is_asked_back),
	   TEST(test_some_attributes_of_hosts))
