/* SPDX-License-Identifier: Apache-2.0
 *
 * increment.c - a select with more chunks than it has. Pure: texts in, text out.
 *
 * select := item ('+' item)*, item := [count ':'] res=value (':' res=value)* | count. A '+' or ':' inside of quotes
 * belongs to a value.
 */
#include "increment.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "chunks.h"

struct item {
	long count;
	const char *rest; /* behind the count and its colon; `len` bytes */
	size_t len;
};

/* Cuts the item off that *at points to; false at the end. */
static bool item_next(const char **at, struct item *ret)
{
	const char *text = *at;
	size_t len = text ? chunk_span(text, "+") : 0, digits;

	if (!text)
		return false;
	digits = strspn(text, "0123456789");
	*ret = (struct item){ .count = 1, .rest = text, .len = len };
	if (digits && digits < 10 && (digits == len || text[digits] == ':')) {
		ret->count = strtol(text, NULL, 10);
		ret->rest += digits + (digits < len);
		ret->len -= digits + (digits < len);
	}
	*at = text[len] ? text + len + 1 : NULL;
	return true;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t")] == '\0';
}

/* inc(n) of the rule, at most `room`. 0; -EINVAL, -ERANGE. */
static int32_t grow(const char *rule, long n, long room, long *ret)
{
	double by, sum;
	char *end;

	if (!rule || isspace((unsigned char)*rule) || !rule[strcspn(rule, "0123456789")] || strpbrk(rule, "xXpPnN"))
		return -EINVAL; /* also what strtod() takes and no one writes here: hexadecimal, infinite */
	by = strtod(rule, &end);
	if (end == rule || !isfinite(by))
		return -EINVAL;
	if (*end == '%')
		sum = ceil((double)n * (1 + by / 100) - 1e-9); /* 10 and 10 % are 11, whatever a double says */
	else if (by == floor(by) && !strpbrk(rule, ".eE"))
		sum = (double)n + by;
	else
		return -EINVAL;
	if (!is_blank(end + (*end == '%')))
		return -EINVAL;
	if (sum < 0 || sum > room)
		return -ERANGE;
	*ret = (long)sum;
	return 0;
}

static void item_write(const struct item *item, bool first, struct keel_text *ret)
{
	keel_text_printf(ret, "%s%ld%s", first ? "" : "+", item->count, item->len ? ":" : "");
	keel_text_add(ret, item->rest, item->len);
}

int32_t increment_select(const char *select, increment_rule *rule, void *arg, struct keel_text *ret)
{
	const char *at = select;
	struct item item;
	uint32_t i;
	int32_t code = 0;

	for (i = 0; code == 0 && item_next(&at, &item); i++) {
		long kept = i == 0 && item.count > 0 ? 1 : 0; /* the primary's chunk */

		item.count -= kept;
		if (item.count > 0)
			code = grow(rule(arg, i), item.count, INCREMENT_COUNT_MAX - kept, &item.count);
		item.count += kept;
		item_write(&item, i == 0, ret);
	}
	return code ? code : ret->failed ? -ENOMEM : 0;
}

static const char *same_rule(void *arg, uint32_t item)
{
	(void)item;
	return arg;
}

int32_t increment_chunks(const char *select, const char *rule, struct keel_text *ret)
{
	return increment_select(select, same_rule, (void *)(uintptr_t)rule, ret);
}

int32_t increment_counts_of(const char *select, const char *counts, struct keel_text *ret)
{
	const char *at = select, *other = counts;
	struct item item, count;
	bool first = true;

	for (; item_next(&at, &item); first = false) {
		if (!item_next(&other, &count))
			return -EINVAL;
		item.count = count.count;
		item_write(&item, first, ret);
	}
	return other ? -EINVAL : ret->failed ? -ENOMEM : 0;
}
