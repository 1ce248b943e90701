/* SPDX-License-Identifier: Apache-2.0
 *
 * stored.c - objects to and from the rows of the store, and their replay at start.
 *
 * The body of a row is pairs of attribute name and value.
 *
 * An INT type is stored as an integer, a type with keys as a map of texts, the others as text.
 * Decoding offers each pair to the attribute of that name; a pair without an attribute, or that the type's parse()
 * fails for, is kept byte for byte and written back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "types/types.h"
#include "util/err.h"

#define MANY_TAPS 4u /* look at most values of an object, between them; fetching those for fewer costs more than it saves */

int raw_add(struct keel_obj *o, const void *pairs, size_t size, uint32_t n)
{
	uint32_t len = o->raw ? o->raw->len : 0;
	struct raw *raw = realloc(o->raw, sizeof(*raw) + len + size);

	if (!raw)
		return -ENOMEM;
	if (!o->raw)
		raw->n = raw->len = 0;
	memcpy(raw->bytes + raw->len, pairs, size);
	raw->len += (uint32_t)size;
	raw->n += n;
	o->raw = raw;
	o->klass->has_raw = true;
	return 0;
}

/* ---- writing ------------------------------------------------------------------------------- */

struct encoder {
	struct buf *m;
	uint32_t n;
	bool keyed;
};

static void put(void *arg, const char *key, const char *text, uint32_t len)
{
	struct encoder *e = arg;

	if (e->keyed ? !key : e->n > 0)
		return;
	if (e->keyed)
		pack_text(e->m, key, strlen(key));
	pack_text(e->m, text, len);
	e->n++;
}

void raw_encode(struct buf *m, const struct keel_attr *a, const union keel_slot *slot)
{
	struct encoder e = { .m = m, .keyed = a->type->def.flags & KEEL_TYPE_KEYED };

	pack_text(m, a->name.text, a->name.len);
	if (a->type->def.flags & KEEL_TYPE_INT) {
		pack_number(m, slot->i);
	} else if (a->type->text) {
		pack_text(m, slot->p, strlen(slot->p));
	} else {
		size_t place = e.keyed ? pack_open_map(m) : 0;

		type_format(a->type, slot, NULL, &(struct keel_emit){ put, &e });
		if (e.keyed)
			pack_close(m, place, e.n);
		else if (e.n == 0)
			pack_nil(m);
	}
}

