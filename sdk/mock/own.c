/* SPDX-License-Identifier: Apache-2.0
 *
 * own.c - points that modules publish by POINT rows.
 *
 * Such a point goes with its module: operations that wait there end, notes that wait are dropped, taps of others are
 * withdrawn. Its row stays in memory, for who still holds it; its id comes again as late as can be.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"
#include "keel/sized.h"

enum { FIELDS_MAX = 32, NAME_MAX_LEN = 63 };

struct own {
	struct own *next; /* all there ever were */
	struct point_row row;
	const char *doc;
	const struct keel_field *fields;
	uint32_t n_fields;
	struct mod *owner; /* NULL: it is gone */
	const void *def;   /* the row */
};

static struct own *own_find(struct keel_mock *mock, uint32_t id)
{
	struct own *o = mock->own;

	while (o != NULL && (o->owner == NULL || o->row.id != id))
		o = o->next;
	return o;
}

const struct point_row *own_row(struct keel_mock *mock, uint32_t id)
{
	const struct own *o = own_find(mock, id);

	return o != NULL ? &o->row : NULL;
}

const struct keel_field *own_fields(const struct point_row *p, uint32_t *ret_n)
{
	const struct own *o = (const struct own *)(const void *)((const char *)p - offsetof(struct own, row));

	*ret_n = o->n_fields;
	return o->fields;
}

bool own_may_raise(struct mod *m, uint32_t point)
{
	const struct own *o = own_find(mock_of(m), point);

	return o == NULL || o->owner == m || m == &mock_of(m)->self;
}

uint32_t point_named(struct keel_mock *mock, const char *name)
{
	for (uint32_t id = 1; name != NULL && id < KEEL_POINT_MAX; id++) {
		const struct point_row *p = point_row(mock, id);

		if (p != NULL && strcmp(p->name, name) == 0)
			return id;
	}
	return 0;
}

/* ---- published ------------------------------------------------------------------------------------------ */
static bool is_name(const char *name)
{
	size_t len = name != NULL ? strlen(name) : 0;

	return len > 0 && len <= NAME_MAX_LEN && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

static const char *field_objection(const struct keel_field *f, uint32_t size)
{
	if (!is_name(f->name))
		return "a field has no name of a-z 0-9 _";
	if (f->type < KEEL_FIELD_OBJ || f->type > KEEL_FIELD_INT)
		return "a field is neither OBJ, STR nor INT";
	if (f->offset < 8 || f->offset % 8 != 0 || f->offset + 8 > size)
		return "a field is not inside its event";
	return NULL;
}

static const char *places_objection(const struct keel_point_def *d, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++) {
		if (d->fields[j].offset == d->fields[i].offset)
			return "two of its fields are at one place";
	}
	return NULL;
}

static const char *objection(const struct keel_point_def *d)
{
	const char *no = NULL;

	if (d->kind < KEEL_GATE || d->kind > KEEL_NOTE)
		return "it is no GATE, ASK, FOLD or NOTE";
	if (d->doc == NULL || d->doc[0] == '\0')
		return "it has no sentence (doc)";
	if (d->event_size < 8 || d->event_size > OWN_EVENT_MAX || d->event_size % 8 != 0)
		return "its event is not 8 to 256 bytes";
	if (d->n_fields > FIELDS_MAX || (d->n_fields > 0 && d->fields == NULL))
		return "its fields are missing or too many";
	for (uint32_t i = 0; i < d->n_fields && no == NULL; i++) {
		no = field_objection(&d->fields[i], d->event_size);
		if (no == NULL)
			no = places_objection(d, i);
	}
	return no;
}

static bool is_awaited(const struct keel_mock *mock, uint32_t id)
{
	const struct keel_hold *h;
	const struct op *op;

	DL_FOREACH(mock->parked, op)
		DL_FOREACH(op->holds, h)
			if (h->open && h->until_point == id)
				return true;
	return false;
}

