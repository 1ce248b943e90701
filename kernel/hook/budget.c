/* SPDX-License-Identifier: Apache-2.0
 *
 * budget.c - what happens to taps that take too long.
 *
 * Over the soft budget: a log record. Over the hard one: a record and a strike. Enough strikes within ten
 * minutes bench the tap: it is not called any more, and what it guarded is refused if it is the kind of
 * tap that refuses when it fails. A restart of its module or `keelson hooks --unbench` puts it back. A
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

#define NS_PER_MS INT64_C(1000000)
#define SAY_WINDOW_MS (60 * 1000)
#define SAY_BURST 5

static int64_t soft_ms(const struct hooks *h, const struct owner *owner)
{
	return owner->budget.soft_ms > 0 ? owner->budget.soft_ms : h->conf.soft_budget_ms;
}

static int64_t hard_ms(const struct hooks *h, const struct owner *owner)
{
	return owner->budget.hard_ms > 0 ? owner->budget.hard_ms : h->conf.hard_budget_ms;
}

static bool over(int64_t budget_ms, int64_t ns)
{
	return budget_ms > 0 && ns > budget_ms * NS_PER_MS;
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
		  (long long)(hard ? hard_ms(h, owner) : soft_ms(h, owner)), more);
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
		  "repaired, or 'keelson hooks --unbench %s'",
		  t->name, t->stat.strikes,
		  t->policy == KEEL_ON_FAIL_REJECT ? ", what it guards is refused" : "", t->name);
}

void budget_tap(struct op *op, struct tap *t, int64_t passed_ns, int64_t own_ns)
{
	struct hooks *h = op->hooks;
	bool hard = over(hard_ms(h, t->owner), own_ns);
	char where[80];

	if (!hard && !over(soft_ms(h, t->owner), own_ns))
		return;
	h->slow.tap = t;
	h->slow.number = tap_calls(t);
	h->slow.ns = passed_ns;
	snprintf(where, sizeof(where), " at %s", op->point->info->name);
	say(h, t->owner, &t->stat.slow, op_label(op), t->name, passed_ns, where, hard);
	if (hard)
		strike(op, t);
}

void budget_callback(const struct crumb *c, int64_t passed_ns, int64_t own_ns)
{
	struct hooks *h = c->owner->parts->hooks;
	bool hard = over(hard_ms(h, c->owner), own_ns);
	char call[160];

	if (!hard && !over(soft_ms(h, c->owner), own_ns))
		return;
	snprintf(call, sizeof(call), c->object != NULL ? "%s of module %s (%s)" : "%s of module %s", c->what,
		 owner_name(c->owner), c->object);
	say(h, c->owner, &h->callbacks, owner_name(c->owner), call, passed_ns, "", hard);
}
