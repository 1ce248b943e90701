/* SPDX-License-Identifier: Apache-2.0
 *
 * test_remote.c - requests of clients of other hosts, and those that no row of this daemon names.
 */
#include "fixture.h"

#include "pbs_error.h"

static struct kernel k;
static int parts, replies, agains, gones;
static int64_t code;
static char said[256];
static struct keel_req *waiting;

static uint32_t came; /* bytes of bodies */

static void on_frame(struct keel_mod *m, void *arg, uint16_t type, const void *body, uint32_t len)
{
	struct keel_msg *msg;

	(void)m;
	CU_ASSERT_PTR_EQUAL(arg, &k);
	parts += type == WIRE_PART;
	came += len;
	agains += type == WIRE_GOODBYE;
	if (type != WIRE_REPLY)
		return;
	replies++;
	CU_ASSERT_EQUAL_FATAL(msg_open(body, len, &msg), 0);
	code = msg_api.integer(msg, "code", -1);
	msg_destroy(msg);
}

static void on_gone(struct keel_mod *m, void *arg)
{
	(void)m;
	(void)arg;
	gones++;
}

static void on_whoami(struct keel_mod *m, struct keel_req *q)
{
	const struct keel_session *s = k.request->session(q);

	(void)m;
	snprintf(said, sizeof(said), "%s %s %s %u%s", s->who, s->host, s->groups, s->uid, s->roles & KEEL_MANAGER ? " manager" : "");
	k.request->reply(q, 0, NULL);
}

static void on_wait(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	waiting = q;
}

static void on_list(struct keel_mod *m, struct keel_req *q)
{
	for (int i = 0; i < 5; i++) {
		struct keel_out *o = out_create();

		out_put_str(o, "line", "of some length");
		k.request->part(q, o);
	}
	(void)m;
	k.request->reply(q, 0, NULL);
}

static void on_others(struct keel_mod *m, struct keel_req *q)
{
	uint32_t len;
	const void *raw = k.request->raw(q, &len);
	struct keel_msg *msg;

	(void)m;
	CU_ASSERT_PTR_NULL(k.request->body(q));
	CU_ASSERT_EQUAL_FATAL(msg_open(raw, len, &msg), 0);
	snprintf(said, sizeof(said), "%s", msg_api.str(msg, "req"));
	k.request->reply_raw(q, raw, len);
	msg_destroy(msg);
}

static const struct keel_request_def whoami = { .size = sizeof(whoami), .roles = KEEL_EVERYBODY, .name = "whoami", .handler = on_whoami },
	wait_for = { .size = sizeof(wait_for), .roles = KEEL_EVERYBODY, .name = "wait", .flags = KEEL_REQUEST_WAITS, .handler = on_wait },
	list = { .size = sizeof(list), .roles = KEEL_EVERYBODY, .name = "list", .flags = KEEL_REQUEST_READ, .handler = on_list },
	others = { .size = sizeof(others), .roles = KEEL_EVERYBODY, .name = "*", .flags = KEEL_REQUEST_OTHERS, .handler = on_others },
	more_others = { .size = sizeof(others), .roles = KEEL_EVERYBODY, .name = "+", .flags = KEEL_REQUEST_OTHERS, .handler = on_others };
static const struct keel_contrib rows[] = { KEEL_ROW(REQUEST, whoami), KEEL_ROW(REQUEST, wait_for), KEEL_ROW(REQUEST, list) };
static const struct keel_contrib other_rows[] = { KEEL_ROW(REQUEST, others) }, more_rows[] = { KEEL_ROW(REQUEST, more_others) };

static void begin(void)
{
	struct keel_err err;

	kernel_start(&k);
	parts = replies = agains = gones = 0;
	code = -1;
	said[0] = '\0';
	waiting = NULL;
	CU_ASSERT_EQUAL_FATAL(registry_add(k.parts.registry, &k.owner, rows, 3, &err), 0);
}

static void end(void)
{
	registry_remove(k.parts.registry, &k.owner);
	kernel_stop(&k);
}

