/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - start a queued job: the point start_now agrees, vnodes are assigned, the host gets it; what the host reports.
 *
 * A start runs through job_run() -> the point -> run_decided() -> run_send(); qrun comes through run_one(). The host's
 * report comes in as task_started() or task_refused().
 */
#include "jobs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

KEEL_ATTR_OF(job, refused_for);
KEEL_ATTRS_OF(job, exec_vnode, comment, checkpointed, exec_host, run_version, run_count, stime,
	      session_id, jobdir, Hold_Types, Exit_status, obittime, schedselect);

/* A start that waits for the chain of start_now, and its caller. */
struct start_request {
	char *id, *exec_vnode, *who;
	struct keel_mod *me;
	keel_job_done *done;
	void *arg;
	bool of_whole; /* job_run() was called with an array: one of its subjobs starts */
	uint32_t edits; /* of the job when exec_vnode was chosen */
};

static void start_request_free(struct start_request *r)
{
	free(r->id);
	free(r->exec_vnode);
	free(r->who);
	free(r);
}

void comment_started(struct keel_mod *mod, struct keel_obj *job, const char *words)
{
	time_t now = (time_t)keel_time(mod);
	char when[64] = "", *text;
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%a %b %d at %H:%M", &tm);
	if (asprintf(&text, "%s %s on %s", words, when, job_text(job, job_exec_vnode)) < 0)
		return;
	keel_set_str(job, job_comment, text);
	free(text);
}

static void forget_placement(struct keel_mod *mod, struct keel_obj *job)
{
	job_vacate(mod, job, false);
	if (keel_is_set(job, job_checkpointed))
		return; /* it goes on there or nowhere */
	keel_unset(job, job_exec_vnode, NULL);
	keel_unset(job, job_exec_host, NULL);
}

/* The PBSE code, with its sentence in *err, for a start that service `task` refused with this errno. */
static int32_t start_error(int32_t why, struct keel_err *err)
{
	switch (why) {
	case -E2BIG:
		return keel_error(err, PBSE_RESCUNAV, "PBS_NODEFILE would have more than 1000000 lines: ask "
						      "for fewer mpiprocs");
	case -ENAMETOOLONG:
		return keel_error(err, PBSE_RESCUNAV, "its id has more than 230 characters, and hosts name "
						      "files after it: give the server a shorter name");
	default: return keel_error(err, PBSE_NORELYMOM, "%s", keel_pbse_text(PBSE_NORELYMOM));
	}
}

/* Takes the vnodes and sends the job to its host. Returns 0, or fails with a PBSE code and *err: the job is as before. */
static int32_t run_send(struct keel_mod *mod, struct keel_obj *job, const char *exec_vnode,
		    const char *who, struct keel_err *err)
{
	int32_t code, r;

	if (keel_is_set(job, job_checkpointed) &&
	    strcmp(job_text(job, job_exec_vnode), exec_vnode) != 0)
		return keel_error(err, PBSE_RESCUNAV, "its checkpoint is on %s",
				  job_text(job, job_exec_vnode));
	keel_set_str(job, job_exec_vnode, exec_vnode);
	code = job_occupy(mod, job, err);
	if (code) {
		forget_placement(mod, job);
		return code;
	}
	keel_set_int(job, job_run_version, keel_get_int(job, job_run_version) + 1);
	r = keel_task_start(job);
	if (r) {
		forget_placement(mod, job);
		return start_error(r, err);
	}
	keel_set_int(job, job_run_count, keel_get_int(job, job_run_count) + 1);
	comment_started(mod, job, "Job was sent for execution at");
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job),
		 "Job Run at request of %s on exec_vnode %s", who, exec_vnode);
	step_to(mod, job, STEP_SENT);
	return 0;
}

/* Ends the start. The caller that named an array gets the subjob's id as text; a subjob that did not start goes back
 * into its array. */
static void run_answer(struct keel_mod *mod, struct start_request *r, int32_t code, const char *text)
{
	struct keel_obj *job = keel_find(mod, "job", r->id);
	bool part = job && job_role(mod, job) == ROLE_PART;

	if (part && !code)
		part_started(mod, job);
	else if (part && job_slot(mod, job)->step == STEP_QUEUED)
		part_back(mod, job);
	r->done(r->me, r->arg, code, code || !r->of_whole ? text : r->id);
	start_request_free(r);
}

