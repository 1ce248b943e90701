/* SPDX-License-Identifier: Apache-2.0
 *
 * attr.c - rows of attributes: in use while class and type exist, waiting otherwise.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "inside.h"

int attr_fault(struct keel_err *err, int code, const struct keel_attr *a, const char *key)
{
	return err_set(err, code, "%s %s%s%s", pbse_text(code), a->def.name, key != NULL ? "." : "",
		       key != NULL ? key : "");
}

/* Where attributes of this name are, among others: they are looked for all the time. */
static struct keel_attr **like(struct keel_mock *mock, const char *name)
{
	uint32_t h = 5381;

	for (; *name != '\0'; name++)
		h = h * 33 + (unsigned char)*name;
	return &mock->attrs_like[h % ATTR_PLACES];
}

struct keel_attr *attr_find(const struct klass *c, const char *name)
{
	struct keel_attr *a = name != NULL && c != NULL ? *like(c->owner->head.mock, name) : NULL;

	while (a != NULL && !(a->klass == c && strcmp(a->def.name, name) == 0))
		a = a->like;
	return a;
}

static struct type *type_named(struct keel_mock *mock, const char *name)
{
	struct type *t = mock->types;

	while (t != NULL && strcmp(t->def.name, name) != 0)
		t = t->next;
	return t;
}

/* A default that its own type refuses is found at loading, not at the first object. */
static int fallback_lint(struct keel_attr *a, struct keel_err *err)
{
	union keel_slot slot = { 0 };
	bool is_set = false;

	if (a->def.fallback == NULL || (a->type->def.flags & KEEL_TYPE_KEYED))
		return 0;
	if (attr_parse(a, KEEL_SET, NULL, a->def.fallback, &slot, &is_set, err) != 0)
		return err_set(err, -EINVAL, "%s: %s.%s: type %s refuses its default '%s'",
			       a->owner->desc.name, a->def.klass, a->def.name, a->def.type,
			       a->def.fallback);
	if (is_set)
		slot_drop(a->type, &slot);
	return 0;
}

static int attr_attach(struct keel_mock *mock, struct keel_attr *a, struct keel_err *err)
{
	struct klass *c = klass_find(mock, a->def.klass);
	int ret;

	a->type = type_named(mock, a->def.type);
	if (c == NULL || a->type == NULL)
		return 0;
	ret = fallback_lint(a, err);
	if (ret < 0)
		return ret;
	a->klass = c;
	for (struct body *b = c->live; b != NULL; b = b->next)
		values_come(b, a);
	return 0;
}

int attrs_attach(struct keel_mock *mock, struct keel_err *err)
{
	int ret = 0;

	for (struct keel_attr *a = mock->attrs; a != NULL && ret == 0; a = a->next)
		if (a->klass == NULL)
			ret = attr_attach(mock, a, err);
	return ret;
}

void attr_detach(struct keel_attr *a)
{
	struct keel_mock *mock = a->head.mock;

	changes_forget(mock, a, NULL);
	views_forget(mock, a);
	for (struct body *b = a->klass->live; b != NULL; b = b->next)
		values_leave(b, a);
	for (struct body *b = a->klass->drafts; b != NULL; b = b->next)
		values_leave(b, a);
	a->klass = NULL;
	a->type = NULL;
}

static const struct keel_attr *attr_taken(struct keel_mock *mock, const struct keel_attr_def *def)
{
	const struct keel_attr *a = *like(mock, def->name);

	while (a != NULL && !(strcmp(a->def.klass, def->klass) == 0 && strcmp(a->def.name, def->name) == 0))
		a = a->like;
	return a;
}

static void attr_drop(struct keel_attr *a)
{
	struct keel_attr **at = &a->head.mock->attrs;

	if (a->klass != NULL)
		attr_detach(a);
	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
	at = like(a->head.mock, a->def.name);
	while (*at != a)
		at = &(*at)->like;
	*at = a->like;
	head_end(&a->head);
}

int attr_add(struct mod *m, const void *row, struct keel_err *err)
{
	struct keel_mock *mock = mock_of(m);
	const struct keel_attr_def *def = row;
	const struct keel_attr *other;
	struct keel_attr *a;
	int ret;

	if (def->size < offsetof(struct keel_attr_def, order) || def->klass == NULL ||
	    def->name == NULL || def->name[0] == '\0' || def->type == NULL)
		return err_set(err, -EINVAL, "%s: an ATTR row needs size, klass, name and type",
			       m->desc.name);
	other = attr_taken(mock, def);
	if (other != NULL)
		return err_set(err, -EEXIST, "%s: attribute %s.%s already belongs to %s", m->desc.name,
			       def->klass, def->name, other->owner->desc.name);
	a = make(sizeof(*a));
	head_init(&a->head, mock, a);
	memcpy(&a->def, def, def->size < sizeof(a->def) ? def->size : sizeof(a->def));
	a->row = row;
	a->owner = m;
	a->next = mock->attrs;
	mock->attrs = a;
	a->like = *like(mock, def->name);
	*like(mock, def->name) = a;
	ret = attr_attach(mock, a, err);
	if (ret < 0)
		attr_drop(a);
	return ret;
}

void attr_remove(struct mod *m, const void *row)
{
	struct keel_attr *a = mock_of(m)->attrs;

	while (a != NULL && a->row != row)
		a = a->next;
	if (a != NULL)
		attr_drop(a);
}

void keel_mock_attr_def(struct keel_mock *mock, const struct keel_attr_def *def)
{
	struct keel_err err = { 0 };

	klass_declare(mock, def->klass);
	if (attr_add(&mock->self, def, &err) != 0)
		die("%s", err.text);
}

void keel_mock_attr(struct keel_mock *mock, const char *klass, const char *name, const char *type)
{
	struct keel_attr_def *def = make(sizeof(*def));

	*def = (struct keel_attr_def){
		.size = sizeof(*def), .flags = KEEL_ATTR_SAVE, .doc = "of a test",
		.klass = keep(mock, dup_text(klass)), .name = keep(mock, dup_text(name)),
		.type = keep(mock, dup_text(type)), .read_roles = KEEL_EVERYBODY,
		.write_roles = KEEL_EVERYBODY,
	};
	keep(mock, (char *)def);
	keel_mock_attr_def(mock, def);
	if (attr_find(klass_find(mock, klass), name) == NULL)
		die("attribute %s.%s: there is no type '%s'", klass, name, type);
}
