/* SPDX-License-Identifier: Apache-2.0
 *
 * cycle.c - a scheduling cycle, in slices on the loop.
 *
 *   woken -> PLANNED -> FINDING -> LOOKING -> RANKING -> ENTERING -> CONSIDERING -> IDLE
 *               ^                                                    |  ^ PREEMPTING |
 *               +------------------------ woken meanwhile ---------------------------+
 *
 * The groups of jobs compete by their first jobs. A job that does not fit takes its whole group out of
 * the cycle, and the search for its shape is not repeated until something came free or changed. When a
 * cycle was long the next one waits as long, so that scheduling never takes more than half of the
 * loop.
 */
#include "scheduler.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(server, scheduling, scheduler_iteration);
KEEL_ATTR_OF(sched, sched_cycle_length);

#define PARKED_LOOKS 256 /* held jobs examined in a cycle; those that were touched come first */
#define GROUPS_KEPT 64   /* empty groups, for the next job of their kind */
#define IDLE_CYCLES 16
#define LINGER_MS 50 /* a victim that ends so soon still belongs to this cycle */

int64_t clock_us(struct keel_mod *mod)
{
	return keel_clock_us(mod);
}

bool scheduling_on(struct keel_mod *mod)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	return server && keel_get_int(server, server_scheduling);
}

/* ---- looking at what was touched ----------------------------------------------------------------- */

/* Into its group, or back to where it waits. */
void look_at(struct keel_mod *mod, struct entry *e)
{
	char letter = keel_job_state(e->job);
	bool suspended = keel_job_is_suspended(e->job);

	if (keel_job_waiting(e->job) || is_at_limit(e->job) ||
	    (suspended && keel_job_substate(e->job) == KEEL_SUB_SCHED_SUSPENDED))
		entry_group(mod, e);
	else if (suspended)
		entry_suspended(mod, e);
	else if (letter == 'R' || letter == 'E') /* it has its vnodes while files are staged out */
		entry_running(mod, e);
	else if (strchr("QHWTB", letter))
		entry_park(mod, e);
	else
		entry_out(e);
}

/* ---- ranking: each job's numbers, when they have changed -------------------------------------------- */

static bool rank_one(struct keel_mod *mod, struct group *g, struct list *l)
{
	struct state *st = mod->state;
	struct entry *e = l->first;

	if (!e || e->ranked_in == st->cycle)
		return false;
	e->ranked_in = st->cycle;
	if (e->heap.in)
		heap_remove(&g->jobs, &e->heap);
	rank_job(mod, e);
	heap_push(&g->jobs, &e->heap);
	list_drop(e);
	list_add(l, e); /* the lists turn round once */
	return true;
}

/* ---- entering: groups that have jobs ------------------------------------------------------------------ */

static bool enter_step(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct group *g = st->rank_at;

	if (!g)
		return false;
	st->rank_at = g->next;
	if (!group_head(g)) {
		if (!g->shape || (g->idle++ > IDLE_CYCLES && HASH_COUNT(st->group_by_key) > GROUPS_KEPT))
			group_free(mod, g);
	} else if (g->shape && (!g->line->there || !g->line->execution)) {
		group_verdict(mod, g, "Not Running: Queue not an execution queue.");
	} else if (g->shape && !g->line->started) {
		group_verdict(mod, g, "Not Running: Queue not started.");
	} else {
		rank_group(mod, g);
		turn_add(mod, g);
	}
	return true;
}

/* ---- the cycle ------------------------------------------------------------------------------------------------ */

static void cycle_plan(struct keel_mod *mod);

bool cycle_runs(const struct state *st)
{
	return st->phase > PLANNED;
}

static void cycle_finish(struct keel_mod *mod)
{
	struct state *st = mod->state;
	bool again;

	start_due(mod);
	again = st->again || (st->qruns && !st->asking);
	turn_clear(mod);
	asides_back(mod);
	plan_drop(mod);
	calendar_close(mod);
	if (!st->for_one)
		tops_settle(mod);
	keel_log(mod, KEEL_LOG_DEBUG, "Req", "", "Leaving Scheduling Cycle");
	if (keel_tapped(mod, KEEL_POINT_cycle_end))
		keel_note(mod, KEEL_POINT_cycle_end,
			  KEEL_EVENT(cycle_end, .cycle = st->cycle, .started = st->started));
	st->phase = IDLE;
	st->again = false;
	st->not_before = clock_us(mod) + (st->worked_us > 1000 ? st->worked_us : 0);
	talk_now(mod);
	iteration_start(mod);
	finds_go_on(mod);
	if (again)
		cycle_plan(mod);
}

