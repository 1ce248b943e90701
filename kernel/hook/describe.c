/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c - taps and holds as modules that report them see them: functions of the group "inspect".
 */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "hook/inside.h"

void hooks_taps(struct keel_mod *m, void (*fn)(void *arg, const struct keel_about_tap *), void *arg)
{
	FOR_EACH_TAP(hooks_of(m), t)
		fn(arg, &(struct keel_about_tap){ .size = sizeof(struct keel_about_tap), .point = t->point, .name = t->name,
						  .module = t->owner->pub.name, .before = t->place.before, .after = t->place.after,
						  .order = t->place.order, .policy = t->policy, .calls = tap_calls(t),
						  .time_ns = t->stat.time_ns, .longest_ns = t->stat.longest_ns,
						  .fails = t->stat.fails, .strikes = t->stat.strikes,
						  .benched = (t->off & TAP_BENCHED) != 0, .quiet = (t->off & TAP_QUIET) != 0 });
}

void hooks_holds(struct keel_mod *m, void (*fn)(void *arg, const struct keel_about_hold *), void *arg)
{
	struct hooks *h = hooks_of(m);
	const struct op *op;
	const struct hold *hold;

	DL_FOREACH(h->parked, op) {
		DL_FOREACH(op->holds, hold)
			fn(arg, &(struct keel_about_hold){ .size = sizeof(struct keel_about_hold), .point = op->point->info->id,
							   .object = op_label(op), .module = hold->tap->owner->pub.name,
							   .why = hold->opts.why, .timeout_ms = hold->opts.timeout_ms,
							   .passed_ms = loop_now_ms(h->parts->loop) - hold->since_ms });
	}
}

int32_t hooks_unbench(struct keel_mod *m, const char *name, const char *who)
{
	struct hooks *h = hooks_of(m);
	int32_t n = 0;

	FOR_EACH_TAP(h, t) {
		if (strcmp(t->name, name) != 0)
			continue;
		if (t->off & TAP_BENCHED)
			hooks_log(h, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, h->point[t->point].info->name,
				  "%s is called again: at request of %s", t->name, who);
		t->off &= ~(uint32_t)TAP_BENCHED;
		t->stat.strikes = 0;
		n++;
	}
	return n > 0 ? n : -ENOENT;
}

void hooks_reset_times(struct keel_mod *m)
{
	FOR_EACH_TAP(hooks_of(m), t) {
		t->stat = (struct tap_stat){ .strikes = t->stat.strikes, .strike_since_ms = t->stat.strike_since_ms };
		t->calls_before = 0;
		t->every = t->countdown = 1;
	}
}
