/* SPDX-License-Identifier: Apache-2.0
 *
 * remains.c - what a job that shrinks has before and after, compared: texts in, texts and sums out.
 *
 * A chunk that stays is one of before, with all or some of its vnodes, in their order, and as much or less of each. Chunks
 * may come in another order. The first one is that of the job's first host, which keeps its place.
 */
#include "remains.h"

#include <stdlib.h>
#include <string.h>

#include "keel/service/resource.h"
#include "pbs_error.h"

#define UNMATCHED UINT32_MAX

static double amount_of(const struct keel_exec_part *part, const struct keel_resource *res)
{
	for (uint32_t i = 0; i < part->n; i++)
		if (part->v[i].res == res)
			return part->v[i].n;
	return 0;
}

static bool part_has(const struct keel_exec_part *part, const struct keel_exec_part *less)
{
	if (strcmp(part->vnode, less->vnode) != 0)
		return false;
	for (uint32_t i = 0; i < less->n; i++)
		if (!(amount_of(part, less->v[i].res) >= less->v[i].n) || less->v[i].n < 0)
			return false;
	return true;
}

/* Where each chunk begins; one more entry behind the last. NULL without memory. */
static uint32_t *chunks_begin(const struct keel_exec *exec)
{
	uint32_t *begin = calloc(exec->chunks + 1u, sizeof(*begin));

	if (!begin)
		return NULL;
	for (uint32_t i = exec->n; i-- > 0;)
		begin[exec->part[i].chunk] = i;
	begin[exec->chunks] = exec->n;
	return begin;
}

/* Are the parts of a chunk parts of that one of before, in their order? `exact`: and all of them, with as much. They are
 * remembered in r->stays then. */
static bool chunk_fits(struct remains *r, uint32_t chunk, uint32_t of, bool exact)
{
	uint32_t at = r->had_begin[of], end = r->had_begin[of + 1];
	const uint32_t begin = r->has_begin[chunk], n = r->has_begin[chunk + 1] - begin;

	if (exact && n != end - at)
		return false;
	for (uint32_t i = 0; i < n; i++, at++) {
		while (at < end && !part_has(&r->had->part[at], &r->has->part[begin + i]) && !exact)
			at++;
		if (at >= end || !part_has(&r->had->part[at], &r->has->part[begin + i]) ||
		    (exact && !part_has(&r->has->part[begin + i], &r->had->part[at])))
			return false;
		r->found[i] = at;
	}
	for (uint32_t i = 0; i < n; i++)
		r->stays[r->found[i]] = true;
	return true;
}

/* The chunk of before that is nearest to `near`, on either side, and fits. */
static uint32_t chunk_find(struct remains *r, uint32_t chunk, uint32_t near, bool exact)
{
	const uint32_t n = r->had->chunks;

	for (uint32_t d = 0; d <= n; d++) {
		const uint32_t up = near + d, down = near - d; /* below 0: a large number */

		if (up < n && !r->taken[up] && chunk_fits(r, chunk, up, exact))
			return up;
		if (d && down < n && !r->taken[down] && chunk_fits(r, chunk, down, exact))
			return down;
		if (up >= n && d >= near)
			break;
	}
	return UNMATCHED;
}

static bool chunks_match(struct remains *r)
{
	uint32_t near = 0;

	for (uint32_t i = 0; i < r->has->chunks; i++) {
		uint32_t of = 0;

		if (i == 0) {
			if (!chunk_fits(r, 0, 0, true) && !chunk_fits(r, 0, 0, false))
				return false;
		} else if ((of = chunk_find(r, i, near, true)) == UNMATCHED &&
			   (of = chunk_find(r, i, near, false)) == UNMATCHED) {
			return false;
		}
		r->taken[of] = true;
		r->from[i] = of;
		near = of + 1;
	}
	return true;
}

static bool remains_allocate(struct remains *r)
{
	r->had_begin = chunks_begin(r->had);
	r->has_begin = chunks_begin(r->has);
	r->from = calloc(r->has->chunks + 1u, sizeof(*r->from));
	r->found = calloc(r->has->n + 1u, sizeof(*r->found));
	r->taken = calloc(r->had->chunks + 1u, sizeof(*r->taken));
	r->stays = calloc(r->had->n + 1u, sizeof(*r->stays));
	return r->had_begin && r->has_begin && r->from && r->found && r->taken && r->stays;
}

