/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - the published objects of a class in order of creation, and walks through them while they change.
 *
 * Places in an array, not links, so that a walk through a hundred thousand objects can prefetch the next ones. A place
 * that becomes empty stays so until there are many.
 *
 * A cursor has the place after the object it returned last. New objects are appended, so a walk returns them, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "object/object.h"

#define FIRST_PLACES 64u
/* How many objects are prefetched; in a deep walk their values are, too. */
#define AHEAD 12u
#define SLOTS_AHEAD 8u
#define VALUES_AHEAD 4u
#define LINE 64u
#define NO_PLACE_BITS 40u /* a slot that holds less is a number */

struct keel_cursor {
	struct class *klass; /* NULL: there is none of that name */
	uint32_t at;	     /* the next place */
	bool deep;	     /* the caller reads values of the objects */
	struct keel_cursor *next;
};

/* ---- places --------------------------------------------------------------------------------- */
static void close_up(struct class *c)
{
	struct order *l = &c->live;
	uint32_t to = 0;

	for (struct keel_cursor *cursor = c->cursors; cursor; cursor = cursor->next) {
		uint32_t taken = 0;

		for (uint32_t i = 0; i < cursor->at; i++)
			taken += l->at[i] != NULL;
		cursor->at = taken;
	}
	for (uint32_t from = 0; from < l->n; from++) {
		if (!l->at[from])
			continue;
		l->at[to] = l->at[from];
		l->at[to]->place = to;
		to++;
	}
	l->n = to;
}

int order_room(struct class *c)
{
	struct order *l = &c->live;
	uint32_t cap = l->cap ? l->cap * 2 : FIRST_PLACES;
	struct keel_obj **at;

	if (l->n < l->cap)
		return 0;
	if (l->taken < l->n - l->n / 4) {
		close_up(c);
		return 0;
	}
	at = reallocarray(l->at, cap, sizeof(struct keel_obj *));
	if (!at)
		return -ENOMEM;
	l->at = at;
	l->cap = cap;
	return 0;
}

/* A walk under way misses neither; it may return one of them twice. */
void object_swap(struct keel_obj *a, struct keel_obj *b)
{
	struct keel_obj **at = a->klass->live.at;
	uint32_t place = a->place;

	if (a == b || a->klass != b->klass || (a->flags | b->flags) & (OBJ_DRAFT | OBJ_DEAD))
		return;
	/* Cursors just behind one of them step back: the object at its place is returned again. */
	for (struct keel_cursor *c = a->klass->cursors; c; c = c->next) {
		c->at -= c->at == place + 1;
		c->at -= c->at == b->place + 1;
	}
	a->place = b->place;
	b->place = place;
	at[a->place] = a;
	at[b->place] = b;
}

/* ---- walks ----------------------------------------------------------------------------------- */
struct keel_cursor *cursor_of(struct class *c, bool deep)
{
	struct keel_cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return NULL;
	cursor->klass = c;
	cursor->deep = deep;
	LL_PREPEND(c->cursors, cursor);
	return cursor;
}

struct keel_cursor *cursor_open(struct keel_mod *m, const char *klass)
{
	struct class *c = class_find(objects_of(m), klass);

	return c ? cursor_of(c, false) : calloc(1, sizeof(struct keel_cursor));
}

static void fetch_values(const struct order *l, uint32_t at)
{
	const struct keel_obj *o = at + SLOTS_AHEAD < l->n ? l->at[at + SLOTS_AHEAD] : NULL;

	for (uint32_t i = 0; o && i < o->n; i += LINE / sizeof(o->slot[0]))
		__builtin_prefetch(&o->slot[i]);
	o = at + VALUES_AHEAD < l->n ? l->at[at + VALUES_AHEAD] : NULL;
	for (uint32_t i = 0; o && i < o->n; i++)
		if ((uint64_t)o->slot[i].i >> NO_PLACE_BITS)
			__builtin_prefetch(o->slot[i].p);
}

struct keel_obj *cursor_next(struct keel_cursor *cursor)
{
	const struct order *l;

	if (!cursor || !cursor->klass || !cursor->klass->declared)
		return NULL;
	l = &cursor->klass->live;
	while (cursor->at < l->n && !l->at[cursor->at])
		cursor->at++;
	if (cursor->at == l->n)
		return NULL;
	if (cursor->at + AHEAD < l->n)
		__builtin_prefetch(l->at[cursor->at + AHEAD]);
	if (cursor->deep)
		fetch_values(l, cursor->at);
	return l->at[cursor->at++];
}

void cursor_close(struct keel_cursor *cursor)
{
	if (cursor && cursor->klass)
		LL_DELETE(cursor->klass->cursors, cursor);
	free(cursor);
}
