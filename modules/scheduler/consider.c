/* SPDX-License-Identifier: Apache-2.0
 *
 * consider.c - one job's turn: may it start, where, and if not, why.
 *
 *   formula's threshold, policy (group, job), place -> start
 *                       | no
 *                       v
 *          are there victims? -> the same job again, once
 *                       | none
 *                       v
 *   a verdict: for the job alone, for its group, or (no place) for all groups of its shape
 */
#include "scheduler.h"

#include "keel/sched_reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(sched, job_sort_formula_threshold);
KEEL_ATTRS_OF(job, exec_vnode, topjob_ineligible);

#define OUR_CODES_FROM 16300 /* a policy that refuses with one of ours refuses all equal jobs */
#define OUR_CODES_TO 16399

/* ---- verdicts --------------------------------------------------------------------------------------- */

/* Only this one is out; the next of its group may be looked at. */
static void step_aside(struct keel_mod *mod, struct group *g, struct entry *e)
{
	struct state *st = mod->state;

	heap_remove(&g->jobs, &e->heap);
	e->aside = true;
	list_drop(e);
	list_add(&st->aside, e);
	turn_add(mod, g);
}

static void aside_back(struct entry *e)
{
	list_drop(e);
	e->aside = false;
	list_add(&e->group->current, e);
	heap_push(&e->group->jobs, &e->heap);
}

void asides_back(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->aside.first)
		aside_back(st->aside.first);
}

static void verdict_set(struct keel_mod *mod, struct group *g, struct entry *e, const struct reason *r,
		    bool alone)
{
	const char *id = keel_id(e->job);
	char text[REASON_MAX + 32];

	reason_comment(r, text, sizeof(text));
	keel_log(mod, KEEL_LOG_SCHED, "Job", id, "%s", r->text);
	if (r->never)
		keel_log(mod, KEEL_LOG_DEBUG, "Job", id,
			 "Job will never run with the resources currently configured in the "
			 "complex");
	if (alone) {
		step_aside(mod, g, e);
		comment(mod, e, text);
		free(g->verdict); /* it is not the comment of this job */
		g->verdict = NULL;
	} else {
		group_verdict(mod, g, text);
	}
}

/* ---- checks ---------------------------------------------------------------------------------------------- */

/* Is its formula's value above the threshold? False with the reason. */
static bool formula_lets(struct keel_mod *mod, const struct entry *e, struct reason *ret)
{
	struct state *st = mod->state;
	struct keel_obj *sched;
	double value, threshold;
	char text[64];

	if (!formula_of(st, e, &value))
		return true;
	keel_log(mod, KEEL_LOG_DEBUG2, "Job", keel_id(e->job), "Formula Evaluation = %.15g",
		 value);
	sched = keel_find(mod, "sched", "default");
	if (!sched || !keel_is_set(sched, sched_job_sort_formula_threshold) ||
	    keel_get_text(sched, sched_job_sort_formula_threshold, NULL, text, sizeof(text)) <= 0)
		return true;
	threshold = strtod(text, NULL);
	if (value > threshold)
		return true;
	keel_log(mod, KEEL_LOG_DEBUG2, "Job", keel_id(e->job),
		 "Job's formula value %.15g is under threshold %.15g", value, threshold);
	reason_why(ret, KEEL_WHY_UNDER_THRESHOLD);
	return false;
}

/* Is a verdict about vnodes of this job alone, because of limits there, taps, or hosts that it avoids? */
static bool is_its_own(struct keel_mod *mod, const struct entry *e, const struct reason *r)
{
	struct state *st = mod->state;

	return r->alone || (st->snapshot && st->snapshot->counts_people) || avoids(mod, e);
}

/* There is no place for jobs of this shape: for those that take as long, when it is for what is promised. */
static void shape_note(struct keel_mod *mod, const struct group *g, const struct entry *e, const struct reason *r)
{
	struct state *st = mod->state;

	if (r->alone || !r->code || avoids(mod, e)) /* no code: no memory, which comes back */
		return;
	g->shape->reason = *r;
	g->shape->known_at = st->epoch;
	g->shape->known_for = r->code == KEEL_WHY_CONFLICT ? g->longest : 0;
}

