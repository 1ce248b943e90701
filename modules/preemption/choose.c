/* SPDX-License-Identifier: Apache-2.0
 *
 * choose.c - who gives way for a job: candidates go one by one in a what-if, until the job fits; then
 * those who were not needed stay.
 *
 *	LISTING -> OPENING -> GROWING -> SHORTENING -> DROPPING -> RESTORING -> OVER
 *	                         |  not with all of them: none        ^
 *	                         +------------------------------------+
 *
 * Lowest level first, the youngest first. A job that was over a soft limit may not be any more when others have
 * gone: a victim whose level has risen to that of the job stays, and none follows when it has gone already.
 *
 * After the first few the job is tried less and less often, and halving then finds the shortest row of victims.
 * Which of them are not needed is tried for DROP_US: a job that gives way for nothing is worse than one look less,
 * but an urgent job that waits is worse than both. All of it is done in steps, for TURN_US in one turn of the loop.
 */
#include "preemption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relevance.h"

#define ONE_BY_ONE 32 /* victims after each of which the job is tried */
#define DROP_US 10000 /* how long victims are tried for not being needed */

bool victims_add(struct victims *v, const char *id)
{
	if (v->n == v->room) {
		uint32_t room = v->room ? 2 * v->room : 8;
		char **bigger = reallocarray(v->id, room, sizeof(char *));

		if (!bigger)
			return false;
		v->id = bigger;
		v->room = room;
	}
	v->id[v->n] = strdup(id);
	return v->id[v->n] && ++v->n;
}

void victims_clear(struct victims *v)
{
	while (v->n)
		free(v->id[--v->n]);
	free(v->id);
	*v = (struct victims){ 0 };
}

enum phase { LISTING, OPENING, GROWING, SHORTENING, DROPPING, RESTORING, OVER };

struct simulation {
	struct keel_mod *mod;
	struct keel_trial *trial; /* NULL: none was needed yet, or there is no memory */
	struct keel_obj *job;
	struct wanted wanted;
	struct runner **list; /* candidates, in the order in which they go; NULL where one is not taken */
	uint32_t n, all, of_level; /* all: that were looked at; of_level: targets not yet looked at */
	uint32_t at;	      /* in LISTING and DROPPING: the next; else those before it have gone */
	uint32_t far;	      /* the most that had gone */
	uint32_t few, enough; /* so many from the front are not enough; are */
	uint32_t taken, next; /* have gone; the job is tried when so many have */
	int64_t dropping_us;
	enum phase phase;
	enum choice choice; /* when it is OVER */
	struct keel_sched_reason why;
};

static void log_about(struct keel_mod *mod, struct keel_obj *job, uint32_t bits, const char *text)
{
	keel_log(mod, bits, "Job", keel_id(job), "%s", text);
}

static bool fits(struct simulation *sim)
{
	sim->why = (struct keel_sched_reason){ .size = sizeof(sim->why) };
	return keel_sched_trial_fits(sim->trial, &sim->why);
}

bool fits_now(struct keel_obj *job)
{
	struct keel_trial *trial = keel_sched_trial(job);
	bool fits = !trial || keel_sched_trial_fits(trial, NULL);

	keel_sched_trial_free(trial);
	return fits;
}

static bool vacate(struct simulation *sim, struct runner *r)
{
	char *only;

	r->by = first_useful(sim->mod, r->job, &only);
	if (r->by && keel_sched_trial_vacate(sim->trial, r->job, only))
		r->by = NULL;
	free(only);
	if (!r->by)
		return false;
	r->by->taken++;
	sim->taken++;
	return true;
}

static void stays(struct simulation *sim, struct runner *r)
{
	r->by->taken--;
	r->by = NULL;
	sim->taken--;
}

static void restore(struct simulation *sim, struct runner *r)
{
	keel_sched_trial_restore(sim->trial, r->job);
	stays(sim, r);
}

static void over(struct simulation *sim, enum choice choice)
{
	sim->choice = choice;
	sim->at = sim->far;
	sim->phase = RESTORING;
}

/* ---- listing ---------------------------------------------------------------------------------------------- */

/* No job is left out without memory: there is no list. */
static void gather(struct simulation *sim)
{
	struct state *st = sim->mod->state;
	struct crowd *c;
	struct runner *r;

	for (c = st->crowds; c; c = c->next)
		sim->all += c->level < sim->wanted.s->level ? c->n : 0;
	sim->list = sim->all ? calloc(sim->all, sizeof(struct runner *)) : NULL;
	sim->all = 0;
	for (c = sim->list ? st->crowds : NULL; c; c = c->next)
		for (r = c->level < sim->wanted.s->level ? c->first : NULL; r; r = r->next)
			sim->list[sim->all++] = r;
}

static void list_one(struct simulation *sim)
{
	struct runner *r = sim->list[sim->at];

	sim->list[sim->at++] = NULL;
	if (!r || !is_candidate(sim->mod, &sim->wanted, sim->job, r))
		return;
	sim->of_level++;
	if (!sim->wanted.has_targets || is_target(sim->wanted.targets, r->job))
		sim->list[sim->n++] = r;
}

