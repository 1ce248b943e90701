/* SPDX-License-Identifier: Apache-2.0
 *
 * number.c - the types bool, long, time and float.
 *
 * A time is stored as whole seconds. `+=` and `-=` are arithmetic; for a bool they are an error.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "types/types.h"

static void emit(const struct keel_emit *e, const char *text, uint32_t len)
{
	e->fn(e->arg, NULL, text, len);
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool read_long(const char *text, int64_t *ret)
{
	const char *digits = text + (*text == '-' || *text == '+');
	char *end;
	long long n;

	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno || *end)
		return false;
	*ret = n;
	return true;
}

static bool read_bool(const char *text, int64_t *ret)
{
	static const char *const words[2][7] = {
		{ "False", "FALSE", "false", "f", "F", "0" },
		{ "True", "TRUE", "true", "t", "T", "1" },
	};

	for (int truth = 0; truth < 2; truth++)
		for (int i = 0; words[truth][i]; i++)
			if (strcmp(text, words[truth][i]) == 0) {
				*ret = truth;
				return true;
			}
	if (strlen(text) == 1 && strchr("nNyY", *text)) {
		*ret = *text == 'y' || *text == 'Y';
		return true;
	}
	return false;
}

/* [[HH:]MM:]SS[.fraction]; half a second and more counts as one. */
static bool read_time(const char *text, int64_t *ret)
{
	int64_t total = 0;

	for (int part = 0;; part++) {
		int64_t n = 0;

		if (part == 3 || !isdigit((unsigned char)*text))
			return false;
		for (; isdigit((unsigned char)*text); text++) {
			n = n * 10 + (*text - '0');
			if (n > INT64_MAX / 400000)
				return false;
		}
		total = total * 60 + n;
		if (*text != ':')
			break;
		text++;
	}
	if (*text == '.') {
		total += text[1] >= '5' && text[1] <= '9';
		text += 1 + strspn(text + 1, "0123456789");
	}
	*ret = total;
	return *text == '\0';
}

static bool read_float(const char *text, double *ret)
{
	char *end;
	double f;

	if (!*text || isspace((unsigned char)*text) || strpbrk(text, "xXnNiI"))
		return false; /* decimal only: no hexadecimal, nan or inf */
	f = strtod(text, &end);
	if (*end || !isfinite(f))
		return false;
	*ret = f;
	return true;
}

/* ---- writing ------------------------------------------------------------------------------- */

