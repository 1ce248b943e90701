/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.c - which of a job's vnodes stay. Pure.
 *
 *   have    the chunks of exec_vnode whose vnodes are all good: the first one, then the others, smallest first
 *   wanted  the chunks of the select, in order; the first must fit into the first, each next takes the first that is
 *           big enough and not taken, of which it gets what it wants, vnode by vnode
 *
 * What exec_vnode names are consumables, compared by amount. Other resources of a wanted chunk are compared with the
 * item of schedselect which the chunk answers, but for mpiprocs and ompthreads: these are the program's.
 */
#include "keep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunks.h"

struct have {
	const struct chunk_part *part; /* the first of its vnodes */
	uint32_t n;
	uint32_t place;			  /* in exec_vnode */
	const struct chunk_part *asked;	  /* the item of schedselect; NULL: not known */
	uint32_t host;			  /* KEEP_NOT: it may not stay */
	const struct chunk_part *want;	  /* what took it; NULL: nothing */
	uint32_t rank;			  /* of that among all that is wanted */
};

struct keeping {
	const struct keep_job *job;
	struct chunks exec, asked, wanted;
	struct have *have; /* in the order in which they are taken */
	uint32_t n;
	uint32_t taken;
	struct keel_text *ret;
	bool any; /* of *ret is written */
};

/* ---- what there is ------------------------------------------------------------------------------------- */

static double amount(const struct have *h, const char *name, bool *ret_is_there)
{
	double sum = 0;

	*ret_is_there = false;
	for (uint32_t i = 0; i < h->n; i++) {
		const struct chunk_value *v = chunk_get(&h->part[i], name);

		*ret_is_there |= v != NULL;
		sum += v ? v->n : 0;
	}
	return sum;
}

/* Of all resources but processors and memory. */
static double amount_else(const struct have *h)
{
	double sum = 0;

	for (uint32_t i = 0; i < h->n; i++)
		for (uint32_t v = 0; v < h->part[i].n; v++)
			if (strcmp(h->part[i].v[v].name, "ncpus") != 0 && strcmp(h->part[i].v[v].name, "mem") != 0)
				sum += h->part[i].v[v].n;
	return sum;
}

/* Smallest first: by processors, then memory, then all else; equal ones as they were. */
static int by_size(const void *first, const void *second)
{
	const struct have *a = first, *b = second;
	bool is_there;
	double more = amount(a, "ncpus", &is_there) - amount(b, "ncpus", &is_there);

	if (more == 0)
		more = amount(a, "mem", &is_there) - amount(b, "mem", &is_there);
	if (more == 0)
		more = amount_else(a) - amount_else(b);
	if (more == 0)
		return a->place < b->place ? -1 : a->place > b->place;
	return more < 0 ? -1 : 1;
}

static bool may_stay(const struct keeping *k, const struct chunk_part *part)
{
	return k->job->host_of(k->job->arg, part->vnode) != KEEP_NOT;
}

/* The chunks of exec_vnode, with the item of schedselect that each answers. */
static int32_t have_read(struct keeping *k)
{
	const struct chunk_part *part = k->exec.part, *item = k->asked.part, *items = item + k->asked.n_parts;
	uint32_t left = item < items ? item->count : 0;

	k->have = calloc(k->exec.n, sizeof(*k->have));
	if (!k->have)
		return -ENOMEM;
	for (uint32_t i = 0; i < k->exec.n; i++) {
		struct have *h = &k->have[k->n++];

		*h = (struct have){ .part = part, .place = i, .host = k->job->host_of(k->job->arg, part->vnode) };
		for (; part < k->exec.part + k->exec.n_parts && part->chunk == i; part++, h->n++)
			if (!may_stay(k, part))
				h->host = KEEP_NOT;
		while (item < items && left == 0)
			left = ++item < items ? item->count : 0;
		if (item < items) {
			h->asked = item;
			left--;
		}
	}
	return 0;
}

static int32_t keeping_begin(struct keeping *k)
{
	int32_t code = chunks_of_exec(k->job->exec_vnode, &k->exec);

	if (!code && k->job->schedselect && *k->job->schedselect)
		code = chunks_of_select(k->job->schedselect, &k->asked);
	return code ? code : have_read(k);
}

static void keeping_end(struct keeping *k)
{
	chunks_fini(&k->exec);
	chunks_fini(&k->asked);
	chunks_fini(&k->wanted);
	free(k->have);
}

/* ---- does it fit? -------------------------------------------------------------------------------------- */

