/* SPDX-License-Identifier: Apache-2.0
 *
 * topjob.c - strict order, and jobs whose start is planned.
 *
 * With strict_ordering the first jobs that do not fit (backfill_depth of them) become top jobs: a moment
 * and vnodes are planned, and what starts before them may not delay them. Preempted jobs become top jobs
 * always when sched_preempt_enforce_resumption says so. Plans are made anew in each cycle. A job that a
 * policy keeps out (limits, times of day) delays no other job.
 */
#include "scheduler.h"

#include "keel/sched_reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

KEEL_ATTRS_OF(server, backfill_depth, clear_topjob_estimates_enable);
KEEL_ATTRS_OF(job, topjob_ineligible, exec_vnode, topjob, estimated);
KEEL_ATTR_OF(sched, opt_backfill_fuzzy);

#define DELAYS 16        /* how often a policy may put a plan off */
#define KEY_PREEMPTED 20 /* place of the JOB_KEY that says when a job was preempted */

/* A job that is, or was, a top job. */
struct top {
	char *id;
	uint32_t cycle;
	struct top *next;
};

/* A start being planned. */
struct plan {
	char *id;
	struct search *search; /* NULL: the calendar is not complete yet */
	struct keel_exec *own; /* a suspended job's vnodes, with what it needs again */
	int32_t share;
	int64_t duration, longest, not_before;
	uint32_t delays; /* by policies */
	struct keel_mod *mod;
};

/* ---- strict order ------------------------------------------------------------------------------------ */

static bool flag_of(struct keel_mod *mod, const char *klass, const char *id,
		    const struct keel_attr *attr)
{
	struct keel_obj *obj = attr ? keel_find(mod, klass, id) : NULL;

	return obj && keel_get_int(obj, attr);
}

/* The attribute is of a module that comes later and may go: looked up each time. */
static bool resumption_enforced(struct keel_mod *mod)
{
	return flag_of(mod, "sched", "default", keel_attr_find(mod, "sched", "sched_preempt_enforce_resumption"));
}

/* Planned for whatever the depth is? */
static bool is_owed(struct keel_mod *mod, const struct entry *e)
{
	return rank_key_at(mod->state, e, KEY_PREEMPTED) > 0 && resumption_enforced(mod);
}

void top_preempted(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;

	if (!cycle_runs(st) || st->for_one || !resumption_enforced(mod))
		return;
	look_at(mod, e);
	if (!e->group || !is_owed(mod, e))
		return;
	rank_group(mod, e->group);
	turn_add(mod, e->group);
}

bool becomes_top(struct keel_mod *mod, struct group *g, struct entry *e)
{
	struct state *st = mod->state;
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	uint32_t *used = g->line->own_depth ? &g->line->top_jobs : &st->top_jobs;
	int64_t depth = 1;

	if (g->line->own_depth)
		depth = g->line->depth;
	else if (server && keel_is_set(server, server_backfill_depth))
		depth = keel_get_int(server, server_backfill_depth);
	if (is_owed(mod, e))
		return true;
	if (!setting_on(mod, SET_strict_ordering))
		return false;
	if (depth <= 0) {
		st->stopped = true;
		return false;
	}
	if (*used >= (uint64_t)depth || keel_get_int(e->job, job_topjob_ineligible))
		return false;
	++*used;
	return true;
}

/* ---- the calendar ---------------------------------------------------------------------------------------- */

static int64_t grain_of(struct keel_mod *mod)
{
	static const struct {
		const char *word;
		int64_t seconds;
	} rows[] = { { "off", 0 }, { "low", 60 }, { "med", 600 }, { "medium", 600 }, { "high", 3600 } };
	struct keel_obj *sched = keel_find(mod, "sched", "default");
	const char *text = sched && sched_opt_backfill_fuzzy ? keel_get_str(sched, sched_opt_backfill_fuzzy) : NULL;
	size_t i;

	for (i = 0; text && i < KEEL_COUNT(rows); i++)
		if (strcasecmp(rows[i].word, text) == 0)
			return rows[i].seconds;
	return text ? atoll(text) : rows[1].seconds;
}

/* One running job into it; the list turns round once. False: all are there. */
static bool calendar_add(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct entry *e = st->running.first;
	struct keel_exec *exec;

	if (!e || e->ends_in == st->calendars)
		return false;
	e->ends_in = st->calendars;
	list_drop(e);
	list_add(&st->running, e);
	exec = exec_outside(mod, e->job);
	if (exec)
		calendar_end(st->calendar, job_end(mod, e->job), job_until(mod, e->job), exec, share_of(e->job),
			     keel_id(e->job));
	return true;
}

