/* SPDX-License-Identifier: Apache-2.0
 *
 * value.c - converts one value from a setting or text into a struct member, and words errors.
 */
#include <errno.h>
#include <inttypes.h>
#include <libconfig.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rules/rules.h"
#include "rules/unit.h"

struct conf_data *conf_data_create(uint32_t size)
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

struct keel_conf_rule rule_at(const struct keel_conf_rule *rules, uint32_t i)
{
	uint32_t stride = rules->size == 0 ? (uint32_t)sizeof(*rules) : rules->size;
	struct keel_conf_rule r = { 0 };

	memcpy(&r, (const char *)rules + (size_t)i * stride, stride < sizeof(r) ? stride : sizeof(r));
	return r;
}

uint32_t rule_width(const struct keel_conf_rule *r)
{
	static const uint32_t widths[] = {
		[KEEL_CONF_BOOL] = sizeof(bool),
		[KEEL_CONF_INT] = sizeof(int64_t),
		[KEEL_CONF_STRING] = sizeof(const char *),
		[KEEL_CONF_ENUM] = sizeof(int32_t),
		[KEEL_CONF_DURATION] = sizeof(int64_t),
		[KEEL_CONF_SIZE] = sizeof(int64_t),
		[KEEL_CONF_LIST] = sizeof(const char *const *),
	};

	return r->type < KEEL_COUNT(widths) ? widths[r->type] : 0;
}

static void *keep(struct conf_data *d, void *block)
{
	void **owned;

	if (block == NULL)
		return NULL;
	owned = reallocarray(d->owned, d->n_owned + 1, sizeof(*owned));
	if (owned == NULL) {
		free(block);
		return NULL;
	}
	d->owned = owned;
	return owned[d->n_owned++] = block;
}

static int put(const struct keel_conf_rule *r, struct conf_data *d, const void *value)
{
	memcpy(d->bytes + r->offset, value, rule_width(r));
	return 0;
}

static int put_number(const struct keel_conf_rule *r, struct conf_data *d, int64_t n)
{
	if ((r->min != 0 || r->max != 0) && (n < r->min || n > r->max))
		return -ERANGE;
	return put(r, d, &n);
}

static int put_bool(const struct keel_conf_rule *r, struct conf_data *d, bool truth)
{
	return put(r, d, &truth);
}

static int put_string(const struct keel_conf_rule *r, struct conf_data *d, const char *text)
{
	char *copy = keep(d, strdup(text));

	return copy == NULL ? -ENOMEM : put(r, d, &copy);
}

static int put_choice(const struct keel_conf_rule *r, struct conf_data *d, const char *text)
{
	char **choices = list_split(r->choices == NULL ? "" : r->choices, NULL);
	int32_t i;
	int ret = -EINVAL;

	if (choices == NULL)
		return -ENOMEM;
	for (i = 0; choices[i] != NULL && strcmp(choices[i], text) != 0; i++)
		;
	if (choices[i] != NULL)
		ret = put(r, d, &i);
	free(choices);
	return ret;
}

static int put_scaled(const struct keel_conf_rule *r, struct conf_data *d, const char *text)
{
	int64_t n;
	int ret = r->type == KEEL_CONF_SIZE ? size_parse(text, &n) : duration_parse(text, &n);

	return ret < 0 ? ret : put_number(r, d, n);
}

static int list_from_setting(const struct keel_conf_rule *r, const config_setting_t *s,
			     struct conf_data *d)
{
	int n = config_setting_length(s);
	const char **list;

	if (!config_setting_is_array(s) && !config_setting_is_list(s))
		return -EINVAL;
	list = keep(d, calloc((size_t)n + 1, sizeof(*list)));
	if (list == NULL)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		const char *text = config_setting_get_string_elem(s, i);

		if (text == NULL)
			return -EINVAL;
		list[i] = keep(d, strdup(text));
		if (list[i] == NULL)
			return -ENOMEM;
	}
	return put(r, d, &list);
}

static bool is_integer(const config_setting_t *s)
{
	return config_setting_type(s) == CONFIG_TYPE_INT ||
	       config_setting_type(s) == CONFIG_TYPE_INT64;
}

int value_from_setting(const struct keel_conf_rule *r, const config_setting_t *s, struct conf_data *d)
{
	const char *text = config_setting_get_string(s);
	char number[24];

	switch (r->type) {
	case KEEL_CONF_BOOL:
		if (config_setting_type(s) != CONFIG_TYPE_BOOL)
			return -EINVAL;
		return put_bool(r, d, config_setting_get_bool(s) != 0);
	case KEEL_CONF_INT:
		return is_integer(s) ? put_number(r, d, config_setting_get_int64(s)) : -EINVAL;
	case KEEL_CONF_STRING:
		return text == NULL ? -EINVAL : put_string(r, d, text);
	case KEEL_CONF_ENUM:
		return text == NULL ? -EINVAL : put_choice(r, d, text);
	case KEEL_CONF_DURATION:
	case KEEL_CONF_SIZE:
		if (text == NULL && !is_integer(s))
			return -EINVAL;
		snprintf(number, sizeof(number), "%lld", config_setting_get_int64(s));
		return put_scaled(r, d, text != NULL ? text : number);
	case KEEL_CONF_LIST:
		return list_from_setting(r, s, d);
	}
	return -EINVAL;
}