uint32_t types_long(char buf[TYPES_DIGITS], int64_t n)
{
	char rev[20];
	uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
	uint32_t digits = 0, len = 0;

	do {
		rev[digits++] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	if (n < 0)
		buf[len++] = '-';
	while (digits)
		buf[len++] = rev[--digits];
	return len;
}

uint32_t types_time(char buf[TYPES_DIGITS], int64_t seconds)
{
	uint64_t left = seconds < 0 ? 0 - (uint64_t)seconds : (uint64_t)seconds;
	char *at = buf;

	if (seconds < 0)
		*at++ = '-';
	if (left < 36000)
		*at++ = '0';
	at += types_long(at, (int64_t)(left / 3600));
	left %= 3600;
	*at++ = ':';
	*at++ = (char)('0' + left / 600);
	*at++ = (char)('0' + left / 60 % 10);
	*at++ = ':';
	*at++ = (char)('0' + left % 60 / 10);
	*at++ = (char)('0' + left % 10);
	return (uint32_t)(at - buf);
}

static void format_long(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *e)
{
	char buf[TYPES_DIGITS];

	(void)m, (void)key;
	emit(e, buf, types_long(buf, slot->i));
}

static void format_bool(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *e)
{
	(void)m, (void)key;
	emit(e, slot->i ? "True" : "False", slot->i ? 4 : 5);
}

static void format_time(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *e)
{
	char buf[TYPES_DIGITS];

	(void)m, (void)key;
	emit(e, buf, types_time(buf, slot->i));
}

/* Trailing zeros are cut: 1.500000 is 1.5, 2.000000 is 2. */
static void format_float(struct keel_mod *m, const union keel_slot *slot, const char *key,
			 const struct keel_emit *e)
{
	char buf[512]; /* the largest double has 309 digits before the point */
	int len = snprintf(buf, sizeof(buf), "%f", slot->f);

	(void)m, (void)key;
	while (len > 1 && buf[len - 1] == '0')
		len--;
	if (buf[len - 1] == '.')
		len--;
	emit(e, buf, (uint32_t)len);
}

/* ---- integers ------------------------------------------------------------------------------ */

int32_t types_match(int order, int32_t op)
{
	switch (op) {
	case KEEL_SET:
	case KEEL_EQ:
		return order == 0;
	case KEEL_NE:
		return order != 0;
	case KEEL_GE:
		return order >= 0;
	case KEEL_GT:
		return order > 0;
	case KEEL_LE:
		return order <= 0;
	case KEEL_LT:
		return order < 0;
	default:
		return -PBSE_BADATVAL;
	}
}

typedef bool read_fn(const char *text, int64_t *ret);

static int32_t parse_int(read_fn *read, int32_t op, const char *text, union keel_slot *slot, bool *is_set)
{
	int64_t n, was = *is_set ? slot->i : 0;

	if (!text || !read(text, &n))
		return PBSE_BADATVAL;
	if (op == KEEL_INCR && __builtin_add_overflow(was, n, &n))
		return PBSE_BADATVAL;
	if (op == KEEL_DECR && __builtin_sub_overflow(was, n, &n))
		return PBSE_BADATVAL;
	slot->i = n;
	*is_set = true;
	return 0;
}

static int32_t match_int(read_fn *read, const union keel_slot *slot, bool is_set, int32_t op, const char *text)
{
	int64_t n;

	if (!text || !read(text, &n))
		return -PBSE_BADATVAL;
	if (!is_set)
		return op == KEEL_NE;
	return types_match((slot->i > n) - (slot->i < n), op);
}

/* read_<type>() and format_<type>() make a type; `adds`: does it know += and -=? */
#define INTEGER(type, adds, words)                                                                 \
	static int32_t parse_##type(struct keel_mod *m, const struct keel_attr *a, int32_t op,     \
				    const char *key, const char *text, union keel_slot *slot,      \
				    bool *is_set, struct keel_err *err)                            \
	{                                                                                          \
		(void)m, (void)a, (void)key, (void)err;                                            \
		if (!(adds) && op != KEEL_SET)                                                     \
			return PBSE_BADATVAL;                                                      \
		return parse_int(read_##type, op, text, slot, is_set);                             \
	}                                                                                          \
	static int32_t match_##type(struct keel_mod *m, const union keel_slot *slot, bool is_set,  \
				    int32_t op, const char *key, const char *text,                 \
				    struct keel_err *err)                                          \
	{                                                                                          \
		(void)m, (void)key, (void)err;                                                     \
		return match_int(read_##type, slot, is_set, op, text);                             \
	}                                                                                          \
	const struct keel_type_def type_##type = {                                                 \
		.size = sizeof(struct keel_type_def), .flags = KEEL_TYPE_INT, .name = #type,       \
		.doc = (words), .parse = parse_##type, .format = format_##type,                    \
		.match = match_##type,                                                             \
	}
INTEGER(bool, false, "True or False");
INTEGER(long, true, "a whole number");
INTEGER(time, true, "a duration, [[HH:]MM:]SS");

/* ---- float --------------------------------------------------------------------------------- */

static int32_t parse_float(struct keel_mod *m, const struct keel_attr *a, int32_t op,
			   const char *key, const char *text, union keel_slot *slot, bool *is_set,
			   struct keel_err *err)
{
	double f, was = *is_set ? slot->f : 0;

	(void)m, (void)a, (void)key, (void)err;
	if (!text || !read_float(text, &f))
		return PBSE_BADATVAL;
	if (op == KEEL_INCR)
		f = was + f;
	else if (op == KEEL_DECR)
		f = was - f;
	if (!isfinite(f))
		return PBSE_BADATVAL;
	slot->f = f;
	*is_set = true;
	return 0;
}

static int32_t match_float(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			   const char *key, const char *text, struct keel_err *err)
{
	double f;

	(void)m, (void)key, (void)err;
	if (!text || !read_float(text, &f))
		return -PBSE_BADATVAL;
	if (!is_set)
		return op == KEEL_NE;
	return types_match((slot->f > f) - (slot->f < f), op);
}

const struct keel_type_def type_float = {
	.size = sizeof(struct keel_type_def), .name = "float", .doc = "a decimal number",
	.parse = parse_float, .format = format_float, .match = match_float,
};

const struct keel_type_def *const types_common[] = {
	&type_bool, &type_long, &type_time, &type_float, &type_size, &type_string, &type_string_array, NULL,
};
