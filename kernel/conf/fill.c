/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.c - a group and its rules into a struct.
 *
 * A key's value is that of the override, else of the file, else the default. The text of an error is made
 * where it is found: `where: group.key: expected ..., got ...`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"
#include "util/text.h"

struct fill {
	const struct conf *conf;
	const char *group; /* "" the top level */
	const struct keel_conf_rule *rules;
	uint32_t n_rules;
	const config_setting_t *settings; /* the group; NULL: in no file */
	conf_known_fn *is_known; /* NULL, or: other keys that are none of the rules */
	const void *arg;
	struct conf_data *data;
	struct keel_err *err;
};

static const char *dot(const struct fill *f)
{
	return f->group[0] == '\0' ? "" : ".";
}

/* Begins the error `where: key: expected ..., got `; the caller appends the value. */
static void refusal(const struct fill *f, struct buf *out, const struct keel_conf_rule *r)
{
	char words[VALUE_WORDS];

	buf_printf(out, ": %s%s%s: expected %s, got ", f->group, dot(f), r->key, value_expected(r, words));
}

static int refuse_setting(const struct fill *f, const config_setting_t *s, const struct keel_conf_rule *r)
{
	char words[VALUE_WORDS];
	struct buf text;

	refusal_begin(&text, f->conf, s);
	refusal(f, &text, r);
	buf_str(&text, value_got(s, words));
	return refusal_end(&text, f->err);
}

static int refuse_text(const struct fill *f, const char *source, const char *got, const struct keel_conf_rule *r)
{
	struct buf text;

	buf_init(&text);
	buf_str(&text, source);
	refusal(f, &text, r);
	buf_printf(&text, "\"%s\"", got);
	return refusal_end(&text, f->err);
}

static int refuse_nothing(const struct fill *f, const struct keel_conf_rule *r)
{
	struct buf text;

	buf_init(&text);
	if (f->settings != NULL)
		conf_where(f->conf, f->settings, &text);
	else
		buf_str(&text, f->conf->files[0]->path);
	refusal(f, &text, r);
	buf_str(&text, "nothing (the key is required)");
	return refusal_end(&text, f->err);
}

static int fill_key(const struct fill *f, const struct keel_conf_rule *r)
{
	const struct conf_override *over = conf_overridden(f->conf, f->group, r->key);
	const config_setting_t *s = NULL;
	int ret;

	if (f->settings != NULL)
		s = config_setting_get_member(f->settings, r->key);
	if (over != NULL) {
		ret = value_from_text(r, over->value, f->data);
		return ret == 0		? 0 :
		       ret == -ENOMEM ? conf_no_memory(f->err) :
					refuse_text(f, "override", over->value, r);
	}
	if (s != NULL) {
		ret = value_from_setting(r, s, f->data);
		return ret == 0 ? 0 : ret == -ENOMEM ? conf_no_memory(f->err) : refuse_setting(f, s, r);
	}
	if (r->flags & KEEL_CONF_REQUIRED)
		return refuse_nothing(f, r);
	if (r->fallback == NULL)
		return 0;
	ret = value_from_text(r, r->fallback, f->data);
	return ret == 0 ? 0 : ret == -ENOMEM ? conf_no_memory(f->err) : refuse_text(f, "default", r->fallback, r);
}

static bool is_known(const struct fill *f, const char *key, bool by_override)
{
	for (uint32_t i = 0; i < f->n_rules; i++)
		if (strcmp(rule_at(f->rules, i).key, key) == 0)
			return true;
	if (f->is_known != NULL && f->is_known(f->arg, key))
		return true;
	return f->group[0] != '\0' && conf_kernel_key(key, by_override);
}

/* Returns -EINVAL with *err. `s` NULL: the key is that of an override. */
static int refuse_unknown(const struct fill *f, const config_setting_t *s, const char *key)
{
	const char *like = f->group[0] != '\0' ? conf_kernel_key_like(key) : NULL;
	struct buf text;

	refusal_begin(&text, f->conf, s);
	buf_printf(&text, ": %s%s%s: expected a known key (", f->group, dot(f), key);
	for (uint32_t i = 0; i < f->n_rules; i++)
		buf_printf(&text, "%s%s", i == 0 ? "" : ", ", rule_at(f->rules, i).key);
	buf_printf(&text, "%s), got \"%s\"", f->n_rules == 0 ? "none" : "", key);
	if (like != NULL)
		buf_printf(&text, "; every module has '%s'", like);
	return refusal_end(&text, f->err);
}

