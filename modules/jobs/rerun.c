/* SPDX-License-Identifier: Apache-2.0
 *
 * rerun.c - a running job goes back to its queue.
 */
#include "jobs.h"

#include <string.h>

KEEL_ATTRS_OF(job, checkpointed, exec_vnode, exec_host, session_id, stime, obittime,
	      resources_used, comment, ending, etime, jobdir, released_names, unremembered,
	      run_count, Hold_Types, Exit_status);
KEEL_ATTRS_OF(job, Rerunable, ran, remark);
KEEL_ATTR_OF(server, job_requeue_timeout);

#define RERUN_STATUS (-11)
#define ANSWER_SECONDS 45 /* job_requeue_timeout that is not set */

/* ---- the waiting request --------------------------------------------------------------------------- */

void rerun_answer(struct job *j, int32_t code)
{
	keel_timer_cancel(j->rerun_timer);
	j->rerun_timer = NULL;
	callback_end(&j->rerun, code, NULL);
}

/* The request times out with an error; the rerun itself goes on. */
static void answer_due(struct keel_mod *mod, void *arg)
{
	struct job *j = job_slot(mod, arg); /* which cancels the timer when the job goes */

	j->rerun_timer = NULL;
	callback_end(&j->rerun, PBSE_INTERNAL, "Response timed out. Job rerun request still in progress for");
}

/* ---- back into the queue -------------------------------------------------------------------------- */

static void back_in_queue(struct keel_mod *mod, struct keel_obj *job)
{
	const bool saved = keel_is_set(job, job_checkpointed); /* it goes on where it was */
	const struct keel_attr *const run[] = { job_exec_vnode, job_exec_host, job_session_id,
						job_stime,	  job_obittime,  job_resources_used,
						job_comment,	  job_ending,	   job_etime,
						job_jobdir,	  job_released_names,  job_unremembered, job_remark };
	struct job *j = job_slot(mod, job);

	for (size_t i = saved ? 2 : 0; i < KEEL_COUNT(run); i++)
		keel_unset(job, run[i], NULL);
	shrink_undo(job);
	saving_over(job);
	j->ending = ENDING_NONE;
	j->busy = false;
	if (keel_get_int(job, job_run_count) > RUNS_MAX) {
		keel_set_int(job, job_Hold_Types,
			     keel_get_int(job, job_Hold_Types) | HOLD_SYSTEM);
		held_note(mod, job, HOLD_SYSTEM, true, "the server, since too many starts have failed");
		keel_set_str(job, job_comment, "job held, too many failed attempts to run");
	}
	step_evaluate(mod, job);
}

void job_requeue(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status)
{
	struct job *j = job_slot(mod, job);
	bool ran = keel_is_set(job, job_stime);
	struct callback *rerun = j->rerun, *run = j->run;

	j->rerun = j->run = NULL;
	keel_timer_cancel(j->rerun_timer);
	j->rerun_timer = NULL;
	if (j->ending == ENDING_RERUN)
		step_log(mod, job, 'E', KEEL_SUB_RERUN, KEEL_SUB_RERUN + 3);
	else if (ran && outcome_of(job, exit_status) == OUTCOME_QUEUED)
		step_log(mod, job, 'E', KEEL_SUB_RERUN + 2, KEEL_SUB_RERUN + 3);
	if (ran) {
		keel_set_int(job, job_Exit_status, exit_status);
		if (keel_is_set(job, job_session_id))
			keel_set_int(job, job_ran, 1);
		if (j->ending != ENDING_CHECKPOINT) /* its C is written */
			keel_acct_job('R', job);
	}
	keel_note(mod, KEEL_POINT_job_ended,
		  KEEL_EVENT(job_ended, .id = job_id(mod, job), .job = job, .requeued = 1, .ran = ran));
	job_vacate(mod, job, true);
	keel_note(mod, KEEL_POINT_job_purged,
		  KEEL_EVENT(job_purged, .id = job_id(mod, job), .job = job, .requeued = 1));
	if (job_role(mod, job) == ROLE_PART)
		part_back(mod, job);
	else
		back_in_queue(mod, job);
	callback_end(&rerun, 0, NULL);
	callback_end(&run, PBSE_BADSTATE, NULL); /* it was started, and that came to nothing */
}

/* May it be rerun? 0, or a PBSE code: 15016 state, 15038 not rerunable, 15070 its host is away. */
static int32_t rerun_objection(struct keel_mod *mod, struct keel_obj *job, bool force)
{
	struct job *j = job_slot(mod, job);

	if (force)
		return step_is_running(j->step) ? 0 : PBSE_BADSTATE;
	if (j->step != STEP_RUNNING || j->ending || j->busy)
		return PBSE_BADSTATE;
	if (!keel_get_int(job, job_Rerunable))
		return PBSE_NORERUN;
	return host_is_linked(mod, job) ? 0 : PBSE_NORELYMOM;
}

static void rerun(struct keel_mod *mod, struct keel_obj *job, const char *who, int64_t delay_ms)
{
	struct job *j = job_slot(mod, job);

	j->ending = ENDING_RERUN;
	keel_unset(job, job_ending, NULL); /* the step says it */
	step_to(mod, job, STEP_RERUNNING);
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Job Rerun at request of %s", who);
	keel_task_kill(job, delay_ms);
}

void rerun_one(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *ask,
	       const struct callback *callback)
{
	bool force = ask->detail && strstr(ask->detail, "force");
	int32_t code = ask_permit(mod, job, ask, KEEL_OPERATORS);
	struct keel_obj *server;
	struct job *j;
	int64_t seconds = ANSWER_SECONDS;

	if (!code)
		code = rerun_objection(mod, job, force);
	if (!code) {
		/* `callback` runs when the job is queued again, or after job_requeue_timeout. */
		server = keel_find(mod, "server", keel_server_name(mod));
		j = job_slot(mod, job);
		if (keel_is_set(server, server_job_requeue_timeout))
			seconds = keel_get_int(server, server_job_requeue_timeout);
		rerun_answer(j, 0); /* an earlier request, which this forced one overtakes */
		j->rerun = callback_keep(callback);
		j->rerun_timer = j->rerun ? keel_timer(mod, seconds * 1000, answer_due, job) : NULL;
		code = j->rerun ? 0 : PBSE_SYSTEM;
	}
	if (code) {
		callback_call(callback, code, NULL);
	} else if (force) {
		keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Job Rerun at request of %s",
			 ask->who);
		keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job),
			 "Discard running job, Force rerun ");
		job_slot(mod, job)->forced = true;
		keel_task_discard(job);
		job_requeue(mod, job, RERUN_STATUS);
	} else {
		rerun(mod, job, ask->who, 0);
	}
}

/* It starts again only now. */
void task_discarded(struct keel_mod *mod, const char *id)
{
	struct keel_obj *job = keel_find(mod, "job", id);
	struct job *j = job ? job_slot(mod, job) : NULL;

	if (!j || !j->forced)
		return;
	j->forced = false;
	keel_log(mod, KEEL_LOG_JOB, "Job", id, "Job requeued, discard response received");
}

void on_rerun(struct keel_mod *mod, struct keel_req *req)
{
	ask_request(mod, req, "rerun", keel_msg_str(keel_req_body(req), "extend"));
}

void job_request_rerun(struct keel_mod *mod, struct keel_obj *job, const char *who,
		       struct keel_mod *me, keel_job_done *done, void *arg)
{
	int32_t code = rerun_objection(mod, job, false);

	if (!code)
		rerun(mod, job, who, job_kill_delay(mod, job));
	done(me, arg, code, NULL);
}
