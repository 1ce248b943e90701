/* SPDX-License-Identifier: Apache-2.0
 *
 * attr.c - rows of attributes: numbered and listed once class and type exist, waiting until then.
 *
 * Rows come while the kernel starts, and go when it ends. Modules look an attribute up once and keep the handle, so its
 * struct lives as long as the engine: without a row it is an attribute that no object has a value of.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "object/object.h"
#include "registry/registry.h"
#include "util/crumb.h"
#include "util/err.h"

int attr_fault(struct keel_err *err, int code, const struct keel_attr *a, const char *key)
{
	return err_set(err, code, "%s %s%s%s", pbse_text(code), a->def.name, key ? "." : "",
		       key ? key : "");
}

struct keel_attr *attr_find(const struct class *c, const char *name, size_t len)
{
	return (struct keel_attr *)index_find(&c->names, name, len);
}

struct keel_attr *attr_of_request(const struct class *c, const char *name)
{
	struct keel_attr *a = attr_find(c, name, strlen(name));

	for (uint32_t i = 0; !a && i < c->n_attrs; i++)
		if (strcasecmp(c->listed[i]->def.name, name) == 0)
			a = c->listed[i];
	return a;
}

/* By (order, name). */
static void list_insert(struct class *c, struct keel_attr *a)
{
	uint32_t i = c->n_attrs++;

	for (; i > 0; i--) {
		struct keel_attr *b = c->listed[i - 1];

		if (a->def.order != b->def.order ? a->def.order > b->def.order : strcmp(a->def.name, b->def.name) > 0)
			break;
		c->listed[i] = b;
	}
	c->listed[i] = a;
}

/* Returns an error with *err when the type refuses the row's default: found at load, not at the first object. */
static int fallback_lint(struct keel_attr *a, struct keel_err *err)
{
	union keel_slot slot = { 0 };
	bool is_set = false;
	int rc = type_parse(a, KEEL_SET, NULL, a->def.fallback, &slot, &is_set, err);

	if (rc)
		return err_set(err, -EINVAL, "%s: %s.%s: type %s refuses its default '%s'",
			       owner_name(a->owner), a->def.klass, a->def.name, a->def.type,
			       a->def.fallback);
	if (is_set)
		type_drop(a->type, &slot);
	return 0;
}

static int attr_attach(struct objects *o, struct keel_attr *a, struct keel_err *err)
{
	struct class *c = class_find(o, a->def.klass);
	struct type *type = type_find(o, a->def.type);
	uint32_t number = 0;

	if (!c || !type)
		return 0;
	a->type = type;
	if (a->def.fallback && !(a->type->def.flags & KEEL_TYPE_KEYED) && fallback_lint(a, err) < 0)
		return -EINVAL;
	if (index_add(&c->names, &a->name) < 0)
		return err_set(err, -ENOMEM, "%s: no memory for attribute '%s'",
			       owner_name(a->owner), a->def.name);
	while (number < ATTR_NONE && c->by_number[number])
		number++;
	if (number == ATTR_NONE) {
		index_remove(&c->names, &a->name);
		return err_set(err, -ENOSPC, "%s: %s.%s: a class holds at most %u attributes",
			       owner_name(a->owner), a->def.klass, a->def.name, ATTR_NONE);
	}
	a->klass = c;
	a->number = number;
	c->by_number[number] = a;
	list_insert(c, a);
	if ((a->def.flags & KEEL_ATTR_RESET) && a->def.fallback)
		bit_set(c->reset, number);
	if (a->def.changed)
		bit_set(c->notified, number);
	class_each(c, obj_complete, NULL); /* of a row that comes late */
	return 0;
}

void attr_changed(const struct keel_attr *a, struct keel_obj *o)
{
	CRUMB_CALL(a->owner, "changed() of an attribute", a->def.name, a->def.changed(mod_of(a->owner), o, a));
}

