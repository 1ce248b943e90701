/* SPDX-License-Identifier: Apache-2.0
 *
 * value.c - the values of one object, and what types say about them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* ---- a slot and its type -------------------------------------------------------------------------- */
bool slot_copy(const struct type *t, const union keel_slot *from, union keel_slot *to)
{
	int32_t ret = 0;

	*to = *from;
	if (t->def.copy != NULL)
		IN(t->owner, ret = t->def.copy(&t->owner->pub, from, to));
	return ret == 0;
}

void slot_drop(const struct type *t, union keel_slot *slot)
{
	if (t->def.fini != NULL)
		IN(t->owner, t->def.fini(&t->owner->pub, slot));
}

int32_t attr_parse(const struct keel_attr *a, int32_t op, const char *key, const char *text,
		   union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	const struct type *t = a->type;
	struct keel_err own = { 0 };
	int32_t code;

	IN(t->owner, code = t->def.parse(&t->owner->pub, a, op, key, text, slot, is_set, &own));
	if (code == 0)
		return 0;
	if (code < 0)
		code = BADATVAL;
	if (own.text[0] == '\0')
		return attr_fault(err, code, a, key);
	if (err != NULL)
		*err = own;
	return code;
}

static void slot_emit(const struct keel_attr *a, const union keel_slot *slot, const char *key,
		      const struct keel_emit *e)
{
	const struct type *t = a->type;

	IN(t->owner, t->def.format(&t->owner->pub, slot, key, e));
}

/* ---- the values of an object ------------------------------------------------------------------------ */
static struct value *value_of(const struct body *b, const struct keel_attr *a)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->value[i].attr == a)
			return &b->value[i];
	return NULL;
}

union keel_slot *value_at(const struct body *b, const struct keel_attr *a)
{
	struct value *v = value_of(b, a);

	return v != NULL ? &v->slot : NULL;
}

void value_put(struct body *b, const struct keel_attr *a, union keel_slot slot)
{
	struct value *v = value_of(b, a);

	if (v != NULL) {
		slot_drop(a->type, &v->slot);
	} else {
		b->value = enlarge(b->value, (b->n + 1) * sizeof(*b->value));
		v = &b->value[b->n++];
		v->attr = a;
	}
	v->slot = slot;
}

void value_drop(struct body *b, const struct keel_attr *a)
{
	struct value *v = value_of(b, a);

	if (v == NULL)
		return;
	slot_drop(a->type, &v->slot);
	*v = b->value[--b->n];
}

void values_drop_all(struct body *b)
{
	while (b->n > 0)
		value_drop(b, b->value[b->n - 1].attr);
	free(b->value);
	b->value = NULL;
	while (b->kept != NULL) {
		struct kept *k = b->kept;

		b->kept = k->next;
		free(k->attr);
		free(k->key);
		free(k->text);
		free(k);
	}
}

