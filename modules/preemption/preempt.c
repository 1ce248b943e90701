/* SPDX-License-Identifier: Apache-2.0
 *
 * preempt.c - one victim: its letters in turn, until one has made it give way.
 *
 *   state says it already -> outcome
 *   R -> letter -> point job_preempt -> start() of the letter's row -> DONE: outcome
 *          ^_______ refused: the next one _______|   none left: 000
 *
 * Each try is an operation about the victim. The rows wait with holds, so each wait has a name and a
 * deadline, and each victim gets exactly one outcome.
 */
#include "preemption.h"

#include <stdlib.h>
#include <string.h>

#define GONE "D" /* the outcome of a job that is not there any more */

struct attempt {
	char *id;
	char letters[ORDER_LETTERS + 1];
	uint32_t at;
	const struct keel_preempt_def *by; /* the method being tried */
	preempted_fn *done;
	void *arg;
};

static void attempt_free(struct attempt *a)
{
	free(a->id);
	free(a);
}

static void finish(struct keel_mod *mod, struct attempt *a, const char *outcome,
		   const struct keel_preempt_def *by)
{
	struct state *st = mod->state;

	st->waiting--;
	a->done(mod, a->arg, a->id, outcome, by);
	attempt_free(a);
}

/* ---- the methods in turn ------------------------------------------------------------------------- */

static void try_next(struct keel_mod *mod, struct attempt *a);

static void gave_way(struct keel_mod *mod, struct attempt *a)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->object->find(mod, "job", a->id);
	char letter = job ? st->job->state(st->job->self, job) : 'F';

	if (job && letter != 'F' && letter != 'X')
		st->object->set_int(job, st->a.ptime, st->core->time(mod));
	st->hook->note(mod, KEEL_POINT_job_preempted,
		       KEEL_EVENT(job_preempted, .id = a->id, .job = job, .method = a->by->letter,
				  .who = st->who));
	finish(mod, a, a->by->outcome, a->by);
}

static void tried(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct attempt *a = arg;

	if (o->verdict == KEEL_NEXT || o->verdict == KEEL_DONE) {
		gave_way(mod, a);
		return;
	}
	if (!st->object->find(mod, "job", a->id)) { /* gone while it was waited for */
		struct method *m = method_find(st, *GONE);

		finish(mod, a, GONE, m ? m->def : NULL);
		return;
	}
	st->core->log(mod, KEEL_LOG_DEBUG, "Job", a->id, "preemption method %s failed for job (%d)",
		      a->by->name, (int)(o->code ? o->code : PBSE_HOOKERROR));
	if (st->stopping) /* given up, not refused: no reason to try something harder */
		finish(mod, a, OUTCOME_FAILED, NULL);
	else
		try_next(mod, a);
}

static void none_left(struct keel_mod *mod, struct attempt *a, struct keel_obj *job)
{
	struct state *st = mod->state;

	if (job)
		st->core->log(mod, KEEL_LOG_DEBUG, "Job", a->id, "Job failed to be preempted");
	finish(mod, a, OUTCOME_FAILED, NULL);
}

static void try_next(struct keel_mod *mod, struct attempt *a)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->object->find(mod, "job", a->id);
	struct method *m = NULL;
	char method[2] = "";

	while (!m && a->letters[a->at])
		m = method_find(st, a->letters[a->at++]);
	if (!m || !job) {
		none_left(mod, a, job);
		return;
	}
	a->by = m->def;
	method[0] = *m->def->letter;
	st->hook->raise(mod, &(struct keel_raise){
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
		return st->call->reject(c, PBSE_NOSUP, NULL);
	return m->def->start(m->owner, c, ev->job, ev->who);
}

/* ---- what is known at once ------------------------------------------------------------------------- */

static const char *known_outcome(char letter)
{
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

void preempt(struct keel_mod *mod, const char *id, preempted_fn *done, void *arg)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->object->find(mod, "job", id);
	char letter = job ? st->job->state(st->job->self, job) : st->job->letter(st->job->self, id);
	const char *known = job && letter == 'R' ? NULL : known_outcome(letter);
	struct attempt *a = known ? NULL : calloc(1, sizeof(*a));

	if (a && !(a->id = strdup(id))) {
		free(a);
		a = NULL;
	}
	if (!a) {
		done(mod, arg, id, known ? known : OUTCOME_FAILED, NULL);
		return;
	}
	strcpy(a->letters, letters_for(mod, job));
	a->done = done;
	a->arg = arg;
	st->waiting++;
	try_next(mod, a);
}
