/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.h - configuration by rules: converts a setting of libconfig or a text into the member of a struct; the words
 * for errors. Files and the owners of groups are the host's concern.
 */
#ifndef KEELSON_RULES_H
#define KEELSON_RULES_H

#include "keel/module.h"

struct config_setting_t;

/* A filled struct; owns the strings and lists it points to. */
struct conf_data {
	char *bytes;
	void **owned;
	uint32_t n_owned;
	uint32_t size;
};
struct conf_data *conf_data_create(uint32_t size); /* zeroed; NULL: out of memory */
const void *conf_data(const struct conf_data *d);
void conf_data_destroy(struct conf_data *d); /* d may be NULL */
/* Returns the first key whose values differ and whose rule has all of `flags` (enum keel_conf_flag); NULL: none. */
const char *conf_differs(const struct keel_conf_rule *rules, uint32_t n_rules,
			 const struct conf_data *a, const struct conf_data *b, uint32_t flags);

/* Returns row i of a table whose rows may be of another size; missing fields are zero. */
struct keel_conf_rule rule_at(const struct keel_conf_rule *rules, uint32_t i);
/* Returns the size of a value of this type; 0: no such type. */
uint32_t rule_width(const struct keel_conf_rule *r);

/* Converts into the member at d->bytes + r->offset. Returns 0; -EINVAL: not of that type; -ERANGE: out of range;
 * or -ENOMEM. */
int value_from_setting(const struct keel_conf_rule *r, const struct config_setting_t *s, struct conf_data *d);
int value_from_text(const struct keel_conf_rule *r, const char *text, struct conf_data *d);

/* For errors; longer words are truncated. */
#define VALUE_WORDS 512
/* "integer from 1 to 100" */
const char *value_expected(const struct keel_conf_rule *r, char words[VALUE_WORDS]);
/* What was found instead: a number, "text", "a group" ... */
const char *value_got(const struct config_setting_t *s, char words[VALUE_WORDS]);

#endif
