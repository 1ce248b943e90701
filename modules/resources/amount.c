/* SPDX-License-Identifier: Apache-2.0
 *
 * amount.c - one value of a resource: from text, to text, compared.
 *
 * Sizes are kept in bytes together with the unit the user wrote, so that `4gb` prints as `4gb`.
 */
#include "resources.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define EXACT_MAX 9007199254740992.0 /* 2^53 */
#define SIZE_MOST 1152921504606846976.0 /* 2^60 */
#define DIGITS 24u /* of the largest number, with a sign */

int32_t fail(struct keel_err *err, int32_t code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		err->code = code;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return code;
}

static bool parse_long(const char *text, double *ret)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (end == text || *end || errno || isspace((unsigned char)*text) || n < -(long long)EXACT_MAX ||
	    n > (long long)EXACT_MAX)
		return false;
	*ret = (double)n;
	return true;
}

static bool parse_float(const char *text, double *ret)
{
	char *end;

	if (strspn(text, "0123456789+-.eE") != strlen(text))
		return false;
	*ret = strtod(text, &end);
	return end != text && !*end && isfinite(*ret);
}

static bool parse_size(const char *text, double *ret, uint32_t *ret_unit)
{
	static const char powers[] = "kmgtp";
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits, *power;
	uint32_t u = 0;
	double n;

	if (digits == 0 || digits > 19)
		return false;
	n = strtod(text, NULL);
	if (*unit && (power = strchr(powers, tolower((unsigned char)*unit)))) {
		u = (uint32_t)(power - powers) + 1;
		unit++;
	}
	if (*unit == 'w' || *unit == 'W') {
		u |= UNIT_WORD;
		unit++;
	} else if (*unit == 'b' || *unit == 'B') {
		unit++;
	}
	if (*unit)
		return false;
	n = ldexp(n, (int)(10 * (u & 7)) + (u & UNIT_WORD ? 3 : 0));
	*ret = n;
	*ret_unit = u;
	return true;
}

/* SS, MM:SS or HH:MM:SS, with an optional fraction that rounds. */
static bool parse_time(const char *text, double *ret)
{
	double n = 0;
	int fields = 0;

	for (;;) {
		size_t digits = strspn(text, "0123456789");

		if (digits == 0 || digits > 12 || ++fields > 3)
			return false;
		n = n * 60 + strtod(text, NULL) - (text[digits] == '.' ? strtod(text + digits, NULL) : 0);
		text += digits;
		if (*text != ':')
			break;
		text++;
	}
	if (*text == '.') {
		size_t digits = strspn(text + 1, "0123456789");

		if (text[1 + digits])
			return false;
		n += digits && text[1] >= '5' ? 1 : 0;
		text += 1 + digits;
	}
	*ret = floor(n + 0.5);
	return !*text;
}

static bool parse_bool(const char *text, double *ret)
{
	static const char *const yes[] = { "true", "t", "1", "y", NULL };
	static const char *const no[] = { "false", "f", "0", "n", NULL };
	int i;

	for (i = 0; yes[i]; i++)
		if (strcasecmp(text, yes[i]) == 0)
			return *ret = 1, true;
	for (i = 0; no[i]; i++)
		if (strcasecmp(text, no[i]) == 0)
			return *ret = 0, true;
	return false;
}

bool amount_fits(const struct keel_resource *res, double n)
{
	switch (res->type) {
	case KEEL_RES_SIZE: return n >= 0 && n <= SIZE_MOST;
	case KEEL_RES_TIME: return n >= 0 && n <= EXACT_MAX;
	case KEEL_RES_BOOL: return n >= 0 && n <= 1;
	default: return fabs(n) <= EXACT_MAX;
	}
}

int32_t value_parse(const struct keel_resource *res, const char *text, struct keel_res_value *ret,
		    struct keel_err *err)
{
	struct keel_res_value v = { .res = res };
	bool good = false;

