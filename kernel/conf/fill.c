/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.c - a group and its rules into a struct.
 *
 * A key's value is that of the override, else of the file, else the default. The text of an error is made
 * where it is found: `where: group.key: expected ..., got ...`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"
#include "util/text.h"

struct fill {
	const struct conf *conf;
	const char *group; /* "" the top level */
	const config_setting_t *settings; /* the group; NULL: in no file */
	const struct keel_conf_rule *rules;
	uint32_t n_rules, size;
	conf_known_fn *is_known; /* NULL, or: other keys that are none of the rules */
	const void *arg;
	struct conf_data *data;
	struct keel_err *err;
};

static int refuse(const struct fill *f, const config_setting_t *s, const struct keel_conf_rule *r, const char *got)
{
	char words[VALUE_WORDS];

	return conf_refuse(f->err, s, "%s%s%s: expected %s, got %s", f->group, f->group[0] != '\0' ? "." : "", r->key,
			   value_expected(r, words), got);
}

static int fill_key(const struct fill *f, const struct keel_conf_rule *r)
{
	const config_setting_t *s = f->settings != NULL ? config_setting_get_member(f->settings, r->key) : NULL;
	const config_setting_t *group = f->settings != NULL ? f->settings : conf_group(f->conf, "");
	char words[VALUE_WORDS];
	int ret = 0;

	if (s == NULL && (r->flags & KEEL_CONF_REQUIRED))
		return refuse(f, group, r, "nothing (the key is required)");
	if (s != NULL && !is_override(s))
		ret = value_from_setting(r, s, f->data);
	else if (s != NULL || r->fallback != NULL)
		ret = value_from_text(r, s != NULL ? config_setting_get_string(s) : r->fallback, f->data);
	if (ret == 0)
		return 0;
	if (ret == -ENOMEM)
		return conf_no_memory(f->err);
	if (s != NULL)
		return refuse(f, s, r, value_got(s, words));
	snprintf(words, sizeof(words), "\"%s\", the default", r->fallback);
	return refuse(f, group, r, words);
}

/* Returns 0, or -EINVAL with *err. Groups of the top level are not its keys. */
static int key_check(const struct fill *f, const config_setting_t *s)
{
	bool top = f->group[0] == '\0', whole = !top && strchr(f->group, '.') == NULL; /* of a module */
	const char *key = config_setting_name(s), *like = NULL;
	struct buf known;
	int ret;

	for (uint32_t i = 0; i < f->n_rules; i++)
		if (strcmp(rule_at(f->rules, i).key, key) == 0)
			return 0;
	if ((f->is_known != NULL && f->is_known(f->arg, key)) || (top && config_setting_is_group(s)) ||
	    (whole && conf_kernel_key(key, is_override(s), &like)))
		return 0;
	buf_init(&known);
	for (uint32_t i = 0; i < f->n_rules; i++)
		buf_printf(&known, "%s%s", i == 0 ? "" : ", ", rule_at(f->rules, i).key);
	ret = conf_refuse(f->err, s, "%s%s%s: expected a known key (%s), got \"%s\"%s%s%s", f->group, top ? "" : ".", key,
			  known.len == 0 ? "none" : known.data, key, like != NULL ? "; every module has '" : "",
			  like != NULL ? like : "", like != NULL ? "'" : "");
	buf_fini(&known);
	return ret;
}

static int fill(struct fill *f, struct conf_data **ret_data)
{
	int ret = 0;

	f->data = conf_data_create(f->size);
	if (f->data == NULL)
		return conf_no_memory(f->err);
	for (uint32_t i = 0; ret == 0 && i < f->n_rules; i++) {
		struct keel_conf_rule r = rule_at(f->rules, i);
		uint32_t width = rule_width(&r);

		if (width != 0 && r.key != NULL && r.offset <= f->size && width <= f->size - r.offset)
			ret = fill_key(f, &r);
		else
			ret = err_set(f->err, -EINVAL, "%s: the rule of key %s is broken (type %u, offset %u of %u); its "
				      "module must be built again", f->group, r.key == NULL ? "(no name)" : r.key, r.type,
				      r.offset, f->size);
	}
	for (int i = 0, n = f->settings == NULL ? 0 : config_setting_length(f->settings); ret == 0 && i < n; i++)
		ret = key_check(f, config_setting_get_elem(f->settings, (unsigned)i));
	if (ret < 0)
		conf_data_destroy(f->data);
	else
		*ret_data = f->data;
	return ret;
}

int conf_fill(const struct conf *c, const char *group, const struct keel_conf_rule *rules, uint32_t n_rules, uint32_t size,
	      conf_known_fn *known, const void *arg, struct conf_data **ret_data, struct keel_err *err)
{
	struct fill f = { .conf = c, .group = group != NULL ? group : "", .rules = rules, .n_rules = n_rules, .size = size,
			  .is_known = known, .arg = arg, .err = err };

	f.settings = conf_group(c, f.group);
	return fill(&f, ret_data);
}

int conf_fill_setting(const struct conf *c, const char *module, const char *member, const config_setting_t *s,
		      const struct keel_conf_rule *rules, uint32_t n_rules, uint32_t size, struct conf_data **ret_data,
		      struct keel_err *err)
{
	char *name = text_format("%s.%s", module, member), words[VALUE_WORDS];
	struct fill f = { .conf = c, .group = name, .settings = s, .rules = rules, .n_rules = n_rules, .size = size,
			  .err = err };
	int ret;

	if (name == NULL)
		ret = conf_no_memory(err);
	else if (s != NULL && !config_setting_is_group(s))
		ret = conf_refuse(err, s, "%s: expected a group, { ... }, got %s", name, value_got(s, words));
	else
		ret = fill(&f, ret_data);
	free(name);
	return ret;
}

int conf_fill_member(const struct conf *c, const char *module, const char *member,
		     const struct keel_conf_rule *rules, uint32_t n_rules, uint32_t size,
		     struct conf_data **ret_data, struct keel_err *err)
{
	const config_setting_t *group = conf_group(c, module);

	return conf_fill_setting(c, module, member, group != NULL ? config_setting_get_member(group, member) : NULL,
				 rules, n_rules, size, ret_data, err);
}
