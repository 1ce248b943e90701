/* SPDX-License-Identifier: Apache-2.0
 *
 * delete.c - qdel: one job or a list; waiting jobs go at once, running ones are killed first.
 */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

KEEL_ATTR_OF(queue, kill_delay);
KEEL_ATTRS_OF(job, unremembered, run_version, ending, ended_by, exec_vnode);

struct deletion {
	struct callback callback;
	char *id, *who;
	int64_t run;
	bool force, history;
	bool quiet; /* no mail */
};

#define SLICE_US 1000

/* A request about many jobs: worked on in slices, answered when each of them is decided. */
struct delete_list {
	struct delete_list *prev, *next; /* lists with jobs that no delete_one() has seen yet */
	struct keel_req *req;
	const char *const *ids; /* of the request */
	uint32_t n, asked, open;
	struct keel_timer *timer;
	struct keel_out *failed; /* array `failed` is open in it */
};

/* One of them, as the request names it. */
struct item {
	struct delete_list *list;
	char operand[];
};

static void delete_answer(struct deletion *d, int32_t code, const char *text)
{
	callback_call(&d->callback, code, text);
	free(d->id);
	free(d->who);
	free(d);
}

int64_t job_kill_delay(struct keel_mod *mod, struct keel_obj *job)
{
	const struct conf *conf = mod->conf;
	struct keel_obj *queue = job_queue(mod, job);

	if (queue && keel_is_set(queue, queue_kill_delay))
		return keel_get_int(queue, queue_kill_delay) * 1000;
	return conf->kill_delay;
}

/* The job will be deleted: log and, once per job however many requests there are, notice and D record. */
static void delete_record(struct keel_mod *mod, struct keel_obj *job, const struct deletion *d)
{
	char text[400];

	snprintf(text, sizeof(text), "Job to be deleted at request of %s", d->who);
	keel_log(mod, KEEL_LOG_JOB, "Job", d->id, "%s", text);
	if (job_slot(mod, job)->ending == ENDING_DELETE)
		return;
	keel_set_str(job, job_ended_by, d->who);
	job_notice(mod, job, d->quiet ? "n" : "a", text);
	snprintf(text, sizeof(text), "requestor=%s", d->who);
	keel_acct_record('D', d->id, text);
}

static void remember(struct keel_obj *job, bool history)
{
	if (history)
		keel_unset(job, job_unremembered, NULL);
	else
		keel_set_int(job, job_unremembered, 1);
}

static void delete_sent(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct deletion *d = arg;
	struct keel_obj *job = keel_find(mod, "job", d->id);
	struct job *j = job ? job_slot(mod, job) : NULL;

	if (!j || !step_is_running(j->step) || keel_get_int(job, job_run_version) != d->run) {
		delete_answer(d, j && !step_is_over(j->step) ? PBSE_BADSTATE : 0, NULL);
		return;
	}
	/* Not deleted: the host refuses (point task_preterm), or is away, so that the state of its processes is unknown.
	 * 15016 is no refusal: the host has not got the run yet, and gets the kill behind it. */
	if (code && code != PBSE_BADSTATE) {
		keel_log(mod, KEEL_LOG_JOB, "Job", d->id,
			 code == PBSE_NORELYMOM ? "Delete failed %d" : "MOM rejected signal during delete (%d)", (int)code);
		delete_answer(d, code, text);
		return;
	}
	delete_record(mod, job, d);
	remember(job, !d->history);
	j->ending = ENDING_DELETE;
	if (step_is_suspended(j->step))
		release_undo(mod, job);
	keel_set_str(job, job_ending, d->who);
	comment_ended_by(job, d->who);
	if (code)
		keel_task_kill(job, job_kill_delay(mod, job));
	delete_answer(d, 0, NULL);
}

static void carry_out(struct keel_mod *mod, struct keel_obj *job, struct deletion *d)
{
	struct job *j = job_slot(mod, job);
	bool ran;

	if (step_is_over(j->step)) { /* -x on history */
		job_leave(mod, job);
	} else if (j->step == STEP_EXITING && !d->force) {
		delete_answer(d, PBSE_BADSTATE, NULL);
		return;
	} else if (step_is_running(j->step) && !d->force && j->ending != ENDING_DELETE) {
		keel_log(mod, KEEL_LOG_JOB, "Job", d->id, "Job sent signal TermJob on delete");
		d->run = keel_get_int(job, job_run_version);
		keel_task_terminate(job, job_kill_delay(mod, job), mod, delete_sent, d);
		return;
	} else if (step_is_running(j->step) && !d->force) { /* an earlier request: it is dying */
		delete_record(mod, job, d);
	} else if (d->force) {
		ran = step_is_running(j->step);
		if (ran)
			step_to(mod, job, STEP_EXITED);
		keel_log(mod, KEEL_LOG_JOB, "Job", d->id, "Delete forced");
		delete_record(mod, job, d);
		remember(job, !d->history);
		job_discard(mod, job, ran);
	} else {
		delete_record(mod, job, d);
		remember(job, !d->history);
		if (!keel_is_set(job, job_exec_vnode))
			keel_log(mod, KEEL_LOG_DEBUG2, "Job", d->id,
				 "in free_nodes and no exec_vnode");
		step_log(mod, job, 'E', KEEL_SUB_ABORTING, KEEL_SUB_ABORTING);
		job_over(mod, job, STEP_TERMINATED);
	}
	delete_answer(d, 0, NULL);
}

/* Is there something to delete? Of history only its record, when the request says so. 0, or a PBSE code. */
static int32_t delete_objection(struct keel_mod *mod, struct keel_obj *job, const struct deletion *d)
{
	enum step step = job_slot(mod, job)->step;

	if (step_is_expired(step))
		return PBSE_NOHISTARRAYSUBJOB;
	return step_is_over(step) && !d->history ? PBSE_HISTJOBID : 0;
}

