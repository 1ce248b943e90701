/* SPDX-License-Identifier: Apache-2.0
 *
 * duration.c - how long a job may run, and when a running one will end.
 */
#include "scheduler.h"

KEEL_ATTRS_OF(job, Resource_List, resources_used, stime);

#define FIVE_YEARS (5LL * 365 * 86400) /* of a job without walltime */

static int64_t seconds_of(const struct keel_reslist *list, const char *name)
{
	double n = keel_resource_list_number(list, name, 0);

	return n > 0 && n < (double)FIVE_YEARS ? (int64_t)n : 0;
}

int64_t job_duration(struct keel_obj *job)
{
	const struct keel_reslist *list = keel_get_ptr(job, job_Resource_List);
	int64_t soft = seconds_of(list, "soft_walltime");
	int64_t hard = seconds_of(list, "walltime");

	return soft ? soft : hard ? hard : FIVE_YEARS;
}

int64_t job_longest(struct keel_obj *job)
{
	int64_t hard = seconds_of(keel_get_ptr(job, job_Resource_List), "walltime");

	return hard ? hard : FIVE_YEARS;
}

int64_t job_left(struct keel_obj *job)
{
	int64_t left = job_longest(job) - seconds_of(keel_get_ptr(job, job_resources_used), "walltime");

	return left > 0 ? left : 1;
}

int64_t job_remaining(struct keel_obj *job)
{
	int64_t left = job_duration(job) -
		       seconds_of(keel_get_ptr(job, job_resources_used), "walltime");

	return left > 0 ? left : 1;
}

/* A soft time that is over is given once more, again and again until the hard one is reached. */
int64_t job_end(struct keel_mod *mod, struct keel_obj *job)
{
	const struct keel_reslist *list = keel_get_ptr(job, job_Resource_List);
	int64_t now = keel_time(mod), begun = keel_get_int(job, job_stime), end;
	int64_t soft = seconds_of(list, "soft_walltime");
	int64_t hard = seconds_of(list, "walltime");

	if (begun <= 0 || begun > now)
		begun = now;
	if (!soft)
		return begun + (hard ? hard : FIVE_YEARS);
	end = begun + (1 + (now - begun) / soft) * soft;
	return hard && end > begun + hard ? begun + hard : end;
}

int64_t job_until(struct keel_mod *mod, struct keel_obj *job)
{
	int64_t now = keel_time(mod), begun = keel_get_int(job, job_stime);

	return (begun > 0 && begun < now ? begun : now) + job_longest(job);
}
