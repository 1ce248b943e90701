/* SPDX-License-Identifier: Apache-2.0
 *
 * test_router.c - clients, good and bad, over a real Unix socket.
 */
#include "fixture.h"

static struct kernel k;
static struct keel_req *kept[8];
static int n_kept, n_gone, n_drained, n_parts;
static int32_t part_ret;

/* ---- a module --------------------------------------------------------------------------------- */
static void on_echo(struct keel_mod *m, struct keel_req *q)
{
	struct keel_out *o = k.msg->out(m);
	const char *text = k.msg->str(k.request->body(q), "text");

	k.msg->put_str(o, "text", text);
	k.msg->put_str(o, "who", k.request->session(q)->who);
	k.msg->put_int(o, "roles", k.request->session(q)->roles);
	k.request->reply_out(q, o);
}

static void gone(struct keel_mod *m, void *arg)
{
	CU_ASSERT_STRING_EQUAL(m->name, "testmod");
	CU_ASSERT_PTR_EQUAL(arg, &n_gone);
	n_gone++;
}

static void on_keep(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	kept[n_kept++] = q;
	if (k.msg->integer(k.request->body(q), "tell", 0))
		k.request->on_gone(q, gone, &n_gone);
}

static void on_twice(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	k.request->reply(q, 0, NULL);
	k.request->reply(q, 15001, NULL);
	kept[0] = q;
}

static void on_refuse(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	k.request->reply(q, 15001, NULL);
}

static void send_parts(struct keel_mod *m, void *arg);

static void drained(struct keel_mod *m, void *arg)
{
	n_drained++;
	send_parts(m, arg);
}

/* 4 MiB in parts of 64 KiB, as fast as the client reads. */
static void send_parts(struct keel_mod *m, void *arg)
{
	static char block[65536];
	struct keel_req *q = arg;

	while (n_parts < 64) {
		struct keel_out *o = k.msg->out(m);

		k.msg->put_bytes(o, "block", block, sizeof(block));
		n_parts++;
		part_ret = k.request->part(q, o);
		if (part_ret == -ENOBUFS) {
			k.request->drained(q, drained, q);
			return;
		}
		if (part_ret < 0) {
			k.request->reply(q, 0, NULL);
			return;
		}
	}
	k.request->reply(q, 0, NULL);
}

static void on_parts(struct keel_mod *m, struct keel_req *q)
{
	send_parts(m, q);
}

#define REQUEST(request_name, request_roles, fn, ...)                                              \
	{ "REQUEST", &(const struct keel_request_def){ .size = sizeof(struct keel_request_def),     \
						       .roles = (request_roles), .doc = "test",     \
						       .name = (request_name), .handler = (fn),     \
						       __VA_ARGS__ } }
static const struct keel_contrib rows[] = {
	REQUEST("echo", KEEL_EVERYBODY, on_echo, .number = 5),
	REQUEST("keep", KEEL_EVERYBODY, on_keep),
	REQUEST("twice", KEEL_EVERYBODY, on_twice),
	REQUEST("refuse", KEEL_EVERYBODY, on_refuse, .number = 6),
	REQUEST("nobody", KEEL_NOBODY, on_echo, .number = 9),
	REQUEST("operators", KEEL_OPERATORS, on_echo),
	REQUEST("parts", KEEL_EVERYBODY, on_parts),
};

static void start(void)
{
	struct keel_err err = { 0 };

	n_kept = n_gone = n_drained = n_parts = 0;
	part_ret = 0;
	kernel_start(&k);
	CU_ASSERT_FATAL(registry_add(k.parts.registry, &k.owner, rows, sizeof(rows) / sizeof(rows[0]), &err) == 0);
}

static bool enough_kept(void *arg)
{
	return n_kept >= *(int *)arg;
}

static void wait_kept(int n)
{
	CU_ASSERT_FATAL(loop_run_until(k.parts.loop, enough_kept, &n, DEADLINE_MS) == 0);
}

static bool clients_are(void *arg)
{
	return k.parts.router->n_clients == *(uint32_t *)arg;
}

static void wait_clients(uint32_t n)
{
	CU_ASSERT_FATAL(loop_run_until(k.parts.loop, clients_are, &n, DEADLINE_MS) == 0);
}

