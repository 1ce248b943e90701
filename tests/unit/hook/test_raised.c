/* SPDX-License-Identifier: Apache-2.0
 *
 * test_raised.c - an operation that waits is ended by the module that raised it, and no other is.
 */
#include "hook/engine.h"

static struct keel_hold *held[2]; /* by job */

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	(void)c;
	note_down("resumed%s", (const char *)arg);
	return KEEL_NEXT;
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c;
	note_down("cancelled%s:%d", (const char *)arg, reason);
}

static keel_verdict on_hold(struct keel_call *c, const struct keel_ev_job_hold *ev)
{
	bool second = strcmp(ev->id, "2.svr") == 0;
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = "a test", .timeout_ms = 60000,
					     .resume = resumed, .cancel = cancelled, .arg = second ? "2" : "1" };

	return e.call->hold(c, &opts, &held[second]);
}

static void over(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	(void)m;
	note_down("over%s:%d", (const char *)arg, o->verdict);
}

static void others(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	(void)m, (void)o;
	note_down("other%s", (const char *)arg);
}

static keel_verdict ask(struct owner *raiser, struct keel_obj *job, keel_outcome_fn *done)
{
	return e.hook->raise(&raiser->pub, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_job_hold, .done = done,
		.arg = (void *)(uintptr_t)job->id,
		.event = KEEL_EVENT(job_hold, .id = job->id, .job = job, .holds = "u", .who = "somebody") });
}

static void start(void)
{
	static const struct keel_tap taps[] = { KEEL_TAP(job_hold, on_hold) };

	engine_start();
	CU_ASSERT_EQUAL(ATTACH(e.beta, taps), 0);
	CU_ASSERT_EQUAL(ask(&e.alpha, &job1, over), KEEL_WAIT);
	CU_ASSERT_EQUAL(ask(&e.alpha, &job2, over), KEEL_WAIT);
}

static int32_t end_first(void)
{
	return e.hook->end(&e.alpha.pub, job1.id);
}

static void those_that_are_to_end_end(void)
{
	start();
	CU_ASSERT_EQUAL(end_first(), 0);
	CU_ASSERT_PTR_NULL(strstr(trace, "over")); /* not under the feet of whoever ends them */
	CU_ASSERT_EQUAL(run_until("over1.svr:-1"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(trace, "cancelled1:3"));
	CU_ASSERT_PTR_NULL(strstr(trace, "2"));
	e.call->release(held[1]);
	CU_ASSERT_EQUAL(run_until("over2.svr:0"), 0);
	engine_stop();
}

static void those_of_others_stay(void)
{
	start();
	CU_ASSERT_EQUAL(ask(&e.beta, &job1, others), KEEL_WAIT);
	CU_ASSERT_EQUAL(end_first(), 0);
	CU_ASSERT_EQUAL(run_until("over1.svr:-1"), 0);
	CU_ASSERT_PTR_NULL(strstr(trace, "other"));
	engine_stop();
}

/* Twice is once. */
static void one_that_ends_already_is_told_once(void)
{
	char *first;

	start();
	CU_ASSERT_EQUAL(end_first(), 0);
	CU_ASSERT_EQUAL(end_first(), -ENOENT);
	CU_ASSERT_EQUAL(run_until("over1.svr:-1"), 0);
	first = strstr(trace, "over1.svr");
	CU_ASSERT_PTR_NULL(strstr(first + 1, "over1.svr"));
	engine_stop();
}

TESTS_MAIN("hook/raised", TEST(those_that_are_to_end_end), TEST(those_of_others_stay),
	   TEST(one_that_ends_already_is_told_once))