int attrs_attach(struct objects *o, struct keel_err *err)
{
	int rc = 0;

	for (struct keel_attr *a = o->attrs; a && rc == 0; a = a->next)
		if (a->owner && !a->klass)
			rc = attr_attach(o, a, err);
	return rc;
}

/* The code of its row is about to go: what objects have of it becomes raw bytes. */
void attr_detach(struct keel_attr *a)
{
	struct class *c = a->klass;
	uint32_t i = 0;

	class_each(c, raw_leave, a);
	memset(c->guess, 0, sizeof(c->guess));
	index_remove(&c->names, &a->name);
	while (c->listed[i] != a)
		i++;
	for (c->n_attrs--; i < c->n_attrs; i++)
		c->listed[i] = c->listed[i + 1];
	bit_clear(c->reset, a->number);
	bit_clear(c->notified, a->number);
	c->by_number[a->number] = NULL;
	a->klass = NULL;
	a->number = ATTR_NONE;
	a->type = type_find(c->objects, "string"); /* a caller that has it may still read */
}

static struct keel_attr *attr_named(const struct objects *o, const struct keel_attr_def *def)
{
	struct keel_attr *a = o->attrs;

	while (a && (strcmp(a->def.klass, def->klass) != 0 || strcmp(a->def.name, def->name) != 0))
		a = a->next;
	return a;
}

static int attr_lint(const struct objects *o, const struct owner *owner,
		     const struct keel_attr_def *def, struct keel_err *err)
{
	const struct keel_attr *a;

	if (!def->klass || !def->name || !def->name[0] || !def->type)
		return err_set(err, -EINVAL, "%s: an ATTR row needs klass, name and type",
			       owner_name(owner));
	a = attr_named(o, def);
	if (a && a->owner)
		return err_set(err, -EEXIST, "%s: attribute %s.%s already belongs to %s",
			       owner_name(owner), def->klass, def->name, owner_name(a->owner));
	return 0;
}

/* Returns a struct that no row has filled in. NULL: no memory. */
static struct keel_attr *attr_create(struct objects *o, const struct keel_attr_def *def)
{
	size_t klass = strlen(def->klass) + 1, name = strlen(def->name) + 1;
	struct keel_attr *a = calloc(1, sizeof(*a) + klass + name);

	if (!a)
		return NULL;
	memcpy(a->words, def->klass, klass);
	memcpy(a->words + klass, def->name, name);
	index_key_init(&a->name, a->words + klass, name - 1);
	a->number = ATTR_NONE;
	LL_PREPEND(o->attrs, a);
	return a;
}

static void attr_fill(struct keel_attr *a, const struct keel_attr_def *def, struct owner *owner)
{
	a->owner = owner;
	a->def = def ? *def : (struct keel_attr_def){ 0 };
	a->def.klass = a->words;
	a->def.name = a->name.text;
}

static int attr_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	const struct keel_attr_def *def = row;
	struct objects *o = arg;
	struct keel_attr *a;
	int rc = attr_lint(o, owner, def, err);

	if (rc < 0)
		return rc;
	a = attr_named(o, def);
	if (!a)
		a = attr_create(o, def);
	if (!a)
		return err_set(err, -ENOMEM, "%s: no memory for an attribute", owner_name(owner));
	attr_fill(a, def, owner);
	rc = attr_attach(o, a, err);
	if (rc < 0)
		attr_fill(a, NULL, NULL);
	return rc;
}

static void attr_remove(void *arg, struct owner *owner, const void *row)
{
	struct objects *o = arg;
	struct keel_attr *a = attr_named(o, row);

	(void)owner;
	if (!a)
		return;
	if (a->klass)
		attr_detach(a);
	attr_fill(a, NULL, NULL);
}

int attrs_init(struct objects *o)
{
	const struct registry_kind kind = { "ATTR", attr_add, attr_remove, o,
					    sizeof(struct keel_attr_def) };

	return registry_kind(o->registry, &kind);
}

void attrs_fini(struct objects *o)
{
	struct keel_attr *a, *next;

	LL_FOREACH_SAFE(o->attrs, a, next)
		free(a);
}
