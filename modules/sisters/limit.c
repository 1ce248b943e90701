/* SPDX-License-Identifier: Apache-2.0
 *
 * limit.c - how long is waited: mom_priv/config, else the module's configuration, else what others say (point start_alarm).
 */
#include "sisters.h"

#include "keel/directive.h"

#define LONGEST_S 86400
#define USUAL_MS 30000

static int32_t seconds_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	(void)mod;
	return keel_directive_number(value, 1, LONGEST_S, NULL, err);
}

static void seconds_apply(struct keel_mod *mod, enum limit which, const char *name, const char *const *values, uint32_t n)
{
	struct state *st = mod->state;
	int64_t seconds = 0, before = st->said_ms[which];

	if (n > 0)
		keel_directive_number(values[0], 1, LONGEST_S, &seconds, NULL);
	st->said_ms[which] = seconds * 1000;
	if (seconds && st->said_ms[which] != before)
		keel_log(mod, KEEL_LOG_SYSTEM, "Svr", name, "%lld", (long long)seconds);
}

#define DIRECTIVE(directive, which, words)                                                                              \
	static void directive##_apply(struct keel_mod *mod, const char *const *values, uint32_t n)                      \
	{                                                                                                               \
		seconds_apply(mod, which, #directive, values, n);                                                       \
	}                                                                                                               \
	const struct keel_mom_directive_def directive##_directive = {                                                   \
		.size = sizeof(struct keel_mom_directive_def), .name = "$" #directive, .doc = words,                    \
		.check = seconds_check, .apply = directive##_apply,                                                     \
	}
DIRECTIVE(sister_join_job_alarm, LIMIT_JOIN, "seconds that a start waits for the other hosts of the job to join");
DIRECTIVE(job_launch_delay, LIMIT_PROLOGUE, "seconds that a start waits for the prologues of the other hosts");
DIRECTIVE(max_poll_downtime, LIMIT_DOWNTIME, "seconds that a host of a running job may be without a link to the first one");

/* What taps say of this stage. */
static int64_t alarm_ms(struct keel_mod *mod, const char *stage)
{
	int64_t seconds = keel_fold(mod, KEEL_POINT_start_alarm, KEEL_EVENT(start_alarm, .stage = stage), NULL, 0);

	return seconds <= 0 ? USUAL_MS : (seconds < LONGEST_S ? seconds : LONGEST_S) * 1000;
}

int64_t limit_ms(struct keel_mod *mod, enum limit which)
{
	const struct state *st = mod->state;
	const struct conf *cf = mod->conf;
	const int64_t own[] = {
		[LIMIT_JOIN] = cf->sister_join_job_alarm, [LIMIT_PROLOGUE] = cf->job_launch_delay,
		[LIMIT_DOWNTIME] = cf->max_poll_downtime, [LIMIT_ACT] = cf->act_within, [LIMIT_END] = cf->end_within,
	};

	if (st->said_ms[which])
		return st->said_ms[which];
	if (own[which] == 0 && which <= LIMIT_PROLOGUE)
		return alarm_ms(mod, which == LIMIT_JOIN ? KEEL_STAGE_JOIN : KEEL_STAGE_PROLOGUE);
	return own[which];
}
