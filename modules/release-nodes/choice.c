/* SPDX-License-Identifier: Apache-2.0
 *
 * choice.c - which chunks of a job stay when it gives up vnodes.
 */
#include "choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts --------------------------------------------------------------------------------------------- */

static void value_add(struct keel_text *out, const struct keel_res_value *v, bool in_kb)
{
	const char *quote = !v->text || !strpbrk(v->text, ":+=,() '\"") ? "" : strchr(v->text, '"') ? "'" : "\"";
	char amount[64];

	if (!v->text)
		keel_resource_value_text(v, in_kb, amount, sizeof(amount));
	keel_text_printf(out, ":%s=%s%s%s", v->res->name, quote, v->text ? v->text : amount, quote);
}

static void part_add(struct keel_text *out, const struct keel_exec_part *part)
{
	keel_text_str(out, part->vnode);
	for (uint32_t i = 0; i < part->n; i++)
		value_add(out, &part->v[i], true);
}

/* A walk through the chunks of a select, each as often as it is wanted. */
struct walk {
	const struct keel_select *select;
	uint32_t item, left;
};

static struct walk walk_begin(const struct keel_select *select, const struct keel_exec *exec)
{
	struct walk w = { select && (!exec || select->chunks == exec->chunks) ? select : NULL, 0, 0 };

	w.left = w.select && w.select->n ? w.select->chunk[0].count : 0;
	return w;
}

/* Its number in the select, UINT32_MAX behind the last. */
static uint32_t walk_next(struct walk *w)
{
	while (w->select && w->item < w->select->n && w->left == 0)
		if (++w->item < w->select->n)
			w->left = w->select->chunk[w->item].count;
	if (!w->select || w->item >= w->select->n)
		return UINT32_MAX;
	w->left--;
	return w->item;
}

/* ---- without some vnodes ---------------------------------------------------------------------------------- */

/* The amounts of a chunk's parts, in the order of exec_vnode: `:mem=2097152kb:ncpus=3`. */
static void amounts_add(struct keel_text *out, const struct keel_exec_part *part, uint32_t n, const bool *gone)
{
	struct keel_res_value *sum = NULL, *bigger;
	uint32_t count = 0, at;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < part[i].n && !gone[i]; k++) {
			for (at = 0; at < count && sum[at].res != part[i].v[k].res; at++)
				;
			if (at < count) {
				sum[at].n += part[i].v[k].n;
				continue;
			}
			bigger = reallocarray(sum, count + 1u, sizeof(*sum));
			if (!bigger) {
				out->failed = true;
				continue;
			}
			sum = bigger;
			sum[count++] = part[i].v[k];
		}
	for (at = 0; at < count; at++)
		value_add(out, &sum[at], true);
	free(sum);
}

static void requests_add(struct keel_text *out, const struct keel_chunk *chunk)
{
	for (uint32_t i = 0; i < chunk->n; i++)
		if (!(chunk->v[i].res->flags & (KEEL_RES_EACH | KEEL_RES_FIRST)))
			value_add(out, &chunk->v[i], false);
}

void choice_without(const struct choice *c, const bool *gone, struct keel_text *exec, struct keel_text *select)
{
	struct walk w = walk_begin(c->select, c->exec);

	for (uint32_t i = 0, end; i < c->exec->n; i = end) {
		const struct keel_exec_part *part = c->exec->part;
		uint32_t item = walk_next(&w), kept = 0;

		for (end = i; end < c->exec->n && part[end].chunk == part[i].chunk; end++) {
			if (gone[end])
				continue;
			keel_text_str(exec, kept++ ? "+" : exec->len ? "+(" : "(");
			part_add(exec, &part[end]);
		}
		if (!kept)
			continue;
		keel_text_str(exec, ")");
		keel_text_str(select, select->len ? "+1" : "1");
		amounts_add(select, part + i, end - i, gone + i);
		if (item != UINT32_MAX)
			requests_add(select, &c->select->chunk[item]);
	}
}

/* ---- those that satisfy a select ------------------------------------------------------------------------------ */

