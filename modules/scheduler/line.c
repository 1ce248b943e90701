/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - queues as the current cycle sees them.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(queue, queue_type, started, Priority, backfill_depth);

static void line_end(struct state *st, struct line *l)
{
	HASH_DEL(st->lines, l);
	free(l->name);
	free(l);
}

struct line *line_get(struct keel_mod *mod, const char *queue)
{
	struct state *st = mod->state;
	struct line *l;

	HASH_FIND_STR(st->lines, queue, l);
	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (l && (l->name = strdup(queue)))
		HASH_ADD_KEYPTR(hh, st->lines, l->name, strlen(l->name), l);
	if (!l || !l->name || !l->hh.tbl) {
		free(l ? l->name : NULL);
		free(l);
		return NULL;
	}
	l->order.before = group_before;
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
	struct line *l, *next;
	struct keel_obj *queue;
	uint32_t rank = 0;

	for (l = st->lines; l; l = l->hh.next)
		l->there = l->started = false;
	while (cursor && (queue = keel_next(cursor)))
		if ((l = line_get(mod, keel_id(queue))))
			line_read(l, queue, rank++);
	if (cursor)
		keel_cursor_close(cursor);
	HASH_ITER(hh, st->lines, l, next)
		if (!l->there && !l->groups)
			line_end(st, l);
}

void lines_free(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct line *l, *next;

	HASH_ITER(hh, st->lines, l, next)
		line_end(st, l);
}
