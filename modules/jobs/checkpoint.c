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

struct saving {
	struct keel_mod *me;
	keel_job_done *done;
	void *arg;
	int64_t run;
	char id[];
};

void saving_over(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	int64_t have = st->object->get_int(job, st->a.holds);

	if (have & HOLD_SAVING)
		st->object->set_int(job, st->a.holds, have & ~(int64_t)HOLD_SAVING);
}

void job_saved(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	job_slot(mod, job)->ending = ENDING_CHECKPOINT;
	st->object->unset(job, st->a.ending, NULL);
	if (st->object->is_set(job, st->a.checkpointed)) /* recorded before the server was killed */
		return;
	st->object->set_int(job, st->a.checkpointed, 1);
	st->acct->record(st->acct->self, 'C', job_id(mod, job), "");
}

static void saving_answered(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct saving *s = arg;
	struct keel_obj *job = st->object->find(mod, "job", s->id);
	struct job *j = job ? job_slot(mod, job) : NULL;

	if (!j || !step_is_running(j->step) ||
	    st->object->get_int(job, st->a.run_version) != s->run) {
		code = code ? code : PBSE_BADSTATE; /* it ended by itself */
	} else {
		j->busy = false;
		saving_over(mod, job);
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
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);

	if (job_role(mod, job) == ROLE_PART)
		return PBSE_IVALREQ;
	if (j->step != STEP_RUNNING || j->busy || j->ending)
		return PBSE_BADSTATE;
	return strcmp(job_text(mod, job, st->a.checkpoint), "n") == 0 ? PBSE_NOSUP : 0;
}

void job_save(struct keel_mod *mod, struct keel_obj *job, struct keel_mod *me, keel_job_done *done,
	      void *arg)
{
	struct state *st = mod->state;
	const char *id = job_id(mod, job);
	int32_t code = saving_objection(mod, job);
	struct saving *s = code ? NULL : calloc(1, sizeof(*s) + strlen(id) + 1);

	if (!s) {
		saving_over(mod, job);
		done(me, arg, code ? code : PBSE_SYSTEM, NULL);
		return;
	}
	s->me = me;
	s->done = done;
	s->arg = arg;
	s->run = st->object->get_int(job, st->a.run_version);
	strcpy(s->id, id);
	job_slot(mod, job)->busy = true;
	st->task->checkpoint(st->task->self, job, mod, saving_answered, s);
}

void job_request_checkpoint(struct keel_mod *mod, struct keel_obj *job, const char *who,
			    struct keel_mod *me, keel_job_done *done, void *arg)
{
	struct state *st = mod->state;
	int32_t code = saving_objection(mod, job);

	if (code) {
		done(me, arg, code, NULL);
		return;
	}
	st->object->set_int(job, st->a.holds, st->object->get_int(job, st->a.holds) | HOLD_SAVING);
	st->core->log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Holds s set at request of %s", who);
	job_save(mod, job, me, done, arg);
}
