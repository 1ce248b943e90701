/* SPDX-License-Identifier: Apache-2.0
 *
 * level.c - how urgent a job is: preempt_prio applied to its queue, its share and its limits.
 */
#include "preemption.h"

#include <string.h>

KEEL_ATTRS_OF(job, queue, ptime);
KEEL_ATTR_OF(sched, preempt_queue_prio);
KEEL_ATTR_OF(queue, Priority);

uint32_t over_limits(struct keel_mod *mod, struct keel_obj *job, uint32_t as_if)
{
	struct state *st = mod->state;
	uint32_t found = 0;

	if (!keel_has(limits))
		return 0;
	if ((st->prio.asks & PRIO_QUEUE_SOFT) &&
	    keel_limits_over_soft(job, KEEL_LIMITS_QUEUE | as_if))
		found |= PRIO_QUEUE_SOFT;
	if ((st->prio.asks & PRIO_SERVER_SOFT) &&
	    keel_limits_over_soft(job, KEEL_LIMITS_SERVER | as_if))
		found |= PRIO_SERVER_SOFT;
	return found;
}

bool is_express(struct keel_mod *mod, struct keel_obj *job, int64_t *ret_priority)
{
	const char *name = keel_get_str(job, job_queue);
	struct keel_obj *queue = name ? keel_find(mod, "queue", name) : NULL;
	struct keel_obj *sched = sched_default(mod);
	int64_t express = 150;

	if (sched && keel_is_set(sched, sched_preempt_queue_prio))
		express = keel_get_int(sched, sched_preempt_queue_prio);
	*ret_priority = queue ? keel_get_int(queue, queue_Priority) : 0;
	return queue && *ret_priority >= express;
}

/* Express queues rank among themselves by their Priority. */
int64_t level_of(struct keel_mod *mod, struct keel_obj *job, uint32_t as_if)
{
	struct state *st = mod->state;
	uint32_t conditions = over_limits(mod, job, as_if);
	int64_t priority;

	if (is_express(mod, job, &priority))
		conditions |= PRIO_EXPRESS;
	if ((st->prio.asks & PRIO_SHARE) && keel_has(fairshare) &&
	    keel_fairshare_over_share(job))
		conditions |= PRIO_SHARE;
	if (!conditions)
		conditions = PRIO_NORMAL;
	return prio_level(&st->prio, conditions) +
	       ((conditions & st->prio.asks & PRIO_EXPRESS) ? priority : 0);
}

/* ---- what orders jobs ------------------------------------------------------------------------------ */

static double level_key(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	return (double)(level_of(mod, job, 0) - st->prio.normal);
}

static double preempted_key(struct keel_mod *mod, struct keel_obj *job)
{
	int64_t since = keel_get_int(job, job_ptime);

	(void)mod;
	return since ? 1e12 - (double)since : 0;
}

const struct keel_job_key_def level_row = {
	.size = sizeof(struct keel_job_key_def),
	.place = 10,
	.flags = KEEL_JOB_KEY_BEFORE_QUEUES | KEEL_JOB_KEY_SHARED | KEEL_JOB_KEY_MOVES,
	.name = "preempt_priority",
	.doc = "preemption level, above or below that of normal jobs",
	.value = level_key,
};
const struct keel_job_key_def preempted_row = {
	.size = sizeof(struct keel_job_key_def),
	.place = 20,
	.flags = KEEL_JOB_KEY_BEFORE_QUEUES,
	.name = "preempted_before",
	.doc = "preempted jobs first, the oldest of them before others",
	.value = preempted_key,
};
