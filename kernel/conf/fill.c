/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.c - a group and its rules into a struct.
 *
 * Each key takes, in this order: the override, the file, the default. The text of an error is made
 * where the failure is known: `where: group.key: expected ..., got ...`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"

struct fill {
	const struct conf *conf;
	const char *group; /* "" the top level */
	const struct keel_conf_rule *rules;
	uint32_t n_rules;
	const config_setting_t *settings; /* the group; NULL: not written */
	struct conf_data *data;
	struct keel_err *err;
};

static const char *dot(const struct fill *f)
{
	return f->group[0] == '\0' ? "" : ".";
}

/* Say `where: key: expected ..., got ...`, moved out of the two buffers. */
static int refuse(const struct fill *f, struct buf *where, const struct keel_conf_rule *r,
		  struct buf *got)
{
	struct buf expected;
	int ret = -EINVAL;

	buf_init(&expected);
	value_expected(r, &expected);
	if (expected.failed || where->failed || got->failed)
		ret = err_set(f->err, -ENOMEM, "configuration: no memory");
	else
		err_set(f->err, ret, "%s: %s%s%s: expected %s, got %s",
			where->data == NULL ? "" : where->data, f->group, dot(f), r->key,
			expected.data == NULL ? "" : expected.data, got->data);
	buf_fini(&expected);
	buf_fini(where);
	buf_fini(got);
	return ret;
}

static int refuse_setting(const struct fill *f, const config_setting_t *s,
			  const struct keel_conf_rule *r)
{
	struct buf where, got;

	buf_init(&where);
	buf_init(&got);
	conf_where(f->conf, s, &where);
	value_got(s, &got);
	return refuse(f, &where, r, &got);
}

static int refuse_text(const struct fill *f, const char *source, const char *text,
		       const struct keel_conf_rule *r)
{
	struct buf where, got;

	buf_init(&where);
	buf_init(&got);
	buf_str(&where, source);
	buf_printf(&got, "\"%s\"", text);
	return refuse(f, &where, r, &got);
}

static int refuse_nothing(const struct fill *f, const struct keel_conf_rule *r)
{
	struct buf where, got;

	buf_init(&where);
	buf_init(&got);
	if (f->settings != NULL)
		conf_where(f->conf, f->settings, &where);
	else
		buf_str(&where, f->conf->files[0]->path);
	buf_str(&got, "nothing (the key is required)");
	return refuse(f, &where, r, &got);
}

static int no_memory(const struct fill *f)
{
	return err_set(f->err, -ENOMEM, "configuration: no memory");
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
		       ret == -ENOMEM ? no_memory(f) :
					refuse_text(f, "override", over->value, r);
	}
	if (s != NULL) {
		ret = value_from_setting(r, s, f->data);
		return ret == 0 ? 0 : ret == -ENOMEM ? no_memory(f) : refuse_setting(f, s, r);
	}
	if (r->flags & KEEL_CONF_REQUIRED)
		return refuse_nothing(f, r);
	if (r->fallback == NULL)
		return 0;
	ret = value_from_text(r, r->fallback, f->data);
	return ret == 0 ? 0 : ret == -ENOMEM ? no_memory(f) : refuse_text(f, "default", r->fallback, r);
}

static bool is_known(const struct fill *f, const char *key, bool by_override)
{
	for (uint32_t i = 0; i < f->n_rules; i++)
		if (strcmp(rule_at(f->rules, i).key, key) == 0)
			return true;
	return f->group[0] != '\0' && conf_kernel_key(key, by_override);
}

static void add_known(const struct fill *f, struct buf *out)
{
	for (uint32_t i = 0; i < f->n_rules; i++)
		buf_printf(out, "%s%s", i == 0 ? "" : ", ", rule_at(f->rules, i).key);
	if (f->n_rules == 0)
		buf_str(out, "none");
}

static int refuse_unknown(const struct fill *f, const struct buf *where, const char *key)
{
	struct buf known;
	int ret = -EINVAL;

	buf_init(&known);
	add_known(f, &known);
	if (known.failed || where->failed)
		ret = no_memory(f);
	else
		err_set(f->err, ret, "%s: %s%s%s: expected a known key (%s), got \"%s\"", where->data,
			f->group, dot(f), key, known.data, key);
	buf_fini(&known);
	return ret;
}