static bool is_known(const struct state *st, const struct group *g)
{
	return g->shape->known_at == st->epoch && g->longest >= g->shape->known_for;
}

/* Where; NULL with the reason: there is no place now, or a job of its shape found none since anything changed. */
static char *place_of(struct keel_mod *mod, const struct group *g, const struct entry *e,
		      struct reason *ret)
{
	struct state *st = mod->state;
	char *exec_vnode;

	snapshot_now(mod); /* it moves the epoch */
	if (is_known(st, g) && !(st->snapshot && st->snapshot->counts_people)) {
		*ret = g->shape->reason;
		return NULL;
	}
	exec_vnode = find_place(mod, e->job, g, ret);
	if (!exec_vnode)
		shape_note(mod, g, e, ret);
	return exec_vnode;
}

/* A policy refuses it: when it can never run anyway, *r gets that reason instead. */
static void never_first(struct keel_mod *mod, const struct group *g, const struct entry *e,
			struct reason *r)
{
	struct state *st = mod->state;
	struct reason place = { 0 };
	struct snapshot *s = g->shape ? ground_of(mod, g->line->name, &place) : NULL;

	if (!s || (!is_known(st, g) && avoids(mod, e)))
		return;
	if (!is_known(st, g)) {
		if (would_fit(mod, e->job, g, s, &place))
			return;
		shape_note(mod, g, e, &place);
		if (!is_known(st, g))
			return;
	}
	if (g->shape->reason.never)
		*r = g->shape->reason;
}

/* ---- a turn -------------------------------------------------------------------------------------------------- */

/* Refused by policy, or because there is no place; for the group, or for the one job. */
enum answer { STARTED, NO_FOR_ALL, NO_FOR_IT, NO_PLACE, NO_PLACE_FOR_IT, AT_LIMIT };

/* Beside what is planned. When it would fit but for that, the reason says so. */
static char *place_beside(struct keel_mod *mod, struct group *g, struct entry *e, struct reason *ret)
{
	struct state *st = mod->state;
	struct snapshot *s = snapshot_now(mod);
	struct holds *holds = s ? plans_hold(mod, s, g->duration) : NULL;
	char *exec_vnode = holds ? place_on(mod, e->job, g, s, ret) : NULL;

	if (s)
		calendar_unhold(s, holds);
	if (exec_vnode || !s)
		return exec_vnode;
	if (is_known(st, g)) {
		*ret = g->shape->reason;
		return NULL;
	}
	if (would_fit(mod, e->job, g, s, ret))
		reason_why(ret, KEEL_WHY_CONFLICT);
	else
		shape_note(mod, g, e, ret);
	return NULL;
}

static enum answer consider_resume(struct keel_mod *mod, struct entry *e, bool inside, struct reason *ret)
{
	struct state *st = mod->state;
	int64_t duration = job_remaining(e->job);
	struct snapshot *s = snapshot_now(mod);
	bool alone = inside || delays_no_plan(mod, duration) || !s, done;
	struct holds *holds = alone ? NULL : plans_hold(mod, s, duration);
	char *exec_vnode = NULL;

	if (st->calendar && !inside)
		exec_vnode = strdup(keel_get_str(e->job, job_exec_vnode)
					    ? keel_get_str(e->job, job_exec_vnode)
					    : "");
	done = resume_job(mod, e, ret);
	if (holds && st->snapshot == s)
		calendar_unhold(s, holds);
	if (done && exec_vnode)
		plans_note(mod, e->job, exec_vnode, duration);
	free(exec_vnode);
	return done ? STARTED : NO_PLACE_FOR_IT;
}