static void run_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct state *st = mod->state;
	struct start_request *r = arg;
	struct keel_obj *job = keel_find(mod, "job", r->id);
	struct keel_err err = { 0 };
	int32_t code;

	if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE) {
		run_answer(mod, r, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
	} else if (!job || job_slot(mod, job)->step != STEP_QUEUED) {
		run_answer(mod, r, job ? PBSE_BADSTATE : PBSE_UNKJOBID, NULL);
	} else if (job_slot(mod, job)->edits != r->edits) { /* exec_vnode was found for another one */
		run_answer(mod, r, PBSE_NORUNALTEREDJOB, NULL);
	} else if (shutting_down(st)) {
		run_answer(mod, r, PBSE_SVRDOWN, NULL);
	} else {
		code = run_send(mod, job, r->exec_vnode, r->who, &err);
		run_answer(mod, r, code, code ? err.text : NULL);
	}
}

/* NULL without memory: the caller's `done` has run with the error. */
static struct start_request *start_request_new(struct keel_mod *mod, struct keel_obj *job,
				   const char *exec_vnode, const char *who, struct keel_mod *me,
				   keel_job_done *done, void *arg)
{
	struct start_request *r = calloc(1, sizeof(*r));

	if (!r || !(r->id = strdup(job_id(mod, job))) || !(r->exec_vnode = strdup(exec_vnode)) ||
	    !(r->who = strdup(who))) {
		if (r)
			start_request_free(r);
		done(me, arg, PBSE_SYSTEM, "System error: out of memory");
		return NULL;
	}
	r->me = me;
	r->done = done;
	r->arg = arg;
	return r;
}

void job_run(struct keel_mod *mod, struct keel_obj *job, const char *exec_vnode, const char *who,
	     struct keel_mod *me, keel_job_done *done, void *arg)
{
	bool whole = job_role(mod, job) == ROLE_WHOLE;
	struct keel_err err = { 0 };
	struct start_request *r;

	if (whole && !(job = part_next(mod, job, &err))) {
		done(me, arg, err.code ? err.code : PBSE_SYSTEM, err.text);
		return;
	}
	if (job_slot(mod, job)->step != STEP_QUEUED) {
		done(me, arg, PBSE_BADSTATE, NULL);
		return;
	}
	r = start_request_new(mod, job, exec_vnode, who, me, done, arg);
	if (!r && whole)
		part_back(mod, job);
	if (!r)
		return;
	r->of_whole = whole;
	r->edits = job_slot(mod, job)->edits;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_start_now,
		.event = KEEL_EVENT(start_now, .id = r->id, .job = job, .exec_vnode = r->exec_vnode,
			       .who = r->who),
		.done = run_decided,
		.arg = r,
	});
}

/* ---- may_run: the same point, dry ----------------------------------------------------------------------- */

static void may_run_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct start_request *r = arg;

	(void)mod;
	if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE)
		r->done(r->me, r->arg, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
	else
		r->done(r->me, r->arg, 0, NULL);
	start_request_free(r);
}

void job_may_run(struct keel_mod *mod, struct keel_obj *job, const char *who, struct keel_mod *me,
		 keel_job_done *done, void *arg)
{
	struct start_request *r;

	if (step_is_suspended(job_slot(mod, job)->step)) { /* it has started; job_resume is raised when it continues */
		done(me, arg, 0, NULL);
		return;
	}
	r = start_request_new(mod, job, "", who, me, done, arg);
	if (r)
		keel_raise(mod, &(struct keel_raise){
			.size = sizeof(struct keel_raise),
			.point = KEEL_POINT_start_now,
			.event = KEEL_EVENT(start_now, .id = r->id, .job = job, .exec_vnode = "",
				       .who = r->who, .dry = 1),
			.done = may_run_decided,
			.arg = r,
		});
}

/* ---- the host's report ------------------------------------------------------------------------------- */

void job_record_start(struct keel_mod *mod, struct keel_obj *job)
{
	keel_set_int(job, job_stime, keel_time(mod));
	keel_acct_job(keel_is_set(job, job_checkpointed) ? 'T' : 'S', job);
}

