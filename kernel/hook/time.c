/* SPDX-License-Identifier: Apache-2.0
 *
 * time.c - what taps take. The count of a tap is exact; one call in TIMED_EVERY is timed and stands for those since the
 * timed one before it, the first for itself.
 *
 * Calls that take too long are found by the clock tick of the loop: one that runs at two ticks has lasted at least
 * a tick's time. From the first of them what passed, less what the thread waited for a processor, is what it is judged by
 * when it returns: computing and blocking count, a busy machine does not. In doubt a tap is innocent.
 */
#include <stdio.h>
#include <string.h>

#include "hook/quick.h"
#include "loop/loop.h"

#define TIMED_EVERY 256
#define STRIKE_WINDOW_MS (10 * 60 * 1000)
#define NS_PER_MS INT64_C(1000000)
#define SAY_WINDOW_MS (60 * 1000)
#define SAY_BURST 5

/* ---- accounts --------------------------------------------------------------------------------------- */
void tap_took(const struct hooks *h, struct tap *t, int64_t begun_ns, uint32_t calls)
{
	uint64_t passed = (uint64_t)(loop_clock_ns(h->parts->loop) - begun_ns);

	t->stat.time_ns += passed * calls;
	if (passed > t->stat.longest_ns)
		t->stat.longest_ns = passed;
}

keel_verdict tap_invoke_timed(struct op *op, struct tap *t)
{
	const uint32_t calls = t->every;
	int64_t begun_ns = loop_clock_ns(op->hooks->parts->loop);
	keel_verdict v;

	t->calls_before += calls;
	t->every = t->countdown = TIMED_EVERY;
	v = t->invoke(t, &op->pub, op->event);
	tap_took(op->hooks, t, begun_ns, calls);
	return v;
}

/* ---- what a breadcrumb says, for reports of a crash or a standstill: called in signal handlers ----- */
static const struct op *crumb_op(const struct crumb *c)
{
	return (const struct op *)((const char *)c - offsetof(struct op, crumb));
}

/* NULL: it is another callback's. */
static const struct tap *crumb_tap(const struct crumb *c)
{
	return c->what == NULL ? crumb_op(c)->chain->tap[crumb_op(c)->at] : NULL;
}

bool hooks_crumb(const struct crumb *c, struct hooks_crumb *ret)
{
	const struct tap *t = c != NULL ? crumb_tap(c) : NULL;

	if (c == NULL)
		return false;
	if (t == NULL)
		*ret = (struct hooks_crumb){ .owner = c->owner, .name = owner_name(c->owner), .what = c->what,
					     .object = c->object };
	else
		*ret = (struct hooks_crumb){ .is_tap = true, .owner = t->owner, .name = t->name,
					     .what = crumb_op(c)->point->info->name,
					     .object = event_id(crumb_op(c)->point, crumb_op(c)->event) };
	return true;
}

/* ---- the tick ---------------------------------------------------------------------------------------- */
/* The call that ran at the last tick, and since when. Written by the handler, read by the thread it interrupts. */
static struct {
	const struct crumb *call;
	uint64_t number;
	const struct tap *tap; /* NULL: another callback */
	int64_t since_ns, delay_ns;
} seen;

/* A tick that comes late came to a thread that took no signal: what runs now has run since it was due. */
void hooks_tick(struct hooks *h, int64_t late_ns, int64_t tick_ns)
{
	const struct crumb *now = crumb_top;
	const struct tap *t = now != NULL ? crumb_tap(now) : NULL;
	uint64_t number = t != NULL ? tap_calls(t) : now != NULL ? now->number : 0;
	int64_t before_ns = h->delay_seen_ns;

	if (now != NULL && now == seen.call && t == seen.tap && number == seen.number) {
		crumb_is_late = 1;
		return;
	}
	h->delay_seen_ns = loop_delay_ns(h->parts->loop);
	crumb_is_late = now != NULL && late_ns >= tick_ns;
	seen.call = now;
	seen.tap = t;
	seen.number = number;
	seen.since_ns = loop_clock_ns(h->parts->loop) - late_ns;
	seen.delay_ns = crumb_is_late ? before_ns : h->delay_seen_ns;
}

/* ---- budgets: what happens to calls that take too long ---------------------------------------------- */
/* Over the soft budget: a log record. Over the hard one: a record and, for a tap, a strike. Enough strikes within ten
 * minutes bench the tap: it is not called any more, and what it guarded is refused if it is the kind of
 * tap that refuses when it fails. A restart of its module or `keelson hooks --unbench` puts it back. A
 * module may have budgets of its own.
 *
 * A tap has so many records about its slowness a minute, and so many about its failures where nothing is
 * refused; the others are counted and reported with the next. */
