/* SPDX-License-Identifier: Apache-2.0
 *
 * step.c - where a job is: one table, one door.
 *
 *      NEW -> QUEUED <-> HELD, DEPENDING <-> WAITING <-> ROUTING
 *               |  ^
 *               v  | (refused, requeued)
 *              SENT -> RUNNING <-> SUSPENDED -> SCHED_SUSPENDED -> RUNNING
 *                         |            |
 *          STAGING_OUT <- +            |
 *                   |     v            v
 *                   +> EXITING ... FINISHED | FAILED | TERMINATED   (history, or gone)
 *
 * An array is QUEUED, HELD, WAITING or BEGUN; a subjob that is over is EXPIRED_* until its array is.
 *
 * No other file writes job_state, substate or the counters.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, job_state, substate, mtime, Execution_Time, Hold_Types, stime, etime, Stageout_status);
KEEL_ATTR_AS(attr_job_queue, job, queue, 0);

static const struct {
	char letter;
	int16_t substate;
	uint8_t tally;
	bool suspended;
} steps[STEP_COUNT] = {
	[STEP_NEW] = { 'T', 0, TALLY_TRANSIT, false },
	[STEP_QUEUED] = { 'Q', KEEL_SUB_QUEUED, TALLY_QUEUED, false },
	[STEP_ROUTING] = { 'Q', KEEL_SUB_QUEUED, TALLY_QUEUED, false },
	[STEP_HELD] = { 'H', KEEL_SUB_HELD, TALLY_HELD, false },
	[STEP_DEPENDING] = { 'H', KEEL_SUB_DEPENDS, TALLY_HELD, false },
	[STEP_WAITING] = { 'W', KEEL_SUB_WAITING, TALLY_WAITING, false },
	[STEP_STAGE_FAILED] = { 'W', KEEL_STAGE_IN_FAILED, TALLY_WAITING, false },
	[STEP_BEGUN] = { 'B', KEEL_SUB_BEGUN, TALLY_BEGUN, false },
	[STEP_SENT] = { 'R', KEEL_SUB_SENT, TALLY_RUNNING, false },
	[STEP_RUNNING] = { 'R', KEEL_SUB_RUNNING, TALLY_RUNNING, false },
	[STEP_SUSPENDED] = { 'R', KEEL_SUB_SUSPENDED, TALLY_RUNNING, true },
	[STEP_SCHED_SUSPENDED] = { 'R', KEEL_SUB_SCHED_SUSPENDED, TALLY_RUNNING, true },
	[STEP_RERUNNING] = { 'R', KEEL_SUB_RERUN, TALLY_RUNNING, false },
	[STEP_STAGING_OUT] = { 'E', KEEL_STAGE_OUT, TALLY_EXITING, false },
	[STEP_EXITING] = { 'E', KEEL_SUB_EXITING, TALLY_EXITING, false },
	[STEP_EXITED] = { 'E', KEEL_SUB_EXITED, TALLY_EXITING, false },
	[STEP_TERMINATED] = { 'F', KEEL_SUB_TERMINATED, TALLY_HISTORY, false },
	[STEP_FINISHED] = { 'F', KEEL_SUB_FINISHED, TALLY_HISTORY, false },
	[STEP_FAILED] = { 'F', KEEL_SUB_FAILED, TALLY_HISTORY, false },
	[STEP_EXPIRED_TERMINATED] = { 'X', KEEL_SUB_TERMINATED, TALLY_HISTORY, false },
	[STEP_EXPIRED_FINISHED] = { 'X', KEEL_SUB_FINISHED, TALLY_HISTORY, false },
	[STEP_EXPIRED_FAILED] = { 'X', KEEL_SUB_FAILED, TALLY_HISTORY, false },
};

struct job *job_slot(struct keel_mod *mod, struct keel_obj *job)
{
	return keel_slot(mod, job);
}

void job_fini(struct keel_mod *mod, void *slot)
{
	struct job *j = slot;

	(void)mod;
	keel_timer_cancel(j->timer);
	keel_timer_cancel(j->rerun_timer);
	free(j->run);
	free(j->rerun);
	waiters_refuse(j, PBSE_UNKJOBID, NULL);
}

char step_letter(enum step step)
{
	return steps[step].letter;
}

int32_t step_substate(enum step step)
{
	return steps[step].substate;
}

enum step step_of(char letter, bool suspended, int64_t substate)
{
	int i;

	if (letter == 'R' && substate == KEEL_STAGE_IN) /* shown on such a step: job_stage() */
		return STEP_SENT;
	for (i = 0; i < STEP_COUNT; i++)
		if (steps[i].letter == letter && steps[i].substate == substate &&
		    steps[i].suspended == suspended)
			return (enum step)i;
	return letter == 'F' ? STEP_FINISHED : letter == 'E' ? STEP_EXITING : STEP_QUEUED;
}

