/* SPDX-License-Identifier: Apache-2.0
 *
 * end.c - a job's processes are gone: what that means, and what is left of the job.
 */
#include "jobs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, resources_used, Exit_status, comment, ending, stime, unremembered, block,
	      history_timestamp, run_version, released_names, obittime, Stageout_status, Rerunable,
	      schedselect_orig, exec_vnode_deallocated, resources_deallocated);
KEEL_ATTR_OF(job, remark);
KEEL_ATTR_AS(attr_job_queue, job, queue, 0);

#define KILLED_STATUS (256 + 9)
#define RERUN_STATUS (-11)

/* Among the items when some output could not be placed. */
static const char not_delivered[] = "Stageout_status=0";

void task_used(struct keel_mod *mod, struct keel_obj *job, const char *const *items, uint32_t n)
{
	char name[128];
	uint32_t i;

	(void)mod;
	for (i = 0; i < n; i++) {
		size_t len = strcspn(items[i], "=");

		if (!items[i][len] || len >= sizeof(name) || strcmp(items[i], not_delivered) == 0)
			continue;
		memcpy(name, items[i], len);
		name[len] = '\0';
		keel_set_text(job, job_resources_used, KEEL_SET, name, items[i] + len + 1, NULL);
	}
}

static void log_usage(struct keel_mod *mod, struct keel_obj *job)
{
	const struct keel_reslist *used = keel_get_ptr(job, job_resources_used);
	char text[1024], amount[128];
	size_t at = 0;
	uint32_t i;

	at += (size_t)snprintf(text, sizeof(text), "Exit_status=%lld",
			       (long long)keel_get_int(job, job_Exit_status));
	for (i = 0; i < keel_resource_list_count(used) && at < sizeof(text); i++) {
		const struct keel_res_value *v = keel_resource_list_at(used, i);

		keel_resource_value_text(v, true, amount, sizeof(amount));
		at += (size_t)snprintf(text + at, sizeof(text) - at, " resources_used.%s=%s", v->res->name,
				       amount);
	}
	keel_log(mod, KEEL_LOG_USAGE, "Job", job_id(mod, job), "%s", text);
}

static void comment_append(struct keel_obj *job, const char *words)
{
	const char *comment = keel_get_str(job, job_comment);
	char *text;

	if (!comment || asprintf(&text, "%s%s", comment, words) < 0)
		return;
	keel_set_str(job, job_comment, text);
	free(text);
}

void comment_ended_by(struct keel_obj *job, const char *who)
{
	const char *comment = keel_get_str(job, job_comment);
	char words[300];
	size_t len;

	snprintf(words, sizeof(words), " and terminated by %s", who);
	len = strlen(words);
	if (comment && (strlen(comment) < len || strcmp(comment + strlen(comment) - len, words) != 0))
		comment_append(job, words);
}

void task_failed(struct keel_mod *mod, struct keel_obj *job, const char *why)
{
	struct state *st = mod->state;

	snprintf(st->failed_id, sizeof(st->failed_id), "%s", keel_id(job));
	snprintf(st->failed, sizeof(st->failed), "%s", why);
}

static void failed_drop(struct keel_mod *mod)
{
	((struct state *)mod->state)->failed_id[0] = '\0';
}

/* "": its host has said nothing. */
static const char *failed_why(struct keel_mod *mod, struct keel_obj *job)
{
	const struct state *st = mod->state;

	return strcmp(st->failed_id, keel_id(job)) == 0 ? st->failed : "";
}

/* For a limit that it was over; how far is behind it, but for walltime. */
static void exceeded_words(int64_t status, const char *why, char *buf, size_t len)
{
	static const struct {
		int64_t status;
		const char *resource;
	} limits[] = { { -24, "ncpus" }, { -25, "ncpus" }, { -26, "vmem" }, { -27, "mem" }, { -28, "cput" }, { -29, "walltime" } };

	for (size_t i = 0; i < KEEL_COUNT(limits); i++) {
		bool say = status != -29 && *why;

		if (limits[i].status == status)
			snprintf(buf, len, " and exceeded resource %s%s%s%s", limits[i].resource, say ? " (" : "", say ? why : "",
				 say ? ")" : "");
	}
}

