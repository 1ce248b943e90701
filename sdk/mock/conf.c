/* SPDX-License-Identifier: Apache-2.0
 *
 * conf.c - a module's configuration group: text in, a filled struct out, by the module's own rules.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "inside.h"

struct filling {
	const struct keel_module *module;
	const config_setting_t *group;
	struct block *block;
	struct keel_err *err;
};

static struct keel_conf_rule rule_at(const struct keel_module *d, uint32_t i)
{
	uint32_t stride = d->conf[0].size;
	struct keel_conf_rule r = { 0 };

	memcpy(&r, (const char *)d->conf + (size_t)i * stride, stride < sizeof(r) ? stride : sizeof(r));
	return r;
}

static uint32_t width(const struct keel_conf_rule *r)
{
	switch (r->type) {
	case KEEL_CONF_BOOL: return sizeof(bool);
	case KEEL_CONF_ENUM: return sizeof(int32_t);
	case KEEL_CONF_INT:
	case KEEL_CONF_DURATION:
	case KEEL_CONF_SIZE: return sizeof(int64_t);
	case KEEL_CONF_STRING:
	case KEEL_CONF_LIST: return sizeof(void *);
	}
	return 0;
}

static void *own(struct block *b, void *memory)
{
	b->owned = enlarge(b->owned, (b->n_owned + 1) * sizeof(void *));
	return b->owned[b->n_owned++] = memory;
}

struct unit {
	const char *unit;
	int64_t factor;
};

/* ---- one value: false when it is no such thing --------------------------------------------------------- */
static bool put(struct block *b, const struct keel_conf_rule *r, const void *value)
{
	memcpy(b->bytes + r->offset, value, width(r));
	return true;
}

static bool put_number(struct block *b, const struct keel_conf_rule *r, int64_t n)
{
	if ((r->min != 0 || r->max != 0) && (n < r->min || n > r->max))
		return false;
	return put(b, r, &n);
}

static bool put_string(struct block *b, const struct keel_conf_rule *r, const char *text)
{
	const char *copy = own(b, dup_text(text));

	return put(b, r, &copy);
}

static bool put_choice(struct block *b, const struct keel_conf_rule *r, const char *text)
{
	const char *list = r->choices != NULL ? r->choices : "";

	for (int32_t i = 0; *list != '\0'; i++) {
		size_t n = strcspn(list, ",");
		char *one = print_text("%.*s", (int)n, list);
		bool is = list_names(one, text);

		free(one);
		if (is)
			return put(b, r, &i);
		list += n + (list[n] == ',');
	}
	return false;
}

static bool put_bool(struct block *b, const struct keel_conf_rule *r, const char *text)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

	for (uint32_t i = 0; i < KEEL_COUNT(words); i++)
		if (strcasecmp(words[i], text) == 0)
			return put(b, r, &(bool){ i % 2 == 1 });
	return false;
}

/* "250ms" "10s" "64kb", or a number of seconds or bytes. */
static bool put_scaled(struct block *b, const struct keel_conf_rule *r, const char *text)
{
	static const struct unit durations[] = { { "ms", 1 }, { "s", 1000 }, { "", 1000 }, { "m", 60000 }, { "h", 3600000 },
				  { "d", 86400000 }, { NULL, 0 } },
	  sizes[] = { { "", 1 }, { "b", 1 }, { "kb", 1LL << 10 }, { "mb", 1LL << 20 },
		      { "gb", 1LL << 30 }, { "tb", 1LL << 40 }, { NULL, 0 } };
	const struct unit *at = r->type == KEEL_CONF_SIZE ? sizes : durations;
	char *end;
	int64_t n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || errno != 0)
		return false;
	while (at->unit != NULL && strcasecmp(at->unit, end) != 0)
		at++;
	if (at->unit == NULL || __builtin_mul_overflow(n, at->factor, &n))
		return false;
	return put_number(b, r, n);
}

