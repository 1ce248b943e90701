/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - walks through the published objects of a class, in order of creation, while they change.
 *
 * A cursor keeps the object that it returned last. New objects are appended, so a walk returns them, too.
 */
#include <stdlib.h>
#include <utlist.h>

#include "object/object.h"

struct keel_cursor {
	struct class *klass; /* NULL: there is none of that name */
	struct keel_obj *last; /* NULL: none yet */
	struct keel_cursor *next;
};

static struct keel_obj *obj_before(const struct keel_obj *o)
{
	return o == o->klass->live ? NULL : o->prev;
}

/* Cursors at it step back: what follows it is what they return next. */
static void cursors_step_back(const struct keel_obj *o)
{
	for (struct keel_cursor *c = o->klass->cursors; c; c = c->next)
		if (c->last == o)
			c->last = obj_before(o);
}

void order_remove(struct keel_obj *o)
{
	cursors_step_back(o);
	DL_DELETE(o->klass->live, o);
}

/* Cursors at one of them step back: it may be returned twice. */
void object_swap(struct keel_obj *a, struct keel_obj *b)
{
	struct class *c = a->klass;
	struct keel_obj *before_a, *before_b;

	if (a == b || c != b->klass || (a->flags | b->flags) & (OBJ_DRAFT | OBJ_DEAD))
		return;
	if (obj_before(a) == b) {
		object_swap(b, a);
		return;
	}
	before_a = obj_before(a);
	before_b = obj_before(b) == a ? b : obj_before(b);
	order_remove(a);
	order_remove(b);
	DL_APPEND_ELEM(c->live, before_a, b);
	DL_APPEND_ELEM(c->live, before_b, a);
}

struct keel_cursor *cursor_of(struct class *c)
{
	struct keel_cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return NULL;
	cursor->klass = c;
	if (c)
		LL_PREPEND(c->cursors, cursor);
	return cursor;
}

struct keel_cursor *cursor_open(struct keel_mod *m, const char *klass)
{
	return cursor_of(class_find(objects_of(m), klass));
}

struct keel_obj *cursor_next(struct keel_cursor *cursor)
{
	struct keel_obj *o;

	if (!cursor || !cursor->klass || !cursor->klass->declared)
		return NULL;
	o = cursor->last ? cursor->last->next : cursor->klass->live;
	if (!o)
		return NULL;
	__builtin_prefetch(o->next);
	cursor->last = o;
	return o;
}

void cursor_close(struct keel_cursor *cursor)
{
	if (cursor && cursor->klass)
		LL_DELETE(cursor->klass->cursors, cursor);
	free(cursor);
}