bool step_is_suspended(enum step step)
{
	return steps[step].suspended;
}

/* It has a host that works for it; while files are staged out as much as before. */
bool step_is_running(enum step step)
{
	return steps[step].letter == 'R' || step == STEP_STAGING_OUT;
}

bool step_is_over(enum step step)
{
	return steps[step].letter == 'F';
}

bool step_is_expired(enum step step)
{
	return steps[step].letter == 'X';
}

bool step_is_open(enum step step)
{
	return step_is_pending(step) || step == STEP_BEGUN;
}

bool step_is_pending(enum step step)
{
	return step == STEP_QUEUED || step == STEP_ROUTING || step == STEP_HELD ||
	       step == STEP_DEPENDING || step == STEP_WAITING || step == STEP_STAGE_FAILED;
}

void counts_add(struct keel_mod *mod, struct keel_obj *job, enum step step, int sign)
{
	struct state *st = mod->state;
	const char *name = keel_get_str(job, attr_job_queue);
	struct keel_obj *obj = name ? keel_find(mod, "queue", name) : NULL;
	struct counts *queue = obj ? keel_slot(mod, obj) : NULL;

	st->counts.n[steps[step].tally] += sign;
	if (steps[step].suspended)
		st->suspended += sign;
	if (queue)
		queue->n[steps[step].tally] += sign;
}

void log_dequeuing(struct keel_mod *mod, struct keel_obj *job, char letter)
{
	keel_log(mod, KEEL_LOG_DEBUG2, "Job", job_id(mod, job), "dequeuing from %s, state %c",
		 job_text(job, attr_job_queue), letter);
}

void job_leave(struct keel_mod *mod, struct keel_obj *job)
{
	enum step step = job_slot(mod, job)->step;

	log_dequeuing(mod, job, step_is_open(step) ? 'E' : step_letter(step));
	counts_add(mod, job, step, -1);
	keel_destroy(job);
}

void step_notify(struct keel_mod *mod, struct keel_obj *job)
{
	const struct job *j = job_slot(mod, job);

	if (keel_tapped(mod, KEEL_POINT_job_step))
		keel_note(mod, KEEL_POINT_job_step,
			  KEEL_EVENT(job_step, .id = job_id(mod, job), .job = job,
				     .state = steps[j->step].letter, .placed = j->occupies == OCCUPIES_ALL));
}

void step_to(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct job *j = job_slot(mod, job);
	int64_t value = steps[step].letter | (steps[step].suspended ? SUSPENDED_BIT : 0);

	if (j->step == step)
		return;
	if (step_is_open(j->step) != step_is_open(step)) {
		keel_timer_cancel(j->timer); /* Execution_Time before, the lost host behind the start */
		j->timer = NULL;
	}
	if (j->step != STEP_NEW)
		counts_add(mod, job, j->step, -1);
	counts_add(mod, job, step, 1);
	if (step_is_pending(j->step) != step_is_pending(step) ||
	    step_is_running(j->step) != step_is_running(step) || step_is_over(step))
		edits_count(mod, job); /* what may be altered differs from now on */
	if (step == STEP_SENT) {
		j->stage_failed = false;
		keel_unset(job, job_Stageout_status, NULL);
	}
	j->step = (uint8_t)step;
	keel_set_int(job, job_job_state, value);
	keel_set_int(job, job_substate, steps[step].substate);
	keel_set_int(job, job_mtime, keel_time(mod));
	step_log(mod, job, steps[step].letter, steps[step].substate, steps[step].substate);
	step_notify(mod, job);
}

