/* SPDX-License-Identifier: Apache-2.0
 *
 * test_fan.c - children of one parent: each result is kept, the worst counts, and however it ends everybody
 * is told once.
 *
 * The parent is a deletion; its tap asks for two jobs whether they may be held, and waits for both.
 */
#include "hook/engine.h"

static struct keel_hold *held[2]; /* by child */
static bool child_waits, child2_rejects;
static int64_t timeout_ms;
static uint32_t fans_done;
static struct keel_fan_result last;
static struct keel_outcome outcome[2];
static char text[2][128];
static struct keel_req *const requester = (struct keel_req *)&fans_done;

static keel_verdict child_resumed(struct keel_call *c, void *arg)
{
	(void)c;
	note_down("resume%s", (const char *)arg);
	return KEEL_NEXT;
}

static void child_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c;
	note_down("cancel%s:%d", (const char *)arg, reason);
}

static keel_verdict on_child(struct keel_call *c, const struct keel_ev_job_hold *ev)
{
	bool second = strcmp(ev->id, "2.svr") == 0;
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = "a child waits",
					     .timeout_ms = 60000, .resume = child_resumed,
					     .cancel = child_cancelled, .arg = second ? "2" : "1" };

	e.call->set(c, ev->job, "Priority", NULL, "1", NULL);
	if (second && child2_rejects)
		return e.call->reject(c, 15007, "not %s", ev->id);
	return child_waits ? e.call->hold(c, &opts, &held[second]) : KEEL_NEXT;
}

static void fan_done(struct keel_mod *m, void *arg, const struct keel_fan_result *r)
{
	(void)m;
	(void)arg;
	fans_done++;
	last = *r;
	for (uint32_t i = 0; i < r->n && i < 2; i++) {
		outcome[i] = *r->outcomes[i];
		snprintf(text[i], sizeof(text[i]), "%s", outcome[i].text ? outcome[i].text : "");
	}
	note_down("fan");
}

static void one_done(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	(void)m;
	note_down("child%s:%d", (const char *)arg, out->verdict);
}

static keel_verdict fan_out(struct keel_mod *m, struct keel_call *c)
{
	const struct keel_raise children[] = {
		{ .size = sizeof(struct keel_raise), .point = KEEL_POINT_job_hold, .req = requester,
		  .event = KEEL_EVENT(job_hold, .id = "1.svr", .job = &job1), .done = one_done,
		  .arg = "1" },
		{ .size = sizeof(struct keel_raise), .point = KEEL_POINT_job_hold, .req = requester,
		  .event = KEEL_EVENT(job_hold, .id = "2.svr", .job = &job2), .done = one_done,
		  .arg = "2" },
	};

	return e.hook->fan(m, &(struct keel_fan){ .size = sizeof(struct keel_fan), .n = 2,
						  .children = children, .done = fan_done, .call = c,
						  .why = "two jobs are asked", .timeout_ms = timeout_ms });
}

static keel_verdict on_parent(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	(void)ev;
	return fan_out(c->mod, c);
}

static keel_verdict after(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	(void)c;
	(void)ev;
	note_down("after");
	return KEEL_NEXT;
}

static const struct keel_tap alpha[] = { KEEL_TAP(job_delete, on_parent) };
static const struct keel_tap beta[] = { KEEL_TAP(job_hold, on_child),
					KEEL_TAP(job_delete, after, .order = 1) };

static void start(void)
{
	engine_start();
	child_waits = true;
	child2_rejects = false;
	timeout_ms = 60000;
	fans_done = 0;
	memset(&last, 0, sizeof(last));
	ATTACH(e.alpha, alpha);
	ATTACH(e.beta, beta);
}

static keel_verdict delete_job(void)
{
	return raise_point(KEEL_POINT_job_delete, KEEL_EVENT(job_delete, .id = "9.svr"), NULL, requester);
}

static void all_at_once(void)
{
	start();
	child_waits = false;
	CU_ASSERT_EQUAL(delete_job(), KEEL_NEXT);
	CU_ASSERT_STRING_EQUAL(trace, "commit child1:0 commit child2:0 fan after done");
	CU_ASSERT_EQUAL(fans_done, 1);
	CU_ASSERT_EQUAL(last.worst, KEEL_NEXT);
	engine_stop();
}

