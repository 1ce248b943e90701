/* SPDX-License-Identifier: Apache-2.0
 *
 * klass.c - classes and types: rows of modules, and those that stand in until a module brings them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "types/types.h"

/* ---- types -------------------------------------------------------------------------------------- */
static struct type *type_find(struct keel_mock *mock, const char *name)
{
	struct type *t = mock->types;

	while (t != NULL && strcmp(t->def.name, name) != 0)
		t = t->next;
	return t;
}

static struct type *type_push(struct keel_mock *mock, const struct keel_type_def *def)
{
	struct type *t = make(sizeof(*t));

	memcpy(&t->def, def, def->size < sizeof(t->def) ? def->size : sizeof(t->def));
	t->owner = &mock->self;
	t->next = mock->types;
	mock->types = t;
	return t;
}

void types_init(struct keel_mock *mock)
{
	for (const struct keel_type_def *const *def = types_common; *def != NULL; def++)
		type_push(mock, *def);
	type_push(mock, &list_type)->stands_in = true;
}

void types_fini(struct keel_mock *mock)
{
	while (mock->types != NULL) {
		struct type *t = mock->types;

		mock->types = t->next;
		free(t);
	}
}

/* Everything of this type waits for another one. */
static void type_detach(struct keel_mock *mock, struct type *t)
{
	for (struct keel_attr *a = mock->attrs; a != NULL; a = a->next)
		if (a->klass != NULL && a->type == t)
			attr_detach(a);
}

static void type_drop(struct keel_mock *mock, struct type *t)
{
	struct type **at = &mock->types;

	type_detach(mock, t);
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	free(t);
}

int type_add(struct mod *m, const void *row, struct keel_err *err)
{
	struct keel_mock *mock = mock_of(m);
	const struct keel_type_def *def = row;
	struct type *other;

	if (def->size < offsetof(struct keel_type_def, fini) + sizeof(def->fini) || def->name == NULL ||
	    def->name[0] == '\0' || def->parse == NULL || def->format == NULL)
		return err_set(err, -EINVAL, "%s: a TYPE row needs size, name, parse() and format()",
			       m->desc.name);
	if ((def->flags & KEEL_TYPE_KEYED) && def->unset == NULL)
		return err_set(err, -EINVAL, "%s: type '%s' has keys and so needs unset()",
			       m->desc.name, def->name);
	other = type_find(mock, def->name);
	if (other != NULL && !other->stands_in)
		return err_set(err, -EEXIST, "%s: type '%s' already belongs to %s", m->desc.name,
			       def->name, other->row != NULL ? other->owner->desc.name : "the kernel");
	if (other != NULL)
		type_drop(mock, other);
	other = type_push(mock, def);
	other->owner = m;
	other->row = row;
	return attrs_attach(mock, err);
}

void type_remove(struct mod *m, const void *row)
{
	struct keel_mock *mock = mock_of(m);
	struct type *t = mock->types;

	while (t != NULL && t->row != row)
		t = t->next;
	if (t == NULL)
		return;
	if (strcmp(t->def.name, list_type.name) == 0) {
		type_drop(mock, t);
		type_push(mock, &list_type)->stands_in = true;
		attrs_attach(mock, NULL);
		return;
	}
	type_drop(mock, t);
}

/* ---- classes ------------------------------------------------------------------------------------- */
static struct klass *klass_named(struct keel_mock *mock, const char *name)
{
	struct klass *c = mock->klasses;

	while (c != NULL && strcmp(c->name, name) != 0)
		c = c->next;
	return c;
}

struct klass *klass_find(struct keel_mock *mock, const char *name)
{
	struct klass *c = name != NULL ? klass_named(mock, name) : NULL;

	return c != NULL && c->declared ? c : NULL;
}

struct klass *klass_get(struct keel_mock *mock, const char *name)
{
	struct klass *c = klass_named(mock, name), **at = &mock->klasses;

	if (c != NULL)
		return c;
	c = make(sizeof(*c));
	c->name = dup_text(name);
	c->owner = &mock->self;
	while (*at != NULL)
		at = &(*at)->next;
	return *at = c;
}

/* Its replay point is the one called <class>_known. */
static uint32_t known_point(const char *name)
{
	size_t len = strlen(name);

	for (uint32_t id = 1; id < KEEL_POINT_MAX; id++) {
		const char *point = map_row(id) != NULL ? map_row(id)->name : "";

		if (strncmp(point, name, len) == 0 && strcmp(point + len, "_known") == 0)
			return id;
	}
	return 0;
}

struct klass *klass_declare(struct keel_mock *mock, const char *name)
{
	struct klass *c = klass_get(mock, name);

	if (c->declared)
		return c;
	c->def = (struct keel_class_def){ .size = sizeof(c->def), .name = c->name,
					  .flags = KEEL_CLASS_SAVE, .known_point = known_point(name) };
	c->declared = c->stands_in = true;
	c->place = mock->n_declared++;
	attrs_attach(mock, NULL);
	return c;
}

int klass_add(struct mod *m, const void *row, struct keel_err *err)
{
	struct keel_mock *mock = mock_of(m);
	const struct keel_class_def *def = row;
	struct klass *c;

	if (def->size < offsetof(struct keel_class_def, doc) || def->name == NULL || def->name[0] == '\0')
		return err_set(err, -EINVAL, "%s: a CLASS row needs size and name", m->desc.name);
	c = klass_get(mock, def->name);
	if (c->declared && !c->stands_in)
		return err_set(err, -EEXIST, "%s: class '%s' already belongs to %s", m->desc.name,
			       def->name, c->owner->desc.name);
	c->def = (struct keel_class_def){ 0 };
	memcpy(&c->def, def, def->size < sizeof(c->def) ? def->size : sizeof(c->def));
	c->owner = m;
	c->row = row;
	c->place = c->declared ? c->place : mock->n_declared++;
	c->declared = true;
	c->stands_in = false;
	return attrs_attach(mock, err);
}

void klass_remove(struct mod *m, const void *row)
{
	struct keel_mock *mock = mock_of(m);
	struct klass *c = mock->klasses;

	while (c != NULL && c->row != row)
		c = c->next;
	if (c == NULL)
		return;
	while (c->drafts != NULL)
		body_destroy(c->drafts);
	for (struct keel_attr *a = mock->attrs; a != NULL; a = a->next)
		if (a->klass == c)
			attr_detach(a);
	cursors_end(c);
	c->declared = c->stands_in = false;
	c->row = NULL;
	c->owner = &mock->self;
}

static void list_free(struct body **list)
{
	while (*list != NULL) {
		struct body *b = *list;

		*list = b->next;
		body_free(b);
	}
}

void klasses_fini(struct keel_mock *mock)
{
	while (mock->klasses != NULL) {
		struct klass *c = mock->klasses;

		mock->klasses = c->next;
		cursors_end(c);
		list_free(&c->live);
		list_free(&c->drafts);
		list_free(&c->dead);
		while (c->binds != NULL) {
			struct bind *b = c->binds;

			c->binds = b->next;
			free(b);
		}
		free(c->name);
		free(c);
	}
}
