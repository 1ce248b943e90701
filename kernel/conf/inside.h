/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 */
#ifndef KEELSON_CONF_INSIDE_H
#define KEELSON_CONF_INSIDE_H

#include <libconfig.h>

#include "conf/conf.h"
#include "wire/buf.h"

struct conf_file {
	char *path;
	config_t parsed; /* the root's hook is the path */
};

struct conf {
	struct conf_file **files; /* files[0] is the main one; settings point into them */
	uint32_t n_files;
	uint32_t n_settings; /* in all of them */
	struct conf_module *modules; /* strings owned, except path: it is the parser's */
	uint32_t n_modules;
	config_t overrides; /* groups that are in no file */
};

/* Returns whether it is the text of an override: it has a hook, as roots have. */
static inline bool is_override(const config_setting_t *s)
{
	return config_setting_parent(s) != NULL && config_setting_get_hook(s) != NULL;
}

/* "file:line" of a setting, or "override"; the caller frees it. NULL: no memory. */
char *conf_place(const config_setting_t *s);
/* The error "place of `s`: ...". Returns -EINVAL, or -ENOMEM. */
int conf_refuse(struct keel_err *err, const config_setting_t *s, const char *fmt, ...) KEEL_PRINTF(3, 4);
/* Returns the group called `group` ("": the top level of the main file); NULL: there is none. */
config_setting_t *conf_group(const struct conf *c, const char *group);
/* bounds.c: returns -EINVAL with "file:line: ..." for what must not reach the parser. `text` is terminated. */
int conf_bounds(struct conf *c, const char *path, const char *text, size_t len, struct keel_err *err);
/* group.c: reads `enabled`, `required` and `path` into *m. Returns 0, or an error with *err. */
int conf_module_keys(const config_setting_t *s, struct conf_module *m, struct keel_err *err);
/* fill.c: as conf_fill_member(), of this setting; NULL: all defaults. */
int conf_fill_setting(const struct conf *c, const char *module, const char *member, const config_setting_t *s,
		      const struct keel_conf_rule *rules, uint32_t n_rules, uint32_t size, struct conf_data **ret_data,
		      struct keel_err *err);

#endif
