/* SPDX-License-Identifier: Apache-2.0
 *
 * cycle.c - a scheduling cycle, in slices on the loop.
 *
 *   woken -> PLANNED -> (RANKING) -> CONSIDERING -> IDLE
 *               ^________ woken meanwhile ________|
 *
 * The groups of jobs compete by their first jobs. A job that does not fit takes its whole group out of
 * the cycle, and out of later ones until the vnodes' generation moves. When a cycle was long the next
 * one waits as long, so that scheduling never takes more than half of the loop.
 */
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARKED_LOOKS 256 /* parked jobs looked at in a cycle; those that were touched come first */
#define GROUPS_KEPT 64   /* empty groups, for the next job of their kind */
#define IDLE_CYCLES 16

#define QUEUE_STOPPED UINT64_MAX /* known_at of a verdict about the queue */

int64_t clock_us(struct keel_mod *mod)
{
	const struct state *st = mod->state;

	return st->core->clock_us(mod);
}

bool scheduling_on(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));

	return server && st->object->get_int(server, st->server.scheduling);
}

/* ---- snapshot ----------------------------------------------------------------------------------- */

static void take_starts(struct keel_mod *mod, struct snapshot *s)
{
	struct state *st = mod->state;
	struct start *start;

	for (start = st->starts; start; start = start->next) {
		if (!start->exec && !start->assigned && st->resource->exec_parse(st->resource->self, start->exec_vnode,
							     &start->exec, NULL))
			start->exec = NULL;
		if (start->exec && !start->assigned)
			place_take(s, start->exec);
	}
}

struct snapshot *snapshot_now(struct keel_mod *mod)
{
	struct state *st = mod->state;
	uint64_t now = st->node->generation(st->node->self) + 1; /* never 0 */

	if (st->snapshot && st->generation == now)
		return st->snapshot;
	snapshot_free(st->snapshot);
	st->snapshot = snapshot_make(mod);
	st->generation = now;
	if (st->snapshot)
		take_starts(mod, st->snapshot);
	return st->snapshot;
}

/* ---- beginning -------------------------------------------------------------------------------------- */

/* Into its group, or back to where it waits. */
static void look_at(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	char letter = st->job->state(st->job->self, e->job);

	if (letter == 'Q')
		entry_group(mod, e);
	else if (st->job->is_suspended(st->job->self, e->job))
		entry_suspended(mod, e);
	else if (letter == 'H' || letter == 'W' || letter == 'T')
		entry_park(mod, e);
	else
		entry_out(mod, e);
}

/* The touched ones are first; behind them held ones go round. */
static void look_at_parked(struct keel_mod *mod)
{
	struct state *st = mod->state;
	uint32_t held = 0, left = st->parked.n;

	while (left-- && held < PARKED_LOOKS && st->parked.first) {
		struct entry *e = st->parked.first;

		look_at(mod, e);
		held += e->where == PARKED;
	}
}

/* Does each job have its own verdict, because somebody may refuse it for itself? */
static bool one_by_one(struct keel_mod *mod)
{
	struct state *st = mod->state;

	return st->hook->tapped(mod, KEEL_POINT_group_eligible) ||
	       st->hook->tapped(mod, KEEL_POINT_job_eligible) ||
	       st->hook->tapped(mod, KEEL_POINT_node_eligible);
}

static void group_enter(struct keel_mod *mod, struct group *g, uint64_t generation, bool each)
{
	struct state *st = mod->state;
	struct keel_obj *queue = st->object->find(mod, "queue", g->queue);

	if (!queue || !st->object->get_int(queue, st->queue.started)) {
		group_verdict(mod, g, "Not Running: Queue not started.", QUEUE_STOPPED);
		return;
	}
	g->queue_priority = st->object->get_int(queue, st->queue.priority);
	if (g->verdict && g->known_at == generation && !each) {
		talk(mod, g);
		return;
	}
	heap_push(&st->order, &g->heap);
}

static void groups_enter(struct keel_mod *mod)
{
	struct state *st = mod->state;
	uint64_t generation = st->node->generation(st->node->self) + 1;
	bool each = one_by_one(mod);
	struct group *g, *next;

	for (g = st->groups; g; g = next) {
		next = g->next;
		if (group_head(g))
			group_enter(mod, g, generation, each);
		else if (g->idle++ > IDLE_CYCLES && st->n_group > GROUPS_KEPT)
			group_free(mod, g);
	}
	st->phase = CONSIDERING;
}

static void resume_waiting(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct entry *e, *next;

	for (e = st->suspended.first; e; e = next) {
		next = e->next;
		if (!st->job->is_suspended(st->job->self, e->job))
			look_at(mod, e);
		else if (st->job->substate(st->job->self, e->job) == KEEL_SUB_SCHED_SUSPENDED)
			resume_job(mod, e);
	}
}

/* ---- ranking, when there are taps --------------------------------------------------------------------- */

