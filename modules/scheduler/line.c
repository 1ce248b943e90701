/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - queues as the current cycle sees them.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(queue, queue_type, started, Priority, backfill_depth);

struct line *line_get(struct keel_mod *mod, const char *queue)
{
	struct state *st = mod->state;
	struct line **at = &st->lines, *l;

	for (; *at; at = &(*at)->next)
		if (strcmp((*at)->name, queue) == 0)
			return *at;
	l = calloc(1, sizeof(*l));
	if (!l || !(l->name = strdup(queue))) {
		free(l);
		return NULL;
	}
	l->order.before = group_before;
	*at = l;
	return l;
}

static void line_read(struct line *l, struct keel_obj *queue, uint32_t rank)
{
	const char *type = keel_get_str(queue, queue_queue_type);

	l->there = true;
	l->rank = rank;
	l->turn = l->top_jobs = 0;
	l->started = keel_get_int(queue, queue_started);
	l->execution = !type || *type == 'E' || *type == 'e';
	l->priority = keel_get_int(queue, queue_Priority);
	l->own_depth = keel_is_set(queue, queue_backfill_depth);
	l->depth = keel_get_int(queue, queue_backfill_depth);
}

void lines_refresh(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_cursor *cursor = keel_cursor(mod, "queue");
	struct line **at, *l;
	struct keel_obj *queue;
	uint32_t rank = 0;

	for (l = st->lines; l; l = l->next)
		l->there = l->started = false;
	for (at = &st->lines; cursor && (queue = keel_next(cursor));) {
		const char *name = keel_id(queue);

		/* queues come in the order of their creation, as lines did: mostly it is the next one */
		l = *at && strcmp((*at)->name, name) == 0 ? *at : line_get(mod, name);
		if (!l)
			continue;
		line_read(l, queue, rank++);
		at = &l->next;
	}
	if (cursor)
		keel_cursor_close(cursor);
	for (at = &st->lines; (l = *at);) {
		if (l->there || l->groups) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		free(l->name);
		free(l);
	}
}

void lines_free(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->lines) {
		struct line *l = st->lines;

		st->lines = l->next;
		free(l->name);
		free(l);
	}
}