void step_log(struct keel_mod *mod, struct keel_obj *job, char letter, int first, int last)
{
	for (; first <= last; first++)
		keel_log(mod, KEEL_LOG_DEBUG3, "Job", job_id(mod, job),
			 "Updated job state to %d and substate to %d", letter, first);
}

static void time_came(struct keel_mod *mod, void *arg)
{
	struct keel_obj *job = arg; /* its slot cancels the timer when the job goes */

	job_slot(mod, job)->timer = NULL;
	if (step_is_open(job_slot(mod, job)->step))
		step_evaluate(mod, job);
}

void step_evaluate(struct keel_mod *mod, struct keel_obj *job)
{
	int64_t when = keel_get_int(job, job_Execution_Time);
	int64_t holds = keel_get_int(job, job_Hold_Types);
	struct keel_obj *queue = job_queue(mod, job);
	enum step step = STEP_QUEUED;
	struct job *j;
	int64_t seconds;

	if (job_slot(mod, job)->unheld)
		holds &= ~(int64_t)HOLD_USER;
	if (holds)
		step = holds & HOLD_DEPENDS ? STEP_DEPENDING : STEP_HELD;
	else if (when > keel_time(mod))
		step = job_slot(mod, job)->stage_failed || job_slot(mod, job)->step == STEP_STAGE_FAILED ? STEP_STAGE_FAILED : STEP_WAITING;
	else if (job_role(mod, job) == ROLE_WHOLE && keel_is_set(job, job_stime))
		step = STEP_BEGUN;
	else if (queue && !keel_queue_runs(queue))
		step = STEP_ROUTING;
	step_to(mod, job, step);
	if (step == STEP_QUEUED || step == STEP_ROUTING || step == STEP_BEGUN) {
		if (!keel_is_set(job, job_etime))
			keel_set_int(job, job_etime, keel_time(mod));
		scheduler_wake(mod);
	} else {
		keel_unset(job, job_etime, NULL);
		if (step == STEP_WAITING || step == STEP_STAGE_FAILED) {
			j = job_slot(mod, job);
			seconds = when - keel_time(mod);
			keel_timer_cancel(j->timer);
			if (seconds > 86400)
				seconds = 86400; /* evaluated again then */
			j->timer = keel_timer(mod, seconds * 1000, time_came, job);
		}
	}
}

#define STAGE_AGAIN_S 1800

void job_stage(struct keel_mod *mod, struct keel_obj *job, int32_t stage)
{
	struct job *j = job_slot(mod, job);

	if (stage == KEEL_STAGE_IN_FAILED && step_is_running(j->step)) {
		j->stage_failed = true;
		if (keel_get_int(job, job_Execution_Time) <= keel_time(mod))
			keel_set_int(job, job_Execution_Time, keel_time(mod) + STAGE_AGAIN_S);
	}
	if (stage == KEEL_STAGE_OUT_FAILED)
		keel_set_int(job, job_Stageout_status, 0);
	if (stage == KEEL_STAGE_OUT && j->step == STEP_RUNNING) {
		step_log(mod, job, 'E', KEEL_SUB_EXITING, KEEL_SUB_EXITING);
		step_to(mod, job, STEP_STAGING_OUT);
	}
	if (stage != KEEL_STAGE_IN || j->step != STEP_SENT)
		return;
	keel_set_int(job, job_substate, stage);
	step_log(mod, job, steps[j->step].letter, stage, stage);
	step_notify(mod, job);
}

void scheduler_wake(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->changed)
		st->changed(st->listener);
}

const char *job_text(struct keel_obj *job, const struct keel_attr *attr)
{
	const char *text = keel_get_str(job, attr);

	return text ? text : "";
}

const char *job_id(struct keel_mod *mod, struct keel_obj *job)
{
	(void)mod;
	return keel_id(job);
}

struct keel_obj *job_queue(struct keel_mod *mod, struct keel_obj *job)
{
	return keel_find(mod, "queue", job_text(job, attr_job_queue));
}
