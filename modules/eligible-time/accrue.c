/* SPDX-License-Identifier: Apache-2.0
 *
 * accrue.c - what kind of time a job is spending, and its clock.
 *
 *   queued for resources: ELIGIBLE, the clock runs      held, waiting, over its own limits: INELIGIBLE
 *   running: RUN                                         ending: EXIT
 *
 * An array that has begun is queued while any subjob of it is.
 */
#include "eligible-time.h"

KEEL_ATTR_OF(server, eligible_time_enable);
KEEL_ATTRS_OF(job, eligible_time, accrue_type, comment);

#define SLICE 512

bool accrue_on(struct keel_mod *mod)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	return server && keel_get_int(server, server_eligible_time_enable);
}

void accrue_to(struct keel_mod *mod, struct keel_obj *job, enum accrue type)
{
	int64_t clock = keel_get_int(job, job_eligible_time), now = keel_time(mod);

	if (keel_is_set(job, job_accrue_type) && keel_get_int(job, job_accrue_type) == type)
		return;
	keel_set_int(job, job_eligible_time,
		     type == ACCRUE_ELIGIBLE ? clock_run(clock, now) : clock_stop(clock, now));
	keel_set_int(job, job_accrue_type, type);
}

/* Its last comment is why it waits. */
static enum accrue kind_of_wait(struct keel_obj *job)
{
	const char *comment = keel_get_str(job, job_comment);

	return comment && reason_is_own_limit(comment) ? ACCRUE_INELIGIBLE : ACCRUE_ELIGIBLE;
}

void accrue_by_state(struct keel_mod *mod, struct keel_obj *job)
{
	switch (keel_job_state(job)) {
	case 'Q':
		accrue_to(mod, job, kind_of_wait(job));
		break;
	case 'B':
		accrue_to(mod, job, keel_job_members(job) ? kind_of_wait(job) : ACCRUE_RUN);
		break;
	case 'R':
		accrue_to(mod, job, ACCRUE_RUN);
		break;
	case 'E':
		accrue_to(mod, job, ACCRUE_EXIT);
		break;
	case 'T':
	case 'H':
	case 'W':
		accrue_to(mod, job, ACCRUE_INELIGIBLE);
		break;
	default: /* it is over: the clock stands as it stood */
		if (keel_get_int(job, job_accrue_type) == ACCRUE_ELIGIBLE)
			accrue_to(mod, job, ACCRUE_EXIT);
		break;
	}
}

/* ---- all jobs, in slices ------------------------------------------------------------------------------- */

void accrue_stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->slice);
	st->slice = NULL;
	keel_cursor_close(st->walk);
	st->walk = NULL;
}

static void walk_on(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct keel_obj *job;
	bool on = accrue_on(mod);

	(void)arg;
	st->slice = NULL;
	for (int n = 0; n < SLICE; n++) {
		job = keel_next(st->walk);
		if (!job) {
			accrue_stop(mod);
			return;
		}
		if (on) {
			accrue_by_state(mod, job);
		} else if (keel_is_set(job, job_accrue_type)) {
			keel_unset(job, job_accrue_type, NULL);
			keel_unset(job, job_eligible_time, NULL);
		}
	}
	st->slice = keel_timer(mod, 0, walk_on, NULL);
}

void accrue_all(struct keel_mod *mod)
{
	struct state *st = mod->state;

	accrue_stop(mod);
	st->walk = keel_cursor(mod, "job");
	if (st->walk)
		st->slice = keel_timer(mod, 0, walk_on, NULL);
}
