/* SPDX-License-Identifier: Apache-2.0
 *
 * changes.c - change sets: new values over objects, applied as a whole or not at all.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "inside.h"

struct entry {
	struct body *body; /* NULL: forgotten */
	const struct keel_attr *attr;
	union keel_slot slot;
	bool is_set;
};
struct keel_changes {
	struct head head;
	struct keel_changes *prev, *next;
	struct mod *mod;
	struct entry *entry;
	uint32_t n;
};

struct keel_changes *changes_make(struct mod *m)
{
	struct keel_changes *c = make(sizeof(*c));

	head_init(&c->head, mock_of(m), c);
	c->mod = m;
	m->n_open_handles++;
	DL_APPEND(mock_of(m)->changes, c);
	return c;
}

static struct entry *entry_of(const struct keel_changes *c, const struct body *b,
			      const struct keel_attr *a)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->entry[i].body == b && c->entry[i].attr == a)
			return &c->entry[i];
	return NULL;
}

static void entry_clear(struct entry *e)
{
	if (e->body != NULL && e->is_set)
		slot_drop(e->attr->type, &e->slot);
	e->is_set = false;
}

static const union keel_slot *slot_in(const struct keel_changes *c, const struct body *b,
				      const struct keel_attr *a)
{
	const struct entry *e = entry_of(c, b, a);

	if (e == NULL)
		return value_at(b, a);
	return e->is_set ? &e->slot : NULL;
}

void changes_forget(struct keel_mock *mock, const struct keel_attr *a, const struct body *b)
{
	struct keel_changes *c;

	DL_FOREACH(mock->changes, c) {
		for (uint32_t i = 0; i < c->n; i++) {
			if (c->entry[i].body == NULL || (c->entry[i].attr != a && c->entry[i].body != b))
				continue;
			entry_clear(&c->entry[i]);
			c->entry[i].body = NULL;
		}
	}
}

/* ---- one change ----------------------------------------------------------------------------------------- */
struct attempt {
	struct keel_changes *set;
	const struct keel_session *session;
	struct body *body;
	const struct keel_attr *attr;
	int32_t op;
	const char *key, *text;
	union keel_slot slot;
	bool is_set;
	struct keel_err *err;
};

static int32_t fault(const struct attempt *t, int32_t code)
{
	return attr_fault(t->err, code, t->attr, t->key);
}

static int32_t permitted(const struct attempt *t)
{
	const struct keel_attr_def *def = &t->attr->def;

	if (!KEEL_ATTR_HAS_VALUE(def) || (def->write_roles & t->session->roles) == 0 ||
	    ((def->flags & KEEL_ATTR_CREATE) && !t->body->draft))
		return fault(t, ATTRRO);
	if ((def->flags & KEEL_ATTR_NO_INCR) && (t->op == KEEL_INCR || t->op == KEEL_DECR))
		return fault(t, BADATVAL);
	return 0;
}

static int32_t sensible(const struct attempt *t)
{
	bool keyed = t->attr->type->def.flags & KEEL_TYPE_KEYED;

	if (t->op < KEEL_SET || t->op > KEEL_DECR)
		return err_set(t->err, IVALREQ, "%s", pbse_text(IVALREQ));
	if (!KEEL_ATTR_HAS_VALUE(&t->attr->def))
		return fault(t, ATTRRO);
	if ((t->key != NULL && !keyed) || (keyed && t->key == NULL && t->text != NULL && t->text[0] != '\0'))
		return fault(t, BADATVAL);
	return 0;
}

/* The value to work on: a copy of what is there, unless all of it is replaced. */
static int32_t begin(struct attempt *t)
{
	const union keel_slot *now = slot_in(t->set, t->body, t->attr);
	bool whole = t->key == NULL && (t->op == KEEL_SET || t->op == KEEL_UNSET) &&
		     !(t->attr->type->def.flags & KEEL_TYPE_MERGES);

	if (now == NULL || whole)
		return 0;
	if (!slot_copy(t->attr->type, now, &t->slot))
		return err_set(t->err, SYSTEM, "%sno memory", pbse_text(SYSTEM));
	t->is_set = true;
	return 0;
}