static void listed(struct simulation *sim)
{
	if (sim->wanted.has_targets && sim->of_level)
		keel_log(sim->mod, KEEL_LOG_DEBUG2, "Job", keel_id(sim->job),
			 "Limited running jobs used for preemption from %u to %u%s", sim->of_level, sim->n,
			 sim->n ? "" : ": No jobs to preempt");
	candidates_sort(sim->list, &sim->n);
	sim->phase = OPENING;
	if (!sim->n && !sim->wanted.s->round)
		over(sim, CHOICE_NONE);
}

/* ---- growing ------------------------------------------------------------------------------------------------ */

static bool has_risen(const struct simulation *sim, const struct runner *r)
{
	return r && r->crowd->level >= sim->wanted.s->level;
}

/* Limits count less now: whose turn is it, and is it anybody's? */
static void order_again(struct simulation *sim)
{
	uint32_t rest = sim->n - sim->far, end = sim->far, i;

	candidates_sort(sim->list + sim->far, &rest);
	sim->n = sim->far + rest;
	while (end < sim->n && !has_risen(sim, sim->list[end]))
		end++;
	for (i = 0; i < sim->far; i++)
		if (has_risen(sim, sim->list[i]))
			end = sim->far;
	for (i = end; i < sim->n; i++)
		if (sim->list[i])
			log_about(sim->mod, sim->list[i]->job, KEEL_LOG_DEBUG2,
				  "Preempting job will escalate its priority or priority of other jobs, not "
				  "preempting it");
	sim->n = end;
}

static void take(struct simulation *sim)
{
	struct runner *r = sim->list[sim->far];

	sim->at = ++sim->far;
	if (!r || !vacate(sim, r)) {
		sim->list[sim->far - 1] = NULL;
		return;
	}
	log_about(sim->mod, r->job, KEEL_LOG_DEBUG2, "Simulation: preempting job");
	if (levels_moved(sim->mod))
		order_again(sim);
}

static void grow(struct simulation *sim)
{
	char text[320];

	if (sim->taken < sim->next && sim->far < sim->n) {
		take(sim);
	} else if (sim->taken && fits(sim)) {
		sim->enough = sim->far;
		sim->phase = SHORTENING;
	} else if (sim->far == sim->n) {
		snprintf(text, sizeof(text), "Simulation: not enough work preempted: %s", sim->why.text);
		log_about(sim->mod, sim->job, KEEL_LOG_DEBUG2, text);
		over(sim, CHOICE_NONE);
	} else {
		sim->few = sim->far;
		sim->next = sim->taken < ONE_BY_ONE ? sim->taken + 1 : sim->taken + sim->taken / 4;
	}
}

/* ---- those who are not needed --------------------------------------------------------------------------------- */

/* The first `enough` are, the first `few` are not: the shortest row that is. */
static void shorten(struct simulation *sim)
{
	const bool halves = sim->enough - sim->few > 1;
	uint32_t to = halves ? sim->few + (sim->enough - sim->few) / 2 : sim->enough;
	struct runner **r;

	if (sim->at != to) {
		/* One more or one less of those that had gone. */
		r = &sim->list[sim->at < to ? sim->at : sim->at - 1];
		if (*r && sim->at > to)
			restore(sim, *r);
		else if (*r && !vacate(sim, *r))
			*r = NULL;
		sim->at += sim->at < to ? 1 : UINT32_MAX;
	} else if (!halves) {
		sim->n = sim->enough;
		sim->at = 0;
		sim->phase = DROPPING;
	} else if (fits(sim)) {
		sim->enough = to;
	} else {
		sim->few = to;
	}
}

static void chosen(struct simulation *sim);

static void drop_one(struct simulation *sim)
{
	int64_t began = keel_clock_us(sim->mod);
	struct runner **r = &sim->list[sim->at++];

	if (*r) {
		restore(sim, *r);
		if (fits(sim)) {
			log_about(sim->mod, (*r)->job, KEEL_LOG_DEBUG2,
				  "Simulation: preemption of job not needed.");
			*r = NULL;
		} else if (!vacate(sim, *r)) {
			*r = NULL;
		}
	}
	sim->dropping_us += keel_clock_us(sim->mod) - began;
}

static void chosen(struct simulation *sim)
{
	struct search *s = sim->wanted.s;
	bool risen = false, whole = true;
	int64_t level;
	uint32_t i;

	log_about(sim->mod, sim->job, KEEL_LOG_DEBUG2, "Simulation: Preempted enough work to run job");
	if (s->level < PRIO_HIGHEST) {
		level = level_of(sim->mod, sim->job, KEEL_LIMITS_ALSO_IT);
		levels_moved(sim->mod);
		for (i = 0; i < sim->n; i++)
			risen |= sim->list[i] && sim->list[i]->crowd->level > level;
	}
	if (risen) { /* one of those that made room would be more urgent than the job, once it ran */
		log_about(sim->mod, sim->job, KEEL_LOG_DEBUG2,
			  "Job not run because it would immediately be preemptable.");
		over(sim, CHOICE_FOR_NOTHING);
		return;
	}
	for (i = 0; i < sim->n; i++)
		if (sim->list[i])
			whole = whole && victims_add(&s->victims, keel_id(sim->list[i]->job));
	if (!whole || !s->victims.n) {
		over(sim, CHOICE_NONE);
		return;
	}
	keel_sched_trial_keep(sim->trial);
	over(sim, CHOICE_VICTIMS);
}