int value_from_text(const struct keel_conf_rule *r, const char *text, struct conf_data *d)
{
	static const char *const bools[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };
	int64_t n;
	char **list;
	int ret;

	switch (r->type) {
	case KEEL_CONF_BOOL:
		for (size_t i = 0; i < KEEL_COUNT(bools); i++)
			if (strcasecmp(bools[i], text) == 0)
				return put_bool(r, d, i % 2 == 1);
		return -EINVAL;
	case KEEL_CONF_INT:
		ret = integer_parse(text, &n);
		return ret < 0 ? ret : put_number(r, d, n);
	case KEEL_CONF_STRING:
		return put_string(r, d, text);
	case KEEL_CONF_ENUM:
		return put_choice(r, d, text);
	case KEEL_CONF_DURATION:
	case KEEL_CONF_SIZE:
		return put_scaled(r, d, text);
	case KEEL_CONF_LIST:
		list = keep(d, list_split(text, NULL));
		return list == NULL ? -ENOMEM : put(r, d, &list);
	}
	return -EINVAL;
}

/* ---- words ----------------------------------------------------------------------------------- */
static void KEEL_PRINTF(2, 3) add(char words[VALUE_WORDS], const char *fmt, ...)
{
	size_t len = strlen(words);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words + len, VALUE_WORDS - len, fmt, ap);
	va_end(ap);
}

static void add_limit(const struct keel_conf_rule *r, int64_t n, char words[VALUE_WORDS])
{
	static const struct {
		int64_t factor;
		const char *unit;
	} durations[] = { { 3600000, "h" }, { 60000, "m" }, { 1000, "s" }, { 1, "ms" } },
	  sizes[] = { { 1LL << 40, "tb" }, { 1LL << 30, "gb" }, { 1LL << 20, "mb" },
		      { 1LL << 10, "kb" }, { 1, "b" } };
	size_t i = 0;

	if (r->type == KEEL_CONF_INT) {
		add(words, "%" PRId64, n);
	} else if (r->type == KEEL_CONF_DURATION) {
		while (durations[i].factor > 1 && (n < durations[i].factor || n % durations[i].factor != 0))
			i++;
		add(words, "%" PRId64 "%s", n / durations[i].factor, durations[i].unit);
	} else {
		while (sizes[i].factor > 1 && (n < sizes[i].factor || n % sizes[i].factor != 0))
			i++;
		add(words, "%" PRId64 "%s", n / sizes[i].factor, sizes[i].unit);
	}
}

static void add_range(const struct keel_conf_rule *r, char words[VALUE_WORDS])
{
	if (r->min == 0 && r->max == 0)
		return;
	if (r->max == INT64_MAX) {
		add(words, " of at least ");
		add_limit(r, r->min, words);
		return;
	}
	add(words, " from ");
	add_limit(r, r->min, words);
	add(words, " to ");
	add_limit(r, r->max, words);
}

const char *value_expected(const struct keel_conf_rule *r, char words[VALUE_WORDS])
{
	static const char *const kinds[] = {
		[KEEL_CONF_BOOL] = "true or false",
		[KEEL_CONF_INT] = "integer",
		[KEEL_CONF_STRING] = "string",
		[KEEL_CONF_ENUM] = "one of ",
		[KEEL_CONF_DURATION] = "duration (\"250ms\", \"10s\", \"5m\", \"1h\" or seconds)",
		[KEEL_CONF_SIZE] = "size (\"64kb\", \"1gb\" or bytes)",
		[KEEL_CONF_LIST] = "list of strings ([\"a\", \"b\"])",
	};

	words[0] = '\0';
	add(words, "%s", kinds[r->type]);
	if (r->type == KEEL_CONF_ENUM) {
		char **choices = list_split(r->choices == NULL ? "" : r->choices, NULL);

		for (size_t i = 0; choices != NULL && choices[i] != NULL; i++)
			add(words, "%s\"%s\"", i == 0 ? "" : ", ", choices[i]);
		free(choices);
	}
	if (r->type == KEEL_CONF_INT || r->type == KEEL_CONF_DURATION || r->type == KEEL_CONF_SIZE)
		add_range(r, words);
	return words;
}

const char *value_got(const config_setting_t *s, char words[VALUE_WORDS])
{
	words[0] = '\0';
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		add(words, "%lld", config_setting_get_int64(s));
		break;
	case CONFIG_TYPE_FLOAT:
		add(words, "%g", config_setting_get_float(s));
		break;
	case CONFIG_TYPE_STRING:
		add(words, "\"%s\"", config_setting_get_string(s));
		break;
	case CONFIG_TYPE_BOOL:
		add(words, "%s", config_setting_get_bool(s) ? "true" : "false");
		break;
	case CONFIG_TYPE_GROUP:
		add(words, "a group");
		break;
	default:
		add(words, "a list of something else");
		break;
	}
	return words;
}

/* ---- what differs ---------------------------------------------------------------------------- */
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
		return text[0] == text[1] || (text[0] != NULL && text[1] != NULL && strcmp(text[0], text[1]) == 0);
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
