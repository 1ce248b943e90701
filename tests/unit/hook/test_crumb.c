/* SPDX-License-Identifier: Apache-2.0
 *
 * test_crumb.c - a fault in a tap, in the callbacks of its hold, in done() or settled() is reported with the module whose
 * code it is; one that takes too long is found there, too.
 */
#include "crumbs.h"
#include "hook/engine.h"
#include "hook/inside.h"

static const char *where; /* the fault is */

static void fault_in(const char *here)
{
	if (strcmp(where, here) == 0)
		raise(SIGSEGV);
}

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	(void)c, (void)arg;
	fault_in("resume");
	return KEEL_NEXT;
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c, (void)arg, (void)reason;
	fault_in("cancel");
}

static void settled(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	(void)m, (void)arg, (void)o;
	fault_in("settled");
}

static void done(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	(void)m, (void)arg, (void)o;
	fault_in("done");
}

static keel_verdict on_hold(struct keel_call *c, const struct keel_ev_job_hold *ev)
{
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = "a test", .resume = resumed, .cancel = cancelled };
	struct keel_hold *hold;

	(void)ev;
	fault_in("tap");
	e.call->settled(c, settled, NULL);
	e.call->hold(c, &opts, &hold);
	if (strcmp(where, "cancel") == 0)
		return KEEL_NEXT; /* a hold without WAIT */
	e.call->release(hold);
	return KEEL_WAIT;
}

/* alpha raises a point at which beta has a tap; all of it happens before raise() returns. */
static void raise_one(void)
{
	static const struct keel_tap taps[] = { KEEL_TAP(job_hold, on_hold) };

	engine_start();
	ATTACH(e.beta, taps);
	e.hook->raise(&e.alpha.pub, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_job_hold, .done = done,
		.event = KEEL_EVENT(job_hold, .id = job1.id, .job = &job1) });
	if (strcmp(where, "kernel") == 0)
		raise(SIGSEGV);
	engine_stop();
}

static void each_callback_is_named(void)
{
	static const struct {
		const char *where, *words;
	} cases[] = {
		{ "tap", "job_hold of beta.on_hold, 1.svr" },	 { "resume", "job_hold of beta.on_hold, 1.svr" },
		{ "cancel", "job_hold of beta.on_hold, 1.svr" }, { "done", "done() of a raise of alpha" },
		{ "settled", "settled callback of beta" },	 { "kernel", "the kernel" },
	};

	for (size_t i = 0; i < KEEL_COUNT(cases); i++) {
		where = cases[i].where;
		CU_ASSERT_STRING_EQUAL(last_words_of(raise_one), cases[i].words);
	}
}

static void dawdle(void)
{
	struct crumb crumb;

	crumb_begin(&crumb, &e.alpha, "timer", "t1");
	loop_busy(e.parts.loop); /* the tick goes */
	compute_ms(9);
	crumb_end(&crumb);
}

static bool is_logged(const char *text)
{
	char path[64], line[1024];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", log_fd(e.parts.log));
	f = fopen(path, "r");
	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, text) != NULL;
	if (f != NULL)
		fclose(f);
	return found;
}

static void one_that_takes_too_long_is_found(void)
{
	engine_start();
	for (int i = 0; i < 1000 && !is_logged("timer of module alpha (t1) took "); i++) /* in doubt it has waited for a processor */
		dawdle();
	CU_ASSERT(is_logged("timer of module alpha (t1) took "));
	engine_stop();
}

static void many_short_ones_are_not_one_long_one(void)
{
	struct crumb crumb;
	int64_t end;

	engine_start();
	loop_busy(e.parts.loop);
	end = loop_clock_ns(e.parts.loop) + 50000000;
	while (loop_clock_ns(e.parts.loop) < end) { /* at one place of the stack */
		crumb_begin(&crumb, &e.alpha, "timer", "t2");
		crumb_end(&crumb);
	}
	CU_ASSERT_FALSE(is_logged("timer of module alpha"));
	engine_stop();
}

TESTS_MAIN("hook/crumb", TEST(each_callback_is_named), TEST(one_that_takes_too_long_is_found),
	   TEST(many_short_ones_are_not_one_long_one))
