/* SPDX-License-Identifier: Apache-2.0
 *
 * keys.c - the keys of a module's group that are the kernel's, not the module's.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/inside.h"

/* `scalar`: a single value, which an override may set, too. */
static const struct kernel_key {
	const char *key;
	bool scalar;
	int type; /* of libconfig */
	const char *expected;
} keys[] = {
#define GROUP_KEY(name, scalar, type, expected) { #name, scalar, CONFIG_TYPE_##type, expected },
#include "modfile/group_keys.def"
#undef GROUP_KEY
};

bool conf_kernel_key(const char *key, bool by_override)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].key, key) == 0)
			return keys[i].scalar || !by_override;
	return false;
}

const char *conf_kernel_key_like(const char *key)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncasecmp(keys[i].key, key, 4) == 0)
			return keys[i].key;
	return NULL;
}

int conf_refuse(const struct conf *c, const config_setting_t *s, const char *key, const char *expected,
		struct keel_err *err)
{
	char words[VALUE_WORDS];
	struct buf text;

	refusal_begin(&text, c, s);
	buf_printf(&text, ": %s: expected %s, got %s", key, expected, value_got(s, words));
	return refusal_end(&text, err);
}

static int key_check(const struct conf *c, const config_setting_t *s, const struct kernel_key *k,
		     const char *module, struct keel_err *err)
{
	const config_setting_t *found = config_setting_get_member(s, k->key);
	char key[256];

	if (found == NULL || config_setting_type(found) == k->type)
		return 0;
	snprintf(key, sizeof(key), "%s.%s", module, k->key);
	return conf_refuse(c, found, key, k->expected, err);
}

static bool flag(const config_setting_t *s, const char *key)
{
	const config_setting_t *found = config_setting_get_member(s, key);

	return found == NULL || config_setting_get_bool(found);
}

int conf_module_keys(const struct conf *c, const config_setting_t *s, struct conf_module *m,
		     struct keel_err *err)
{
	const config_setting_t *path = config_setting_get_member(s, "path");
	int ret = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && ret == 0; i++)
		ret = key_check(c, s, &keys[i], m->name, err);
	if (ret < 0)
		return ret;
	m->enabled = m->by_file = flag(s, "enabled");
	m->required = flag(s, "required");
	m->path = path == NULL ? NULL : config_setting_get_string(path);
	return 0;
}
