/* SPDX-License-Identifier: Apache-2.0
 *
 * vocabulary.c - the kinds CLASS, TYPE and ATTR.
 *
 * Rows come while the kernel starts, and go when it ends, with all values of them. An attribute waits until its class and
 * type exist. Modules look one up once and keep the handle, so its struct lives as long as the engine.
 *
 * A class exists from its first mention (a CLASS row, or a stored row of it). Objects of one that no module declares are
 * kept as they were stored, and not found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "keel/module.h"
#include "object/object.h"
#include "registry/registry.h"
#include "types/types.h"
#include "util/crumb.h"
#include "util/err.h"

/* ---- types and their functions --------------------------------------------------------------- */

static struct type *type_find(const struct objects *o, const char *name)
{
	struct type *t = o->types;

	while (t && strcmp(t->def.name, name) != 0)
		t = t->next;
	return t;
}

void type_format(const struct type *t, const union keel_slot *slot, const char *key, const struct keel_emit *emit)
{
	t->def.format(mod_of(t->owner), slot, key, emit);
}

int32_t type_parse(const struct keel_attr *a, int32_t op, const char *key, const char *text,
		   union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	const struct type *t = a->type;
	int32_t code;

	if (err)
		err->text[0] = '\0';
	code = t->def.parse(mod_of(t->owner), a, op, key, text, slot, is_set, err);
	if (code < 0)
		code = PBSE_BADATVAL;
	if (!code || !err || err->text[0])
		return code;
	return code == PBSE_SYSTEM ? err_no_memory(err) : attr_fault(err, code, a, key);
}

int type_copy(const struct type *t, const union keel_slot *from, union keel_slot *to)
{
	if (t->def.copy)
		return t->def.copy(mod_of(t->owner), from, to);
	*to = *from;
	return 0;
}

void type_drop(const struct type *t, union keel_slot *slot)
{
	if (t->def.fini)
		t->def.fini(mod_of(t->owner), slot);
}

static struct type *type_create(struct objects *o, const struct keel_type_def *def)
{
	struct type *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->def = *def;
	LL_PREPEND(o->types, t);
	return t;
}

/* ---- attributes ------------------------------------------------------------------------------ */

int attr_fault(struct keel_err *err, int code, const struct keel_attr *a, const char *key)
{
	return err_set(err, code, "%s %s%s%s", pbse_text(code), a->def.name, key ? "." : "", key ? key : "");
}

struct keel_attr *attr_find(const struct class *c, const char *name, size_t len)
{
	struct keel_attr *a = (struct keel_attr *)index_find(&c->names, name, len);

	return a && a->klass ? a : NULL;
}

struct keel_attr *attr_of_request(const struct class *c, const char *name)
{
	struct keel_attr *a = attr_find(c, name, strlen(name));

	for (uint32_t i = 0; !a && i < c->n_attrs; i++)
		if (c->listed[i]->klass && strcasecmp(c->listed[i]->def.name, name) == 0)
			a = c->listed[i];
	return a;
}

void attr_changed(const struct keel_attr *a, struct keel_obj *o)
{
	CRUMB_CALL(a->owner, "changed() of an attribute", a->def.name, a->def.changed(mod_of(a->owner), o, a));
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

	if (!a->def.fallback)
		return 0;
	if (a->type->def.flags & KEEL_TYPE_KEYED || type_parse(a, KEEL_SET, NULL, a->def.fallback, &slot, &is_set, err))
		return err_set(err, -EINVAL, "%s: %s.%s: type %s refuses its default '%s'",
			       owner_name(a->owner), a->def.klass, a->def.name, a->def.type, a->def.fallback);
	if (is_set)
		type_drop(a->type, &slot);
	return 0;
}

