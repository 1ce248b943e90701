/* SPDX-License-Identifier: Apache-2.0
 *
 * prime-time.c - times of day and of the year: prime time, and times dedicated to some queues.
 *
 *   start_group  queues that run at some times only
 *   start_job    jobs that would run across a boundary; tapped only while one is ahead
 *   cycle_begin     reads files that have changed
 *   job_explain     the current time and its end
 *
 * A timer at the next boundary starts a scheduling cycle.
 */
#include "prime-time.h"

#include <errno.h>
#include <string.h>

#define NAP_LONGEST 3600 /* s: the clock may be set meanwhile, or summer time begin */

KEEL_USE(resource);
KEEL_USE(job);
KEEL_USE_OPT(sched);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(STRING, struct conf, holidays, .fallback = "sched_priv/holidays",
		       .doc = "file of days and holidays, from PBS_HOME"),
	KEEL_CONF_RULE(STRING, struct conf, dedicated_time, .fallback = "sched_priv/dedicated_time",
		       .doc = "file of dedicated times, from PBS_HOME"),
	KEEL_CONF_RULE(STRING, struct conf, dedicated_prefix, .fallback = "ded",
		       .doc = "queues so named run in dedicated times, and only then"),
	KEEL_CONF_RULE(STRING, struct conf, primetime_prefix, .fallback = "p_",
		       .doc = "queues so named run in prime time only"),
	KEEL_CONF_RULE(STRING, struct conf, nonprimetime_prefix, .fallback = "np_",
		       .doc = "queues so named run in non-prime time only"),
	KEEL_CONF_RULE(BOOL, struct conf, backfill_prime, .fallback = "false",
		       .doc = "no job starts that would run into the next time"),
	KEEL_CONF_RULE(STRING, struct conf, prime_spill, .fallback = "0",
		       .doc = "HH:MM:SS by which it may, when backfill_prime"),
	KEEL_CONF_RULE(BOOL, struct conf, prime_exempt_anytime_queues, .fallback = "false",
		       .doc = "backfill_prime does not hold for queues without a prefix of these"),
};

/* ---- the next boundary ------------------------------------------------------------------------------ */

static int64_t sooner(int64_t a, int64_t b)
{
	return !a || (b && b < a) ? b : a;
}

int64_t next_event(struct state *st, int64_t when)
{
	const struct period *now = dedicated_at(&st->dedicated, when),
			    *next = dedicated_after(&st->dedicated, when);

	return sooner(next_change(st, when),
		      sooner(now ? now->end : 0, next ? next->begin : 0));
}

/* Adds or removes the tap at start_job. */
static void each_job_check(struct keel_mod *mod, bool each)
{
	struct state *st = mod->state;

	if (st->each == each)
		return;
	if (!each)
		keel_tap_remove(mod, KEEL_POINT_start_job, "on_start_job");
	else if (keel_tap_add(mod, KEEL_POINT_start_job, "on_start_job", 0, on_start_job,
			      NULL, NULL))
		return;
	st->each = each;
}

static void boundary(struct keel_mod *mod, void *arg);

/* Publishes the current time, checks whether a boundary is ahead, and sets the timer for it. */
static void times_update(struct keel_mod *mod)
{
	struct state *st = mod->state;
	int64_t now = keel_time(mod), next = next_event(st, now), nap = next - now;

	if (keel_has(sched))
		keel_sched_set_prime(holidays_is_prime(&st->holidays, now));
	each_job_check(mod, dedicated_at(&st->dedicated, now) || dedicated_after(&st->dedicated, now) ||
				    (st->rules.backfill && next_change(st, now)));
	keel_timer_cancel(st->timer);
	st->timer = NULL;
	if (next)
		st->timer = keel_timer(mod, (nap < NAP_LONGEST ? nap : NAP_LONGEST) * 1000 + 5, boundary,
				       NULL);
}

static void boundary(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->timer = NULL;
	files_read(mod);
	rules_read(mod);
	times_update(mod);
	if (keel_has(sched))
		keel_sched_reconsider();
}

static keel_verdict on_cycle_begin(struct keel_call *c, const struct keel_ev_cycle_begin *ev)
{
	(void)ev;
	files_read(c->mod);
	rules_read(c->mod);
	times_update(c->mod);
	return KEEL_NEXT;
}

/* ---- service ------------------------------------------------------------------------------------------ */

static bool api_is_prime(struct keel_mod *mod, int64_t when)
{
	struct state *st = mod->state;

	return holidays_is_prime(&st->holidays, when);
}

static int64_t api_next_change(struct keel_mod *mod, int64_t when)
{
	struct state *st = mod->state;

	return holidays_next_change(&st->holidays, when);
}

static int64_t api_next_event(struct keel_mod *mod, int64_t when)
{
	return next_event(mod->state, when);
}

static int32_t api_conflict(struct keel_mod *mod, struct keel_obj *job, int64_t start)
{
	return time_conflict(mod->state, job, start);
}

static const struct keel_prime_api service = {
	.size = sizeof(struct keel_prime_api),
	.is_prime = api_is_prime,
	.next_change = api_next_change,
	.next_event = api_next_event,
	.conflict = api_conflict,
};
static const struct keel_service_def service_def = {
	.size = sizeof(struct keel_service_def),
	.name = "prime",
	.doc = "prime time and dedicated times",
	.table = &service,
};

static const struct keel_contrib contribs[] = { KEEL_ROW(SERVICE, service_def) };

static const struct keel_tap taps[] = {
	KEEL_TAP(start_group, on_start_group, .order = 100),
	KEEL_TAP(cycle_begin, on_cycle_begin),
	KEEL_TAP(job_explain, on_explain),
	KEEL_TAP(start_when, on_start_when),
};

/* ---- module ------------------------------------------------------------------------------------------- */

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	holidays_init(&st->holidays);
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	(void)err;
	files_read(mod);
	rules_read(mod);
	times_update(mod);
	return 0;
}

static int32_t reconf(struct keel_mod *mod, const void *now, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)now, (void)err;
	st->holidays_file.size = st->dedicated_file.size = -1; /* the paths may have changed: read both again */
	return 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->timer);
	st->timer = NULL;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	dedicated_fini(&st->dedicated);
	free(st->rules.dedicated);
	free(st->rules.prime);
	free(st->rules.nonprime);
}

static const char *const requires_modules[] = { "jobs", "queues", NULL };

KEEL_MODULE(.name = "prime-time", .version = "1.0", .vendor = "Keelson",
	    .summary = "prime time and dedicated times", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules,
	    .init = init, .start = start, .reconf = reconf, .stop = stop, .fini = fini);
