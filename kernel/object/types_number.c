/* SPDX-License-Identifier: Apache-2.0
 *
 * types_number.c - the kernel's types bool, long, time and float.
 *
 * A time is kept as whole seconds. `+=` and `-=` are arithmetic; bool knows none.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "util/err.h"

#define BADATVAL 15014

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

/* ---- parse --------------------------------------------------------------------------------- */

typedef bool read_fn(const char *text, int64_t *ret);

static int32_t parse_int(const struct keel_attr *a, read_fn *read, int32_t op, const char *text,
			 union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	int64_t n, was = *is_set ? slot->i : 0;

	if (!text || !read(text, &n))
		return attr_fault(err, BADATVAL, a, NULL);
	if (op == KEEL_INCR && __builtin_add_overflow(was, n, &n))
		return attr_fault(err, BADATVAL, a, NULL);
	if (op == KEEL_DECR && __builtin_sub_overflow(was, n, &n))
		return attr_fault(err, BADATVAL, a, NULL);
	slot->i = n;
	*is_set = true;
	return 0;
}

static int32_t parse_long(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			  const char *text, union keel_slot *slot, bool *is_set,
			  struct keel_err *err)
{
	(void)m, (void)key;
	return parse_int(a, read_long, op, text, slot, is_set, err);
}

static int32_t parse_time(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			  const char *text, union keel_slot *slot, bool *is_set,
			  struct keel_err *err)
{
	(void)m, (void)key;
	return parse_int(a, read_time, op, text, slot, is_set, err);
}

static int32_t parse_bool(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			  const char *text, union keel_slot *slot, bool *is_set,
			  struct keel_err *err)
{
	(void)m, (void)key;
	if (op != KEEL_SET)
		return attr_fault(err, BADATVAL, a, NULL);
	return parse_int(a, read_bool, op, text, slot, is_set, err);
}

static int32_t parse_float(struct keel_mod *m, const struct keel_attr *a, int32_t op,
			   const char *key, const char *text, union keel_slot *slot, bool *is_set,
			   struct keel_err *err)
{
	double f, was = *is_set ? slot->f : 0;

	(void)m, (void)key;
	if (!text || !read_float(text, &f))
		return attr_fault(err, BADATVAL, a, NULL);
	if (op == KEEL_INCR)
		f = was + f;
	else if (op == KEEL_DECR)
		f = was - f;
	if (!isfinite(f))
		return attr_fault(err, BADATVAL, a, NULL);
	slot->f = f;
	*is_set = true;
	return 0;
}

/* ---- format -------------------------------------------------------------------------------- */

static void format_long(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *e)
{
	char buf[24];

	(void)m, (void)key;
	emit(e, buf, mp_digits(buf, slot->i));
}

static void format_bool(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *e)
{
	(void)m, (void)key;
	emit(e, slot->i ? "True" : "False", slot->i ? 4 : 5);
}

uint32_t time_digits(char *buf, int64_t seconds)
{
	uint64_t left = seconds < 0 ? 0 - (uint64_t)seconds : (uint64_t)seconds;
	char *at = buf;

	if (seconds < 0)
		*at++ = '-';
	if (left < 36000)
		*at++ = '0';
	at += mp_digits(at, (int64_t)(left / 3600));
	left %= 3600;
	*at++ = ':';
	*at++ = (char)('0' + left / 600);
	*at++ = (char)('0' + left / 60 % 10);
	*at++ = ':';
	*at++ = (char)('0' + left % 60 / 10);
	*at++ = (char)('0' + left % 10);
	return (uint32_t)(at - buf);
}

static void format_time(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *e)
{
	char buf[TIME_DIGITS];

	(void)m, (void)key;
	emit(e, buf, time_digits(buf, slot->i));
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

/* ---- match --------------------------------------------------------------------------------- */

int32_t order_match(int order, int32_t op)
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
		return -BADATVAL;
	}
}

static int32_t match_int(read_fn *read, const union keel_slot *slot, bool is_set, int32_t op,
			 const char *text, struct keel_err *err)
{
	int64_t n;

	if (!text || !read(text, &n))
		return -err_set(err, BADATVAL, "%s", pbse_text(BADATVAL));
	if (!is_set)
		return op == KEEL_NE;
	return order_match((slot->i > n) - (slot->i < n), op);
}

static int32_t match_long(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	(void)m, (void)key;
	return match_int(read_long, slot, is_set, op, text, err);
}

static int32_t match_bool(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	(void)m, (void)key;
	return match_int(read_bool, slot, is_set, op, text, err);
}

static int32_t match_time(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	(void)m, (void)key;
	return match_int(read_time, slot, is_set, op, text, err);
}

static int32_t match_float(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			   const char *key, const char *text, struct keel_err *err)
{
	double f;

	(void)m, (void)key;
	if (!text || !read_float(text, &f))
		return -err_set(err, BADATVAL, "%s", pbse_text(BADATVAL));
	if (!is_set)
		return op == KEEL_NE;
	return order_match((slot->f > f) - (slot->f < f), op);
}

#define NUMBER(type, flag, words)                                                                  \
	{ .size = sizeof(struct keel_type_def), .flags = (flag), .name = #type, .doc = (words),    \
	  .parse = parse_##type, .format = format_##type, .match = match_##type }
const struct keel_type_def types_number[] = {
	NUMBER(bool, KEEL_TYPE_INT, "True or False"),
	NUMBER(long, KEEL_TYPE_INT, "a whole number"),
	NUMBER(time, KEEL_TYPE_INT, "a duration, [[HH:]MM:]SS"),
	NUMBER(float, 0, "a decimal number"),
};
const uint32_t n_types_number = sizeof(types_number) / sizeof(types_number[0]);
