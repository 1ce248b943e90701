/* SPDX-License-Identifier: Apache-2.0
 *
 * wait.c - requests answered when a job is over (qsub -W block=true).
 */
#include "jobs.h"

#include <stdlib.h>

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

/* `step` is how the job ended. */
static void answer(struct keel_mod *mod, struct keel_req *req, struct keel_obj *job, enum step step)
{
	struct state *st = mod->state;
	struct keel_out *out = st->msg->out(mod);
	bool ran = st->object->is_set(job, st->a.stime);

	st->msg->put_int(out, "exit", st->object->get_int(job, st->a.exit_status));
	if (!ran || step_substate(step) == KEEL_SUB_TERMINATED)
		st->msg->put_str(out, "text", ran ? "Job was deleted" : "Job could not be run");
	st->core->log(mod, KEEL_LOG_DEBUG, "Job", job_id(mod, job),
		      "check_block_wt: Write successful to client %s for job %s", st->request->session(req)->host,
		      job_id(mod, job));
	st->request->reply_out(req, out);
}

void waiters_answer(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct job *j = job_slot(mod, job);

	while (j->waiters) {
		struct keel_req *req = j->waiters->req;

		waiter_end(j->waiters);
		answer(mod, req, job, step);
	}
}

void waiters_refuse(struct keel_mod *mod, struct job *j, int32_t code, const char *why)
{
	struct state *st = mod->state;

	while (j->waiters) {
		struct keel_req *req = j->waiters->req;

		waiter_end(j->waiters);
		st->request->reply(req, code, why ? "%s" : NULL, why);
	}
}

/* This module goes, perhaps for the time of a reload: nobody would tell them any more. */
void waiters_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = st->object->cursor(mod, "job");
	struct keel_obj *job;

	while (walk && (job = st->object->next(walk)))
		if (job_slot(mod, job))
			waiters_refuse(mod, job_slot(mod, job), PBSE_TRYAGAIN,
				       "The server does not wait for jobs any more");
	if (walk)
		st->object->cursor_close(walk);
}

/* Its client went away: an answer goes nowhere, but ends the request. */
static void client_gone(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct waiter *w = arg;
	struct keel_req *req = w->req;

	waiter_end(w);
	st->request->reply(req, 0, NULL);
}

static void wait_for(struct keel_mod *mod, struct keel_req *req, struct job *j)
{
	struct state *st = mod->state;
	struct waiter *w = calloc(1, sizeof(*w));

	if (!w) {
		st->request->reply(req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	*w = (struct waiter){ req, j->waiters, &j->waiters };
	if (w->next)
		w->next->at = &w->next;
	j->waiters = w;
	st->request->on_gone(req, client_gone, w);
}

void on_wait(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	const struct keel_session *who = st->request->session(req);
	const char *id = st->msg->str(st->request->body(req), "id");
	struct keel_obj *job = id ? job_find(mod, id) : NULL;
	enum step step = job ? job_slot(mod, job)->step : STEP_NEW;

	if (!job && id && form_has(mod, id))
		st->request->reply(req, PBSE_IVALREQ,
				   "A subjob can be waited for once it has started, its array always");
	else if (!job)
		st->request->reply(req, PBSE_UNKJOBID, NULL);
	else if (!is_owner(mod, who, job) && !(who->roles & KEEL_OPERATORS))
		st->request->reply(req, PBSE_PERM, NULL);
	else if (step_is_over(step) || step_is_expired(step))
		answer(mod, req, job, step);
	else
		wait_for(mod, req, job_slot(mod, job));
}
