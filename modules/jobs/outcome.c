/* SPDX-License-Identifier: Apache-2.0
 *
 * outcome.c - what a system code means for the job: a start that failed, or a run whose end was not the program's own. One
 * table; the codes are those of spec "exit status", and KEEL_TASK_BAD_GROUP, which is ours.
 */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, Rerunable, ran, Hold_Types, comment, refused_for);

/* What it means for a job that may not be run twice. */
enum fixed {
	FIXED_SAME, /* the same */
	FIXED_ONCE, /* the same if it has never run, else it ends */
	FIXED_ENDS,
};

static const struct row {
	int32_t status;
	enum outcome outcome;
	enum fixed fixed;
	int32_t hold;
	const char *comment, *log, *notice; /* NULL none */
	uint32_t level; /* of log, beside that of a job */
} rows[] = {
	{ .status = KEEL_TASK_RETRY, OUTCOME_QUEUED, FIXED_SAME },
	{ .status = -4, OUTCOME_QUEUED, FIXED_ENDS },
	{ .status = -5, OUTCOME_QUEUED, FIXED_SAME },
	{ .status = -6, OUTCOME_QUEUED, FIXED_ENDS },
	{ .status = -7, OUTCOME_QUEUED, FIXED_ENDS },
	{ .status = KEEL_TASK_BAD_USER, OUTCOME_QUEUED, FIXED_ONCE, .notice = "Bad UID for job execution" },
	{ .status = -11, OUTCOME_QUEUED, FIXED_ENDS },
	{ .status = SAVED_STATUS, OUTCOME_QUEUED, FIXED_SAME },
	{ .status = -13, OUTCOME_QUEUED, FIXED_SAME, HOLD_PASSWORD, "job held due to bad password",
	  .notice = "job held due to bad password" },
	{ .status = KEEL_TASK_LOST, OUTCOME_QUEUED, FIXED_ENDS },
	{ .status = -15, OUTCOME_QUEUED, FIXED_ENDS },
	{ .status = -16, OUTCOME_QUEUED, FIXED_ONCE, .log = "hook rejected request, requiring job to be rerun", .level = KEEL_LOG_ERROR },
	{ .status = -17, OUTCOME_ENDS, FIXED_SAME, .log = "hook rejected request, requiring job to be deleted", .level = KEEL_LOG_ERROR },
	{ .status = -18, OUTCOME_QUEUED, FIXED_ONCE, .log = "a hook requested for job to be requeued", .level = KEEL_LOG_ADMIN },
	{ .status = -19, OUTCOME_ENDS, FIXED_SAME, .log = "a hook requested for job to be deleted", .level = KEEL_LOG_ADMIN },
	{ .status = -20, OUTCOME_QUEUED, FIXED_ENDS },
	{ .status = -21, OUTCOME_QUEUED, FIXED_SAME, HOLD_SYSTEM,
	  "job held due to possible security breach of job tmpdir, failed to start" },
	{ .status = -22, OUTCOME_QUEUED, FIXED_ONCE },
	{ .status = KEEL_TASK_JOIN, OUTCOME_QUEUED, FIXED_SAME, .log = "Mom rejected job due to join job error" },
	{ .status = KEEL_TASK_BAD_GROUP, OUTCOME_QUEUED, FIXED_SAME, HOLD_USER },
};

static const struct row *row_find(int32_t status)
{
	for (size_t i = 0; i < KEEL_COUNT(rows); i++)
		if (rows[i].status == status)
			return &rows[i];
	return NULL;
}

enum outcome outcome_of(struct keel_obj *job, int32_t status)
{
	const struct row *r = row_find(status);

	if (!r)
		return OUTCOME_ENDS;
	if (r->outcome == OUTCOME_QUEUED && !keel_get_int(job, job_Rerunable) &&
	    (r->fixed == FIXED_ENDS || (r->fixed == FIXED_ONCE && keel_get_int(job, job_ran))))
		return OUTCOME_ENDS;
	return r->outcome;
}

/* A letter with the reason, unless the last one had the same: a job may be tried on and on. */
static void refusal_mail(struct keel_mod *mod, struct keel_obj *job, const char *notice, const char *why)
{
	char *letter = NULL;

	if (strcmp(job_text(job, job_refused_for), why) == 0)
		return;
	keel_set_str(job, job_refused_for, why);
	if (asprintf(&letter, "%s%s%s", notice, *notice ? "\n" : "", why) >= 0)
		job_notice(mod, job, "a", letter);
	free(letter);
}

void outcome_log(struct keel_mod *mod, struct keel_obj *job, int32_t status, const char *why)
{
	const struct row *r = row_find(status);

	if (r && r->log)
		keel_log(mod, KEEL_LOG_JOB | r->level, "Job", job_id(mod, job), "%s", r->log);
	if (!r || outcome_of(job, status) != OUTCOME_QUEUED)
		return;
	if (why)
		refusal_mail(mod, job, r->notice ? r->notice : "", why);
	else if (r->notice)
		job_notice(mod, job, "a", r->notice);
}

bool outcome_hold(struct keel_mod *mod, struct keel_obj *job, int32_t status, const char *why)
{
	const struct row *r = row_find(status);
	char text[512];

	if (!r || !r->hold)
		return false;
	snprintf(text, sizeof(text), "Job held: %s", why && *why ? why : "Bad GID for job execution");
	keel_set_int(job, job_Hold_Types, keel_get_int(job, job_Hold_Types) | r->hold);
	held_note(mod, job, r->hold, true, "the server, which says why in the comment");
	keel_set_str(job, job_comment, r->comment ? r->comment : text);
	step_evaluate(mod, job);
	return true;
}