static bool rank_one(struct keel_mod *mod, struct group *g, struct list *l)
{
	struct state *st = mod->state;
	struct entry *e = l->first;

	if (!e || e->ranked_in == st->cycle)
		return false;
	e->ranked_in = st->cycle;
	e->rank = st->hook->fold(mod, KEEL_POINT_job_rank,
				 KEEL_EVENT(job_rank, .id = st->object->id(e->job), .job = e->job),
				 NULL, 0);
	if (e->heap.in) {
		heap_remove(&g->jobs, &e->heap);
		heap_push(&g->jobs, &e->heap);
	}
	list_drop(e);
	list_add(l, e); /* the lists turn round once */
	return true;
}

static void rank_step(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct group *g = st->rank_at;

	if (!g)
		groups_enter(mod);
	else if (!rank_one(mod, g, &g->fresh) && !rank_one(mod, g, &g->stale) &&
		 !rank_one(mod, g, &g->told))
		st->rank_at = g->next;
}

/* ---- considering ------------------------------------------------------------------------------------------ */

static void verdict_text(const struct reason *r, char *buf, size_t len)
{
	snprintf(buf, len, "%s: %s", r->never ? "Can Never Run" : "Not Running", r->text);
}

/* The next one of the group may be looked at. */
static void group_again(struct state *st, struct group *g)
{
	if (group_head(g) && !g->heap.in)
		heap_push(&st->order, &g->heap);
}

static void refused(struct keel_mod *mod, struct group *g, struct entry *e, const struct reason *r,
		    bool for_itself)
{
	struct state *st = mod->state;
	char text[REASON_MAX + 32];

	verdict_text(r, text, sizeof(text));
	st->core->log(mod, KEEL_LOG_SCHED, "Job", st->object->id(e->job), "%s", r->text);
	if (r->never)
		st->core->log(mod, KEEL_LOG_DEBUG, "Job", st->object->id(e->job),
			      "Job will never run with the resources currently configured in the "
			      "complex");
	if (!for_itself) {
		group_verdict(mod, g, text, st->generation);
		return;
	}
	heap_remove(&g->jobs, &e->heap);
	e->aside = true;
	list_drop(e);
	list_add(&st->aside, e);
	st->job->set_comment(st->job->self, e->job, text);
	group_again(st, g);
}

static void started(struct keel_mod *mod, struct group *g, struct entry *e, char *exec_vnode)
{
	struct state *st = mod->state;

	g->known_at = 0; /* the verdict is about a time when it did not fit */
	talk_not(mod, g);
	start_job(mod, e, exec_vnode);
	group_again(st, g);
}

/* A job that cannot start now. Somebody may give way; then it is looked at again, once. */
static void blocked(struct keel_mod *mod, struct group *g, struct entry *e, const struct reason *r,
		    bool for_itself)
{
	struct state *st = mod->state;
	enum victims v = e->asked_in == st->cycle ? VICTIMS_NONE : victims_ask(mod, e->job, r);

	if (v == VICTIMS_NONE) {
		refused(mod, g, e, r, for_itself || e->asked_in == st->cycle);
		return;
	}
	e->asked_in = st->cycle;
	if (v == VICTIMS_LEAVING)
		st->phase = PREEMPTING;
}

static void consider(struct keel_mod *mod, struct group *g, struct entry *e)
{
	struct state *st = mod->state;
	struct reason reason = { 0 };
	char *exec_vnode;

	st->core->log(mod, KEEL_LOG_DEBUG, "Job", st->object->id(e->job), "Considering job to run");
	if (!group_is_eligible(mod, e->job, &reason)) {
		blocked(mod, g, e, &reason, false);
		return;
	}
	if (!job_is_eligible(mod, e->job, &reason)) {
		blocked(mod, g, e, &reason, true);
		return;
	}
	exec_vnode = find_place(mod, e->job, g, &reason);
	if (exec_vnode)
		started(mod, g, e, exec_vnode);
	else
		blocked(mod, g, e, &reason, one_by_one(mod));
}

/* The job that victims gave way for, if it still waits; it is taken out of its group's turn. */
static struct entry *urgent_take(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->urgent ? st->object->find(mod, "job", st->urgent) : NULL;
	struct entry *e = job ? entry_of(mod, job) : NULL;

	free(st->urgent);
	st->urgent = NULL;
	if (!e || !e->group || e->where != GROUPED || e->aside)
		return NULL;
	heap_remove(&st->order, &e->group->heap);
	return e;
}

/* One job. False: the cycle is over. */
static bool consider_step(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct entry *e = urgent_take(mod);
	struct group *g = e ? e->group : (struct group *)(void *)heap_pop(&st->order);

	if (!e)
		e = g ? group_head(g) : NULL;

	if (!g)
		return false;
	if (!e)
		return true;
	if (st->job->state(st->job->self, e->job) != 'Q') {
		look_at(mod, e);
		group_again(st, g);
		return true;
	}
	consider(mod, g, e);
	return true;
}

