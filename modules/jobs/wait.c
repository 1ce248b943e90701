/* SPDX-License-Identifier: Apache-2.0
 *
 * wait.c - requests answered when a job is over (qsub -W block=true).
 */
#include "jobs.h"

#include <stdlib.h>

static void answer(struct keel_mod *mod, struct keel_req *req, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct keel_out *out = st->msg->out(mod);
	bool ran = st->object->is_set(job, st->a.stime);

	st->msg->put_int(out, "exit", st->object->get_int(job, st->a.exit_status));
	if (!ran || job_slot(mod, job)->ending == ENDING_DELETE)
		st->msg->put_str(out, "text", ran ? "Job was deleted" : "Job could not be run");
	st->request->reply_out(req, out);
}

void waiters_answer(struct keel_mod *mod, struct keel_obj *job)
{
	struct job *j = job_slot(mod, job);
	struct waiter *w, *next;

	for (w = j->waiters; w; w = next) {
		next = w->next;
		answer(mod, w->req, job);
		free(w);
	}
	j->waiters = NULL;
}

/* This module goes: nobody would tell them any more. */
void waiters_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = st->object->cursor(mod, "job");
	struct keel_obj *job;

	while (walk && (job = st->object->next(walk))) {
		struct job *j = job_slot(mod, job);

		while (j && j->waiters) {
			struct waiter *w = j->waiters;

			j->waiters = w->next;
			st->request->reply(w->req, PBSE_SYSTEM, "The server does not wait for jobs any more");
			free(w);
		}
	}
	if (walk)
		st->object->cursor_close(walk);
}

void on_wait(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	const char *id = st->msg->str(st->request->body(req), "id");
	struct keel_obj *job = id ? job_find(mod, id) : NULL;
	struct waiter *w;

	if (!job && id && form_has(mod, id)) {
		st->request->reply(req, PBSE_IVALREQ,
				   "A subjob can be waited for once it has started, its array always");
		return;
	}
	if (!job) {
		st->request->reply(req, PBSE_UNKJOBID, NULL);
		return;
	}
	if (!is_owner(mod, st->request->session(req), job) &&
	    !(st->request->session(req)->roles & KEEL_OPERATORS)) {
		st->request->reply(req, PBSE_PERM, NULL);
		return;
	}
	if (step_is_over(job_slot(mod, job)->step)) {
		answer(mod, req, job);
		return;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		st->request->reply(req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	w->req = req;
	w->next = job_slot(mod, job)->waiters;
	job_slot(mod, job)->waiters = w;
}
