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
	config_t parsed;
};

struct conf_override {
	char *group, *key, *value; /* owned; group "" is the top level */
};

struct conf {
	struct conf_file **files; /* files[0] is the main one; settings point into them */
	uint32_t n_files;
	uint32_t n_settings; /* in all of them */
	struct conf_module *modules; /* strings owned, except path: it is the parser's */
	uint32_t n_modules;
	struct conf_override *overrides;
	uint32_t n_overrides;
};

/* "file:line" of a setting, appended; NULL: "override". */
void conf_where(const struct conf *c, const config_setting_t *s, struct buf *out);
char *conf_place(const struct conf *c, const config_setting_t *s); /* the same; the caller frees it */
/* An error text that begins with the place of `s`; refusal_end() moves it to *err and returns -EINVAL or -ENOMEM. */
void refusal_begin(struct buf *out, const struct conf *c, const config_setting_t *s);
int refusal_end(struct buf *out, struct keel_err *err);
/* Returns the group called `group` ("": the top level of the main file); NULL: in no file. */
const config_setting_t *conf_group(const struct conf *c, const char *group);
struct conf_module *conf_module_find(const struct conf *c, const char *name);
/* Adds an enabled module; `where` is copied. NULL: no memory. */
struct conf_module *conf_module_add(struct conf *c, const char *name, const char *where);
/* bounds.c: returns -EINVAL with "file:line: ..." for what must not reach the parser. `text` is terminated. */
int conf_bounds(struct conf *c, const char *path, const char *text, size_t len, struct keel_err *err);
/* override.c: returns the last override of the key; NULL: none. */
const struct conf_override *conf_overridden(const struct conf *c, const char *group, const char *key);

/* keys.c */
/* Read `enabled`, `required` and `path` into *m. Returns 0, or an error with *err. */
int conf_module_keys(const struct conf *c, const config_setting_t *s, struct conf_module *m,
		     struct keel_err *err);
/* Returns -EINVAL with the error "file:line: key: expected ..., got ...". */
int conf_refuse(const struct conf *c, const config_setting_t *s, const char *key, const char *expected,
		struct keel_err *err);

#endif
