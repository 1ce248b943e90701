/* SPDX-License-Identifier: Apache-2.0
 *
 * class.c - classes of objects: CLASS rows.
 *
 * A class exists from its first mention (a CLASS row, or a stored row of it) to the end of the
 * engine. Objects of one that no module declares are kept as they were stored, and not found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "object/object.h"
#include "registry/registry.h"
#include "util/err.h"

static struct class *class_named(const struct objects *o, const char *name)
{
	struct class *c = o->classes;

	while (c && strcmp(c->name, name) != 0)
		c = c->next;
	return c;
}

/* Callers mostly look a class up by the same literal: what its address gave last is tried first. */
struct class *class_find(struct objects *o, const char *name)
{
	struct class **guess = &o->guess[(uintptr_t)name / sizeof(void *) % CLASS_GUESSES];

	if (!name)
		return NULL;
	if (!*guess || strcmp((*guess)->name, name) != 0)
		*guess = class_named(o, name);
	return *guess && (*guess)->declared ? *guess : NULL;
}

struct class *class_get(struct objects *o, const char *name)
{
	struct class *c = class_named(o, name);

	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->name = strdup(name);
	if (!c->name) {
		free(c);
		return NULL;
	}
	c->objects = o;
	LL_APPEND(o->classes, c);
	return c;
}

static int class_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	const struct keel_class_def *def = row;
	struct objects *o = arg;
	struct class *c;

	if (!def->name || !def->name[0])
		return err_set(err, -EINVAL, "%s: a CLASS row needs a name",
			       owner_name(owner));
	if (strncmp(def->name, "keel_", 5) == 0)
		return err_set(err, -EINVAL, "%s: class '%s': names with 'keel_' are the kernel's", owner_name(owner), def->name);
	c = class_get(o, def->name);
	if (!c)
		return err_set(err, -ENOMEM, "%s: no memory for class '%s'", owner_name(owner),
			       def->name);
	if (c->declared)
		return err_set(err, -EEXIST, "%s: class '%s' already belongs to %s",
			       owner_name(owner), def->name, owner_name(c->owner));
	c->def = *def;
	c->owner = owner;
	c->declared = true;
	LL_DELETE(o->classes, c);
	LL_APPEND(o->classes, c);
	return attrs_attach(o, err);
}

static void class_remove(void *arg, struct owner *owner, const void *row)
{
	struct objects *o = arg;
	struct class *c = class_named(o, ((const struct keel_class_def *)row)->name);

	(void)owner;
	if (!c)
		return;
	for (struct keel_attr *a = o->attrs; a; a = a->next)
		if (a->klass == c)
			attr_detach(a);
	c->declared = false;
	c->owner = NULL;
}

void class_each(struct class *c, void (*fn)(void *arg, struct keel_obj *), void *arg)
{
	struct keel_obj *o, *next;

	for (uint32_t i = 0; i < c->live.n; i++)
		if (c->live.at[i])
			fn(arg, c->live.at[i]);
	DL_FOREACH_SAFE(c->drafts, o, next)
		fn(arg, o);
	DL_FOREACH_SAFE(c->dead, o, next)
		fn(arg, o);
}

uint32_t objects_drop(struct objects *o, const char *klass)
{
	struct class *c = class_named(o, klass);
	uint32_t n = 0;

	if (!c || c->declared)
		return 0;
	for (uint32_t i = 0; i < c->live.n; i++) {
		n += c->live.at[i] != NULL;
		object_destroy(c->live.at[i]);
	}
	return n;
}

int classes_init(struct objects *o)
{
	const struct registry_kind kind = { "CLASS", class_add, class_remove, o,
					    sizeof(struct keel_class_def) };

	return registry_kind(o->registry, &kind);
}

static void list_free(struct keel_obj *list)
{
	struct keel_obj *o, *next;

	DL_FOREACH_SAFE(list, o, next)
		obj_free(o);
}

void classes_fini(struct objects *o)
{
	while (o->classes) {
		struct class *c = o->classes;

		o->classes = c->next;
		for (uint32_t i = 0; i < c->live.n; i++)
			if (c->live.at[i])
				obj_free(c->live.at[i]);
		free(c->live.at);
		list_free(c->drafts);
		list_free(c->dead);
		index_fini(&c->ids);
		index_fini(&c->names);
		binds_end(c);
		free(c->name);
		free(c);
	}
}
