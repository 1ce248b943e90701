/* SPDX-License-Identifier: Apache-2.0
 *
 * end.c - a job's processes are gone: what that means, and what is left of the job.
 */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KILLED_STATUS (256 + 9)
#define RERUN_STATUS (-11)

/* Among the items when some output could not be placed. */
static const char not_delivered[] = "Stageout_status=0";

static bool delivered(const char *const *items, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(items[i], not_delivered) == 0)
			return false;
	return true;
}

void task_used(struct keel_mod *mod, struct keel_obj *job, const char *const *items, uint32_t n)
{
	struct state *st = mod->state;
	char name[128];
	uint32_t i;

	for (i = 0; i < n; i++) {
		size_t len = strcspn(items[i], "=");

		if (!items[i][len] || len >= sizeof(name) || strcmp(items[i], not_delivered) == 0)
			continue;
		memcpy(name, items[i], len);
		name[len] = '\0';
		st->object->set_text(job, st->a.used, KEEL_SET, name, items[i] + len + 1, NULL);
	}
}

static void log_usage(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const struct keel_reslist *used = st->object->get_ptr(job, st->a.used);
	char text[1024], amount[128];
	size_t at = 0;
	uint32_t i;

	at += (size_t)snprintf(text, sizeof(text), "Exit_status=%lld",
			       (long long)st->object->get_int(job, st->a.exit_status));
	for (i = 0; i < st->resource->list_count(used) && at < sizeof(text); i++) {
		const struct keel_res_value *v = st->resource->list_at(used, i);

		st->resource->value_text(v, true, amount, sizeof(amount));
		at += (size_t)snprintf(text + at, sizeof(text) - at, " resources_used.%s=%s", v->res->name,
				       amount);
	}
	st->core->log(mod, KEEL_LOG_USAGE, "Job", job_id(mod, job), "%s", text);
}

static void comment_append(struct keel_mod *mod, struct keel_obj *job, const char *words)
{
	struct state *st = mod->state;
	const char *comment = st->object->get_str(job, st->a.comment);
	char *text;

	if (!comment || asprintf(&text, "%s%s", comment, words) < 0)
		return;
	st->object->set_str(job, st->a.comment, text);
	free(text);
}

void comment_ended_by(struct keel_mod *mod, struct keel_obj *job, const char *who)
{
	struct state *st = mod->state;
	const char *comment = st->object->get_str(job, st->a.comment);
	char words[300];
	size_t len;

	snprintf(words, sizeof(words), " and terminated by %s", who);
	len = strlen(words);
	if (comment && (strlen(comment) < len || strcmp(comment + strlen(comment) - len, words) != 0))
		comment_append(mod, job, words);
}

/* ` and finished`, ` and failed`, ` and terminated by who` behind the comment of a job that ran. */
static void comment_end(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct state *st = mod->state;
	const char *by = st->object->get_str(job, st->a.ending);
	char words[300];

	if (!st->object->is_set(job, st->a.stime))
		return;
	if (step == STEP_TERMINATED && by && *by) {
		comment_ended_by(mod, job, by);
		return;
	}
	if (step == STEP_TERMINATED && job_role(mod, job) == ROLE_PART) { /* forced out */
		st->object->set_str(job, st->a.comment, "Subjob finished");
		return;
	}
	snprintf(words, sizeof(words), " and %s",
		 step == STEP_TERMINATED ? "terminated"
		 : step == STEP_FINISHED ? "finished"
					 : "failed");
	if (st->object->get_int(job, st->a.exit_status) == -29)
		snprintf(words, sizeof(words), " and exceeded resource walltime");
	comment_append(mod, job, words);
}

static void forget(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);
	bool part = job_role(mod, job) == ROLE_PART;
	bool keep = history_on(mod) && !st->object->is_set(job, st->a.unremembered);

	waiters_answer(mod, job, step);
	if (!keep && !part && st->object->get_int(job, st->a.block))
		ended_keep(mod, job, step);
	if (part && !keep)
		part_over(mod, job, step, false);
	if (keep) {
		st->object->set_int(job, st->a.history_time, st->core->time(mod));
		st->object->unset(job, st->a.ending, NULL);
		j->ending = ENDING_NONE;
		step_to(mod, job, part ? step_of('X', false, step_substate(step)) : step);
		if (part)
			part_over(mod, job, step, true);
		else
			st->blob->put(job, "script", NULL, 0);
	} else {
		job_leave(mod, job);
	}
	scheduler_wake(mod);
}

