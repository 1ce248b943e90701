/* SPDX-License-Identifier: Apache-2.0
 *
 * test_hold.c - operations that wait: each hold ends once, whatever ends it.
 */
#include "hook/engine.h"
#include "hook/inside.h"

static struct keel_hold_opts opts;
static struct keel_hold *hold, *hold2;
static int n_holds;
static bool release_at_once;
static keel_verdict resume_says;

static keel_verdict resume(struct keel_call *c, void *arg)
{
	note_down("resume%s", arg != NULL ? (const char *)arg : "");
	return resume_says == KEEL_REJECT ? e.call->reject(c, 15010, "second thoughts") : resume_says;
}

static void cancel(struct keel_call *c, void *arg, int32_t reason)
{
	(void)arg;
	note_down("cancel%d", reason);
	CU_ASSERT_EQUAL(e.call->hold(c, &opts, NULL), KEEL_FAIL); /* too late to wait */
}

static keel_verdict waits(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	keel_verdict v = e.call->hold(c, &opts, &hold);

	note_down("waits:%s", ev->id);
	if (n_holds == 2)
		v = e.call->hold(c, &opts, &hold2);
	if (release_at_once)
		e.call->release(hold);
	return v;
}

static keel_verdict after(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	(void)c;
	note_down("after:%s:%s", ev->id, ev->who);
	return KEEL_NEXT;
}

static const struct keel_tap alpha[] = { KEEL_TAP(job_delete, waits) };
static const struct keel_tap beta[] = { KEEL_TAP(job_delete, after, .order = 1) };

static void start(void)
{
	engine_start();
	opts = (struct keel_hold_opts){ .size = sizeof(opts), .why = "the reason",
					.timeout_ms = 60000, .resume = resume, .cancel = cancel };
	n_holds = 1;
	release_at_once = false;
	resume_says = KEEL_NEXT;
	CU_ASSERT_EQUAL(ATTACH(e.alpha, alpha), 0);
	CU_ASSERT_EQUAL(ATTACH(e.beta, beta), 0);
}

static keel_verdict delete_job(void)
{
	char id[] = "1.svr", who[] = "user@host"; /* gone after the raise: they must be copied */
	keel_verdict v = RAISE(job_delete, .id = id, .job = &job1, .who = who);

	memset(id, 'x', sizeof(id) - 1);
	memset(who, 'x', sizeof(who) - 1);
	return v;
}

static void released_it_goes_on(void)
{
	char text[128];

	start();
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr");
	CU_ASSERT(e.hook->holds_text(&e.beta.pub, "1.svr", text, sizeof(text)) > 0);
	CU_ASSERT_STRING_EQUAL(text, "alpha: the reason (0s of 60s)");
	CU_ASSERT_EQUAL(e.hook->holds_text(&e.beta.pub, "2.svr", text, sizeof(text)), 0);
	e.call->release(hold);
	e.call->release(hold); /* once is enough, twice does no harm */
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr");
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr resume after:1.svr:user@host done");
	CU_ASSERT_EQUAL(told.verdict, KEEL_NEXT);
	engine_stop();
}

static keel_verdict waits_too(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_hold_opts o = { .size = sizeof(o), .why = "a tap of the run time", .timeout_ms = 60000 };

	(void)point, (void)event;
	return e.call->hold(c, &o, arg);
}

/* It stays until what waits for it is over: the outcome names it. */
static void a_tap_is_removed_while_it_waits(void)
{
	struct keel_hold *own = NULL;

	engine_start();
	CU_ASSERT_EQUAL(e.hook->tap_add(&e.alpha.pub, KEEL_POINT_job_delete, "dyn", 0, waits_too, &own, &e.err), 0);
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	e.hook->tap_remove(&e.alpha.pub, KEEL_POINT_job_delete, "dyn");
	CU_ASSERT_FALSE(e.hook->tapped(&e.alpha.pub, KEEL_POINT_job_delete));
	CU_ASSERT_EQUAL(e.hook->tap_add(&e.alpha.pub, KEEL_POINT_job_delete, "dyn", 0, waits_too, &own, &e.err), 0);
	hooks_client_gone(e.parts.hooks, NULL); /* those without a requester are cancelled */
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_EQUAL(told.verdict, KEEL_FAIL);
	CU_ASSERT_STRING_EQUAL(told.by, "alpha.dyn");
	engine_stop();
}