/* A suspended job that goes on takes again what it had given back. */
static void job_moved(void *arg, struct snapshot *s, const char *who, const struct keel_exec *exec,
		      int sign)
{
	struct keel_mod *mod = arg;
	struct keel_obj *job = keel_find(mod, "job", who);

	if (!job)
		return;
	totals_move(s, job, sign > 0 ? keel_job_released(job) : NULL, sign);
	if (exec)
		people_move(s, job, exec, sign);
}

static bool calendar_open(struct keel_mod *mod)
{
	struct state *st = mod->state;
	const struct promiser *p;
	struct block *b;
	bool ok = true;

	if (st->calendar)
		return true;
	st->calendar = calloc(1, sizeof(*st->calendar));
	if (!st->calendar)
		return false;
	st->calendars++;
	calendar_init(st->calendar, keel_time(mod), grain_of(mod), KEEL_USE_resource->exec_free);
	st->calendar->moved = job_moved;
	st->calendar->arg = mod;
	for (p = st->spans.by_id; p; p = p->hh.next)
		for (b = p->first; b && ok; b = b->next)
			ok = calendar_block(st->calendar, b);
	if (!ok)
		calendar_close(mod);
	return ok;
}

void calendar_close(struct keel_mod *mod)
{
	struct state *st = mod->state;

	plan_restart(mod);
	if (st->calendar)
		calendar_fini(st->calendar);
	free(st->calendar);
	st->calendar = NULL;
}

bool delays_no_plan(struct keel_mod *mod, int64_t duration)
{
	struct state *st = mod->state;

	return !st->calendar ||
	       !calendar_crosses(st->calendar, st->calendar->now, st->calendar->now + duration);
}

struct holds *plans_hold(struct keel_mod *mod, struct snapshot *s, int64_t duration)
{
	struct state *st = mod->state;

	return calendar_hold(st->calendar, s, st->calendar->now, st->calendar->now + duration);
}

void plans_note(struct keel_mod *mod, struct keel_obj *job, const char *exec_vnode, int64_t duration)
{
	struct state *st = mod->state;
	struct keel_exec *exec = st->calendar ? exec_of(exec_vnode) : NULL;

	if (!exec)
		return;
	calendar_begun(st->calendar, st->snapshot, exec, st->calendar->now,
		       st->calendar->now + duration,
		       keel_id(job));
	calendar_end(st->calendar, st->calendar->now + duration, st->calendar->now + job_longest(job), exec,
		     share_of(job), keel_id(job));
}

/* ---- what is known of top jobs ------------------------------------------------------------------------------ */

static void top_mark(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	struct top *t = st->tops;

	while (t && strcmp(t->id, id) != 0)
		t = t->next;
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t || !(t->id = strdup(id))) {
			free(t);
			return;
		}
		t->next = st->tops;
		st->tops = t;
	}
	t->cycle = st->cycle;
}

void top_known(struct keel_mod *mod, struct keel_obj *job)
{
	if (keel_get_int(job, job_topjob))
		top_mark(mod, keel_id(job));
}

void tops_settle(struct keel_mod *mod)
{
	struct state *st = mod->state;
	bool clear = flag_of(mod, "server", keel_server_name(mod), server_clear_topjob_estimates_enable);
	struct top **at = &st->tops, *t;

	while ((t = *at)) {
		struct keel_obj *job = keel_find(mod, "job", t->id);

		if (job && t->cycle == st->cycle) {
			at = &t->next;
			continue;
		}
		if (job) {
			if (keel_get_int(job, job_topjob))
				keel_set_int(job, job_topjob, 0);
			if (clear && keel_is_set(job, job_estimated))
				keel_unset(job, job_estimated, NULL);
		}
		*at = t->next;
		free(t->id);
		free(t);
	}
}

void tops_free(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->tops) {
		struct top *t = st->tops;

		st->tops = t->next;
		free(t->id);
		free(t);
	}
}

/* ---- planning ------------------------------------------------------------------------------------------------- */

void plan_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct plan *p = st->plan;

	st->plan = NULL;
	if (!p)
		return;
	search_free(p->search);
	keel_resource_exec_free(p->own);
	free(p->id);
	free(p);
}

void plan_restart(struct keel_mod *mod)
{
	struct state *st = mod->state;

	trial_restart(mod);
	if (!st->plan)
		return;
	search_free(st->plan->search);
	st->plan->search = NULL;
}

static struct entry *plan_entry(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *job = keel_find(mod, "job", st->plan->id);
	struct entry *e = job ? entry_of(mod, job) : NULL;

	return e && e->group ? e : NULL;
}

static bool plan_fits(void *arg, struct snapshot *s)
{
	struct plan *p = arg;
	struct entry *e = plan_entry(p->mod);
	struct reason unused = { 0 };

	if (!e)
		return false;
	if (!p->own)
		return would_fit(p->mod, e->job, e->group, s, &unused);
	return could_go_back(s, e->job, p->own, &unused);
}

