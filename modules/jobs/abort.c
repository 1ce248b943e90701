/* SPDX-License-Identifier: Apache-2.0
 *
 * abort.c - the server itself ends a job that has not started, without a request.
 */
#include "jobs.h"

KEEL_ATTR_OF(job, comment);

void job_notice(struct keel_mod *mod, struct keel_obj *job, const char *letter, const char *text)
{
	keel_note(mod, KEEL_POINT_job_notice,
		  KEEL_EVENT(job_notice, .id = job_id(mod, job), .job = job, .letter = letter,
			     .text = text));
}

void job_abort(struct keel_mod *mod, struct keel_obj *job, const char *why)
{
	const char *id = job_id(mod, job);

	if (!step_is_pending(job_slot(mod, job)->step))
		return;
	keel_log(mod, KEEL_LOG_JOB, "Job", id, "%s", why);
	keel_set_str(job, job_comment, why);
	keel_acct_record('A', id, why);
	job_notice(mod, job, "a", why);
	job_over(mod, job, STEP_TERMINATED);
}