int32_t remains_find(const char *had, const char *has, struct remains *ret, struct keel_err *err)
{
	int32_t code;

	*ret = (struct remains){ 0 };
	code = keel_resource_exec_parse(had, &ret->had, err);
	if (!code)
		code = keel_resource_exec_parse(has, &ret->has, err);
	if (!code && !remains_allocate(ret))
		code = keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (!code && !chunks_match(ret))
		code = keel_error(err, PBSE_IVALREQ, "a job that shrinks can only have vnodes that it has, not more of "
						     "them, and its first chunk stays the first");
	if (code)
		remains_fini(ret);
	return code;
}

void remains_fini(struct remains *r)
{
	keel_resource_exec_free(r->had);
	keel_resource_exec_free(r->has);
	free(r->had_begin);
	free(r->has_begin);
	free(r->from);
	free(r->found);
	free(r->taken);
	free(r->stays);
	*r = (struct remains){ 0 };
}

/* ---- texts --------------------------------------------------------------------------------------------- */

/* `*cpus` of an item of exec_host: *0 where the chunk has several vnodes. */
static void cpus_add(struct keel_text *out, const struct remains *r, uint32_t chunk)
{
	const struct keel_exec_part *part = &r->has->part[r->has_begin[chunk]];
	uint64_t cpus = 0;

	for (uint32_t i = 0; i < part->n && r->has_begin[chunk + 1] - r->has_begin[chunk] == 1; i++)
		if (strcmp(part->v[i].res->name, "ncpus") == 0)
			cpus = (uint64_t)part->v[i].n;
	if (cpus != 1)
		keel_text_printf(out, "*%llu", (unsigned long long)cpus);
}

bool remains_hosts(const struct remains *r, const char *hosts, struct keel_text *out)
{
	const char **item = calloc(r->had->chunks + 1u, sizeof(*item));
	uint32_t n = 0;
	bool good;

	for (const char *at = hosts; item && *at && n < r->had->chunks; at += *at == '+') {
		item[n++] = at;
		at += strcspn(at, "+");
	}
	good = item && n == r->had->chunks;
	for (uint32_t i = 0; good && i < r->has->chunks; i++) {
		const char *text = item[r->from[i]];

		if (i)
			keel_text_str(out, "+");
		keel_text_add(out, text, strcspn(text, "*+"));
		cpus_add(out, r, i);
	}
	free(item);
	return good && !out->failed;
}

void part_text(const struct keel_exec_part *part, struct keel_text *out)
{
	char amount[64];

	keel_text_printf(out, "%s(%s", out->len ? "+" : "", part->vnode);
	for (uint32_t i = 0; i < part->n; i++) {
		if (!part->v[i].text)
			keel_resource_value_text(&part->v[i], true, amount, sizeof(amount));
		keel_text_printf(out, ":%s=%s", part->v[i].res->name, part->v[i].text ? part->v[i].text : amount);
	}
	keel_text_str(out, ")");
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

void sums_fini(struct sums *s)
{
	free(s->v);
	*s = (struct sums){ 0 };
}

struct keel_res_value *sums_at(struct sums *s, const struct keel_res_value *v)
{
	struct keel_res_value *bigger;
	uint32_t i = 0;

	while (i < s->n && s->v[i].res != v->res)
		i++;
	if (i < s->n)
		return &s->v[i];
	bigger = reallocarray(s->v, s->n + 1u, sizeof(*bigger));
	if (!bigger)
		return NULL;
	s->v = bigger;
	s->v[s->n] = *v;
	s->v[s->n].n = 0;
	return &s->v[s->n++];
}

/* A part's amounts are in kb where they are sizes, as exec_vnode shows them. */
bool sums_add(struct sums *s, const struct keel_res_value *v, uint32_t n, double times)
{
	for (uint32_t i = 0; i < n; i++) {
		struct keel_res_value *sum;

		if (!(v[i].res->flags & KEEL_RES_SUM) || !keel_res_is_number(v[i].res))
			continue;
		sum = sums_at(s, &v[i]);
		if (!sum)
			return false;
		sum->n += v[i].n * times;
	}
	return true;
}

bool sums_add_exec(struct sums *s, const struct keel_exec *exec)
{
	for (uint32_t i = 0; i < exec->n; i++)
		if (!sums_add(s, exec->part[i].v, exec->part[i].n, 1))
			return false;
	return true;
}
