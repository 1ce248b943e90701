/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.c - amounts of the server and of queues, with which a job's job-wide amounts are compared.
 *
 * What is not set there is not limited, whatever its type.
 */
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pool_amount *amount_of(struct pool *p, const struct keel_resource *res)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (p->amount[i].res == res)
			return &p->amount[i];
	return NULL;
}

static bool serves(const struct pool *p, const char *queue)
{
	return !p->queue || (queue && strcmp(p->queue, queue) == 0);
}

static double whole_amount(const struct keel_res_value *v)
{
	return v->res->type == KEEL_RES_SIZE ? ceil(v->n / 1024) * 1024 : v->n;
}

/* False with the reason when the pool has too little; `empty`: as if no job had taken of it. */
static bool has_value(const struct pool *p, const struct pool_amount *a,
		      const struct keel_res_value *want, bool empty, struct reason *ret)
{
	int32_t code = p->queue ? KEEL_WHY_QUEUE_RESOURCE : KEEL_WHY_SERVER_RESOURCE;
	struct keel_res_value have;

	if (want->res->type < KEEL_RES_BOOL) {
		double wanted = whole_amount(want), left = empty ? a->total : a->free;

		if (left + EPSILON >= wanted)
			return true;
		reason_amount(ret, code, want->res, wanted, left, a->total);
		return false;
	}
	have = (struct keel_res_value){ .res = a->res, .n = a->total, .text = a->text };
	if (value_matches(&have, want))
		return true;
	reason_differs(ret, code, want, &have);
	return false;
}

static bool all_have(const struct snapshot *s, const struct wish *w, bool empty, struct reason *ret)
{
	uint32_t i, k;

	for (i = 0; i < s->n_pool; i++) {
		struct pool *p = &s->pool[i];

		for (k = serves(p, w->queue) ? 0 : w->n_whole; k < w->n_whole; k++) {
			const struct pool_amount *a = amount_of(p, w->whole[k]->res);

			if (a && is_checked(s, w->whole[k]->res) && !has_value(p, a, w->whole[k], empty, ret))
				return false;
		}
	}
	return true;
}

bool pools_possible(const struct snapshot *s, const struct wish *w, struct reason *ret)
{
	if (all_have(s, w, true, ret))
		return true;
	ret->never = true;
	return false;
}

bool pools_fit(const struct snapshot *s, const struct wish *w, struct reason *ret)
{
	return all_have(s, w, false, ret);
}

bool is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list && *list) {
		size_t n = strcspn(list, ", ");

		if (n == len && memcmp(list, word, len) == 0)
			return true;
		list += n;
		list += strspn(list, ", ");
	}
	return false;
}

void pools_move(struct snapshot *s, const char *queue, const struct keel_res_value *const *whole,
		uint32_t n, const char *only, int sign)
{
	uint32_t i, k;

	for (i = 0; i < s->n_pool; i++) {
		if (!serves(&s->pool[i], queue))
			continue;
		for (k = 0; k < n; k++) {
			struct pool_amount *a = amount_of(&s->pool[i], whole[k]->res);

			if (a && a->counted && (!only || is_listed(only, whole[k]->res->name)))
				a->free -= sign * whole_amount(whole[k]);
		}
	}
}

static uint32_t mix(uint32_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	while (n--)
		h = (h ^ *p++) * 16777619u;
	return h;
}

uint32_t pools_sum(const struct snapshot *s)
{
	uint32_t h = 2166136261u, i, k;

	for (i = 0; i < s->n_pool; i++) {
		const struct pool *p = &s->pool[i];

		h = mix(h, p->queue ? p->queue : "", p->queue ? strlen(p->queue) + 1 : 1);
		for (k = 0; k < p->n; k++) {
			const struct pool_amount *a = &p->amount[k];

			h = mix(h, &a->res, sizeof(a->res));
			h = mix(h, &a->total, sizeof(a->total));
			h = mix(h, a->text ? a->text : "", a->text ? strlen(a->text) : 0);
		}
	}
	return h;
}

/* ---- memory ----------------------------------------------------------------------------------------- */

void pools_free(struct pool *pool, uint32_t n)
{
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < pool[i].n; k++)
			free(pool[i].amount[k].text);
		free(pool[i].amount);
		free((char *)pool[i].queue);
	}
	free(pool);
}

static bool pool_copy(const struct pool *from, struct pool *to)
{
	uint32_t k;

	to->amount = calloc(from->n + 1, sizeof(*to->amount));
	to->queue = from->queue ? strdup(from->queue) : NULL;
	if (!to->amount || (from->queue && !to->queue))
		return false;
	for (k = 0; k < from->n; k++) {
		to->amount[k] = from->amount[k];
		to->n++;
		if (from->amount[k].text && !(to->amount[k].text = strdup(from->amount[k].text)))
			return false;
	}
	return true;
}

struct pool *pools_copy(const struct snapshot *s)
{
	struct pool *copy = calloc(s->n_pool + 1, sizeof(*copy));
	uint32_t i;

	for (i = 0; copy && i < s->n_pool; i++)
		if (!pool_copy(&s->pool[i], &copy[i])) {
			pools_free(copy, s->n_pool);
			return NULL;
		}
	return copy;
}