/* One step of the phase; the next phase when it is over. False: the cycle is over. */
static void look_begin(struct keel_mod *mod)
{
	struct state *st = mod->state;

	rooms_log(mod);
	lines_refresh(mod); /* what has been found may have changed queues */
	st->phase = LOOKING;
	st->looks = st->parked.n;
	st->held = 0;
}

static bool cycle_step(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct entry *e = st->parked.first;
	struct group *g = st->rank_at;

	if (st->due) {
		start_due(mod);
		return true;
	}
	switch (st->phase) {
	case FINDING:
		if (!finds_step(mod))
			look_begin(mod);
		return true;
	case LOOKING: /* the touched ones are first; behind them held ones go round */
		if (e && st->looks && st->held < PARKED_LOOKS) {
			st->looks--;
			look_at(mod, e);
			st->held += e->where == PARKED;
			return true;
		}
		st->phase = RANKING;
		st->rank_at = rank_moves(st) || st->reorder ? st->groups : NULL;
		st->reorder = false;
		return true;
	case RANKING:
		if (!g) {
			st->phase = ENTERING;
			st->rank_at = st->groups;
		} else if (!rank_one(mod, g, &g->fresh) && !rank_one(mod, g, &g->stale) &&
			   !rank_one(mod, g, &g->current)) {
			st->rank_at = g->next;
		}
		return true;
	case ENTERING:
		if (!enter_step(mod))
			st->phase = CONSIDERING;
		return true;
	case PLANNING:
		if (!plan_step(mod))
			st->phase = CONSIDERING;
		return true;
	default:
		if (consider_next(mod) || st->due)
			return true;
		/* Victims mostly go at once: then the job that they make room for starts in this cycle. */
		if (!st->asking || st->again || st->for_one)
			return false;
		st->phase = LINGERING;
		return true;
	}
}

/* A cycle that takes too long leaves the rest to the next one. */
static bool too_long(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *sched = keel_find(mod, "sched", "default");
	int64_t most = sched ? keel_get_int(sched, sched_sched_cycle_length) : 0;
	int64_t took = (keel_now_ms(mod) - st->begun_ms) / 1000;

	if (most <= 0 || took < most)
		return false;
	keel_log(mod, KEEL_LOG_SCHED, "Req", "",
		 "Leaving the scheduling cycle: Cycle duration of %lld seconds has exceeded "
		 "sched_cycle_length of %lld seconds",
		 (long long)took, (long long)most);
	st->again = true;
	return true;
}

/* The cycle waits for victims or for a host: cycle_go_on() ends that. */
static bool stands_still(const struct state *st)
{
	return st->phase == PREEMPTING || st->phase == LINGERING || st->phase == AWAITING;
}

bool slice_is_over(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;

	return clock_us(mod) - ((struct state *)mod->state)->slice_us >= conf->slice * 1000;
}

static void cycle_slice(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	bool more = (st->serving || scheduling_on(mod)) && !too_long(mod);

	(void)arg;
	st->timer = NULL;
	st->slice_us = clock_us(mod);
	while (more && !stands_still(st)) {
		more = cycle_step(mod);
		if (slice_is_over(mod))
			break;
	}
	st->worked_us += clock_us(mod) - st->slice_us;
	if (stands_still(st) && more)
		return;
	if (more && (st->timer = keel_timer(mod, 0, cycle_slice, NULL)))
		return;
	cycle_finish(mod);
}

void cycle_go_on(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (!stands_still(st) || (st->timer && st->phase != LINGERING))
		return;
	keel_timer_cancel(st->timer);
	st->phase = CONSIDERING;
	st->timer = keel_timer(mod, 0, cycle_slice, NULL);
	if (!st->timer)
		cycle_finish(mod);
}