/* Groups of the top level are not its keys. */
static int check_settings(const struct fill *f)
{
	int n = f->settings == NULL ? 0 : config_setting_length(f->settings), ret = 0;

	for (int i = 0; ret == 0 && i < n; i++) {
		const config_setting_t *s = config_setting_get_elem(f->settings, (unsigned)i);
		struct buf where;

		if (is_known(f, config_setting_name(s), false) ||
		    (f->group[0] == '\0' && config_setting_is_group(s)))
			continue;
		buf_init(&where);
		conf_where(f->conf, s, &where);
		ret = refuse_unknown(f, &where, config_setting_name(s));
		buf_fini(&where);
	}
	return ret;
}

static int check_overrides(const struct fill *f)
{
	struct buf where;
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < f->conf->n_overrides; i++) {
		const struct conf_override *o = &f->conf->overrides[i];

		if (strcmp(o->group, f->group) != 0 || is_known(f, o->key, true))
			continue;
		buf_init(&where);
		buf_str(&where, "override");
		ret = refuse_unknown(f, &where, o->key);
		buf_fini(&where);
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

static struct conf_data *data_create(uint32_t size)
{
	struct conf_data *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->size = size;
	d->bytes = calloc(1, size == 0 ? 1 : size);
	if (d->bytes != NULL)
		return d;
	free(d);
	return NULL;
}

static int fill(struct fill *f, uint32_t size, int (*keys)(const struct fill *), struct conf_data **ret_data)
{
	int ret;

	f->data = data_create(size);
	if (f->data == NULL)
		return no_memory(f);
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

int conf_fill_some(const struct conf *c, const char *group, const struct keel_conf_rule *rules,
		   uint32_t n_rules, uint32_t size, struct conf_data **ret_data, struct keel_err *err)
{
	struct fill f = { .conf = c, .group = group, .rules = rules, .n_rules = n_rules,
			  .settings = conf_group(c, group), .err = err };

	return fill(&f, size, fill_keys, ret_data);
}

int conf_fill_inner(const struct conf *c, const char *name, const config_setting_t *settings,
		    const struct keel_conf_rule *rules, uint32_t n_rules, uint32_t size,
		    struct conf_data **ret_data, struct keel_err *err)
{
	struct fill f = { .conf = c, .group = name, .rules = rules, .n_rules = n_rules,
			  .settings = settings, .err = err };

	return fill(&f, size, fill_all, ret_data);
}

const void *conf_data(const struct conf_data *d)
{
	return d->bytes;
}

void conf_data_destroy(struct conf_data *d)
{
	if (d == NULL)
		return;
	for (uint32_t i = 0; i < d->n_owned; i++)
		free(d->owned[i]);
	free(d->owned);
	free(d->bytes);
	free(d);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_list(const char *const *a, const char *const *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	for (; *a != NULL && *b != NULL; a++, b++)
		if (strcmp(*a, *b) != 0)
			return false;
	return *a == *b;
}

static bool same_value(const struct keel_conf_rule *r, const char *a, const char *b)
{
	const char *text[2];
	const char *const *list[2];

	if (r->type == KEEL_CONF_STRING) {
		memcpy(&text[0], a, sizeof(text[0]));
		memcpy(&text[1], b, sizeof(text[1]));
		return same_text(text[0], text[1]);
	}
	if (r->type == KEEL_CONF_LIST) {
		memcpy(&list[0], a, sizeof(list[0]));
		memcpy(&list[1], b, sizeof(list[1]));
		return same_list(list[0], list[1]);
	}
	return memcmp(a, b, rule_width(r)) == 0;
}

const char *conf_differs(const struct keel_conf_rule *rules, uint32_t n_rules,
			 const struct conf_data *a, const struct conf_data *b, uint32_t flags)
{
	for (uint32_t i = 0; i < n_rules; i++) {
		struct keel_conf_rule r = rule_at(rules, i);

		if ((r.flags & flags) == flags &&
		    !same_value(&r, a->bytes + r.offset, b->bytes + r.offset))
			return r.key;
	}
	return NULL;
}
