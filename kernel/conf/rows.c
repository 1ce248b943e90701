/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.c - rows of words in a module's group, each with the place where it was said:
 *   order = ( { tap = "on_submit"; order = 5; before = "..."; after = "..."; }, ... )
 *           the site's order of a tap, instead of the module's
 *   match = { queue = "^gpu"; user = "..."; }
 *           which objects its taps are for. Only read here; kernel/hook checks scopes and patterns.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"

/* Allocates *ret_n zeroed rows of `size`, one per element of `key`. Returns 0, or -ENOMEM with *err. */
static int rows_begin(const struct conf *c, const char *module, const char *key, size_t size, void **ret_rows,
		      const config_setting_t **ret_said, uint32_t *ret_n, struct keel_err *err)
{
	const config_setting_t *group = conf_group(c, module);

	*ret_said = group != NULL ? config_setting_get_member(group, key) : NULL;
	*ret_n = *ret_said != NULL ? (uint32_t)config_setting_length(*ret_said) : 0;
	*ret_rows = *ret_n > 0 ? calloc(*ret_n, size) : NULL;
	return *ret_n > 0 && *ret_rows == NULL ? conf_no_memory(err) : 0;
}

/* ---- order -------------------------------------------------------------------------------------------- */
#define ORDER_MIN (-1000)
#define ORDER_MAX 1000

static const struct order_key {
	const char *key;
	int type;
	const char *expected;
} keys[] = {
	{ "tap", CONFIG_TYPE_STRING, "the name of a tap" },
	{ "order", CONFIG_TYPE_INT, "integer from -1000 to 1000" },
	{ "before", CONFIG_TYPE_STRING, "a comma list of modules and module.taps" },
	{ "after", CONFIG_TYPE_STRING, "a comma list of modules and module.taps" },
};

static const struct order_key *key_find(const char *name)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].key, name) == 0)
			return &keys[i];
	return NULL;
}

static int key_check(const struct conf *c, const config_setting_t *s, struct keel_err *err)
{
	const struct order_key *k = key_find(config_setting_name(s));
	int at;

	if (k == NULL)
		return conf_refuse(c, s, config_setting_name(s), "tap, order, before or after", err);
	if (config_setting_type(s) != k->type)
		return conf_refuse(c, s, k->key, k->expected, err);
	at = k->type == CONFIG_TYPE_INT ? config_setting_get_int(s) : 0;
	return at >= ORDER_MIN && at <= ORDER_MAX ? 0 : conf_refuse(c, s, k->key, k->expected, err);
}

/* Copies a string member to *ret, NULL when it is missing. Returns false without memory. */
static bool copy(const config_setting_t *s, const char *key, char **ret)
{
	const config_setting_t *found = config_setting_get_member(s, key);

	*ret = found != NULL ? strdup(config_setting_get_string(found)) : NULL;
	return found == NULL || *ret != NULL;
}

static int order_fill(const struct conf *c, const config_setting_t *s, struct conf_order *row, struct keel_err *err)
{
	const config_setting_t *order = config_setting_get_member(s, "order");
	bool ok = copy(s, "tap", &row->tap) & copy(s, "before", &row->before) & copy(s, "after", &row->after);

	row->has_order = order != NULL;
	row->order = order != NULL ? config_setting_get_int(order) : 0;
	row->where = conf_place(c, s);
	return ok && row->where != NULL ? 0 : conf_no_memory(err);
}

static int order_read(const struct conf *c, const config_setting_t *s, struct conf_order *row,
		    struct keel_err *err)
{
	int ret = 0;

	if (!config_setting_is_group(s))
		return conf_refuse(c, s, "order", "a group { tap = ...; order = ...; }", err);
	for (int i = 0; i < config_setting_length(s) && ret == 0; i++)
		ret = key_check(c, config_setting_get_elem(s, (unsigned)i), err);
	if (ret == 0 && config_setting_get_member(s, "tap") == NULL)
		return conf_refuse(c, s, "order", "a group with the name of a tap, tap = \"...\"", err);
	return ret == 0 ? order_fill(c, s, row, err) : ret;
}

int conf_orders(const struct conf *c, const char *module, struct conf_order **ret_rows, uint32_t *ret_n,
		struct keel_err *err)
{
	const config_setting_t *said;
	struct conf_order *rows;
	int ret = rows_begin(c, module, "order", sizeof(*rows), (void **)&rows, &said, ret_n, err);

	for (uint32_t i = 0; i < *ret_n && ret == 0; i++)
		ret = order_read(c, config_setting_get_elem(said, i), &rows[i], err);
	if (ret < 0)
		conf_orders_free(rows, *ret_n);
	else
		*ret_rows = rows;
	return ret;
}

void conf_orders_free(struct conf_order *rows, uint32_t n)
{
	for (uint32_t i = 0; rows != NULL && i < n; i++) {
		free(rows[i].tap);
		free(rows[i].before);
		free(rows[i].after);
		free(rows[i].where);
	}
	free(rows);
}

/* ---- match -------------------------------------------------------------------------------------------- */
static int match_read(const struct conf *c, const config_setting_t *s, struct keel_match *row,
		      struct keel_err *err)
{
	if (config_setting_type(s) != CONFIG_TYPE_STRING)
		return conf_refuse(c, s, config_setting_name(s), "a pattern, \"...\"", err);
	row->where = conf_place(c, s);
	row->scope = strdup(config_setting_name(s));
	row->pattern = strdup(config_setting_get_string(s));
	return row->where != NULL && row->scope != NULL && row->pattern != NULL ?
		       0 :
		       conf_no_memory(err);
}

int conf_matches(const struct conf *c, const char *module, struct keel_match **ret_rows,
		 uint32_t *ret_n, struct keel_err *err)
{
	const config_setting_t *said;
	struct keel_match *rows;
	int ret = rows_begin(c, module, "match", sizeof(*rows), (void **)&rows, &said, ret_n, err);

	for (uint32_t i = 0; i < *ret_n && ret == 0; i++)
		ret = match_read(c, config_setting_get_elem(said, i), &rows[i], err);
	if (ret < 0)
		conf_matches_free(rows, *ret_n);
	else
		*ret_rows = rows;
	return ret;
}

void conf_matches_free(struct keel_match *rows, uint32_t n)
{
	for (uint32_t i = 0; rows != NULL && i < n; i++) {
		free(rows[i].scope);
		free(rows[i].pattern);
		free(rows[i].where);
	}
	free(rows);
}