static struct keel_out *body(const char *request)
{
	struct keel_out *o = out_create();

	out_put_str(o, "req", request);
	return o;
}

/* In two pieces, as they come. */
static struct keel_remote *ask(const char *request, uint32_t roles, uint32_t reads, int64_t window)
{
	const struct keel_remote_setup setup = {
		.size = sizeof(setup), .roles = roles, .reads = reads, .user = "root", .group = "g", .groups = "g,h",
		.host = "far", .window = window, .frame = on_frame, .gone = on_gone, .arg = &k,
	};
	struct keel_remote_setup with_length = setup;
	struct keel_out *o = body(request);
	struct keel_remote *x = NULL;
	const char *bytes = out_bytes(o, &with_length.length);

	CU_ASSERT_EQUAL_FATAL(remote_api.start(&k.owner.pub, &with_length, &x), 0);
	remote_api.in(x, bytes, with_length.length / 2);
	remote_api.in(x, bytes + with_length.length / 2, with_length.length - with_length.length / 2);
	out_drop(o);
	return x;
}

static bool answered(void *arg)
{
	(void)arg;
	return replies + agains + gones > 0;
}

static bool left(void *arg)
{
	(void)arg;
	return k.parts.router->n_clients == 0;
}

static bool turned(void *arg)
{
	return --*(int *)arg < 0;
}

static void turns(int n)
{
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, turned, &n, DEADLINE_MS), 0);
}

static void run(bool (*until)(void *))
{
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, until, NULL, DEADLINE_MS), 0);
}

static void test_root_of_another_host_is_no_manager(void)
{
	begin();
	ask("whoami", KEEL_EVERYBODY, 0, 1);
	run(answered);
	CU_ASSERT_EQUAL(code, 0);
	CU_ASSERT_STRING_EQUAL(said, "root@far far g,h 4294967295");
	run(left);
	CU_ASSERT_EQUAL(gones, 0);
	end();
}

static void test_one_that_reads_changes_nothing(void)
{
	begin();
	ask("whoami", KEEL_USER, 1, 1);
	run(answered);
	CU_ASSERT_EQUAL(code, PBSE_PERM);
	CU_ASSERT_STRING_EQUAL(said, "");
	run(left);
	end();
}

static void test_parts_come_as_they_are_taken(void)
{
	struct keel_remote *x;

	begin();
	x = ask("list", KEEL_USER, 1, 1);
	turns(5);
	CU_ASSERT_EQUAL(parts, 1);
	remote_api.taken(x, 1); /* the window was passed by more */
	turns(5);
	CU_ASSERT_EQUAL(parts, 1);
	remote_api.taken(x, 1000);
	run(answered);
	CU_ASSERT_EQUAL(parts, 5);
	CU_ASSERT_EQUAL(replies, 1);
	run(left);
	end();
}

/* The other side counts bytes of bodies, and gives back no more. */
static void test_parts_come_one_by_one(void)
{
	struct keel_remote *x;

	begin();
	came = 0;
	x = ask("list", KEEL_USER, 1, 1);
	for (int n = 1; n <= 5; n++) {
		turns(5);
		CU_ASSERT_EQUAL(parts, n);
		remote_api.taken(x, came);
		came = 0;
	}
	run(answered);
	CU_ASSERT_EQUAL(replies, 1);
	run(left);
	end();
}

static void test_one_that_waits_is_sent_again(void)
{
	struct keel_remote *x;

	begin();
	x = ask("wait", KEEL_USER, 0, 1);
	turns(3);
	CU_ASSERT_PTR_NOT_NULL(waiting);
	CU_ASSERT_TRUE(remote_api.waits(x));
	remote_api.again(x);
	run(answered);
	CU_ASSERT_EQUAL(agains, 1);
	run(left);
	CU_ASSERT_EQUAL(replies + gones, 0);
	k.request->reply(waiting, 0, NULL); /* goes nowhere */
	end();
}

