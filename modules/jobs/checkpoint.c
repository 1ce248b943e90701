/* SPDX-License-Identifier: Apache-2.0
 *
 * checkpoint.c - a running job is saved by its host and goes back to its queue, to go on there later.
 *
 * A system hold shows meanwhile that it is being saved. Saved: the run is over with Exit_status -12 and the job keeps
 * its exec_vnode, the only place where it can be started again. Refused: it is as it was. The caller is forgotten when
 * the server ends meanwhile; the host's report of the run's end says whether the job was saved.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, Hold_Types, ending, checkpointed, run_version, Checkpoint);

struct saving {
	struct keel_mod *me;
	keel_job_done *done;
	void *arg;
	int64_t run;
	char id[];
};

void saving_over(struct keel_obj *job)
{
	int64_t have = keel_get_int(job, job_Hold_Types);

	if (have & HOLD_SAVING)
		keel_set_int(job, job_Hold_Types, have & ~(int64_t)HOLD_SAVING);
}

void job_saved(struct keel_mod *mod, struct keel_obj *job)
{
	job_slot(mod, job)->ending = ENDING_CHECKPOINT;
	keel_unset(job, job_ending, NULL);
	if (keel_is_set(job, job_checkpointed)) /* recorded before the server was killed */
		return;
	keel_set_int(job, job_checkpointed, 1);
	keel_acct_record('C', job_id(mod, job), "");
}

static void saving_answered(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct saving *s = arg;
	struct keel_obj *job = keel_find(mod, "job", s->id);
	struct job *j = job ? job_slot(mod, job) : NULL;

	if (!j || !step_is_running(j->step) ||
	    keel_get_int(job, job_run_version) != s->run) {
		code = code ? code : PBSE_BADSTATE; /* it ended by itself */
	} else {
		j->busy = false;
		saving_over(job);
		if (!code && j->ending)
			code = PBSE_BADSTATE; /* it is deleted or rerun meanwhile */
		if (!code)
			job_saved(mod, job);
	}
	s->done(s->me, s->arg, code, text);
	free(s);
}

static int32_t saving_objection(struct keel_mod *mod, struct keel_obj *job)
{
	struct job *j = job_slot(mod, job);

	if (job_role(mod, job) == ROLE_PART)
		return PBSE_IVALREQ;
	if (j->step != STEP_RUNNING || j->busy || j->ending)
		return PBSE_BADSTATE;
	return strcmp(job_text(job, job_Checkpoint), "n") == 0 ? PBSE_NOSUP : 0;
}

void job_save(struct keel_mod *mod, struct keel_obj *job, struct keel_mod *me, keel_job_done *done,
	      void *arg)
{
	const char *id = job_id(mod, job);
	int32_t code = saving_objection(mod, job);
	struct saving *s = code ? NULL : calloc(1, sizeof(*s) + strlen(id) + 1);

	if (!s) {
		saving_over(job);
		done(me, arg, code ? code : PBSE_SYSTEM, NULL);
		return;
	}
	s->me = me;
	s->done = done;
	s->arg = arg;
	s->run = keel_get_int(job, job_run_version);
	strcpy(s->id, id);
	job_slot(mod, job)->busy = true;
	keel_task_checkpoint(job, mod, saving_answered, s);
}

void job_request_checkpoint(struct keel_mod *mod, struct keel_obj *job, const char *who,
			    struct keel_mod *me, keel_job_done *done, void *arg)
{
	int32_t code = saving_objection(mod, job);

	if (code) {
		done(me, arg, code, NULL);
		return;
	}
	keel_set_int(job, job_Hold_Types, keel_get_int(job, job_Hold_Types) | HOLD_SAVING);
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Holds s set at request of %s", who);
	job_save(mod, job, me, done, arg);
}
