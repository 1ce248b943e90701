/* SPDX-License-Identifier: Apache-2.0
 *
 * changes.c - a change set: an overlay of new values over objects, applied as a whole or not at
 * all.
 *
 * One entry per (object, attribute), holding the whole new value or "unset". An entry pins its
 * object and reserves room for its value there, so commit cannot fail. An object that was destroyed
 * meanwhile is skipped; entries of a withdrawn row are dropped.
 */
#include "object/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>


#define SMALL 16u /* up to so many entries are searched one by one */

struct keel_changes *changes_create(struct keel_mod *m)
{
	struct objects *all = objects_of(m);
	struct keel_changes *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->objects = all;
	DL_PREPEND(all->changes, c);
	return c;
}

/* ---- entries ------------------------------------------------------------------------------- */

static uint32_t place_of(const struct keel_changes *c, const struct keel_obj *o,
			 const struct keel_attr *a)
{
	uint64_t h = ((uintptr_t)o >> 4) * 0x9e3779b97f4a7c15ull + a->number * 0xff51afd7ed558ccdull;
	uint32_t i = (uint32_t)(h >> 32) & (c->size - 1);

	while (c->cell[i]) {
		const struct change *e = &c->entry[c->cell[i] - 1];

		if (e->obj == o && e->attr == a)
			break;
		i = (i + 1) & (c->size - 1);
	}
	return i;
}

struct change *change_find(const struct keel_changes *c, const struct keel_obj *o,
			   const struct keel_attr *a)
{
	if (c->size) {
		uint32_t cell = c->cell[place_of(c, o, a)];

		return cell ? &c->entry[cell - 1] : NULL;
	}
	for (uint32_t i = 0; i < c->n; i++)
		if (c->entry[i].obj == o && c->entry[i].attr == a)
			return &c->entry[i];
	return NULL;
}

/* Cells for three times as many entries. */
static int index_grow(struct keel_changes *c)
{
	uint32_t size = c->size ? c->size * 4 : SMALL * 4, *cell, *old = c->cell;

	if (c->n < SMALL || (c->n + 1) * 2 <= c->size)
		return 0;
	cell = calloc(size, sizeof(*cell));
	if (!cell)
		return -ENOMEM;
	c->cell = cell;
	c->size = size;
	free(old);
	for (uint32_t i = 0; i < c->n; i++)
		if (c->entry[i].obj)
			c->cell[place_of(c, c->entry[i].obj, c->entry[i].attr)] = i + 1;
	return 0;
}

static int entry_grow(struct keel_changes *c)
{
	uint32_t cap = c->cap ? c->cap * 2 : 8;
	struct change *entry;

	if (c->n < c->cap)
		return 0;
	entry = realloc(c->entry, cap * sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	c->entry = entry;
	c->cap = cap;
	return 0;
}

struct change *change_add(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a)
{
	struct change *e;

	if (entry_grow(c) < 0 || index_grow(c) < 0 || value_reserve(o, o->pins + 1) < 0)
		return NULL;
	o->pins++;
	if (c->size)
		c->cell[place_of(c, o, a)] = c->n + 1;
	e = &c->entry[c->n++];
	*e = (struct change){ .obj = o, .attr = a };
	return e;
}

/* ---- reading ------------------------------------------------------------------------------- */

const union keel_slot *changes_slot(struct keel_changes *c, struct keel_obj *o,
				    const struct keel_attr *a)
{
	const struct change *e = c ? change_find(c, o, a) : NULL;

	if (!e)
		return value_at(o, a);
	return e->is_set ? &e->slot : NULL;
}

int32_t changes_peek(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
		     const char *key, char *buf, uint32_t len)
{
	if (!KEEL_ATTR_HAS_VALUE(&a->def))
		return read_text(o, a, key, buf, len);
	return text_of(a, changes_slot(c, o, a), key, buf, len);
}

/* Calls fn for each entry; fn may add to the set: entries are addressed by number. */
void changes_each(struct keel_changes *c,
		  void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg)
{
	for (uint32_t i = 0, n = c ? c->n : 0; i < n; i++)
		if (c->entry[i].obj && !(c->entry[i].obj->flags & OBJ_DEAD))
			fn(arg, c->entry[i].obj, c->entry[i].attr);
}

/* ---- the end of a set ---------------------------------------------------------------------- */

static void entry_drop(struct change *e)
{
	if (!e->obj)
		return;
	if (e->is_set)
		type_drop(e->attr->type, &e->slot);
	e->is_set = false;
	obj_unpin(e->obj);
	e->obj = NULL;
}

void changes_discard(struct keel_changes *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		entry_drop(&c->entry[i]);
	DL_DELETE(c->objects->changes, c);
	free(c->entry);
	free(c->cell);
	free(c);
}

static void entry_apply(struct change *e)
{
	if (!e->obj || e->obj->flags & OBJ_DEAD)
		return;
	if (!e->is_set)
		value_drop(e->obj, e->attr);
	else if (value_put(e->obj, e->attr, &e->slot) < 0)
		value_lost(); /* not reached: the room is reserved */
	e->is_set = false; /* moved */
	if (e->attr->def.flags & KEEL_ATTR_SAVE)
		write_touch(e->obj);
}

void changes_commit(struct keel_changes *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		entry_apply(&c->entry[i]);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct change *e = &c->entry[i];

		if (e->obj && e->attr->def.changed && !(e->obj->flags & (OBJ_DEAD | OBJ_DRAFT)))
			attr_changed(e->attr, e->obj);
	}
	changes_discard(c);
}

void changes_forget(struct keel_attr *a)
{
	for (struct keel_changes *c = a->klass->objects->changes; c; c = c->next)
		for (uint32_t i = 0; i < c->n; i++)
			if (c->entry[i].attr == a)
				entry_drop(&c->entry[i]);
}