static void test_its_client_goes_away(void)
{
	struct keel_remote *x;

	begin();
	x = ask("wait", KEEL_USER, 0, 1);
	turns(3);
	remote_api.end(x);
	run(left);
	CU_ASSERT_EQUAL(replies + agains + gones, 0);
	k.request->reply(waiting, 0, NULL);
	end();
}

static void test_half_a_body_and_nothing_more(void)
{
	struct keel_remote_setup setup = { .size = sizeof(setup), .roles = KEEL_USER, .user = "u", .host = "far", .length = 1000,
					   .window = 1, .frame = on_frame, .gone = on_gone, .arg = &k };
	struct keel_remote *x;

	begin();
	k.parts.router->limits.stall_ms = 50;
	k.parts.router->limits.sweep_ms = 20;
	CU_ASSERT_EQUAL_FATAL(remote_api.start(&k.owner.pub, &setup, &x), 0);
	remote_api.in(x, "abc", 3);
	run(answered);
	CU_ASSERT_EQUAL(gones, 1);
	setup.length = 0;
	CU_ASSERT_EQUAL(remote_api.start(&k.owner.pub, &setup, &x), -EINVAL);
	setup.length = (uint32_t)WIRE_BODY_MAX + 1;
	CU_ASSERT_EQUAL(remote_api.start(&k.owner.pub, &setup, &x), -EINVAL);
	end();
}

static void test_one_more_than_all_of_them(void)
{
	struct keel_remote_setup setup = { .size = sizeof(setup), .roles = KEEL_USER, .user = "u", .host = "far", .length = 10,
					   .window = 1, .frame = on_frame, .gone = on_gone, .arg = &k };
	struct keel_remote *x, *last = NULL;

	begin();
	k.parts.router->limits.remotes = 3;
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(remote_api.start(&k.owner.pub, &setup, i == 1 ? &last : &x), 0);
	CU_ASSERT_EQUAL(remote_api.start(&k.owner.pub, &setup, &x), -EUSERS);
	remote_api.end(last);
	turns(3);
	CU_ASSERT_EQUAL(remote_api.start(&k.owner.pub, &setup, &x), 0);
	k.parts.router->limits.clients_per_uid = 3;
	k.parts.router->limits.remotes = 10;
	CU_ASSERT_EQUAL(remote_api.start(&k.owner.pub, &setup, &x), -EUSERS);
	setup.user = "v"; /* each has its own share */
	CU_ASSERT_EQUAL(remote_api.start(&k.owner.pub, &setup, &x), 0);
	end();
}

static void test_what_no_row_names_is_carried(void)
{
	struct keel_err err;

	begin();
	k.parts.daemon = KEEL_MOM;
	CU_ASSERT_EQUAL_FATAL(registry_add(k.parts.registry, &k.owner, other_rows, 1, &err), 0);
	CU_ASSERT_EQUAL(registry_add(k.parts.registry, &k.owner, more_rows, 1, &err), -EEXIST);
	ask("nonsense", KEEL_USER, 0, 1);
	run(answered);
	CU_ASSERT_STRING_EQUAL(said, "nonsense");
	CU_ASSERT_EQUAL(code, -1); /* the body came back */
	replies = 0;
	ask("*", KEEL_USER, 0, 1); /* the row's own name is none */
	run(answered);
	CU_ASSERT_STRING_EQUAL(said, "*");
	CU_ASSERT_EQUAL(code, -1);
	replies = 0;
	ask("whoami", KEEL_USER, 0, 1);
	run(answered);
	CU_ASSERT_EQUAL(code, 0);
	end();
}

TESTS_MAIN("request/remote", TEST(test_root_of_another_host_is_no_manager), TEST(test_one_that_reads_changes_nothing),
	   TEST(test_parts_come_as_they_are_taken), TEST(test_parts_come_one_by_one), TEST(test_one_that_waits_is_sent_again), TEST(test_its_client_goes_away),
	   TEST(test_half_a_body_and_nothing_more), TEST(test_one_more_than_all_of_them),
	   TEST(test_what_no_row_names_is_carried))
