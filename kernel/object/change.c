/* SPDX-License-Identifier: Apache-2.0
 *
 * change.c - a change set: new values over objects, applied as a whole or not at all; and one change into it:
 * permission, flags, parse, check function.
 *
 * One entry per (object, attribute), with the whole new value or "unset". Entries are in the list of their set, and in
 * that of their object, where they are found. An entry reserves room for its value in the object, so commit cannot fail;
 * and it keeps an object that was destroyed meanwhile, which is skipped.
 */
#include <stdlib.h>
#include <utlist.h>

#include "object/object.h"
#include "util/crumb.h"
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

static struct change *change_find(const struct keel_changes *c, const struct keel_obj *o, const struct keel_attr *a)
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

/* The entry there is, or a new one, unset. NULL: no memory. */
static struct change *change_get(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a)
{
	struct change *e = change_find(c, o, a);

	if (e)
		return e;
	e = malloc(sizeof(*e));
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

const union keel_slot *changes_slot(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a)
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

void changes_emit(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a, const char *key,
		  const struct keel_emit *emit)
{
	const struct change *e = c ? change_find(c, o, a) : NULL;

	if (!e)
		read_emit(o, a, key, emit);
	else if (e->is_set)
		type_format(a->type, &e->slot, key, emit);
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

void changes_commit(struct keel_changes *c)
{
	struct change *e;

	if (!c)
		return;
	DL_FOREACH(c->entries, e) {
		if (e->obj->flags & OBJ_DEAD)
			continue;
		if (!e->is_set)
			value_drop(e->obj, e->attr);
		else if (value_put(e->obj, e->attr, &e->slot) < 0)
			value_lost(); /* not reached: the room is reserved */
		e->is_set = false; /* moved */
		if (e->attr->def.flags & KEEL_ATTR_SAVE)
			write_touch(e->obj);
	}
	DL_FOREACH(c->entries, e)
		if (e->attr->def.changed && !(e->obj->flags & (OBJ_DEAD | OBJ_DRAFT)))
			attr_changed(e->attr, e->obj);
	changes_discard(c);
}

/* ---- one change ------------------------------------------------------------------------------
 * The new value is made beside the old one and replaces it only after every check, so that a change that fails leaves
 * the set as it was. */

struct attempt {
	struct keel_changes *set;
	const struct keel_session *session; /* NULL: the system */
	struct keel_obj *obj;
	const struct keel_attr *attr;
	int32_t op;
	const char *key, *text;
	union keel_slot slot; /* the new value */
	bool is_set;
	struct keel_err *err;
};

static int attempt_valid(const struct attempt *t)
{
	const struct keel_attr_def *def = &t->attr->def;
	bool keyed = t->attr->type->def.flags & KEEL_TYPE_KEYED;

	if (t->session && (!(def->write_roles & t->session->roles) ||
			   ((def->flags & KEEL_ATTR_CREATE) && !(t->obj->flags & OBJ_DRAFT))))
		return attr_fault(t->err, PBSE_ATTRRO, t->attr, t->key);
	if (t->op != KEEL_SET && t->op != KEEL_UNSET && t->op != KEEL_INCR && t->op != KEEL_DECR)
		return err_set(t->err, PBSE_IVALREQ, "%s", pbse_text(PBSE_IVALREQ));
	if (!KEEL_ATTR_HAS_VALUE(def))
		return attr_fault(t->err, PBSE_ATTRRO, t->attr, t->key);
	if (keyed ? !t->key && t->text && *t->text : t->key != NULL)
		return attr_fault(t->err, PBSE_BADATVAL, t->attr, t->key);
	return 0;
}

/* Makes the new value, from the one there is where a part of that stays. */
static int attempt_make(struct attempt *t)
{
	const struct keel_attr *a = t->attr;
	const union keel_slot *now = changes_slot(t->set, t->obj, a);
	uint32_t type = a->type->def.flags;
	bool whole = !t->key && (t->op == KEEL_SET || t->op == KEEL_UNSET) && !(type & KEEL_TYPE_MERGES);
	bool empties = t->op == KEEL_SET && (!t->text || !*t->text) && (type & KEEL_TYPE_STRING) &&
		       !(a->def.flags & KEEL_ATTR_EMPTY);

	if (now && !whole) {
		if (type_copy(a->type, now, &t->slot) != 0)
			return err_no_memory(t->err);
		t->is_set = true;
	}
	if (t->op != KEEL_UNSET && !empties)
		return type_parse(a, t->op, t->key, t->text ? t->text : "", &t->slot, &t->is_set, t->err);
	if (t->key && t->is_set && a->type->def.unset(mod_of(a->type->owner), &t->slot, t->key)) {
		type_drop(a->type, &t->slot);
		t->is_set = false;
	}
	if (!t->key && (a->def.flags & KEEL_ATTR_RESET) && a->def.fallback)
		return type_parse(a, KEEL_SET, NULL, a->def.fallback, &t->slot, &t->is_set, t->err);
	return 0;
}

/* The attribute's own check. */
static int attempt_check(const struct attempt *t)
{
	const struct keel_attr *a = t->attr;
	int len = a->def.check && t->is_set ? text_of(a, &t->slot, t->key, NULL, 0) : -1, code;
	bool empty = t->op == KEEL_SET && (a->def.flags & KEEL_ATTR_EMPTY);
	char *text;

	if (!a->def.check || (len < 0 && !empty)) /* unset: nothing to check */
		return 0;
	text = calloc(1, len < 0 ? 1 : (size_t)len + 1);
	if (!text)
		return err_no_memory(t->err);
	if (len >= 0)
		(void)text_of(a, &t->slot, t->key, text, (uint32_t)len + 1);
	if (t->err)
		t->err->text[0] = '\0';
	CRUMB_CALL(a->owner, "check() of an attribute", a->def.name,
		   code = a->def.check(mod_of(a->owner), t->session, t->obj, t->op, t->key, text, t->err));
	free(text);
	if (code < 0)
		code = PBSE_BADATVAL;
	if (code && t->err && t->err->text[0])
		t->err->code = code;
	else if (code)
		attr_fault(t->err, code, a, t->key);
	return code;
}

static int attempt(struct attempt *t, bool checked)
{
	struct change *e = NULL;
	int code = attempt_valid(t);

	if (!code)
		code = attempt_make(t);
	if (!code && checked)
		code = attempt_check(t);
	if (!code && !(e = change_get(t->set, t->obj, t->attr)))
		code = err_no_memory(t->err);
	if (code && t->is_set)
		type_drop(t->attr->type, &t->slot);
	if (code)
		return code;
	if (e->is_set)
		type_drop(t->attr->type, &e->slot);
	e->slot = t->slot;
	e->is_set = t->is_set;
	return 0;
}

int32_t changes_ask(struct keel_changes *c, const struct keel_session *s, struct keel_obj *o,
		    const struct keel_attrop *op, struct keel_err *err)
{
	struct attempt t = { .set = c, .session = s, .obj = o, .op = op->op, .key = op->key,
			     .text = op->value, .err = err };

	if (o->flags & OBJ_DEAD)
		return err_set(err, PBSE_IVALREQ, "%s", pbse_text(PBSE_IVALREQ));
	t.attr = op->name ? attr_of_request(o->klass, op->name) : NULL;
	if (!t.attr)
		return err_set(err, PBSE_NOATTR, "%s%s%s", pbse_text(PBSE_NOATTR), op->name ? " " : "",
			       op->name ? op->name : "");
	return attempt(&t, true);
}

int32_t changes_text(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
		     int32_t op, const char *key, const char *text, struct keel_err *err)
{
	struct attempt t = { .set = c, .obj = o, .attr = a, .op = op, .key = key, .text = text,
			     .err = err };

	if (o->flags & OBJ_DEAD)
		return err_set(err, PBSE_IVALREQ, "%s", pbse_text(PBSE_IVALREQ));
	if (!a->klass)
		return err_set(err, PBSE_NOATTR, "%s", pbse_text(PBSE_NOATTR));
	return attempt(&t, false);
}
