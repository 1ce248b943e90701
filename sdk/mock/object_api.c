/* SPDX-License-Identifier: Apache-2.0
 *
 * object_api.c - the group "object", and a test's view of objects.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"
#include "types/types.h"

static bool attr_good(const struct keel_attr *a, const char *what)
{
	if (a == NULL)
		die("%s() was called with no attribute", what);
	return head_good(&a->head, "attr-ended", what) && a->klass != NULL;
}

/* ---- life ------------------------------------------------------------------------------------------ */
static struct keel_obj *draft(struct keel_mod *pub, const char *klass, const char *id,
			      struct keel_err *err)
{
	struct mod *m = mod_in(pub, "object", "draft");
	struct klass *c = m != NULL ? klass_find(mock_of(m), klass) : NULL;
	struct body *b;

	if (c == NULL) {
		err_set(err, -ENOENT, "no module declares the class '%s'", klass != NULL ? klass : "");
		return NULL;
	}
	if (fails(mock_of(m))) {
		err_set(err, SYSTEM, "%sno memory", pbse_text(SYSTEM));
		return NULL;
	}
	b = body_make(c, id, err);
	return b != NULL ? handle_of(b) : NULL;
}

static int32_t publish(struct keel_obj *o)
{
	struct body *b = body_of(o, "publish");

	if (b == NULL)
		return -EINVAL;
	return fails(o->head.mock) ? -ENOMEM : body_publish(b);
}

static void destroy(struct keel_obj *o)
{
	struct body *b = o != NULL ? body_of(o, "destroy") : NULL;

	if (b != NULL)
		body_destroy(b);
}

static struct keel_obj *find(struct keel_mod *pub, const char *klass, const char *id)
{
	struct mod *m = mod_in(pub, "object", "find");
	struct body *b = m != NULL && id != NULL ? body_find(mock_of(m), klass, id) : NULL;

	return b != NULL ? handle_of(b) : NULL;
}

static struct keel_obj *obj_clone(struct keel_mod *pub, struct keel_obj *o, const char *id,
			      struct keel_err *err)
{
	struct mod *m = mod_in(pub, "object", "clone");
	struct body *from = m != NULL ? body_of(o, "clone") : NULL, *b;

	if (from == NULL || fails(mock_of(m))) {
		err_set(err, SYSTEM, "%sno memory", pbse_text(SYSTEM));
		return NULL;
	}
	b = body_clone(from, id, err);
	return b != NULL ? handle_of(b) : NULL;
}

/* The id may be looked at after the end: a caller up the stack often does. */
static const char *id_of(const struct keel_obj *o)
{
	return obj_good(o, "id") ? o->body->id : "";
}

static const char *klass_of(const struct keel_obj *o)
{
	return obj_good(o, "klass") ? o->body->klass->name : "";
}

static uint32_t count(struct keel_mod *pub, const char *klass)
{
	struct mod *m = mod_in(pub, "object", "count");
	const struct klass *c = m != NULL ? klass_find(mock_of(m), klass) : NULL;
	const struct body *b;
	int n = 0;

	if (c != NULL)
		DL_COUNT(c->live, b, n);
	return (uint32_t)n;
}

static void swap(struct keel_obj *a, struct keel_obj *b)
{
	struct body *x = body_of(a, "swap"), *y = body_of(b, "swap"), mark = { 0 };

	if (x == NULL || y == NULL || x == y || x->klass != y->klass || x->draft || y->draft)
		return;
	DL_REPLACE_ELEM(x->klass->live, x, &mark);
	DL_REPLACE_ELEM(x->klass->live, y, x);
	DL_REPLACE_ELEM(x->klass->live, &mark, y);
}

/* ---- attributes -------------------------------------------------------------------------------------- */
static const struct keel_attr *attr(struct keel_mod *pub, const char *klass, const char *name)
{
	struct mod *m = mod_in(pub, "object", "attr");

	return m != NULL && !fails(mock_of(m)) ? attr_find(klass_find(mock_of(m), klass), name) : NULL;
}

static const char *attr_name(const struct keel_attr *a)
{
	return head_good(&a->head, "attr-ended", "attr_name") ? a->def.name : "";
}

static uint32_t attr_flags(const struct keel_attr *a)
{
	return head_good(&a->head, "attr-ended", "attr_flags") ? a->def.flags : 0;
}