/* When the first of its subjobs that run ends. */
static int64_t room_at(struct keel_mod *mod, const struct entry *whole)
{
	struct state *st = mod->state;
	const char *id = keel_id(whole->job);
	int64_t first = INT64_MAX, end;

	for (const struct entry *e = st->running.first; e; e = e->next) {
		if (!keel_id_is_kin(id, keel_id(e->job)))
			continue;
		end = job_end(mod, e->job);
		first = end < first ? end : first;
	}
	return first < INT64_MAX ? first : st->calendar->now;
}

bool plan_begin(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	const char *id = keel_id(e->job);
	struct plan *p;

	plan_drop(mod);
	p = calendar_open(mod) ? calloc(1, sizeof(*p)) : NULL;
	if (!p || !(p->id = strdup(id))) {
		free(p);
		return false;
	}
	p->mod = mod;
	p->share = share_of(e->job);
	p->not_before = is_at_limit(e->job) ? room_at(mod, e) : st->calendar->now;
	p->duration = job_duration(e->job);
	p->longest = job_longest(e->job);
	if (e->resumes) {
		p->own = exec_again(e->job);
		p->duration = job_remaining(e->job);
		p->longest = job_left(e->job);
	}
	st->plan = p;
	keel_log(mod, KEEL_LOG_DEBUG, "Job", id, "Estimating the start time for a top job.");
	return true;
}

static void estimate_write(struct keel_mod *mod, struct entry *e, int64_t at, const char *exec_vnode)
{
	const char *const keys[] = { "start_time", "exec_vnode" };
	char now[64], have[64], when[64] = "";
	const char *values[] = { now, exec_vnode };
	time_t t = (time_t)at;
	struct tm tm;
	size_t i;

	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", &tm);
	keel_log(mod, KEEL_LOG_DEBUG, "Job", keel_id(e->job),
		 "Job is a top job and will run at %s", when);
	if (!keel_get_int(e->job, job_topjob))
		keel_set_int(e->job, job_topjob, 1);
	snprintf(now, sizeof(now), "%lld", (long long)at);
	if (keel_get_text(e->job, job_estimated, "start_time", have, sizeof(have)) > 0 &&
	    strcmp(have, now) == 0)
		return;
	for (i = 0; i < KEEL_COUNT(keys); i++)
		keel_set_text(e->job, job_estimated, KEEL_SET, keys[i], values[i], NULL);
}

/* Its moment is found: it is planned, whatever else may start. */
static bool plan_keep(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	struct plan *p = st->plan;
	struct snapshot *s = search_snapshot(p->search);
	int64_t at = search_at(p->search);
	struct reason unused = { 0 };
	char *exec_vnode = NULL;
	struct keel_exec *exec;
	bool kept = false;

	/* The snapshot becomes that with the job in its place. */
	if (!p->own)
		exec_vnode = place_on(mod, e->job, e->group, s, &unused);
	else if (goes_back(s, e->job, p->own, &unused))
		exec_vnode = strdup(keel_get_str(e->job, job_exec_vnode));
	exec = exec_of(exec_vnode);
	if (exec && p->own)
		exec_only(exec, keel_job_released(e->job));
	if (exec) {
		search_unhold(p->search);
		kept = calendar_plan(st->calendar, at, at + p->duration, p->longest, exec, p->share, p->id, s);
	}
	if (kept) {
		top_mark(mod, p->id);
		estimate_write(mod, e, at, exec_vnode);
	}
	free(exec_vnode);
	return kept;
}

/* A policy wants it later: the search begins again from there. */
static bool is_too_soon(struct keel_mod *mod, const struct entry *e, enum found *found)
{
	struct state *st = mod->state;
	struct plan *p = st->plan;
	int64_t at = search_at(p->search), may = start_when(mod, e->job, at);

	if (may == at)
		return false;
	if (may < at || ++p->delays > DELAYS) {
		*found = FOUND_NEVER;
		return false;
	}
	p->not_before = may;
	plan_restart(mod);
	return true;
}

bool plan_step(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct plan *p = st->plan;
	struct entry *e = p && st->calendar ? plan_entry(mod) : NULL;
	enum found found = FOUND_NEVER;

	if (e && !p->search && calendar_add(mod))
		return true;
	if (e && !p->search && snapshot_now(mod) && st->calendar)
		p->search = search_begin(st->calendar, st->snapshot, p->duration, p->longest, p->not_before, plan_fits, p);
	if (e && p->search)
		found = search_step(p->search);
	if (found == FOUND_IT && is_too_soon(mod, e, &found))
		return true;
	if (found == FOUND_MORE)
		return true;
	if (e && found == FOUND_NEVER)
		keel_log(mod, KEEL_LOG_DEBUG, "Job", p->id, "Can't find start time estimate");
	else if (e && !plan_keep(mod, e))
		keel_log(mod, KEEL_LOG_DEBUG, "Job", p->id,
			 "Error in calculation of start time of top job");
	plan_drop(mod);
	return false;
}