	switch (res->type) {
	case KEEL_RES_LONG: good = parse_long(text, &v.n); break;
	case KEEL_RES_FLOAT: good = parse_float(text, &v.n); break;
	case KEEL_RES_SIZE: good = parse_size(text, &v.n, &v.unit); break;
	case KEEL_RES_TIME: good = parse_time(text, &v.n); break;
	case KEEL_RES_BOOL: good = parse_bool(text, &v.n); break;
	default:
		v.text = strdup(text);
		if (!v.text)
			return fail(err, PBSE_SYSTEM, "System error: out of memory");
		*ret = v;
		return 0;
	}
	if (!good || !amount_fits(res, v.n))
		return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
	*ret = v;
	return 0;
}

void value_fini(struct keel_res_value *v)
{
	free((char *)v->text);
	v->text = NULL;
}

int32_t value_copy(const struct keel_res_value *from, struct keel_res_value *to)
{
	struct keel_res_value v = *from;

	if (from->text && !(v.text = strdup(from->text)))
		return -ENOMEM;
	*to = v;
	return 0;
}

/* Writes the decimal digits of a whole number before `end` and returns the first. Hot path of listings and of storing
 * vnodes. */
static char *digits_before(double n, char *end)
{
	uint64_t left = fabs(n) < 0x1p63 ? (uint64_t)fabs(n) : 1ull << 63;

	do {
		*--end = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (n < 0)
		*--end = '-';
	return end;
}

/* Copies the text, or "" if it does not fit. Returns its length. */
static int32_t text_copy(const char *text, size_t size, char *buf, uint32_t len)
{
	if (size < len) {
		memcpy(buf, text, size);
		buf[size] = '\0';
	} else if (len) {
		buf[0] = '\0';
	}
	return (int32_t)size;
}

/* Units are powers of two: dividing by one is exact. */
static int32_t size_text(const struct keel_res_value *v, bool in_kb, char *buf, uint32_t len)
{
	static const char names[] = " kmgtp";
	uint32_t power = in_kb ? 1 : v->unit & 7, word = in_kb ? 0 : v->unit & UNIT_WORD;
	double n = v->n / (double)(1ull << (10 * power + (word ? 3 : 0)));
	char text[DIGITS + 2], *end = text + sizeof(text), *from = end;

	for (; !in_kb && power > 0 && n != floor(n); power--)
		n *= 1024;
	*--from = word ? 'w' : 'b';
	if (power > 0)
		*--from = names[power];
	from = digits_before(in_kb ? ceil(n) : rint(n), from);
	return text_copy(from, (size_t)(end - from), buf, len);
}

int32_t value_text(const struct keel_res_value *v, bool in_kb, char *buf, uint32_t len)
{
	char text[DIGITS], *end = text + sizeof(text), *from, digits[64];
	int64_t s = (int64_t)v->n;
	size_t len_f;

	/* One of the history may be of an earlier type of its resource. */
	if (v->text)
		return text_copy(v->text, strlen(v->text), buf, len);
	switch (v->res->type) {
	case KEEL_RES_STRING:
	case KEEL_RES_STRINGS:
	case KEEL_RES_LONG:
		from = digits_before(v->n, end);
		return text_copy(from, (size_t)(end - from), buf, len);
	case KEEL_RES_FLOAT:
		len_f = (size_t)snprintf(digits, sizeof(digits), "%f", v->n);
		while (len_f > 1 && digits[len_f - 1] == '0')
			len_f--;
		if (len_f > 1 && digits[len_f - 1] == '.')
			len_f--;
		return snprintf(buf, len, "%.*s", (int)len_f, digits);
	case KEEL_RES_SIZE: return size_text(v, in_kb, buf, len);
	case KEEL_RES_TIME:
		return snprintf(buf, len, "%02lld:%02lld:%02lld", (long long)(s / 3600),
				(long long)(s / 60 % 60), (long long)(s % 60));
	case KEEL_RES_BOOL: return snprintf(buf, len, "%s", v->n != 0 ? "True" : "False");
	default: return snprintf(buf, len, "%s", "");
	}
}

int32_t value_compare(const struct keel_res_value *a, const struct keel_res_value *b)
{
	if (keel_res_is_number(a->res))
		return a->n < b->n ? -1 : a->n > b->n;
	return strcmp(a->text ? a->text : "", b->text ? b->text : "");
}