static enum answer consider_start(struct keel_mod *mod, struct group *g, struct entry *e, struct reason *ret)
{
	struct state *st = mod->state;
	struct qrun *qrun = st->serving;
	bool own = keel_is_set(e->job, job_exec_vnode);
	bool inside = has_room(mod, g->line->name); /* it delays no plan */
	char *exec_vnode;

	if (!g->shape)
		return consider_resume(mod, e, inside, ret);
	if (own && avoids(mod, e)) { /* it goes on there or nowhere */
		reason_why(ret, KEEL_WHY_FEW_FREE);
		return NO_PLACE_FOR_IT;
	}
	if (own)
		exec_vnode = find_own_place(mod, e->job, ret);
	else if (inside || delays_no_plan(mod, g->duration))
		exec_vnode = place_of(mod, g, e, ret);
	else
		exec_vnode = place_beside(mod, g, e, ret);
	if (!exec_vnode)
		return own || is_its_own(mod, e, ret) ? NO_PLACE_FOR_IT : NO_PLACE;
	talk_not(mod, g);
	if (!inside)
		plans_note(mod, e->job, exec_vnode, g->duration);
	st->serving = NULL;
	entry_start(mod, e, exec_vnode, false, qrun);
	if (!qrun)
		turn_add(mod, g);
	return STARTED;
}

static enum answer attempt(struct keel_mod *mod, struct group *g, struct entry *e,
			   struct reason *ret)
{
	struct state *st = mod->state;

	if (!st->serving && !formula_lets(mod, e, ret))
		return NO_FOR_IT;
	if (!st->serving && !group_is_eligible(mod, e->job, ret)) {
		never_first(mod, g, e, ret);
		return NO_FOR_ALL;
	}
	if (!job_is_eligible(mod, e->job, ret)) {
		never_first(mod, g, e, ret);
		return (ret->code >= OUR_CODES_FROM && ret->code <= OUR_CODES_TO) ? NO_FOR_ALL : NO_FOR_IT;
	}
	if (is_at_limit(e->job)) {
		reason_why(ret, KEEL_WHY_SUBJOBS);
		return AT_LIMIT;
	}
	return consider_start(mod, g, e, ret);
}

static void qrun_refused(struct keel_mod *mod, struct entry *e, const struct reason *r, bool dry)
{
	struct state *st = mod->state;
	char text[REASON_MAX + 32];

	reason_comment(r, text, sizeof(text));
	keel_log(mod, KEEL_LOG_SCHED, "Job", keel_id(e->job), "%s", r->text);
	comment(mod, e, text);
	if (dry)
		qrun_failed(mod, st->serving, st->refusal_code, st->refusal);
	else
		qrun_answer(mod, st->serving, PBSE_RESCUNAV, r->text);
}

/* There are no victims for it. The next of its group may become a top job like it. */
static void turned_down(struct keel_mod *mod, struct group *g, struct entry *e, enum answer answer,
			const struct reason *r)
{
	struct state *st = mod->state;
	bool no_place = answer == NO_PLACE || answer == NO_PLACE_FOR_IT;
	bool top = (no_place || answer == AT_LIMIT) && !r->never && !has_room(mod, g->line->name) && becomes_top(mod, g, e);
	bool passed_over = no_place && keel_get_int(e->job, job_topjob_ineligible);

	verdict_set(mod, g, e, r, top || passed_over || answer == NO_FOR_IT || answer == NO_PLACE_FOR_IT ||
				      answer == AT_LIMIT || e->victims_in == st->cycle);
	if (top && plan_begin(mod, e))
		st->phase = PLANNING;
}

