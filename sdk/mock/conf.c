/* SPDX-License-Identifier: Apache-2.0
 *
 * conf.c - a module's configuration group: text in, a filled struct out, by the module's own rules.
 */
#include <errno.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

struct filling {
	const struct keel_module *module;
	const config_setting_t *group;
	struct block *block;
	struct keel_err *err;
};

/* "conf:LINE: module.key: expected ..., got ..." */
static int refuse(const struct filling *f, const config_setting_t *s, const struct keel_conf_rule *r,
		  const char *got)
{
	char where[32] = "", expected[VALUE_WORDS], found[VALUE_WORDS];

	if (s != NULL)
		snprintf(where, sizeof(where), "conf:%u: ", config_setting_source_line(s));
	return err_set(f->err, -EINVAL, "%s%s.%s: expected %s, got %s", where, f->module->name, r->key,
		       value_expected(r, expected), got != NULL ? got : value_got(s, found));
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */
static int fill_key(const struct filling *f, const struct keel_conf_rule *r)
{
	const config_setting_t *s = config_setting_get_member(f->group, r->key);

	if (s != NULL)
		return value_from_setting(r, s, f->block->data) == 0 ? 0 : refuse(f, s, r, NULL);
	if (r->flags & KEEL_CONF_REQUIRED)
		return refuse(f, NULL, r, "nothing (the key is required)");
	if (r->fallback == NULL || value_from_text(r, r->fallback, f->block->data) == 0)
		return 0;
	return refuse(f, NULL, r, r->fallback);
}

static bool is_known(const struct keel_module *d, const char *key)
{
	static const char host_keys[] =
#define GROUP_KEY(name, scalar, type, expected) #name ","
#include "../modfile/group_keys.def"
#undef GROUP_KEY
		;

	for (uint32_t i = 0; i < d->n_conf; i++)
		if (strcmp(rule_at(d->conf, i).key, key) == 0)
			return true;
	return list_names(host_keys, key);
}

static int check_unknown(const struct filling *f)
{
	struct text known = { 0 };

	for (int i = 0; i < config_setting_length(f->group); i++) {
		const config_setting_t *s = config_setting_get_elem(f->group, (unsigned)i);

		if (is_known(f->module, config_setting_name(s)))
			continue;
		for (uint32_t k = 0; k < f->module->n_conf; k++)
			text_put(&known, "%s%s", k > 0 ? ", " : "", rule_at(f->module->conf, k).key);
		err_set(f->err, -EINVAL, "conf:%u: %s.%s: expected a known key (%s), got \"%s\"",
			config_setting_source_line(s), f->module->name, config_setting_name(s),
			known.data != NULL ? known.data : "none", config_setting_name(s));
		free(known.data);
		return -EINVAL;
	}
	return 0;
}

static int fill_all(const struct filling *f)
{
	int ret = 0;

	for (uint32_t i = 0; i < f->module->n_conf && ret == 0; i++) {
		const struct keel_conf_rule r = rule_at(f->module->conf, i);

		ret = fill_key(f, &r);
	}
	return ret == 0 ? check_unknown(f) : ret;
}

/* The module's own opinion. */
static int ask(const struct filling *f)
{
	struct keel_err own_err = { 0 };
	int ret = f->module->check != NULL ? f->module->check(f->block->data->bytes, &own_err) : 0;

	if (ret == 0)
		return 0;
	if (own_err.text[0] != '\0')
		err_set(f->err, ret, "%s: %s", f->module->name, own_err.text);
	else
		err_set(f->err, ret, "module %s does not accept its configuration", f->module->name);
	return ret < 0 ? ret : -EINVAL;
}

static struct block *shown(struct block *b)
{
	b->shown = guard_make(b->data->size);
	memcpy(b->shown, b->data->bytes, b->data->size);
	guard_close(b->shown, b->data->size);
	return b;
}

int conf_fill(const struct keel_module *d, const char *text, struct block **ret, struct keel_err *err)
{
	struct filling f = { .module = d, .block = make(sizeof(struct block)), .err = err };
	config_t c;
	int code;

	f.block->data = conf_data_create(d->conf_size);
	config_init(&c);
	if (config_read_string(&c, text != NULL ? text : "") != CONFIG_TRUE) {
		code = err_set(err, -EINVAL, "conf:%d: %s", config_error_line(&c), config_error_text(&c));
	} else {
		f.group = config_root_setting(&c);
		code = fill_all(&f);
		if (code == 0)
			code = site_read(d, f.group, f.block, err);
		if (code == 0)
			code = scope_read(d, f.group, f.block, err);
		if (code == 0)
			code = ask(&f);
	}
	config_destroy(&c);
	if (code == 0)
		*ret = shown(f.block);
	else
		conf_free(f.block);
	return code;
}

void conf_free(struct block *b)
{
	if (b == NULL)
		return;
	if (b->shown != NULL)
		guard_free(b->shown, b->data->size);
	conf_data_destroy(b->data);
	site_free(b);
	scope_free(b);
	free(b);
}
