/* SPDX-License-Identifier: Apache-2.0
 *
 * test_chain.c - the order of taps, refused tables, taps that come and go.
 */
#include "hook/engine.h"

#define TAP_FN(tap)                                                                                \
	static keel_verdict tap(struct keel_call *c, const struct keel_ev_job_submit *ev)          \
	{                                                                                          \
		(void)ev;                                                                          \
		note_down("%s.%s", c->mod->name, #tap);                                            \
		return KEEL_NEXT;                                                                  \
	}
TAP_FN(one)
TAP_FN(two)
TAP_FN(three)

static void order_is_before_after_then_number_then_name(void)
{
	static const struct keel_tap alpha[] = {
		KEEL_TAP(job_submit, one, .order = 10),
		KEEL_TAP(job_submit, two, .order = -5),
		KEEL_TAP(job_submit, three, .order = 10, .before = "alpha.two, nobody"),
	};
	static const struct keel_tap beta[] = {
		KEEL_TAP(job_submit, one, .order = -900, .after = "alpha"),
		KEEL_TAP(job_submit, two, .order = 10),
	};

	engine_start();
	CU_ASSERT_EQUAL(ATTACH(e.beta, beta), 0);
	CU_ASSERT_EQUAL(ATTACH(e.alpha, alpha), 0);
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_STRING_EQUAL(trace,
			       "alpha.one alpha.three alpha.two beta.one beta.two done");
	engine_stop();
}

static void a_loop_is_printed_and_changes_nothing(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, one, .after = "beta") };
	static const struct keel_tap beta[] = {
		KEEL_TAP(job_modify, (keel_job_modify_fn *)0),
	};
	static const struct keel_tap loop[] = { KEEL_TAP(job_submit, two, .after = "alpha.one") };

	engine_start();
	CU_ASSERT_EQUAL(ATTACH(e.alpha, alpha), 0);
	CU_ASSERT(ATTACH(e.beta, beta) < 0);
	CU_ASSERT_EQUAL(ATTACH(e.beta, loop), -ELOOP);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.err.text, "beta.two waits for alpha.one"));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.err.text, "alpha.one waits for beta.two"));
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_STRING_EQUAL(trace, "alpha.one done");
	CU_ASSERT_EQUAL(e.beta.live, 0);
	engine_stop();
}

static void bad_tables_are_refused_with_a_name(void)
{
	static const struct keel_tap bad[][1] = {
		{ { .size = sizeof(struct keel_tap), .point = 250, .name = "x",
		    .fn.job_submit = one } },
		{ KEEL_TAP(job_submit, one, .order = 1001) },
		{ KEEL_TAP(job_submit, one, .flags = 64) },
		{ KEEL_TAP(job_submit, one, .flags = KEEL_ON_FAIL_SKIP | KEEL_ON_FAIL_BENCH) },
		{ { .size = sizeof(struct keel_tap), .point = KEEL_POINT_job_submit, .name = "x" } },
		{ { .size = sizeof(struct keel_tap), .point = KEEL_POINT_job_queued, .name = "one",
		    .fn.job_submit = one, .flags = KEEL_ON_FAIL_REJECT } },
	};
	static const struct keel_tap twice[] = { KEEL_TAP(job_submit, one),
						 KEEL_TAP(job_submit, one) };

	engine_start();
	for (size_t i = 0; i < KEEL_COUNT(bad); i++) {
		CU_ASSERT(ATTACH(e.alpha, bad[i]) < 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.err.text, "alpha"));
	}
	CU_ASSERT_EQUAL(ATTACH(e.alpha, twice), -EEXIST);
	CU_ASSERT_FALSE(e.hook->tapped(&e.alpha.pub, KEEL_POINT_job_submit));
	engine_stop();
}

static keel_verdict leaver(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	(void)ev;
	note_down("leaver");
	hooks_detach(e.parts.hooks, &e.alpha);
	hooks_detach(e.parts.hooks, &e.beta);
	return KEEL_NEXT;
}

static void taps_may_leave_while_they_are_called(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, leaver, .order = -1) };
	static const struct keel_tap beta[] = { KEEL_TAP(job_submit, one) };

	engine_start();
	CU_ASSERT_EQUAL(ATTACH(e.alpha, alpha), 0);
	CU_ASSERT_EQUAL(ATTACH(e.beta, beta), 0);
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_STRING_EQUAL(trace, "leaver done");
	CU_ASSERT_FALSE(e.hook->tapped(&e.alpha.pub, KEEL_POINT_job_submit));
	engine_stop();
}

static keel_verdict any(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_job_submit *ev = event;

	(void)c;
	note_down("any:%u:%s:%s", point, ev->id, (const char *)arg);
	return KEEL_NEXT;
}

