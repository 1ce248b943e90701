/* SPDX-License-Identifier: Apache-2.0
 *
 * choose.c - who gives way for a job: candidates go one by one in a what-if, until the job fits; then
 * those who were not needed stay.
 *
 * After the first few the job is tried less and less often, so that a job that needs thousands of victims
 * does not stop the loop; halving then finds the shortest row of victims. Which of them are not needed is
 * tried for DROP_US: a job that gives way for nothing is worse than one look less, but a server that stands
 * still is worse than both.
 */
#include "preemption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relevance.h"

#define ONE_BY_ONE 32  /* victims after each of which the job is tried */
#define DROP_US 10000  /* how long victims are tried for not being needed */

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

struct simulation {
	struct keel_mod *mod;
	struct keel_trial *trial;
	struct keel_obj *job;
	struct runner **list; /* candidates; NULL where one is not taken */
	uint32_t n;
	uint32_t taken;
	struct keel_sched_reason why;
};

static void log_about(struct keel_mod *mod, struct keel_obj *job, uint32_t bits, const char *text)
{
	struct state *st = mod->state;

	st->core->log(mod, bits, "Job", st->object->id(job), "%s", text);
}

static bool fits(struct simulation *sim)
{
	struct state *st = sim->mod->state;

	sim->why = (struct keel_sched_reason){ .size = sizeof(sim->why) };
	return st->scheduler->trial_fits(sim->trial, &sim->why);
}

bool fits_now(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct keel_trial *trial = st->scheduler->trial(st->scheduler->self, job);
	bool fits = !trial || st->scheduler->trial_fits(trial, NULL);

	st->scheduler->trial_free(trial);
	return fits;
}

static bool vacate(struct simulation *sim, struct runner *r)
{
	struct state *st = sim->mod->state;
	char only[256];

	r->by = first_useful(sim->mod, r->job, only);
	if (r->by && st->scheduler->trial_vacate(sim->trial, r->job, *only ? only : NULL))
		r->by = NULL;
	if (r->by)
		r->by->taken++;
	return r->by != NULL;
}

static void restore(struct simulation *sim, struct runner *r)
{
	struct state *st = sim->mod->state;

	st->scheduler->trial_restore(sim->trial, r->job);
	r->by->taken--;
	r->by = NULL;
}

/* Limits count less now: is somebody more urgent than before? */
static bool escalates(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct crowd *c;

	if (!(st->prio.asks & (PRIO_QUEUE_SOFT | PRIO_SERVER_SOFT)))
		return false;
	for (c = st->crowds; c; c = c->next)
		if (c->is_over_limit && level_of(mod, c->first->job) > c->level)
			return true;
	return false;
}

static bool take(struct simulation *sim, uint32_t i)
{
	struct runner *r = sim->list[i];

	sim->list[i] = NULL;
	if (!vacate(sim, r))
		return false;
	if (escalates(sim->mod)) {
		restore(sim, r);
		log_about(sim->mod, r->job, KEEL_LOG_DEBUG2,
			  "Preempting job will escalate its priority or priority of other jobs, not "
			  "preempting it");
		return false;
	}
	log_about(sim->mod, r->job, KEEL_LOG_DEBUG2, "Simulation: preempting job");
	sim->list[i] = r;
	sim->taken++;
	return true;
}

/* Those at [from..to) are not taken, for now; the newest first, which is the cheap way round. */
static void hold_back(struct simulation *sim, uint32_t from, uint32_t to)
{
	while (to-- > from)
		if (sim->list[to])
			restore(sim, sim->list[to]);
}

static void take_again(struct simulation *sim, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		if (sim->list[from] && !vacate(sim, sim->list[from])) {
			sim->list[from] = NULL;
			sim->taken--;
		}
}

/* The first `enough` are, the first `few` are not: the shortest row that is. */
static void shorten(struct simulation *sim, uint32_t few, uint32_t enough)
{
	uint32_t end = enough;

	while (enough - few > 1) {
		uint32_t middle = few + (enough - few) / 2;

		hold_back(sim, middle, enough);
		if (fits(sim)) {
			enough = middle;
		} else {
			take_again(sim, middle, enough);
			few = middle;
		}
	}
	for (; end > enough; end--)
		if (sim->list[end - 1]) {
			sim->list[end - 1] = NULL;
			sim->taken--;
		}
}

/* False: they would all not be enough. */
static bool take_enough(struct simulation *sim)
{
	uint32_t i, next = 1, few = 0;

	for (i = 0; i < sim->n; i++) {
		if (!take(sim, i) || sim->taken < next)
			continue;
		if (fits(sim)) {
			memset(sim->list + i + 1, 0, (sim->n - i - 1) * sizeof(struct runner *));
			shorten(sim, few, i + 1);
			return true;
		}
		few = i + 1;
		next = sim->taken < ONE_BY_ONE ? sim->taken + 1 : sim->taken + sim->taken / 4;
	}
	if (!sim->taken || !fits(sim))
		return false;
	shorten(sim, few, sim->n);
	return true;
}