static bool empties(const struct attempt *t)
{
	return t->op == KEEL_UNSET ||
	       (t->op == KEEL_SET && (t->text == NULL || t->text[0] == '\0') &&
		(t->attr->type->def.flags & KEEL_TYPE_STRING) && !(t->attr->def.flags & KEEL_ATTR_EMPTY));
}

static int32_t unset(struct attempt *t)
{
	const struct type *type = t->attr->type;
	bool empty = false;

	if (t->key != NULL && t->is_set) {
		IN(type->owner, empty = type->def.unset(&type->owner->pub, &t->slot, t->key));
		if (empty)
			slot_drop(type, &t->slot);
		t->is_set = !empty;
	}
	if (t->key == NULL && (t->attr->def.flags & KEEL_ATTR_RESET) && t->attr->def.fallback != NULL &&
	    !(type->def.flags & KEEL_TYPE_KEYED))
		return attr_parse(t->attr, KEEL_SET, NULL, t->attr->def.fallback, &t->slot, &t->is_set,
				  t->err);
	return 0;
}

/* The attribute's own opinion of the new value. */
static int32_t ask(const struct attempt *t)
{
	const struct keel_attr *a = t->attr;
	int32_t len = t->is_set ? slot_text(a, &t->slot, t->key, NULL, 0) : -1, code;
	struct keel_err own = { 0 };
	char *text;

	if (a->def.check == NULL ||
	    (len < 0 && !(t->op == KEEL_SET && (a->def.flags & KEEL_ATTR_EMPTY))))
		return 0;
	text = make(len < 0 ? 1 : (size_t)len + 1);
	if (len >= 0)
		slot_text(a, &t->slot, t->key, text, (uint32_t)len + 1);
	IN(a->owner, code = a->def.check(&a->owner->pub, t->session, handle_of(t->body), t->op, t->key,
					 text, &own));
	free(text);
	if (code == 0)
		return 0;
	if (code < 0)
		code = BADATVAL;
	if (own.text[0] == '\0')
		return fault(t, code);
	own.code = code;
	if (t->err != NULL)
		*t->err = own;
	return code;
}

static void into_set(struct attempt *t)
{
	struct entry *e = entry_of(t->set, t->body, t->attr);

	if (e == NULL) {
		t->set->entry = enlarge(t->set->entry, (t->set->n + 1) * sizeof(*e));
		e = &t->set->entry[t->set->n++];
		*e = (struct entry){ .body = t->body, .attr = t->attr };
	}
	entry_clear(e);
	e->slot = t->slot;
	e->is_set = t->is_set;
}

int32_t changes_put(struct keel_changes *c, const struct keel_session *s, struct body *b,
		    const struct keel_attr *a, int32_t op, const char *key, const char *text,
		    bool by_system, struct keel_err *err)
{
	struct attempt t = { .set = c, .session = s, .body = b, .attr = a, .op = op, .key = key,
			     .text = text, .err = err };
	int32_t code = s != NULL ? permitted(&t) : 0;

	if (code == 0)
		code = sensible(&t);
	if (code == 0)
		code = begin(&t);
	if (code == 0)
		code = empties(&t) ? unset(&t) :
				     attr_parse(a, op, key, text != NULL ? text : "", &t.slot, &t.is_set, err);
	if (code == 0 && !by_system)
		code = ask(&t);
	if (code == 0)
		into_set(&t);
	else if (t.is_set)
		slot_drop(a->type, &t.slot);
	return code;
}

/* ---- the end ----------------------------------------------------------------------------------------------- */
static void apply(struct entry *e)
{
	if (e->body == NULL || e->body->dead)
		return;
	if (e->is_set)
		value_put(e->body, e->attr, e->slot);
	else
		value_drop(e->body, e->attr);
	e->is_set = false; /* moved */
}

void changes_end(struct keel_changes *c, bool commit)
{
	DL_DELETE(c->head.mock->changes, c);
	c->mod->n_open_handles--;
	for (uint32_t i = 0; commit && i < c->n; i++)
		apply(&c->entry[i]);
	for (uint32_t i = 0; commit && i < c->n; i++)
		if (c->entry[i].body != NULL && !c->entry[i].body->dead && !c->entry[i].body->draft)
			told_changed(c->entry[i].body, c->entry[i].attr);
	for (uint32_t i = 0; i < c->n; i++)
		entry_clear(&c->entry[i]);
	free(c->entry);
	c->entry = NULL;
	c->n = 0;
	head_end(&c->head);
}

