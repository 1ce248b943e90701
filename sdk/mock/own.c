/* SPDX-License-Identifier: Apache-2.0
 *
 * own.c - points that modules publish at run time, and taps that ask for a point by its name.
 *
 * Such a point goes with its module: operations that wait there end, notes that wait are dropped, taps of others wait
 * for its name again. Its row stays in memory, for who still holds it; its id comes again as late as can be.
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
	const void *def;   /* of a POINT row */
};
struct asked { /* a tap by name */
	struct asked *next;
	struct mod *owner;
	char *point, *name;
	int32_t order;
	keel_any_fn *fn;
	void *arg;
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

/* ---- taps by name ------------------------------------------------------------------------------------- */
static void asked_join(struct keel_mock *mock, const struct own *o)
{
	struct keel_err err = { 0 };

	for (struct asked *a = mock->asked; a != NULL; a = a->next)
		if (strcmp(a->point, o->row.name) == 0 &&
		    tap_add(&a->owner->pub, o->row.id, a->name, a->order, a->fn, a->arg, &err) < 0)
			host_log(mock, KEEL_LOG_ERROR, "Hook", a->point, "%s", err.text);
}

static struct asked *asked_find(const struct mod *m, const char *point, const char *name)
{
	struct asked *a = mock_of(m)->asked;

	while (a != NULL && (a->owner != m || strcmp(a->point, point) != 0 || strcmp(a->name, name) != 0))
		a = a->next;
	return a;
}

static void asked_free(struct keel_mock *mock, struct asked *a)
{
	LL_DELETE(mock->asked, a);
	free(a->point);
	free(a->name);
	free(a);
}

int32_t hook_tap_on(struct keel_mod *pub, const char *point, const char *name, int32_t order, keel_any_fn *fn,
		    void *arg, struct keel_err *err)
{
	struct mod *m = mod_in(pub, "hook", "tap_on");
	struct asked *a;
	uint32_t id;
	int32_t ret;

	if (m == NULL)
		return -EINVAL;
	if (point == NULL || name == NULL || name[0] == '\0' || fn == NULL)
		return err_set(err, -EINVAL, "module %s taps a point without a name or a function", m->desc.name);
	if (asked_find(m, point, name) != NULL)
		return err_set(err, -EEXIST, "module %s has a tap %s at %s already", m->desc.name, name, point);
	if (fails(mock_of(m)))
		return err_set(err, -ENOMEM, "no memory for tap %s of module %s", name, m->desc.name);
	id = point_named(mock_of(m), point);
	ret = id != 0 ? tap_add(pub, id, name, order, fn, arg, err) : 0;
	if (ret < 0)
		return ret;
	a = make(sizeof(*a));
	*a = (struct asked){ .owner = m, .point = dup_text(point), .name = dup_text(name), .order = order, .fn = fn,
			     .arg = arg };
	LL_PREPEND(mock_of(m)->asked, a);
	return 0;
}

void hook_tap_off(struct keel_mod *pub, const char *point, const char *name)
{
	struct mod *m = mod_in(pub, "hook", "tap_off");
	struct asked *a = m != NULL && point != NULL && name != NULL ? asked_find(m, point, name) : NULL;
	uint32_t id;

	if (a == NULL)
		return;
	id = point_named(mock_of(m), point);
	if (id != 0)
		tap_remove(pub, id, name);
	asked_free(mock_of(m), a);
}

const char *keel_mock_awaited(struct keel_mock *mock, uint32_t i)
{
	const struct asked *a = mock->asked;

	while (a != NULL && (point_named(mock, a->point) != 0 || i-- > 0))
		a = a->next;
	return a != NULL ? ring(mock, dup_text(a->point)) : NULL;
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

static uint32_t publish(struct mod *m, const struct keel_point_def *d, const void *def, struct keel_err *err)
{
	uint32_t id = fails(mock_of(m)) ? 0 : id_free(mock_of(m));
	struct own *o;

	if (id == 0) {
		err_set(err, -ENOMEM, "no room for the point %s of module %s", d->name, m->desc.name);
		return 0;
	}
	o = make(sizeof(*o));
	*o = (struct own){ .row = { .name = d->name, .id = id, .kind = d->kind, .size = d->event_size }, .doc = d->doc,
			   .fields = d->fields, .n_fields = d->n_fields, .owner = m, .def = def };
	LL_PREPEND(mock_of(m)->own, o);
	asked_join(mock_of(m), o);
	return id;
}

static uint32_t define(struct mod *m, const struct keel_point_def *theirs, const void *def, struct keel_err *err)
{
	struct keel_point_def d;
	const struct own *other;
	const char *no;
	uint32_t taken;

	KEEL_SIZED(&d, theirs);
	if (!is_name(d.name)) {
		err_set(err, -EINVAL, "a point of module %s has no name of 1 to 63 a-z 0-9 _", m->desc.name);
		return 0;
	}
	no = objection(&d);
	if (no != NULL) {
		err_set(err, -EINVAL, "point %s of module %s cannot be used: %s", d.name, m->desc.name, no);
		return 0;
	}
	taken = point_named(mock_of(m), d.name);
	if (taken == 0)
		return publish(m, &d, def, err);
	other = own_find(mock_of(m), taken);
	err_set(err, -EEXIST, "point %s of module %s is there already, from %s", d.name, m->desc.name,
		other != NULL ? other->owner->desc.name : "the kernel");
	return 0;
}

uint32_t hook_define(struct keel_mod *pub, const struct keel_point_def *def, struct keel_err *err)
{
	struct mod *m = mod_in(pub, "hook", "define");

	return m != NULL ? define(m, def, NULL, err) : 0;
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
	struct asked *a, *next;

	for (struct own *o = mock->own; o != NULL; o = o->next)
		if (o->owner == m)
			withdraw(mock, o);
	LL_FOREACH_SAFE(mock->asked, a, next)
		if (a->owner == m)
			asked_free(mock, a);
}

void own_fini(struct keel_mock *mock)
{
	struct own *o, *next;

	while (mock->asked != NULL)
		asked_free(mock, mock->asked);
	LL_FOREACH_SAFE(mock->own, o, next)
		free(o);
	mock->own = NULL;
}

/* ---- POINT rows ----------------------------------------------------------------------------------------- */
int point_row_add(struct mod *m, const void *row, struct keel_err *err)
{
	return define(m, row, row, err) != 0 ? 0 : -EINVAL;
}

/* Mostly its points are withdrawn already, with its taps. */
void point_row_remove(struct mod *m, const void *row)
{
	for (struct own *o = mock_of(m)->own; o != NULL; o = o->next)
		if (o->owner == m && o->def == row)
			withdraw(mock_of(m), o);
}