/* If its class and its type exist. */
static int attr_attach(struct objects *o, struct keel_attr *a, struct keel_err *err)
{
	struct class *c = class_find(o, a->def.klass);
	struct type *type = type_find(o, a->def.type);

	if (!c || !type)
		return 0;
	a->type = type;
	if (fallback_lint(a, err) < 0)
		return -EINVAL;
	if (c->by_number[a->number] != a) { /* else it was there before */
		if (c->n_attrs == ATTR_MAX)
			return err_set(err, -ENOSPC, "%s: %s.%s: a class holds at most %u attributes",
				       owner_name(a->owner), a->def.klass, a->def.name, ATTR_MAX);
		if (index_add(&c->names, &a->name) < 0)
			return err_set(err, -ENOMEM, "%s: no memory for attribute '%s'",
				       owner_name(a->owner), a->def.name);
		a->number = c->n_attrs;
		c->by_number[a->number] = a;
		list_insert(c, a);
	}
	a->klass = c;
	if ((a->def.flags & KEEL_ATTR_RESET) && a->def.fallback)
		bit_set(c->reset, a->number);
	if (a->def.changed)
		bit_set(c->notified, a->number);
	class_each(c, obj_complete, NULL); /* of a row that comes late */
	return 0;
}

static int attrs_attach(struct objects *o, struct keel_err *err)
{
	int rc = 0;

	for (struct keel_attr *a = o->attrs; a && rc == 0; a = a->next)
		if (a->owner && !a->klass)
			rc = attr_attach(o, a, err);
	return rc;
}

static void value_lose(void *attr, struct keel_obj *o)
{
	value_drop(o, attr);
}

/* The code of its row, or of its type, is about to go. */
static void attr_detach(struct objects *o, struct keel_attr *a)
{
	struct keel_changes *set;
	struct change *e, *next;

	DL_FOREACH(o->changes, set)
		DL_FOREACH_SAFE(set->entries, e, next)
			if (e->attr == a)
				change_drop(e);
	class_each(a->klass, value_lose, a);
	memset(a->klass->guess, 0, sizeof(a->klass->guess));
	bit_clear(a->klass->reset, a->number);
	bit_clear(a->klass->notified, a->number);
	a->klass = NULL;
	a->type = type_find(o, "string"); /* a caller that has it may still read */
}

static struct keel_attr *attr_named(const struct objects *o, const struct keel_attr_def *def)
{
	struct keel_attr *a = o->attrs;

	while (a && (strcmp(a->def.klass, def->klass) != 0 || strcmp(a->def.name, def->name) != 0))
		a = a->next;
	return a;
}

/* Returns a struct that no row has filled in, with names of its own. NULL: no memory. */
static struct keel_attr *attr_create(struct objects *o, const struct keel_attr_def *def)
{
	size_t klass = strlen(def->klass) + 1, name = strlen(def->name) + 1;
	struct keel_attr *a = calloc(1, sizeof(*a) + klass + name);

	if (!a)
		return NULL;
	memcpy(a->words, def->klass, klass);
	index_key_init(&a->name, memcpy(a->words + klass, def->name, name), name - 1);
	LL_PREPEND(o->attrs, a);
	return a;
}

static void attr_fill(struct keel_attr *a, struct owner *owner, const struct keel_attr_def *def)
{
	a->owner = owner;
	a->def = *def;
	a->def.klass = a->words;
	a->def.name = a->name.text;
}

static int attr_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	const struct keel_attr_def *def = row;
	struct objects *o = arg;
	struct keel_attr *a;
	int rc;

	if (!def->klass || !def->name || !def->name[0] || !def->type)
		return err_set(err, -EINVAL, "%s: an ATTR row needs klass, name and type", owner_name(owner));
	a = attr_named(o, def);
	if (a && a->owner)
		return err_set(err, -EEXIST, "%s: attribute %s.%s already belongs to %s",
			       owner_name(owner), def->klass, def->name, owner_name(a->owner));
	if (!a)
		a = attr_create(o, def);
	if (!a)
		return err_set(err, -ENOMEM, "%s: no memory for an attribute", owner_name(owner));
	attr_fill(a, owner, def);
	rc = attr_attach(o, a, err);
	if (rc < 0)
		a->owner = NULL;
	return rc;
}

static void attr_remove(void *arg, struct owner *owner, const void *row)
{
	struct keel_attr *a = attr_named(arg, row);

	(void)owner;
	if (a->klass)
		attr_detach(arg, a);
	attr_fill(a, NULL, &(struct keel_attr_def){ .order = a->def.order });
}

