/* SPDX-License-Identifier: Apache-2.0
 *
 * site.c - what a site says of where a module's taps stand: `order = ( { tap = "on_submit"; order = 5; }, ... );`.
 */
#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

struct site_order {
	char *tap, *before, *after; /* before, after: NULL: as the module says */
	bool has_order;
	int32_t order;
};

int conf_refuse(const config_setting_t *s, const char *key, const char *expected, struct keel_err *err)
{
	char words[VALUE_WORDS];

	return err_set(err, -EINVAL, "conf:%u: %s: expected %s, got %s", config_setting_source_line(s), key, expected,
		       value_got(s, words));
}

static int key_check(const config_setting_t *s, struct keel_err *err)
{
	static const struct {
		const char *key;
		int type;
		const char *expected;
	} keys[] = {
		{ "tap", CONFIG_TYPE_STRING, "the name of a tap" },
		{ "order", CONFIG_TYPE_INT, "integer from -1000 to 1000" },
		{ "before", CONFIG_TYPE_STRING, "a comma list of modules and module.taps" },
		{ "after", CONFIG_TYPE_STRING, "a comma list of modules and module.taps" },
	};
	const char *name = config_setting_name(s);

	for (size_t i = 0; i < KEEL_COUNT(keys); i++) {
		int at;

		if (strcmp(keys[i].key, name) != 0)
			continue;
		at = keys[i].type == CONFIG_TYPE_INT ? config_setting_get_int(s) : 0;
		return config_setting_type(s) == keys[i].type && at >= -1000 && at <= 1000 ?
			       0 : conf_refuse(s, name, keys[i].expected, err);
	}
	return conf_refuse(s, name, "tap, order, before or after", err);
}

static char *text_of(const config_setting_t *s, const char *key)
{
	const config_setting_t *found = config_setting_get_member(s, key);

	return found != NULL ? dup_text(config_setting_get_string(found)) : NULL;
}

static bool has_tap(const struct keel_module *d, const char *name)
{
	for (uint32_t i = 0; i < d->n_taps; i++)
		if (strcmp(tap_row_at(d, i).name, name) == 0)
			return true;
	return false;
}

static int refuse_tap(const struct keel_module *d, const config_setting_t *s, const char *tap, struct keel_err *err)
{
	struct text names = { 0 };

	for (uint32_t i = 0; i < d->n_taps; i++)
		text_put(&names, "%s%s", i > 0 ? ", " : "", tap_row_at(d, i).name);
	err_set(err, -EINVAL, "conf:%u: %s.order: module %s has no tap \"%s\" (it has %s)",
		config_setting_source_line(s), d->name, d->name, tap, names.data != NULL ? names.data : "none");
	free(names.data);
	return -EINVAL;
}

static int order_read(const struct keel_module *d, const config_setting_t *s, struct block *b, struct keel_err *err)
{
	const config_setting_t *order;
	struct site_order *o;
	int ret = 0;

	if (!config_setting_is_group(s))
		return conf_refuse(s, "order", "a group { tap = ...; order = ...; }", err);
	for (int i = 0; i < config_setting_length(s) && ret == 0; i++)
		ret = key_check(config_setting_get_elem(s, (unsigned)i), err);
	if (ret != 0)
		return ret;
	if (config_setting_get_member(s, "tap") == NULL)
		return conf_refuse(s, "order", "a group with the name of a tap, tap = \"...\"", err);
	order = config_setting_get_member(s, "order");
	b->orders = enlarge(b->orders, (b->n_orders + 1) * sizeof(*b->orders));
	o = &b->orders[b->n_orders++];
	*o = (struct site_order){ .tap = text_of(s, "tap"), .before = text_of(s, "before"), .after = text_of(s, "after"),
				  .has_order = order != NULL,
				  .order = order != NULL ? config_setting_get_int(order) : 0 };
	return has_tap(d, o->tap) ? 0 : refuse_tap(d, s, o->tap, err);
}

int site_read(const struct keel_module *d, const void *group, struct block *b, struct keel_err *err)
{
	const config_setting_t *s = config_setting_get_member(group, "order");
	int ret = 0;

	for (int i = 0; s != NULL && i < config_setting_length(s) && ret == 0; i++)
		ret = order_read(d, config_setting_get_elem(s, (unsigned)i), b, err);
	return ret;
}

struct keel_tap site_tap(const struct block *b, struct keel_tap row)
{
	for (uint32_t i = 0; b != NULL && i < b->n_orders; i++) {
		const struct site_order *o = &b->orders[i];

		if (strcmp(o->tap, row.name) != 0)
			continue;
		row.order = o->has_order ? o->order : row.order;
		row.before = o->before != NULL ? o->before : row.before;
		row.after = o->after != NULL ? o->after : row.after;
	}
	return row;
}

void site_free(struct block *b)
{
	for (uint32_t i = 0; i < b->n_orders; i++) {
		free(b->orders[i].tap);
		free(b->orders[i].before);
		free(b->orders[i].after);
	}
	free(b->orders);
}