/* ---- the cycle ------------------------------------------------------------------------------------------------ */

static void plan(struct keel_mod *mod);

static void finish(struct keel_mod *mod)
{
	struct state *st = mod->state;
	bool again = st->again;

	while (st->order.root)
		heap_pop(&st->order);
	while (st->aside.first) {
		struct entry *e = st->aside.first;

		list_drop(e);
		e->aside = false;
		list_add(&e->group->told, e);
		heap_push(&e->group->jobs, &e->heap);
	}
	st->core->log(mod, KEEL_LOG_DEBUG, "Req", "", "Leaving Scheduling Cycle");
	if (st->hook->tapped(mod, KEEL_POINT_cycle_end))
		st->hook->note(mod, KEEL_POINT_cycle_end,
			       KEEL_EVENT(cycle_end, .cycle = st->cycle, .started = st->started));
	st->phase = IDLE;
	st->again = false;
	st->not_before = clock_us(mod) + (st->worked_us > 1000 ? st->worked_us : 0);
	talk_now(mod);
	iteration_start(mod);
	if (again)
		plan(mod);
}

static void slice(struct keel_mod *mod, void *arg)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	int64_t begin = clock_us(mod), now = begin;
	bool more = scheduling_on(mod);

	(void)arg;
	st->timer = NULL;
	while (more && st->phase != PREEMPTING && now - begin < conf->slice * 1000) {
		if (st->phase == RANKING)
			rank_step(mod);
		else
			more = consider_step(mod);
		now = clock_us(mod);
	}
	st->worked_us += now - begin;
	if (st->phase == PREEMPTING)
		return;
	if (more && (st->timer = st->core->timer(mod, 0, slice, NULL)))
		return;
	finish(mod);
}

void cycle_go_on(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->phase != PREEMPTING)
		return;
	st->phase = CONSIDERING;
	st->timer = st->core->timer(mod, 0, slice, NULL);
	if (!st->timer)
		finish(mod);
}

static void begin(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	int64_t begun = clock_us(mod);

	(void)arg;
	st->timer = NULL;
	if (st->phase != PLANNED)
		return;
	if (!scheduling_on(mod)) {
		st->phase = IDLE;
		return;
	}
	st->cycle++;
	st->started = 0;
	st->core->log(mod, KEEL_LOG_SCHED, "Svr", st->core->server_name(mod),
		      "Scheduler sent command %d", (int)st->command);
	st->core->log(mod, KEEL_LOG_DEBUG, "Req", "", "Starting Scheduling Cycle");
	if (st->hook->tapped(mod, KEEL_POINT_cycle_begin))
		st->hook->note(mod, KEEL_POINT_cycle_begin,
			       KEEL_EVENT(cycle_begin, .cycle = st->cycle));
	look_at_parked(mod);
	resume_waiting(mod);
	if (st->hook->tapped(mod, KEEL_POINT_job_rank)) {
		st->phase = RANKING;
		st->rank_at = st->groups;
	} else {
		groups_enter(mod);
	}
	st->worked_us = clock_us(mod) - begun;
	slice(mod, NULL);
}

/* Soon: everything that happens in this turn belongs to it. */
static void plan(struct keel_mod *mod)
{
	struct state *st = mod->state;
	int64_t wait_us = st->not_before - clock_us(mod);

	st->phase = PLANNED;
	st->timer = st->core->timer(mod, wait_us > 0 ? (wait_us + 999) / 1000 : 0, begin, NULL);
	if (!st->timer)
		st->phase = IDLE; /* no memory: the next event tries again */
}

void wake(struct keel_mod *mod, int32_t command)
{
	struct state *st = mod->state;

	if (st->phase == RANKING || st->phase == CONSIDERING || st->phase == PREEMPTING)
		st->again = true;
	else if (st->phase == IDLE)
		plan(mod);
	st->command = command;
}

static void time_is_up(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->iteration = NULL;
	rest_over(mod);
	wake(mod, CMD_TIME);
	iteration_start(mod);
}

void iteration_start(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));
	int64_t seconds = server ? st->object->get_int(server, st->server.iteration) : 0;

	st->core->timer_cancel(st->iteration);
	if (seconds <= 0)
		seconds = 600;
	if (seconds > 86400 * 30)
		seconds = 86400 * 30;
	st->iteration = st->core->timer(mod, seconds * 1000, time_is_up, NULL);
}

void cycle_stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->core->timer_cancel(st->timer);
	st->core->timer_cancel(st->iteration);
	st->core->timer_cancel(st->talk_timer);
	st->timer = st->iteration = st->talk_timer = NULL;
	st->asking = NULL;
	free(st->urgent);
	st->urgent = NULL;
	st->phase = IDLE;
}
