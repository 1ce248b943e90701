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
enum { OWNER, STATUS, TEXT, TIME };

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
static const char *shortcoming(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct state *st = mod->state;

	if (!st->object->is_set(job, st->a.stime))
		return "Job could not be run";
	return step_substate(step) == KEEL_SUB_TERMINATED ? "Job was deleted" : NULL;
}

static void wait_answer(struct keel_mod *mod, struct keel_req *req, const char *id, int64_t status, const char *text)
{
	struct state *st = mod->state;
	struct keel_out *out = st->msg->out(mod);

	st->msg->put_int(out, "exit", status);
	if (text)
		st->msg->put_str(out, "text", text);
	st->core->log(mod, KEEL_LOG_DEBUG, "Job", id, "check_block_wt: Write successful to client %s for job %s",
		      st->request->session(req)->host, id);
	st->request->reply_out(req, out);
}

void waiters_answer(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);

	while (j->waiters) {
		struct keel_req *req = j->waiters->req;

		waiter_end(j->waiters);
		wait_answer(mod, req, job_id(mod, job), st->object->get_int(job, st->a.exit_status),
		       shortcoming(mod, job, step));
	}
}

/* ---- ends that are remembered ------------------------------------------------------------------------ */

void ended_find(struct keel_mod *mod)
{
	struct state *st = mod->state;

	for (size_t i = 0; i < ENDED_ATTRS; i++)
		st->ended[i] = st->object->attr(mod, ended_class.name, ended_attrs[i].name);
}

void ended_keep(struct keel_mod *mod, struct keel_obj *job, enum step step)
{
	struct state *st = mod->state;
	const char *id = job_id(mod, job), *text = shortcoming(mod, job, step);
	struct keel_obj *old = st->object->find(mod, ended_class.name, id), *ended;

	if (old) /* of another job: numbers begin again */
		st->object->destroy(old);
	ended = st->object->draft(mod, ended_class.name, id, NULL);
	if (!ended)
		return;
	st->object->set_str(ended, st->ended[OWNER], job_text(mod, job, st->a.euser));
	st->object->set_int(ended, st->ended[STATUS], st->object->get_int(job, st->a.exit_status));
	st->object->set_int(ended, st->ended[TIME], st->core->time(mod));
	if (text)
		st->object->set_str(ended, st->ended[TEXT], text);
	if (st->object->publish(ended))
		st->object->destroy(ended);
}

void ended_clean(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = st->object->cursor(mod, ended_class.name);
	int64_t when = st->core->time(mod) - KEEP_SECONDS;
	struct keel_obj *ended;

	/* The oldest come first. */
	while (walk && (ended = st->object->next(walk)) && st->object->get_int(ended, st->ended[TIME]) < when)
		st->object->destroy(ended);
	if (walk)
		st->object->cursor_close(walk);
}

static void answer_ended(struct keel_mod *mod, struct keel_req *req, const char *id)
{
	struct state *st = mod->state;
	const struct keel_session *who = st->request->session(req);
	struct keel_obj *ended = find_by_operand(mod, ended_class.name, id);
	const char *owner = ended ? st->object->get_str(ended, st->ended[OWNER]) : NULL;

	if (!ended)
		st->request->reply(req, PBSE_UNKJOBID, NULL);
	else if (!(who->roles & KEEL_OPERATORS) && (!owner || strcmp(owner, who->user) != 0))
		st->request->reply(req, PBSE_PERM, NULL);
	else
		wait_answer(mod, req, st->object->id(ended), st->object->get_int(ended, st->ended[STATUS]),
		       st->object->get_str(ended, st->ended[TEXT]));
}

/* ---- requests that wait -------------------------------------------------------------------------------- */

void waiters_refuse(struct keel_mod *mod, struct job *j, int32_t code, const char *why)
{
	struct state *st = mod->state;

	while (j->waiters) {
		struct keel_req *req = j->waiters->req;

		waiter_end(j->waiters);
		st->request->reply(req, code, why ? "%s" : NULL, why);
	}
}

/* The module stops: requests that wait are answered with an error, before their job is over. */
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

/* Its client disconnected: the reply is sent to no one, but ends the request. */
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

	if (st->stopping) /* it would be dropped again */
		st->request->reply(req, PBSE_TRYAGAIN, NULL);
	else if (!job && id && form_has(mod, id))
		st->request->reply(req, PBSE_IVALREQ,
				   "A subjob can be waited for once it has started, its array always");
	else if (!job)
		answer_ended(mod, req, id ? id : "");
	else if (!is_owner(mod, who, job) && !(who->roles & KEEL_OPERATORS))
		st->request->reply(req, PBSE_PERM, NULL);
	else if (step_is_over(step) || step_is_expired(step))
		wait_answer(mod, req, job_id(mod, job), st->object->get_int(job, st->a.exit_status),
		       shortcoming(mod, job, step));
	else
		wait_for(mod, req, job_slot(mod, job));
}