static void the_worst_counts_and_each_is_kept(void)
{
	start();
	child_waits = false;
	child2_rejects = true;
	CU_ASSERT_EQUAL(delete_job(), KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(trace, "commit child1:0 child2:2 fan done");
	CU_ASSERT_EQUAL(told.code, 15007);
	CU_ASSERT_STRING_EQUAL(told.text, "not 2.svr");
	CU_ASSERT_EQUAL(last.worst_at, 1);
	CU_ASSERT_EQUAL(outcome[0].verdict, KEEL_NEXT);
	CU_ASSERT_EQUAL(outcome[1].verdict, KEEL_REJECT);
	CU_ASSERT_EQUAL(commits, 1);
	CU_ASSERT_EQUAL(discards, 1);
	engine_stop();
}

static void the_parent_waits_for_the_last_child(void)
{
	char holds[128];

	start();
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	e.hook->holds_text(&e.beta.pub, "9.svr", holds, sizeof(holds));
	CU_ASSERT_STRING_EQUAL(holds, "alpha: two jobs are asked (0s of 60s)");
	e.call->release(held[1]);
	CU_ASSERT_EQUAL(run_until("child2"), 0);
	CU_ASSERT_EQUAL(fans_done, 0);
	e.call->release(held[0]);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "resume2 commit child2:0 resume1 commit child1:0 fan after done");
	CU_ASSERT_EQUAL(fans_done, 1);
	engine_stop();
}

static void a_rejected_child_does_not_end_the_others(void)
{
	start();
	child2_rejects = true;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	CU_ASSERT_EQUAL(fans_done, 0);
	e.call->release(held[0]);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "child2:2 resume1 commit child1:0 fan done");
	CU_ASSERT_STRING_EQUAL(told.text, "not 2.svr");
	engine_stop();
}

static void a_timeout_of_the_parent_ends_the_children(void)
{
	start();
	timeout_ms = 1;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	CU_ASSERT_EQUAL(run_until("fan"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "done cancel1:1 child1:-1 cancel2:1 child2:-1 fan");
	CU_ASSERT_EQUAL(told.verdict, KEEL_REJECT);
	CU_ASSERT_EQUAL(last.worst, KEEL_FAIL);
	CU_ASSERT_EQUAL(commits, 0);
	engine_stop();
}

static void the_requester_goes_away(void)
{
	start();
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	hooks_client_gone(e.parts.hooks, requester);
	CU_ASSERT_EQUAL(run_until("fan"), 0);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(trace, "cancel1:2"));
	CU_ASSERT_PTR_NOT_NULL(strstr(trace, "cancel2:2"));
	CU_ASSERT_EQUAL(told.verdict, KEEL_FAIL);
	CU_ASSERT_EQUAL(fans_done, 1);
	CU_ASSERT_EQUAL(commits, 0);
	engine_stop();
}

static void the_module_stops(void)
{
	start();
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	hooks_detach(e.parts.hooks, &e.alpha);
	CU_ASSERT_EQUAL(fans_done, 1);
	CU_ASSERT_EQUAL(last.worst, KEEL_FAIL);
	CU_ASSERT_EQUAL(told.n, 1);
	CU_ASSERT_EQUAL(e.alpha.live, 0);
	engine_stop();
}

static void the_engine_ends(void)
{
	start();
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	hooks_stop(e.parts.hooks);
	CU_ASSERT_EQUAL(fans_done, 1);
	CU_ASSERT_EQUAL(told.n, 1);
	engine_stop();
}

static void an_object_goes_away(void)
{
	start();
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	job2.exists = false;
	e.call->release(held[1]);
	e.call->release(held[0]);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_EQUAL(outcome[0].verdict, KEEL_NEXT);
	CU_ASSERT_EQUAL(outcome[1].verdict, KEEL_FAIL);
	CU_ASSERT_EQUAL(told.verdict, KEEL_REJECT);
	engine_stop();
}

static void without_a_call_done_comes_later(void)
{
	start();
	CU_ASSERT_EQUAL(fan_out(&e.alpha.pub, NULL), KEEL_WAIT);
	CU_ASSERT_EQUAL(fans_done, 0);
	e.call->release(held[0]);
	e.call->release(held[1]);
	CU_ASSERT_EQUAL(run_until("fan"), 0);
	CU_ASSERT_EQUAL(last.worst, KEEL_NEXT);
	CU_ASSERT_EQUAL(e.hook->fan(&e.alpha.pub, &(struct keel_fan){ .size = sizeof(struct keel_fan),
								    .done = fan_done }), KEEL_NEXT);
	CU_ASSERT_EQUAL(fans_done, 2);
	CU_ASSERT_EQUAL(last.n, 0);
	engine_stop();
}

TESTS_MAIN("hook/fan", TEST(all_at_once), TEST(the_worst_counts_and_each_is_kept),
	   TEST(the_parent_waits_for_the_last_child), TEST(a_rejected_child_does_not_end_the_others),
	   TEST(a_timeout_of_the_parent_ends_the_children), TEST(the_requester_goes_away),
	   TEST(the_module_stops), TEST(the_engine_ends), TEST(an_object_goes_away),
	   TEST(without_a_call_done_comes_later))
