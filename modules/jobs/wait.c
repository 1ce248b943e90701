/* SPDX-License-Identifier: Apache-2.0
 *
 * wait.c - requests answered when a job is over (qsub -W block=true).
 *
 * A client that waits connects again when the server restarts and sends its request once more, perhaps after the end
 * of its job. How a job with `block` ended is kept for a while, as an object of its own where it leaves no history.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, stime, Exit_status, Job_Owner);

#define KEEP_SECONDS 600

const struct keel_class_def ended_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = "ended_job",
	.doc = "how a job ended whose submitter waits for it",
};
#define ENDED(attr, kind, words) KEEL_ATTR_DEF("ended_job", attr, kind, .flags = KEEL_ATTR_SAVE, .doc = words)
const struct keel_attr_def ended_attrs[ENDED_ATTRS] = {
	ENDED("owner", "string", "who may ask"),
	ENDED("status", "long", "Exit_status"),
	ENDED("text", "string", "why it did not run to its end"),
	ENDED("time", "long", "when it ended"),
};
KEEL_ATTRS_OF(ended_job, owner, status, text, time);

/* One request that waits for a job. */
struct waiter {
	struct keel_req *req;
	struct waiter *next, **at; /* at: what points to it */
};

static void waiter_end(struct waiter *w)
{
	*w->at = w->next;
	if (w->next)
		w->next->at = w->at;
	free(w);
}

/* Why it did not run to its end; NULL: it did. `step` is how it ended. */
static const char *shortcoming(struct keel_obj *job, enum step step)
{
	if (!keel_is_set(job, job_stime))
		return "Job could not be run";
	return step_substate(step) == KEEL_SUB_TERMINATED ? "Job was deleted" : NULL;
}

static void wait_answer(struct keel_mod *mod, struct keel_req *req, const char *id, int64_t status, const char *text)
{
	struct keel_out *out = keel_out(mod);

	keel_put_int(out, "exit", status);
	if (text)
		keel_put_str(out, "text", text);
	keel_log(mod, KEEL_LOG_DEBUG, "Job", id, "check_block_wt: Write successful to client %s for job %s",
		 keel_req_session(req)->host, id);
	keel_reply_out(req, out);
}

void waiters_answer(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct job *j = job_slot(mod, job);

	while (j->waiters) {
		struct keel_req *req = j->waiters->req;

		waiter_end(j->waiters);
		wait_answer(mod, req, job_id(mod, job), keel_get_int(job, job_Exit_status),
		       shortcoming(job, step));
	}
}

/* ---- ends that are remembered ------------------------------------------------------------------------ */

void ended_keep(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	const char *id = job_id(mod, job), *text = shortcoming(job, step);
	struct keel_obj *old = keel_find(mod, ended_class.name, id), *ended;

	if (old) /* of another job: numbers begin again */
		keel_destroy(old);
	ended = keel_draft(mod, ended_class.name, id, NULL);
	if (!ended)
		return;
	keel_set_str(ended, ended_job_owner, job_text(job, job_Job_Owner));
	keel_set_int(ended, ended_job_status, keel_get_int(job, job_Exit_status));
	keel_set_int(ended, ended_job_time, keel_time(mod));
	if (text)
		keel_set_str(ended, ended_job_text, text);
	if (keel_publish(ended))
		keel_destroy(ended);
}

void ended_clean(struct keel_mod *mod)
{
	struct keel_cursor *walk = keel_cursor(mod, ended_class.name);
	int64_t when = keel_time(mod) - KEEP_SECONDS;
	struct keel_obj *ended;

	/* The oldest come first. */
	while (walk && (ended = keel_next(walk)) && keel_get_int(ended, ended_job_time) < when)
		keel_destroy(ended);
	if (walk)
		keel_cursor_close(walk);
}

static void answer_ended(struct keel_mod *mod, struct keel_req *req, const char *id)
{
	const struct keel_session *who = keel_req_session(req);
	struct keel_obj *ended = find_by_operand(mod, ended_class.name, id);
	const char *owner = ended ? keel_get_str(ended, ended_job_owner) : NULL;

	if (!ended)
		keel_reply(req, PBSE_UNKJOBID, NULL);
	else if (!(who->roles & KEEL_OPERATORS) && (!owner || !is_owner_named(mod, who, owner)))
		keel_reply(req, PBSE_PERM, NULL);
	else
		wait_answer(mod, req, keel_id(ended), keel_get_int(ended, ended_job_status),
		       keel_get_str(ended, ended_job_text));
}

/* ---- requests that wait -------------------------------------------------------------------------------- */

void waiters_refuse(struct job *j, int32_t code, const char *why)
{
	while (j->waiters) {
		struct keel_req *req = j->waiters->req;

		waiter_end(j->waiters);
		keel_reply(req, code, why ? "%s" : NULL, why);
	}
}

/* The module stops: requests that wait are answered with an error, before their job is over. */
void waiters_drop(struct keel_mod *mod)
{
	struct keel_cursor *walk = keel_cursor(mod, "job");
	struct keel_obj *job;

	while (walk && (job = keel_next(walk)))
		if (job_slot(mod, job))
			waiters_refuse(job_slot(mod, job), PBSE_TRYAGAIN,
				       "The server does not wait for jobs any more");
	if (walk)
		keel_cursor_close(walk);
}

/* Its client disconnected: the reply is sent to no one, but ends the request. */
static void client_gone(struct keel_mod *mod, void *arg)
{
	struct waiter *w = arg;
	struct keel_req *req = w->req;

	(void)mod;
	waiter_end(w);
	keel_reply(req, 0, NULL);
}

static void wait_for(struct keel_req *req, struct job *j)
{
	struct waiter *w = calloc(1, sizeof(*w));

	if (!w) {
		keel_reply(req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	*w = (struct waiter){ req, j->waiters, &j->waiters };
	if (w->next)
		w->next->at = &w->next;
	j->waiters = w;
	keel_on_gone(req, client_gone, w);
}

void on_wait(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	const struct keel_session *who = keel_req_session(req);
	const char *id = keel_msg_str(keel_req_body(req), "id");
	struct keel_obj *job = id ? job_find(mod, id) : NULL;
	enum step step = job ? job_slot(mod, job)->step : STEP_NEW;

	if (st->stopping) /* it would be dropped again */
		keel_reply(req, PBSE_TRYAGAIN, NULL);
	else if (!job && id && form_has(mod, id))
		keel_reply(req, PBSE_IVALREQ,
			   "A subjob can be waited for once it has started, its array always");
	else if (!job)
		answer_ended(mod, req, id ? id : "");
	else if (!is_owner(mod, who, job) && !(who->roles & KEEL_OPERATORS))
		keel_reply(req, PBSE_PERM, NULL);
	else if (step_is_over(step) || step_is_expired(step))
		wait_answer(mod, req, job_id(mod, job), keel_get_int(job, job_Exit_status),
		       shortcoming(job, step));
	else
		wait_for(req, job_slot(mod, job));
}