static bool put_items(struct block *b, const struct keel_conf_rule *r, const char *text)
{
	char *copy = own(b, dup_text(text)), *save = NULL;
	const char **list = NULL;
	uint32_t n = 0;

	for (char *item = strtok_r(copy, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
		item += strspn(item, " \t");
		item[strcspn(item, " \t")] = '\0';
		list = enlarge(list, (n + 2) * sizeof(*list));
		list[n++] = item;
	}
	list = enlarge(list, (n + 1) * sizeof(*list));
	list[n] = NULL;
	own(b, list);
	return put(b, r, &list);
}

static bool of_text(struct block *b, const struct keel_conf_rule *r, const char *text)
{
	char *end;
	int64_t n;

	switch (r->type) {
	case KEEL_CONF_BOOL: return put_bool(b, r, text);
	case KEEL_CONF_INT:
		n = strtoll(text, &end, 10);
		return *text != '\0' && *end == '\0' && put_number(b, r, n);
	case KEEL_CONF_STRING: return put_string(b, r, text);
	case KEEL_CONF_ENUM: return put_choice(b, r, text);
	case KEEL_CONF_DURATION:
	case KEEL_CONF_SIZE: return put_scaled(b, r, text);
	case KEEL_CONF_LIST: return put_items(b, r, text);
	}
	return false;
}

static bool list_of_setting(struct block *b, const struct keel_conf_rule *r, const config_setting_t *s)
{
	int n = config_setting_length(s);
	const char **list;

	if (!config_setting_is_array(s) && !config_setting_is_list(s))
		return false;
	list = own(b, make(((size_t)n + 1) * sizeof(*list)));
	for (int i = 0; i < n; i++) {
		const char *text = config_setting_get_string_elem(s, i);

		if (text == NULL)
			return false;
		list[i] = own(b, dup_text(text));
	}
	return put(b, r, &list);
}

static bool is_integer(const config_setting_t *s)
{
	return config_setting_type(s) == CONFIG_TYPE_INT || config_setting_type(s) == CONFIG_TYPE_INT64;
}

static bool of_setting(struct block *b, const struct keel_conf_rule *r, const config_setting_t *s)
{
	const char *text = config_setting_type(s) == CONFIG_TYPE_STRING ? config_setting_get_string(s) : NULL;
	char number[24];

	switch (r->type) {
	case KEEL_CONF_BOOL:
		return config_setting_type(s) == CONFIG_TYPE_BOOL &&
		       put(b, r, &(bool){ config_setting_get_bool(s) != 0 });
	case KEEL_CONF_INT: return is_integer(s) && put_number(b, r, config_setting_get_int64(s));
	case KEEL_CONF_STRING: return text != NULL && put_string(b, r, text);
	case KEEL_CONF_ENUM: return text != NULL && put_choice(b, r, text);
	case KEEL_CONF_LIST: return list_of_setting(b, r, s);
	}
	if (text == NULL && !is_integer(s))
		return false;
	snprintf(number, sizeof(number), "%lld", config_setting_get_int64(s));
	return put_scaled(b, r, text != NULL ? text : number);
}

/* ---- saying what is wrong --------------------------------------------------------------------------------- */
static void add_limit(const struct keel_conf_rule *r, int64_t n, struct text *t)
{
	static const struct unit durations[] = { { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 } },
	  sizes[] = { { "tb", 1LL << 40 }, { "gb", 1LL << 30 }, { "mb", 1LL << 20 }, { "kb", 1LL << 10 },
		      { "b", 1 } };
	const struct unit *at = r->type == KEEL_CONF_SIZE ? sizes : durations;

	if (r->type == KEEL_CONF_INT) {
		text_put(t, "%" PRId64, n);
		return;
	}
	while (at->factor > 1 && (n < at->factor || n % at->factor != 0))
		at++;
	text_put(t, "%" PRId64 "%s", n / at->factor, at->unit);
}

static void add_expected(const struct keel_conf_rule *r, struct text *t)
{
	static const char *const words[] = {
		[KEEL_CONF_BOOL] = "true or false", [KEEL_CONF_INT] = "integer",
		[KEEL_CONF_STRING] = "string", [KEEL_CONF_ENUM] = "one of ",
		[KEEL_CONF_DURATION] = "duration (\"250ms\", \"10s\", \"5m\", \"1h\" or seconds)",
		[KEEL_CONF_SIZE] = "size (\"64kb\", \"1gb\" or bytes)",
		[KEEL_CONF_LIST] = "list of strings",
	};
	const char *list = r->choices;

	text_put(t, "%s", words[r->type]);
	for (uint32_t i = 0; r->type == KEEL_CONF_ENUM && *list != '\0'; i++) {
		size_t n = strcspn(list, ",");

		text_put(t, "%s\"%.*s\"", i > 0 ? ", " : "", (int)n, list);
		list += n + (list[n] == ',');
		list += strspn(list, " ");
	}
	if ((r->min == 0 && r->max == 0) || (r->type != KEEL_CONF_INT && r->type != KEEL_CONF_DURATION &&
					     r->type != KEEL_CONF_SIZE))
		return;
	text_put(t, r->max == INT64_MAX ? " of at least " : " from ");
	add_limit(r, r->min, t);
	if (r->max == INT64_MAX)
		return;
	text_put(t, " to ");
	add_limit(r, r->max, t);
}

static void add_got(const config_setting_t *s, struct text *t)
{
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64: text_put(t, "%lld", config_setting_get_int64(s)); break;
	case CONFIG_TYPE_FLOAT: text_put(t, "%g", config_setting_get_float(s)); break;
	case CONFIG_TYPE_STRING: text_put(t, "\"%s\"", config_setting_get_string(s)); break;
	case CONFIG_TYPE_BOOL: text_put(t, config_setting_get_bool(s) ? "true" : "false"); break;
	case CONFIG_TYPE_GROUP: text_put(t, "a group"); break;
	default: text_put(t, "a list of something else");
	}
}