static void drop_unneeded(struct simulation *sim)
{
	struct state *st = sim->mod->state;
	int64_t until = st->core->clock_us(sim->mod) + DROP_US;
	uint32_t i;

	for (i = 0; i < sim->n && sim->taken > 1 && st->core->clock_us(sim->mod) < until; i++) {
		struct runner *r = sim->list[i];

		if (!r)
			continue;
		restore(sim, r);
		if (fits(sim)) {
			log_about(sim->mod, r->job, KEEL_LOG_DEBUG2,
				  "Simulation: preemption of job not needed.");
			sim->list[i] = NULL;
			sim->taken--;
		} else if (!vacate(sim, r)) {
			sim->list[i] = NULL;
		}
	}
}

static bool collect(const struct simulation *sim, struct victims *ret)
{
	struct state *st = sim->mod->state;
	bool whole = true;
	uint32_t i;

	for (i = 0; i < sim->n; i++)
		if (sim->list[i])
			whole = whole && victims_add(ret, st->object->id(sim->list[i]->job));
	return whole && ret->n > 0;
}

/* Would one of those who made room be more urgent than the job, once it ran? */
static bool would_give_way(const struct simulation *sim)
{
	int64_t level = level_once_running(sim->mod, sim->job);
	uint32_t i;

	for (i = 0; i < sim->n; i++)
		if (sim->list[i] && level_of(sim->mod, sim->list[i]->job) > level)
			return true;
	return false;
}

static enum choice simulate(struct simulation *sim, struct search *s)
{
	struct state *st = sim->mod->state;
	char text[320];

	if (fits(sim))
		return CHOICE_FITS;
	if (!take_enough(sim)) {
		snprintf(text, sizeof(text), "Simulation: not enough work preempted: %s", sim->why.text);
		log_about(sim->mod, sim->job, KEEL_LOG_DEBUG2, text);
		return CHOICE_NOBODY;
	}
	drop_unneeded(sim);
	log_about(sim->mod, sim->job, KEEL_LOG_DEBUG2, "Simulation: Preempted enough work to run job");
	if (s->level < PRIO_HIGHEST && would_give_way(sim)) {
		log_about(sim->mod, sim->job, KEEL_LOG_DEBUG2,
			  "Job not run because it would immediately be preemptable.");
		return CHOICE_FOR_NOTHING;
	}
	if (!collect(sim, &s->victims))
		return CHOICE_NOBODY;
	st->scheduler->trial_keep(sim->trial);
	return CHOICE_VICTIMS;
}

/* ---- whom the job wants ------------------------------------------------------------------------------- */

static uint32_t keep_targets(struct keel_mod *mod, struct keel_obj *job, struct runner **list,
			     uint32_t n)
{
	struct state *st = mod->state;
	char targets[1024];
	uint32_t i, kept = 0;

	if (!targets_of(mod, job, targets, sizeof(targets)))
		return n;
	for (i = 0; i < n; i++)
		if (is_target(mod, targets, list[i]->job))
			list[kept++] = list[i];
	st->core->log(mod, KEEL_LOG_DEBUG2, "Job", st->object->id(job),
		      "Limited running jobs used for preemption from %u to %u%s", n, kept,
		      kept ? "" : ": No jobs to preempt");
	return kept;
}

/* *ret_same: it lacks the same when they all have gone. */
static enum choice choose_among(struct keel_mod *mod, struct search *s, struct keel_obj *job,
				uint32_t relevance, uint32_t *ret_n, bool *ret_same)
{
	struct state *st = mod->state;
	struct simulation sim = { .mod = mod, .job = job };
	enum choice choice = CHOICE_NOBODY;
	struct method *m;

	*ret_same = true;
	sim.list = candidates(mod, s, job, relevance, &sim.n);
	if (sim.n)
		sim.n = keep_targets(mod, job, sim.list, sim.n);
	*ret_n = sim.n;
	if ((sim.n || s->round) && (sim.trial = st->scheduler->trial(st->scheduler->self, job))) {
		choice = simulate(&sim, s);
		*ret_same = sim.why.code == s->code && strcmp(sim.why.what, s->what) == 0;
	}
	st->scheduler->trial_free(sim.trial);
	for (m = st->methods; m; m = m->next)
		m->taken = 0;
	free(sim.list);
	return choice;
}

enum choice choose(struct keel_mod *mod, struct search *s, struct keel_obj *job)
{
	uint32_t relevance = relevance_of(s->code), n, all = 0;
	enum choice choice;
	bool same;

	levels_compute(mod);
	victims_clear(&s->victims);
	log_about(mod, job, KEEL_LOG_DEBUG2, "Employing preemption to try and run high priority job.");
	choice = choose_among(mod, s, job, relevance, &n, &same);
	/* It may lack more than was said; but who is not counted by a limit makes no room in it. */
	if (choice == CHOICE_NOBODY && relevance && !((relevance & OF_A_LIMIT) && same))
		choice = choose_among(mod, s, job, 0, &all, &same);
	if (!n && !all && choice == CHOICE_NOBODY)
		log_about(mod, job, KEEL_LOG_DEBUG2, "Found no preemptable candidates");
	return choice;
}