/* ---- a choice -------------------------------------------------------------------------------------------------- */

static void step(struct simulation *sim)
{
	struct runner *r;

	switch (sim->phase) {
	case LISTING:
		if (sim->at < sim->all)
			list_one(sim);
		else
			listed(sim);
		break;
	case OPENING:
		sim->trial = keel_sched_trial(sim->job);
		sim->next = 1;
		sim->phase = GROWING;
		if (!sim->trial)
			over(sim, CHOICE_NONE);
		else if (fits(sim))
			over(sim, CHOICE_FITS);
		break;
	case GROWING:
		grow(sim);
		break;
	case SHORTENING:
		shorten(sim);
		break;
	case DROPPING:
		if (sim->at < sim->n && sim->taken > 1 && sim->dropping_us < DROP_US)
			drop_one(sim);
		else
			chosen(sim);
		break;
	case RESTORING:
		/* They are as they were: the newest first, which is the cheap way round. */
		r = sim->at ? sim->list[--sim->at] : NULL;
		if (r && r->by)
			restore(sim, r);
		if (!sim->at)
			sim->phase = OVER;
		break;
	case OVER:
		break;
	}
}

void choose_drop(struct keel_mod *mod, struct search *s)
{
	struct state *st = mod->state;
	struct simulation *sim = s->sim;
	struct method *m;
	uint32_t i;

	if (!sim)
		return;
	keel_sched_trial_free(sim->trial);
	for (i = 0; i < sim->all; i++)
		if (sim->list[i])
			sim->list[i]->by = NULL;
	for (m = st->methods; m; m = m->next)
		m->taken = 0;
	keel_resource_exec_free(sim->wanted.own);
	free(sim->list);
	free(sim);
	s->sim = NULL;
	st->choosing = NULL;
}

void choose_without(struct keel_mod *mod, struct runner *r)
{
	struct state *st = mod->state;
	struct simulation *sim = st->choosing ? st->choosing->sim : NULL;
	uint32_t i;

	for (i = 0; sim && i < sim->all; i++)
		if (sim->list[i] == r)
			sim->list[i] = NULL;
	if (sim && r->by)
		stays(sim, r);
}

static bool begin(struct keel_mod *mod, struct search *s, struct keel_obj *job, uint32_t relevance)
{
	struct state *st = mod->state;
	struct simulation *sim;

	if (st->choosing)
		return false;
	levels_compute(mod);
	sim = s->sim = calloc(1, sizeof(*sim));
	if (!sim)
		return false;
	sim->mod = mod;
	sim->job = job;
	sim->wanted.s = s;
	sim->wanted.relevance = relevance;
	sim->wanted.own = keel_job_is_suspended(job) ? exec_of(job) : NULL;
	sim->wanted.has_targets = targets_of(mod, job, sim->wanted.targets, sizeof(sim->wanted.targets));
	gather(sim);
	st->choosing = s;
	return true;
}

/* Everybody, or *ret how it ended. */
static bool ended(struct keel_mod *mod, struct search *s, struct keel_obj *job, enum choice *ret)
{
	const struct simulation *sim = s->sim;
	const uint32_t relevance = sim->wanted.relevance;
	/* It may lack more than was said; but who is not counted by a limit makes no room in it. */
	const bool same = !sim->trial || (sim->why.code == s->code && strcmp(sim->why.what, s->what) == 0);
	const bool others = sim->choice == CHOICE_NONE && relevance && !((relevance & OF_A_LIMIT) && same);

	*ret = s->sim->choice;
	s->candidates += s->sim->n;
	choose_drop(mod, s);
	if (others && begin(mod, s, job, 0))
		return false;
	if (!s->candidates && *ret == CHOICE_NONE)
		log_about(mod, job, KEEL_LOG_DEBUG2, "Found no preemptable candidates");
	return true;
}

enum choice choose(struct keel_mod *mod, struct search *s, struct keel_obj *job)
{
	int64_t until = keel_clock_us(mod) + TURN_US;
	enum choice choice = CHOICE_NONE;

	if (!s->sim) {
		victims_clear(&s->victims);
		s->candidates = 0;
		log_about(mod, job, KEEL_LOG_DEBUG2, "Employing preemption to try and run high priority job.");
		if (!begin(mod, s, job, relevance_of(s->code)))
			return choice;
	}
	do {
		if (s->sim->phase == OVER && ended(mod, s, job, &choice))
			return choice;
		step(s->sim);
	} while (s->sim->phase == OVER || keel_clock_us(mod) < until);
	return CHOICE_LATER;
}
