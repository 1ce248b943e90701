/* SPDX-License-Identifier: Apache-2.0
 *
 * type.c - types of attributes: the kernel's own and the TYPE rows of modules, by name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "keel/module.h"
#include "object/object.h"
#include "registry/registry.h"
#include "types/types.h"
#include "util/err.h"

struct type *type_find(const struct objects *o, const char *name)
{
	struct type *t = o->types;

	while (t && strcmp(t->def.name, name) != 0)
		t = t->next;
	return t;
}

void type_format(const struct type *t, const union keel_slot *slot, const char *key,
		 const struct keel_emit *emit)
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
	if (!code || !err || err->text[0])
		return code;
	if (code == PBSE_SYSTEM)
		return err_no_memory(err);
	attr_fault(err, code > 0 ? code : PBSE_BADATVAL, a, key);
	return code;
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

static int type_lint(const struct objects *o, const struct owner *owner,
		     const struct keel_type_def *def, struct keel_err *err)
{
	const struct type *other;

	if (!def->name || !def->name[0] || !def->parse || !def->format)
		return err_set(err, -EINVAL, "%s: a TYPE row needs name, parse() and format()",
			       owner_name(owner));
	if ((def->flags & KEEL_TYPE_KEYED) && !def->unset)
		return err_set(err, -EINVAL, "%s: type '%s' has keys and so needs unset()",
			       owner_name(owner), def->name);
	other = type_find(o, def->name);
	if (other)
		return err_set(err, -EEXIST, "%s: type '%s' already belongs to %s",
			       owner_name(owner), def->name, owner_name(other->owner));
	return 0;
}

static int type_add(void *arg, struct owner *owner, const void *def, struct keel_err *err)
{
	struct objects *o = arg;
	struct type *t;
	int rc = type_lint(o, owner, def, err);

	if (rc < 0)
		return rc;
	t = type_create(o, def);
	if (!t)
		return err_set(err, -ENOMEM, "%s: no memory for a type", owner_name(owner));
	t->owner = owner;
	return attrs_attach(o, err);
}

static void type_remove(void *arg, struct owner *owner, const void *def)
{
	struct objects *o = arg;
	struct type *t = type_find(o, ((const struct keel_type_def *)def)->name);

	(void)owner;
	if (!t)
		return;
	for (struct keel_attr *a = o->attrs; a; a = a->next)
		if (a->klass && a->type == t)
			attr_detach(a);
	LL_DELETE(o->types, t);
	free(t);
}

int types_init(struct objects *o)
{
	const struct registry_kind kind = { "TYPE", type_add, type_remove, o,
					    sizeof(struct keel_type_def) };

	static const struct {
		const struct keel_type_def *def;
		enum quick quick;
	} quick[] = { { &type_long, QUICK_LONG }, { &type_bool, QUICK_BOOL }, { &type_time, QUICK_TIME },
		      { &type_string, QUICK_STRING }, { &type_string_array, QUICK_STRING } };

	for (const struct keel_type_def *const *def = types_common; *def; def++) {
		struct type *t = type_create(o, *def);

		if (!t)
			return -ENOMEM;
		for (size_t i = 0; i < KEEL_COUNT(quick); i++)
			if (quick[i].def == *def)
				t->quick = quick[i].quick;
		t->scalar = !((*def)->flags & (KEEL_TYPE_INT | KEEL_TYPE_STRING));
	}
	return registry_kind(o->registry, &kind);
}

void types_fini(struct objects *o)
{
	struct type *t, *next;

	LL_FOREACH_SAFE(o->types, t, next)
		free(t);
}
