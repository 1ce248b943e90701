/* SPDX-License-Identifier: Apache-2.0
 *
 * time.c - how long taps take.
 *
 * Clocks cost more than a quick tap, so only some calls are timed: the first WATCH_CALLS of a tap one by
 * one, then so many that the clocks cost about 1 % of what the tap does, or a nanosecond a call: each
 * call of a tap that takes 100 us, one in a thousand of one that does next to nothing. How many are left
 * out is thrown with a die each time, so that what happens every n-th call is met as often as it
 * happens. A timed call stands for those left out before it: sums and quantiles are those of all calls.
 * After a slow call the next WATCH_CALLS are timed one by one.
 *
 * Three clocks:
 *   wall    what passed. p50, p99, max and the time of a tap are of this one.
 *   cpu     what this thread computed meanwhile.
 *   delay   what this thread waited for a processor. Budgets are about wall less delay: computing and
 *           blocking count, a busy machine does not. It is looked at only when it matters: before calls
 *           that are timed one by one, and after a slow one. When the last look was long ago too much
 *           may be taken for delay: in doubt a tap is innocent.
 *
 * While a call is timed those inside it are timed too, and what they took is not counted to it.
 */
#include "hook/quick.h"
#include "loop/loop.h"

#define WATCH_CALLS 64
#define CLOCKS_NS 1000 /* what timing a call costs, about */
#define EVERY_MOST 1000

static struct loop *loop_of(const struct op *op)
{
	return op->hooks->parts->loop;
}

/* ---- what is kept ------------------------------------------------------------------------------- */
/* Four classes per power of two, so a quantile is at most a quarter too long. */
static uint32_t place_of(uint64_t ns)
{
	uint32_t power = 63 - (uint32_t)__builtin_clzll(ns | 1), place;

	if (power < 2)
		return (uint32_t)ns;
	place = (power - 1) * 4 + (uint32_t)(ns >> (power - 2) & 3);
	return place < HIST_SIZE ? place : HIST_SIZE - 1;
}

static uint64_t longest_of(uint32_t place)
{
	uint32_t power = place / 4 + 1;

	return place < 4 ? place : ((UINT64_C(5) + place % 4) << (power - 2)) - 1;
}

void stat_add(struct tap_stat *s, const struct spent *spent, uint32_t calls)
{
	s->hist[place_of(spent->wall_ns)] += calls;
	s->timed++;
	s->stands_for += calls;
	s->wall_ns += spent->wall_ns * calls;
	s->cpu_ns += spent->cpu_ns * calls;
	s->own_ns += spent->own_ns * calls;
	if (spent->wall_ns > s->max_ns)
		s->max_ns = spent->wall_ns;
}

/* The upper end of the class in which the quantile lies, never more than the longest call. */
uint64_t stat_quantile(const struct tap_stat *s, uint32_t percent)
{
	uint64_t want = s->stands_for - s->stands_for * (100 - percent) / 100, seen = 0;
	uint32_t i = 0;

	if (s->stands_for == 0)
		return 0;
	while (i < HIST_SIZE - 1 && (seen += s->hist[i]) < want)
		i++;
	return longest_of(i) < s->max_ns ? longest_of(i) : s->max_ns;
}

/* ---- which calls ---------------------------------------------------------------------------------- */
static uint32_t dice(struct hooks *h)
{
	uint32_t x = h->dice != 0 ? h->dice : 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return h->dice = x;
}

/* Evenly between 1 and twice the mean. */
static uint32_t next_every(struct hooks *h, const struct tap *t)
{
	const struct tap_stat *s = &t->stat;
	uint64_t mean;

	if (t->watch > 0 || s->timed < WATCH_CALLS)
		return 1;
	mean = CLOCKS_NS / (1 + s->own_ns / s->stands_for / 100);
	if (mean < 2)
		return 1;
	return 1 + dice(h) % (uint32_t)(2 * (mean < EVERY_MOST ? mean : EVERY_MOST) - 1);
}

/* The countdown begins again; `calls_before` takes those made. */
static void count_from(struct tap *t, uint32_t every)
{
	t->calls_before += t->every - t->countdown;
	t->every = t->countdown = every;
}

void tap_watch(struct tap *t)
{
	t->watch = WATCH_CALLS;
	count_from(t, 1);
}

/* ---- a call --------------------------------------------------------------------------------------- */
static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void stopwatch_start(struct stopwatch *w, struct op *op, bool close)
{
	struct hooks *h = op->hooks;

	if (close && !(op->special & OP_TIMED))
		h->delay_seen_ns = loop_delay_ns(loop_of(op));
	w->delay_ns = h->delay_seen_ns;
	w->outer = h->inside;
	w->special = op->special;
	h->inside = (struct spent){ 0 };
	op->special |= OP_TIMED;
	w->cpu_ns = (uint64_t)loop_cpu_ns(loop_of(op));
	w->wall_ns = (uint64_t)loop_clock_ns(loop_of(op));
}

/* What of the time off the processor was not waiting for one, at least. */
static uint64_t blocked(const struct stopwatch *w, struct op *op, uint64_t off_ns)
{
	struct hooks *h = op->hooks;

	h->delay_seen_ns = loop_delay_ns(loop_of(op));
	return less(off_ns, (uint64_t)(h->delay_seen_ns - w->delay_ns));
}

struct spent stopwatch_stop(const struct stopwatch *w, struct op *op, const struct tap *t)
{
	struct hooks *h = op->hooks;
	uint64_t wall = (uint64_t)loop_clock_ns(loop_of(op)) - w->wall_ns;
	uint64_t cpu = (uint64_t)loop_cpu_ns(loop_of(op)) - w->cpu_ns;
	struct spent own = { .wall_ns = less(wall, h->inside.wall_ns),
			     .cpu_ns = less(cpu, h->inside.cpu_ns) };

	own.own_ns = own.cpu_ns < own.wall_ns ? own.cpu_ns : own.wall_ns;
	if (budget_exceeded(h, t, own.wall_ns))
		own.own_ns += blocked(w, op, own.wall_ns - own.own_ns);
	h->inside.wall_ns = w->outer.wall_ns + wall;
	h->inside.cpu_ns = w->outer.cpu_ns + cpu;
	op->special = w->special;
	return own;
}

/* stands_for 0: it is timed only because it is inside another one. */
static keel_verdict invoke_timed(struct op *op, struct tap *t, uint32_t stands_for, bool close)
{
	struct stopwatch w;
	struct spent spent;
	keel_verdict v;

	stopwatch_start(&w, op, close);
	v = t->invoke(t, &op->pub, op->event);
	spent = stopwatch_stop(&w, op, t);
	if (stands_for > 0)
		stat_add(&t->stat, &spent, stands_for);
	budget_judge(op, t, &spent);
	return v;
}

keel_verdict tap_call_timed(struct op *op, struct tap *t)
{
	uint32_t stands_for = t->every;

	if (t->watch > 0)
		t->watch--;
	count_from(t, next_every(op->hooks, t));
	return invoke_timed(op, t, stands_for, stands_for == 1);
}

keel_verdict tap_call_inside(struct op *op, struct tap *t)
{
	const struct op *outer = crumb;
	keel_verdict v;

	tap_prepare(op, t);
	crumb = op;
	v = --t->countdown == 0 ? tap_call_timed(op, t) : invoke_timed(op, t, 0, false);
	crumb = outer;
	return v;
}