/* ---- classes --------------------------------------------------------------------------------- */

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
	c = calloc(1, sizeof(*c) + strlen(name) + 1);
	if (!c)
		return NULL;
	strcpy(c->name, name);
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
		return err_set(err, -EINVAL, "%s: a CLASS row needs a name", owner_name(owner));
	c = class_get(o, def->name);
	if (!c)
		return err_set(err, -ENOMEM, "%s: no memory for class '%s'", owner_name(owner), def->name);
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
	struct class *c = class_named(arg, ((const struct keel_class_def *)row)->name);

	(void)owner;
	for (uint32_t i = 0; i < c->n_attrs; i++)
		if (c->listed[i]->klass)
			attr_detach(arg, c->listed[i]);
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
}

/* ---- rows of types --------------------------------------------------------------------------- */

static int type_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	const struct keel_type_def *def = row;
	struct objects *o = arg;
	struct type *t;

	if (!def->name || !def->name[0] || !def->parse || !def->format)
		return err_set(err, -EINVAL, "%s: a TYPE row needs name, parse() and format()", owner_name(owner));
	if ((def->flags & KEEL_TYPE_KEYED) && !def->unset)
		return err_set(err, -EINVAL, "%s: type '%s' has keys and so needs unset()",
			       owner_name(owner), def->name);
	t = type_find(o, def->name);
	if (t)
		return err_set(err, -EEXIST, "%s: type '%s' already belongs to %s",
			       owner_name(owner), def->name, owner_name(t->owner));
	t = type_create(o, def);
	if (!t)
		return err_set(err, -ENOMEM, "%s: no memory for a type", owner_name(owner));
	t->owner = owner;
	return attrs_attach(o, err);
}

static void type_remove(void *arg, struct owner *owner, const void *row)
{
	struct objects *o = arg;
	struct type *t = type_find(o, ((const struct keel_type_def *)row)->name);

	(void)owner;
	for (struct keel_attr *a = o->attrs; a; a = a->next)
		if (a->klass && a->type == t)
			attr_detach(o, a);
	LL_DELETE(o->types, t);
	free(t);
}

/* The kernel's own. */
static int types_create(struct objects *o)
{
	for (const struct keel_type_def *const *def = types_common; *def; def++) {
		struct type *t = type_create(o, *def);

		if (!t)
			return -ENOMEM;
		t->text = *def == &type_string || *def == &type_string_array;
		t->scalar = !((*def)->flags & (KEEL_TYPE_INT | KEEL_TYPE_STRING));
	}
	return 0;
}

/* ---- all three ------------------------------------------------------------------------------- */

int vocabulary_create(struct objects *o)
{
	const struct registry_kind kinds[] = {
		{ "TYPE", type_add, type_remove, o, sizeof(struct keel_type_def) },
		{ "CLASS", class_add, class_remove, o, sizeof(struct keel_class_def) },
		{ "ATTR", attr_add, attr_remove, o, sizeof(struct keel_attr_def) },
	};
	int rc = types_create(o);

	for (size_t i = 0; i < KEEL_COUNT(kinds) && rc == 0; i++)
		rc = registry_kind(o->registry, &kinds[i]);
	return rc;
}

void vocabulary_destroy(struct objects *o)
{
	struct class *c, *next_class;
	struct keel_attr *a, *next_attr;
	struct type *t, *next_type;

	LL_FOREACH_SAFE(o->classes, c, next_class) {
		free(c->live.at);
		index_fini(&c->ids);
		index_fini(&c->names);
		free(c);
	}
	LL_FOREACH_SAFE(o->attrs, a, next_attr)
		free(a);
	LL_FOREACH_SAFE(o->types, t, next_type)
		free(t);
}

int objects_waiting(struct objects *o, struct keel_err *err)
{
	for (const struct keel_attr *a = o->attrs; a; a = a->next) {
		if (a->klass || !a->owner)
			continue;
		return err_set(err, -ENOENT, "attribute %s.%s of %s has no effect: no module declares the %s '%s'",
			       a->def.klass, a->def.name, owner_name(a->owner),
			       class_find(o, a->def.klass) ? "type" : "class",
			       class_find(o, a->def.klass) ? a->def.type : a->def.klass);
	}
	return 0;
}