static int listed_before(const struct keel_attr *a, const struct keel_attr *b)
{
	return a->def.order != b->def.order ? (a->def.order > b->def.order) - (a->def.order < b->def.order) :
					      strcmp(a->def.name, b->def.name);
}

/* fn in listing order: the least that is behind the last one. */
static const struct keel_attr *row_after(const struct klass *c, const struct keel_attr *last)
{
	const struct keel_attr *next = NULL;

	for (const struct keel_attr *a = c->owner->head.mock->attrs; a != NULL; a = a->next)
		if (a->klass == c && (last == NULL || listed_before(a, last) > 0) &&
		    (next == NULL || listed_before(a, next) < 0))
			next = a;
	return next;
}

static void rows(struct keel_mod *pub, const char *klass,
		 void (*fn)(void *arg, const struct keel_attr_def *), void *arg)
{
	struct mod *m = mod_in(pub, "object", "rows");
	const struct klass *c = m != NULL ? klass_find(mock_of(m), klass) : NULL;

	for (const struct keel_attr *a = NULL; c != NULL && (a = row_after(c, a)) != NULL;)
		fn(arg, &a->def);
}

/* ---- reading ------------------------------------------------------------------------------------------- */
static const union keel_slot *reading(const struct keel_obj *o, const struct keel_attr *a, const char *what)
{
	const struct body *b = body_of(o, what);

	return b != NULL && attr_good(a, what) ? value_at(b, a) : NULL;
}

static bool is_set(const struct keel_obj *o, const struct keel_attr *a)
{
	return reading(o, a, "is_set") != NULL;
}

static bool size_is(const struct keel_attr *a)
{
	return a->type->def.format == type_size.format;
}

static int64_t get_int(const struct keel_obj *o, const struct keel_attr *a)
{
	const union keel_slot *slot = reading(o, a, "get_int");

	if (slot == NULL)
		return 0;
	if (a->type->def.flags & KEEL_TYPE_INT)
		return slot->i;
	return size_is(a) ? types_size_kb(slot) : 0;
}

static const char *get_str(const struct keel_obj *o, const struct keel_attr *a)
{
	const union keel_slot *slot = reading(o, a, "get_str");

	return slot != NULL && (a->type->def.flags & KEEL_TYPE_STRING) ? lend(o->head.mock, slot->p) : NULL;
}

static bool has_pointer(const struct keel_attr *a)
{
	return !(a->type->def.flags & KEEL_TYPE_INT) && !size_is(a) &&
	       strcmp(a->def.type, "float") != 0;
}

static const void *get_ptr(const struct keel_obj *o, const struct keel_attr *a)
{
	const union keel_slot *slot = reading(o, a, "get_ptr");

	return slot != NULL && has_pointer(a) ? slot->p : NULL;
}

static int32_t text(struct keel_obj *o, const struct keel_attr *a, const char *key, char *buf,
		    uint32_t len)
{
	struct body *b = body_of(o, "text");

	return b != NULL && attr_good(a, "text") ? body_text(b, a, key, buf, len) : -ENODATA;
}

static void emit(struct keel_obj *o, const struct keel_attr *a, const char *key,
		 const struct keel_emit *e)
{
	struct body *b = body_of(o, "emit");

	if (b != NULL && attr_good(a, "emit"))
		body_emit(b, a, key, e);
}

static int32_t match(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
		     const char *wanted, struct keel_err *err)
{
	struct body *b = body_of(o, "match");
	const struct type *t = a->type;
	const union keel_slot *slot;
	int32_t ret, len;
	char is[4096];

	if (b == NULL || !attr_good(a, "match"))
		return -BADATVAL;
	if (a->def.derive == NULL && t->def.match != NULL) {
		if (err != NULL)
			err->text[0] = '\0';
		slot = value_at(b, a);
		IN(t->owner, ret = t->def.match(&t->owner->pub, slot, slot != NULL, op, key, wanted, err));
		if (ret < 0 && err != NULL && err->text[0] == '\0')
			err_set(err, -ret, "%s", pbse_text(-ret));
		return ret;
	}
	len = body_text(b, a, key, is, sizeof(is));
	if (len < 0)
		return op == KEEL_NE;
	ret = strcmp(is, wanted != NULL ? wanted : "");
	if (wanted != NULL && isdigit((unsigned char)is[0]) && isdigit((unsigned char)wanted[0]))
		ret = (atoll(is) > atoll(wanted)) - (atoll(is) < atoll(wanted));
	return types_match(ret, op);
}

