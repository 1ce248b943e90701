/* SPDX-License-Identifier: Apache-2.0
 *
 * changes.c - a change set: new values over objects, applied as a whole or not at all.
 *
 * One entry per (object, attribute), with the whole new value or "unset". Entries are in the list of their set, and in
 * that of their object, where they are found. An entry reserves room for its value in the object, so commit cannot fail;
 * and it keeps an object that was destroyed meanwhile, which is skipped.
 */
#include <stdlib.h>
#include <utlist.h>

#include "object/object.h"
#include "util/err.h"

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

struct change *change_find(const struct keel_changes *c, const struct keel_obj *o, const struct keel_attr *a)
{
	struct change *e = o->changes;

	while (e && (e->set != c || e->attr != a))
		e = e->of_obj;
	return e;
}

uint32_t changes_of(const struct keel_obj *o)
{
	uint32_t n = 0;

	for (const struct change *e = o->changes; e; e = e->of_obj)
		n++;
	return n;
}

struct change *change_add(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a)
{
	struct change *e = malloc(sizeof(*e));

	if (!e || value_reserve(o, changes_of(o) + 1) < 0) {
		free(e);
		return NULL;
	}
	*e = (struct change){ .set = c, .obj = o, .attr = a };
	LL_PREPEND2(o->changes, e, of_obj);
	DL_APPEND(c->entries, e);
	return e;
}

void change_drop(struct change *e)
{
	struct keel_obj *o = e->obj;

	if (e->is_set)
		type_drop(e->attr->type, &e->slot);
	LL_DELETE2(o->changes, e, of_obj);
	DL_DELETE(e->set->entries, e);
	free(e);
	obj_retire(o);
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

/* Calls fn for each entry; not for those that fn adds. */
void changes_each(struct keel_changes *c,
		  void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg)
{
	struct change *e = c ? c->entries : NULL, *last = e ? e->prev : NULL;

	for (; e; e = e == last ? NULL : e->next)
		if (!(e->obj->flags & OBJ_DEAD))
			fn(arg, e->obj, e->attr);
}

/* ---- the end of a set ---------------------------------------------------------------------- */

void changes_discard(struct keel_changes *c)
{
	if (!c)
		return;
	while (c->entries)
		change_drop(c->entries);
	DL_DELETE(c->objects->changes, c);
	free(c);
}

static void entry_apply(struct change *e)
{
	if (e->obj->flags & OBJ_DEAD)
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
	struct change *e;

	if (!c)
		return;
	DL_FOREACH(c->entries, e)
		entry_apply(e);
	DL_FOREACH(c->entries, e)
		if (e->attr->def.changed && !(e->obj->flags & (OBJ_DEAD | OBJ_DRAFT)))
			attr_changed(e->attr, e->obj);
	changes_discard(c);
}