/* ---- answers ------------------------------------------------------------------------------------ */
static void test_answer(void)
{
	struct wire_client c;
	struct keel_out *o;

	start();
	wire_connect(&k, &c);
	o = wire_request("echo");
	k.msg->put_str(o, "text", "hello");
	wire_send(&c, 77, o);
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.type, WIRE_REPLY);
	CU_ASSERT_EQUAL(c.frame.corr, 77);
	CU_ASSERT(wire_text_is(&c, "text", "hello"));
	wire_close(&c);
	wait_clients(0);
	CU_ASSERT(router_idle(k.parts.router));
	kernel_stop(&k);
}

static void test_pipeline_in_any_order(void)
{
	struct wire_client c;

	start();
	wire_connect(&k, &c);
	wire_send(&c, 1, wire_request("keep"));
	wire_send(&c, 2, wire_request("keep"));
	wire_send(&c, 3, wire_request("echo"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 3);
	CU_ASSERT_EQUAL_FATAL(n_kept, 2);
	k.request->reply(kept[1], 15018, "two %d", 2);
	k.request->reply(kept[0], 0, NULL);
	CU_ASSERT_EQUAL(wire_code(&c), 15018);
	CU_ASSERT_EQUAL(c.frame.corr, 2);
	CU_ASSERT(wire_text_is(&c, "text", "two 2"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 1);
	wire_close(&c);
	kernel_stop(&k);
}

static void test_many_in_one_write(void)
{
	enum { MANY = 3000 };
	struct wire_client c;
	struct buf all;

	start();
	wire_connect(&k, &c);
	buf_init(&all);
	for (int i = 0; i < MANY; i++) {
		struct keel_out *o = wire_request("echo");
		size_t len;
		const char *bytes = out_frame(o, WIRE_REQUEST, (uint64_t)i, &len);

		buf_add(&all, bytes, len);
		out_drop(o);
	}
	wire_write(&c, all.data, all.len);
	for (int i = 0; i < MANY; i++) {
		wire_wait(&c);
		CU_ASSERT_FATAL(!c.eof);
		CU_ASSERT_EQUAL(c.frame.corr, (uint64_t)i);
	}
	buf_fini(&all);
	wire_close(&c);
	kernel_stop(&k);
}

static void test_refusals(void)
{
	struct wire_client c;

	start();
	wire_connect(&k, &c);
	wire_send(&c, 1, wire_request("no such"));
	CU_ASSERT_EQUAL(wire_code(&c), 15005);
	CU_ASSERT(wire_text_is(&c, "text", "Unknown request"));
	wire_send(&c, 2, wire_request("nobody"));
	CU_ASSERT_EQUAL(wire_code(&c), 15007);
	wire_send(&c, 3, wire_request("refuse"));
	CU_ASSERT_EQUAL(wire_code(&c), 15001);
	CU_ASSERT(wire_text_is(&c, "text", "Unknown Job Id"));
	CU_ASSERT(log_has(&k, ";0080;Server@test;Req;no such;Reject reply code=15005, aux=0, "
			      "type=no such, from "));
	CU_ASSERT(log_has(&k, ";0080;Server@test;Req;refuse;Reject reply code=15001, aux=0, type=6, "
			      "from "));
	CU_ASSERT(log_has(&k, "@host1.example.org"));
	wire_close(&c);
	kernel_stop(&k);
}

static void test_second_answer_is_ignored(void)
{
	struct wire_client c;

	start();
	wire_connect(&k, &c);
	wire_send(&c, 1, wire_request("twice"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	k.request->reply(kept[0], 15001, NULL);
	wire_send(&c, 2, wire_request("echo"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 2);
	CU_ASSERT(log_has(&k, "answered before; ignored"));
	wire_close(&c);
	kernel_stop(&k);
}

static void test_name_clash(void)
{
	const struct keel_contrib clash[] = { REQUEST("echo", KEEL_EVERYBODY, on_keep) };
	struct owner other = { .pub.name = "othermod", .parts = &k.parts };
	struct keel_err err = { 0 };

	start();
	CU_ASSERT(registry_add(k.parts.registry, &other, clash, 1, &err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "othermod"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "testmod"));
	kernel_stop(&k);
}

/* Connect as another user; only root can. */
static bool wire_connect_as(struct wire_client *c, uid_t uid)
{
	if (geteuid() != 0)
		return false;
	CU_ASSERT(chmod(k.dir, 0755) == 0);
	CU_ASSERT_FATAL(seteuid(uid) == 0);
	wire_connect(&k, c);
	CU_ASSERT_FATAL(seteuid(0) == 0);
	return true;
}

static void test_who_is_asking(void)
{
	struct wire_client c;
	struct pack p;

	start();
	if (wire_connect_as(&c, 65534)) {
		wire_send(&c, 1, wire_request("echo"));
		CU_ASSERT_EQUAL(wire_code(&c), 0);
		CU_ASSERT(wire_text_is(&c, "who", "nobody@host1.example.org"));
		CU_ASSERT_FATAL(pack_open(&p, c.frame.body, c.frame.len) == 0);
		CU_ASSERT_EQUAL(pack_int(&p.root, "roles", 0), KEEL_USER);
		pack_fini(&p);
		wire_send(&c, 2, wire_request("operators"));
		CU_ASSERT_EQUAL(wire_code(&c), 15007);
		wire_close(&c);
	}
	wire_connect(&k, &c);
	wire_send(&c, 2, wire_request("operators"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	wire_close(&c);
	kernel_stop(&k);
}

static void test_nobody_without_an_account(void)
{
	struct wire_client c;

	start();
	if (wire_connect_as(&c, 0x7ffffff1)) {
		wire_send(&c, 1, wire_request("echo"));
		CU_ASSERT_EQUAL(wire_code(&c), 15019);
		wire_close(&c);
	}
	kernel_stop(&k);
}

/* ---- hostile and unlucky clients ------------------------------------------------------------------ */
static void expect_closed(const void *bytes, size_t len)
{
	struct wire_client c;

	wire_connect(&k, &c);
	wire_write(&c, bytes, len);
	wire_wait(&c);
	CU_ASSERT(c.eof);
	wire_close(&c);
}

static void test_garbage(void)
{
	char head[WIRE_HEADER_SIZE];

	start();
	expect_closed("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27);
	frame_header(head, WIRE_REQUEST, 1, WIRE_BODY_MAX + 1);
	expect_closed(head, sizeof(head));
	frame_header(head, WIRE_EVENT, 1, 0);
	expect_closed(head, sizeof(head));
	frame_header(head, WIRE_REQUEST, 1, 0);
	head[7] = 1;
	expect_closed(head, sizeof(head));
	wait_clients(0);
	kernel_stop(&k);
}

static void expect_protocol(const char *body, uint32_t len)
{
	struct wire_client c;
	char head[WIRE_HEADER_SIZE];

	wire_connect(&k, &c);
	frame_header(head, WIRE_REQUEST, 9, len);
	wire_write(&c, head, sizeof(head));
	if (len > 0)
		wire_write(&c, body, len);
	CU_ASSERT_EQUAL(wire_code(&c), 15031);
	CU_ASSERT_EQUAL(c.frame.corr, 9);
	wire_wait(&c);
	CU_ASSERT(c.eof);
	wire_close(&c);
}

static void test_malformed_bodies(void)
{
	start();
	expect_protocol("", 0);
	expect_protocol("\xc0", 1);
	expect_protocol("\x81\xa3req", 5);                   /* no value */
	expect_protocol("\x81\xa3req\x05", 6);               /* no string */
	expect_protocol("\x81\xa3req\xa4" "ec\0o", 10);      /* a NUL */
	expect_protocol("\xdd\xff\xff\xff\xff", 5);          /* a count without bytes */
	expect_protocol("\x80\x80", 2);                      /* more than one value */
	wait_clients(0);
	kernel_stop(&k);
}

/* mend C2: what is read in one turn has a bound. A frame may be long for its script's sake. */
static void test_long_requests(void)
{
	static const char bytes[3000];
	char text[2001];
	struct wire_client c;
	struct keel_out *o;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	start();
	k.parts.router->limits.request = 1000;
	wire_connect(&k, &c);
	o = wire_request("echo");
	msg_api.put_str(o, "text", text);
	wire_send(&c, 1, o);
	CU_ASSERT_EQUAL(wire_code(&c), 15004);
	CU_ASSERT(wire_text_is(&c, "text", "the request is too long: at most 1000 bytes besides a job's "
					   "script, where each value counts 16 more; ask in parts"));
	o = wire_request("echo");
	msg_api.put_bytes(o, "script", bytes, sizeof(bytes));
	wire_send(&c, 2, o);
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	wire_close(&c);
	kernel_stop(&k);
}

static struct keel_out *keep_long(void)
{
	static const char script[1000];
	struct keel_out *o = wire_request("keep");

	msg_api.put_bytes(o, "script", script, sizeof(script));
	return o;
}

/* Whose client is gone is counted for as long as its module has it. */
static void test_many_long_requests(void)
{
	struct wire_client a, b;

	start();
	k.parts.router->limits.open_all = 2500;
	k.parts.router->limits.open_small = 100;
	wire_connect(&k, &a);
	wire_send(&a, 1, keep_long());
	wire_send(&a, 2, keep_long());
	wait_kept(2);
	wire_close(&a);
	wait_clients(0);
	wire_connect(&k, &b);
	wire_send(&b, 3, keep_long());
	CU_ASSERT_EQUAL(wire_code(&b), 15010);
	CU_ASSERT(wire_text_is(&b, "text", "too many long requests wait for their answers; try again later"));
	wire_send(&b, 4, wire_request("echo")); /* short ones are always served */
	CU_ASSERT_EQUAL(wire_code(&b), 0);
	k.request->reply(kept[0], 0, NULL);
	wire_send(&b, 5, keep_long());
	wait_kept(3);
	k.request->reply(kept[1], 0, NULL);
	k.request->reply(kept[2], 0, NULL);
	CU_ASSERT_EQUAL(wire_code(&b), 0);
	CU_ASSERT_EQUAL(k.parts.router->open, 0);
	wire_close(&b);
	kernel_stop(&k);
}

static void test_byte_by_byte(void)
{
	struct wire_client c;
	struct keel_out *o = wire_request("echo");
	size_t len;
	const char *bytes = out_frame(o, WIRE_REQUEST, 5, &len);

	start();
	wire_connect(&k, &c);
	for (size_t i = 0; i < len; i++) {
		CU_ASSERT(!wire_poll(&c));
		wire_write(&c, bytes + i, 1);
		loop_run_until(k.parts.loop, wire_poll, &c, i + 1 < len ? 1 : DEADLINE_MS);
	}
	CU_ASSERT_EQUAL(c.frame.corr, 5);
	CU_ASSERT_EQUAL(c.frame.type, WIRE_REPLY);
	out_drop(o);
	wire_close(&c);
	kernel_stop(&k);
}

static void test_half_a_request_is_dropped(void)
{
	struct wire_client c;

	start();
	k.parts.router->limits.stall_ms = 50;
	k.parts.router->limits.sweep_ms = 10;
	wire_connect(&k, &c);
	wire_write(&c, "\0\0\0\x10\0\1", 6);
	wire_wait(&c);
	CU_ASSERT(c.eof);
	CU_ASSERT(log_has(&k, ";0002;Server@test;Req;client;"));
	CU_ASSERT(log_has(&k, "half a request and nothing more"));
	wire_close(&c);
	kernel_stop(&k);
}

static void test_client_goes_away(void)
{
	struct wire_client c;
	struct keel_out *o;

	start();
	wire_connect(&k, &c);
	o = wire_request("keep");
	k.msg->put_int(o, "tell", 1);
	wire_send(&c, 1, o);
	wire_send(&c, 2, wire_request("keep"));
	wait_kept(2);
	wire_close(&c);
	wait_clients(0);
	CU_ASSERT_EQUAL(n_gone, 1);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_PTR_NOT_NULL(k.parts.router->orphans);
		CU_ASSERT_EQUAL(k.request->part(kept[i], k.msg->out(&k.owner.pub)), -EPIPE);
		CU_ASSERT_STRING_EQUAL(k.request->session(kept[i])->host, "host1.example.org");
		k.request->reply(kept[i], 0, NULL);
	}
	CU_ASSERT_PTR_NULL(k.parts.router->orphans);
	CU_ASSERT(router_idle(k.parts.router));
	CU_ASSERT(!log_has(&k, "answered before"));
	kernel_stop(&k);
}

static void test_long_answer_waits_for_the_reader(void)
{
	struct wire_client c;
	int parts = 0;

	start();
	wire_connect(&k, &c);
	wire_send(&c, 1, wire_request("parts"));
	do {
		wire_wait(&c);
		parts += c.frame.type == WIRE_PART;
	} while (!c.eof && c.frame.type != WIRE_REPLY);
	CU_ASSERT(!c.eof);
	CU_ASSERT_EQUAL(parts, 64);
	CU_ASSERT(n_drained > 0);
	wire_close(&c);
	kernel_stop(&k);
}

static bool is_full(void *arg)
{
	(void)arg;
	return part_ret == -ENOBUFS;
}

static void test_slow_reader_is_dropped(void)
{
	struct wire_client c;

	start();
	k.parts.router->limits.stall_ms = 50;
	k.parts.router->limits.sweep_ms = 10;
	wire_connect(&k, &c);
	wire_send(&c, 1, wire_request("parts"));
	n_parts = 0;
	part_ret = 0;
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, is_full, NULL, DEADLINE_MS), 0);
	CU_ASSERT(n_parts < 64);
	wait_clients(0);
	CU_ASSERT(log_has(&k, "it does not read its answers"));
	CU_ASSERT_EQUAL(k.parts.router->queued, 0);
	wire_close(&c);
	kernel_stop(&k);
}

static void test_requests_without_reading_answers(void)
{
	struct wire_client c;
	struct keel_out *o = wire_request("echo");
	static char text[4000];
	size_t len;
	const char *bytes;
	ssize_t n;
	int sent = 0;

	start();
	memset(text, 'x', sizeof(text) - 1);
	k.msg->put_str(o, "text", text);
	bytes = out_frame(o, WIRE_REQUEST, 1, &len);
	wire_connect(&k, &c);
	for (int i = 0; i < 3000; i++) {
		while ((n = send(c.fd, bytes, len, MSG_NOSIGNAL)) == (ssize_t)len)
			sent++;
		if (n > 0)
			break; /* half a frame fits: that is all we can send */
		loop_run_until(k.parts.loop, enough_kept, &(int){ 1 }, 0);
	}
	loop_run_until(k.parts.loop, enough_kept, &(int){ 1 }, 20);
	CU_ASSERT(sent > 0);
	CU_ASSERT(k.parts.router->queued <= k.parts.router->limits.queued_high +
						   k.parts.router->limits.requests_per_turn * 2 * len);
	out_drop(o);
	wire_close(&c);
	wait_clients(0);
	kernel_stop(&k);
}

static void test_connection_limit(void)
{
	struct wire_client c[4];

	start();
	k.parts.router->limits.clients = 3;
	for (int i = 0; i < 4; i++)
		wire_connect(&k, &c[i]);
	wire_wait(&c[3]);
	CU_ASSERT(c[3].eof);
	CU_ASSERT(log_has(&k, "too many connections"));
	for (int i = 0; i < 3; i++) {
		wire_send(&c[i], 1, wire_request("echo"));
		CU_ASSERT_EQUAL(wire_code(&c[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		wire_close(&c[i]);
	wait_clients(0);
	wire_connect(&k, &c[0]);
	wire_send(&c[0], 1, wire_request("echo"));
	CU_ASSERT_EQUAL(wire_code(&c[0]), 0);
	wire_close(&c[0]);
	kernel_stop(&k);
}

static void test_ping(void)
{
	struct wire_client c;
	char head[WIRE_HEADER_SIZE];

	start();
	wire_connect(&k, &c);
	frame_header(head, WIRE_PING, 11, 0);
	wire_write(&c, head, sizeof(head));
	wire_wait(&c);
	CU_ASSERT_EQUAL(c.frame.type, WIRE_PONG);
	CU_ASSERT_EQUAL(c.frame.corr, 11);
	wire_close(&c);
	kernel_stop(&k);
}

/* ---- ends ------------------------------------------------------------------------------------- */
static void shutdown_of(bool for_good)
{
	struct wire_client c;
	struct pack p;

	start();
	k.parts.router->limits.shutdown_ms = 20;
	wire_connect(&k, &c);
	wire_send(&c, 1, wire_request("keep"));
	wait_kept(1);
	router_shutdown(k.parts.router, for_good);
	CU_ASSERT(!router_idle(k.parts.router));
	CU_ASSERT(access(k.socket, F_OK) < 0);
	CU_ASSERT_EQUAL(wire_code(&c), 15060);
	CU_ASSERT_EQUAL(c.frame.corr, 1);
	wire_wait(&c);
	CU_ASSERT_EQUAL(c.frame.type, WIRE_GOODBYE);
	CU_ASSERT_FATAL(pack_open(&p, c.frame.body, c.frame.len) == 0);
	CU_ASSERT_EQUAL(pack_int(&p.root, "stop", 0), for_good);
	pack_fini(&p);
	wire_wait(&c);
	CU_ASSERT(c.eof);
	CU_ASSERT(router_idle(k.parts.router));
	k.request->reply(kept[0], 0, NULL); /* too late, harmless */
	wire_close(&c);
	kernel_stop(&k);
}

static void test_shutdown(void)
{
	shutdown_of(false);
	shutdown_of(true);
}

static void test_module_leaves(void)
{
	struct wire_client c;

	start();
	wire_connect(&k, &c);
	wire_send(&c, 1, wire_request("keep"));
	wait_kept(1);
	registry_remove(k.parts.registry, &k.owner);
	CU_ASSERT_EQUAL(wire_code(&c), 15011);
	wire_send(&c, 2, wire_request("echo"));
	CU_ASSERT_EQUAL(wire_code(&c), 15005);
	wire_close(&c);
	kernel_stop(&k);
}

static void test_socket_path(void)
{
	struct router *second;
	struct keel_err err = { 0 };
	char path[256], longer[300];
	FILE *f;

	start();
	second = k.parts.router;
	CU_ASSERT(router_listen(second, k.socket, -1, &err) == -EALREADY);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	loop_watch_cancel(second->listener); /* a daemon that died: the socket is still there, no process listens */
	close(second->listen_fd);
	second->listener = NULL;
	CU_ASSERT(router_listen(second, longer, -1, &err) == -ENAMETOOLONG);
	snprintf(path, sizeof(path), "%s/file", k.dir);
	f = fopen(path, "w");
	fclose(f);
	CU_ASSERT(router_listen(second, path, -1, &err) == -ENOTSOCK);
	free(second->listen_path);
	second->listen_path = NULL;
	CU_ASSERT(router_listen(second, k.socket, -1, &err) == 0);
	kernel_stop(&k);
}

static void test_destroyed_while_busy(void)
{
	struct wire_client c;

	start();
	wire_connect(&k, &c);
	wire_send(&c, 1, wire_request("keep"));
	wire_send(&c, 2, wire_request("parts"));
	wait_kept(1);
	kernel_stop(&k);
	wire_close(&c);
}

TESTS_MAIN("router", TEST(test_answer), TEST(test_pipeline_in_any_order), TEST(test_many_in_one_write),
	   TEST(test_refusals), TEST(test_second_answer_is_ignored), TEST(test_name_clash),
	   TEST(test_who_is_asking), TEST(test_nobody_without_an_account), TEST(test_garbage),
	   TEST(test_malformed_bodies), TEST(test_long_requests), TEST(test_many_long_requests), TEST(test_byte_by_byte),
	   TEST(test_half_a_request_is_dropped), TEST(test_client_goes_away), TEST(test_long_answer_waits_for_the_reader),
	   TEST(test_slow_reader_is_dropped), TEST(test_requests_without_reading_answers),
	   TEST(test_connection_limit), TEST(test_ping), TEST(test_shutdown), TEST(test_module_leaves),
	   TEST(test_socket_path), TEST(test_destroyed_while_busy))