/* past sdk/include/keel/hooks.h KEEL_POINT_MAX */
static void dynamic_taps_see_the_generic_event(void)
{
	struct keel_about_point about = { .size = sizeof(about) };
	struct {
		uint32_t size, kind;
		const char *name;
		uint64_t others;
	} less = { .size = 16, .others = 7 };

	engine_start();
	CU_ASSERT_EQUAL(e.hook->tap_add(&e.alpha.pub, KEEL_POINT_job_submit, "dyn", 1, any,
					(void *)(uintptr_t)"x", &e.err), 0);
	CU_ASSERT(e.hook->tap_add(&e.alpha.pub, KEEL_POINT_job_submit, "dyn", 1, any, NULL,
				  &e.err) < 0);
	CU_ASSERT(e.hook->tap_add(&e.alpha.pub, KEEL_POINT_MAX, "dyn", 1, any, NULL, &e.err) < 0);
	RAISE(job_submit, .id = "1.svr");
	e.hook->tap_remove(&e.alpha.pub, KEEL_POINT_job_submit, "dyn");
	e.hook->tap_remove(&e.alpha.pub, KEEL_POINT_job_submit, "dyn");
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_STRING_EQUAL(trace, "any:10:1.svr:x done done");
	CU_ASSERT_EQUAL_FATAL(e.hook->about(&e.alpha.pub, e.hook->point(&e.alpha.pub, "job_submit"), &about), 0);
	CU_ASSERT_EQUAL(about.kind, KEEL_GATE);
	CU_ASSERT_EQUAL(about.n_fields, 4);
	CU_ASSERT_STRING_EQUAL(about.fields[1].name, "job");
	CU_ASSERT_EQUAL(about.fields[1].offset, offsetof(struct keel_ev_job_submit, job));
	CU_ASSERT_EQUAL(e.hook->about(&e.alpha.pub, KEEL_POINT_start_now, (struct keel_about_point *)(void *)&less), 0);
	CU_ASSERT_STRING_EQUAL(less.name, "start_now");
	CU_ASSERT_EQUAL(less.others, 7); /* no more than it has room for */
	CU_ASSERT_EQUAL(e.hook->about(&e.alpha.pub, KEEL_POINT_MAX - 1, &about), -ENOENT);
	CU_ASSERT_EQUAL(e.hook->point(&e.alpha.pub, "nonesuch"), 0);
	CU_ASSERT_EQUAL(e.hook->point(&e.alpha.pub, NULL), 0);
	engine_stop();
}

static void place(const char *of_alpha, const char *of_beta)
{
	const struct keel_tap alpha[] = { KEEL_TAP(job_submit, one, .before = of_alpha) };
	const struct keel_tap beta[] = { KEEL_TAP(job_submit, two, .before = of_beta) };

	hooks_place(e.parts.hooks, &e.beta, beta, 1);
	hooks_place(e.parts.hooks, &e.alpha, alpha, 1);
}

/* The second pair is put back after an error. */
static int places(const char *of_alpha, const char *of_beta, const char *alpha_had, const char *beta_had)
{
	int ret;

	place(of_alpha, of_beta);
	ret = hooks_reorder(e.parts.hooks, &e.err);
	if (ret == 0)
		return 0;
	place(alpha_had, beta_had);
	CU_ASSERT_EQUAL(hooks_reorder(e.parts.hooks, NULL), 0);
	return ret;
}

/* One after the other they would form a loop meanwhile. */
static void places_change_all_at_once_or_not_at_all(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, one, .before = "beta") };
	static const struct keel_tap beta[] = { KEEL_TAP(job_submit, two, .order = -5) };

	engine_start();
	CU_ASSERT_EQUAL(ATTACH(e.alpha, alpha), 0);
	CU_ASSERT_EQUAL(ATTACH(e.beta, beta), 0);
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_STRING_EQUAL(trace, "alpha.one beta.two done");
	CU_ASSERT_EQUAL(places(NULL, "alpha", "beta", NULL), 0);
	trace[0] = '\0';
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_STRING_EQUAL(trace, "beta.two alpha.one done");
	CU_ASSERT_EQUAL(places("beta", "alpha", NULL, "alpha"), -ELOOP);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.err.text, "alpha.one waits for beta.two"));
	trace[0] = '\0';
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_STRING_EQUAL(trace, "beta.two alpha.one done");
	CU_ASSERT_EQUAL(places("beta", NULL, NULL, "alpha"), 0);
	trace[0] = '\0';
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_STRING_EQUAL(trace, "alpha.one beta.two done");
	engine_stop();
}

static void tap_see(void *arg, const struct keel_about_tap *t)
{
	CU_ASSERT_STRING_EQUAL(t->name, "alpha.one");
	CU_ASSERT_STRING_EQUAL(t->module, "alpha");
	CU_ASSERT(t->point == KEEL_POINT_job_submit && t->order == 10 && t->policy == KEEL_ON_FAIL_SKIP);
	CU_ASSERT(strcmp(t->after, "x") == 0 && t->before == NULL);
	CU_ASSERT(t->calls == 1 && t->fails == 0 && t->strikes == 0 && !t->benched && !t->quiet);
	++*(uint32_t *)arg;
}

static void the_chain_is_described(void)
{
	static const struct keel_tap alpha[] = {
		KEEL_TAP(job_submit, one, .order = 10, .flags = KEEL_ON_FAIL_SKIP, .after = "x"),
	};
	uint32_t n = 0;

	engine_start();
	CU_ASSERT_EQUAL(ATTACH(e.alpha, alpha), 0);
	RAISE(job_submit, .id = "1.svr");
	hooks_taps(&e.alpha.pub, tap_see, &n);
	CU_ASSERT_EQUAL(n, 1);
	engine_stop();
}

TESTS_MAIN("hook/chain", TEST(order_is_before_after_then_number_then_name),
	   TEST(a_loop_is_printed_and_changes_nothing), TEST(bad_tables_are_refused_with_a_name),
	   TEST(taps_may_leave_while_they_are_called), TEST(dynamic_taps_see_the_generic_event),
	   TEST(places_change_all_at_once_or_not_at_all),
	   TEST(the_chain_is_described))
