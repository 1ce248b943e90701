/* SPDX-License-Identifier: Apache-2.0
 *
 * test_settled.c - mend E: a tap that counts learns how the operation ended, though one behind it waits and then refuses.
 */
#include "hook/engine.h"

static struct keel_hold *held;
static int running, heard;
static keel_verdict said;

static void settled(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	CU_ASSERT_PTR_EQUAL(m, &e.alpha.pub);
	CU_ASSERT_PTR_EQUAL(arg, &running);
	heard++;
	if (o->verdict != KEEL_NEXT && o->verdict != KEEL_DONE)
		running--;
}

static keel_verdict on_count(struct keel_call *c, const struct keel_ev_job_hold *ev)
{
	(void)ev;
	running++;
	CU_ASSERT_EQUAL(e.call->settled(c, NULL, NULL), -EINVAL);
	CU_ASSERT_EQUAL(e.call->settled(c, settled, &running), 0);
	return KEEL_NEXT;
}

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	(void)arg;
	return said == KEEL_REJECT ? e.call->reject(c, 0, "no") : said;
}

static keel_verdict on_wait(struct keel_call *c, const struct keel_ev_job_hold *ev)
{
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = "a test", .timeout_ms = 60000, .resume = resumed };

	(void)ev;
	return e.call->hold(c, &opts, &held);
}

static void over(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	(void)m, (void)arg;
	note_down("over:%d", o->verdict);
}

static void start(keel_outcome_fn *done)
{
	static const struct keel_tap counts[] = { KEEL_TAP(job_hold, on_count, .order = -10) };
	static const struct keel_tap waits[] = { KEEL_TAP(job_hold, on_wait) };

	running = heard = 0;
	engine_start();
	CU_ASSERT_EQUAL(ATTACH(e.alpha, counts), 0);
	CU_ASSERT_EQUAL(ATTACH(e.beta, waits), 0);
	CU_ASSERT_EQUAL(e.hook->raise(&e.beta.pub, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_job_hold, .done = done,
		.event = KEEL_EVENT(job_hold, .id = job1.id, .job = &job1, .holds = "u", .who = "somebody") }), KEEL_WAIT);
	CU_ASSERT_EQUAL(running, 1);
	CU_ASSERT_EQUAL(heard, 0);
}

static void one_behind_it_refuses(void)
{
	start(over);
	said = KEEL_REJECT;
	e.call->release(held);
	CU_ASSERT_EQUAL(run_until("over:2"), 0);
	CU_ASSERT_EQUAL(heard, 1);
	CU_ASSERT_EQUAL(running, 0);
	engine_stop();
}

static void accepted_it_keeps_its_count(void)
{
	start(over);
	said = KEEL_NEXT;
	e.call->release(held);
	CU_ASSERT_EQUAL(run_until("over:0"), 0);
	CU_ASSERT_EQUAL(heard, 1);
	CU_ASSERT_EQUAL(running, 1);
	engine_stop();
}

static void its_module_goes_before(void)
{
	start(over);
	hooks_detach(e.parts.hooks, &e.alpha);
	CU_ASSERT_EQUAL(heard, 1);
	CU_ASSERT_EQUAL(running, 0);
	engine_stop();
	CU_ASSERT_EQUAL(heard, 1);
}

TESTS_MAIN("settled", TEST(one_behind_it_refuses), TEST(accepted_it_keeps_its_count), TEST(its_module_goes_before))