/* ` and finished`, ` and failed`, ` and terminated by who` behind the comment of a job that ran. */
static void comment_end(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	const char *by = keel_get_str(job, job_ending);
	char words[300];

	if (!keel_is_set(job, job_stime))
		return;
	if (step == STEP_TERMINATED && by && *by) {
		comment_ended_by(job, by);
		return;
	}
	if (step == STEP_TERMINATED && job_role(mod, job) == ROLE_PART) { /* forced out */
		keel_set_str(job, job_comment, "Subjob finished");
		return;
	}
	snprintf(words, sizeof(words), " and %s",
		 step == STEP_TERMINATED ? "terminated"
		 : step == STEP_FINISHED ? "finished"
					 : "failed");
	exceeded_words(keel_get_int(job, job_Exit_status), failed_why(mod, job), words, sizeof(words));
	comment_append(job, words);
}

enum { REMARK_ROOM = 600 }; /* bytes of a text, cut: a host says what */

void remark_put(struct keel_mod *mod, struct keel_obj *job, const char *text)
{
	char plain[REMARK_ROOM + 1];

	(void)mod;
	snprintf(plain, sizeof(plain), "%s%s%s", job_text(job, job_remark), keel_is_set(job, job_remark) ? "; " : "", text);
	for (char *c = plain; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	keel_set_str(job, job_remark, plain);
}

void task_remark(struct keel_mod *mod, struct keel_obj *job, const char *text)
{
	if (!step_is_running(job_slot(mod, job)->step))
		return;
	remark_put(mod, job, text);
	job_notice(mod, job, "a", job_text(job, job_remark));
}

/* As the module that copies files says it of those. */
void task_undelivered(struct keel_mod *mod, struct keel_obj *job, const char *host, const char *why, const char *text, bool elsewhere)
{
	char *letter = NULL;

	if (!step_is_running(job_slot(mod, job)->step) || (elsewhere && keel_is_set(job, job_remark)))
		return; /* reported twice; why it was not copied is known better */
	keel_log(mod, KEEL_LOG_ERROR | KEEL_LOG_ADMIN | KEEL_LOG_JOB, "Job", job_id(mod, job),
		 "Post job file processing error; job %s on host %s", job_id(mod, job), host);
	remark_put(mod, job, why);
	if (asprintf(&letter, "Post job file processing error; job %s on host %s\n\n%.65536s", job_id(mod, job), host, text) >= 0)
		job_notice(mod, job, "f", letter);
	free(letter);
}

static void comment_remark(struct keel_obj *job)
{
	char words[REMARK_ROOM + 3];

	if (!keel_is_set(job, job_remark))
		return;
	snprintf(words, sizeof(words), "; %s", job_text(job, job_remark));
	comment_append(job, words);
}

static void forget(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct job *j = job_slot(mod, job);
	bool part = job_role(mod, job) == ROLE_PART;
	bool keep = history_on(mod) && !keel_is_set(job, job_unremembered);

	waiters_answer(mod, job, step);
	if (!keep && !part && keel_get_int(job, job_block))
		ended_keep(mod, job, step);
	if (part && !keep)
		part_over(mod, job, step, false);
	if (keep) {
		keel_set_int(job, job_history_timestamp, keel_time(mod));
		keel_unset(job, job_ending, NULL);
		j->ending = ENDING_NONE;
		step_to(mod, job, part ? step_of('X', false, step_substate(step)) : step);
		if (part)
			part_over(mod, job, step, true);
		else
			keel_blob_put(job, "script", NULL, 0);
	} else {
		job_leave(mod, job);
	}
	scheduler_wake(mod);
}

void job_over(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct job *j = job_slot(mod, job);
	const char *id = job_id(mod, job);
	bool ran = keel_is_set(job, job_Exit_status);

	keel_note(mod, KEEL_POINT_job_ended, KEEL_EVENT(job_ended, .id = id, .job = job, .ran = ran));
	callback_end(&j->run, PBSE_BADSTATE, NULL);
	rerun_answer(j, PBSE_BADSTATE);
	keel_timer_cancel(j->timer);
	j->timer = NULL;
	if (ran) {
		if (j->step == STEP_STAGING_OUT) {
			step_log(mod, job, 'E', KEEL_SUB_EXITING + 2, KEEL_SUB_EXITING + 2);
			step_to(mod, job, STEP_EXITED);
		} else if (step_is_running(j->step)) { /* its host has staged out and deleted already */
			step_to(mod, job, STEP_EXITING);
			step_log(mod, job, 'E', KEEL_SUB_EXITING + 1, KEEL_SUB_EXITED);
		}
		log_usage(mod, job);
		keel_note(mod, KEEL_POINT_job_obit,
			  KEEL_EVENT(job_obit, .id = id, .job = job,
				     .exit_status = keel_get_int(job, job_Exit_status), .why = failed_why(mod, job)));
		comment_end(mod, job, step);
		comment_remark(job);
		if (keel_is_set(job, job_schedselect_orig)) /* it has shrunk: this ends the last part of its run */
			keel_acct_job('e', job);
		if (keel_get_int(job, job_run_version) || job_role(mod, job) == ROLE_WHOLE)
			keel_acct_job('E', job);
	}
	job_vacate(mod, job, true);
	keel_unset(job, job_exec_vnode_deallocated, NULL);
	keel_unset(job, job_resources_deallocated, NULL);
	keel_unset(job, job_released_names, NULL);
	keel_note(mod, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = id, .job = job));
	forget(mod, job, step);
}

