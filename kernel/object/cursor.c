/* SPDX-License-Identifier: Apache-2.0
 *
 * cursor.c - walk a class in order of creation while it changes.
 *
 * A cursor stands on the object it gave last. When that one leaves, it steps back to the one
 * before, so the walk goes on with the right follower; new objects are appended and so are met.
 */
#include <stdlib.h>

#include "object/object.h"

struct keel_cursor {
	struct class *klass;  /* NULL: its class was withdrawn */
	struct keel_obj *at;  /* NULL: before the first */
	struct keel_cursor *next;
};

struct keel_cursor *cursor_of(struct class *c)
{
	struct keel_cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return NULL;
	cursor->klass = c;
	cursor->next = c->cursors;
	c->cursors = cursor;
	return cursor;
}

struct keel_cursor *cursor_open(struct keel_mod *m, const char *klass)
{
	struct class *c = class_find(objects_of(m), klass);

	return c ? cursor_of(c) : calloc(1, sizeof(struct keel_cursor));
}

struct keel_obj *cursor_next(struct keel_cursor *cursor)
{
	struct keel_obj *o;

	if (!cursor || !cursor->klass)
		return NULL;
	o = cursor->at ? cursor->at->next : cursor->klass->live.first;
	if (o)
		cursor->at = o;
	return obj_refresh(o);
}

void cursor_close(struct keel_cursor *cursor)
{
	struct keel_cursor **at;

	if (!cursor)
		return;
	if (cursor->klass) {
		for (at = &cursor->klass->cursors; *at != cursor;)
			at = &(*at)->next;
		*at = cursor->next;
	}
	free(cursor);
}

void cursors_leave(struct keel_obj *o)
{
	for (struct keel_cursor *c = o->klass->cursors; c; c = c->next)
		if (c->at == o)
			c->at = o->prev;
}

void cursors_end(struct class *c)
{
	while (c->cursors) {
		struct keel_cursor *cursor = c->cursors;

		c->cursors = cursor->next;
		cursor->klass = NULL;
	}
}
