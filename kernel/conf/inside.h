/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 */
#ifndef KEELSON_CONF_INSIDE_H
#define KEELSON_CONF_INSIDE_H

#include <libconfig.h>

#include "conf/conf.h"
#include "util/buf.h"

struct conf_file {
	char *path;
	config_t parsed;
};

struct conf_override {
	char *group, *key, *value; /* owned; group "" is the top level */
};

struct conf {
	struct conf_file **files; /* files[0] is the main one; settings point into them, they stay put */
	uint32_t n_files;
	struct conf_module *modules; /* strings owned, except path: it is the parser's */
	uint32_t n_modules;
	struct conf_override *overrides;
	uint32_t n_overrides;
};

/* A filled struct: the strings and lists it points to are freed with it. */
struct conf_data {
	char *bytes;
	void **owned;
	uint32_t n_owned;
	uint32_t size;
};

/* "file:line" of a setting, appended; NULL: "override". */
void conf_where(const struct conf *c, const config_setting_t *s, struct buf *out);
char *conf_place(const struct conf *c, const config_setting_t *s); /* the same, malloc'ed */
/* A sentence that begins so and says why not; -EINVAL, or -ENOMEM, in place of returning it oneself. */
void refusal_begin(struct buf *out, const struct conf *c, const config_setting_t *s);
int refusal_tell(struct buf *out, struct keel_err *err);
/* The group called `group` ("" the top level of the main file); NULL: not written anywhere. */
const config_setting_t *conf_group(const struct conf *c, const char *group);
/* The last override of the key; NULL: none. */
const struct conf_override *conf_overridden(const struct conf *c, const char *group, const char *key);

/* conf_fill() of some keys of a group, whatever else is in it; of the group `member` inside a module's group. */
int conf_fill_some(const struct conf *c, const char *group, const struct keel_conf_rule *rules,
		   uint32_t n_rules, uint32_t size, struct conf_data **ret_data, struct keel_err *err);
int conf_fill_member(const struct conf *c, const char *module, const char *member,
		     const struct keel_conf_rule *rules, uint32_t n_rules, uint32_t size,
		     struct conf_data **ret_data, struct keel_err *err);
/* keys.c */
/* Those that say something of the module itself, into *m. */
int conf_module_keys(const struct conf *c, const config_setting_t *s, struct conf_module *m,
		     struct keel_err *err);
/* -EINVAL with "file:line: key: expected ..., got ...". */
int conf_refuse(const struct conf *c, const config_setting_t *s, const char *key, const char *expected,
		struct keel_err *err);

/* Row i of a table whose rows may be of another size; missing fields are zero. */
struct keel_conf_rule rule_at(const struct keel_conf_rule *rules, uint32_t i);
/* Bytes that a value of this type takes; 0: no such type. */
uint32_t rule_width(const struct keel_conf_rule *r);

/* Convert into the member at d->bytes + r->offset. -EINVAL: not of that type, -ERANGE: out of range,
 * -ENOMEM. */
int value_from_setting(const struct keel_conf_rule *r, const config_setting_t *s, struct conf_data *d);
int value_from_text(const struct keel_conf_rule *r, const char *text, struct conf_data *d);
/* "integer from 1 to 100", appended. */
void value_expected(const struct keel_conf_rule *r, struct buf *out);
/* What was found instead: a number, "text", "a group" ..., appended. */
void value_got(const config_setting_t *s, struct buf *out);

#endif
