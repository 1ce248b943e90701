/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - the language of preempt_order: METHODS { PERCENT METHODS }.
 *
 * "SCR 80 SC 50 S": suspend, checkpoint, requeue while more than 80 % of the time is left, then only the
 * first two, below 51 % only the first. Each letter stands once per METHODS.
 */
#include "order.h"

#include <string.h>

#define BLANKS " \t"
#define DIGITS "0123456789"
#define PERCENT_MOST 1000000 /* more digits say the same */

static bool letters_parse(const char *at, size_t len, order_known_fn *known, void *arg, char *ret)
{
	size_t i;

	if (len == 0 || len > ORDER_LETTERS)
		return false;
	for (i = 0; i < len; i++)
		if (at[i] < 'A' || at[i] > 'Z' || memchr(at, at[i], i) || (known && !known(arg, at[i])))
			return false;
	memcpy(ret, at, len);
	ret[len] = '\0';
	return true;
}

static bool percent_parse(const char *at, size_t len, int32_t *ret)
{
	int32_t n = 0;
	size_t i;

	if (len == 0 || strspn(at, DIGITS) != len)
		return false;
	for (i = 0; i < len; i++)
		n = n > PERCENT_MOST ? n : n * 10 + (at[i] - '0');
	*ret = n;
	return true;
}

bool order_parse(const char *text, order_known_fn *known, void *arg, struct order *ret)
{
	struct order o = { 0 };
	const char *at = text + strspn(text, BLANKS);
	size_t len;

	for (;;) {
		len = strcspn(at, BLANKS);
		if (o.n == ORDER_RANGES || !letters_parse(at, len, known, arg, o.range[o.n].letters))
			return false;
		at += len;
		at += strspn(at, BLANKS);
		if (!*at)
			break;
		len = strcspn(at, BLANKS);
		if (!percent_parse(at, len, &o.range[o.n].above))
			return false;
		at += len;
		at += strspn(at, BLANKS);
		o.n++;
	}
	o.n++;
	*ret = o;
	return true;
}

const char *order_letters(const struct order *o, int32_t percent)
{
	uint32_t i;

	if (percent < 0)
		return o->range[0].letters;
	for (i = 0; i + 1 < o->n && percent <= o->range[i].above; i++)
		;
	return o->range[i].letters;
}

int32_t percent_left(int64_t used, int64_t requested)
{
	int64_t left;

	if (used < 0)
		used = 0;
	if (requested <= 0 || used / 100 > requested)
		return 1;
	left = 100 - 100 * used / requested;
	return left < 0 ? 1 : (int32_t)left;
}
