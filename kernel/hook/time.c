/* SPDX-License-Identifier: Apache-2.0
 *
 * time.c - how long taps take, and what happens to those that take too long.
 *
 * A clock costs more than a quick tap, so only some calls are timed: the first WATCH_CALLS of a tap one
 * by one, then one in SAMPLE_EVERY; after a slow one, one by one again. Over the soft budget: a log
 * record. Over the hard one: a strike; enough strikes within ten minutes bench the tap.
 */
#include "hook/inside.h"
#include "log/log.h"
#include "loop/loop.h"

_Thread_local const char *breadcrumb;

const char *hooks_breadcrumb(void)
{
	return breadcrumb;
}

static uint64_t clock_ns(const struct op *op)
{
	return (uint64_t)loop_clock_ns(op->hooks->parts->loop);
}

/* A timed call stands for `calls` calls. */
static void stat_add(struct tap_stat *s, uint64_t ns, uint32_t calls)
{
	uint32_t place = 63 - (uint32_t)__builtin_clzll(ns | 1);

	s->hist[place < HIST_SIZE ? place : HIST_SIZE - 1]++;
	s->timed++;
	s->time_ns += ns * calls;
	if (ns > s->max_ns)
		s->max_ns = ns;
}

/* The upper end of the class in which the quantile lies, never more than the longest call. */
uint64_t stat_quantile(const struct tap_stat *s, uint32_t percent)
{
	uint64_t want = (s->timed * percent + 99) / 100, seen = 0;
	uint32_t i = 0;

	if (s->timed == 0)
		return 0;
	while (i < HIST_SIZE - 1 && (seen += s->hist[i]) < want)
		i++;
	return (UINT64_C(2) << i) - 1 < s->max_ns ? (UINT64_C(2) << i) - 1 : s->max_ns;
}

static void strike(struct hooks *h, struct op *op, struct tap *t)
{
	int64_t now = loop_now_ms(h->parts->loop);

	if (t->stat.strikes == 0 || now - t->stat.strike_since_ms > STRIKE_WINDOW_MS) {
		t->stat.strikes = 0;
		t->stat.strike_since_ms = now;
	}
	if (++t->stat.strikes < (uint64_t)h->conf.strikes || h->conf.strikes <= 0)
		return;
	t->off |= TAP_BENCHED;
	hooks_log(h, KEEL_LOG_ERROR, op_label(op),
		  "%s was too slow %u times and is not called any more%s; reload its module when it "
		  "is repaired",
		  t->name, t->stat.strikes,
		  t->policy == KEEL_ON_FAIL_REJECT ? ", what it guards is refused" : "");
}

static void judge_time(struct hooks *h, struct op *op, struct tap *t, uint64_t ns)
{
	uint64_t soft = (uint64_t)h->conf.soft_budget_ms * 1000000u;
	uint64_t hard = (uint64_t)h->conf.hard_budget_ms * 1000000u;
	bool is_hard = hard > 0 && ns > hard;

	if (!is_hard && (soft == 0 || ns <= soft))
		return;
	t->watch = WATCH_CALLS;
	hooks_log(h, is_hard ? KEEL_LOG_ERROR : KEEL_LOG_SYSTEM, op_label(op),
		  "%s took %llu ms at %s, %s budget is %lld ms", t->name,
		  (unsigned long long)(ns / 1000000u), op->point->info->name,
		  is_hard ? "the hard" : "the soft",
		  (long long)(is_hard ? h->conf.hard_budget_ms : h->conf.soft_budget_ms));
	if (is_hard)
		strike(h, op, t);
}

keel_verdict tap_call_timed(struct op *op, struct tap *t)
{
	uint64_t began = clock_ns(op), ns;
	keel_verdict v = t->invoke(t, &op->pub, op->event);

	ns = clock_ns(op) - began;
	stat_add(&t->stat, ns, t->every);
	if (t->watch > 0)
		t->watch--;
	judge_time(op->hooks, op, t, ns);
	t->countdown = t->every = t->watch > 0 ? 1 : SAMPLE_EVERY;
	return v;
}
