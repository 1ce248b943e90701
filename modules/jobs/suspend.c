/* SPDX-License-Identifier: Apache-2.0
 *
 * suspend.c - stop and continue a running job: the order of the steps, for requests and modules alike.
 *
 * suspend: host stopped the processes -> which resources? -> z record -> those back -> substate 43 -> point job_suspended -> answer.
 * resume:  point job_resume -> resources again -> host continues -> point job_resumed -> 42 -> answer;
 *          a host that refuses: resources back, everything else untouched.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, run_version, released_names);

struct step_request {
	char *id, *signal, *who;
	int64_t run_version;
	bool waits; /* for a scheduler to resume it, at once */
	struct keel_mod *me;
	keel_job_done *done;
	void *arg;
};

static void request_free(struct step_request *r)
{
	free(r->id);
	free(r->signal);
	free(r->who);
	free(r);
}

static void finish(struct step_request *r, int32_t code, const char *text)
{
	r->done(r->me, r->arg, code, text);
	request_free(r);
}

static struct step_request *request_new(struct keel_mod *mod, struct keel_obj *job,
					const char *signal, const char *who, struct keel_mod *me,
					keel_job_done *done, void *arg)
{
	struct step_request *r = calloc(1, sizeof(*r));

	if (!r || !(r->id = strdup(job_id(mod, job))) || !(r->signal = strdup(signal)) ||
	    !(r->who = strdup(who))) {
		if (r)
			request_free(r);
		done(me, arg, PBSE_SYSTEM, "System error: out of memory");
		return NULL;
	}
	r->run_version = keel_get_int(job, job_run_version);
	r->me = me;
	r->done = done;
	r->arg = arg;
	return r;
}

/* The job the request is about, if it is still in that run and R. */
static struct keel_obj *still_there(struct keel_mod *mod, const struct step_request *r)
{
	struct keel_obj *job = keel_find(mod, "job", r->id);

	if (!job || keel_get_int(job, job_run_version) != r->run_version ||
	    !step_is_running(job_slot(mod, job)->step))
		return NULL;
	return job;
}

/* ---- suspend ------------------------------------------------------------------------------------------- */

/* The processes are stopped, and the point suspend_release has said what comes free. */
static void freed(struct keel_mod *mod, void *arg, const char *names)
{
	struct step_request *r = arg;
	struct keel_obj *job = still_there(mod, r);

	if (!job) {
		finish(r, PBSE_UNKJOBID, NULL);
		return;
	}
	job_slot(mod, job)->busy = false;
	if (job_slot(mod, job)->step == STEP_SENT)
		job_begin(mod, job, 0); /* the report of its start is still on its way */
	release_apply(mod, job, names);
	keel_acct_job('z', job);
	stopped_note(mod, job, r->signal, r->who);
	step_to(mod, job, r->waits ? STEP_SCHED_SUSPENDED : STEP_SUSPENDED);
	if (job_slot(mod, job)->ending)
		release_undo(mod, job); /* deleted meanwhile */
	keel_note(mod, KEEL_POINT_job_suspended,
		  KEEL_EVENT(job_suspended, .id = r->id, .job = job, .signal = r->signal,
			     .who = r->who));
	finish(r, 0, NULL);
}

static void stopped(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct step_request *r = arg;
	struct keel_obj *job = still_there(mod, r);

	if (code || !job) {
		if (job)
			job_slot(mod, job)->busy = false;
		finish(r, code ? code : PBSE_UNKJOBID, text);
		return;
	}
	release_ask(mod, job, freed, r);
}

void job_suspend(struct keel_mod *mod, struct keel_obj *job, const char *signal, const char *who, bool waits,
		 struct keel_mod *me, keel_job_done *done, void *arg)
{
	struct job *j = job_slot(mod, job);
	struct step_request *r;

	if ((j->step != STEP_RUNNING && j->step != STEP_SENT) || j->busy || j->ending) {
		keel_log(mod, KEEL_LOG_DEBUG, "Req", job_id(mod, job),
			 "Execution server rejected request");
		done(me, arg, PBSE_BADSTATE, NULL);
		return;
	}
	r = request_new(mod, job, signal, who, me, done, arg);
	if (!r)
		return;
	r->waits = waits;
	j->busy = true;
	keel_task_signal(job, "suspend", r->signal, mod, stopped,
			 r);
}

/* ---- resume ---------------------------------------------------------------------------------------------- */

static void continued(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct step_request *r = arg;
	struct keel_obj *job = still_there(mod, r);

	if (job)
		job_slot(mod, job)->busy = false;
	if (code && job && step_is_suspended(job_slot(mod, job)->step) && !job_slot(mod, job)->ending)
		job_release(mod, job, released(mod, job)); /* it stays as it was */
	if (code || !job) {
		finish(r, code ? code : PBSE_UNKJOBID, text);
		return;
	}
	keel_note(mod, KEEL_POINT_job_resumed,
		  KEEL_EVENT(job_resumed, .id = r->id, .job = job, .signal = r->signal,
			     .who = r->who));
	keel_unset(job, job_released_names, NULL);
	comment_started(mod, job, "Job run at");
	step_to(mod, job, STEP_RUNNING);
	keel_acct_record('r', r->id, "");
	finish(r, 0, NULL);
}

static void resume_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct step_request *r = arg;
	struct keel_obj *job = still_there(mod, r);
	struct keel_err err = { 0 };
	int32_t code;

	if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE) {
		if (job)
			job_slot(mod, job)->busy = false;
		finish(r, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
		return;
	}
	if (!job || !step_is_suspended(job_slot(mod, job)->step)) {
		finish(r, job ? PBSE_BADSTATE : PBSE_UNKJOBID, NULL);
		return;
	}
	code = job_occupy(mod, job, &err);
	if (code) {
		job_slot(mod, job)->busy = false;
		finish(r, code, err.text);
		return;
	}
	keel_task_signal(job, "resume", r->signal, mod, continued,
			 r);
}

void job_resume(struct keel_mod *mod, struct keel_obj *job, const char *signal, const char *who,
		struct keel_mod *me, keel_job_done *done, void *arg)
{
	struct job *j = job_slot(mod, job);
	struct step_request *r;

	if (!step_is_suspended(j->step) || j->busy || j->ending) {
		done(me, arg, PBSE_BADSTATE, NULL);
		return;
	}
	r = request_new(mod, job, signal, who, me, done, arg);
	if (!r)
		return;
	j->busy = true;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_job_resume,
		.event = KEEL_EVENT(job_resume, .id = r->id, .job = job, .signal = r->signal,
			       .who = r->who),
		.done = resume_decided,
		.arg = r,
	});
}

void job_resume_waiting(struct keel_mod *mod, struct keel_obj *job, struct keel_mod *me,
			keel_job_done *done, void *arg)
{
	struct state *st = mod->state;
	char who[300] = "Scheduler@";

	strncat(who, keel_host_name(mod), sizeof(who) - strlen(who) - 1);
	if (shutting_down(st)) { /* it goes on with the next server */
		done(me, arg, PBSE_SVRDOWN, NULL);
		return;
	}
	if (job_slot(mod, job)->step != STEP_SCHED_SUSPENDED) {
		done(me, arg, PBSE_BADSTATE, NULL);
		return;
	}
	keel_log(mod, KEEL_LOG_ADMIN, "Job", job_id(mod, job), "resume job by %s", who);
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "job signaled with resume by %s",
		 who);
	job_resume(mod, job, "resume", who, me, done, arg);
}
