/* SPDX-License-Identifier: Apache-2.0
 *
 * group.c - what of a module's group is the kernel's: `enabled`, `required`, `path`, and
 *   budget = { soft = "50ms"; hard = "1s"; strikes = 3; }
 *           how long its taps may take, where that is not what `hooks` says for all
 *   order = ( { tap = "on_submit"; order = 5; before = "..."; after = "..."; }, ... )
 *           the site's order of a tap, instead of the module's
 *   match = { queue = "^gpu"; user = "..."; }
 *           which objects its taps are for. Only read here; the module with the FILTER row checks scopes and patterns.
 */
#include <stdlib.h>
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

bool conf_kernel_key(const char *key, bool by_override, const char **ret_like)
{
	for (size_t i = sizeof(keys) / sizeof(keys[0]); i-- > 0;) {
		if (strcmp(keys[i].key, key) == 0)
			return keys[i].scalar || !by_override;
		if (ret_like != NULL && strncasecmp(keys[i].key, key, 4) == 0)
			*ret_like = keys[i].key;
	}
	return false;
}

static bool flag(const config_setting_t *s, const char *key)
{
	const config_setting_t *found = config_setting_get_member(s, key);

	return found == NULL || config_setting_get_bool(found);
}

int conf_module_keys(const config_setting_t *s, struct conf_module *m, struct keel_err *err)
{
	const config_setting_t *path = config_setting_get_member(s, "path");
	char words[VALUE_WORDS];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const config_setting_t *found = config_setting_get_member(s, keys[i].key);

		if (found != NULL && config_setting_type(found) != keys[i].type)
			return conf_refuse(err, found, "%s.%s: expected %s, got %s", m->name, keys[i].key, keys[i].expected,
					   value_got(found, words));
	}
	m->enabled = m->by_file = flag(s, "enabled");
	m->required = flag(s, "required");
	m->path = path == NULL ? NULL : config_setting_get_string(path);
	return 0;
}

/* ---- budget ------------------------------------------------------------------------------------------- */
#define HOUR 3600000
#define AS_FOR_ALL (-1)

struct budget {
	int64_t soft, hard, strikes;
};
static const struct keel_conf_rule budget_rules[] = {
	KEEL_CONF_RULE(DURATION, struct budget, soft, .fallback = "0s", .min = 0, .max = HOUR,
		       .doc = "a tap of it that computes or blocks longer is logged"),
	KEEL_CONF_RULE(DURATION, struct budget, hard, .fallback = "0s", .min = 0, .max = HOUR,
		       .doc = "a tap of it that computes or blocks longer gets a strike"),
	KEEL_CONF_RULE(INT, struct budget, strikes, .fallback = "-1", .min = AS_FOR_ALL, .max = 1000000,
		       .doc = "a tap with so many strikes is benched; 0: never"),
};

int conf_budget(const struct conf *c, const char *module, struct owner_budget *ret, struct keel_err *err)
{
	const struct budget *b;
	struct conf_data *data;
	int code = conf_fill_member(c, module, "budget", budget_rules, KEEL_COUNT(budget_rules), sizeof(*b), &data, err);

	if (code < 0)
		return code;
	b = conf_data(data);
	*ret = (struct owner_budget){ .soft_ms = b->soft, .hard_ms = b->hard,
				      .strikes = b->strikes == AS_FOR_ALL ? 0 :
						 b->strikes == 0 ? OWNER_NO_STRIKES : b->strikes };
	conf_data_destroy(data);
	return 0;
}

/* ---- order -------------------------------------------------------------------------------------------- */
static const struct keel_conf_rule order_rules[] = {
	KEEL_CONF_RULE(STRING, struct conf_order, tap, .flags = KEEL_CONF_REQUIRED),
	KEEL_CONF_RULE(INT, struct conf_order, order, .min = -1000, .max = 1000),
	KEEL_CONF_RULE(STRING, struct conf_order, before),
	KEEL_CONF_RULE(STRING, struct conf_order, after),
};

/* Returns `key` of a module's group, of *ret_n elements; NULL: it is not there. */
static const config_setting_t *rows_of(const struct conf *c, const char *module, const char *key, uint32_t *ret_n)
{
	const config_setting_t *group = conf_group(c, module),
			       *said = group != NULL ? config_setting_get_member(group, key) : NULL;

	*ret_n = said != NULL ? (uint32_t)config_setting_length(said) : 0;
	return said;
}

int conf_orders(const struct conf *c, const char *module, struct conf_order **ret_rows, uint32_t *ret_n,
		struct keel_err *err)
{
	const config_setting_t *said = rows_of(c, module, "order", ret_n);
	struct conf_order *rows = calloc(*ret_n + 1, sizeof(*rows));
	int ret = rows == NULL ? conf_no_memory(err) : 0;

	for (uint32_t i = 0; i < *ret_n && ret == 0; i++) {
		const config_setting_t *s = config_setting_get_elem(said, i);
		struct conf_data *data;

		ret = conf_fill_setting(c, module, "order", s, order_rules, KEEL_COUNT(order_rules), sizeof(*rows), &data,
					err);
		if (ret < 0)
			break;
		rows[i] = *(const struct conf_order *)conf_data(data);
		rows[i].data = data;
		rows[i].has_order = config_setting_get_member(s, "order") != NULL;
		rows[i].where = conf_place(s);
		ret = rows[i].where == NULL ? conf_no_memory(err) : 0;
	}
	if (ret < 0)
		conf_orders_free(rows, *ret_n);
	else
		*ret_rows = rows;
	return ret;
}

void conf_orders_free(struct conf_order *rows, uint32_t n)
{
	for (uint32_t i = 0; rows != NULL && i < n; i++) {
		conf_data_destroy(rows[i].data);
		free(rows[i].where);
	}
	free(rows);
}

/* ---- match -------------------------------------------------------------------------------------------- */
int conf_matches(const struct conf *c, const char *module, struct keel_match **ret_rows, uint32_t *ret_n,
		 struct keel_err *err)
{
	const config_setting_t *said = rows_of(c, module, "match", ret_n);
	struct keel_match *rows = calloc(*ret_n + 1, sizeof(*rows));
	int ret = rows == NULL ? conf_no_memory(err) : 0;
	char words[VALUE_WORDS];

	for (uint32_t i = 0; i < *ret_n && ret == 0; i++) {
		const config_setting_t *s = config_setting_get_elem(said, i);

		if (config_setting_type(s) != CONFIG_TYPE_STRING) {
			ret = conf_refuse(err, s, "%s: expected a pattern, \"...\", got %s", config_setting_name(s),
					  value_got(s, words));
			break;
		}
		rows[i] = (struct keel_match){ strdup(config_setting_name(s)), strdup(config_setting_get_string(s)),
					       conf_place(s) };
		if (rows[i].scope == NULL || rows[i].pattern == NULL || rows[i].where == NULL)
			ret = conf_no_memory(err);
	}
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