static int64_t budget_ms(const struct hooks *h, const struct owner *owner, bool hard)
{
	int64_t own = hard ? owner->budget.hard_ms : owner->budget.soft_ms;

	return own > 0 ? own : hard ? h->conf.hard_budget_ms : h->conf.soft_budget_ms;
}

bool may_say(struct say_limit *l, int64_t now_ms, uint32_t *ret_unsaid)
{
	if (l->said == 0 || now_ms - l->since_ms > SAY_WINDOW_MS) {
		l->said = 0;
		l->since_ms = now_ms;
	}
	if (l->said == SAY_BURST) {
		l->unsaid++;
		return false;
	}
	l->said++;
	*ret_unsaid = l->unsaid;
	l->unsaid = 0;
	return true;
}

/* `call`: "module.tap", "timer of module X". */
static void say(struct hooks *h, const struct owner *owner, struct say_limit *limit, const char *object,
		const char *call, int64_t ns, const char *where, bool hard)
{
	char more[64] = "";
	uint32_t unsaid;

	if (!may_say(limit, loop_now_ms(h->parts->loop), &unsaid))
		return;
	if (unsaid > 0)
		snprintf(more, sizeof(more), "; it was too slow %u more times since the last record", unsaid);
	hooks_log(h, hard ? KEEL_LOG_ERROR : KEEL_LOG_SYSTEM, object, "%s took %lld ms%s, %s budget is %lld ms%s", call,
		  (long long)(ns / NS_PER_MS), where, hard ? "the hard" : "the soft",
		  (long long)budget_ms(h, owner, hard), more);
}

static void strike(struct op *op, struct tap *t)
{
	struct hooks *h = op->hooks;
	int64_t now = loop_now_ms(h->parts->loop), own = t->owner->budget.strikes;
	int64_t max = own == OWNER_NO_STRIKES ? 0 : own > 0 ? own : h->conf.strikes;

	if (t->stat.strikes == 0 || now - t->stat.strike_since_ms > STRIKE_WINDOW_MS) {
		t->stat.strikes = 0;
		t->stat.strike_since_ms = now;
	}
	t->stat.strikes++;
	if (max == 0 || t->stat.strikes < max || (t->off & TAP_BENCHED))
		return;
	t->off |= TAP_BENCHED;
	hooks_log(h, KEEL_LOG_ERROR, op_label(op),
		  "%s was too slow %u times and is not called any more%s; restart its module when it is "
		  "repaired, or 'keelson hooks --unbench %s'", t->name, t->stat.strikes,
		  t->policy == KEEL_ON_FAIL_REJECT ? ", what it guards is refused" : "", t->name);
}

/* ---- calls that were there at a tick ------------------------------------------------------------------ */
/* A call that was there at a tick is over. Returns whether what passed since then, without what it waited for a processor,
 * is over a budget; *ret_hard: over the hard one. */
static bool seen_over(const struct hooks *h, const struct owner *owner, int64_t *ret_passed_ns, bool *ret_hard)
{
	struct loop *l = h->parts->loop;
	int64_t soft = budget_ms(h, owner, false) * NS_PER_MS, hard = budget_ms(h, owner, true) * NS_PER_MS, own;

	*ret_passed_ns = loop_clock_ns(l) - seen.since_ns;
	own = *ret_passed_ns - (loop_delay_ns(l) - seen.delay_ns);
	crumb_is_late = 0;
	seen.call = NULL;
	*ret_hard = hard > 0 && own > hard;
	return *ret_hard || (soft > 0 && own > soft);
}

void tap_late(struct op *op, struct tap *t)
{
	struct hooks *h = op->hooks;
	int64_t passed;
	char where[80];
	bool slow, hard;

	if (seen.call != &op->crumb || seen.tap != t || seen.number != tap_calls(t))
		return; /* one around it */
	slow = seen_over(h, t->owner, &passed, &hard);
	if ((uint64_t)passed > t->stat.longest_ns)
		t->stat.longest_ns = (uint64_t)passed;
	if (!slow)
		return;
	snprintf(where, sizeof(where), " at %s", op->point->info->name);
	say(h, t->owner, &t->stat.slow, op_label(op), t->name, passed, where, hard);
	if (hard)
		strike(op, t);
}

/* Other callbacks get no strikes. */
void callback_late(const struct crumb *c)
{
	struct hooks *h = c->owner != NULL ? c->owner->parts->hooks : NULL;
	int64_t passed;
	char call[160];
	bool hard;

	if (seen.call != c || seen.number != c->number || h == NULL || !seen_over(h, c->owner, &passed, &hard))
		return;
	snprintf(call, sizeof(call), c->object != NULL ? "%s of module %s (%s)" : "%s of module %s", c->what,
		 owner_name(c->owner), c->object);
	say(h, c->owner, &h->callbacks, owner_name(c->owner), call, passed, "", hard);
}
