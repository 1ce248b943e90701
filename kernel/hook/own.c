/* SPDX-License-Identifier: Apache-2.0
 *
 * own.c - points that modules publish by POINT rows.
 *
 * Such a point has an id from KEEL_POINT_OWN on, a fields table of its module, and generic taps only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"
#include "keel/sized.h"
#include "registry/registry.h"
#include "util/err.h"

#define FIELDS_MAX 32u
#define NAME_LEN_MAX 63u

const struct point *point_named(const struct hooks *h, const char *name)
{
	for (uint32_t i = 0; name != NULL && i < KEEL_POINT_MAX; i++) {
		if (h->point[i].info != NULL && strcmp(h->point[i].info->name, name) == 0)
			return &h->point[i];
	}
	return NULL;
}

bool own_may_raise(struct hooks *h, uint32_t point, const struct owner *owner)
{
	const struct point *p = point_get(h, point);

	return p != NULL && (p->info->owner == NULL || p->info->owner == owner);
}

/* ---- points ------------------------------------------------------------------------------------------- */
static bool is_name(const char *name)
{
	size_t len = name != NULL ? strlen(name) : 0;

	return len > 0 && len <= NAME_LEN_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

static const char *field_objection(const struct keel_field *f, uint32_t event_size)
{
	if (!is_name(f->name))
		return "a field has no name of a-z 0-9 _";
	if (f->type < KEEL_FIELD_OBJ || f->type > KEEL_FIELD_INT)
		return "a field is neither OBJ, STR nor INT";
	if (f->offset < 2 * sizeof(uint32_t) || f->offset % sizeof(int64_t) != 0 ||
	    f->offset + sizeof(int64_t) > event_size)
		return "a field is not inside its event";
	return NULL;
}

static const char *point_objection(const struct keel_point_def *d)
{
	const char *no = NULL;

	if (d->kind < KEEL_GATE || d->kind > KEEL_NOTE)
		return "it is no GATE, ASK, FOLD or NOTE";
	if (d->doc == NULL || d->doc[0] == '\0')
		return "it has no sentence (doc)";
	if (d->event_size < 2 * sizeof(uint32_t) || d->event_size > OWN_EVENT_MAX ||
	    d->event_size % sizeof(int64_t) != 0)
		return "its event is not 8 to 256 bytes";
	if (d->n_fields > FIELDS_MAX || (d->n_fields > 0 && d->fields == NULL))
		return "its fields are missing or too many";
	for (uint32_t i = 0; i < d->n_fields && no == NULL; i++) {
		no = field_objection(&d->fields[i], d->event_size);
		for (uint32_t j = 0; j < i; j++)
			no = d->fields[j].offset == d->fields[i].offset ? "two of its fields are at one place" : no;
	}
	return no;
}

static int point_define(struct hooks *h, struct owner *owner, const struct keel_point_def *d, struct keel_err *err)
{
	struct point *p = &h->point[KEEL_POINT_OWN];
	struct point_info *info;

	while (p < &h->point[KEEL_POINT_MAX] && p->info != NULL)
		p++;
	info = p < &h->point[KEEL_POINT_MAX] ? calloc(1, sizeof(*info)) : NULL;
	if (info == NULL)
		return err_set(err, -ENOMEM, "no room for the point %s of module %s", d->name, owner->pub.name);
	*info = (struct point_info){ .name = d->name, .doc = d->doc, .kind = d->kind,
				     .id = (uint32_t)(p - h->point), .event_size = d->event_size,
				     .invoke = invoke_any, .owner = owner, .own = d->fields,
				     .n_own = d->n_fields };
	point_open(p, info);
	return 0;
}

/* At the end of the engine: calls no tap. */
void own_fini(struct hooks *h)
{
	for (uint32_t i = KEEL_POINT_OWN; i < KEEL_POINT_MAX; i++)
		free((void *)(uintptr_t)h->point[i].info);
}

/* ---- the group "hook" -------------------------------------------------------------------------------- */
uint32_t hook_point(struct keel_mod *m, const char *name)
{
	const struct point *p = point_named(hooks_of(m), name);

	return p != NULL ? p->info->id : 0;
}

int32_t hook_about(struct keel_mod *m, uint32_t point, struct keel_point_def *ret)
{
	const struct point *p = point_get(hooks_of(m), point);
	struct keel_point_def d = { .size = sizeof(d) };

	if (p == NULL)
		return -ENOENT;
	d.kind = p->info->kind;
	d.name = p->info->name;
	d.doc = p->info->doc;
	d.event_size = p->info->event_size;
	d.fields = info_fields(p->info, &d.n_fields);
	d.of = p->info->owner != NULL ? p->info->owner->pub.name : NULL;
	keel_sized_give(ret, &d);
	return 0;
}

/* ---- POINT rows ----------------------------------------------------------------------------------------- */
static int row_add(void *arg, struct owner *owner, const void *def, struct keel_err *err)
{
	const struct point *taken;
	struct keel_point_def d;
	const char *no;

	KEEL_SIZED(&d, (const struct keel_point_def *)def);
	if (!is_name(d.name))
		return err_set(err, -EINVAL, "a point of module %s has no name of 1 to 63 a-z 0-9 _", owner->pub.name);
	no = point_objection(&d);
	if (no != NULL)
		return err_set(err, -EINVAL, "point %s of module %s cannot be used: %s", d.name, owner->pub.name, no);
	taken = point_named(arg, d.name);
	if (taken == NULL)
		return point_define(arg, owner, &d, err);
	return err_set(err, -EEXIST, "point %s of module %s is there already, from %s", d.name, owner->pub.name,
		       owner_name(taken->info->owner));
}

/* With its module. The operations that the module raised have ended before (ops_leave). */
static void row_remove(void *arg, struct owner *owner, const void *def)
{
	const struct point *named = point_named(arg, ((const struct keel_point_def *)def)->name);
	struct hooks *h = arg;
	struct point *p;

	if (named == NULL || named->info->owner != owner)
		return;
	p = &h->point[named->info->id];
	point_empty(h, p);
	free((void *)(uintptr_t)p->info);
	p->info = NULL;
	p->kind = 0;
}

int own_init(struct hooks *h)
{
	return registry_kind(h->parts->registry,
			     &(struct registry_kind){ .name = "POINT", .add = row_add, .remove = row_remove,
						      .arg = h, .row_size = sizeof(struct keel_point_def) });
}
