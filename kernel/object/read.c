/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c - values as integers and texts, comparisons, answers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "msg/msg.h"
#include "object/object.h"
#include "types/types.h"
#include "util/crumb.h"
#include "util/err.h"

bool read_is_set(const struct keel_obj *o, const struct keel_attr *a)
{
	return value_at(o, a) != NULL;
}

/* Returns the number; of a size kilobytes, rounded up. */
int64_t read_int(const struct keel_obj *o, const struct keel_attr *a)
{
	const union keel_slot *slot = value_at(o, a);

	if (!slot)
		return 0;
	if (a->type->def.flags & KEEL_TYPE_INT)
		return slot->i;
	return a->type->def.format == type_size.format ? types_size_kb(slot) : 0;
}

const char *read_str(const struct keel_obj *o, const struct keel_attr *a)
{
	const union keel_slot *slot = value_at(o, a);

	return slot && (a->type->def.flags & KEEL_TYPE_STRING) ? slot->p : NULL;
}

const void *read_ptr(const struct keel_obj *o, const struct keel_attr *a)
{
	const union keel_slot *slot = value_at(o, a);

	if (!slot || a->type->scalar || (a->type->def.flags & KEEL_TYPE_INT))
		return NULL;
	return slot->p;
}

/* ---- as text ------------------------------------------------------------------------------- */

struct printer {
	char *buf;
	size_t size, len;
	uint32_t n;
	bool keys; /* write "key=" too */
};

static void print_bytes(struct printer *p, const char *text, size_t len)
{
	if (p->len < p->size) {
		size_t room = p->size - p->len;

		memcpy(p->buf + p->len, text, len < room ? len : room);
	}
	p->len += len;
}

static void print(void *arg, const char *key, const char *text, uint32_t len)
{
	struct printer *p = arg;

	if (p->n++)
		print_bytes(p, ",", 1);
	if (p->keys && key) {
		print_bytes(p, key, strlen(key));
		print_bytes(p, "=", 1);
	}
	print_bytes(p, text, len);
}

static int32_t print_end(struct printer *p, uint32_t len)
{
	if (p->n == 0)
		return -ENODATA;
	if (len)
		p->buf[p->len < p->size ? p->len : p->size] = '\0';
	return (int32_t)p->len;
}

int text_of(const struct keel_attr *a, const union keel_slot *slot, const char *key, char *buf, uint32_t len)
{
	struct printer p = { .buf = buf, .size = len ? len - 1 : 0, .keys = !key };

	if (slot)
		type_format(a->type, slot, key, &(struct keel_emit){ print, &p });
	return print_end(&p, len);
}

/* A derived attribute emits all its keys; only the requested one passes. */
struct filter {
	const char *key;
	const struct keel_emit *to;
};

static void pass(void *arg, const char *key, const char *text, uint32_t len)
{
	const struct filter *f = arg;

	if (key && strcmp(key, f->key) == 0)
		f->to->fn(f->to->arg, key, text, len);
}

void read_emit(struct keel_obj *o, const struct keel_attr *a, const char *key, const struct keel_emit *emit)
{
	const union keel_slot *slot;
	struct filter f = { key, emit };

	if (a->def.derive) {
		CRUMB_CALL(a->owner, "derive() of an attribute", a->def.name,
			   a->def.derive(mod_of(a->owner), o, key ? &(struct keel_emit){ pass, &f } : emit));
		return;
	}
	slot = value_at(o, a);
	if (slot)
		type_format(a->type, slot, key, emit);
}

int32_t read_text(struct keel_obj *o, const struct keel_attr *a, const char *key, char *buf, uint32_t len)
{
	struct printer p = { .buf = buf, .size = len ? len - 1 : 0, .keys = !key };

	read_emit(o, a, key, &(struct keel_emit){ print, &p });
	return print_end(&p, len);
}

/* ---- comparisons --------------------------------------------------------------------------- */