/* `again`: its victims have just given way. */
static void consider(struct keel_mod *mod, struct group *g, struct entry *e, bool again)
{
	struct state *st = mod->state;
	struct reason r = { 0 };
	enum answer answer;
	enum victims v;
	bool dry; /* its start would be refused */
	uint32_t equal;
	char more[64] = "";

	/* One line for all that are equal: what is found out about this one holds for them. */
	equal = g->fresh.n + g->stale.n + g->current.n;
	if (equal > 1)
		snprintf(more, sizeof(more), ", and %u that are equal to it", equal - 1);
	keel_log(mod, KEEL_LOG_DEBUG, "Job", keel_id(e->job), "Considering job to run%s", more);
	if (!st->serving && st->stopped && !has_room(mod, g->line->name)) {
		reason_why(&r, KEEL_WHY_STRICT_ORDER);
		verdict_set(mod, g, e, &r, false);
		return;
	}
	answer = attempt(mod, g, e, &r);
	if (answer == STARTED)
		return;
	v = answer != AT_LIMIT && !has_room(mod, g->line->name) && (!st->asking && e->victims_in != st->cycle &&
				   (e->gave_up != st->relevance || st->serving))
		    ? victims_ask(mod, e->job, &r)
		    : VICTIMS_NONE;
	dry = v == VICTIMS_NONE && st->refusal && e->victims_in == st->cycle;
	if (dry)
		reason_set(&r, "PBS Error: %s", st->refusal);
	if (v == VICTIMS_NONE && st->serving) {
		qrun_refused(mod, e, &r, dry);
	} else if (v == VICTIMS_NONE) {
		if (again && !dry && e->victims_in == st->cycle)
			e->gave_up = st->relevance;
		turned_down(mod, g, e, answer, &r);
	} else {
		e->victims_in = st->cycle;
		if (v != VICTIMS_LEAVING)
			return;
		/* One that a limit keeps out until its victims have gone gets no fence: others would reach the limit
		 * meanwhile. */
		if ((answer == NO_PLACE || answer == NO_PLACE_FOR_IT) && victims_apart(mod))
			step_aside(mod, g, e);
		else
			st->phase = PREEMPTING;
	}
}

/* The job that goes before all: its victims gave way, or it is a qrun's. NULL: there is none. */
static struct entry *urgent_take(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->urgent ? keel_find(mod, "job", st->urgent) : NULL;
	struct entry *e = job ? entry_of(mod, job) : NULL;

	if (st->urgent)
		fence_drop(mod);
	free(st->urgent);
	st->urgent = NULL;
	if (e && st->asking_over)
		e->victims_in = st->cycle;
	st->asking_over = false;
	if (!e) {
		free(st->refusal);
		st->refusal = NULL;
	}
	if (e && e->aside)
		aside_back(e);
	if (!e || !e->group || e->where != GROUPED)
		return NULL;
	turn_drop(e->group);
	return e;
}

/* Nothing of it may start beside what runs of it, but more waits. */
bool is_at_limit(struct keel_obj *job)
{
	return keel_job_state(job) == 'B' && keel_job_waiting(job) == 0 &&
	       keel_job_members(job) > 0;
}

static bool still_waits(struct keel_mod *mod, const struct entry *e)
{
	struct state *st = mod->state;

	if (e->resumes)
		return keel_job_substate(e->job) == KEEL_SUB_SCHED_SUSPENDED;
	return keel_job_waiting(e->job) > 0 ||
	       (!st->serving && is_at_limit(e->job));
}

bool consider_next(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct entry *e = urgent_take(mod);
	const bool again = e && st->gave_way;
	struct group *g;

	if (st->serving) {
		if (e && still_waits(mod, e))
			consider(mod, e->group, e, false);
		else
			qrun_answer(mod, st->serving, PBSE_BADSTATE, NULL);
		return st->phase == PREEMPTING || st->urgent || qrun_next(mod);
	}
	g = e ? e->group : turn_next(mod);
	if (!e)
		e = g ? group_head(g) : NULL;
	if (!e)
		return g != NULL;
	if (is_asking(st, keel_id(e->job))) {
		step_aside(mod, g, e); /* its victims are on their way */
	} else if (still_waits(mod, e)) {
		consider(mod, g, e, again);
	} else {
		look_at(mod, e);
		turn_add(mod, g);
	}
	return true;
}
