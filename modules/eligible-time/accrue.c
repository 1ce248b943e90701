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

#define SLICE 512

bool accrue_on(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));

	return server && st->object->get_int(server, st->enable);
}

void accrue_to(struct keel_mod *mod, struct keel_obj *job, enum accrue type)
{
	struct state *st = mod->state;
	int64_t clock = st->object->get_int(job, st->eligible), now = st->core->time(mod);

	if (st->object->is_set(job, st->accrue) && st->object->get_int(job, st->accrue) == type)
		return;
	st->object->set_int(job, st->eligible,
			    type == ACCRUE_ELIGIBLE ? clock_run(clock, now) : clock_stop(clock, now));
	st->object->set_int(job, st->accrue, type);
}

/* Its last comment is why it waits. */
static enum accrue kind_of_wait(struct state *st, struct keel_obj *job)
{
	const char *comment = st->object->get_str(job, st->comment);

	return comment && reason_is_own_limit(comment) ? ACCRUE_INELIGIBLE : ACCRUE_ELIGIBLE;
}

void accrue_by_state(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	switch (st->job->state(st->job->self, job)) {
	case 'Q':
		accrue_to(mod, job, kind_of_wait(st, job));
		break;
	case 'B':
		accrue_to(mod, job, st->job->members(st->job->self, job) ? kind_of_wait(st, job) : ACCRUE_RUN);
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
		if (st->object->get_int(job, st->accrue) == ACCRUE_ELIGIBLE)
			accrue_to(mod, job, ACCRUE_EXIT);
		break;
	}
}

/* ---- all jobs, in slices ------------------------------------------------------------------------------- */

void accrue_stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->core->timer_cancel(st->slice);
	st->slice = NULL;
	st->object->cursor_close(st->walk);
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
		job = st->object->next(st->walk);
		if (!job) {
			accrue_stop(mod);
			return;
		}
		if (on) {
			accrue_by_state(mod, job);
		} else if (st->object->is_set(job, st->accrue)) {
			st->object->unset(job, st->accrue, NULL);
			st->object->unset(job, st->eligible, NULL);
		}
	}
	st->slice = st->core->timer(mod, 0, walk_on, NULL);
}

void accrue_all(struct keel_mod *mod)
{
	struct state *st = mod->state;

	accrue_stop(mod);
	st->walk = st->object->cursor(mod, "job");
	if (st->walk)
		st->slice = st->core->timer(mod, 0, walk_on, NULL);
}