static bool whole_number(const char *text, long long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

/* Derived values, and types without a match(), are compared as printed text. */
static int32_t match_printed(struct keel_obj *o, const struct keel_attr *attr, int32_t op,
			     const char *key, const char *text, struct keel_err *err)
{
	char small[256], *is = small;
	int32_t len = read_text(o, attr, key, small, sizeof(small)), rc;
	long long a, b;

	if (len < 0)
		return op == KEEL_NE;
	if ((size_t)len >= sizeof(small)) {
		is = malloc((size_t)len + 1);
		if (!is)
			return -err_no_memory(err);
		(void)read_text(o, attr, key, is, (uint32_t)len + 1);
	}
	if (whole_number(is, &a) && whole_number(text ? text : "", &b))
		rc = types_match((a > b) - (a < b), op);
	else
		rc = types_match(strcmp(is, text ? text : ""), op);
	if (is != small)
		free(is);
	return rc;
}

int32_t read_match(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
		   const char *text, struct keel_err *err)
{
	const union keel_slot *slot;
	int32_t rc;

	if (a->def.derive || !a->type->def.match)
		return match_printed(o, a, op, key, text, err);
	if (err)
		err->text[0] = '\0';
	slot = value_at(o, a);
	rc = a->type->def.match(mod_of(a->type->owner), slot, slot != NULL, op, key, text, err);
	if (rc < 0 && err && !err->text[0])
		err_set(err, -rc, "%s", pbse_text(-rc));
	return rc;
}

/* ---- answers: which attributes a requester wants and may see, compiled once, written many times --
 * A line of an answer is `[attr, key or nil, value]`; the bytes up to the key are made when the view is opened. Writing
 * walks the rows in listing order, and allocates nothing once its buffer has grown. */

struct row {
	const struct keel_attr *attr;
	char *key;                    /* the only key to write; owned; NULL: all */
	char *prefix;                 /* owned: head of the line, name */
	uint32_t prefix_len;
};
struct keel_view {
	uint32_t n;
	struct row row[];
};

/* ---- compiling ----------------------------------------------------------------------------- */

static int row_add(struct keel_view *v, const struct keel_attr *a, const char *key)
{
	struct row *row = &v->row[v->n++];
	struct buf line = { 0 };

	pack_array(&line, 3);
	pack_text(&line, a->name.text, a->name.len);
	*row = (struct row){ a, key ? strdup(key) : NULL, line.data, (uint32_t)line.len };
	return line.failed || (key && !row->key) ? -ENOMEM : 0;
}

static bool is_wanted(const struct keel_wanted *w, const struct keel_attr *a)
{
	return w->name && strcasecmp(w->name, a->def.name) == 0;
}

/* Adds the rows for the requested keys of `a`: one for all of them, or one each. */
static int rows_wanted(struct keel_view *v, const struct keel_attr *a, const struct keel_wanted *want, uint32_t n)
{
	uint32_t first = v->n;

	for (uint32_t i = 0; i < n; i++)
		if (!want[i].key && is_wanted(&want[i], a))
			return row_add(v, a, NULL);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = first;

		if (!is_wanted(&want[i], a))
			continue;
		while (row < v->n && strcmp(v->row[row].key, want[i].key) != 0)
			row++;
		if (row == v->n && row_add(v, a, want[i].key) < 0)
			return -ENOMEM;
	}
	return 0;
}

struct keel_view *view_open(struct keel_mod *m, const char *klass, const struct keel_wanted *want,
			    uint32_t n_want, uint32_t roles)
{
	const struct class *c = class_find(objects_of(m), klass);
	uint32_t n_attrs = c ? c->n_attrs : 0;
	struct keel_view *v = calloc(1, sizeof(*v) + (n_attrs + n_want) * sizeof(v->row[0]));
	int rc = v ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n_attrs && rc == 0; i++) {
		const struct keel_attr *a = c->listed[i];

		if (!(a->def.read_roles & roles))
			continue;
		if (n_want)
			rc = rows_wanted(v, a, want, n_want);
		else if (!(a->def.flags & KEEL_ATTR_NO_PRINT))
			rc = row_add(v, a, NULL);
	}
	if (rc == 0)
		return v;
	view_close(v);
	return NULL;
}

void view_close(struct keel_view *v)
{
	if (!v)
		return;
	for (uint32_t i = 0; i < v->n; i++) {
		free(v->row[i].key);
		free(v->row[i].prefix);
	}
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

static uint32_t put_rows(struct buf *m, struct keel_obj *o, const struct keel_view *v)
{
	const union keel_slot *at[ATTR_MAX], *slot = o->slot; /* by number: rows are in another order */
	struct line l = { .m = m };
	const struct keel_emit emit = { put_line, &l };

	EACH_BIT(number, o->set[w])
		at[number] = slot++;
	for (uint32_t i = 0; i < v->n; i++) {
		const struct keel_attr *a = v->row[i].attr;

		l.row = &v->row[i];
		if (a->def.derive)
			read_emit(o, a, l.row->key, &emit);
		else if (bit_get(o->set, a->number))
			type_format(a->type, at[a->number], l.row->key, &emit);
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