void task_ended(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status, int64_t session,
		const char *const *items, uint32_t n)
{
	struct job *j = job_slot(mod, job);
	enum step step = exit_status == 0 ? STEP_FINISHED : STEP_FAILED;
	bool delivered = !keel_is_set(job, job_Stageout_status); /* set by now: it has failed */

	if (!step_is_running(j->step)) { /* reported twice */
		keel_task_ended_done(job);
		return;
	}
	keel_log(mod, KEEL_LOG_DEBUG, "Job", job_id(mod, job),
		 "Obit received momhop:1 serverhop:1 state:%c substate:%d", step_letter(j->step), step_substate(j->step));
	if (j->step == STEP_SENT)
		job_begin(mod, job, session);
	task_used(mod, job, items, n);
	keel_set_int(job, job_obittime, keel_time(mod));
	keel_task_ended_done(job);
	if (exit_status == SAVED_STATUS && j->ending == ENDING_NONE)
		job_saved(mod, job); /* its request has no answer yet */
	else if (exit_status == SAVED_STATUS)
		exit_status = KILLED_STATUS;
	if (j->ending == ENDING_RERUN || j->ending == ENDING_CHECKPOINT) {
		job_requeue(mod, job, j->ending == ENDING_RERUN ? RERUN_STATUS : SAVED_STATUS);
		failed_drop(mod);
		return;
	}
	outcome_log(mod, job, exit_status, NULL);
	if (exit_status < 0 && j->ending == ENDING_NONE && outcome_of(job, exit_status) == OUTCOME_QUEUED) {
		job_requeue(mod, job, exit_status);
		failed_drop(mod);
		return;
	}
	keel_set_int(job, job_Exit_status, exit_status);
	for (uint32_t i = 0; i < n; i++)
		delivered = delivered && strcmp(items[i], not_delivered) != 0;
	keel_set_int(job, job_Stageout_status, delivered);
	job_over(mod, job, j->ending == ENDING_DELETE ? STEP_TERMINATED : step);
	failed_drop(mod);
}

/* The host is back without the job: its processes are gone with what they did. */
void task_lost(struct keel_mod *mod, struct keel_obj *job)
{
	struct job *j = job_slot(mod, job);

	if (!step_is_running(j->step))
		return;
	if (j->ending == ENDING_DELETE) {
		keel_set_int(job, job_Exit_status, KILLED_STATUS);
		job_over(mod, job, STEP_TERMINATED);
	} else if (j->ending == ENDING_CHECKPOINT) {
		job_requeue(mod, job, SAVED_STATUS);
	} else if (j->step == STEP_SENT || keel_get_int(job, job_Rerunable)) {
		keel_log(mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN | KEEL_LOG_DEBUG, "Job",
			 job_id(mod, job), "Requeueing job, substate: %d Requeued in queue: %s",
			 step_substate(j->step), job_text(job, attr_job_queue));
		job_requeue(mod, job, KEEL_TASK_LOST);
	} else {
		keel_set_int(job, job_Exit_status, KEEL_TASK_LOST);
		job_over(mod, job, STEP_FAILED);
	}
}

void job_discard(struct keel_mod *mod, struct keel_obj *job, bool ran)
{
	if (ran) {
		keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job),
			 "Discard running job, Forced Delete ");
		keel_task_discard(job);
		keel_set_int(job, job_Exit_status, KILLED_STATUS);
		keel_unset(job, job_ending, NULL);
	}
	job_over(mod, job, STEP_TERMINATED);
}
