/* SPDX-License-Identifier: Apache-2.0
 *
 * victims.c - which jobs give way for one that does not fit: the point preempt_victims.
 *
 * Its answer may take long (jobs that are deleted have to be gone). Meanwhile the cycle, and others after it,
 * go on for all but this job, behind a fence around what it will get. Where nothing is known to put a fence
 * around (a limit keeps the job out, or trial_keep() was not called) the cycle stands still. Then the job is
 * considered first, on vnodes that are read again.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

struct asking {
	char *id;
	bool answered, gave_way;
	bool left; /* the answer comes later */
	bool apart; /* and no cycle waits for it */
	bool may_part; /* once its victims are known */
	struct qrun *qrun; /* apart: that it is for; NULL: a cycle's */
};

bool is_asking(const struct state *st, const char *id)
{
	return st->asking && strcmp(st->asking->id, id) == 0;
}

struct qrun *asking_qrun(const struct state *st)
{
	return st->asking ? st->asking->qrun : NULL;
}

static void asking_free(struct asking *a)
{
	free(a->id);
	free(a);
}

/* The job goes before all in the cycle that runs, or in the next. */
static void victims_return(struct keel_mod *mod, struct asking *a)
{
	struct state *st = mod->state;

	if (a->qrun) {
		a->qrun->back = true;
		a->qrun->next = st->qruns;
		st->qruns = a->qrun;
		wake(mod, CMD_QRUN);
		return;
	}
	free(st->urgent);
	st->urgent = strdup(a->id);
	st->asking_over = true;
	if (st->phase == LINGERING)
		cycle_go_on(mod);
	else
		wake(mod, CMD_ENDED);
}

static void victims_answered(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct asking *a = arg;
	char *words;

	a->answered = true;
	a->gave_way = o->verdict == KEEL_DONE;
	if (st->asking == a) {
		st->gave_way = a->gave_way;
		if (a->gave_way && o->text && *o->text) {
			/* "15136 no", or only words. */
			free(st->refusal);
			st->refusal_code = (int32_t)strtol(o->text, &words, 10);
			if (st->refusal_code <= 0)
				st->refusal_code = PBSE_HOOKERROR;
			words += *words == ' ';
			st->refusal = strdup(words);
		}
	}
	if (!a->left)
		return;
	if (st->asking == a) {
		st->asking = NULL;
		if (a->apart)
			victims_return(mod, a);
		else
			cycle_go_on(mod);
	}
	asking_free(a);
}

bool victims_apart(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct asking *a = st->asking;

	a->may_part = true;
	if (!fence_close(mod, a->id))
		return false;
	a->apart = true;
	a->qrun = st->serving;
	st->serving = NULL;
	free(st->urgent);
	st->urgent = NULL;
	return true;
}

/* Those that were looked for in several turns: the cycle has stood still so far. */
void victims_known(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct asking *a = st->asking;

	if (a->apart)
		fence_close(mod, a->id); /* more of them, in a later round */
	else if (a->left && a->may_part && st->phase == PREEMPTING && victims_apart(mod))
		cycle_go_on(mod);
}

void asking_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (asking_qrun(st))
		qrun_answer(mod, st->asking->qrun, PBSE_NOSCHEDULER, NULL);
	st->asking = NULL; /* victims_answered() frees it */
	st->asking_over = false;
	fence_drop(mod);
}

/* A job that a block is in the way of may fit where others give way and nothing is promised. */
enum victims victims_ask(struct keel_mod *mod, struct keel_obj *job, const struct reason *r)
{
	struct state *st = mod->state;
	struct asking *a;
	enum victims found = VICTIMS_NONE;

	if (r->never || !keel_tapped(mod, KEEL_POINT_preempt_victims))
		return VICTIMS_NONE;
	a = calloc(1, sizeof(*a));
	if (!a || !(a->id = strdup(keel_id(job)))) {
		free(a);
		return VICTIMS_NONE;
	}
	fence_drop(mod);
	st->asking = a;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_preempt_victims,
		.event = KEEL_EVENT(preempt_victims, .id = a->id, .job = job,
			       .code = r->from ? KEEL_WHY_FEW_FREE : r->code, .reason = r->text, .what = r->what,
			       .qrun = st->serving != NULL),
		.done = victims_answered,
		.arg = a,
	});
	if (!a->answered) {
		a->left = true;
		found = VICTIMS_LEAVING;
	} else {
		found = a->gave_way ? VICTIMS_GONE : VICTIMS_NONE;
		st->asking = NULL;
		asking_free(a);
	}
	if (found != VICTIMS_NONE) {
		free(st->urgent);
		st->urgent = strdup(keel_id(job));
	}
	return found;
}
