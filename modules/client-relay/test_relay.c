/* SPDX-License-Identifier: Apache-2.0
 *
 * test_relay.c - both sides against a scripted peer: each record in each state, the link lost in each, no memory at each
 * call. However it goes, each client gets one answer, and nothing is left of its request.
 */
#include "test_peer.h"

/* ---- at a host --------------------------------------------------------------------------------------------------- */
static struct keel_mock_reply reply;
static struct keel_req *req;
static const char done[] = "\x81\xa4" "code\x00"; /* the body of a REPLY */
static const char rows[] = "\x81\xa3" "ids\x90";  /* of a PART */

static struct state *st(void)
{
	return mod->state;
}

static void host_begin(void)
{
	begin(KEEL_MOM, "server", KEEL_SERVER);
	reply = (struct keel_mock_reply){ .told = false };
	req = NULL;
}

static void host_end(void)
{
	CU_ASSERT_PTR_NULL(st()->carried_list);
	CU_ASSERT_EQUAL(st()->window, WINDOW_UP_ALL);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static void served(void)
{
	link_up();
	say(OP_HERE, 0, NULL, 0);
}

static void ask(const char *body)
{
	req = keel_mock_request(mock, NULL, "submit", body, &reply);
	keel_mock_advance(mock, 0);
}

static uint64_t id_now(void)
{
	return st()->carried_list != NULL ? st()->last_id : 0;
}

/* The server answers whatever is open. */
static void answer(void)
{
	if (!reply.told && id_now() > 0)
		say(OP_REPLY, id_now(), done, sizeof(done) - 1);
	keel_mock_advance(mock, 0);
}

static bool says(const char *text)
{
	return reply.told && strstr(reply.text, text) != NULL;
}

static void enter_waits_for_link(void) { ask(NULL); }
static void enter_sent(void) { served(); ask(NULL); }
static void enter_waits(void) { enter_sent(); say_number(OP_WAITS, id_now(), 2); }
static void enter_acts(void) { enter_sent(); say_number(OP_WAITS, id_now(), 1); }
static void enter_named(void) /* a reservation that waits */
{
	enter_acts();
	say(OP_PART, id_now(), rows, sizeof(rows) - 1);
}
static void enter_again(void) { enter_sent(); say(OP_AGAIN, id_now(), NULL, 0); }
static void enter_part(void) { enter_sent(); say(OP_PART, id_now(), rows, sizeof(rows) - 1); }
static void enter_slow(void)
{
	enter_sent();
	keel_mock_client_slow(req, true);
	say(OP_PART, id_now(), rows, sizeof(rows) - 1);
}
static void enter_half(void) /* the window is smaller than the body */
{
	char *body = malloc(WINDOW_UP + 1000);

	CU_ASSERT_PTR_NOT_NULL_FATAL(body);
	memset(body, 'x', WINDOW_UP + 1000);
	memcpy(body, "script = \"", 10);
	memcpy(body + WINDOW_UP + 1000 - 3, "\";", 3);
	served();
	ask(body);
	free(body);
}
static void enter_gone(void) { enter_sent(); keel_mock_client_gone(req); }
static void enter_answered(void) { enter_sent(); answer(); }
static void enter_not_here(void) { link_up(); ask(NULL); }

static const struct host_state {
	void (*enter)(void);
	const char *lost; /* what the client reads when the link is lost and stays so; NULL: it waits, or has its answer */
} host_states[] = {
	{ enter_waits_for_link, "cannot reach the server from this host: its daemon has no link" },
	{ enter_sent, "the link from this host to the server was lost before it answered" },
	{ enter_waits, NULL },
	{ enter_acts, "the link from this host to the server was lost before it answered" },
	{ enter_named, NULL },
	{ enter_again, NULL },
	{ enter_part, "the link from this host to the server was lost before it answered" },
	{ enter_slow, "the link from this host to the server was lost before it answered" },
	{ enter_half, "cannot reach the server from this host: its daemon has no link" },
	{ enter_gone, NULL },
	{ enter_answered, NULL },
	{ enter_not_here, "cannot reach the server from this host: its daemon has no link" },
};

/* However the record reads, in whatever state: the client gets one answer, at the latest when the server gives it. */
static void test_host_records(void)
{
	static const char noise[16];

	for (size_t i = 0; i < KEEL_COUNT(host_states); i++)
		for (int op = 0; op < 16; op++)
			for (uint32_t len = 0; len <= 8; len += 4)
				for (int other = 0; other < 2; other++) {
					host_begin();
					host_states[i].enter();
					if (st()->linked && (op != OP_REPLY || other != 0))
						say((enum op)op, id_now() + (uint64_t)other, noise, len);
					keel_mock_advance(mock, 300);
					if (!st()->linked || !st()->here)
						served();
					keel_mock_advance(mock, 300);
					answer();
					CU_ASSERT(reply.told || host_states[i].enter == enter_gone);
					host_end();
				}
}

static void test_host_link_lost(void)
{
	for (size_t i = 0; i < KEEL_COUNT(host_states); i++) {
		const char *text = host_states[i].lost;

		host_begin();
		host_states[i].enter();
		link_lost_now();
		keel_mock_advance(mock, 11 * 1000);
		if (text != NULL)
			CU_ASSERT(says(text));
		served();
		keel_mock_advance(mock, 0);
		if (!reply.told && st()->carried_list != NULL)
			CU_ASSERT_EQUAL(last(OP_OPEN)->id, id_now());
		answer();
		CU_ASSERT(reply.told || host_states[i].enter == enter_gone);
		host_end();
	}
}

/* What has acted and waits is sent once: its client, which knows its name, asks on when the link is there. */
static void test_host_sent_once(void)
{
	host_begin();
	enter_named();
	link_lost_now();
	keel_mock_advance(mock, 5000);
	CU_ASSERT(!reply.told);
	served();
	keel_mock_advance(mock, 0);
	CU_ASSERT(reply.told && reply.code == PBSE_SVRDOWN);
	CU_ASSERT_EQUAL(count(OP_OPEN), 1);
	host_end();
}

/* Between two ticks: what was sent over the link before is not what was sent over the next. */
static void test_host_relinked(void)
{
	host_begin();
	enter_sent();
	link_lost_now();
	keel_mock_advance(mock, 10);
	served();
	keel_mock_advance(mock, 0);
	CU_ASSERT(says("was lost before it answered"));
	ask(NULL);
	keel_mock_advance(mock, 1000);
	CU_ASSERT(!reply.told);
	answer();
	CU_ASSERT(reply.told && reply.code == 0);
	host_end();
}

/* Nothing is sent to a server that has not said that it takes it. */
static void test_host_not_here(void)
{
	host_begin();
	link_up();
	ask(NULL);
	keel_mock_advance(mock, 4000);
	CU_ASSERT(!reply.told);
	keel_mock_advance(mock, 2000);
	CU_ASSERT(says("the server takes no requests of hosts; enable its module client-relay"));
	ask(NULL);
	CU_ASSERT(says("the server takes no requests of hosts; enable its module client-relay"));
	CU_ASSERT_EQUAL(n_seen, 0);
	say(OP_HERE, 0, NULL, 0);
	ask(NULL);
	answer();
	CU_ASSERT(reply.told && reply.code == 0);
	host_end();
}

/* A server that has said BYE is waited for, a minute. */
static void test_host_bye(void)
{
	host_begin();
	served();
	say(OP_BYE, 0, NULL, 0);
	link_lost_now();
	ask(NULL);
	keel_mock_advance(mock, 50 * 1000);
	CU_ASSERT(!reply.told);
	served();
	answer();
	CU_ASSERT(reply.told && reply.code == 0);
	say(OP_BYE, 0, NULL, 0);
	link_lost_now();
	ask(NULL);
	keel_mock_advance(mock, 61 * 1000);
	CU_ASSERT(says("its daemon has no link to it, for 60 s now"));
	host_end();
}

/* qterm: a client that waits reads so, and so does the next one. */
static void test_host_server_stopped(void)
{
	host_begin();
	served();
	ask(NULL);
	say_number(OP_BYE, 0, 1);
	say(OP_AGAIN, id_now(), NULL, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT(says("it has been stopped"));
	link_lost_now();
	ask(NULL);
	keel_mock_advance(mock, 1000);
	CU_ASSERT(says("it has been stopped"));
	host_end();
}

/* Whichever call fails: within a minute the client reads something, and the next one is served. */
static void host_without_memory(void (*enter)(void))
{
	uint32_t calls, n = 0;

	do {
		host_begin();
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		enter();
		calls = keel_mock_calls(mock) - calls;
		keel_mock_fail_call(mock, 0);
		keel_mock_advance(mock, 1000);
		if (!st()->here)
			served();
		keel_mock_advance(mock, 1000);
		answer();
		ask(NULL); /* the timer, when that was what failed */
		keel_mock_advance(mock, 1000);
		answer();
		CU_ASSERT(reply.told && reply.code == 0);
		host_end();
	} while (calls >= n);
	CU_ASSERT(n > 1);
}

static void test_host_no_memory(void)
{
	for (size_t i = 0; i < KEEL_COUNT(host_states); i++)
		if (host_states[i].enter != enter_gone && host_states[i].enter != enter_slow)
			host_without_memory(host_states[i].enter);
}

/* ---- at the server ------------------------------------------------------------------------------------------------ */
static struct keel_req *waiting;

static void do_echo(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	keel_reply(q, 0, NULL);
}

static void do_wait(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	waiting = q;
}

static void do_list(struct keel_mod *m, struct keel_req *q)
{
	for (int i = 0; i < 3; i++) {
		struct keel_out *o = keel_out(m);

		keel_put_int(o, "n", i);
		(void)keel_part(q, o);
	}
	waiting = q;
}

#define ROW(what, bits) { .size = sizeof(struct keel_request_def), .name = #what, .doc = "of the test",                        \
			  .roles = KEEL_EVERYBODY, .flags = bits, .handler = do_##what }
static const struct keel_request_def echo = ROW(echo, 0), wait_row = ROW(wait, KEEL_REQUEST_READ | KEEL_REQUEST_WAITS), list = ROW(list, KEEL_REQUEST_READ);
static const struct keel_contrib server_rows[] = { KEEL_ROW(REQUEST, echo), KEEL_ROW(REQUEST, wait_row), KEEL_ROW(REQUEST, list) };
static const struct keel_module served_rows = {
	.magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .abi_minor = KEEL_SDK_TARGET,
	.size = sizeof(struct keel_module), .name = "rows", .version = "1", .summary = "requests", .vendor = "Test",
	.roles = KEEL_SERVER, KEEL_CONTRIBS(server_rows),
};

static void server_begin(const char *conf)
{
	struct keel_err err;

	begin(KEEL_SERVER, "login1", KEEL_LOGIN);
	if (conf != NULL)
		CU_ASSERT_EQUAL(keel_mock_reconf(mod, conf, &err), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &served_rows, NULL, &err));
	waiting = NULL;
}

/* What the kernel still has of a request ends with its module's answer. */
static void finish_waiting(void)
{
	if (waiting != NULL)
		keel_reply(waiting, 0, NULL);
	waiting = NULL;
	keel_mock_advance(mock, 100);
}

static void server_end(void)
{
	finish_waiting();
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static uint32_t body_of(const char *name, unsigned char *body)
{
	return (uint32_t)sprintf((char *)body, "\x81\xa3req%c%s", 0xa0 + (int)strlen(name), name);
}

static void open_with(uint64_t id, uint32_t length)
{
	static const char who[] = "user\0group\0group"; /* and its NUL */
	unsigned char bytes[4 + sizeof(who)];

	number_write(bytes, length);
	memcpy(bytes + 4, who, sizeof(who));
	say(OP_OPEN, id, bytes, sizeof(bytes));
}

static void ask_server(uint64_t id, const char *name)
{
	unsigned char body[64];
	uint32_t len = body_of(name, body);

	open_with(id, len);
	say(OP_DATA, id, body, len);
	keel_mock_advance(mock, 0);
}

static void in_nothing(void) { link_up(); keel_mock_advance(mock, 0); }
static void in_open(void) { in_nothing(); open_with(1, 10); keel_mock_advance(mock, 0); }
static void in_half(void) { in_open(); say(OP_DATA, 1, "\x81\xa3re", 4); keel_mock_advance(mock, 0); }
static void in_echoed(void) { in_nothing(); ask_server(1, "echo"); }
static void in_wait(void) { in_nothing(); ask_server(1, "wait"); }
static void in_list(void) { in_nothing(); ask_server(1, "list"); }
static void (*const server_states[])(void) = { in_nothing, in_open, in_half, in_echoed, in_wait, in_list };

static void test_server_says_here(void)
{
	server_begin(NULL);
	in_nothing();
	CU_ASSERT(n_seen == 1 && seen[0].op == OP_HERE);
	link_lost_now();
	link_up();
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(count(OP_HERE), 2);
	ask_server(1, "echo");
	CU_ASSERT_EQUAL(count(OP_REPLY), 1);
	server_end();
}

/* BYE leaves while the link is there. */
static void test_server_says_bye(void)
{
	server_begin(NULL);
	in_wait();
	keel_mock_raise(mock, KEEL_POINT_server_stop, KEEL_EVENT(server_stop), NULL);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(count(OP_BYE), 1);
	server_end();
}

/* However the record reads: the next request is served, also where a host has one at a time. */
static void test_server_records(void)
{
	static const char noise[16];

	for (size_t i = 0; i < KEEL_COUNT(server_states); i++)
		for (int op = 0; op < 16; op++)
			for (uint32_t len = 0; len <= 8; len += 4)
				for (uint64_t id = 0; id < 3; id++) {
					server_begin("requests = 1;");
					server_states[i]();
					say((enum op)op, id, noise, len);
					keel_mock_advance(mock, 100);
					for (uint64_t each = 0; each < 3; each++)
						say(OP_END, each, NULL, 0);
					keel_mock_advance(mock, 100);
					ask_server(9, "echo");
					CU_ASSERT(last(OP_REPLY) != NULL && last(OP_REPLY)->id == 9);
					server_end();
				}
}

static void test_server_link_lost(void)
{
	for (size_t i = 0; i < KEEL_COUNT(server_states); i++) {
		server_begin("requests = 1;");
		server_states[i]();
		link_lost_now();
		keel_mock_advance(mock, 100);
		finish_waiting();
		link_up();
		n_seen = 0;
		ask_server(1, "echo");
		CU_ASSERT(count(OP_REPLY) == 1 && last(OP_REPLY)->id == 1);
		server_end();
	}
}

/* A listing's first part goes at once, the others when it was taken. */
static void test_server_window(void)
{
	server_begin(NULL);
	in_list();
	CU_ASSERT_EQUAL(count(OP_PART), 1);
	say_number(OP_TAKEN, 1, last(OP_PART)->len);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(count(OP_PART), 3);
	finish_waiting();
	CU_ASSERT_EQUAL(count(OP_REPLY), 1);
	server_end();
}

/* Whichever call fails: the host hears something, or HERE, which makes it start over; and then it is served. */
static void server_without_memory(const char *name)
{
	uint32_t calls, n = 0;

	do {
		server_begin("requests = 1;");
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		in_nothing();
		if (count(OP_HERE) > 0)
			ask_server(1, name);
		calls = keel_mock_calls(mock) - calls;
		keel_mock_fail_call(mock, 0);
		keel_mock_advance(mock, 1000);
		say_number(OP_TAKEN, 1, 1 << 20);
		finish_waiting();
		keel_mock_advance(mock, 3000);
		CU_ASSERT(count(OP_REPLY) + count(OP_AGAIN) + count(OP_REFUSE) > 0 || count(OP_HERE) != 1);
		link_up();
		n_seen = 0;
		ask_server(1, "echo");
		CU_ASSERT_EQUAL(count(OP_REPLY), 1);
		server_end();
	} while (calls >= n);
	CU_ASSERT(n > 1);
}

static void test_server_no_memory(void)
{
	server_without_memory("echo");
	server_without_memory("wait");
	server_without_memory("list");
}

TESTS_MAIN("client-relay", TEST(test_host_records), TEST(test_host_link_lost), TEST(test_host_sent_once), TEST(test_host_relinked), TEST(test_host_not_here),
	   TEST(test_host_bye), TEST(test_host_server_stopped), TEST(test_host_no_memory), TEST(test_server_says_here), TEST(test_server_says_bye),
	   TEST(test_server_records), TEST(test_server_link_lost), TEST(test_server_window), TEST(test_server_no_memory))
