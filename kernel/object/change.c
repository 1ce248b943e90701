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

static struct change *change_add(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a)
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

static int attempt_fault(const struct attempt *t, int code)
{
	return attr_fault(t->err, code, t->attr, t->key);
}

static int attempt_permitted(const struct attempt *t)
{
	const struct keel_attr_def *def = &t->attr->def;

	if (!KEEL_ATTR_HAS_VALUE(def) || (def->write_roles & t->session->roles) == 0)
		return attempt_fault(t, PBSE_ATTRRO);
	if ((def->flags & KEEL_ATTR_CREATE) && !(t->obj->flags & OBJ_DRAFT))
		return attempt_fault(t, PBSE_ATTRRO);
	return 0;
}

static int attempt_valid(const struct attempt *t)
{
	bool keyed = t->attr->type->def.flags & KEEL_TYPE_KEYED;

	if (t->op != KEEL_SET && t->op != KEEL_UNSET && t->op != KEEL_INCR && t->op != KEEL_DECR)
		return err_set(t->err, PBSE_IVALREQ, "%s", pbse_text(PBSE_IVALREQ));
	if (!KEEL_ATTR_HAS_VALUE(&t->attr->def))
		return attempt_fault(t, PBSE_ATTRRO);
	if (t->key && !keyed)
		return attempt_fault(t, PBSE_BADATVAL);
	if (keyed && !t->key && t->text && *t->text)
		return attempt_fault(t, PBSE_BADATVAL);
	return 0;
}

/* ---- making the new value ------------------------------------------------------------------ */

static int attempt_begin(struct attempt *t)
{
	const union keel_slot *now = changes_slot(t->set, t->obj, t->attr);
	bool whole = !t->key && (t->op == KEEL_SET || t->op == KEEL_UNSET) &&
		     !(t->attr->type->def.flags & KEEL_TYPE_MERGES);

	if (!now || whole)
		return 0;
	if (type_copy(t->attr->type, now, &t->slot) != 0)
		return err_no_memory(t->err);
	t->is_set = true;
	return 0;
}

static int attempt_parse(struct attempt *t, int32_t op, const char *text)
{
	return type_parse(t->attr, op, t->key, text, &t->slot, &t->is_set, t->err);
}

static int attempt_unset(struct attempt *t)
{
	const struct keel_attr *a = t->attr;

	if (t->key) {
		if (t->is_set && a->type->def.unset(mod_of(a->type->owner), &t->slot, t->key)) {
			type_drop(a->type, &t->slot);
			t->is_set = false;
		}
		return 0;
	}
	if ((a->def.flags & KEEL_ATTR_RESET) && a->def.fallback &&
	    !(a->type->def.flags & KEEL_TYPE_KEYED))
		return attempt_parse(t, KEEL_SET, a->def.fallback);
	return 0;
}

static bool attempt_unsets(const struct attempt *t)
{
	if (t->op == KEEL_UNSET)
		return true;
	return t->op == KEEL_SET && (!t->text || !*t->text) &&
	       (t->attr->type->def.flags & KEEL_TYPE_STRING) &&
	       !(t->attr->def.flags & KEEL_ATTR_EMPTY);
}

/* ---- the attribute's own check ------------------------------------------------------------- */

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
		attempt_fault(t, code);
	return code;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int attempt_store(struct attempt *t)
{
	struct change *e = change_find(t->set, t->obj, t->attr);

	if (!e)
		e = change_add(t->set, t->obj, t->attr);
	if (!e)
		return err_no_memory(t->err);
	if (e->is_set)
		type_drop(t->attr->type, &e->slot);
	e->slot = t->slot;
	e->is_set = t->is_set;
	return 0;
}

static int attempt(struct attempt *t, bool checked)
{
	int code = attempt_valid(t);

	if (!code)
		code = attempt_begin(t);
	if (!code)
		code = attempt_unsets(t) ? attempt_unset(t) : attempt_parse(t, t->op, t->text ? t->text : "");
	if (!code && checked)
		code = attempt_check(t);
	if (!code)
		code = attempt_store(t);
	if (code && t->is_set)
		type_drop(t->attr->type, &t->slot);
	return code;
}

int32_t changes_ask(struct keel_changes *c, const struct keel_session *s, struct keel_obj *o,
		    const struct keel_attrop *op, struct keel_err *err)
{
	struct attempt t = { .set = c, .session = s, .obj = o, .op = op->op, .key = op->key,
			     .text = op->value, .err = err };
	int code;

	if (o->flags & OBJ_DEAD)
		return err_set(err, PBSE_IVALREQ, "%s", pbse_text(PBSE_IVALREQ));
	t.attr = op->name ? attr_of_request(o->klass, op->name) : NULL;
	if (!t.attr)
		return err_set(err, PBSE_NOATTR, "%s%s%s", pbse_text(PBSE_NOATTR), op->name ? " " : "",
			       op->name ? op->name : "");
	code = s ? attempt_permitted(&t) : 0;
	return code ? code : attempt(&t, true);
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