/* Groups of the top level are not its keys. */
static int check_settings(const struct fill *f)
{
	int n = f->settings == NULL ? 0 : config_setting_length(f->settings), ret = 0;

	for (int i = 0; ret == 0 && i < n; i++) {
		const config_setting_t *s = config_setting_get_elem(f->settings, (unsigned)i);

		if (is_known(f, config_setting_name(s), false) ||
		    (f->group[0] == '\0' && config_setting_is_group(s)))
			continue;
		ret = refuse_unknown(f, s, config_setting_name(s));
	}
	return ret;
}

static int check_overrides(const struct fill *f)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < f->conf->n_overrides; i++) {
		const struct conf_override *o = &f->conf->overrides[i];

		if (strcmp(o->group, f->group) == 0 && !is_known(f, o->key, true))
			ret = refuse_unknown(f, NULL, o->key);
	}
	return ret;
}

static int check_rule(const struct fill *f, const struct keel_conf_rule *r)
{
	uint32_t width = rule_width(r);

	if (width != 0 && r->key != NULL && r->offset <= f->data->size &&
	    width <= f->data->size - r->offset)
		return 0;
	return err_set(f->err, -EINVAL,
		       "%s: the rule of key %s is broken (type %u, offset %u of %u); its module must "
		       "be built again",
		       f->group, r->key == NULL ? "(no name)" : r->key, r->type, r->offset,
		       f->data->size);
}

static int fill_keys(const struct fill *f)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < f->n_rules; i++) {
		struct keel_conf_rule r = rule_at(f->rules, i);

		ret = check_rule(f, &r);
		if (ret == 0)
			ret = fill_key(f, &r);
	}
	return ret;
}

static int fill_all(const struct fill *f)
{
	int ret = fill_keys(f);

	if (ret == 0)
		ret = check_settings(f);
	return ret == 0 ? check_overrides(f) : ret;
}

static int fill(struct fill *f, uint32_t size, int (*keys)(const struct fill *), struct conf_data **ret_data)
{
	int ret;

	f->data = conf_data_create(size);
	if (f->data == NULL)
		return conf_no_memory(f->err);
	ret = keys(f);
	if (ret < 0)
		conf_data_destroy(f->data);
	else
		*ret_data = f->data;
	return ret;
}

int conf_fill(const struct conf *c, const char *group, const struct keel_conf_rule *rules,
	      uint32_t n_rules, uint32_t size, struct conf_data **ret_data, struct keel_err *err)
{
	const char *name = group == NULL ? "" : group;
	struct fill f = { .conf = c, .group = name, .rules = rules, .n_rules = n_rules,
			  .settings = conf_group(c, name), .err = err };

	return fill(&f, size, fill_all, ret_data);
}

int conf_fill_module(const struct conf *c, const char *group, const struct keel_conf_rule *rules, uint32_t n_rules,
		     uint32_t size, conf_known_fn *known, const void *arg, struct conf_data **ret_data, struct keel_err *err)
{
	struct fill f = { .conf = c, .group = group, .rules = rules, .n_rules = n_rules, .is_known = known, .arg = arg,
			  .settings = conf_group(c, group), .err = err };

	return fill(&f, size, fill_all, ret_data);
}

int conf_fill_some(const struct conf *c, const char *group, const struct keel_conf_rule *rules,
		   uint32_t n_rules, uint32_t size, struct conf_data **ret_data, struct keel_err *err)
{
	struct fill f = { .conf = c, .group = group, .rules = rules, .n_rules = n_rules,
			  .settings = conf_group(c, group), .err = err };

	return fill(&f, size, fill_keys, ret_data);
}

int conf_fill_member(const struct conf *c, const char *module, const char *member,
		     const struct keel_conf_rule *rules, uint32_t n_rules, uint32_t size,
		     struct conf_data **ret_data, struct keel_err *err)
{
	const config_setting_t *group = conf_group(c, module);
	char *name = text_format("%s.%s", module, member);
	struct fill f = { .conf = c, .group = name, .rules = rules, .n_rules = n_rules,
			  .settings = group != NULL ? config_setting_get_member(group, member) : NULL, .err = err };
	int ret = name == NULL ? conf_no_memory(err) : 0;

	if (ret == 0 && f.settings != NULL && !config_setting_is_group(f.settings))
		ret = conf_refuse(c, f.settings, name, "a group, { ... }", err);
	if (ret == 0)
		ret = fill(&f, size, fill_all, ret_data);
	free(name);
	return ret;
}