/* ---- writing by the system -------------------------------------------------------------------------------- */
static struct body *writing(struct keel_obj *o, const struct keel_attr *a, const char *what)
{
	struct body *b = body_of(o, what);

	return b != NULL && attr_good(a, what) && KEEL_ATTR_HAS_VALUE(&a->def) ? b : NULL;
}

static void set_int(struct keel_obj *o, const struct keel_attr *a, int64_t n)
{
	struct body *b = writing(o, a, "set_int");

	if (b != NULL && (a->type->def.flags & KEEL_TYPE_INT))
		value_put(b, a, (union keel_slot){ .i = n });
}

static void unset(struct keel_obj *o, const struct keel_attr *a, const char *key)
{
	struct body *b = writing(o, a, "unset");
	union keel_slot *slot = b != NULL ? value_at(b, a) : NULL;
	const struct type *t = a->type;
	bool all = true;

	if (slot == NULL)
		return;
	if (key != NULL && (t->def.flags & KEEL_TYPE_KEYED))
		IN(t->owner, all = t->def.unset(&t->owner->pub, slot, key));
	if (all)
		value_drop(b, a);
}

static int32_t set_text(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
			const char *words, struct keel_err *err)
{
	struct body *b = writing(o, a, "set_text");
	union keel_slot *old = b != NULL ? value_at(b, a) : NULL, slot = { 0 };
	bool has = old != NULL;
	int32_t code;

	if (b == NULL)
		return 0;
	if (fails(o->head.mock))
		return err_set(err, SYSTEM, "%sno memory", pbse_text(SYSTEM));
	code = attr_parse(a, op, key, words, old != NULL ? old : &slot, &has, err);
	if (code == 0 && old == NULL && has)
		value_put(b, a, slot);
	else if (code == 0 && old != NULL && !has)
		value_drop(b, a);
	return code;
}

static int32_t set_str(struct keel_obj *o, const struct keel_attr *a, const char *words)
{
	struct body *b = writing(o, a, "set_str");

	if (b == NULL)
		return 0;
	if (!(a->type->def.flags & KEEL_TYPE_STRING) || a->type->row != NULL)
		return set_text(o, a, KEEL_SET, NULL, words, NULL) != 0 ? -EINVAL : 0;
	if (fails(o->head.mock))
		return -ENOMEM;
	if (words == NULL || words[0] == '\0')
		value_drop(b, a);
	else
		value_put(b, a, (union keel_slot){ .p = dup_text(words) });
	return 0;
}

static void set_ptr(struct keel_obj *o, const struct keel_attr *a, void *p)
{
	struct body *b = writing(o, a, "set_ptr");

	if (b == NULL || !has_pointer(a))
		return;
	if (p == NULL)
		value_drop(b, a);
	else
		value_put(b, a, (union keel_slot){ .p = p });
}

static void touch(struct keel_obj *o)
{
	(void)body_of(o, "touch");
}

const struct keel_object_api object_api = {
	.size = sizeof(object_api), .draft = draft, .publish = publish, .destroy = destroy, .find = find,
	.id = id_of, .klass = klass_of, .count = count, .cursor = cursor_open, .next = cursor_next,
	.cursor_close = cursor_close, .attr = attr, .attr_name = attr_name, .attr_flags = attr_flags,
	.is_set = is_set, .get_int = get_int, .get_str = get_str, .get_ptr = get_ptr, .text = text,
	.emit = emit, .set_int = set_int, .set_str = set_str, .set_ptr = set_ptr, .set_text = set_text,
	.unset = unset, .match = match, .touch = touch, .changes = api_changes, .change = api_change,
	.change_text = api_change_text, .change_peek = api_change_peek, .change_slot = api_change_slot,
	.change_each = api_change_each, .commit = api_commit, .discard = api_discard,
	.slot_bind = slot_bind, .slot = slot_get, .view = view_open, .view_close = view_close,
	.pack = view_pack, .rows = rows, .swap = swap, .clone = obj_clone,
};
