/* SPDX-License-Identifier: Apache-2.0
 *
 * check_upgrade.c - rows of two releases side by side: what is stored, what is configured.
 */
#include <string.h>

#include "check_report.h"
#include "check_static.h"
#include "words.h"

/* The row of `m` of the same name, and of the same class if it has one; NULL: there is none any more. */
static const void *row_like(const struct modfile_module *m, const struct modfile_contrib *c)
{
	const char *klass = contrib_class(c);

	for (const struct modfile_contrib *other = m->contribs; other < m->contribs + m->head.n_contribs; other++)
		if (other->def != NULL && strcmp(other->kind, c->kind) == 0 && strcmp(contrib_title(other), contrib_title(c)) == 0 &&
		    (klass == NULL || strcmp(contrib_class(other), klass) == 0))
			return other->def;
	return NULL;
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

/* Values of a row that is gone stay in the store. */
static void rows_judge(const struct modfile_module *was, const struct modfile_module *now)
{
	for (const struct modfile_contrib *row = was->contribs; row < was->contribs + was->head.n_contribs; row++) {
		const void *like = row->def != NULL ? row_like(now, row) : NULL;
		const struct keel_class_def *had = row->def, *has = like;
		const struct keel_attr_def *a = row->def, *is = like;

		if (like == NULL)
			continue;
		if (strcmp(row->kind, "CLASS") == 0 && (had->flags & KEEL_CLASS_SAVE) && !(has->flags & KEEL_CLASS_SAVE))
			finding(RULE_static_upgrade, "objects of the class %s are stored, now they are not kept", had->name);
		if (strcmp(row->kind, "ATTR") != 0 || !(a->flags & KEEL_ATTR_SAVE))
			continue;
		if (strcmp(is->type, a->type) != 0)
			finding(RULE_static_upgrade, "values of %s.%s are stored as %s, it is of the type %s now", a->klass, a->name,
				a->type, is->type);
		if (!(is->flags & KEEL_ATTR_SAVE))
			finding(RULE_static_upgrade, "values of %s.%s are stored, now they are not kept", a->klass, a->name);
	}
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
	if (is == NULL) {
		finding(RULE_static_upgrade, "%s: %s", was == NULL ? before : now, why);
	} else {
		rows_judge(was, is);
		keys_judge(was, is);
	}
	modfile_module_free(was);
	modfile_module_free(is);
}