static void release_before_return_is_legal(void)
{
	start();
	release_at_once = true;
	CU_ASSERT_EQUAL(delete_job(), KEEL_NEXT);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr resume after:1.svr:user@host done");
	CU_ASSERT_EQUAL(told.n, 1);
	engine_stop();
}

static void the_awaited_event_releases(void)
{
	start();
	opts.until_point = KEEL_POINT_job_purged;
	opts.until_id = "2.svr";
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	NOTE(job_purged, .id = "3.svr");
	NOTE(job_obit, .id = "2.svr");
	NOTE(job_purged, .id = "2.svr", .job = &job2);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr resume after:1.svr:user@host done");
	CU_ASSERT_FALSE(e.hook->tapped(&e.alpha.pub, KEEL_POINT_job_purged));
	engine_stop();
}

static void a_timeout_is_a_failure(void)
{
	start();
	opts.timeout_ms = 1;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr cancel1 done");
	CU_ASSERT_EQUAL(told.verdict, KEEL_REJECT);
	CU_ASSERT_PTR_NOT_NULL(strstr(told.text, "the reason"));
	CU_ASSERT_PTR_NOT_NULL(strstr(told.text, "too long"));
	engine_stop();
}

static void the_last_of_several_continues(void)
{
	start();
	n_holds = 2;
	resume_says = KEEL_REJECT;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	e.call->release(hold);
	CU_ASSERT_EQUAL(run_until("resume"), 0);
	CU_ASSERT_EQUAL(told.n, 0);
	resume_says = KEEL_NEXT;
	e.call->release(hold2);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr resume resume done"); /* the worst verdict wins */
	CU_ASSERT_EQUAL(told.verdict, KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(told.text, "second thoughts");
	engine_stop();
}

static void a_gone_object_cancels(void)
{
	start();
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	job1.exists = false;
	e.call->release(hold);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr cancel3 done");
	CU_ASSERT_EQUAL(told.verdict, KEEL_FAIL);
	engine_stop();
}

static void a_gone_client_cancels(void)
{
	struct keel_req *req = (struct keel_req *)&told;

	start();
	CU_ASSERT_EQUAL(raise_point(KEEL_POINT_job_delete, KEEL_EVENT(job_delete, .id = "1.svr"),
				    calloc(1, sizeof(struct keel_changes)), req), KEEL_WAIT);
	hooks_client_gone(e.parts.hooks, (struct keel_req *)&trace);
	hooks_client_gone(e.parts.hooks, req);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr cancel2 done");
	CU_ASSERT_EQUAL(discards, 1);
	engine_stop();
}

static void a_stopping_module_cancels_its_holds(void)
{
	start();
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	CU_ASSERT(e.alpha.live > 0);
	hooks_detach(e.parts.hooks, &e.alpha); /* also the raiser: the operation ends here and now */
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr cancel4 done");
	CU_ASSERT_EQUAL(e.alpha.live, 0);
	engine_stop();
}

static keel_verdict beta_waits(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	(void)ev;
	return e.call->hold(c, &opts, NULL);
}

static void the_operation_ends_with_a_module_that_it_waits_for(void)
{
	static const struct keel_tap last[] = {
		KEEL_TAP(job_delete, beta_waits, .flags = KEEL_ON_FAIL_SKIP),
	};

	engine_start();
	opts = (struct keel_hold_opts){ .size = sizeof(opts), .why = "x", .cancel = cancel };
	CU_ASSERT_EQUAL(ATTACH(e.beta, last), 0);
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	hooks_detach(e.parts.hooks, &e.beta);
	CU_ASSERT_STRING_EQUAL(trace, "cancel4 done");
	CU_ASSERT_EQUAL(told.verdict, KEEL_FAIL);
	engine_stop();
}

static keel_verdict again(struct keel_call *c, void *arg)
{
	(void)arg;
	note_down("again");
	opts.resume = resume;
	return e.call->hold(c, &opts, &hold);
}

static void resume_may_wait_again(void)
{
	start();
	opts.resume = again;
	delete_job();
	e.call->release(hold);
	CU_ASSERT_EQUAL(run_until("again"), 0);
	CU_ASSERT_EQUAL(told.n, 0);
	e.call->release(hold);
	CU_ASSERT_EQUAL(run_until("done"), 0);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr again resume after:1.svr:user@host done");
	engine_stop();
}

static void bad_holds_are_refused(void)
{
	static const struct keel_hold_opts bad[] = {
		{ .size = sizeof(bad[0]) },
		{ .size = sizeof(bad[0]), .why = "x", .timeout_ms = -1 },
		{ .size = sizeof(bad[0]), .why = "x", .until_point = KEEL_POINT_job_purged },
		{ .size = sizeof(bad[0]), .why = "x", .until_point = KEEL_POINT_job_delete,
		  .until_id = "1.svr" },
		{ .size = sizeof(bad[0]), .why = "x", .until_point = 250, .until_id = "1.svr" },
	};

	start();
	for (size_t i = 0; i < KEEL_COUNT(bad); i++) {
		opts = bad[i];
		CU_ASSERT_EQUAL(delete_job(), KEEL_REJECT);
		CU_ASSERT_PTR_NOT_NULL(strstr(told.text, "cannot wait"));
	}
	engine_stop();
}

static keel_verdict forgets(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	(void)ev;
	(void)e.call->hold(c, &opts, NULL);
	return KEEL_NEXT;
}

static void a_hold_without_wait_is_cancelled(void)
{
	static const struct keel_tap taps[] = { KEEL_TAP(job_delete, forgets) };

	engine_start();
	opts = (struct keel_hold_opts){ .size = sizeof(opts), .why = "x", .cancel = cancel };
	CU_ASSERT_EQUAL(ATTACH(e.alpha, taps), 0);
	CU_ASSERT_EQUAL(delete_job(), KEEL_NEXT);
	CU_ASSERT_STRING_EQUAL(trace, "cancel4 done");
	engine_stop();
}

static void hold_see(void *arg, const struct keel_about_hold *h)
{
	CU_ASSERT_STRING_EQUAL(h->object, "1.svr");
	CU_ASSERT_STRING_EQUAL(h->module, "alpha");
	CU_ASSERT_STRING_EQUAL(h->why, "the reason");
	CU_ASSERT(h->point == KEEL_POINT_job_delete && h->passed_ms < 1000 && h->timeout_ms == 60000);
	++*(uint32_t *)arg;
}

static void the_engine_ends_what_waits(void)
{
	uint32_t n = 0;

	start();
	delete_job();
	hooks_holds(&e.alpha.pub, hold_see, &n);
	CU_ASSERT_EQUAL(n, 1);
	loop_tick_end(e.parts.loop); /* its handler reads the hooks */
	hooks_destroy(e.parts.hooks);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr cancel4 done");
	registry_destroy(e.parts.registry);
	log_close(e.parts.log);
	loop_destroy(e.parts.loop);
	scratch_remove(e.dir);
	free(e.dir);
}

/* While modules are still there: a module may wait with the code of another. */
static void a_daemon_that_ends_waits_for_nothing(void)
{
	const struct hooks *h;

	start();
	h = e.parts.hooks;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	CU_ASSERT(h->holds.taken == 1 && h->holds.ended == 0 && h->holds.open == 1 && h->holds.parked == 1);
	hooks_stop(e.parts.hooks);
	CU_ASSERT_STRING_EQUAL(trace, "waits:1.svr cancel4 done");
	CU_ASSERT(h->holds.taken == 1 && h->holds.ended == 1 && h->holds.called == 1 && h->holds.open == 0 && h->holds.parked == 0);
	CU_ASSERT_NOT_EQUAL(delete_job(), KEEL_WAIT);
	engine_stop();
}

TESTS_MAIN("hook/hold", TEST(released_it_goes_on), TEST(release_before_return_is_legal),
	   TEST(a_tap_is_removed_while_it_waits), TEST(the_awaited_event_releases), TEST(a_timeout_is_a_failure),
	   TEST(the_last_of_several_continues), TEST(a_gone_object_cancels),
	   TEST(a_gone_client_cancels), TEST(a_stopping_module_cancels_its_holds),
	   TEST(the_operation_ends_with_a_module_that_it_waits_for), TEST(resume_may_wait_again),
	   TEST(bad_holds_are_refused), TEST(a_hold_without_wait_is_cancelled),
	   TEST(the_engine_ends_what_waits), TEST(a_daemon_that_ends_waits_for_nothing))
