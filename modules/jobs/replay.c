/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - a stored job is known again: counters, vnodes, timers. Hosts report the rest.
 *
 * Runs before every other module's job_known.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

/* What is suspended, or was when it began to end, gave its slots back: exec_host is of before. */
static void occupy_again(struct keel_mod *mod, struct keel_obj *job, bool suspended)
{
	struct state *st = mod->state;
	struct keel_err err = { 0 };

	if (job_occupy_again(mod, job, suspended ? NULL : st->object->get_str(job, st->a.exec_host), &err))
		st->core->log(mod, KEEL_LOG_ERROR, "Job", job_id(mod, job),
			      "its vnodes %s cannot be assigned again: %s",
			      job_text(mod, job, st->a.exec_vnode), err.text);
}

/* A suspended job has what it kept; one that is dying took the rest again. */
static void hold_again(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	bool resting = step_is_suspended(step) && job_slot(mod, job)->ending == ENDING_NONE;

	if (resting && !released(mod, job))
		return;
	occupy_again(mod, job, step_is_suspended(step));
	if (resting && job_slot(mod, job)->occupies == OCCUPIES_ALL)
		job_release(mod, job, released(mod, job));
}

static enum ending ending_of(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct state *st = mod->state;

	if (st->object->is_set(job, st->a.ending))
		return ENDING_DELETE;
	return step == STEP_RERUNNING ? ENDING_RERUN : ENDING_NONE;
}

/* Totals are counted anew from the jobs; vnodes know who is on them. */
static void totals_begin(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *queue, *server = st->object->find(mod, "server", st->core->server_name(mod));
	struct keel_cursor *walk;

	if (st->counting)
		return;
	st->counting = true;
	if (server && st->server.assigned)
		st->object->unset(server, st->server.assigned, NULL);
	walk = st->queue.assigned ? st->object->cursor(mod, "queue") : NULL;
	while (walk && (queue = st->object->next(walk)))
		st->object->unset(queue, st->queue.assigned, NULL);
	if (walk)
		st->object->cursor_close(walk);
}

keel_verdict on_job_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	struct keel_mod *mod = c->mod;
	struct state *st = mod->state;
	struct job *j = job_slot(mod, ev->job);
	int64_t state = st->object->get_int(ev->job, st->a.state);
	enum step step = step_of((char)(state & 0x7f), state & SUSPENDED_BIT,
				 st->object->get_int(ev->job, st->a.substate));
	struct keel_obj *queue;

	if (!j)
		return KEEL_FAIL; /* no memory */
	if (j->step != STEP_NEW)
		return KEEL_NEXT;
	totals_begin(mod);
	order_known(mod, ev->job);
	saving_over(mod, ev->job);
	if (step == STEP_QUEUED && (queue = job_queue(mod, ev->job)) && !queue_runs(mod, queue))
		step = STEP_ROUTING;
	j->step = (uint8_t)step;
	counts_add(mod, ev->job, step, 1);
	if (step_is_pending(step)) {
		step_evaluate(mod, ev->job);
		return KEEL_NEXT;
	}
	j->ending = (uint8_t)ending_of(mod, ev->job, step);
	if (step_is_running(step))
		hold_again(mod, ev->job, step);
	return KEEL_NEXT;
}
