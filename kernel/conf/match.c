/* SPDX-License-Identifier: Apache-2.0
 *
 * match.c - `match = { queue = "^gpu"; user = "..."; }` of a module's group: which objects its taps are
 * for. Here only words; scopes and patterns are the hook engine's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"

static int row_read(const struct conf *c, const config_setting_t *s, struct conf_match *row,
		    struct keel_err *err)
{
	struct buf where;

	if (config_setting_type(s) != CONFIG_TYPE_STRING)
		return conf_refuse(c, s, config_setting_name(s), "a pattern, \"...\"", err);
	buf_init(&where);
	conf_where(c, s, &where);
	row->where = buf_take(&where, NULL);
	row->scope = strdup(config_setting_name(s));
	row->pattern = strdup(config_setting_get_string(s));
	return row->where != NULL && row->scope != NULL && row->pattern != NULL ?
		       0 :
		       err_set(err, -ENOMEM, "configuration: no memory");
}

int conf_matches(const struct conf *c, const char *module, struct conf_match **ret_rows,
		 uint32_t *ret_n, struct keel_err *err)
{
	const config_setting_t *group = conf_group(c, module);
	const config_setting_t *s = group ? config_setting_get_member(group, "match") : NULL;
	uint32_t n = s != NULL ? (uint32_t)config_setting_length(s) : 0;
	struct conf_match *rows = n > 0 ? calloc(n, sizeof(*rows)) : NULL;
	int ret = 0;

	if (n > 0 && rows == NULL)
		return err_set(err, -ENOMEM, "configuration: no memory");
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = row_read(c, config_setting_get_elem(s, i), &rows[i], err);
	if (ret < 0) {
		conf_matches_free(rows, n);
		return ret;
	}
	*ret_rows = rows;
	*ret_n = n;
	return 0;
}

void conf_matches_free(struct conf_match *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(rows[i].scope);
		free(rows[i].pattern);
		free(rows[i].where);
	}
	free(rows);
}
