/* SPDX-License-Identifier: Apache-2.0
 *
 * types_number.c - types without memory of their own: bool long time float size.
 *
 * A size is kept as number * 16 + unit, so that it prints as it was given.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

#define UNUSED (void)m, (void)key, (void)err

int order_match(int order, int32_t op)
{
	switch (op) {
	case KEEL_SET:
	case KEEL_EQ: return order == 0;
	case KEEL_NE: return order != 0;
	case KEEL_GE: return order >= 0;
	case KEEL_GT: return order > 0;
	case KEEL_LE: return order <= 0;
	case KEEL_LT: return order < 0;
	}
	return -BADATVAL;
}

static int64_t signum(double d)
{
	return d > 0 ? 1 : d < 0 ? -1 : 0;
}

/* ---- reading: false when it is no such value --------------------------------------------------- */
static bool read_long(const char *text, int64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)text[text[0] == '-' || text[0] == '+']))
		return false;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return errno == 0 && *end == '\0';
}

static bool read_bool(const char *text, int64_t *ret)
{
	static const char yes[] = ",true,True,TRUE,t,T,1,y,Y,", no[] = ",false,False,FALSE,f,F,0,n,N,";
	char word[16];

	if (text[0] == '\0' || strlen(text) > 8 || strchr(text, ',') != NULL)
		return false;
	snprintf(word, sizeof(word), ",%s,", text);
	*ret = strstr(yes, word) != NULL;
	return *ret || strstr(no, word) != NULL;
}

static bool read_time(const char *text, int64_t *ret)
{
	int64_t total = 0;
	int parts = 0;

	do {
		char *end;
		long long n;

		if (!isdigit((unsigned char)*text) || ++parts > 3)
			return false;
		errno = 0;
		n = strtoll(text, &end, 10);
		if (errno != 0 || n > INT64_MAX / 400000)
			return false;
		total = total * 60 + n;
		text = end;
	} while (*text++ == ':');
	text--;
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

	if (text[0] == '\0' || isspace((unsigned char)text[0]) || strpbrk(text, "xXnNiI") != NULL)
		return false;
	*ret = strtod(text, &end);
	return *end == '\0' && isfinite(*ret);
}

static bool read_size(const char *text, int64_t *ret)
{
	static const char scales[] = "bkmgtp";
	const char *scale;
	char *end;
	long long n;
	int unit = 0;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno != 0 || n > INT64_MAX / 16)
		return false;
	scale = *end != '\0' ? strchr(scales + 1, tolower((unsigned char)*end)) : NULL;
	if (scale != NULL) {
		unit = (int)(scale - scales);
		end++;
	}
	if (*end == 'w' || *end == 'W')
		unit += 6;
	else if ((*end != 'b' && *end != 'B') && (*end != '\0' || scale != NULL))
		return false;
	*ret = n * 16 + unit;
	return *end == '\0' || end[1] == '\0';
}

static double size_bytes(int64_t slot)
{
	int unit = (int)(slot % 16);

	return ldexp((double)(slot / 16), 10 * (unit % 6)) * (unit >= 6 ? 8 : 1);
}

int64_t size_kb(const union keel_slot *slot)
{
	return (int64_t)ceil(size_bytes(slot->i) / 1024);
}

/* ---- combining ------------------------------------------------------------------------------------ */
typedef bool read_fn(const char *text, int64_t *ret);

static int32_t put_int(const struct keel_attr *a, read_fn *read, int32_t op, const char *text,
		       union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	int64_t n, was = *is_set ? slot->i : 0;

	if (text == NULL || !read(text, &n) ||
	    (op == KEEL_INCR && __builtin_add_overflow(was, n, &n)) ||
	    (op == KEEL_DECR && __builtin_sub_overflow(was, n, &n)))
		return attr_fault(err, BADATVAL, a, NULL);
	slot->i = n;
	*is_set = true;
	return 0;
}

#define PARSE(name)                                                                                \
	static int32_t parse_##name(struct keel_mod *m, const struct keel_attr *a, int32_t op,     \
				    const char *key, const char *text, union keel_slot *slot,      \
				    bool *is_set, struct keel_err *err)

PARSE(long)
{
	UNUSED;
	return put_int(a, read_long, op, text, slot, is_set, err);
}

PARSE(time)
{
	UNUSED;
	return put_int(a, read_time, op, text, slot, is_set, err);
}

PARSE(bool)
{
	UNUSED;
	return op != KEEL_SET ? attr_fault(err, BADATVAL, a, NULL) :
				put_int(a, read_bool, op, text, slot, is_set, err);
}

PARSE(float)
{
	double f, was = *is_set ? slot->f : 0;

	UNUSED;
	if (text == NULL || !read_float(text, &f))
		return attr_fault(err, BADATVAL, a, NULL);
	f = op == KEEL_INCR ? was + f : op == KEEL_DECR ? was - f : f;
	if (!isfinite(f))
		return attr_fault(err, BADATVAL, a, NULL);
	slot->f = f;
	*is_set = true;
	return 0;
}

