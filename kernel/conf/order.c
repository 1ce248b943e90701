/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - `order = ( { tap = "on_submit"; order = 5; before = "..."; after = "..."; }, ... )` of a
 * module's group: the site's word on where a tap stands, instead of the module's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"

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

/* A copy of a string member in *ret, NULL when it is not there. False: no memory. */
static bool copy(const config_setting_t *s, const char *key, char **ret)
{
	const config_setting_t *found = config_setting_get_member(s, key);

	*ret = found != NULL ? strdup(config_setting_get_string(found)) : NULL;
	return found == NULL || *ret != NULL;
}

static int row_fill(const struct conf *c, const config_setting_t *s, struct conf_order *row,
		    struct keel_err *err)
{
	const config_setting_t *order = config_setting_get_member(s, "order");
	struct buf where;
	bool ok;

	row->has_order = order != NULL;
	row->order = order != NULL ? config_setting_get_int(order) : 0;
	buf_init(&where);
	conf_where(c, s, &where);
	row->where = buf_take(&where, NULL);
	ok = copy(s, "tap", &row->tap) & copy(s, "before", &row->before) &
	     copy(s, "after", &row->after);
	return ok && row->where != NULL ? 0 : err_set(err, -ENOMEM, "configuration: no memory");
}

static int row_read(const struct conf *c, const config_setting_t *s, struct conf_order *row,
		    struct keel_err *err)
{
	int ret = 0;

	if (!config_setting_is_group(s))
		return conf_refuse(c, s, "order", "a group { tap = ...; order = ...; }", err);
	for (int i = 0; i < config_setting_length(s) && ret == 0; i++)
		ret = key_check(c, config_setting_get_elem(s, (unsigned)i), err);
	if (ret == 0 && config_setting_get_member(s, "tap") == NULL)
		return conf_refuse(c, s, "order", "a group with the name of a tap, tap = \"...\"", err);
	return ret == 0 ? row_fill(c, s, row, err) : ret;
}

int conf_orders(const struct conf *c, const char *module, struct conf_order **ret_rows, uint32_t *ret_n,
		struct keel_err *err)
{
	const config_setting_t *group = conf_group(c, module);
	const config_setting_t *s = group ? config_setting_get_member(group, "order") : NULL;
	uint32_t n = s != NULL ? (uint32_t)config_setting_length(s) : 0;
	struct conf_order *rows = n > 0 ? calloc(n, sizeof(*rows)) : NULL;
	int ret = 0;

	if (n > 0 && rows == NULL)
		return err_set(err, -ENOMEM, "configuration: no memory");
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = row_read(c, config_setting_get_elem(s, i), &rows[i], err);
	if (ret < 0) {
		conf_orders_free(rows, n);
		return ret;
	}
	*ret_rows = rows;
	*ret_n = n;
	return 0;
}

void conf_orders_free(struct conf_order *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(rows[i].tap);
		free(rows[i].before);
		free(rows[i].after);
		free(rows[i].where);
	}
	free(rows);
}
