/* SPDX-License-Identifier: Apache-2.0
 *
 * alike.c - what jobs that are counted share: the people and the queue, and the amounts they want.
 *
 * A hundred thousand jobs are of few people. A job points to its party, which knows the counters, so that counting
 * a job is finding its party. Amounts are shared with jobs that were counted not long ago. Both live as long as
 * they have jobs.
 */
#include "entity-limits.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, queue, Resource_List);

#define FIRST_PARTIES 64u
#define FNV_BEGIN 2166136261u
#define FNV_PRIME 16777619u

static uint32_t hash_text(uint32_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * FNV_PRIME;
	return (h ^ '\n') * FNV_PRIME;
}

/* ---- parties ------------------------------------------------------------------------------------- */

/* What makes one. */
struct people {
	const char *queue, *name[KINDS];
};

static bool is_of(const struct party *y, const struct people *p)
{
	for (int kind = 0; kind < KINDS; kind++)
		if (strcmp(y->name[kind], p->name[kind]) != 0)
			return false;
	return strcmp(y->queue, p->queue) == 0;
}

static void rehash(struct state *st, uint32_t n)
{
	struct party **bigger = calloc(n, sizeof(*bigger)), *y, *next;

	if (!bigger)
		return; /* longer chains */
	for (uint32_t i = 0; i < st->parties_size; i++)
		for (y = st->parties[i]; y; y = next) {
			next = y->chain;
			y->chain = bigger[y->hash % n];
			bigger[y->hash % n] = y;
		}
	free(st->parties);
	st->parties = bigger;
	st->parties_size = n;
}

static const char *put(char **at, const char *text)
{
	char *copy = *at;

	*at = stpcpy(copy, text) + 1;
	return copy;
}

static void party_free(struct state *st, struct party *y)
{
	for (int scope = 0; scope < SCOPES; scope++)
		for (int kind = 0; kind < KINDS; kind++)
			counter_drop(st, y->at[scope][kind]);
	free(y);
}

/* NULL: no memory for it or a counter of it; the next job tries again. */
static struct party *party_make(struct state *st, const struct people *p)
{
	size_t len = strlen(p->queue) + 1;
	bool whole = true;
	struct party *y;
	char *at;

	for (int kind = 0; kind < KINDS; kind++)
		len += strlen(p->name[kind]) + 1;
	y = calloc(1, sizeof(*y) + len);
	if (!y)
		return NULL;
	y->serial = ++st->serial;
	at = y->words;
	y->queue = put(&at, p->queue);
	for (int kind = 0; kind < KINDS; kind++) {
		y->name[kind] = put(&at, p->name[kind]);
		y->at[SERVER][kind] = counter_take(st, "", (enum kind)kind, y->name[kind]);
		y->at[QUEUE][kind] = counter_take(st, y->queue, (enum kind)kind, y->name[kind]);
		whole = whole && y->at[SERVER][kind] && y->at[QUEUE][kind];
	}
	if (whole)
		return y;
	party_free(st, y);
	return NULL;
}

static struct party *party_find(struct state *st, const struct people *p)
{
	uint32_t hash = hash_text(FNV_BEGIN, p->queue);
	struct party *y;

	for (int kind = 0; kind < KINDS; kind++)
		hash = hash_text(hash, p->name[kind]);
	if (st->n_party >= st->parties_size)
		rehash(st, st->parties_size ? st->parties_size * 2 : FIRST_PARTIES);
	if (!st->parties_size)
		return NULL;
	for (y = st->parties[hash % st->parties_size]; y; y = y->chain)
		if (y->hash == hash && is_of(y, p))
			return y;
	y = party_make(st, p);
	if (!y)
		return NULL;
	y->hash = hash;
	y->chain = st->parties[hash % st->parties_size];
	st->parties[hash % st->parties_size] = y;
	st->n_party++;
	return y;
}

struct party *party_take(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct party *y = st->latest;
	struct people p;
	const char *queue;

	queue = keel_get_str(job, job_queue);
	p.queue = queue ? queue : "";
	for (int kind = 0; kind < KINDS; kind++)
		p.name[kind] = name_of(job, (enum kind)kind);
	if (!y || !is_of(y, &p))
		y = party_find(st, &p);
	if (y)
		y->jobs++;
	st->latest = y;
	return y;
}

void party_drop(struct state *st, struct party *y)
{
	struct party **at;

	if (--y->jobs)
		return;
	for (at = &st->parties[y->hash % st->parties_size]; *at != y; at = &(*at)->chain)
		;
	*at = y->chain;
	st->n_party--;
	if (st->latest == y)
		st->latest = NULL;
	party_free(st, y);
}

void parties_fini(struct state *st)
{
	for (uint32_t i = 0; i < st->parties_size; i++)
		while (st->parties[i]) {
			struct party *y = st->parties[i];

			st->parties[i] = y->chain;
			free(y);
		}
	free(st->parties);
	st->parties = NULL;
	st->latest = NULL;
	st->n_party = st->parties_size = 0;
}

/* ---- amounts --------------------------------------------------------------------------------------- */

/* The next amount from *i on. */
static const struct keel_res_value *amount_next(const struct keel_reslist *list, uint32_t n,
						uint32_t *i)
{
	while (*i < n) {
		const struct keel_res_value *v = keel_resource_list_at(list, (*i)++);

		/* One below nothing counts as none: it would make room for others of its user. */
		if (keel_res_is_number(v->res) && v->res->type != KEEL_RES_BOOL && v->n >= 0)
			return v;
	}
	return NULL;
}

static bool is_wanted(const struct wants *w, const struct keel_reslist *list, uint32_t n)
{
	const struct keel_res_value *v;
	uint32_t i = 0, at = 0;

	for (; (v = amount_next(list, n, &i)); at++)
		if (at == w->n_item || w->item[at].res != v->res || w->item[at].n < v->n || w->item[at].n > v->n)
			return false;
	return at == w->n_item;
}

static struct wants *wants_make(const struct keel_reslist *list, uint32_t n, uint32_t n_item)
{
	struct wants *w = malloc(sizeof(*w) + n_item * sizeof(w->item[0]));
	const struct keel_res_value *v;
	uint32_t i = 0;

	if (!w)
		return NULL;
	w->jobs = w->n_item = 0;
	w->placed = 0;
	while ((v = amount_next(list, n, &i)))
		w->item[w->n_item++] = (struct item){ v->res, v->n };
	return w;
}

struct wants *wants_take(struct state *st, struct keel_obj *job)
{
	const struct keel_reslist *list = keel_get_ptr(job, job_Resource_List);
	uint32_t n = keel_resource_list_count(list), n_item = 0, i = 0, hash = FNV_BEGIN;
	const struct keel_res_value *v;
	struct wants **recent, *w;
	uint64_t bits;

	for (; (v = amount_next(list, n, &i)); n_item++) {
		memcpy(&bits, &v->n, sizeof(bits));
		hash = (hash ^ (uint32_t)(bits >> 32) ^ (uint32_t)bits) * FNV_PRIME;
	}
	if (n_item == 0)
		return NULL;
	recent = &st->recent[hash % WANTS_RECENT];
	w = *recent && is_wanted(*recent, list, n) ? *recent : wants_make(list, n, n_item);
	if (!w)
		return NULL;
	w->jobs++;
	w->place = (uint32_t)(recent - st->recent);
	return *recent = w;
}

void wants_drop(struct state *st, struct wants *w)
{
	if (!w || --w->jobs)
		return;
	if (st->recent[w->place] == w)
		st->recent[w->place] = NULL;
	free(w);
}
