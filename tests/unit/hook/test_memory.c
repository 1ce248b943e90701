/* SPDX-License-Identifier: Apache-2.0
 *
 * test_memory.c - each allocation of some work of the engine fails once: whoever has to be told is told
 * once, nothing is left behind, nothing crashes.
 *
 * The program's own malloc() counts down. Sanitizers bring theirs; then the work is done once.
 */
#include "hook/engine.h"
#include "hook/inside.h"
#include "no_memory.h"

/* ---- the work --------------------------------------------------------------------------------------- */
static struct keel_hold *held[2], *parent;
static uint32_t n_asked, n_answered, n_raised, n_ended;

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	(void)c;
	*(struct keel_hold **)arg = NULL;
	n_ended++;
	return KEEL_NEXT;
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c;
	(void)reason;
	*(struct keel_hold **)arg = NULL;
	n_ended++;
}

static keel_verdict on_child(struct keel_call *c, const struct keel_ev_job_hold *ev)
{
	uint32_t i = strcmp(ev->id, "2.svr") == 0;
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = "a child waits",
					     .until_point = KEEL_POINT_job_purged, .until_id = ev->id,
					     .timeout_ms = 60000, .resume = resumed, .cancel = cancelled,
					     .arg = &held[i] };

	e.call->set(c, ev->job, "Priority", NULL, "1", NULL);
	NOTE(job_queued, .id = ev->id, .job = ev->job); /* it has to wait: a copy */
	return e.call->hold(c, &opts, &held[i]);
}

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	(void)c;
	(void)ev;
	return KEEL_NEXT;
}

/* The parent waits for the last of its children. */
static void answered(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	(void)m;
	(void)arg;
	(void)out;
	if (++n_answered == n_asked && parent != NULL)
		e.call->release(parent);
}

static keel_verdict on_parent(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	const struct keel_raise children[] = {
		{ .size = sizeof(children[0]), .point = KEEL_POINT_job_hold, .done = answered,
		  .event = KEEL_EVENT(job_hold, .id = "1.svr", .job = &job1) },
		{ .size = sizeof(children[0]), .point = KEEL_POINT_job_hold, .done = answered,
		  .event = KEEL_EVENT(job_hold, .id = "2.svr", .job = &job2) },
	};
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = "two jobs are asked", .timeout_ms = 60000,
					     .resume = resumed, .cancel = cancelled, .arg = &parent };

	(void)ev;
	n_asked += 2;
	e.hook->raise(c->mod, &children[0]);
	e.hook->raise(c->mod, &children[1]);
	return n_answered < n_asked ? e.call->hold(c, &opts, &parent) : KEEL_FAIL;
}

static const struct keel_tap alpha[] = { KEEL_TAP(job_delete, on_parent) };
static const struct keel_tap beta[] = { KEEL_TAP(job_hold, on_child), KEEL_TAP(job_queued, on_queued) };

static bool is_told(void *arg)
{
	(void)arg;
	return told.n == n_raised;
}

static bool work(void)
{
	if (ATTACH(e.alpha, alpha) < 0 || ATTACH(e.beta, beta) < 0)
		return false;
	n_raised++;
	raise_point(KEEL_POINT_job_delete, KEEL_EVENT(job_delete, .id = "9.svr"), NULL, NULL);
	NOTE(job_purged, .id = "1.svr", .job = &job1);
	NOTE(job_purged, .id = "2.svr", .job = &job2);
	for (int i = 0; i < 4 && !is_told(NULL); i++) {
		loop_run_until(e.parts.loop, is_told, NULL, 20);
		NOTE(job_queued, .id = "3.svr"); /* the next event, whatever it is */
	}
	return is_told(NULL) && told.verdict == KEEL_NEXT;
}

/* ---- and its failures ----------------------------------------------------------------------------------- */
static void everybody_was_told(void)
{
	const struct hooks *h = e.parts.hooks;

	hooks_detach(e.parts.hooks, &e.alpha);
	hooks_detach(e.parts.hooks, &e.beta);
	CU_ASSERT_EQUAL(told.n, n_raised);
	CU_ASSERT_EQUAL(n_answered, n_asked);
	CU_ASSERT(h->holds.taken == h->holds.ended && h->holds.ended == h->holds.called);
	CU_ASSERT_EQUAL(h->holds.parked, 0);
}

static void each_allocation_fails(void)
{
	bool good = false;
	long n = 1;

	for (; !good && n < 1000; n++) {
		n_asked = n_answered = n_raised = n_ended = 0;
		engine_start();
		countdown = INJECTING ? n : -1;
		good = work();
		if (good && countdown < 0 && INJECTING)
			good = false; /* it failed where nobody needs it: go on */
		countdown = -1;
		everybody_was_told();
		engine_stop();
	}
	CU_ASSERT_TRUE(good);
	CU_ASSERT(n > 30 || !INJECTING);
}

/* ---- depth ------------------------------------------------------------------------------------------------ */
static uint32_t deepest;

static keel_verdict digs(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	uint32_t depth = 0;

	(void)c;
	for (const struct crumb *crumb = crumb_top; crumb != NULL; crumb = crumb->outer)
		depth++;
	deepest = depth > deepest ? depth : deepest;
	e.hook->fold(&e.alpha.pub, KEEL_POINT_client_auth, KEEL_EVENT(client_auth), NULL, 0);
	NOTE(job_queued, .id = ev->id); /* the object of every operation below */
	return RAISE(job_submit, .id = ev->id) == KEEL_WAIT ? KEEL_FAIL : KEEL_NEXT;
}

static keel_verdict stands_by(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	(void)ev;
	return KEEL_NEXT;
}

static keel_verdict roles(struct keel_call *c, const struct keel_ev_client_auth *ev)
{
	(void)c;
	(void)ev;
	return KEEL_NEXT;
}

/* Chains are exchanged while sixteen operations walk them. */
static keel_verdict leaves(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	(void)c;
	(void)ev;
	hooks_detach(e.parts.hooks, &e.beta);
	return KEEL_NEXT;
}

/* past kernel/hook/inside.h DEPTH_MAX */
static void deep_nesting_ends_and_everybody_comes_back(void)
{
	static const struct keel_tap deep[] = { KEEL_TAP(job_submit, digs), KEEL_TAP(client_auth, roles),
						KEEL_TAP(job_queued, leaves) };
	static const struct keel_tap other[] = { KEEL_TAP(job_submit, stands_by, .order = 1),
						 KEEL_TAP(job_queued, on_queued) };

	deepest = 0;
	engine_start();
	ATTACH(e.alpha, deep);
	ATTACH(e.beta, other);
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_EQUAL(deepest, DEPTH_MAX);
	CU_ASSERT_PTR_NULL(e.parts.hooks->top);
	CU_ASSERT_PTR_NULL(e.parts.hooks->retired);
	CU_ASSERT_EQUAL(e.parts.hooks->chores, 0);
	CU_ASSERT_PTR_NULL(crumb_top);
	engine_stop();
}

TESTS_MAIN("hook/memory", TEST(each_allocation_fails), TEST(deep_nesting_ends_and_everybody_comes_back))