static bool is_named(const char *const *names, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Is it the program's, not the vnode's? */
static bool is_free(const char *name)
{
	static const char *const names[] = { "mpiprocs", "ompthreads" };

	return is_named(names, 2, name);
}

static bool value_fits(const struct keeping *k, const struct have *h, const struct chunk_value *want)
{
	const struct chunk_value *asked = h->asked ? chunk_get(h->asked, want->name) : NULL;
	bool is_there;
	double has = amount(h, want->name, &is_there);

	if (is_free(want->name))
		return true;
	if (is_there && !want->word)
		return has >= want->n;
	if (!asked) /* nothing of a consumable may be wanted of a chunk that has none */
		return !want->word && want->n == 0;
	if (want->word || asked->word || is_named(k->job->words, k->job->n_words, want->name))
		return chunk_same_word(want->text, asked->text);
	return asked->n >= want->n;
}

static bool fits(const struct keeping *k, const struct have *h, const struct chunk_part *want)
{
	for (uint32_t i = 0; i < want->n; i++)
		if (!value_fits(k, h, &want->v[i]))
			return false;
	return true;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void amount_write(struct keel_text *ret, const struct chunk_value *v, double n)
{
	size_t len = strlen(v->text);

	keel_text_printf(ret, ":%s=", v->name);
	if (n == v->n)
		keel_text_str(ret, v->text);
	else if (len && strchr("bBwW", v->text[len - 1]))
		keel_text_printf(ret, "%.0fkb", ceil(n / 1024));
	else
		keel_text_printf(ret, "%.15g", n);
}

/* Takes of one vnode what is wanted and not taken yet: left[i] of want->v[i]. */
static void vnode_write(struct keel_text *ret, const struct chunk_part *part, const struct chunk_part *want, double *left,
			bool *opened)
{
	bool named = false;

	for (uint32_t i = 0; i < part->n; i++) {
		const struct chunk_value *v = &part->v[i], *w = chunk_get(want, v->name);
		double n = w ? fmin(v->n, left[w - want->v]) : 0;

		if (n <= 0)
			continue;
		if (!named)
			keel_text_printf(ret, "%s%s", *opened ? "+" : "(", part->vnode);
		named = *opened = true;
		amount_write(ret, v, n);
		left[w - want->v] -= n;
	}
}

static int32_t chunk_write(struct keeping *k, const struct have *h, const struct chunk_part *want)
{
	double *left = calloc(want->n ? want->n : 1, sizeof(*left));
	bool opened = false;

	if (!left)
		return -ENOMEM;
	for (uint32_t i = 0; i < want->n; i++)
		left[i] = want->v[i].word ? 0 : want->v[i].n;
	if (k->any)
		keel_text_str(k->ret, "+");
	for (uint32_t i = 0; i < h->n; i++)
		vnode_write(k->ret, &h->part[i], want, left, &opened);
	if (!opened) /* it wants nothing that is counted, but its place */
		keel_text_printf(k->ret, "(%s:ncpus=0", h->part->vnode);
	keel_text_str(k->ret, ")");
	k->any = true;
	free(left);
	return k->ret->failed ? -ENOMEM : 0;
}

/* ---- a select ------------------------------------------------------------------------------------------- */

static void have_write(const struct keeping *k, struct keel_text *out)
{
	bool any = false;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct have *h = &k->have[i];

		if (h->host == KEEP_NOT)
			continue;
		for (uint32_t p = 0; p < h->n; p++) {
			keel_text_printf(out, "%s%s", p ? "+" : any ? "+(" : "(", h->part[p].vnode);
			for (uint32_t v = 0; v < h->part[p].n; v++)
				keel_text_printf(out, ":%s=%s", h->part[p].v[v].name, h->part[p].v[v].text);
		}
		keel_text_str(out, ")");
		any = true;
	}
}

static void explain(const struct keeping *k, const struct chunk_part *want, const char *select, struct keel_text *why)
{
	const bool first = k->taken == 0;

	if (!why)
		return;
	keel_text_printf(why, "could not satisfy %sselect chunk (", first ? "1st " : "");
	for (uint32_t i = 0; i < want->n; i++)
		keel_text_printf(why, "%s%s=%s", i ? " " : "", want->v[i].name, want->v[i].text);
	keel_text_printf(why, ")%s\nNEED chunks for keep_select (%s)\nHAVE chunks from job's exec_vnode: ",
			 first ? "  with first available chunk" : "", select);
	have_write(k, why);
	keel_text_str(why, "\n");
}

/* The chunks of one item; what is before `from` does not fit, for they are equal. -ENOENT */
static int32_t item_take(struct keeping *k, const struct chunk_part *want)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < want->count; i++) {
		const uint32_t end = k->taken ? k->n : 1;

		while (from < end && (k->have[from].want || k->have[from].host == KEEP_NOT || !fits(k, &k->have[from], want)))
			from++;
		if (from >= end)
			return -ENOENT;
		k->have[from].want = want;
		k->have[from].rank = k->taken++;
	}
	return 0;
}

static void want_write(const struct chunk_part *want, uint32_t count, struct keel_text *ret)
{
	keel_text_printf(ret, "%s%u", ret->len ? "+" : "", count);
	for (uint32_t i = 0; i < want->n; i++)
		keel_text_printf(ret, ":%s=%s", want->v[i].name, want->v[i].text);
}

