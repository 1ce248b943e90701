/* SPDX-License-Identifier: Apache-2.0
 *
 * view.c - answers: which attributes a requester wants and may see, compiled once, written many times.
 *
 * A line of an answer is `[attr, key or nil, value]`; the bytes up to the key are made when the
 * view is opened. Writing walks the rows in listing order, and allocates nothing once its buffer
 * has grown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "msg/msg.h"
#include "types/types.h"

struct row {
	const struct keel_attr *attr;
	char *key;                    /* the only key to write; owned; NULL: all */
	char *prefix;                 /* owned: head of the line, name */
	uint32_t prefix_len;
};
struct keel_view {
	struct class *klass; /* NULL: no such class, nothing to write */
	struct row *row;
	uint32_t n, cap;
};

/* ---- compiling ----------------------------------------------------------------------------- */

static int row_add(struct keel_view *v, const struct keel_attr *a, const char *key)
{
	struct buf line = { 0 };
	struct row *row;

	if (v->n == v->cap) {
		uint32_t cap = v->cap ? v->cap * 2 : 16;

		row = realloc(v->row, cap * sizeof(*row));
		if (!row)
			return -ENOMEM;
		v->row = row;
		v->cap = cap;
	}
	pack_array(&line, 3);
	pack_text(&line, a->name.text, a->name.len);
	row = &v->row[v->n];
	*row = (struct row){ a, key ? strdup(key) : NULL, line.data, (uint32_t)line.len };
	if (line.failed || (key && !row->key)) {
		free(row->key);
		free(row->prefix);
		return -ENOMEM;
	}
	v->n++;
	return 0;
}

/* Adds the rows for the requested keys of `a`: one for all of them, or one each. attr[i]: what want[i] names. */
static int rows_wanted(struct keel_view *v, const struct keel_attr *a, const struct keel_wanted *want,
		       const struct keel_attr *const *attr, uint32_t n)
{
	uint32_t first = v->n;

	for (uint32_t i = 0; i < n; i++)
		if (attr[i] == a && !want[i].key)
			return row_add(v, a, NULL);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = first;

		if (attr[i] != a)
			continue;
		while (row < v->n && strcmp(v->row[row].key, want[i].key) != 0)
			row++;
		if (row == v->n && row_add(v, a, want[i].key) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compile_some(struct keel_view *v, const struct keel_wanted *want, uint32_t n,
			uint32_t roles)
{
	const struct class *c = v->klass;
	const struct keel_attr **attr = calloc(n, sizeof(*attr));
	int rc = attr ? 0 : -ENOMEM;

	for (uint32_t i = 0; rc == 0 && i < n; i++)
		attr[i] = want[i].name ? attr_of_request(c, want[i].name) : NULL;
	for (uint32_t at = 0; rc == 0 && at < c->n_attrs; at++)
		if (c->listed[at]->def.read_roles & roles)
			rc = rows_wanted(v, c->listed[at], want, attr, n);
	free(attr);
	return rc;
}

static int compile_all(struct keel_view *v, uint32_t roles)
{
	const struct class *c = v->klass;
	int rc = 0;

	for (uint32_t i = 0; i < c->n_attrs && rc == 0; i++) {
		const struct keel_attr *a = c->listed[i];

		if ((a->def.read_roles & roles) && !(a->def.flags & KEEL_ATTR_NO_PRINT))
			rc = row_add(v, a, NULL);
	}
	return rc;
}

struct keel_view *view_open(struct keel_mod *m, const char *klass, const struct keel_wanted *want,
			    uint32_t n_want, uint32_t roles)
{
	struct keel_view *v = calloc(1, sizeof(*v));
	struct class *c = class_find(objects_of(m), klass);

	if (!v || !c)
		return v;
	v->klass = c;
	if ((n_want ? compile_some(v, want, n_want, roles) : compile_all(v, roles)) < 0) {
		view_close(v);
		return NULL;
	}
	return v;
}

void view_close(struct keel_view *v)
{
	if (!v)
		return;
	for (uint32_t i = 0; i < v->n; i++) {
		free(v->row[i].key);
		free(v->row[i].prefix);
	}
	free(v->row);
	free(v);
}

/* ---- writing ------------------------------------------------------------------------------- */

struct line {
	struct buf *m;
	const struct row *row;
	uint32_t n; /* written */
};

static void put_line(void *arg, const char *key, const char *text, uint32_t len)
{
	struct line *l = arg;

	buf_add(l->m, l->row->prefix, l->row->prefix_len);
	if (key)
		pack_text(l->m, key, strlen(key));
	else
		pack_nil(l->m);
	pack_text(l->m, text, len);
	l->n++;
}

static void put_value(struct line *l, const union keel_slot *slot)
{
	const struct type *t = l->row->attr->type;
	char digits[TYPES_DIGITS];

	switch (t->quick) {
	case QUICK_LONG:
		put_line(l, NULL, digits, types_long(digits, slot->i));
		break;
	case QUICK_BOOL:
		put_line(l, NULL, slot->i ? "True" : "False", slot->i ? 4 : 5);
		break;
	case QUICK_TIME:
		put_line(l, NULL, digits, types_time(digits, slot->i));
		break;
	case QUICK_STRING:
		put_line(l, NULL, slot->p, (uint32_t)strlen(slot->p));
		break;
	default:
		type_format(t, slot, l->row->key, &(struct keel_emit){ put_line, l });
		break;
	}
}

static uint32_t put_rows(struct buf *m, struct keel_obj *o, const struct keel_view *v)
{
	const union keel_slot *at[ATTR_MAX], *slot = o->slot; /* by number: rows are in another order */
	struct line l = { .m = m };

	EACH_BIT(number, o->set[w])
		at[number] = slot++;
	for (uint32_t i = 0; i < v->n; i++) {
		const struct keel_attr *a = v->row[i].attr;

		l.row = &v->row[i];
		if (!a->klass)
			continue; /* withdrawn meanwhile */
		if (a->def.derive)
			read_emit(o, a, l.row->key, &(struct keel_emit){ put_line, &l });
		else if (bit_get(o->set, a->number))
			put_value(&l, at[a->number]);
	}
	return l.n;
}

/* Derive functions must not write to their object: the slots are being read. */
int32_t view_pack(struct keel_obj *o, const char *id, struct keel_view *v, struct keel_out *out)
{
	struct buf *b = out_value(out);
	struct index_key own = o->id;
	size_t place;

	id = id ? id : own.text;
	pack_array(b, 2);
	pack_text(b, id, strlen(id));
	place = pack_open_array(b);
	index_key_init(&o->id, id, strlen(id)); /* so that values derived from the id use this one */
	pack_close(b, place, put_rows(b, o, v));
	o->id = own;
	return b->failed ? -ENOMEM : 0;
}
