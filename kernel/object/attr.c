/* SPDX-License-Identifier: Apache-2.0
 *
 * attr.c - rows of attributes: numbered and listed while class and type exist, waiting otherwise.
 *
 * Modules look an attribute up once and keep the handle. So when its row is withdrawn the struct stays, as an attribute
 * that no object has a value of, and is used again by the next row of the same name.
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

static int listed_before(const struct keel_attr *a, const struct keel_attr *b)
{
	if (a->def.order != b->def.order)
		return a->def.order < b->def.order;
	return strcmp(a->def.name, b->def.name) < 0;
}

static void list_insert(struct class *c, struct keel_attr *a)
{
	uint32_t i = c->n_attrs++;

	for (; i > 0 && listed_before(a, c->listed[i - 1]); i--)
		c->listed[i] = c->listed[i - 1];
	c->listed[i] = a;
}

static void list_remove(struct class *c, struct keel_attr *a)
{
	uint32_t i = 0;

	while (c->listed[i] != a)
		i++;
	for (c->n_attrs--; i < c->n_attrs; i++)
		c->listed[i] = c->listed[i + 1];
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

static uint32_t number_free(struct class *c)
{
	uint32_t number = 0;

	while (number < ATTR_NONE && c->by_number[number])
		number++;
	if (number < ATTR_NONE)
		bit_clear(c->ever, number);
	return number;
}

/* Returns the number of the kept values of this name, else a free number. ATTR_NONE: none is left. */
static uint32_t number_find(struct class *c, const struct keel_attr *a)
{
	uint32_t number = kept_take(c, a);

	if (number == ATTR_NONE)
		number = number_free(c);
	if (number == ATTR_NONE && c->kept) {
		kept_leave(c->objects, NULL);
		number = number_free(c);
	}
	return number;
}

static int attr_attach(struct objects *o, struct keel_attr *a, struct keel_err *err)
{
	struct class *c = class_find(o, a->def.klass);
	struct type *type = type_find(o, a->def.type);
	uint32_t number;

	if (!c || !type)
		return 0;
	a->type = type;
	if (a->def.fallback && !(a->type->def.flags & KEEL_TYPE_KEYED) && fallback_lint(a, err) < 0)
		return -EINVAL;
	if (index_add(&c->names, &a->name) < 0)
		return err_set(err, -ENOMEM, "%s: no memory for attribute '%s'",
			       owner_name(a->owner), a->def.name);
	number = number_find(c, a);
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
	if (c->has_raw || bit_get(c->reset, number)) /* objects may have raw bytes for it, or need its default */
		c->epoch++;
	return 0;
}

void attr_changed(const struct keel_attr *a, struct keel_obj *o)
{
	struct crumb crumb;

	crumb_begin(&crumb, a->owner, "changed() of an attribute", a->def.name);
	a->def.changed(mod_of(a->owner), o, a);
	crumb_end(&crumb);
}

int attrs_attach(struct objects *o, struct keel_err *err)
{
	int rc = 0;

	for (struct keel_attr *a = o->attrs; a && rc == 0; a = a->next)
		if (!a->klass)
			rc = attr_attach(o, a, err);
	return rc;
}

void attr_detach(struct keel_attr *a)
{
	struct class *c = a->klass;

	changes_forget(a);
	views_forget(a);
	for (uint32_t i = 0; i < ATTR_MAX; i++)
		if (c->guess[i] == a)
			c->guess[i] = NULL;
	index_remove(&c->names, &a->name);
	list_remove(c, a);
	bit_clear(c->reset, a->number);
	bit_clear(c->notified, a->number);
	c->by_number[a->number] = NULL;
	if (bit_get(c->ever, a->number))
		kept_add(a);
	a->klass = NULL;
	a->number = ATTR_NONE;
	a->type = type_find(c->objects, "string"); /* a caller that holds it may still read */
}

static struct keel_attr *attr_named(struct keel_attr *list, const struct keel_attr_def *def)
{
	struct keel_attr *a = list;

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
	a = attr_named(o->attrs, def);
	if (a)
		return err_set(err, -EEXIST, "%s: attribute %s.%s already belongs to %s",
			       owner_name(owner), def->klass, def->name, owner_name(a->owner));
	return 0;
}

void attr_own_words(struct keel_attr *a)
{
	size_t klass = strlen(a->def.klass) + 1, name = strlen(a->def.name) + 1;

	a->words = malloc(klass + name);
	if (!a->words)
		value_lost();
	memcpy(a->words, a->def.klass, klass);
	memcpy(a->words + klass, a->def.name, name);
	a->def = (struct keel_attr_def){ .size = sizeof(a->def), .klass = a->words,
					 .name = a->words + klass };
	a->row = NULL;
	a->owner = NULL;
}

static void attr_free(struct objects *o, struct keel_attr *a)
{
	LL_DELETE(o->attrs, a);
	if (!a->held) {
		free(a);
		return;
	}
	attr_own_words(a);
	LL_PREPEND(o->gone, a);
}

/* Returns the held struct of that name, or a new one. NULL: no memory. */
static struct keel_attr *attr_take(struct objects *o, const struct keel_attr_def *def)
{
	struct keel_attr *a = attr_named(o->gone, def);

	if (!a)
		return calloc(1, sizeof(*a));
	LL_DELETE(o->gone, a);
	free(a->words);
	a->words = NULL;
	return a;
}

static int attr_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	const struct keel_attr_def *def = row;
	struct objects *o = arg;
	struct keel_attr *a;
	int rc = attr_lint(o, owner, def, err);

	if (rc < 0)
		return rc;
	a = attr_take(o, def);
	if (!a)
		return err_set(err, -ENOMEM, "%s: no memory for an attribute", owner_name(owner));
	a->def = *def;
	index_key_init(&a->name, a->def.name, strlen(a->def.name));
	a->row = row;
	a->owner = owner;
	a->number = ATTR_NONE;
	LL_PREPEND(o->attrs, a);
	rc = attr_attach(o, a, err);
	if (rc < 0)
		attr_free(o, a);
	return rc;
}

static void attr_remove(void *arg, struct owner *owner, const void *row)
{
	struct objects *o = arg;
	struct keel_attr *a = o->attrs;

	(void)owner;
	while (a && a->row != row)
		a = a->next;
	if (!a)
		return;
	if (a->klass)
		attr_detach(a);
	attr_free(o, a);
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
	LL_FOREACH_SAFE(o->gone, a, next) {
		free(a->words);
		free(a);
	}
}