/* The first phase of this cycle, for a qrun or for all. False: there is nothing to do. */
static bool phase_begin(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct entry *e, *next;

	lines_refresh(mod);
	if (st->snapshot && st->snapshot->n_future)
		order_until(st->snapshot, 0);
	st->stopped = false;
	st->top_jobs = 0;
	if (!scheduling_on(mod) && !st->asking) { /* a qrun's is served all the same */
		free(st->urgent);
		st->urgent = NULL;
		st->asking_over = false;
		fence_drop(mod);
	}
	st->for_one = qrun_next(mod);
	if (st->for_one) {
		st->command = CMD_QRUN;
		st->phase = CONSIDERING;
		return true;
	}
	if (!scheduling_on(mod))
		return false;
	for (e = st->suspended.first; e; e = next) {
		next = e->next;
		if (keel_job_substate(e->job) != KEEL_SUB_SUSPENDED)
			look_at(mod, e);
	}
	st->phase = FINDING;
	st->finds_asked = false;
	return true;
}

static void cycle_begin(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	int64_t begun = clock_us(mod);
	int32_t command = st->command;

	(void)arg;
	st->timer = NULL;
	if (st->phase != PLANNED)
		return;
	if ((st->qruns || scheduling_on(mod)) && !dynres_ready(mod, cycle_begin))
		return;
	st->cycle++;
	st->started = 0;
	st->begun_ms = keel_now_ms(mod);
	if (!phase_begin(mod)) {
		st->phase = IDLE;
		return;
	}
	if (st->serving && command != CMD_QRUN)
		st->again = true; /* what it was planned for comes after */
	keel_log(mod, KEEL_LOG_SCHED, "Svr", keel_server_name(mod),
		 "Scheduler sent command %d", (int)st->command);
	keel_log(mod, KEEL_LOG_DEBUG, "Req", "", "Starting Scheduling Cycle");
	if (keel_tapped(mod, KEEL_POINT_cycle_begin))
		keel_note(mod, KEEL_POINT_cycle_begin,
			  KEEL_EVENT(cycle_begin, .cycle = st->cycle));
	st->worked_us = clock_us(mod) - begun;
	cycle_slice(mod, NULL);
}

/* Soon: everything that happens in this turn belongs to it. */
static void cycle_plan(struct keel_mod *mod)
{
	struct state *st = mod->state;
	int64_t wait_us = st->not_before - clock_us(mod);

	st->phase = PLANNED;
	st->timer = keel_timer(mod, wait_us > 0 ? (wait_us + 999) / 1000 : 0, cycle_begin, NULL);
	if (!st->timer)
		st->phase = IDLE; /* no memory: the next event tries again */
}

void cycle_waits_no_more(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->phase == PLANNED && !st->timer)
		cycle_plan(mod);
}

static void linger_over(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->timer = NULL;
	cycle_finish(mod);
}

void wake(struct keel_mod *mod, int32_t command)
{
	struct state *st = mod->state;

	if (cycle_runs(st))
		st->again = true;
	if (st->phase == LINGERING && !st->timer)
		st->timer = keel_timer(mod, LINGER_MS, linger_over, NULL);
	else if (st->phase == IDLE)
		cycle_plan(mod);
	st->command = command;
}

static void time_is_up(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->iteration = NULL;
	st->relevance++;
	rest_over(mod);
	wake(mod, CMD_TIME);
	iteration_start(mod);
}

void iteration_start(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	int64_t seconds = server ? keel_get_int(server, server_scheduler_iteration) : 0;

	keel_timer_cancel(st->iteration);
	if (seconds <= 0)
		seconds = 600;
	if (seconds > 86400 * 30)
		seconds = 86400 * 30;
	st->iteration = keel_timer(mod, seconds * 1000, time_is_up, NULL);
}

void cycle_stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->timer);
	keel_timer_cancel(st->iteration);
	keel_timer_cancel(st->talk_timer);
	keel_timer_cancel(st->avoid_timer);
	st->avoid_timer = NULL;
	keel_timer_cancel(st->await_timer);
	st->timer = st->iteration = st->talk_timer = st->await_timer = NULL;
	free(st->awaited);
	st->awaited = NULL;
	asking_drop(mod);
	plan_drop(mod);
	calendar_close(mod);
	finds_drop(mod);
	qruns_drop(mod);
	free(st->urgent);
	free(st->refusal);
	st->urgent = st->refusal = NULL;
	st->phase = IDLE;
}
