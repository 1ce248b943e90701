/* SPDX-License-Identifier: Apache-2.0
 *
 * test_receive.c - the point request_receive: a request is served after all taps agreed, however long
 * that takes and whatever goes away meanwhile.
 */
#include "fixture.h"
#include "keel/module.h"

static struct kernel k;
static struct owner guard;
static const struct keel_call_api *call;
static struct keel_hold *held;
static uint32_t served, asked, cancelled;
static char who[256];

static void on_serve(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	served++;
	k.request->reply(q, 0, NULL);
}

static keel_verdict resume(struct keel_call *c, void *arg)
{
	return arg ? call->reject(c, 15007, NULL) : KEEL_NEXT;
}

static void cancel(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c, (void)arg, (void)reason;
	cancelled++;
}

/* The name of the request says what the guard does. */
static keel_verdict on_receive(struct keel_call *c, const struct keel_ev_request_receive *ev)
{
	static char no[] = "no";
	const bool late_no = strcmp(ev->name, "late_no") == 0;

	asked++;
	snprintf(who, sizeof(who), "%s", call->session(c)->who);
	CU_ASSERT_STRING_EQUAL(who, ev->who);
	if (strcmp(ev->name, "no") == 0)
		return call->reject(c, 15008, "not %s", "you");
	if (strcmp(ev->name, "late") != 0 && !late_no)
		return KEEL_NEXT;
	return call->hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts),
						       .why = "a question", .timeout_ms = 60000,
						       .resume = resume, .cancel = cancel,
						       .arg = late_no ? no : NULL }, &held);
}

#define REQUEST(request_name)                                                                      \
	{ "REQUEST", &(const struct keel_request_def){ .size = sizeof(struct keel_request_def),     \
						       .roles = KEEL_EVERYBODY, .doc = "test",      \
						       .name = (request_name), .handler = on_serve } }
static const struct keel_contrib rows[] = { REQUEST("yes"), REQUEST("no"), REQUEST("late"),
					    REQUEST("late_no") };
static const struct keel_tap taps[] = { KEEL_TAP(request_receive, on_receive) };

static void start(struct wire_client *c)
{
	struct keel_err err = { 0 };

	served = asked = cancelled = 0;
	held = NULL;
	kernel_start(&k);
	CU_ASSERT_FATAL(registry_add(k.parts.registry, &k.owner, rows, KEEL_COUNT(rows), &err) == 0);
	memset(&guard, 0, sizeof(guard));
	guard.pub.name = "guard";
	guard.parts = &k.parts;
	call = registry_service(k.parts.registry, "call", 0, NULL, &err);
	CU_ASSERT_FATAL(hooks_attach(k.parts.hooks, &guard, taps, KEEL_COUNT(taps),
				     &err) == 0);
	wire_connect(&k, c);
}

static bool is_held(void *arg)
{
	(void)arg;
	return held != NULL;
}

static void wait_held(void)
{
	CU_ASSERT_FATAL(loop_run_until(k.parts.loop, is_held, NULL, DEADLINE_MS) == 0);
}

static bool is_idle(void *arg)
{
	(void)arg;
	return k.parts.router->n_clients == 0 && router_idle(k.parts.router) && k.parts.router->orphans == NULL;
}

static void finish(struct wire_client *c)
{
	wire_close(c);
	CU_ASSERT_FATAL(loop_run_until(k.parts.loop, is_idle, NULL, DEADLINE_MS) == 0);
	kernel_stop(&k);
}

static void test_agreed_and_refused(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("yes"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	wire_send(&c, 2, wire_request("no"));
	CU_ASSERT_EQUAL(wire_code(&c), 15008);
	CU_ASSERT(wire_text_is(&c, "text", "not you"));
	wire_send(&c, 3, wire_request("unknown"));
	CU_ASSERT_EQUAL(wire_code(&c), 15005);
	CU_ASSERT_EQUAL(asked, 2);
	CU_ASSERT_EQUAL(served, 1);
	finish(&c);
}

static void test_later(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("late"));
	wait_held();
	wire_send(&c, 2, wire_request("yes")); /* others are not kept waiting */
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 2);
	CU_ASSERT_EQUAL(served, 1);
	call->release(held);
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 1);
	held = NULL;
	wire_send(&c, 3, wire_request("late_no"));
	wait_held();
	call->release(held);
	CU_ASSERT_EQUAL(wire_code(&c), 15007);
	CU_ASSERT_EQUAL(served, 2);
	finish(&c);
}

static void test_client_gone(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("late"));
	wait_held();
	finish(&c);
	CU_ASSERT_EQUAL(cancelled, 1);
	CU_ASSERT_EQUAL(served, 0);
}

static void test_module_gone(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("late"));
	wait_held();
	registry_remove(k.parts.registry, &k.owner);
	CU_ASSERT_EQUAL(wire_code(&c), 15011);
	call->release(held);
	CU_ASSERT_EQUAL(served, 0);
	finish(&c);
}

static void test_destroyed(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("late"));
	wait_held();
	hooks_stop(k.parts.hooks); /* what a daemon that ends does first */
	CU_ASSERT_EQUAL(cancelled, 1);
	kernel_stop(&k);
	wire_close(&c);
	CU_ASSERT_EQUAL(served, 0);
}

TESTS_MAIN("receive", TEST(test_agreed_and_refused), TEST(test_later), TEST(test_client_gone),
	   TEST(test_module_gone), TEST(test_destroyed))
