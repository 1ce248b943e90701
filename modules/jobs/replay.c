/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - a stored job is known again: counters, vnodes, timers. Hosts report the rest.
 *
 * Runs before every other module's job_known.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, server, exec_host, exec_vnode, ending, job_state, substate);
KEEL_ATTR_OF(server, resources_assigned);
KEEL_ATTR_OF(queue, resources_assigned);

/* A suspended job has what it kept; one that is dying took the rest again. */
static void hold_again(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	bool suspended = step_is_suspended(step);
	bool resting = suspended && job_slot(mod, job)->ending == ENDING_NONE;
	struct keel_err err = { 0 };

	if (resting && !released(mod, job))
		return;
	/* What is suspended, or was when it began to end, gave its slots back: exec_host is of before. */
	if (job_occupy_again(mod, job, suspended ? NULL : keel_get_str(job, job_exec_host), &err))
		keel_log(mod, KEEL_LOG_ERROR, "Job", job_id(mod, job),
			 "its vnodes %s cannot be assigned again: %s",
			 job_text(job, job_exec_vnode), err.text);
	if (resting && job_slot(mod, job)->occupies == OCCUPIES_ALL)
		job_release(mod, job, released(mod, job));
}

/* Totals are counted anew from the jobs; vnodes know who is on them. */
static void totals_begin(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *queue, *server = keel_find(mod, "server", keel_server_name(mod));
	struct keel_cursor *walk;

	if (st->counting)
		return;
	st->counting = true;
	if (server && server_resources_assigned)
		keel_unset(server, server_resources_assigned, NULL);
	walk = queue_resources_assigned ? keel_cursor(mod, "queue") : NULL;
	while (walk && (queue = keel_next(walk)))
		keel_unset(queue, queue_resources_assigned, NULL);
	if (walk)
		keel_cursor_close(walk);
}

keel_verdict on_job_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	struct keel_mod *mod = c->mod;
	struct job *j = job_slot(mod, ev->job);
	int64_t state = keel_get_int(ev->job, job_job_state);
	enum step step = step_of((char)(state & 0x7f), state & SUSPENDED_BIT,
				 keel_get_int(ev->job, job_substate));
	struct keel_obj *queue;

	if (!j)
		return KEEL_FAIL; /* no memory */
	if (j->step != STEP_NEW)
		return KEEL_NEXT;
	if (strcmp(job_text(ev->job, job_server), keel_server_name(mod)) != 0)
		keel_set_str(ev->job, job_server, keel_server_name(mod)); /* it was renamed; the id stays */
	totals_begin(mod);
	order_known(mod, ev->job);
	saving_over(ev->job);
	if (step == STEP_QUEUED && (queue = job_queue(mod, ev->job)) && !keel_queue_runs(queue))
		step = STEP_ROUTING;
	j->step = (uint8_t)step;
	counts_add(mod, ev->job, step, 1);
	if (step_is_pending(step)) {
		step_evaluate(mod, ev->job);
		return KEEL_NEXT;
	}
	if (keel_is_set(ev->job, job_ending))
		j->ending = ENDING_DELETE;
	else
		j->ending = step == STEP_RERUNNING ? ENDING_RERUN : ENDING_NONE;
	if (step_is_running(step))
		hold_again(mod, ev->job, step);
	return KEEL_NEXT;
}