/* "conf:LINE: module.key: expected ..., got ..." */
static int refuse(const struct filling *f, const config_setting_t *s, const struct keel_conf_rule *r,
		  const char *got)
{
	struct text t = { 0 };

	if (s != NULL)
		text_put(&t, "conf:%u: ", config_setting_source_line(s));
	text_put(&t, "%s.%s: expected ", f->module->name, r->key);
	add_expected(r, &t);
	text_put(&t, ", got ");
	if (got != NULL)
		text_put(&t, "%s", got);
	else
		add_got(s, &t);
	err_set(f->err, -EINVAL, "%s", t.data);
	free(t.data);
	return -EINVAL;
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */
static int fill_key(const struct filling *f, const struct keel_conf_rule *r)
{
	const config_setting_t *s = config_setting_get_member(f->group, r->key);

	if (s != NULL)
		return of_setting(f->block, r, s) ? 0 : refuse(f, s, r, NULL);
	if (r->flags & KEEL_CONF_REQUIRED)
		return refuse(f, NULL, r, "nothing (the key is required)");
	if (r->fallback == NULL || of_text(f->block, r, r->fallback))
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
		if (strcmp(rule_at(d, i).key, key) == 0)
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
			text_put(&known, "%s%s", k > 0 ? ", " : "", rule_at(f->module, k).key);
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
		const struct keel_conf_rule r = rule_at(f->module, i);

		ret = fill_key(f, &r);
	}
	return ret == 0 ? check_unknown(f) : ret;
}

/* The module's own opinion. */
static int ask(const struct filling *f)
{
	struct keel_err own_err = { 0 };
	int ret = f->module->check != NULL ? f->module->check(f->block->bytes, &own_err) : 0;

	if (ret == 0)
		return 0;
	if (own_err.text[0] != '\0')
		err_set(f->err, ret, "%s: %s", f->module->name, own_err.text);
	else
		err_set(f->err, ret, "module %s does not accept its configuration", f->module->name);
	return ret < 0 ? ret : -EINVAL;
}

int conf_fill(const struct keel_module *d, const char *text, struct block **ret, struct keel_err *err)
{
	struct filling f = { .module = d, .block = make(sizeof(struct block)), .err = err };
	config_t c;
	int code;

	f.block->bytes = make(d->conf_size);
	config_init(&c);
	if (config_read_string(&c, text != NULL ? text : "") != CONFIG_TRUE) {
		code = err_set(err, -EINVAL, "conf:%d: %s", config_error_line(&c), config_error_text(&c));
	} else {
		f.group = config_root_setting(&c);
		code = fill_all(&f);
		if (code == 0)
			code = site_read(d, f.group, f.block, err);
		if (code == 0)
			code = ask(&f);
	}
	config_destroy(&c);
	if (code == 0)
		*ret = f.block;
	else
		conf_free(f.block);
	return code;
}

void conf_free(struct block *b)
{
	if (b == NULL)
		return;
	while (b->n_owned > 0)
		free(b->owned[--b->n_owned]);
	site_free(b);
	free(b->owned);
	free(b->bytes);
	free(b);
}

static bool is_same_list(const char *const *a, const char *const *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	for (; *a != NULL && *b != NULL; a++, b++)
		if (strcmp(*a, *b) != 0)
			return false;
	return *a == *b;
}

static bool is_same(const struct keel_conf_rule *r, const char *a, const char *b)
{
	const void *x, *y;

	if (r->type != KEEL_CONF_STRING && r->type != KEEL_CONF_LIST)
		return memcmp(a, b, width(r)) == 0;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	if (r->type == KEEL_CONF_LIST)
		return is_same_list(x, y);
	return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
}

/* The first key that differs and has these flags; NULL: none. */
const char *conf_differs(const struct keel_module *d, const struct block *a, const struct block *b,
			 uint32_t flags)
{
	for (uint32_t i = 0; i < d->n_conf; i++) {
		const struct keel_conf_rule r = rule_at(d, i);

		if ((r.flags & flags) == flags && !is_same(&r, a->bytes + r.offset, b->bytes + r.offset))
			return r.key;
	}
	return NULL;
}