/* The chain of job_delete is through; the job may have ended while a tap waited. */
static void delete_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct deletion *d = arg;
	struct keel_obj *job = keel_find(mod, "job", d->id);
	int32_t code = job ? delete_objection(mod, job, d) : PBSE_UNKJOBID;

	if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE)
		delete_answer(d, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
	else if (code)
		delete_answer(d, code, NULL);
	else
		carry_out(mod, job, d);
}

void delete_one(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *ask,
		const struct callback *callback)
{
	struct deletion *d = calloc(1, sizeof(*d));
	int32_t code;

	if (!d) {
		callback_call(callback, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	d->callback = *callback;
	d->force = ask->detail && strstr(ask->detail, "force");
	d->history = ask->detail && strstr(ask->detail, "deletehist");
	d->quiet = ask->detail && strstr(ask->detail, "nomail");
	d->id = strdup(job_id(mod, job));
	d->who = strdup(ask->who);
	code = d->id && d->who ? ask_permit(mod, job, ask, KEEL_EVERYBODY) : PBSE_SYSTEM;
	if (!code || code == PBSE_HISTJOBID)
		code = delete_objection(mod, job, d);
	if (code) {
		delete_answer(d, code, NULL);
		return;
	}
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_job_delete,
		.event = KEEL_EVENT(job_delete, .id = d->id, .job = job, .who = d->who),
		.req = ask->req,
		.done = delete_decided,
		.arg = d,
	});
}

static void log_asked(struct keel_mod *mod, const char *operand)
{
	struct keel_obj *job = job_find(mod, operand);

	keel_log(mod, KEEL_LOG_DEBUG, "Job", job ? job_id(mod, job) : operand,
		 "delete job request received");
}

void on_delete(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *body = keel_req_body(req);
	const char *id = keel_msg_str(body, "id");

	if (id)
		log_asked(mod, id);
	ask_request(mod, req, "delete", keel_msg_str(body, "extend"));
}

void job_request_delete(struct keel_mod *mod, struct keel_obj *job, const char *who,
			struct keel_mod *me, keel_job_done *done, void *arg)
{
	const char *id = job_id(mod, job);

	log_asked(mod, id);
	ask_operand(mod, id, &(struct keel_job_ask){ .size = sizeof(struct keel_job_ask), .verb = "delete", .who = who },
		    &(struct callback){ me, done, arg });
}

/* ---- many --------------------------------------------------------------------------------------- */

static void list_done(struct delete_list *l)
{
	if (--l->open)
		return;
	keel_close(l->failed);
	keel_reply_out(l->req, l->failed);
	free(l);
}

static void note_failure(struct keel_mod *mod, struct delete_list *l, const char *operand, int32_t code)
{
	keel_log(mod, KEEL_LOG_DEBUG, "Req", "delete", "Reject reply code=%d, aux=0, type=%d, from %s", (int)code,
		 REQUEST_DELETE, keel_req_session(l->req)->who);
	keel_open_list(l->failed);
	keel_add_str(l->failed, operand);
	keel_add_int(l->failed, code);
	keel_close(l->failed);
}

static void item_done(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct item *item = arg;
	struct delete_list *l = item->list;

	(void)text;
	if (code)
		note_failure(mod, l, item->operand, code);
	free(item);
	list_done(l);
}

static void item_ask(struct keel_mod *mod, struct delete_list *l, const char *operand, const char *extend)
{
	struct item *item = malloc(sizeof(*item) + strlen(operand) + 1);

	if (!item) {
		note_failure(mod, l, operand, PBSE_SYSTEM);
		return;
	}
	item->list = l;
	strcpy(item->operand, operand);
	l->open++;
	log_asked(mod, operand);
	ask_operand(mod, operand,
		    &(struct keel_job_ask){ .size = sizeof(struct keel_job_ask),
					    .verb = "delete",
					    .detail = extend,
					    .who = keel_req_session(l->req)->who,
					    .req = l->req },
		    &(struct callback){ mod, item_done, item });
}

static void go_on(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct delete_list *l = arg;
	const char *extend = keel_msg_str(keel_req_body(l->req), "extend");
	int64_t until = keel_clock_us(mod) + SLICE_US;

	l->timer = NULL;
	while (!st->stopping && l->asked < l->n) {
		item_ask(mod, l, l->ids[l->asked++], extend);
		if (keel_clock_us(mod) > until)
			break;
	}
	if (l->asked < l->n && !st->stopping && (l->timer = keel_timer(mod, 0, go_on, l)))
		return;
	DL_DELETE(st->deleting, l);
	for (; l->asked < l->n; l->asked++)
		note_failure(mod, l, l->ids[l->asked], PBSE_SYSTEM);
	list_done(l);
}

/* The module ends. */
void delete_lists_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->deleting) {
		keel_timer_cancel(st->deleting->timer);
		go_on(mod, st->deleting);
	}
}

void on_delete_list(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	uint32_t n;
	const char *const *ids = keel_msg_strings(keel_req_body(req), "ids", &n);
	struct delete_list *l = calloc(1, sizeof(*l));

	if (!ids || !l || !(l->failed = keel_out(mod)) || !(l->timer = keel_timer(mod, 0, go_on, l))) {
		if (l && l->failed)
			keel_out_drop(l->failed);
		free(l);
		keel_reply(req, ids ? PBSE_SYSTEM : PBSE_PROTOCOL, NULL);
		return;
	}
	l->req = req;
	l->ids = ids;
	l->n = n;
	l->open = 1; /* held by the slices, so that the list does not end before the last one */
	DL_APPEND(st->deleting, l);
	keel_open_array(l->failed, "failed");
}
