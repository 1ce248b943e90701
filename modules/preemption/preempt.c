/* SPDX-License-Identifier: Apache-2.0
 *
 * preempt.c - one victim: its letters in turn, until one has made it give way.
 *
 *   state says it already -> outcome
 *   R -> letter -> point job_preempt -> start() of the letter's row -> DONE: outcome
 *   ^____________ refused: the next one __________|   none left: 000
 *
 * Each try is an operation about the victim. The rows wait with holds, so each wait has a name and a
 * deadline, and each victim gets exactly one outcome.
 */
#include "preemption.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

KEEL_ATTRS_OF(job, ptime, exec_vnode);

#define GONE "D" /* the outcome of a job that is not there any more */

struct attempt {
	struct attempt *next, *prev; /* all that are under way */
	char *id;
	char letters[ORDER_LETTERS + 1];
	uint32_t at;
	struct method *by; /* the method being tried; its module stays for as long */
	preempted_fn *done; /* NULL: the caller has had its outcome, the method has not ended yet */
	void *arg;
};

static void attempt_free(struct attempt *a)
{
	free(a->id);
	free(a);
}

/* Who is named twice is tried once. False: it is being tried already. */
static bool gives_way(struct keel_mod *mod, const char *id, bool begins)
{
	struct keel_obj *job = keel_find(mod, "job", id);
	struct runner *r = job ? runner_of(mod, job) : NULL;

	if (r && begins && r->gives_way)
		return false;
	if (r)
		r->gives_way = begins;
	return true;
}

static void finish(struct keel_mod *mod, struct attempt *a, const char *outcome,
		   const struct keel_preempt_def *by)
{
	struct state *st = mod->state;

	st->waiting--;
	DL_DELETE(st->under_way, a);
	gives_way(mod, a->id, false);
	if (a->done)
		a->done(mod, a->arg, a->id, outcome, by);
	a->by = NULL;
	attempt_free(a);
}

/* ---- what its state says --------------------------------------------------------------------------- */

/* NULL: it runs, and methods decide. */
static const char *known_outcome(struct keel_mod *mod, const char *id)
{
	struct keel_obj *job = keel_find(mod, "job", id);
	char letter = job ? keel_job_state(job) : keel_job_letter(id);

	if (job && letter == 'R')
		return NULL;
	switch (letter) {
	case 'Q':
		return "Q";
	case '\0':
	case 'X':
	case 'F':
	case 'M':
		return GONE;
	default:
		return OUTCOME_FAILED;
	}
}

/* ---- the methods in turn ------------------------------------------------------------------------- */

static void try_next(struct keel_mod *mod, struct attempt *a);

static void gave_way(struct keel_mod *mod, struct attempt *a)
{
	struct state *st = mod->state;
	struct keel_obj *job = keel_find(mod, "job", a->id);
	char letter = job ? keel_job_state(job) : 'F';

	if (job && letter != 'F' && letter != 'X')
		keel_set_int(job, job_ptime, keel_time(mod));
	keel_note(mod, KEEL_POINT_job_preempted,
		  KEEL_EVENT(job_preempted, .id = a->id, .job = job, .method = a->by->def->letter,
			     .who = st->who));
	finish(mod, a, a->by->def->outcome, a->by->def);
}

/* A job that is not running any more must not meet a harder letter: D would take it out of its queue. */
static void tried(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct attempt *a = arg;
	const char *known = known_outcome(mod, a->id);
	const struct method *m;
	int32_t code = o->code ? o->code : PBSE_HOOKERROR;

	if (o->verdict == KEEL_NEXT || o->verdict == KEEL_DONE) {
		gave_way(mod, a);
		return;
	}
	if (known && strcmp(known, OUTCOME_FAILED) != 0) {
		for (m = st->methods; m && strcmp(m->def->outcome, known) != 0; m = m->next)
			;
		finish(mod, a, known, m ? m->def : NULL);
		return;
	}
	keel_log(mod, KEEL_LOG_DEBUG, "Job", a->id, "preemption method %s failed for job (%d)",
		 a->by->def->name, (int)code);
	/* A host that is away is no reason to try something harder: that could not be carried out either. */
	if (st->stopping || code == PBSE_NORELYMOM || !a->done)
		finish(mod, a, OUTCOME_FAILED, NULL);
	else
		try_next(mod, a);
}