/* Taken ones first: by host, then as they were. */
static int by_host(const void *first, const void *second)
{
	const struct have *a = first, *b = second;

	if (!a->want != !b->want)
		return a->want ? -1 : 1;
	if (a->want && a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static int32_t taken_write(struct keeping *k, struct keel_text *ret_select)
{
	bool in_order = true;
	int32_t code = 0;

	qsort(k->have, k->n, sizeof(*k->have), by_host);
	for (uint32_t i = 0; i < k->taken && !code; i++) {
		code = chunk_write(k, &k->have[i], k->have[i].want);
		in_order &= k->have[i].rank == i;
	}
	for (uint32_t i = 0; in_order && i < k->wanted.n_parts; i++)
		want_write(&k->wanted.part[i], k->wanted.part[i].count, ret_select);
	for (uint32_t i = 0; !in_order && i < k->taken; i++)
		want_write(k->have[i].want, 1, ret_select);
	return code ? code : ret_select->failed ? -ENOMEM : 0;
}

int32_t keep_select(const struct keep_job *job, const char *select, struct keel_text *ret, struct keel_text *ret_select,
		    struct keel_text *why)
{
	struct keeping k = { .job = job, .ret = ret };
	int32_t code = keeping_begin(&k);

	if (!code)
		code = *select ? chunks_of_select(select, &k.wanted) : -EINVAL;
	if (!code && k.n > 1)
		qsort(k.have + 1, k.n - 1, sizeof(*k.have), by_size);
	for (uint32_t i = 0; i < k.wanted.n_parts && !code; i++) {
		code = item_take(&k, &k.wanted.part[i]);
		if (code == -ENOENT)
			explain(&k, &k.wanted.part[i], select, why);
	}
	if (!code)
		code = k.taken ? taken_write(&k, ret_select) : -EINVAL;
	keeping_end(&k);
	return code;
}

/* ---- what is good ---------------------------------------------------------------------------------------- */

static bool is_consumed(const struct have *h, const char *name)
{
	bool is_there;

	amount(h, name, &is_there);
	return is_there;
}

/* The item that a chunk now answers: sums of its vnodes that are left, then what its old item asks beside them. */
static void item_write(struct keeping *k, const struct have *h, struct keel_text *ret)
{
	keel_text_str(ret, ret->len ? "+1" : "1");
	for (uint32_t i = 0; i < h->n; i++) {
		for (uint32_t v = 0; v < h->part[i].n; v++) {
			const struct chunk_value *value = &h->part[i].v[v];
			double sum = 0;
			bool seen = false;

			for (uint32_t p = 0; p < h->n; p++) {
				const struct chunk_value *other = chunk_get(&h->part[p], value->name);

				seen |= other && p < i;
				if (other && may_stay(k, &h->part[p]))
					sum += other->n;
			}
			if (!seen)
				amount_write(ret, value, sum);
		}
	}
	for (uint32_t i = 0; h->asked && i < h->asked->n; i++)
		if (!is_consumed(h, h->asked->v[i].name))
			keel_text_printf(ret, ":%s=%s", h->asked->v[i].name, h->asked->v[i].text);
}

static bool good_write(struct keeping *k, const struct have *h)
{
	bool opened = false;

	for (uint32_t i = 0; i < h->n; i++) {
		if (!may_stay(k, &h->part[i]))
			continue;
		keel_text_printf(k->ret, "%s%s", opened ? "+" : k->any ? "+(" : "(", h->part[i].vnode);
		for (uint32_t v = 0; v < h->part[i].n; v++)
			keel_text_printf(k->ret, ":%s=%s", h->part[i].v[v].name, h->part[i].v[v].text);
		opened = true;
	}
	if (opened)
		keel_text_str(k->ret, ")");
	return opened;
}

/* A chunk of which some vnodes stay is on their host. */
static void host_again(struct keeping *k, struct have *h)
{
	h->want = h->part;
	h->host = KEEP_NOT;
	for (uint32_t i = h->n; i-- > 0;)
		if (may_stay(k, &h->part[i]))
			h->host = k->job->host_of(k->job->arg, h->part[i].vnode);
}

int32_t keep_good(const struct keep_job *job, struct keel_text *ret, struct keel_text *ret_select)
{
	struct keeping k = { .job = job, .ret = ret };
	int32_t code = keeping_begin(&k);

	for (uint32_t i = 0; i < k.n && !code; i++)
		host_again(&k, &k.have[i]);
	if (!code && k.have[0].host == KEEP_NOT)
		code = -ENOENT;
	if (!code)
		qsort(k.have, k.n, sizeof(*k.have), by_host);
	for (uint32_t i = 0; i < k.n && !code; i++) {
		if (!good_write(&k, &k.have[i]))
			continue;
		item_write(&k, &k.have[i], ret_select);
		k.any = true;
	}
	if (!code && (ret->failed || ret_select->failed))
		code = -ENOMEM;
	keeping_end(&k);
	return code;
}
