/* SPDX-License-Identifier: Apache-2.0
 *
 * demand.c - what a chunk needs of a vnode, and whether a vnode has it.
 */
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- demands ------------------------------------------------------------------------------------ */

static bool is_named(const char *const *names, const char *name)
{
	uint32_t i;

	for (i = 0; names && names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool is_checked(const struct snapshot *s, const struct keel_resource *res)
{
	if (res->type == KEEL_RES_BOOL || (!(res->flags & KEEL_RES_BUILTIN) && !s->only_checked))
		return true;
	if ((res->flags & KEEL_RES_BUILTIN) &&
	    (strcmp(res->name, "host") == 0 || strcmp(res->name, "vnode") == 0))
		return true;
	return is_named(s->checked, res->name);
}

bool is_endless(const struct snapshot *s, const struct keel_resource *res)
{
	return is_named(s->endless, res->name);
}

uint32_t column_of(const struct snapshot *s, const struct keel_resource *res)
{
	uint32_t i;

	for (i = 0; i < s->n_column; i++)
		if (s->column[i] == res)
			return i;
	return NO_COLUMN;
}

static void demand_add(struct demand *d, const struct snapshot *s, const struct keel_res_value *v)
{
	double n = v->res->type == KEEL_RES_SIZE ? ceil(v->n / 1024) * 1024 : v->n;

	if (v->res->type < KEEL_RES_BOOL && (v->res->flags & (KEEL_RES_EACH | KEEL_RES_FIRST))) {
		/* What is not compared still goes into exec_vnode. */
		d->need[d->n_need].column = is_checked(s, v->res) ? column_of(s, v->res) : NOT_COMPARED;
		if (d->need[d->n_need].column == NO_COLUMN && is_endless(s, v->res))
			d->need[d->n_need].column = NOT_COMPARED;
		d->need[d->n_need].amount = n;
		d->need[d->n_need++].res = v->res;
	} else if (is_checked(s, v->res)) {
		d->other[d->n_other++] = v;
	}
}

/* A vnode or host that is named says where to look. */
static uint32_t host_wanted(const struct demand *d, const struct snapshot *s)
{
	uint32_t i;

	for (i = 0; i < d->n_other; i++) {
		const struct keel_res_value *v = d->other[i];
		const struct vnode *named;

		if (!(v->res->flags & KEEL_RES_BUILTIN) || !v->text)
			continue;
		if (strcmp(v->res->name, "host") == 0)
			return host_named(s, v->text);
		if (strcmp(v->res->name, "vnode") == 0)
			return (named = vnode_named(s, v->text)) ? named->host : NO_HOST;
	}
	return ANY_HOST;
}

static bool klass_matches(const struct snapshot *s, const struct demand *d, uint32_t klass)
{
	const struct vnode *like = klass_like(s, klass);
	uint32_t i;

	for (i = 0; i < d->n_other; i++) {
		const struct keel_res_value *have;

		if ((d->other[i]->res->flags & KEEL_RES_BUILTIN) &&
		    (strcmp(d->other[i]->res->name, "host") == 0 ||
		     strcmp(d->other[i]->res->name, "vnode") == 0))
			continue;
		have = other_of(like, d->other[i]->res);
		if (!have && is_endless(s, d->other[i]->res))
			continue;
		if (!value_matches(have, d->other[i]))
			return false;
	}
	return true;
}

bool demand_make(struct demand *d, const struct snapshot *s, const struct keel_chunk *chunk)
{
	uint32_t n = klasses_count(s), i;

	d->chunk = chunk;
	d->need = calloc(chunk->n + 1, sizeof(*d->need));
	d->other = calloc(chunk->n + 1, sizeof(*d->other));
	if (!d->need || !d->other)
		return false;
	for (i = 0; i < chunk->n; i++)
		demand_add(d, s, &chunk->v[i]);
	for (i = 0; i < d->n_need; i++)
		d->first_differs |= !is_needed(&d->need[i], 1);
	d->host = host_wanted(d, s);
	d->klass_ok = calloc(n + 1, 1);
	for (i = 0; d->klass_ok && i < n; i++)
		if (klass_matches(s, d, i)) {
			d->klass_ok[i] = 1;
			d->klasses |= 1ull << (i & 63);
		}
	return d->klass_ok != NULL;
}

bool is_needed(const struct need *k, uint32_t chunk)
{
	return chunk == 0 || !(k->res->flags & KEEL_RES_FIRST) || (k->res->flags & KEEL_RES_EACH);
}

/* ---- what is not counted ---------------------------------------------------------------------------- */

const struct keel_res_value *other_of(const struct vnode *v, const struct keel_resource *res)
{
	uint32_t i;

	for (i = 0; i < v->n_other; i++)
		if (v->other[i].res == res)
			return &v->other[i];
	return NULL;
}

static bool in_list(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n;

		list += strspn(list, ", ");
		n = strcspn(list, ",");
		while (n && list[n - 1] == ' ')
			n--;
		if (n == len && memcmp(list, word, len) == 0)
			return true;
		list += strcspn(list, ",");
	}
	return false;
}

bool value_matches(const struct keel_res_value *have, const struct keel_res_value *want)
{
	if (want->res->type == KEEL_RES_BOOL)
		return (want->n != 0) == (have && have->n != 0);
	if (want->res->type < KEEL_RES_BOOL) {
		/* Plain numbers that no vnode knows are for the job's environment (ompthreads). */
		return have ? have->n >= want->n
			    : want->n <= 0 || (want->res->flags & KEEL_RES_BUILTIN) != 0;
	}
	if (!have || !have->text || !want->text)
		return false;
	if (want->res->type == KEEL_RES_STRINGS)
		return in_list(have->text, want->text);
	if (strcmp(want->res->name, "host") == 0)
		return strcasecmp(have->text, want->text) == 0;
	return strcmp(have->text, want->text) == 0;
}

const struct keel_res_value *mismatch(const struct snapshot *s, const struct vnode *v,
				      const struct demand *d)
{
	uint32_t i;

	for (i = 0; i < d->n_other; i++) {
		const struct keel_res_value *have = other_of(v, d->other[i]->res);

		if ((have || !is_endless(s, d->other[i]->res)) && !value_matches(have, d->other[i]))
			return d->other[i];
	}
	return NULL;
}

/* ---- amounts -------------------------------------------------------------------------------------------- */

double *amount_at(const struct snapshot *s, uint32_t node, uint32_t column)
{
	const struct vnode *v = &s->node[node];

	if (v->via && v->via[column])
		v = &s->node[v->via[column] - 1];
	return &v->free[column];
}

double total_at(const struct snapshot *s, uint32_t node, uint32_t column)
{
	const struct vnode *v = &s->node[node];

	if (v->via && v->via[column])
		v = &s->node[v->via[column] - 1];
	return v->total[column];
}
