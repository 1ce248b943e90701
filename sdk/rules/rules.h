/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.h - configuration by rules: one value, from a setting of libconfig or from text, into the member of a struct, and
 * the words about it. What a file is and which group belongs to whom is the host's.
 */
#ifndef KEELSON_RULES_H
#define KEELSON_RULES_H

#include "keel/module.h"

struct config_setting_t;

/* A filled struct: the strings and lists it points to are freed with it. */
struct conf_data {
	char *bytes;
	void **owned;
	uint32_t n_owned;
	uint32_t size;
};
struct conf_data *conf_data_create(uint32_t size); /* zeroed; NULL: no memory */
const void *conf_data(const struct conf_data *d);
void conf_data_destroy(struct conf_data *d); /* NULL is fine */
/* The first key whose values differ and whose rule has all of `flags` (enum keel_conf_flag); NULL: none. */
const char *conf_differs(const struct keel_conf_rule *rules, uint32_t n_rules,
			 const struct conf_data *a, const struct conf_data *b, uint32_t flags);

/* Row i of a table whose rows may be of another size; missing fields are zero. */
struct keel_conf_rule rule_at(const struct keel_conf_rule *rules, uint32_t i);
/* Bytes that a value of this type takes; 0: no such type. */
uint32_t rule_width(const struct keel_conf_rule *r);

/* Convert into the member at d->bytes + r->offset. -EINVAL: not of that type, -ERANGE: out of range,
 * -ENOMEM. */
int value_from_setting(const struct keel_conf_rule *r, const struct config_setting_t *s, struct conf_data *d);
int value_from_text(const struct keel_conf_rule *r, const char *text, struct conf_data *d);

/* For sentences; cut where they would be longer. */
#define VALUE_WORDS 512
/* "integer from 1 to 100" */
const char *value_expected(const struct keel_conf_rule *r, char words[VALUE_WORDS]);
/* What was found instead: a number, "text", "a group" ... */
const char *value_got(const struct config_setting_t *s, char words[VALUE_WORDS]);

#endif
