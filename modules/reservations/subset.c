/* SPDX-License-Identifier: Apache-2.0
 *
 * subset.c - is a select made of chunks of another one? In a time that grows with their length, whatever is in them.
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

static bool same_value(const struct keel_res_value *a, const struct keel_res_value *b)
{
	if (strcmp(a->res->name, b->res->name) != 0)
		return false;
	if (keel_res_is_number(a->res))
		return a->n == b->n;
	return a->text && b->text && strcmp(a->text, b->text) == 0;
}

/* In whatever order they are written. */
static bool same_chunk(const struct keel_chunk *a, const struct keel_chunk *b)
{
	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t k = 0;

		while (k < b->n && !same_value(&a->v[i], &b->v[k]))
			k++;
		if (k == b->n)
			return false;
	}
	return a->n == b->n;
}

/* Chunks that are the same are behind each other when they are sorted by this. */
struct kind {
	uint64_t hash;
	const struct keel_chunk *chunk;
};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	for (const unsigned char *at = bytes; len; at++, len--)
		hash = (hash ^ *at) * UINT64_C(1099511628211);
	return hash;
}

static uint64_t hash_chunk(const struct keel_chunk *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct keel_res_value *v = &c->v[i];
		const uint64_t name = hash_bytes(UINT64_C(14695981039346656037), v->res->name, strlen(v->res->name));
		const double n = v->n == 0 ? 0 : v->n; /* one zero */

		sum += keel_res_is_number(v->res) ? hash_bytes(name, &n, sizeof(n))
						  : hash_bytes(name, v->text ? v->text : "", v->text ? strlen(v->text) : 0);
	}
	return sum;
}

static int by_hash(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

/* To be freed; NULL: no memory. */
static struct kind *kinds_of(const struct keel_select *s)
{
	struct kind *kinds = calloc((size_t)s->n + 1, sizeof(*kinds));

	for (uint32_t i = 0; kinds && i < s->n; i++)
		kinds[i] = (struct kind){ hash_chunk(&s->chunk[i]), &s->chunk[i] };
	if (kinds)
		qsort(kinds, s->n, sizeof(*kinds), by_hash);
	return kinds;
}

/* How many chunks are like `like`, from *at on, which goes behind them. Two kinds of one hash: fewer than there are. */
static uint64_t count_like(const struct kind *kinds, uint32_t n, uint32_t *at, const struct kind *like)
{
	uint64_t count = 0;

	while (*at < n && kinds[*at].hash < like->hash)
		++*at;
	for (; *at < n && kinds[*at].hash == like->hash; ++*at)
		count += same_chunk(kinds[*at].chunk, like->chunk) ? kinds[*at].chunk->count : 0;
	return count;
}

static bool all_there(const struct kind *small, uint32_t n_small, const struct kind *large, uint32_t n_large)
{
	uint32_t s = 0, l = 0;

	while (s < n_small) {
		const struct kind *kind = &small[s];
		const uint64_t n = count_like(small, n_small, &s, kind);

		if (n > count_like(large, n_large, &l, kind))
			return false;
	}
	return n_small > 0;
}

/* No kind of chunk is there more often than before. */
static bool is_subset(const struct keel_select *small, const struct keel_select *large)
{
	struct kind *s = kinds_of(small), *l = kinds_of(large);
	const bool is = s && l && all_there(s, small->n, l, large->n);

	free(s);
	free(l);
	return is;
}

int32_t subset_check(const char *small, const char *large, struct keel_err *err)
{
	struct keel_select *a = NULL, *b = NULL;
	int32_t code = small && large ? 0 : PBSE_SELECT_NOT_SUBSET;

	if (!code && (keel_resource_select_parse(small, &a, err) || keel_resource_select_parse(large, &b, err) ||
		      !is_subset(a, b)))
		code = PBSE_SELECT_NOT_SUBSET;
	keel_resource_select_free(a);
	keel_resource_select_free(b);
	return code ? keel_error(err, code, "%s", keel_pbse_text(code)) : 0;
}
