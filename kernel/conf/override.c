/* SPDX-License-Identifier: Apache-2.0
 *
 * override.c - values from a command line, `--set group.key=value`: they take the place of those of the files. Their
 * hook marks them; a group that no file has is in a tree of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"

/* An override of `enabled`, `required` or `path` changes the list of modules at once. */
static int module_override(struct conf *c, const char *group, const char *key, const char *text, struct keel_err *err)
{
	static const struct keel_conf_rule rule = { .size = sizeof(rule), .type = KEEL_CONF_BOOL };
	struct conf_module *m = conf_module(c, group);
	bool value = false;
	struct conf_data d = { .bytes = (char *)&value };
	bool is_enabled = strcmp(key, "enabled") == 0, is_path = strcmp(key, "path") == 0;

	if (!is_enabled && (m == NULL || (!is_path && strcmp(key, "required") != 0)))
		return 0;
	if (!is_path && value_from_text(&rule, text, &d) < 0)
		return err_set(err, -EINVAL, "override: %s.%s: expected true or false, got \"%s\"", group, key, text);
	if (m == NULL)
		m = conf_module_add(c, group, "override");
	if (m == NULL)
		return conf_no_memory(err);
	if (is_path)
		m->path = text;
	else if (is_enabled)
		m->enabled = value;
	else
		m->required = value;
	return 0;
}

int conf_override(struct conf *c, const char *assignment, struct keel_err *err)
{
	const char *equals = strchr(assignment, '='),
		   *point = equals != NULL ? memchr(assignment, '.', (size_t)(equals - assignment)) : NULL,
		   *begin = point != NULL ? point + 1 : assignment;
	char *group = strndup(assignment, point != NULL ? (size_t)(point - assignment) : 0);
	char *key = strndup(begin, equals != NULL ? (size_t)(equals - begin) : 0);
	config_setting_t *to = NULL, *s = NULL;
	int ret = 0;

	if (group == NULL || key == NULL)
		ret = conf_no_memory(err);
	else if (equals != NULL && (point == NULL || point > assignment))
		to = conf_group(c, group);
	if (to == NULL && ret == 0 && equals != NULL)
		to = config_setting_add(config_root_setting(&c->overrides), group, CONFIG_TYPE_GROUP);
	if (to != NULL) {
		config_setting_remove(to, key);
		s = config_setting_add(to, key, CONFIG_TYPE_STRING);
	}
	if (s != NULL && config_setting_set_string(s, equals + 1)) {
		config_setting_set_hook(s, c);
		ret = point != NULL ? module_override(c, group, key, config_setting_get_string(s), err) : 0;
	} else if (ret == 0) { /* the parser knows what may be a name */
		ret = err_set(err, -EINVAL, "override: expected key=value or group.key=value, got \"%s\"", assignment);
	}
	free(group);
	free(key);
	return ret;
}