void job_begin(struct keel_mod *mod, struct keel_obj *job, int64_t session)
{
	if (session > 0) {
		keel_log(mod, KEEL_LOG_DEBUG3, "Job", job_id(mod, job),
			 "Received session ID for job: %lld", (long long)session);
		keel_set_int(job, job_session_id, session);
	}
	comment_started(mod, job, "Job run at");
	keel_unset(job, job_refused_for, NULL);
	step_to(mod, job, STEP_RUNNING);
	if (!shrunk(job)) /* else it has the record of its start, with what it was given */
		job_record_start(mod, job);
	keel_unset(job, job_checkpointed, NULL);
	keel_note(mod, KEEL_POINT_job_started,
		  KEEL_EVENT(job_started, .id = job_id(mod, job), .job = job));
	callback_end(&job_slot(mod, job)->run, 0, NULL);
}

void task_placed(struct keel_mod *mod, struct keel_obj *job, const char *dir)
{
	if (step_is_running(job_slot(mod, job)->step))
		keel_set_str(job, job_jobdir, dir);
}

void task_started(struct keel_mod *mod, struct keel_obj *job, int64_t session)
{
	switch (job_slot(mod, job)->step) {
	case STEP_SENT:
		job_begin(mod, job, session);
		break;
	case STEP_RUNNING:
	case STEP_SUSPENDED:
	case STEP_SCHED_SUSPENDED:
		if (session > 0 && keel_get_int(job, job_session_id) != session)
			keel_set_int(job, job_session_id, session);
		break;
	default: /* it is ending already */
		break;
	}
}

#define HOOK_REFUSED (-4) /* a point of the host before the start: the job has not been there */

/* Its start failed on its hosts, which counts as a run: the record of it has no session and no usage. */
static void start_over(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status, const char *reason)
{
	static const char *const nothing[] = { "cpupercent=0", "cput=00:00:00", "mem=0kb", "vmem=0kb", "walltime=00:00:00" };
	const char *exec_host = job_text(job, job_exec_host);
	bool several = strchr(exec_host, '+') != NULL;

	keel_log(mod, KEEL_LOG_DEBUG, "Job", job_id(mod, job), "Obit received momhop:%lld serverhop:%lld state:R substate:%d",
		 (long long)keel_get_int(job, job_run_count), (long long)keel_get_int(job, job_run_count), KEEL_SUB_SENT);
	outcome_log(mod, job, exit_status, reason);
	keel_set_int(job, job_stime, keel_time(mod));
	keel_set_int(job, job_obittime, keel_time(mod));
	comment_started(mod, job, "Job run at");
	task_used(mod, job, nothing, KEEL_COUNT(nothing));
	if (!several || outcome_of(job, exit_status) != OUTCOME_QUEUED)
		return;
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Discard running job, A sister Mom failed to delete job ");
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Job requeued, execution node  down");
}

/* It has not been there: a point of the host before the start refused it; a positive number is that of the refusal. */
static bool is_refusal(int32_t exit_status)
{
	return exit_status == HOOK_REFUSED || exit_status > 0;
}

/* The first host, as users know it. */
static void refusal_log(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status, const char *why)
{
	const char *id = job_id(mod, job), *host = job_text(job, job_exec_host);

	if (!is_refusal(exit_status)) {
		keel_log(mod, KEEL_LOG_JOB, "Job", id, "Unable to Run Job, MOM rejected: %s", why);
		return;
	}
	keel_log(mod, KEEL_LOG_JOB, "Job", id, "send of job to %.*s failed error = %d reject_msg=,%s", (int)strcspn(host, "/"),
		 host, exit_status > 0 ? (int)exit_status : PBSE_HOOK_REJECT, why);
	keel_log(mod, KEEL_LOG_JOB, "Job", id, "Unable to Run Job, MOM rejected");
	if (exit_status == PBSE_HOOK_REJECT_DELETEJOB)
		keel_log(mod, KEEL_LOG_JOB, "Job", id, "Job aborted per a hook rejection");
	else
		keel_log(mod, KEEL_LOG_JOB, "Job", id, "%s", keel_pbse_text(exit_status > 0 ? exit_status : PBSE_HOOK_REJECT));
}

/* The host wants it deleted. It has not run. */
static void refused_abort(struct keel_mod *mod, struct keel_obj *job, const char *why)
{
	keel_set_str(job, job_comment, why);
	keel_acct_record('A', job_id(mod, job), why);
	job_notice(mod, job, "a", why);
	job_over(mod, job, STEP_TERMINATED);
}