bool changes_good(struct keel_changes *c, const char *what)
{
	return head_good(&c->head, "changes-ended", what);
}

/* ---- the group's functions ------------------------------------------------------------------------------------ */
struct keel_changes *api_changes(struct keel_mod *pub)
{
	struct mod *m = mod_in(pub, "object", "changes");

	return m == NULL || fails(mock_of(m)) ? NULL : changes_make(m);
}

static int32_t no_memory(struct keel_err *err)
{
	return err_set(err, SYSTEM, "%sno memory", pbse_text(SYSTEM));
}

static const struct keel_attr *attr_asked(const struct body *b, const char *name)
{
	struct keel_attr *a = attr_find(b->klass, name);

	for (struct keel_attr *i = a == NULL && name != NULL ? b->handle->head.mock->attrs : NULL; i != NULL;
	     i = i->next)
		if (i->klass == b->klass && strcasecmp(i->def.name, name) == 0)
			a = i;
	return a;
}

int32_t api_change(struct keel_changes *c, const struct keel_session *s, struct keel_obj *o,
		   const struct keel_attrop *op, struct keel_err *err)
{
	struct body *b = body_of(o, "change");
	const struct keel_attr *a;

	if (b == NULL || !changes_good(c, "change"))
		return err_set(err, IVALREQ, "%s", pbse_text(IVALREQ));
	if (fails(c->head.mock))
		return no_memory(err);
	a = attr_asked(b, op->name);
	if (a == NULL)
		return err_set(err, NOATTR, "%s%s%s", pbse_text(NOATTR), op->name != NULL ? " " : "",
			       op->name != NULL ? op->name : "");
	return changes_put(c, s, b, a, op->op, op->key, op->value, false, err);
}

int32_t api_change_text(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
			int32_t op, const char *key, const char *text, struct keel_err *err)
{
	struct body *b = body_of(o, "change_text");

	if (b == NULL || !changes_good(c, "change_text") || a->klass == NULL)
		return err_set(err, IVALREQ, "%s", pbse_text(IVALREQ));
	if (fails(c->head.mock))
		return no_memory(err);
	return changes_put(c, NULL, b, a, op, key, text, true, err);
}

int32_t changes_peek(struct keel_changes *c, struct body *b, const struct keel_attr *a, const char *key,
		     char *buf, uint32_t len)
{
	if (!KEEL_ATTR_HAS_VALUE(&a->def))
		return body_text(b, a, key, buf, len);
	return slot_text(a, c != NULL ? slot_in(c, b, a) : value_at(b, a), key, buf, len);
}

int32_t api_change_peek(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
			const char *key, char *buf, uint32_t len)
{
	struct body *b = body_of(o, "change_peek");

	if (b == NULL || (c != NULL && !changes_good(c, "change_peek")) || a->klass == NULL)
		return -61;
	return changes_peek(c, b, a, key, buf, len);
}

const union keel_slot *api_change_slot(struct keel_changes *c, struct keel_obj *o,
				       const struct keel_attr *a)
{
	struct body *b = body_of(o, "change_slot");

	if (b == NULL || (c != NULL && !changes_good(c, "change_slot")))
		return NULL;
	return c != NULL ? slot_in(c, b, a) : value_at(b, a);
}

void api_change_each(struct keel_changes *c,
		     void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg)
{
	if (c == NULL || !changes_good(c, "change_each"))
		return;
	for (uint32_t i = 0, n = c->n; i < n && i < c->n; i++)
		if (c->entry[i].body != NULL && !c->entry[i].body->dead)
			fn(arg, handle_of(c->entry[i].body), c->entry[i].attr);
}

void api_commit(struct keel_changes *c)
{
	if (c != NULL && changes_good(c, "commit"))
		changes_end(c, true);
}

void api_discard(struct keel_changes *c)
{
	if (c != NULL && changes_good(c, "discard"))
		changes_end(c, false);
}
