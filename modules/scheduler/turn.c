/* SPDX-License-Identifier: Apache-2.0
 *
 * turn.c - whose turn it is: groups compete by their first jobs.
 *
 * by_queue: all of the queue with the highest Priority, then the next; round_robin: one job of each
 * queue in turn; neither: all by the order of jobs. Jobs that go before all queues come first always.
 */
#include "scheduler.h"

void turn_add(struct keel_mod *mod, struct group *g)
{
	struct state *st = mod->state;

	if (!group_head(g) || g->heap.in)
		return;
	if (goes_first(g))
		g->in = &st->first;
	else if (setting_on(mod, SET_by_queue) || setting_on(mod, SET_round_robin))
		g->in = &g->line->order;
	else
		g->in = &st->all;
	heap_push(g->in, &g->heap);
}

void turn_drop(struct group *g)
{
	if (g->heap.in)
		heap_remove(g->in, &g->heap);
}

static bool line_before(const struct line *a, const struct line *b, bool turns)
{
	if (turns && a->turn != b->turn)
		return a->turn < b->turn;
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->rank < b->rank;
}

struct group *turn_next(struct keel_mod *mod)
{
	struct state *st = mod->state;
	bool turns = setting_on(mod, SET_round_robin);
	struct line *l, *best = NULL;
	struct heap *next = &st->all;

	for (l = st->lines; l; l = l->hh.next)
		if (l->order.root && (!best || line_before(l, best, turns)))
			best = l;
	if (st->first.root) {
		next = &st->first;
	} else if (best) {
		best->turn++;
		next = &best->order;
	}
	return (struct group *)(void *)heap_pop(next);
}

void turn_clear(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct line *l;

	while (heap_pop(&st->first))
		;
	while (heap_pop(&st->all))
		;
	for (l = st->lines; l; l = l->hh.next)
		while (heap_pop(&l->order))
			;
}
