/* SPDX-License-Identifier: Apache-2.0
 *
 * check_rows.c - tables of descriptors, values of a configuration.
 */
#include "check_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool said(const char *text)
{
	return text != NULL && text[strspn(text, " \t\n")] != '\0';
}

static void row_copy(void *to, size_t size, const void *table, uint32_t stride, uint32_t i)
{
	memset(to, 0, size);
	memcpy(to, (const char *)table + (size_t)i * stride, stride < size ? stride : size);
}

struct keel_conf_rule conf_row(const struct keel_module *m, uint32_t i)
{
	struct keel_conf_rule r;

	row_copy(&r, sizeof(r), m->conf, m->conf[0].size, i);
	return r;
}

struct keel_tap tap_row(const struct keel_module *m, uint32_t i)
{
	struct keel_tap t;

	row_copy(&t, sizeof(t), m->taps, m->taps[0].size, i);
	return t;
}

/* ---- values ---------------------------------------------------------------------------------------- */
uint32_t conf_width(uint32_t type)
{
	static const uint32_t widths[] = {
		[KEEL_CONF_BOOL] = sizeof(bool),	[KEEL_CONF_INT] = sizeof(int64_t),
		[KEEL_CONF_STRING] = sizeof(char *),	[KEEL_CONF_ENUM] = sizeof(int32_t),
		[KEEL_CONF_DURATION] = sizeof(int64_t), [KEEL_CONF_SIZE] = sizeof(int64_t),
		[KEEL_CONF_LIST] = sizeof(char **),
	};

	return type < KEEL_COUNT(widths) ? widths[type] : 0;
}

struct unit {
	const char *name;
	int64_t factor;
};

/* A whole number and a unit; the first unit is that of a bare number. */
static const char *number_objection(const struct keel_conf_rule *r, const char *text, const struct unit *units)
{
	char *end;
	int64_t n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (end == text || errno != 0)
		return "is no number";
	if (*end != '\0')
		while (units->name != NULL && strcasecmp(units->name, end) != 0)
			units++;
	if (units->name == NULL)
		return "has a unit that is none";
	if (__builtin_mul_overflow(n, units->factor, &n))
		return "is too large";
	return (r->min != 0 || r->max != 0) && (n < r->min || n > r->max) ? "is out of its own range" : NULL;
}

static const char *choice_objection(const char *choices, const char *text)
{
	size_t len = strlen(text);

	while (choices != NULL && *choices != '\0') {
		size_t n;

		choices += strspn(choices, ", ");
		n = strcspn(choices, ", ");
		if (n == len && strncmp(choices, text, n) == 0)
			return NULL;
		choices += n;
	}
	return "is none of its choices";
}

static const char *bool_objection(const char *text)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "1", "0" };

	for (size_t i = 0; i < KEEL_COUNT(words); i++)
		if (strcasecmp(words[i], text) == 0)
			return NULL;
	return "is not true or false";
}

const char *conf_objection(const struct keel_conf_rule *r, const char *text)
{
	static const struct unit none[] = { { "", 1 }, { NULL, 0 } };
	static const struct unit durations[] = { { "s", 1000 }, { "ms", 1 }, { "m", 60000 }, { "min", 60000 },
						 { "h", 3600000 }, { "d", 86400000 }, { NULL, 0 } };
	static const struct unit sizes[] = { { "b", 1 }, { "k", 1LL << 10 }, { "kb", 1LL << 10 },
					     { "m", 1LL << 20 }, { "mb", 1LL << 20 }, { "g", 1LL << 30 },
					     { "gb", 1LL << 30 }, { "t", 1LL << 40 }, { "tb", 1LL << 40 },
					     { "p", 1LL << 50 }, { "pb", 1LL << 50 }, { "w", 8 }, { "kw", 8LL << 10 },
					     { "mw", 8LL << 20 }, { "gw", 8LL << 30 }, { "tw", 8LL << 40 },
					     { NULL, 0 } };

	switch (r->type) {
	case KEEL_CONF_BOOL: return bool_objection(text);
	case KEEL_CONF_INT: return number_objection(r, text, none);
	case KEEL_CONF_DURATION: return number_objection(r, text, durations);
	case KEEL_CONF_SIZE: return number_objection(r, text, sizes);
	case KEEL_CONF_ENUM: return choice_objection(r->choices, text);
	default: return NULL;
	}
}
