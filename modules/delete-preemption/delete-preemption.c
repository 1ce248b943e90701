/* SPDX-License-Identifier: Apache-2.0
 *
 * delete-preemption.c - preemption by deletion: the letter D of preempt_order.
 *
 * Other methods can all be unusable for a job; a running job can always be deleted. It has given way when
 * it is gone, not when its end was asked for: a job started sooner would share its vnodes.
 *
 *   job_preempt -> [grace signal, grace] -> request_delete -> hold until job_purged -> DONE
 *                                                '-> refused: the next letter, and no trace of it
 */
#include "delete-preemption.h"

#include <errno.h>

static const struct keel_need needs[] = {
	KEEL_NEED(core, 0, struct state, core),
	KEEL_NEED(object, 0, struct state, object),
	KEEL_NEED(call, 0, struct state, call),
	KEEL_NEED(job, 0, struct state, job),
};

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(DURATION, struct conf, timeout, .fallback = "5m", .min = 1000, .max = 86400000,
		       .doc = "a victim that is not gone by then (kill_delay of its queue added) counts "
			      "as not preempted"),
};

const struct keel_preempt_def delete_method = {
	.size = sizeof(struct keel_preempt_def),
	.letter = "D",
	.outcome = "D",
	.name = "delete",
	.words = "deletion",
	.doc = "deleted: it does not come back",
	.applies = delete_applies,
	.start = delete_start,
};
static const struct keel_contrib contribs[] = { { "PREEMPT", &delete_method } };

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	st->queue = st->object->attr(mod, "job", "queue");
	st->kill_delay = st->object->attr(mod, "queue", "kill_delay");
	if (!st->queue || !st->kill_delay)
		return st->core->error(err, -1, "there are no jobs and queues; are their modules enabled?");
	return 0;
}

/* Victims that are on their way out come back to this code. */
static int32_t busy(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	return st->leaving ? st->core->error(err, -EBUSY, "%u jobs are being deleted; try again",
					     st->leaving)
			   : 0;
}

/* No module is required: without one that takes rows of the kind PREEMPT this one has nothing to do. */
KEEL_MODULE(.name = "delete-preemption", .version = "1.0", .vendor = "Keelson",
	    .summary = "preempt jobs by deletion", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), .conf_size = sizeof(struct conf), .conf = rules,
	    .n_conf = KEEL_COUNT(rules), .needs = needs, .n_needs = KEEL_COUNT(needs),
	    .contribs = contribs, .n_contribs = KEEL_COUNT(contribs),
	    .init = init, .busy = busy);