/* As far from the last one as can be; 0: there are too many. */
static uint32_t id_free(struct keel_mock *mock)
{
	const uint32_t n = KEEL_POINT_MAX - KEEL_POINT_OWN;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = KEEL_POINT_OWN + (mock->own_next + i) % n;

		if (own_find(mock, id) != NULL || is_awaited(mock, id))
			continue;
		mock->own_next = (mock->own_next + i + 1) % n;
		return id;
	}
	return 0;
}

static int publish(struct mod *m, const struct keel_point_def *d, const void *row, struct keel_err *err)
{
	uint32_t id = fails(mock_of(m)) ? 0 : id_free(mock_of(m));
	struct own *o;

	if (id == 0)
		return err_set(err, -ENOMEM, "no room for the point %s of module %s", d->name, m->desc.name);
	o = make(sizeof(*o));
	*o = (struct own){ .row = { .name = d->name, .id = id, .kind = d->kind, .size = d->event_size }, .doc = d->doc,
			   .fields = d->fields, .n_fields = d->n_fields, .owner = m, .def = row };
	LL_PREPEND(mock_of(m)->own, o);
	return 0;
}

int32_t hook_about(struct keel_mod *pub, uint32_t point, struct keel_point_def *ret)
{
	struct mod *m = mod_in(pub, "hook", "about");
	const struct point_row *p = m != NULL ? point_row(mock_of(m), point) : NULL;
	struct keel_point_def d = { .size = sizeof(d), .doc = "" };
	const struct own *o;

	if (p == NULL)
		return -ENOENT;
	o = own_find(mock_of(m), point);
	d.kind = p->kind;
	d.name = p->name;
	d.doc = o != NULL ? o->doc : "";
	d.event_size = p->size;
	d.fields = row_fields(p, &d.n_fields);
	keel_sized_give(ret, &d);
	return 0;
}

/* ---- gone ----------------------------------------------------------------------------------------------- */
static void withdraw(struct keel_mock *mock, struct own *o)
{
	struct mod *m;

	notes_forget(mock, &o->row);
	taps_leave(&mock->self, o->row.id);
	DL_FOREACH(mock->mods, m)
		taps_leave(m, o->row.id);
	o->owner = NULL;
}

void own_leave(struct mod *m)
{
	struct keel_mock *mock = mock_of(m);

	for (struct own *o = mock->own; o != NULL; o = o->next)
		if (o->owner == m)
			withdraw(mock, o);
}

void own_fini(struct keel_mock *mock)
{
	struct own *o, *next;

	LL_FOREACH_SAFE(mock->own, o, next)
		free(o);
	mock->own = NULL;
}

/* ---- POINT rows ----------------------------------------------------------------------------------------- */
int point_row_add(struct mod *m, const void *row, struct keel_err *err)
{
	struct keel_point_def d;
	const struct own *other;
	const char *no;
	uint32_t taken;

	KEEL_SIZED(&d, (const struct keel_point_def *)row);
	if (!is_name(d.name))
		return err_set(err, -EINVAL, "a point of module %s has no name of 1 to 63 a-z 0-9 _", m->desc.name);
	no = objection(&d);
	if (no != NULL)
		return err_set(err, -EINVAL, "point %s of module %s cannot be used: %s", d.name, m->desc.name, no);
	taken = point_named(mock_of(m), d.name);
	if (taken == 0)
		return publish(m, &d, row, err);
	other = own_find(mock_of(m), taken);
	return err_set(err, -EEXIST, "point %s of module %s is there already, from %s", d.name, m->desc.name,
		       other != NULL ? other->owner->desc.name : "the kernel");
}

/* Mostly its points are withdrawn already, with its taps. */
void point_row_remove(struct mod *m, const void *row)
{
	for (struct own *o = mock_of(m)->own; o != NULL; o = o->next)
		if (o->owner == m && o->def == row)
			withdraw(mock_of(m), o);
}
