/* SPDX-License-Identifier: Apache-2.0
 *
 * abort.c - the server itself ends a job that has not started, without a request.
 */
#include "jobs.h"

void job_notice(struct keel_mod *mod, struct keel_obj *job, const char *letter, const char *text)
{
	struct state *st = mod->state;

	st->hook->note(mod, KEEL_POINT_job_notice,
		       KEEL_EVENT(job_notice, .id = job_id(mod, job), .job = job, .letter = letter,
				  .text = text));
}

void job_abort(struct keel_mod *mod, struct keel_obj *job, const char *why)
{
	struct state *st = mod->state;
	const char *id = job_id(mod, job);

	if (!step_is_pending(job_slot(mod, job)->step))
		return;
	st->core->log(mod, KEEL_LOG_JOB, "Job", id, "%s", why);
	st->object->set_str(job, st->a.comment, why);
	st->acct->record(st->acct->self, 'A', id, why);
	job_notice(mod, job, "a", why);
	job_over(mod, job, STEP_TERMINATED);
}
