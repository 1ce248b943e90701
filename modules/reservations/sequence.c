/* SPDX-License-Identifier: Apache-2.0
 *
 * sequence.c - the vnodes of many times as one text: `<n>#<set>{0-3,7}<set>{5}`. Pure.
 *
 * n is how many times are left, the numbers in braces count them from 0; a time in no set has no vnodes.
 */
#include "reservations.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "keel/text.h"

/* A number below `max`; false: there is none at *at. */
static bool number_read(const char **at, uint32_t max, uint32_t *ret)
{
	char *end;
	unsigned long n;

	if (!isdigit((unsigned char)**at))
		return false;
	n = strtoul(*at, &end, 10);
	if (n >= max)
		return false;
	*at = end;
	*ret = (uint32_t)n;
	return true;
}

/* `3` or `0-3`. */
static bool range_read(const char **at, uint32_t n, uint32_t *first, uint32_t *last)
{
	if (!number_read(at, n, first))
		return false;
	*last = *first;
	if (**at != '-')
		return true;
	(*at)++;
	return number_read(at, n, last) && *last >= *first;
}

/* The ranges of a set, `0-3,7}`. */
static int32_t ranges_read(const char **at, uint32_t n, const char *set, size_t len, sequence_fn *fn, void *arg)
{
	uint32_t first, last;
	int32_t r;

	do {
		if (!range_read(at, n, &first, &last))
			return -EINVAL;
		r = fn(arg, set, len, first, last);
		if (r)
			return r;
	} while (*(*at)++ == ',');
	return (*at)[-1] == '}' ? 0 : -EINVAL;
}

int32_t sequence_each(const char *text, uint32_t n, sequence_fn *fn, void *arg)
{
	uint32_t count;
	int32_t r = 0;

	if (!number_read(&text, UINT32_MAX, &count) || count != n || *text++ != '#')
		return -EINVAL;
	while (!r && *text) {
		const char *set = text, *brace = strstr(text, "){");

		if (*set != '(' || !brace)
			return -EINVAL;
		text = brace + 2;
		r = ranges_read(&text, n, set, (size_t)(brace + 1 - set), fn, arg);
	}
	return r;
}

/* A time and its vnodes, while they are sorted. */
struct numbered {
	const char *nodes;
	uint32_t i, group; /* group: the first time that has the same */
};

static int by_nodes(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	int order = x->nodes == y->nodes ? 0 : strcmp(x->nodes, y->nodes);

	return order ? order : (x->i > y->i) - (x->i < y->i);
}

static int by_group(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return x->group != y->group ? (x->group > y->group) - (x->group < y->group) : (x->i > y->i) - (x->i < y->i);
}

/* Those with the same vnodes stand together, groups by their first time. */
static void group(struct numbered *t, uint32_t n)
{
	qsort(t, n, sizeof(*t), by_nodes);
	for (uint32_t k = 0; k < n; k++)
		t[k].group = k && strcmp(t[k].nodes, t[k - 1].nodes) == 0 ? t[k - 1].group : t[k].i;
	qsort(t, n, sizeof(*t), by_group);
}

static void groups_write(const struct numbered *t, uint32_t n, struct keel_text *out)
{
	for (uint32_t k = 0, end; k < n; k = end) {
		bool first = k == 0 || t[k].group != t[k - 1].group;

		for (end = k + 1; end < n && t[end].group == t[k].group && t[end].i == t[end - 1].i + 1; end++)
			;
		keel_text_str(out, first ? t[k].nodes : ",");
		keel_text_printf(out, "%s%u", first ? "{" : "", (unsigned)t[k].i);
		if (end > k + 1)
			keel_text_printf(out, "-%u", (unsigned)t[end - 1].i);
		if (end == n || t[end].group != t[k].group)
			keel_text_str(out, "}");
	}
}

int32_t sequence_write(const struct span *span, uint32_t n, struct keel_text *out)
{
	struct numbered *t = calloc(n ? n : 1, sizeof(*t));
	uint32_t have = 0;

	if (!t)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (span[i].nodes)
			t[have++] = (struct numbered){ span[i].nodes, i, 0 };
	keel_text_printf(out, "%u#", (unsigned)n);
	if (have)
		group(t, have);
	groups_write(t, have, out);
	free(t);
	return out->failed ? -ENOMEM : 0;
}
