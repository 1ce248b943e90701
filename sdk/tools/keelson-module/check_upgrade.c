/* SPDX-License-Identifier: Apache-2.0
 *
 * check_upgrade.c - rows of two releases side by side: what is stored, what is configured.
 */
#include "check_upgrade.h"

#include <string.h>

#include "check_report.h"
#include "modfile/descriptor.h"

typedef bool same_fn(const void *a, const void *b);

static bool same_attr(const void *a, const void *b)
{
	const struct keel_attr_def *one = a, *other = b;

	return strcmp(one->klass, other->klass) == 0 && strcmp(one->name, other->name) == 0;
}

static bool same_class(const void *a, const void *b)
{
	return strcmp(((const struct keel_class_def *)a)->name, ((const struct keel_class_def *)b)->name) == 0;
}

/* The row of `m` that stands for the same thing; NULL: there is none any more. */
static const void *row_like(const struct modfile_module *m, const char *kind, const void *def, same_fn *same)
{
	for (uint32_t i = 0; i < m->head.n_contribs; i++)
		if (strcmp(m->contribs[i].kind, kind) == 0 && m->contribs[i].def != NULL && same(def, m->contribs[i].def))
			return m->contribs[i].def;
	return NULL;
}

static void attr_judge(const struct keel_attr_def *was, const struct modfile_module *now)
{
	const struct keel_attr_def *is = row_like(now, "ATTR", was, same_attr);

	if (is == NULL || !(was->flags & KEEL_ATTR_SAVE))
		return; /* values of a row that is gone stay in the store */
	if (strcmp(is->type, was->type) != 0)
		finding(RULE_static_upgrade, "values of %s.%s are stored as %s, it is of the type %s now", was->klass, was->name,
			was->type, is->type);
	if (!(is->flags & KEEL_ATTR_SAVE))
		finding(RULE_static_upgrade, "values of %s.%s are stored, now they are not kept", was->klass, was->name);
}

static void class_judge(const struct keel_class_def *was, const struct modfile_module *now)
{
	const struct keel_class_def *is = row_like(now, "CLASS", was, same_class);

	if (is != NULL && (was->flags & KEEL_CLASS_SAVE) && !(is->flags & KEEL_CLASS_SAVE))
		finding(RULE_static_upgrade, "objects of the class %s are stored, now they are not kept", was->name);
}

static const struct keel_conf_rule *key_of(const struct modfile_module *m, const char *key)
{
	for (uint32_t i = 0; i < m->head.n_conf; i++)
		if (strcmp(m->conf[i].key, key) == 0)
			return &m->conf[i];
	return NULL;
}

static void keys_judge(const struct modfile_module *was, const struct modfile_module *now)
{
	for (uint32_t i = 0; i < was->head.n_conf; i++) {
		const struct keel_conf_rule *is = key_of(now, was->conf[i].key);

		if (is == NULL)
			finding(RULE_static_upgrade, "a configuration with the key '%s' is refused now", was->conf[i].key);
		else if (is->type != was->conf[i].type)
			finding(RULE_static_upgrade, "the key '%s' has another type now", is->key);
	}
	for (uint32_t i = 0; i < now->head.n_conf; i++) {
		const struct keel_conf_rule *had = key_of(was, now->conf[i].key);

		if ((now->conf[i].flags & KEEL_CONF_REQUIRED) && !(had != NULL && (had->flags & KEEL_CONF_REQUIRED)))
			finding(RULE_static_upgrade, "a configuration without the key '%s' is refused now", now->conf[i].key);
	}
}

static void judge(const struct modfile_module *was, const struct modfile_module *now)
{
	for (uint32_t i = 0; i < was->head.n_contribs; i++) {
		const struct modfile_contrib *row = &was->contribs[i];

		if (row->def != NULL && strcmp(row->kind, "ATTR") == 0)
			attr_judge(row->def, now);
		else if (row->def != NULL && strcmp(row->kind, "CLASS") == 0)
			class_judge(row->def, now);
	}
	keys_judge(was, now);
}

const char *upgrade_objection(const char *before)
{
	static char why[MODFILE_WHY_MAX];
	struct modfile_module *was = modfile_read(before, why);

	modfile_module_free(was);
	return was == NULL ? why : NULL;
}

void check_upgrade(const char *before, const char *now)
{
	char why[MODFILE_WHY_MAX];
	struct modfile_module *was = modfile_read(before, why), *is = was == NULL ? NULL : modfile_read(now, why);

	look(RULE_static_upgrade);
	if (is == NULL)
		finding(RULE_static_upgrade, "%s: %s", was == NULL ? before : now, why);
	else
		judge(was, is);
	modfile_module_free(was);
	modfile_module_free(is);
}
