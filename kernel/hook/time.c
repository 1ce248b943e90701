/* SPDX-License-Identifier: Apache-2.0
 *
 * time.c - what taps take. The count of a tap is exact; one call in TIMED_EVERY is timed and stands for those since the
 * timed one before it, the first for itself. While a call is timed those inside it are timed too, and what they took is
 * not counted to it.
 *
 * Calls that take too long are found by the clock tick of the loop: one that runs at two ticks has lasted at least
 * a tick's time. From the first of them what passed, less what the thread waited for a processor, is what it is judged by
 * when it returns (budget.c): computing and blocking count, a busy machine does not. In doubt a tap is innocent.
 */
#include "hook/quick.h"
#include "loop/loop.h"

#define TIMED_EVERY 256

/* ---- accounts --------------------------------------------------------------------------------------- */
void stopwatch_start(struct stopwatch *w, struct op *op)
{
	struct hooks *h = op->hooks;

	w->inside_ns = h->inside_ns;
	w->special = op->special;
	h->inside_ns = 0;
	op->special |= OP_TIMED;
	w->begun_ns = loop_clock_ns(h->parts->loop);
}

void stopwatch_stop(const struct stopwatch *w, struct op *op, struct tap *t, uint32_t stands_for)
{
	struct hooks *h = op->hooks;
	uint64_t passed = (uint64_t)(loop_clock_ns(h->parts->loop) - w->begun_ns);
	uint64_t own = passed > h->inside_ns ? passed - h->inside_ns : 0;

	h->inside_ns = w->inside_ns + passed;
	op->special = w->special;
	t->stat.time_ns += own * stands_for;
	if (own > t->stat.longest_ns)
		t->stat.longest_ns = own;
}

keel_verdict tap_invoke_timed(struct op *op, struct tap *t)
{
	uint32_t stands_for = t->countdown == 0 ? t->every : 0; /* 0: it is timed only because it is inside another one */
	struct stopwatch w;
	keel_verdict v;

	if (t->countdown == 0) {
		t->calls_before += t->every;
		t->every = t->countdown = TIMED_EVERY;
	}
	stopwatch_start(&w, op);
	v = t->invoke(t, &op->pub, op->event);
	stopwatch_stop(&w, op, t, stands_for);
	return v;
}

/* ---- what a breadcrumb says, for reports of a crash or a standstill: called in signal handlers ----- */
static const struct op *op_of(const struct crumb *c)
{
	return (const struct op *)((const char *)c - offsetof(struct op, crumb));
}

const struct tap *crumb_tap(const struct crumb *c)
{
	return c->what == NULL ? op_of(c)->chain->tap[op_of(c)->at] : NULL;
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
					     .what = op_of(c)->point->info->name,
					     .object = event_id(op_of(c)->point, op_of(c)->event) };
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

/* A call that was there at a tick is over: what passed since then, and what of it was its own doing. */
static int64_t seen_over(struct loop *l, int64_t *ret_own_ns)
{
	int64_t passed = loop_clock_ns(l) - seen.since_ns, waited = loop_delay_ns(l) - seen.delay_ns;

	crumb_is_late = 0;
	seen.call = NULL;
	*ret_own_ns = passed > waited ? passed - waited : 0;
	return passed;
}

void tap_late(struct op *op, struct tap *t)
{
	int64_t passed, own;

	if (seen.call != &op->crumb || seen.tap != t || seen.number != tap_calls(t))
		return; /* one around it */
	passed = seen_over(op->hooks->parts->loop, &own);
	if ((uint64_t)passed > t->stat.longest_ns)
		t->stat.longest_ns = (uint64_t)passed;
	budget_tap(op, t, passed, own);
}

void callback_late(const struct crumb *c)
{
	int64_t passed, own;

	if (seen.call != c || seen.number != c->number || c->owner == NULL || c->owner->parts->hooks == NULL)
		return;
	passed = seen_over(c->owner->parts->loop, &own);
	budget_callback(c, passed, own);
}