void job_over(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);
	const char *id = job_id(mod, job);
	bool ran = st->object->is_set(job, st->a.exit_status);

	callback_end(&j->run, PBSE_BADSTATE, NULL);
	rerun_answer(mod, j, PBSE_BADSTATE);
	st->core->timer_cancel(j->timer);
	j->timer = NULL;
	if (ran) {
		if (step_is_running(j->step)) { /* its host has staged out and deleted already */
			step_to(mod, job, STEP_EXITING);
			step_log(mod, job, 'E', KEEL_SUB_EXITING + 1, KEEL_SUB_EXITED);
		}
		log_usage(mod, job);
		st->hook->note(mod, KEEL_POINT_job_obit,
			       KEEL_EVENT(job_obit, .id = id, .job = job,
					  .exit_status = st->object->get_int(job, st->a.exit_status)));
		comment_end(mod, job, step);
		if (st->object->get_int(job, st->a.run_version) || job_role(mod, job) == ROLE_WHOLE)
			st->acct->job(st->acct->self, 'E', job);
	}
	job_vacate(mod, job, true);
	st->object->unset(job, st->a.released, NULL);
	st->hook->note(mod, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = id, .job = job));
	forget(mod, job, step);
}

void task_ended(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status, int64_t session,
		const char *const *items, uint32_t n)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);
	enum step step = exit_status == 0 ? STEP_FINISHED : STEP_FAILED;

	if (!step_is_running(j->step)) { /* reported twice */
		st->task->ended_done(st->task->self, job);
		return;
	}
	st->core->log(mod, KEEL_LOG_DEBUG, "Job", job_id(mod, job),
		      "Obit received momhop:1 serverhop:1 state:R substate:%d", step_substate(j->step));
	if (j->step == STEP_SENT)
		job_begin(mod, job, session);
	task_used(mod, job, items, n);
	st->object->set_int(job, st->a.obittime, st->core->time(mod));
	st->task->ended_done(st->task->self, job);
	if (exit_status == SAVED_STATUS && j->ending == ENDING_NONE)
		job_saved(mod, job); /* its request has no answer yet */
	else if (exit_status == SAVED_STATUS)
		exit_status = KILLED_STATUS;
	if (j->ending == ENDING_RERUN || j->ending == ENDING_CHECKPOINT) {
		job_requeue(mod, job, j->ending == ENDING_RERUN ? RERUN_STATUS : SAVED_STATUS);
		return;
	}
	st->object->set_int(job, st->a.exit_status, exit_status);
	st->object->set_int(job, st->a.stageout_status, delivered(items, n));
	job_over(mod, job, j->ending == ENDING_DELETE ? STEP_TERMINATED : step);
}

/* The host is back without the job: its processes are gone with what they did. */
void task_lost(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);

	if (!step_is_running(j->step))
		return;
	if (j->ending == ENDING_DELETE) {
		st->object->set_int(job, st->a.exit_status, KILLED_STATUS);
		job_over(mod, job, STEP_TERMINATED);
	} else if (j->ending == ENDING_CHECKPOINT) {
		job_requeue(mod, job, SAVED_STATUS);
	} else if (j->step == STEP_SENT || st->object->get_int(job, st->a.rerunable)) {
		st->core->log(mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN | KEEL_LOG_DEBUG, "Job",
			      job_id(mod, job), "Requeueing job, substate: %d Requeued in queue: %s",
			      step_substate(j->step), job_text(mod, job, st->a.queue));
		job_requeue(mod, job, -14);
	} else {
		st->object->set_int(job, st->a.exit_status, -14);
		job_over(mod, job, STEP_FAILED);
	}
}

void job_discard(struct keel_mod *mod, struct keel_obj *job, bool ran)
{
	struct state *st = mod->state;

	if (ran) {
		st->core->log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job),
			      "Discard running job, Forced Delete ");
		st->task->discard(st->task->self, job);
		st->object->set_int(job, st->a.exit_status, KILLED_STATUS);
		st->object->unset(job, st->a.ending, NULL);
	}
	job_over(mod, job, STEP_TERMINATED);
}
