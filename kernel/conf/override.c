/* SPDX-License-Identifier: Apache-2.0
 *
 * override.c - values from a command line, `--set group.key=value`: they take precedence over the files.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"

const struct conf_override *conf_overridden(const struct conf *c, const char *group, const char *key)
{
	for (uint32_t i = c->n_overrides; i > 0; i--)
		if (strcmp(c->overrides[i - 1].group, group) == 0 &&
		    strcmp(c->overrides[i - 1].key, key) == 0)
			return &c->overrides[i - 1];
	return NULL;
}

static bool is_name(const char *text, size_t len)
{
	if (len == 0 || !isalpha((unsigned char)text[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
			return false;
	return true;
}

static int bad_assignment(const char *assignment, struct keel_err *err)
{
	return err_set(err, -EINVAL, "override: expected key=value or group.key=value, got \"%s\"",
		       assignment);
}

/* An override of `enabled`, `required` or `path` changes the list of modules at once. */
static int module_override(struct conf *c, const struct conf_override *o, struct keel_err *err)
{
	static const struct keel_conf_rule rule = { .size = sizeof(rule), .type = KEEL_CONF_BOOL };
	struct conf_module *m = conf_module(c, o->group);
	bool value = false;
	struct conf_data d = { .bytes = (char *)&value };
	bool is_enabled = strcmp(o->key, "enabled") == 0, is_path = strcmp(o->key, "path") == 0;

	if (!is_enabled && (m == NULL || (!is_path && strcmp(o->key, "required") != 0)))
		return 0;
	if (!is_path && value_from_text(&rule, o->value, &d) < 0)
		return err_set(err, -EINVAL, "override: %s.%s: expected true or false, got \"%s\"",
			       o->group, o->key, o->value);
	if (m == NULL)
		m = conf_module_add(c, o->group, "override");
	if (m == NULL)
		return conf_no_memory(err);
	if (is_path)
		m->path = o->value;
	else if (is_enabled)
		m->enabled = value;
	else
		m->required = value;
	return 0;
}

int conf_override(struct conf *c, const char *assignment, struct keel_err *err)
{
	const char *equals = strchr(assignment, '='), *point, *key = assignment;
	struct conf_override *list, *o;
	size_t group_len = 0, key_len;

	if (equals == NULL)
		return bad_assignment(assignment, err);
	point = memchr(assignment, '.', (size_t)(equals - assignment));
	if (point != NULL) {
		group_len = (size_t)(point - assignment);
		key = point + 1;
	}
	key_len = (size_t)(equals - key);
	if (!is_name(key, key_len) || (point != NULL && !is_name(assignment, group_len)))
		return bad_assignment(assignment, err);
	list = reallocarray(c->overrides, c->n_overrides + 1, sizeof(*list));
	if (list == NULL)
		return conf_no_memory(err);
	c->overrides = list;
	o = &list[c->n_overrides++];
	*o = (struct conf_override){ strndup(assignment, group_len), strndup(key, key_len),
				     strdup(equals + 1) };
	if (o->group == NULL || o->key == NULL || o->value == NULL)
		return conf_no_memory(err);
	return group_len == 0 ? 0 : module_override(c, o, err);
}
