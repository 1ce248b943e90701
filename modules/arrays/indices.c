/* SPDX-License-Identifier: Apache-2.0
 *
 * indices.c - the numbers users give subjobs, as text and back. See indices.h.
 */
#include "indices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------- */

/* Digits at *at, before `end`. */
static bool number_read(const char **at, const char *end, uint32_t *ret)
{
	uint64_t n = 0;
	const char *p = *at;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (uint64_t)(*p - '0');
		if (n > INDEX_MAX)
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	*ret = (uint32_t)n;
	return true;
}

static bool sign_read(const char **at, const char *end, char c)
{
	if (*at >= end || **at != c)
		return false;
	(*at)++;
	return true;
}

/* `3`, `1-9` or `1-9:2` */
static bool range(const char **at, const char *end, uint32_t *first, uint32_t *last, uint32_t *step)
{
	*step = 1;
	if (!number_read(at, end, first))
		return false;
	*last = *first;
	if (!sign_read(at, end, '-'))
		return true;
	if (!number_read(at, end, last))
		return false;
	return !sign_read(at, end, ':') || (number_read(at, end, step) && *step > 0);
}

bool indices_parse(const char *text, struct indices *ret)
{
	const char *at = text, *end = text + strlen(text);
	uint32_t last;

	if (!range(&at, end, &ret->first, &last, &ret->step) || at != end || last <= ret->first)
		return false;
	ret->count = (last - ret->first) / ret->step + 1;
	return true;
}

bool indices_ordinal(const struct indices *x, uint32_t index, uint32_t *ret_ordinal)
{
	if (index < x->first || (index - x->first) % x->step ||
	    (index - x->first) / x->step >= x->count)
		return false;
	*ret_ordinal = (index - x->first) / x->step;
	return true;
}

uint32_t indices_index(const struct indices *x, uint32_t ordinal)
{
	return x->first + ordinal * x->step;
}

/* The least n such that n * step leaves `rest` by `modulus`; the two have no divisor in common. */
static uint64_t times_to(uint32_t step, uint32_t rest, uint32_t modulus)
{
	int64_t a = modulus, b = step % modulus, n = 0, next = 1; /* b = next * step, by `modulus` */

	while (b) {
		int64_t quotient = a / b, was_b = b, was_next = next;

		b = a - quotient * b;
		next = n - quotient * next;
		a = was_b;
		n = was_next;
	}
	return (uint64_t)(n < 0 ? n + modulus : n) * rest % modulus;
}

/* What first, first+step .. last has in common with the array's indices, as ordinals. */
static bool ranges_meet(const struct indices *x, uint32_t first, uint32_t last, uint32_t step, struct some *ret)
{
	uint32_t end = indices_index(x, x->count - 1);
	uint32_t divisor = step, rest, missing; /* the greatest common one of both steps */
	uint64_t at = first;

	for (uint32_t other = x->step; other; divisor = other, other = rest)
		rest = divisor % other;
	if (at < x->first)
		at += ((uint64_t)x->first - at + step - 1) / step * step;
	missing = (x->step - (uint32_t)((at - x->first) % x->step)) % x->step;
	if (missing % divisor)
		return false;
	at += step * times_to(step / divisor, missing / divisor, x->step / divisor);
	if (at > end || at > last)
		return false;
	if (last > end)
		last = end;
	ret->first = (uint32_t)(at - x->first) / x->step;
	ret->step = step / divisor;
	ret->last = (last - x->first) / x->step;
	ret->last -= (ret->last - ret->first) % ret->step;
	return true;
}

