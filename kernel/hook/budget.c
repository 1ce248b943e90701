/* SPDX-License-Identifier: Apache-2.0
 *
 * budget.c - what happens to taps that take too long.
 *
 * Over the soft budget: a log record. Over the hard one: a record and a strike. Enough strikes within ten
 * minutes bench the tap: it is not called any more, and what it guarded is refused if it is the kind of
 * tap that refuses when it fails. A reload of its module or `keelson hooks --unbench` puts it back. A
 * module may have budgets of its own.
 *
 * A tap has so many records about its slowness a minute, and so many about its failures where nothing is
 * refused; the others are counted and reported with the next.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hook/inside.h"
#include "loop/loop.h"

#define NS_PER_MS UINT64_C(1000000)
#define SAY_WINDOW_MS (60 * 1000)
#define SAY_BURST 5

static int64_t owner_soft_ms(const struct hooks *h, const struct owner *owner)
{
	return owner->budget.soft_ms > 0 ? owner->budget.soft_ms : h->conf.soft_budget_ms;
}

static int64_t owner_hard_ms(const struct hooks *h, const struct owner *owner)
{
	return owner->budget.hard_ms > 0 ? owner->budget.hard_ms : h->conf.hard_budget_ms;
}

static int64_t soft_ms(const struct hooks *h, const struct tap *t)
{
	return owner_soft_ms(h, t->owner);
}

static int64_t hard_ms(const struct hooks *h, const struct tap *t)
{
	return owner_hard_ms(h, t->owner);
}

/* 0: never. */
static int64_t strikes_max(const struct hooks *h, const struct tap *t)
{
	int64_t own = t->owner->budget.strikes;

	return own == OWNER_NO_STRIKES ? 0 : own > 0 ? own : h->conf.strikes;
}

static bool over(int64_t budget_ms, uint64_t ns)
{
	return budget_ms > 0 && ns > (uint64_t)budget_ms * NS_PER_MS;
}

/* ---- words -------------------------------------------------------------------------------------- */
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

static void say(struct op *op, struct tap *t, int64_t ns, bool hard)
{
	struct hooks *h = op->hooks;
	char more[64] = "";
	uint32_t unsaid;

	if (!may_say(&t->stat.slow, loop_now_ms(h->parts->loop), &unsaid))
		return;
	if (unsaid > 0)
		snprintf(more, sizeof(more), "; it was too slow %u more times since the last record", unsaid);
	hooks_log(h, hard ? KEEL_LOG_ERROR : KEEL_LOG_SYSTEM, op_label(op), "%s took %lld ms at %s, %s budget is %lld ms%s",
		  t->name, (long long)(ns / (int64_t)NS_PER_MS), op->point->info->name, hard ? "the hard" : "the soft",
		  (long long)(hard ? hard_ms(h, t) : soft_ms(h, t)), more);
}

/* ---- strikes ------------------------------------------------------------------------------------ */
static void bench(struct op *op, struct tap *t)
{
	t->off |= TAP_BENCHED;
	hooks_log(op->hooks, KEEL_LOG_ERROR, op_label(op),
		  "%s was too slow %u times and is not called any more%s; reload its module when it is "
		  "repaired, or 'keelson hooks --unbench %s'",
		  t->name, t->stat.strikes,
		  t->policy == KEEL_ON_FAIL_REJECT ? ", what it guards is refused" : "", t->name);
}

static void strike(struct op *op, struct tap *t)
{
	struct hooks *h = op->hooks;
	int64_t now = loop_now_ms(h->parts->loop), max = strikes_max(h, t);

	if (t->stat.strikes == 0 || now - t->stat.strike_since_ms > STRIKE_WINDOW_MS) {
		t->stat.strikes = 0;
		t->stat.strike_since_ms = now;
	}
	t->stat.strikes++;
	if (max > 0 && t->stat.strikes >= (uint64_t)max && !(t->off & TAP_BENCHED))
		bench(op, t);
}

void budget_judge(struct op *op, struct tap *t, int64_t passed_ns, int64_t own_ns)
{
	struct hooks *h = op->hooks;
	bool hard = over(hard_ms(h, t), (uint64_t)own_ns);

	if (!hard && !over(soft_ms(h, t), (uint64_t)own_ns))
		return;
	h->slow.tap = t;
	h->slow.number = tap_calls(t);
	h->slow.ns = (uint64_t)passed_ns;
	say(op, t, passed_ns, hard);
	if (hard)
		strike(op, t);
}

/* ---- orders of an administrator ------------------------------------------------------------------ */
static void tap_forgive(struct hooks *h, struct tap *t, const char *who)
{
	if (t->off & TAP_BENCHED)
		hooks_log(h, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, h->point[t->point].info->name,
			  "%s is called again: %s", t->name, who);
	t->off &= ~(uint32_t)TAP_BENCHED;
	t->stat.strikes = 0;
}

int hooks_unbench(struct hooks *h, const char *name, const char *who)
{
	int n = 0;

	FOR_EACH_TAP(h, t) {
		if (strcmp(t->name, name) != 0)
			continue;
		tap_forgive(h, t, who);
		n++;
	}
	return n > 0 ? n : -ENOENT;
}

static void tap_reset(struct tap *t)
{
	struct tap_stat kept = t->stat;

	memset(&t->stat, 0, sizeof(t->stat));
	t->stat.strikes = kept.strikes;
	t->stat.strike_since_ms = kept.strike_since_ms;
	t->calls_before = 0;
	t->every = t->countdown = 1;
}

void hooks_reset_times(struct hooks *h)
{
	FOR_EACH_TAP(h, t)
		tap_reset(t);
}

/* ---- other callbacks ------------------------------------------------------------------------------ */
void budget_callback(const struct crumb *c, int64_t passed_ns, int64_t own_ns)
{
	struct hooks *h = c->owner->parts->hooks;
	bool hard = over(owner_hard_ms(h, c->owner), (uint64_t)own_ns);
	const char *object = c->object != NULL ? c->object : "";
	uint32_t unsaid;

	if ((!hard && !over(owner_soft_ms(h, c->owner), (uint64_t)own_ns)) ||
	    !may_say(&h->callbacks, loop_now_ms(h->parts->loop), &unsaid))
		return;
	hooks_log(h, hard ? KEEL_LOG_ERROR : KEEL_LOG_SYSTEM, owner_name(c->owner),
		  "%s of module %s%s%s%s took %lld ms, %s budget is %lld ms", c->what, owner_name(c->owner),
		  object[0] != '\0' ? " (" : "", object, object[0] != '\0' ? ")" : "",
		  (long long)(passed_ns / (int64_t)NS_PER_MS), hard ? "the hard" : "the soft",
		  (long long)(hard ? owner_hard_ms(h, c->owner) : owner_soft_ms(h, c->owner)));
}
