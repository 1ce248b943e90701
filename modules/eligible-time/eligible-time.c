/* SPDX-License-Identifier: Apache-2.0
 *
 * eligible-time.c - how long jobs have waited for resources: eligible_time, accrue_type.
 *
 *   job_step     the job waits, runs or ends: its clock runs or stands; an array's with its subjobs
 *   job_waits    a subjob of an array waits again
 *   job_reason   it does not start because of its own limits: its clock stands
 */
#include "eligible-time.h"

#include <string.h>

KEEL_ATTRS_OF(job, eligible_time, accrue_type);

KEEL_USE(job);

static int32_t check_enabled(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
			     int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)who, (void)job, (void)op, (void)key, (void)text;
	return accrue_on(mod) ? 0
			      : keel_error(err, PBSE_ETEERROR, "%s",
					   keel_pbse_text(PBSE_ETEERROR));
}

static void enable_changed(struct keel_mod *mod, struct keel_obj *server, const struct keel_attr *attr)
{
	struct state *st = mod->state;

	(void)server, (void)attr;
	if (st->started)
		accrue_all(mod);
}

static const struct keel_attr_def rows[] = {
	KEEL_ATTR_DEF("server", "eligible_time_enable", "bool", .order = 540,
		      .flags = KEEL_ATTR_SAVE | KEEL_ATTR_RESET, .read_roles = KEEL_EVERYBODY,
		      .write_roles = KEEL_MANAGERS, .fallback = "False", .changed = enable_changed,
		      .doc = "whether the time is counted in which jobs wait for resources alone: eligible_time"),
	KEEL_ATTR_DEF("job", "eligible_time", "eligible_clock", .order = 510,
		      .flags = KEEL_ATTR_SAVE | KEEL_ATTR_FLAG1 | KEEL_ATTR_OWN, .read_roles = KEEL_EVERYBODY,
		      .write_roles = KEEL_OPERATORS, .check = check_enabled,
		      .doc = "how long it has waited for resources alone, while eligible_time_enable is True"),
	KEEL_ATTR_DEF("job", "accrue_type", "long", .order = 515, .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_MANAGERS,
		      .doc = "what its time counts as: 0 initial, 1 ineligible, 2 eligible, 3 running, 4 ending"),
};

/* For job_sort_formula and job_sort_key. */
static double seconds_waited(struct keel_mod *mod, struct keel_obj *job)
{
	return (double)clock_read(keel_get_int(job, job_eligible_time), keel_time(mod));
}

static double kind_of_time(struct keel_mod *mod, struct keel_obj *job)
{
	(void)mod;
	return (double)keel_get_int(job, job_accrue_type);
}

static const struct keel_job_key_def keys[] = {
	{ .size = sizeof(struct keel_job_key_def), .flags = KEEL_JOB_KEY_MOVES,
	  .name = "eligible_time", .doc = "seconds waited for resources", .value = seconds_waited },
	{ .size = sizeof(struct keel_job_key_def), .flags = KEEL_JOB_KEY_MOVES,
	  .name = "accrue_type", .doc = "2 while it waits for resources", .value = kind_of_time },
};

static const struct keel_acct_item_def item = { .size = sizeof(struct keel_acct_item_def), .place = 110,
						.name = "eligible_time", .doc = "how long it has waited for resources",
						.attr = "eligible_time", .letters = "ER" };

static const struct keel_contrib contribs[] = {
	KEEL_ROW(ACCT_ITEM, item),
	KEEL_ROW(TYPE, clock_type),
	KEEL_ROW(JOB_KEY, keys[0]),
	KEEL_ROW(JOB_KEY, keys[1]),
	KEEL_ROW(ATTR, rows[0]),
	KEEL_ROW(ATTR, rows[1]),
	KEEL_ROW(ATTR, rows[2]),
};

static keel_verdict on_step(struct keel_call *c, const struct keel_ev_job_step *ev)
{
	struct keel_obj *array;
	char id[512];

	if (!ev->job || !accrue_on(c->mod))
		return KEEL_NEXT;
	accrue_by_state(c->mod, ev->job);
	if (!keel_id_whole(ev->id, id, sizeof(id)))
		return KEEL_NEXT;
	array = keel_find(c->mod, "job", id); /* it has one more or one less that waits */
	if (array && keel_job_state(array) == 'B')
		accrue_by_state(c->mod, array);
	return KEEL_NEXT;
}

static keel_verdict on_waits(struct keel_call *c, const struct keel_ev_job_waits *ev)
{
	if (ev->job && accrue_on(c->mod))
		accrue_by_state(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_reason(struct keel_call *c, const struct keel_ev_job_reason *ev)
{
	if (!ev->job || !accrue_on(c->mod) || keel_job_state(ev->job) != 'Q')
		return KEEL_NEXT;
	accrue_to(c->mod, ev->job,
		  reason_is_own_limit(ev->comment) ? ACCRUE_INELIGIBLE : ACCRUE_ELIGIBLE);
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_step, on_step),
	KEEL_TAP(job_waits, on_waits),
	KEEL_TAP(job_reason, on_reason),
};

/* It may have been switched on or off while this module was not there, and jobs may be in other states. */
static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	st->started = true;
	accrue_all(mod);
	return 0;
}

static const char *const requires_modules[] = { "manager", "jobs", NULL };

KEEL_MODULE(.name = "eligible-time", .version = "1.0", .vendor = "Keelson",
	    .summary = "counts how long jobs wait for resources", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	    .requires_modules = requires_modules, .start = start, .stop = accrue_stop);
