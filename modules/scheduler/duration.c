/* SPDX-License-Identifier: Apache-2.0
 *
 * duration.c - how long a job may run, and when a running one will end.
 */
#include "scheduler.h"

#define FIVE_YEARS (5LL * 365 * 86400)

int64_t job_duration(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const struct keel_reslist *list = st->object->get_ptr(job, st->a.list);
	double seconds = st->resource->list_number(list, "soft_walltime", 0);

	if (seconds <= 0)
		seconds = st->resource->list_number(list, "walltime", 0);
	return seconds > 0 && seconds < (double)FIVE_YEARS ? (int64_t)seconds : FIVE_YEARS;
}
