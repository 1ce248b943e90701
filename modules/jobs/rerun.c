/* SPDX-License-Identifier: Apache-2.0
 *
 * rerun.c - a running job goes back to its queue.
 */
#include "jobs.h"

#include <string.h>

static void clear_run(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const struct keel_attr *const run[] = { st->a.exec_vnode, st->a.exec_host, st->a.session,
						st->a.stime,	  st->a.obittime,  st->a.used,
						st->a.comment,	  st->a.ending,	   st->a.etime,
						st->a.jobdir };
	size_t i;

	for (i = 0; i < KEEL_COUNT(run); i++)
		st->object->unset(job, run[i], NULL);
}

void job_requeue(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);
	bool ran = st->object->is_set(job, st->a.stime);
	struct keel_req *rerun = j->rerun;

	if (ran) {
		st->object->set_int(job, st->a.exit_status, exit_status);
		st->acct->job(st->acct->self, 'R', job);
	}
	job_vacate(mod, job, true);
	st->hook->note(mod, KEEL_POINT_job_purged,
		       KEEL_EVENT(job_purged, .id = job_id(mod, job), .job = job, .requeued = 1));
	clear_run(mod, job);
	j->ending = ENDING_NONE;
	j->rerun = NULL;
	j->busy = false;
	if (st->object->get_int(job, st->a.run_count) > RUNS_MAX) {
		st->object->set_int(job, st->a.holds,
				    st->object->get_int(job, st->a.holds) | HOLD_SYSTEM);
		st->object->set_str(job, st->a.comment, "job held, too many failed attempts to run");
	}
	step_evaluate(mod, job);
	if (rerun)
		st->request->reply(rerun, 0, NULL);
}

void on_rerun(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	struct keel_obj *job = job_for(mod, req, KEEL_OPERATORS);
	const char *extend = st->msg->str(st->request->body(req), "extend");
	bool force = extend && strstr(extend, "force");
	struct job *j;

	if (!job)
		return;
	j = job_slot(mod, job);
	if (force ? !step_is_running(j->step) : j->step != STEP_RUNNING || j->ending || j->busy) {
		st->request->reply(req, PBSE_BADSTATE, NULL);
		return;
	}
	if (!force && !st->object->get_int(job, st->a.rerunable)) {
		st->request->reply(req, PBSE_NORERUN, NULL);
		return;
	}
	st->core->log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Job Rerun at request of %s",
		      st->request->session(req)->who);
	j->rerun = req;
	if (force) {
		st->core->log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job),
			      "Discard running job, Force rerun ");
		st->task->discard(st->task->self, job);
		job_requeue(mod, job, -11);
		return;
	}
	j->ending = ENDING_RERUN;
	st->object->set_str(job, st->a.ending, "");
	step_to(mod, job, STEP_RERUNNING);
	st->task->kill(st->task->self, job, 0);
}