static int selection_add(struct selection *s, const struct some *some)
{
	struct some *bigger = reallocarray(s->at, s->n + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	s->at = bigger;
	s->at[s->n++] = *some;
	return 0;
}

int selection_parse(const struct indices *x, const char *text, size_t len, struct selection *ret)
{
	const char *at = text, *end = text + len;
	uint32_t first, last, step;
	struct some some;
	int rc = 0;

	*ret = (struct selection){ 0 };
	do {
		if (!range(&at, end, &first, &last, &step) || last < first) {
			selection_fini(ret);
			return -EINVAL;
		}
		if (ranges_meet(x, first, last, step, &some))
			rc = selection_add(ret, &some);
		else
			ret->outside = true;
	} while (!rc && sign_read(&at, end, ','));
	if (!rc && at != end)
		rc = -EINVAL;
	if (rc)
		selection_fini(ret);
	return rc;
}

int selection_all(const struct indices *x, struct selection *ret)
{
	*ret = (struct selection){ 0 };
	return selection_add(ret, &(struct some){ 0, x->count - 1, 1 });
}

void selection_fini(struct selection *s)
{
	free(s->at);
	s->at = NULL;
	s->n = 0;
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* Single ordinals at equal distances, not yet written. */
struct line {
	FILE *out;
	const struct indices *x;
	uint32_t first, last, gap, n;
	bool fresh; /* nothing stands before it */
};

/* Ordinals that are equal, side by side. */
struct item {
	int32_t value;
	uint32_t first, last;
};

static void write_item(struct line *l, uint32_t first, uint32_t last, uint32_t step)
{
	uint32_t from = indices_index(l->x, first), to = indices_index(l->x, last);
	uint32_t by = step * l->x->step;

	if (!l->fresh)
		fputc(',', l->out);
	l->fresh = false;
	if (from == to)
		fprintf(l->out, "%u", from);
	else if (by == 1)
		fprintf(l->out, "%u-%u", from, to);
	else
		fprintf(l->out, "%u-%u:%u", from, to, by);
}

static void line_end(struct line *l)
{
	if (l->n > 2) {
		write_item(l, l->first, l->last, l->gap);
	} else {
		if (l->n > 0)
			write_item(l, l->first, l->first, 1);
		if (l->n > 1)
			write_item(l, l->last, l->last, 1);
	}
	l->n = 0;
}

static void line_add(struct line *l, uint32_t one)
{
	if (l->n > 1 && one - l->last != l->gap)
		line_end(l);
	if (l->n == 0)
		l->first = one;
	else
		l->gap = one - l->last;
	l->last = one;
	l->n++;
}

static int by_value(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
				    : (x->first > y->first) - (x->first < y->first);
}

/* The runs whose value lies between, by value and ordinal; the caller frees them. NULL without memory. */
static struct item *collect(const struct runs *r, int32_t least, int32_t most, uint32_t *ret_n)
{
	struct item *items = calloc(r->n, sizeof(*items));
	uint32_t k, n = 0;
	bool mixed = false;

	for (k = 0; items && k < r->n; k++) {
		uint32_t end = k + 1 < r->n ? r->at[k + 1].first : r->count;

		if (r->at[k].value < least || r->at[k].value > most)
			continue;
		mixed |= n && items[n - 1].value != r->at[k].value;
		items[n++] = (struct item){ r->at[k].value, r->at[k].first, end - 1 };
	}
	if (mixed)
		qsort(items, n, sizeof(*items), by_value);
	*ret_n = n;
	return items;
}

static char *text_of(const struct indices *x, const struct runs *r, int32_t least, int32_t most, bool named)
{
	char *text = NULL;
	size_t len = 0;
	uint32_t n = 0, i;
	struct item *items = collect(r, least, most, &n);
	struct line l = { .out = items ? open_memstream(&text, &len) : NULL, .x = x, .fresh = true };

	for (i = 0; l.out && i < n; i++) {
		if (named && (i == 0 || items[i].value != items[i - 1].value)) {
			line_end(&l);
			fprintf(l.out, "%s%d:", i ? ";" : "", (int)items[i].value);
			l.fresh = true;
		}
		if (items[i].first == items[i].last) {
			line_add(&l, items[i].first);
			continue;
		}
		line_end(&l);
		write_item(&l, items[i].first, items[i].last, 1);
	}
	free(items);
	if (!l.out)
		return NULL;
	line_end(&l);
	if (fclose(l.out) == 0)
		return text;
	free(text);
	return NULL;
}

char *indices_text(const struct indices *x, const struct runs *r, int32_t value)
{
	return text_of(x, r, value, value, false);
}

char *indices_text_each(const struct indices *x, const struct runs *r, int32_t least)
{
	return text_of(x, r, least, INT32_MAX, true);
}
