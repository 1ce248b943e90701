/* SPDX-License-Identifier: Apache-2.0
 *
 * test_guest.c - clients without a socket: who they are is said by who made them, all else is as ever.
 */
#include "fixture.h"
#include "mock/guest.h"

static struct kernel k;
static struct client *guest;
static int answers, goodbyes;
static int64_t code;
static char said[256];

static void hear(void *arg, const char *bytes, size_t len)
{
	struct keel_msg *m;

	CU_ASSERT_PTR_EQUAL(arg, &k);
	if (len == 0) {
		goodbyes++;
		guest = NULL;
		return;
	}
	CU_ASSERT_EQUAL_FATAL(msg_open(bytes + WIRE_HEADER_SIZE, len - WIRE_HEADER_SIZE, &m), 0);
	code = msg_api.integer(m, "code", -1);
	answers++;
	msg_destroy(m);
}

static void on_whoami(struct keel_mod *m, struct keel_req *q)
{
	const struct keel_session *s = k.request->session(q);

	(void)m;
	snprintf(said, sizeof(said), "%s %s %u %s%s", s->who, s->group, s->uid, s->user,
		 s->roles & KEEL_MANAGER ? " manager" : "");
	k.request->reply(q, 0, NULL);
}

static const struct keel_request_def whoami = {
	.size = sizeof(whoami), .roles = KEEL_EVERYBODY, .name = "whoami", .handler = on_whoami,
};
static const struct keel_contrib rows[] = { KEEL_ROW(REQUEST, whoami) };

static void begin(uint32_t uid, const char *name)
{
	struct router_guest g = { .uid = uid, .gid = uid, .user = name, .group = "blue", .send = hear,
				  .arg = &k };
	struct keel_err err;

	kernel_start(&k);
	answers = goodbyes = 0;
	said[0] = '\0';
	CU_ASSERT_EQUAL_FATAL(registry_add(k.parts.registry, &k.owner, rows, 1, &err), 0);
	CU_ASSERT_EQUAL_FATAL(router_guest(k.parts.router, &g, &guest), 0);
}

static void ask(const char *request)
{
	struct keel_out *o = out_create();
	const char *frame;
	size_t len;

	out_put_str(o, "req", request);
	frame = out_frame(o, WIRE_REQUEST, 7, &len);
	router_guest_in(guest, frame, len / 2); /* in two pieces, as bytes come */
	router_guest_in(guest, frame + len / 2, len - len / 2);
	out_drop(o);
}

static bool answered(void *arg)
{
	(void)arg;
	return answers > 0;
}

static void end(void)
{
	if (guest != NULL)
		router_guest_leave(guest);
	CU_ASSERT_EQUAL(goodbyes, 1);
	registry_remove(k.parts.registry, &k.owner);
	kernel_stop(&k);
}

static void test_it_is_who_was_said(void)
{
	begin(20007, "gast");
	ask("whoami");
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, answered, NULL, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(code, 0);
	CU_ASSERT_STRING_EQUAL(said, "gast@host1.example.org blue 20007 gast");
	end();
}

static void test_root_is_a_manager(void)
{
	begin(0, "root");
	ask("whoami");
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, answered, NULL, DEADLINE_MS), 0);
	CU_ASSERT_STRING_EQUAL(said, "root@host1.example.org blue 0 root manager");
	end();
}

static void test_unknown_requests_are_refused(void)
{
	begin(20007, "gast");
	ask("nonsense");
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, answered, NULL, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(code, 15005);
	end();
}

static bool is_gone(void *arg)
{
	(void)arg;
	return goodbyes > 0;
}

/* A stream that is no stream of frames ends, and its maker is notified once. */
static void test_rubbish_ends_it(void)
{
	char rubbish[64];

	begin(20007, "gast");
	memset(rubbish, 0xff, sizeof(rubbish));
	router_guest_in(guest, rubbish, sizeof(rubbish));
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, is_gone, NULL, DEADLINE_MS), 0);
	CU_ASSERT_PTR_NULL(guest);
	end();
}

static void test_gone_with_the_router(void)
{
	begin(20007, "gast");
	registry_remove(k.parts.registry, &k.owner);
	kernel_stop(&k);
	CU_ASSERT_EQUAL(goodbyes, 1);
}

/* ---- many at once --------------------------------------------------------------------------- */
static void ignore(void *arg, const char *bytes, size_t len)
{
	(void)bytes;
	if (len == 0)
		*(struct client **)arg = NULL;
}

static int come(uint32_t uid, struct client **ret)
{
	struct router_guest g = { .uid = uid, .gid = uid, .user = "gast", .send = ignore, .arg = ret };

	*ret = NULL;
	return router_guest(k.parts.router, &g, ret);
}

static bool some_time_passed(void *arg)
{
	return loop_now_ms(k.parts.loop) > *(int64_t *)arg;
}

/* mend B4: five users hold all that they may: root still comes in, and in place of one who is idle everybody */
static void test_five_users_do_not_lock_root_out(void)
{
	struct client *held[20], *root[4], *more;
	uint32_t n = 0;
	int64_t later_ms;

	kernel_start(&k);
	k.parts.router->limits.clients = 20;
	k.parts.router->limits.clients_per_uid = 4;
	k.parts.router->limits.reserve = 4;
	k.parts.router->limits.reserve_root = 2;
	k.parts.router->limits.idle_ms = 30;
	for (uint32_t i = 0; i < 20; i++)
		n += come(30001 + i / 4, &held[i]) == 0;
	CU_ASSERT_EQUAL(n, 16);
	for (int i = 0; i < 4; i++)
		CU_ASSERT_EQUAL_FATAL(come(0, &root[i]), 0);
	CU_ASSERT(come(30009, &more) < 0);
	later_ms = loop_now_ms(k.parts.loop) + 40;
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, some_time_passed, &later_ms, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(come(30009, &more), 0);
	CU_ASSERT_PTR_NULL(held[0]);
	CU_ASSERT_PTR_NOT_NULL(held[15]);
	CU_ASSERT(log_has(&k, "it was idle, and there are too many"));
	kernel_stop(&k);
}

TESTS_MAIN("request/guest", TEST(test_it_is_who_was_said), TEST(test_root_is_a_manager),
	   TEST(test_unknown_requests_are_refused), TEST(test_rubbish_ends_it),
	   TEST(test_gone_with_the_router), TEST(test_five_users_do_not_lock_root_out))