/* Raw pairs come first: of two pairs of one name the later one counts. */
int objects_encode(struct keel_obj *o, struct keel_store_row *ret)
{
	uint32_t n = o->raw ? o->raw->n : 0, at = 0;
	struct buf *m = &o->klass->objects->row;

	*ret = (struct keel_store_row){ .klass = o->klass->name, .id = o->id.text };
	if (o->flags & OBJ_DEAD) {
		/* Not freed before objects_saved(), even when change sets release it meanwhile. */
		o->flags = (uint16_t)((o->flags & ~OBJ_DIRTY) | OBJ_KEEP);
		return o->flags & OBJ_SAVED ? 0 : -ENODATA;
	}
	buf_reset(m);
	(void)pack_open_map(m);
	if (n > 0)
		buf_add(m, o->raw->bytes, o->raw->len);
	EACH_BIT(number, o->set[w]) {
		const struct keel_attr *a = o->klass->by_number[number];
		const union keel_slot *slot = &o->slot[at++];

		if (!(a->def.flags & KEEL_ATTR_SAVE))
			continue;
		raw_encode(m, a, slot);
		n++;
	}
	if (m->failed || m->len > UINT32_MAX)
		return -ENOMEM;
	pack_close(m, 0, n);
	o->flags = (uint16_t)((o->flags & ~OBJ_DIRTY) | OBJ_SAVED);
	ret->bytes = m->data;
	ret->len = (uint32_t)m->len;
	return 0;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Returns the value as terminated text, valid until the next call; NULL: it has a NUL byte, or no memory. */
static const char *text_terminated(struct objects *o, const char *text, uint32_t len)
{
	if (memchr(text, '\0', len))
		return NULL;
	buf_reset(&o->text);
	buf_add(&o->text, text, len);
	return o->text.failed ? NULL : o->text.data;
}

/* Returns 0: taken; 1: the type refuses it, keep it raw; -ENOMEM. */
static int parse_into(struct keel_obj *o, struct keel_attr *a, const char *key, const char *text)
{
	struct keel_err err;
	int32_t code = value_parse(o, a, KEEL_SET, key, text, &err);

	return code == PBSE_SYSTEM ? -ENOMEM : code != 0;
}

static int take_text(struct keel_obj *o, struct keel_attr *a, const char *text, uint32_t len)
{
	union keel_slot slot;

	if (!a->type->text) {
		text = text_terminated(o->klass->objects, text, len);
		return text ? parse_into(o, a, NULL, text) : 1;
	}
	if (len == 0 || memchr(text, '\0', len))
		return len != 0;
	slot.p = malloc(len + 1);
	if (!slot.p)
		return -ENOMEM;
	memcpy(slot.p, text, len);
	((char *)slot.p)[len] = '\0';
	if (value_put(o, a, &slot) < 0) {
		free(slot.p);
		return -ENOMEM;
	}
	return 0;
}

/* Entries that the type refuses are kept as a map of their own. */
static int take_map(struct keel_obj *o, struct keel_attr *a, struct pack_reader *r, uint32_t n)
{
	struct buf left = { 0 };
	uint32_t n_left = 0;
	size_t place;
	int rc = 0;

	pack_text(&left, a->name.text, a->name.len);
	place = pack_open_map(&left);
	while (n-- && rc >= 0) {
		const unsigned char *from = r->at;
		struct pack_value key = pack_next(r), value = pack_next(r);
		char name[256];

		rc = -EPROTO;
		if (key.kind != PACK_STR || value.kind != PACK_STR || r->bad)
			break;
		rc = 1;
		if (key.n < sizeof(name) && !memchr(key.text, '\0', key.n)) {
			const char *text = text_terminated(o->klass->objects, value.text, value.n);

			memcpy(name, key.text, key.n);
			name[key.n] = '\0';
			rc = text ? parse_into(o, a, name, text) : 1;
		}
		if (rc == 1) {
			buf_add(&left, from, (size_t)(r->at - from));
			n_left++;
		}
	}
	pack_close(&left, place, n_left);
	if (rc >= 0)
		rc = n_left == 0 ? 0 : left.failed ? -ENOMEM : raw_add(o, left.data, left.len, 1);
	buf_fini(&left);
	return rc;
}

static int pair_take(struct keel_obj *o, struct keel_attr *a, struct pack_reader *r, const struct pack_value *v)
{
	bool keyed = a->type->def.flags & KEEL_TYPE_KEYED;
	char digits[TYPES_DIGITS];

	if (v->kind == PACK_MAP && keyed)
		return take_map(o, a, r, v->n);
	if (v->kind == PACK_INT && (a->type->def.flags & KEEL_TYPE_INT))
		return value_put(o, a, &(union keel_slot){ .i = v->i });
	if (v->kind == PACK_INT && !keyed)
		return take_text(o, a, digits, types_long(digits, v->i));
	if (v->kind == PACK_STR && !keyed)
		return take_text(o, a, v->text, v->n);
	pack_skip(r, v);
	return 1;
}

/* Rows of a class look alike: try the attribute that was at this place in the last row. */
static struct keel_attr *attr_guess(struct class *c, uint32_t place, const struct pack_value *name)
{
	struct keel_attr *a = place < ATTR_MAX ? c->guess[place] : NULL;

	if (a && a->name.len == name->n && memcmp(a->name.text, name->text, name->n) == 0)
		return a;
	a = attr_find(c, name->text, name->n);
	if (place < ATTR_MAX)
		c->guess[place] = a;
	return a;
}

int raw_decode(struct keel_obj *o, struct pack_reader *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const unsigned char *from = r->at;
		struct pack_value name = pack_next(r), value = pack_next(r);
		struct keel_attr *a = NULL;
		int rc = 1;

		if (name.kind != PACK_STR || r->bad)
			return -EPROTO;
		if (o->klass->declared)
			a = attr_guess(o->klass, i, &name);
		if (a && KEEL_ATTR_HAS_VALUE(&a->def))
			rc = pair_take(o, a, r, &value);
		else
			pack_skip(r, &value);
		if (r->bad)
			return -EPROTO;
		if (rc == 1)
			rc = raw_add(o, from, (size_t)(r->at - from), 1);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int objects_decode(struct objects *o, const char *klass, const char *id, const void *bytes,
		   uint32_t len, struct keel_err *err)
{
	struct pack_reader r = { bytes, (const unsigned char *)bytes + len, false };
	struct pack_value map = pack_next(&r);
	struct class *c = class_get(o, klass);
	const char *name = c ? name_of_row(c, id) : id;
	struct keel_obj *obj = c ? obj_create(c, name, strlen(name)) : NULL;
	int rc;

	if (!obj)
		return err_set(err, -ENOMEM, "no memory to load %s '%s'", klass, id);
	rc = map.kind == PACK_MAP ? value_reserve(obj, c->declared ? map.n : 0) : -EPROTO;
	if (rc == 0)
		rc = raw_decode(obj, &r, map.n);
	if (rc == 0 && r.at != r.end)
		rc = -EPROTO;
	if (rc == 0)
		rc = obj_link(obj);
	if (rc < 0) {
		object_destroy(obj);
		return err_set(err, rc, "the stored row of %s '%s' %s", klass, id,
			       rc == -EPROTO ? "is damaged; restore the store from a backup" :
			       rc == -EEXIST ? "is there twice; restore the store from a backup" :
					       "needs more memory than there is");
	}
	if (name == id)
		obj->flags |= OBJ_SAVED;
	obj_reset(obj);
	obj_notify(obj);
	return 0;
}

void objects_loaded(struct objects *o)
{
	for (struct class *c = o->classes; c; c = c->next)
		if (c->has_raw)
			class_each(c, obj_complete, NULL);
}

uint32_t objects_drop(struct objects *o, const char *klass)
{
	struct class *c = class_get(o, klass);
	uint32_t n = c && !c->declared ? c->ids.n : 0;

	for (uint32_t i = 0; n > 0 && i < c->live.n; i++)
		object_destroy(c->live.at[i]);
	return n;
}

void objects_replay(struct objects *o, const struct objects_listener *to)
{
	for (struct class *c = o->classes; c; c = c->next) {
		uint32_t point = c->declared ? c->def.known_point : 0, n = point ? to->wants(to->arg, point) : 0;
		struct keel_cursor *cursor = n > 0 ? cursor_of(c, n >= MANY_TAPS) : NULL;
		struct keel_obj *obj;

		if (n > 0 && !cursor)
			value_lost();
		while ((obj = cursor_next(cursor)))
			to->known(to->arg, point, obj->id.text, obj);
		cursor_close(cursor);
	}
}
