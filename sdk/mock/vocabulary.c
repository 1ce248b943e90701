/* SPDX-License-Identifier: Apache-2.0
 *
 * vocabulary.c - classes, types and attributes that a test has without base modules.
 */
#include <string.h>
#include <utlist.h>

#include "host.h"
#include "hook/inside.h"
#include "object/object.h"
#include "registry/registry.h"

/* ---- rows that give way to those of a module ------------------------------------------------------------ */
static void stand_in_put(struct keel_mock *mock, struct stand_in *s)
{
	struct keel_err err;

	if (registry_add(mock->parts.registry, &s->owner, &(struct keel_contrib){ s->kind, s->row }, 1, &err) < 0)
		die("%s", err.text);
	s->there = true;
}

struct stand_in *stand_in_add(struct keel_mock *mock, const char *kind, const char *name, const void *row)
{
	struct stand_in *s = host_keep(mock, host_alloc(sizeof(*s)));

	*s = (struct stand_in){ .kind = kind, .name = name, .row = row };
	s->owner.pub.name = "test";
	s->owner.parts = &mock->parts;
	stand_in_put(mock, s);
	LL_PREPEND(mock->stand_ins, s);
	return s;
}

/* Rows of CLASS and of TYPE begin alike: size, flags, name. */
static bool brings(const struct keel_module *d, const char *kind, const char *name)
{
	for (uint32_t i = 0; i < d->n_contribs; i++) {
		const struct keel_class_def *def = d->contribs[i].def;

		if (def != NULL && d->contribs[i].kind != NULL && strcmp(d->contribs[i].kind, kind) == 0 &&
		    def->name != NULL && strcmp(def->name, name) == 0)
			return true;
	}
	return false;
}

static void value_keep(void *attr, struct keel_obj *o)
{
	const struct keel_attr *a = attr;
	const union keel_slot *slot = value_at(o, a);
	struct buf pair = { 0 };

	if (!slot || !(a->def.flags & KEEL_ATTR_SAVE))
		return;
	raw_encode(&pair, a, slot);
	if (pair.failed || raw_add(o, pair.data, pair.len, 1) < 0)
		die("no memory");
	buf_fini(&pair);
}

/* Values go with their rows. Over a daemon's restart they are in the store; here they wait in the objects, as it has them. */
void values_keep(struct keel_mock *mock, const struct owner *owner)
{
	for (struct keel_attr *a = mock->parts.objects->attrs; a; a = a->next)
		if (a->klass && (a->owner == owner || a->type->owner == owner || a->klass->owner == owner))
			class_each(a->klass, value_keep, a);
}

void stand_aside(struct keel_mock *mock, const struct keel_module *d)
{
	struct stand_in *s;

	LL_FOREACH(mock->stand_ins, s) {
		if (!s->there || !brings(d, s->kind, s->name))
			continue;
		values_keep(mock, &s->owner);
		registry_remove(mock->parts.registry, &s->owner);
		s->there = false;
	}
}

static bool is_taken(struct keel_mock *mock, const struct stand_in *s)
{
	const struct keel_mod *owner;
	const struct keel_class_def *def;

	for (uint32_t i = 0; (def = keel_mock_row(mock, s->kind, i, (struct keel_mod **)&owner)) != NULL; i++)
		if (strcmp(def->name, s->name) == 0)
			return true;
	return false;
}

void stand_in_again(struct keel_mock *mock)
{
	struct stand_in *s;

	LL_FOREACH(mock->stand_ins, s)
		if (!s->there && !is_taken(mock, s))
			stand_in_put(mock, s);
}

/* ---- classes ---------------------------------------------------------------------------------------------- */
/* Its replay point is the one called <class>_known. */
static uint32_t known_point(const char *name)
{
	size_t len = strlen(name);

	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		const struct point_info *p = &point_infos[i];

		if (p->name != NULL && strncmp(p->name, name, len) == 0 && strcmp(p->name + len, "_known") == 0)
			return p->id;
	}
	return 0;
}

void class_stand_in(struct keel_mock *mock, const char *name)
{
	struct keel_class_def *def;
	char *own;

	if (is_taken(mock, &(struct stand_in){ .kind = "CLASS", .name = name }))
		return;
	own = host_keep(mock, host_dup(name));
	def = host_keep(mock, host_alloc(sizeof(*def)));
	*def = (struct keel_class_def){ .size = sizeof(*def), .name = own, .flags = KEEL_CLASS_SAVE, .doc = own,
					.known_point = known_point(name) };
	stand_in_add(mock, "CLASS", own, def);
}

void vocabulary_init(struct keel_mock *mock)
{
	static const char *const classes[] = { "server", "sched", "queue", "node", "resource", "job", "resv" };

	for (uint32_t i = 0; i < KEEL_COUNT(classes); i++)
		class_stand_in(mock, classes[i]);
}

/* ---- attributes ------------------------------------------------------------------------------------------- */
void keel_mock_attr_def(struct keel_mock *mock, const struct keel_attr_def *def)
{
	struct keel_err err;

	class_stand_in(mock, def->klass);
	if (registry_add(mock->parts.registry, &mock->self, &(struct keel_contrib){ "ATTR", def }, 1, &err) < 0)
		die("%s", err.text);
}

void keel_mock_attr(struct keel_mock *mock, const char *klass, const char *name, const char *type)
{
	struct keel_attr_def *def = host_keep(mock, host_alloc(sizeof(*def)));

	*def = (struct keel_attr_def){
		.size = sizeof(*def), .flags = KEEL_ATTR_SAVE, .klass = host_keep(mock, host_dup(klass)),
		.name = host_keep(mock, host_dup(name)), .type = host_keep(mock, host_dup(type)), .doc = "of a test",
		.read_roles = KEEL_EVERYBODY, .write_roles = KEEL_EVERYBODY,
	};
	keel_mock_attr_def(mock, def);
}
