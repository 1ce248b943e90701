/* SPDX-License-Identifier: Apache-2.0
 *
 * runs.c - a small number for each of many ordinals, as runs of equal ones. See runs.h.
 */
#include "runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int runs_init(struct runs *r, uint32_t count, int32_t value)
{
	r->at = malloc(4 * sizeof(*r->at));
	if (!r->at)
		return -ENOMEM;
	r->at[0] = (struct run){ 0, value };
	r->n = 1;
	r->cap = 4;
	r->count = count;
	return 0;
}

void runs_fini(struct runs *r)
{
	free(r->at);
	r->at = NULL;
	r->n = r->cap = r->count = 0;
}

/* The run that has ordinal i. */
static uint32_t run_of(const struct runs *r, uint32_t i)
{
	uint32_t low = 0, high = r->n; /* at[low].first <= i < at[high].first */

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (r->at[middle].first <= i)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32_t run_last(const struct runs *r, uint32_t k)
{
	return (k + 1 < r->n ? r->at[k + 1].first : r->count) - 1;
}

int32_t runs_get(const struct runs *r, uint32_t i, uint32_t *ret_last)
{
	uint32_t k = run_of(r, i);

	if (ret_last)
		*ret_last = run_last(r, k);
	return r->at[k].value;
}

/* Behind the others, joined with the last one if they are equal. */
static void run_append(struct run *to, uint32_t *n, uint32_t first, int32_t value)
{
	if (*n && to[*n - 1].value == value)
		return;
	to[(*n)++] = (struct run){ first, value };
}

static int runs_reserve(struct runs *r, uint32_t n)
{
	uint32_t cap = r->cap;
	struct run *bigger;

	if (n <= cap)
		return 0;
	while (cap < n)
		cap *= 2;
	bigger = reallocarray(r->at, cap, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	r->at = bigger;
	r->cap = cap;
	return 0;
}

/* The run of i and its neighbours are replaced by at most five. */
int runs_set(struct runs *r, uint32_t i, int32_t value)
{
	uint32_t k = run_of(r, i), from = k ? k - 1 : k, to = k + 1 < r->n ? k + 2 : k + 1, n = 0;
	uint32_t last = run_last(r, k);
	struct run changed[5];

	if (r->at[k].value == value)
		return 0;
	if (runs_reserve(r, r->n + 2) < 0)
		return -ENOMEM;
	if (from < k)
		run_append(changed, &n, r->at[from].first, r->at[from].value);
	if (r->at[k].first < i)
		run_append(changed, &n, r->at[k].first, r->at[k].value);
	run_append(changed, &n, i, value);
	if (i < last)
		run_append(changed, &n, i + 1, r->at[k].value);
	if (k + 1 < to)
		run_append(changed, &n, r->at[k + 1].first, r->at[k + 1].value);
	memmove(&r->at[from + n], &r->at[to], (r->n - to) * sizeof(r->at[0]));
	memcpy(&r->at[from], changed, n * sizeof(changed[0]));
	r->n = r->n - (to - from) + n;
	return 0;
}

/* first, first+step .. last, and where in it we are. */
struct walk {
	uint32_t at, last, step;
	bool over;
};

static void walk_to(struct walk *w, uint32_t i)
{
	uint64_t next;

	if (w->over || w->at >= i)
		return;
	next = w->at + ((uint64_t)(i - w->at) + w->step - 1) / w->step * w->step;
	w->over = next > w->last;
	w->at = (uint32_t)next;
}

/* Those of the run first..last that the walk meets become `to`. How many. */
static uint32_t run_cut(struct runs *out, uint32_t first, uint32_t last, int32_t value, struct walk *w,
		    int32_t to)
{
	uint32_t n = 0, end;

	walk_to(w, first);
	while (first <= last) {
		if (w->over || w->at > last) {
			run_append(out->at, &out->n, first, value);
			return n;
		}
		if (w->at > first)
			run_append(out->at, &out->n, first, value);
		run_append(out->at, &out->n, w->at, to);
		end = w->step > 1 ? w->at : w->last < last ? w->last : last;
		n += end - w->at + 1;
		if (end == UINT32_MAX || end >= last)
			return n;
		first = end + 1;
		walk_to(w, first);
	}
	return n;
}

/* The runs low..high as they become, with a neighbour on each side to be joined with. How many ordinals
 * changed; UINT32_MAX: no memory. */
static uint32_t runs_rebuild(const struct runs *r, uint32_t low, uint32_t high, struct walk *w, int32_t from,
			int32_t to, struct runs *out)
{
	uint64_t met = w->step > 1 ? ((uint64_t)w->last - w->at) / w->step + 1 : high - low + 1;
	uint64_t cap = high - low + 2 * met + 4;
	uint32_t k, n = 0;

	out->at = cap < UINT32_MAX ? reallocarray(NULL, cap, sizeof(*out->at)) : NULL;
	if (!out->at)
		return UINT32_MAX;
	for (k = low; k < high; k++)
		if (r->at[k].value == from)
			n += run_cut(out, r->at[k].first, run_last(r, k), from, w, to);
		else
			run_append(out->at, &out->n, r->at[k].first, r->at[k].value);
	return n;
}

int runs_replace(struct runs *r, uint32_t first, uint32_t last, uint32_t step, int32_t from, int32_t to,
		 uint32_t *ret_n)
{
	struct walk w = { first, last < r->count ? last : r->count - 1, step, false };
	struct runs out = { 0 };
	uint32_t low, high, n;
	int rc = -ENOMEM;

	if (ret_n)
		*ret_n = 0;
	if (first > w.last || from == to)
		return 0;
	low = run_of(r, first);
	high = run_of(r, w.last) + 1;
	low -= low > 0;
	high += high < r->n;
	n = runs_rebuild(r, low, high, &w, from, to, &out);
	if (n != UINT32_MAX && runs_reserve(r, r->n - (high - low) + out.n) == 0) {
		memmove(&r->at[low + out.n], &r->at[high], (r->n - high) * sizeof(r->at[0]));
		memcpy(&r->at[low], out.at, out.n * sizeof(out.at[0]));
		r->n = r->n - (high - low) + out.n;
		rc = 0;
	}
	free(out.at);
	if (ret_n && rc == 0)
		*ret_n = n;
	return rc;
}

void runs_map(struct runs *r, int32_t (*fn)(int32_t value))
{
	uint32_t k, n = 0;

	for (k = 0; k < r->n; k++)
		run_append(r->at, &n, r->at[k].first, fn(r->at[k].value));
	r->n = n;
}

bool runs_find(const struct runs *r, uint32_t from, int32_t value, uint32_t *ret_i)
{
	uint32_t k;

	if (from >= r->count)
		return false;
	for (k = run_of(r, from); k < r->n; k++)
		if (r->at[k].value == value) {
			*ret_i = r->at[k].first > from ? r->at[k].first : from;
			return true;
		}
	return false;
}