static void try_next(struct keel_mod *mod, struct attempt *a)
{
	struct state *st = mod->state;
	struct keel_obj *job = keel_find(mod, "job", a->id);
	const bool runs = known_outcome(mod, a->id) == NULL;
	struct method *m = NULL;
	char method[2] = "";

	while (runs && !m && a->letters[a->at])
		m = method_find(st, a->letters[a->at++]);
	if (!m) {
		if (job)
			keel_log(mod, KEEL_LOG_DEBUG, "Job", a->id, "Job failed to be preempted");
		finish(mod, a, OUTCOME_FAILED, NULL);
		return;
	}
	a->by = m;
	method[0] = *m->def->letter;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_job_preempt,
		.event = KEEL_EVENT(job_preempt, .id = a->id, .job = job, .method = method,
			       .who = st->who),
		.done = tried,
		.arg = a,
	});
}

/* Everybody else has accepted. */
keel_verdict on_preempt(struct keel_call *c, const struct keel_ev_job_preempt *ev)
{
	struct state *st = keel_state(c);
	struct method *m = ev->method ? method_find(st, *ev->method) : NULL;

	if (!m || !ev->job)
		return keel_reject(c, PBSE_NOSUP, NULL);
	return m->def->start(m->owner, c, ev->job, ev->who);
}

void preempt(struct keel_mod *mod, const char *id, preempted_fn *done, void *arg)
{
	struct state *st = mod->state;
	const char *known = known_outcome(mod, id);
	struct attempt *a = known ? NULL : calloc(1, sizeof(*a));

	if (a && !(a->id = strdup(id))) {
		free(a);
		a = NULL;
	}
	if (a && !gives_way(mod, id, true)) {
		attempt_free(a);
		a = NULL;
	}
	if (!a) {
		done(mod, arg, id, known ? known : OUTCOME_FAILED, NULL);
		return;
	}
	strcpy(a->letters, letters_for(mod, keel_find(mod, "job", id)));
	a->done = done;
	a->arg = arg;
	st->waiting++;
	DL_APPEND(st->under_way, a);
	try_next(mod, a);
}

/* ---- hosts that go away meanwhile ------------------------------------------------------------------ */

static bool is_on(struct keel_mod *mod, const char *id, const char *vnode)
{
	struct keel_obj *job = keel_find(mod, "job", id);
	const char *text = job ? keel_get_str(job, job_exec_vnode) : NULL;
	struct keel_exec *exec = NULL;
	uint32_t i = 0;
	bool on;

	if (!text || keel_resource_exec_parse(text, &exec, NULL))
		return false;
	while (i < exec->n && strcmp(exec->part[i].vnode, vnode) != 0)
		i++;
	on = i < exec->n;
	keel_resource_exec_free(exec);
	return on;
}

/* Its victims cannot give way in time, whatever was sent to them: the caller goes on without them. */
keel_verdict on_node_down(struct keel_call *c, const struct keel_ev_node_down *ev)
{
	struct state *st = keel_state(c);
	struct attempt *a = st->under_way;

	while (a) {
		preempted_fn *done = a->done;

		if (!done || !is_on(c->mod, a->id, ev->id)) {
			a = a->next;
			continue;
		}
		a->done = NULL;
		done(c->mod, a->arg, a->id, OUTCOME_FAILED, NULL);
		a = st->under_way; /* done() may begin or end others */
	}
	return KEEL_NEXT;
}