enum { REASON_ROOM = 400 }; /* bytes of a text, cut: a host says why */

/* "HOST could not start it: WHY", plain. The first host, as users know it; while it has one. */
static void reason_make(struct keel_obj *job, const char *why, char ret[REASON_ROOM])
{
	const char *host = job_text(job, job_exec_host);

	snprintf(ret, REASON_ROOM, "%.*s could not start it: %s", (int)strcspn(host, "/"), host, why);
	for (char *c = ret; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
}

/* It is held, for too many tries: the last reason. */
static void comment_reason(struct keel_obj *job, const char *reason)
{
	char text[REASON_ROOM + 100];

	snprintf(text, sizeof(text), "%.90s: %s", job_text(job, job_comment), reason);
	keel_set_str(job, job_comment, text);
}

/* The host could not start it. An error of the user's (no home directory) ends the job; an error of the host's, or of one of
 * its hosts, queues it again. */
void task_refused(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status, const char *why)
{
	struct keel_obj *waits = job_role(mod, job) == ROLE_PART ? whole_of(mod, job_id(mod, job)) : job;
	bool deleted = job_slot(mod, job)->ending == ENDING_DELETE;
	char text[512], reason[REASON_ROOM];

	why = why && *why ? why : "no reason given";
	reason_make(job, why, reason);
	refusal_log(mod, job, exit_status, why);
	callback_end(&job_slot(mod, job)->run, PBSE_MOMREJECT, why);
	if (!is_refusal(exit_status) && exit_status != KEEL_TASK_BAD_GROUP && !deleted)
		start_over(mod, job, exit_status, reason);
	if (exit_status == PBSE_HOOK_REJECT_DELETEJOB && !deleted) {
		refused_abort(mod, job, why);
		return;
	}
	if (deleted || (!is_refusal(exit_status) && outcome_of(job, exit_status) == OUTCOME_ENDS)) {
		keel_set_int(job, job_Exit_status, exit_status);
		if (!deleted)
			remark_put(mod, job, reason);
		job_over(mod, job, deleted ? STEP_TERMINATED : STEP_FAILED);
		return;
	}
	if (is_refusal(exit_status))
		exit_status = HOOK_REFUSED;
	job_requeue(mod, job, exit_status == KEEL_TASK_JOIN ? KEEL_TASK_RETRY : exit_status);
	if (waits && step_is_open(job_slot(mod, waits)->step) && outcome_hold(mod, waits, exit_status, why))
		return; /* which is gone, if it is a part */
	snprintf(text, sizeof(text), "Not Running: PBS Error: %s", is_refusal(exit_status) ? why : reason);
	if (waits == job && !keel_get_int(job, job_Hold_Types))
		keel_set_str(job, job_comment, text);
	else if (waits == job && keel_is_set(job, job_comment) && !is_refusal(exit_status) &&
		 strstr(job_text(job, job_comment), why) == NULL)
		comment_reason(job, reason);
}

/* ---- qrun --------------------------------------------------------------------------------------------- */

struct qrun {
	struct callback callback;
	char *id;
	bool wait;
};

/* While qrun decides, the user's hold does not count; it stays on the job. */
static void unhold(struct keel_mod *mod, struct keel_obj *job, bool unheld)
{
	struct job *j = job_slot(mod, job);

	if (j->unheld == unheld || (unheld && j->step != STEP_HELD))
		return;
	j->unheld = unheld;
	if (step_is_open(j->step))
		step_evaluate(mod, job);
}

/* job_run() is done: the callback is kept on the job until the host reports, unless the requester does not wait. */
static void qrun_accepted(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct qrun *a = arg;
	struct keel_obj *job = keel_find(mod, "job", a->id);

	if (code == PBSE_UNKNODE)
		text = NULL; /* the requester gave the name */
	if (job)
		unhold(mod, job, false);
	if (code || !a->wait || !job || job_slot(mod, job)->step != STEP_SENT ||
	    job_slot(mod, job)->run || !(job_slot(mod, job)->run = callback_keep(&a->callback)))
		callback_call(&a->callback, code, text);
	free(a->id);
	free(a);
}

/* Fails with 15062 for a vnode of which nothing is taken, 15014 for an amount below zero. */
static int32_t exec_check(const char *location, struct keel_err *err)
{
	struct keel_exec *exec = NULL;
	int32_t code = keel_resource_exec_parse(location, &exec, err);

	for (uint32_t i = 0; !code && i < exec->n; i++) {
		const struct keel_exec_part *part = &exec->part[i];

		if (part->n == 0)
			code = keel_error(err, PBSE_UNKNODE, "%s", keel_pbse_text(PBSE_UNKNODE));
		for (uint32_t k = 0; !code && k < part->n; k++)
			if (part->v[k].n < 0)
				code = keel_error(err, PBSE_BADATVAL, "%s: %s",
						  keel_pbse_text(PBSE_BADATVAL), part->v[k].res->name);
	}
	keel_resource_exec_free(exec);
	return code;
}

/* The exec_vnode that a location of qrun means: `a+b+c` names hosts for the job's chunks in their order, anything else
 * is an exec_vnode. The caller frees it; NULL with *err when it is none. */
static char *location_to_exec(struct keel_obj *job, const char *location,
			      struct keel_err *err)
{
	struct keel_select *select;
	char *text = NULL, *copy, *save = NULL, *host;
	size_t len = 0;
	FILE *out;
	uint32_t chunk = 0, left, i;

	if (*location == '(')
		return exec_check(location, err) ? NULL : strdup(location);
	if (keel_resource_select_parse(job_text(job, job_schedselect), &select,
				       err))
		return NULL;
	copy = strdup(location);
	out = open_memstream(&text, &len);
	left = select->chunk[0].count;
	for (host = copy ? strtok_r(copy, "+", &save) : NULL; host && out;
	     host = strtok_r(NULL, "+", &save)) {
		fprintf(out, "%s(%s", ftell(out) ? "+" : "", host);
		for (i = 0; i < select->chunk[chunk].n; i++) {
			const struct keel_res_value *v = &select->chunk[chunk].v[i];
			char amount[256];

			if (!(v->res->flags & (KEEL_RES_EACH | KEEL_RES_FIRST)))
				continue;
			keel_resource_value_text(v, true, amount, sizeof(amount));
			fprintf(out, ":%s=%s", v->res->name, amount);
		}
		fputc(')', out);
		if (--left == 0 && chunk + 1 < select->n)
			left = select->chunk[++chunk].count;
	}
	if (out)
		fclose(out);
	free(copy);
	keel_resource_select_free(select);
	return text;
}

void run_one(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *ask,
	     const struct callback *callback)
{
	struct state *st = mod->state;
	const char *location = ask->detail;
	int32_t code = ask_permit(mod, job, ask, KEEL_OPERATORS);
	struct qrun *a;
	struct keel_err err = { 0 };
	char *exec;

	if (!code && !step_is_pending(job_slot(mod, job)->step))
		code = step_is_suspended(job_slot(mod, job)->step) ? PBSE_RESCUNAV : PBSE_BADSTATE;
	if (!code && job_slot(mod, job)->step == STEP_ROUTING)
		code = PBSE_IVALREQ;
	a = code ? NULL : calloc(1, sizeof(*a));
	if (!a || !(a->id = strdup(job_id(mod, job)))) {
		free(a);
		callback_call(callback, code ? code : PBSE_SYSTEM, NULL);
		return;
	}
	unhold(mod, job, true);
	a->callback = *callback;
	a->wait = !ask->req || !keel_msg_int(keel_req_body(ask->req), "async", 0);
	if (location && *location && strcmp(location, "-") != 0) {
		exec = location_to_exec(job, location, &err);
		if (exec)
			job_run(mod, job, exec, ask->who, mod, qrun_accepted, a);
		else
			qrun_accepted(mod, a, err.code ? err.code : PBSE_SYSTEM, err.text);
		free(exec);
	} else if (st->run_request) {
		st->run_request(st->runner, job, ask->who, mod, qrun_accepted, a);
	} else {
		qrun_accepted(mod, a, PBSE_NOSCHEDULER, NULL);
	}
}

void on_run(struct keel_mod *mod, struct keel_req *req)
{
	ask_request(mod, req, "run", keel_msg_str(keel_req_body(req), "location"));
}