static bool chunk_has(const struct keel_chunk *have, const struct keel_chunk *want)
{
	for (uint32_t i = 0; i < want->n; i++) {
		const struct keel_res_value *w = &want->v[i], *h = NULL;

		for (uint32_t k = 0; k < have->n && !h; k++)
			if (have->v[k].res == w->res)
				h = &have->v[k];
		if (!h)
			return false;
		if (w->res->type == KEEL_RES_BOOL ? (h->n != 0) != (w->n != 0)
		    : keel_res_is_number(w->res)  ? !(h->n >= w->n)
						  : strcmp(h->text ? h->text : "", w->text ? w->text : "") != 0)
			return false;
	}
	return true;
}

static bool chunks_equal(const struct keel_chunk *a, const struct keel_chunk *b)
{
	return a == b || (a->n == b->n && chunk_has(a, b) && chunk_has(b, a));
}

/* A chunk behind those that stay so far: equal ones are counted in the select. */
struct keeping {
	const struct choice *c;
	struct keel_text *exec, *select;
	uint32_t *begin; /* of each chunk of exec, its first part; one more behind the last */
	uint32_t *item;	 /* of each chunk of exec, its number in the select */
	bool *stays;
	uint32_t same, n;
};

static void same_write(struct keeping *k)
{
	const struct keel_chunk *chunk = &k->c->select->chunk[k->same];

	if (!k->n)
		return;
	keel_text_printf(k->select, "%s%u", k->select->len ? "+" : "", k->n);
	for (uint32_t i = 0; i < chunk->n; i++)
		value_add(k->select, &chunk->v[i], false);
	k->n = 0;
}

static void chunk_keep(struct keeping *k, uint32_t chunk)
{
	for (uint32_t i = k->begin[chunk]; i < k->begin[chunk + 1]; i++) {
		keel_text_str(k->exec, i > k->begin[chunk] ? "+" : k->exec->len ? "+(" : "(");
		part_add(k->exec, &k->c->exec->part[i]);
	}
	keel_text_str(k->exec, ")");
	if (k->n && !chunks_equal(&k->c->select->chunk[k->same], &k->c->select->chunk[k->item[chunk]]))
		same_write(k);
	k->same = k->item[chunk];
	k->n++;
	k->stays[chunk] = true;
}

static int32_t wanted_find(struct keeping *k, const struct keel_select *want)
{
	for (uint32_t i = 0; i < want->n; i++) {
		uint32_t at = k->c->exec->chunks, left = want->chunk[i].count;

		for (; left; left--) {
			while (at && (k->stays[at - 1] ||
				      !chunk_has(&k->c->select->chunk[k->item[at - 1]], &want->chunk[i])))
				at--;
			if (!at)
				return -ENOENT;
			chunk_keep(k, --at);
		}
	}
	return 0;
}

static int32_t keeping_make(struct keeping *k)
{
	const uint32_t n = k->c->exec->chunks;
	struct walk w = walk_begin(k->c->select, k->c->exec);

	k->begin = calloc(n + 1u, sizeof(*k->begin));
	k->item = calloc(n + 1u, sizeof(*k->item));
	k->stays = calloc(n + 1u, sizeof(*k->stays));
	if (!k->begin || !k->item || !k->stays)
		return -ENOMEM;
	for (uint32_t i = k->c->exec->n; i-- > 0;)
		k->begin[k->c->exec->part[i].chunk] = i;
	k->begin[n] = k->c->exec->n;
	for (uint32_t i = 0; i < n; i++)
		if ((k->item[i] = walk_next(&w)) == UINT32_MAX)
			return -ENOENT;
	return 0;
}

int32_t choice_keep(const struct choice *c, const bool *fixed, const struct keel_select *want, struct keel_text *exec,
		    struct keel_text *select)
{
	struct keeping k = { .c = c, .exec = exec, .select = select };
	int32_t r = want->chunks > c->exec->chunks ? -ENOENT : keeping_make(&k);

	for (uint32_t i = 0; r == 0 && i < c->exec->chunks; i++)
		if (fixed[i])
			chunk_keep(&k, i);
	if (r == 0)
		r = wanted_find(&k, want);
	if (r == 0)
		same_write(&k);
	free(k.begin);
	free(k.item);
	free(k.stays);
	return r == 0 && (exec->failed || select->failed) ? -ENOMEM : r;
}
