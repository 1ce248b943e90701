/* SPDX-License-Identifier: Apache-2.0
 *
 * service.c - the service "job".
 */
#include "jobs.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

KEEL_ATTRS_OF(job, stime, comment, refused_for);

/* A job in a routing queue is in transit, except in listings. */
static char api_state(struct keel_mod *mod, struct keel_obj *job)
{
	enum step step = job_slot(mod, job)->step;

	return step == STEP_ROUTING ? 'T' : step_letter(step);
}

static int32_t api_substate(struct keel_mod *mod, struct keel_obj *job)
{
	return step_substate(job_slot(mod, job)->step);
}

static bool api_is_suspended(struct keel_mod *mod, struct keel_obj *job)
{
	return step_is_suspended(job_slot(mod, job)->step);
}

static void api_comment(struct keel_mod *mod, struct keel_obj *job, const char *text)
{
	char both[2048];

	if (job_role(mod, job) == ROLE_WHOLE && keel_is_set(job, job_stime))
		return; /* its comment says when the array began */
	/* Why it is not tried may follow from what it met when it was. */
	if (keel_is_set(job, job_refused_for) && strstr(job_text(job, job_refused_for), text) == NULL) {
		snprintf(both, sizeof(both), "%.1500s" KEEL_JOB_LAST_TRY "%.400s", text, job_text(job, job_refused_for));
		text = both;
	}
	if (strcmp(job_text(job, job_comment), text) != 0)
		keel_set_str(job, job_comment, text);
}

static void api_on_change(struct keel_mod *mod, struct keel_mod *me, void (*fn)(struct keel_mod *))
{
	struct state *st = mod->state;

	st->listener = me;
	st->changed = fn;
}

static void api_on_run(struct keel_mod *mod, struct keel_mod *me,
		       void (*fn)(struct keel_mod *, struct keel_obj *, const char *,
				  struct keel_mod *, keel_job_done *, void *))
{
	struct state *st = mod->state;

	st->runner = me;
	st->run_request = fn;
}

static int32_t api_permit(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *theirs,
			  uint32_t roles)
{
	struct keel_job_ask ask;

	KEEL_SIZED(&ask, theirs);
	return ask_permit(mod, job, &ask, roles);
}

static int64_t api_next_number(struct keel_mod *mod)
{
	struct state *st = mod->state;

	return st->next_sequence;
}

static void api_suspend(struct keel_mod *mod, struct keel_obj *job, const char *signal, const char *who,
			struct keel_mod *me, keel_job_done *done, void *arg)
{
	job_suspend(mod, job, signal, who, false, me, done, arg);
}

static void api_ask(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *theirs,
		    struct keel_mod *me, keel_job_done *done, void *arg)
{
	struct keel_job_ask ask;

	KEEL_SIZED(&ask, theirs);
	if (ask.verb && ask.who)
		ask_job(mod, job, &ask, &(struct callback){ me, done, arg });
	else
		done(me, arg, PBSE_IVALREQ, "an act on a job has a verb and says in whose name");
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

static const struct keel_job_api service = {
	.size = sizeof(struct keel_job_api),
	.state = api_state,
	.substate = api_substate,
	.is_suspended = api_is_suspended,
	.suspend = api_suspend,
	.resume = job_resume,
	.signal_done = signal_done,
	.run = job_run,
	.resume_waiting = job_resume_waiting,
	.set_comment = api_comment,
	.on_change = api_on_change,
	.on_run_request = api_on_run,
	.request_delete = job_request_delete,
	.request_rerun = job_request_rerun,
	.request_suspend = job_request_suspend,
	.request_checkpoint = job_request_checkpoint,
	.may_run = job_may_run,
	.waiting = job_waiting,
	.release_names = release_names,
	.released = released,
	.ask = api_ask,
	.move = job_move,
	.destination = destination_find,
	.abort = job_abort,
	.depend = job_depend,
	.next_number = api_next_number,
	.members = job_members,
	.permit = api_permit,
	.signal = signal_find,
	.adopt = part_adopt,
	.back = part_back,
	.waits = whole_waits,
	.finish = whole_finish,
	.settle = part_settle,
	.erase = job_erase,
	.letter = job_letter,
	.shrink = job_shrink,
	.stage = job_stage,
	.take_number = sequence_next,
	.put = job_put,
	.change = job_change,
	.remark = remark_put,
};
const struct keel_service_def job_service = {
	.size = sizeof(struct keel_service_def),
	.name = "job",
	.table = &service,
	.doc = "states of jobs and the steps between them",
};