/* A sum is said in the smaller unit of the two, bytes when one of them are words. */
PARSE(size)
{
	int64_t n, was = *is_set ? slot->i : 0, ua, ub, unit;
	double sum;

	UNUSED;
	if (text == NULL || !read_size(text, &n))
		return attr_fault(err, BADATVAL, a, NULL);
	if (op != KEEL_SET) {
		sum = size_bytes(was) + (op == KEEL_INCR ? size_bytes(n) : -size_bytes(n));
		ua = was / 16 == 0 ? n % 16 : was % 16;
		ub = n / 16 == 0 ? ua : n % 16;
		unit = ua % 6 < ub % 6 ? ua % 6 : ub % 6;
		unit += ua >= 6 && ub >= 6 ? 6 : 0;
		if (sum < 0)
			return attr_fault(err, BADATVAL, a, NULL);
		n = (int64_t)(sum / size_bytes(16 + unit)) * 16 + unit;
	}
	slot->i = n;
	*is_set = true;
	return 0;
}

/* ---- printing --------------------------------------------------------------------------------------- */
static void emit(const struct keel_emit *e, const char *fmt, ...) KEEL_PRINTF(2, 3);
static void emit(const struct keel_emit *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	e->fn(e->arg, NULL, text, (uint32_t)strlen(text));
}

#define FORMAT(name)                                                                               \
	static void format_##name(struct keel_mod *m, const union keel_slot *slot, const char *key, \
				  const struct keel_emit *e)

FORMAT(long)
{
	(void)m, (void)key;
	emit(e, "%lld", (long long)slot->i);
}

FORMAT(bool)
{
	(void)m, (void)key;
	emit(e, "%s", slot->i != 0 ? "True" : "False");
}

FORMAT(time)
{
	long long left = slot->i < 0 ? -slot->i : slot->i;

	(void)m, (void)key;
	emit(e, "%s%02lld:%02lld:%02lld", slot->i < 0 ? "-" : "", left / 3600, left / 60 % 60, left % 60);
}

FORMAT(float)
{
	char text[400];
	int len = snprintf(text, sizeof(text), "%f", slot->f);

	(void)m, (void)key;
	while (len > 1 && text[len - 1] == '0')
		len--;
	len -= text[len - 1] == '.';
	emit(e, "%.*s", len, text);
}

FORMAT(size)
{
	static const char *const units[] = { "b",  "kb", "mb", "gb", "tb", "pb",
					     "w",  "kw", "mw", "gw", "tw", "pw" };

	(void)m, (void)key;
	emit(e, "%lld%s", (long long)(slot->i / 16), units[slot->i % 16]);
}

/* ---- comparing --------------------------------------------------------------------------------------- */
static int32_t no_value(struct keel_err *err)
{
	return -err_set(err, BADATVAL, "%s", pbse_text(BADATVAL));
}

static int32_t match_int(read_fn *read, const union keel_slot *slot, bool is_set, int32_t op,
			 const char *text, struct keel_err *err)
{
	int64_t n;

	if (text == NULL || !read(text, &n))
		return no_value(err);
	if (!is_set)
		return op == KEEL_NE;
	return order_match((slot->i > n) - (slot->i < n), op);
}

#define MATCH(name)                                                                                \
	static int32_t match_##name(struct keel_mod *m, const union keel_slot *slot, bool is_set,  \
				    int32_t op, const char *key, const char *text,                 \
				    struct keel_err *err)

MATCH(long)
{
	(void)m, (void)key;
	return match_int(read_long, slot, is_set, op, text, err);
}

MATCH(bool)
{
	(void)m, (void)key;
	return match_int(read_bool, slot, is_set, op, text, err);
}

MATCH(time)
{
	(void)m, (void)key;
	return match_int(read_time, slot, is_set, op, text, err);
}

MATCH(float)
{
	double f;

	(void)m, (void)key;
	if (text == NULL || !read_float(text, &f))
		return no_value(err);
	return !is_set ? op == KEEL_NE : order_match((int)signum(slot->f - f), op);
}

MATCH(size)
{
	int64_t n;

	(void)m, (void)key;
	if (text == NULL || !read_size(text, &n))
		return no_value(err);
	return !is_set ? op == KEEL_NE : order_match((int)signum(size_bytes(slot->i) - size_bytes(n)), op);
}

#define TYPE(word, bits, words)                                                                    \
	{ .size = sizeof(struct keel_type_def), .flags = (bits), .name = #word, .doc = (words),    \
	  .parse = parse_##word, .format = format_##word, .match = match_##word }
const struct keel_type_def scalar_types[] = {
	TYPE(bool, KEEL_TYPE_INT, "True or False"),
	TYPE(long, KEEL_TYPE_INT, "a whole number"),
	TYPE(time, KEEL_TYPE_INT, "a duration, [[HH:]MM:]SS"),
	TYPE(float, 0, "a decimal number"),
	TYPE(size, 0, "an amount of memory"),
};
const uint32_t n_scalar_types = KEEL_COUNT(scalar_types);

bool size_is(const struct keel_type_def *def)
{
	return def->format == format_size;
}
