/* SPDX-License-Identifier: Apache-2.0
 *
 * duration.c - how long a job may run, and when a running one will end.
 */
#include "scheduler.h"

#define FIVE_YEARS (5LL * 365 * 86400) /* of a job without walltime */

static int64_t seconds_of(struct state *st, const struct keel_reslist *list, const char *name)
{
	double n = st->resource->list_number(list, name, 0);

	return n > 0 && n < (double)FIVE_YEARS ? (int64_t)n : 0;
}

int64_t job_duration(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const struct keel_reslist *list = st->object->get_ptr(job, st->a.list);
	int64_t soft = seconds_of(st, list, "soft_walltime");
	int64_t hard = seconds_of(st, list, "walltime");

	return soft ? soft : hard ? hard : FIVE_YEARS;
}

int64_t job_remaining(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	int64_t left = job_duration(mod, job) -
		       seconds_of(st, st->object->get_ptr(job, st->a.used), "walltime");

	return left > 0 ? left : 1;
}

/* A soft time that is over is given once more, again and again until the hard one is reached. */
int64_t job_end(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const struct keel_reslist *list = st->object->get_ptr(job, st->a.list);
	int64_t now = st->core->time(mod), begun = st->object->get_int(job, st->a.stime), end;
	int64_t soft = seconds_of(st, list, "soft_walltime");
	int64_t hard = seconds_of(st, list, "walltime");

	if (begun <= 0 || begun > now)
		begun = now;
	if (!soft)
		return begun + (hard ? hard : FIVE_YEARS);
	end = begun + (1 + (now - begun) / soft) * soft;
	return hard && end > begun + hard ? begun + hard : end;
}