/* "ncpus=1,mem=2gb": the default of a type with keys. A key nobody knows gives no value. */
static void keyed_fallback(const struct keel_attr *a, union keel_slot *slot, bool *is_set)
{
	char *list = dup_text(a->def.fallback), *save = NULL;

	for (char *item = strtok_r(list, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
		char *text = strchr(item, '=');

		if (text == NULL)
			continue;
		*text++ = '\0';
		attr_parse(a, KEEL_SET, item, text, slot, is_set, NULL);
	}
	free(list);
}

void value_fallback(struct body *b, const struct keel_attr *a)
{
	union keel_slot slot = { 0 };
	bool is_set = false;

	if (a->type->def.flags & KEEL_TYPE_KEYED)
		keyed_fallback(a, &slot, &is_set);
	else
		attr_parse(a, KEEL_SET, NULL, a->def.fallback, &slot, &is_set, NULL);
	if (is_set)
		value_put(b, a, slot);
}

void told_changed(struct body *b, const struct keel_attr *a)
{
	if (a->def.changed != NULL)
		IN(a->owner, a->def.changed(&a->owner->pub, handle_of(b), a));
}

/* ---- values whose attribute goes and comes back ------------------------------------------------------- */
struct keeping {
	struct body *body;
	const struct keel_attr *attr;
};

static void keep_one(void *arg, const char *key, const char *text, uint32_t len)
{
	const struct keeping *to = arg;
	struct kept *k = make(sizeof(*k)), **at = &to->body->kept;

	*k = (struct kept){ .attr = dup_text(to->attr->def.name), .key = dup_text(key),
			    .text = print_text("%.*s", (int)len, text) };
	while (*at != NULL)
		at = &(*at)->next;
	*at = k;
}

void values_leave(struct body *b, const struct keel_attr *a)
{
	struct keeping to = { b, a };
	const union keel_slot *slot = value_at(b, a);

	if (slot == NULL)
		return;
	if (a->def.flags & KEEL_ATTR_SAVE)
		slot_emit(a, slot, NULL, &(struct keel_emit){ keep_one, &to });
	value_drop(b, a);
}

static bool kept_take(struct body *b, const char *name, struct kept *ret)
{
	struct kept **at = &b->kept, *k;

	while (*at != NULL && strcmp((*at)->attr, name) != 0)
		at = &(*at)->next;
	k = *at;
	if (k == NULL)
		return false;
	*ret = *k;
	*at = k->next;
	free(k);
	return true;
}

void values_come(struct body *b, const struct keel_attr *a)
{
	union keel_slot slot = { 0 };
	bool is_set = false;
	struct kept k;

	while (kept_take(b, a->def.name, &k)) {
		attr_parse(a, KEEL_SET, k.key, k.text, &slot, &is_set, NULL);
		free(k.attr);
		free(k.key);
		free(k.text);
	}
	if (is_set)
		value_put(b, a, slot);
	else if ((a->def.flags & KEEL_ATTR_RESET) && a->def.fallback != NULL)
		value_fallback(b, a);
	/* changed() is not told: its module has not even begun; it finds the values itself */
}

/* ---- as text -------------------------------------------------------------------------------------------- */
struct printing {
	struct text text;
	uint32_t n;
	bool keys;
};

static void print_one(void *arg, const char *key, const char *text, uint32_t len)
{
	struct printing *p = arg;

	if (p->n++ > 0)
		text_add(&p->text, ",", 1);
	if (p->keys && key != NULL)
		text_put(&p->text, "%s=", key);
	text_add(&p->text, text, len);
}

static int32_t print_end(struct printing *p, char *buf, uint32_t len)
{
	int32_t ret = p->n > 0 ? (int32_t)p->text.len : -ENODATA;

	if (p->n > 0 && len > 0) {
		size_t n = p->text.len < len - 1 ? p->text.len : len - 1;

		memcpy(buf, p->text.data, n);
		buf[n] = '\0';
	}
	free(p->text.data);
	return ret;
}

int32_t slot_text(const struct keel_attr *a, const union keel_slot *slot, const char *key, char *buf,
		  uint32_t len)
{
	struct printing p = { .keys = key == NULL };

	if (slot != NULL)
		slot_emit(a, slot, key, &(struct keel_emit){ print_one, &p });
	return print_end(&p, buf, len);
}

struct filter {
	const char *key;
	const struct keel_emit *to;
};

static void pass(void *arg, const char *key, const char *text, uint32_t len)
{
	const struct filter *f = arg;

	if (key != NULL && strcmp(key, f->key) == 0)
		f->to->fn(f->to->arg, key, text, len);
}

void body_emit(struct body *b, const struct keel_attr *a, const char *key, const struct keel_emit *e)
{
	struct filter f = { key, e };
	struct keel_emit filtered = { pass, &f };

	if (a->def.derive != NULL)
		IN(a->owner,
		   a->def.derive(&a->owner->pub, handle_of(b), key != NULL ? &filtered : e));
	else if (value_at(b, a) != NULL)
		slot_emit(a, value_at(b, a), key, e);
}

int32_t body_text(struct body *b, const struct keel_attr *a, const char *key, char *buf, uint32_t len)
{
	struct printing p = { .keys = key == NULL };

	body_emit(b, a, key, &(struct keel_emit){ print_one, &p });
	return print_end(&p, buf, len);
}
