/* SPDX-License-Identifier: Apache-2.0
 *
 * demand.c - what a chunk asks of a vnode, and whether a vnode has it.
 */
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- demands ------------------------------------------------------------------------------------ */

bool is_checked(const struct snapshot *s, const struct keel_resource *res)
{
	uint32_t i;

	if (!(res->flags & KEEL_RES_BUILTIN) || res->type == KEEL_RES_BOOL)
		return true;
	for (i = 0; s->checked && s->checked[i]; i++)
		if (strcmp(s->checked[i], res->name) == 0)
			return true;
	return false;
}

static bool is_counted(const struct keel_resource *res)
{
	return res->type < KEEL_RES_BOOL && (res->flags & (KEEL_RES_EACH | KEEL_RES_FIRST));
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

	if (is_counted(v->res)) {
		/* What is not compared still goes into exec_vnode. */
		d->need[d->n_need].column = is_checked(s, v->res) ? column_of(s, v->res) : NOT_COMPARED;
		d->need[d->n_need].amount = n;
		d->need[d->n_need++].res = v->res;
	} else if (is_checked(s, v->res)) {
		d->other[d->n_other++] = v;
	}
}

bool demand_make(struct demand *d, const struct snapshot *s, const struct keel_chunk *chunk)
{
	uint32_t i;

	d->chunk = chunk;
	d->need = calloc(chunk->n + 1, sizeof(*d->need));
	d->other = calloc(chunk->n + 1, sizeof(*d->other));
	for (i = 0; d->need && d->other && i < chunk->n; i++)
		demand_add(d, s, &chunk->v[i]);
	return d->need && d->other;
}

double left(const struct vnode *v, const struct need *k)
{
	if (k->column == NOT_COMPARED)
		return HUGE_VAL;
	return k->column == NO_COLUMN ? 0 : v->free[k->column];
}

bool is_needed(const struct need *k, uint32_t chunk)
{
	return chunk == 0 || !(k->res->flags & KEEL_RES_FIRST) || (k->res->flags & KEEL_RES_EACH);
}

void demand_fini(struct demand *d)
{
	free(d->need);
	free(d->other);
}

const struct need *short_of(const struct vnode *v, const struct demand *d, uint32_t chunk)
{
	uint32_t k;

	for (k = 0; k < d->n_need; k++)
		if (is_needed(&d->need[k], chunk) &&
		    left(v, &d->need[k]) + EPSILON < d->need[k].amount)
			return &d->need[k];
	return NULL;
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

static bool other_matches(const struct vnode *v, const struct keel_res_value *want)
{
	const struct keel_res_value *have = other_of(v, want->res);

	if (want->res->type == KEEL_RES_BOOL)
		return (want->n != 0) == (have && have->n != 0);
	if (want->res->type < KEEL_RES_BOOL) {
		/* Plain numbers that no vnode knows are for the job's environment (ompthreads). */
		return have ? have->n >= want->n : (want->res->flags & KEEL_RES_BUILTIN) != 0;
	}
	if (!have || !have->text || !want->text)
		return false;
	if (want->res->type == KEEL_RES_STRINGS)
		return in_list(have->text, want->text);
	if (strcmp(want->res->name, "host") == 0)
		return strcasecmp(have->text, want->text) == 0;
	return strcmp(have->text, want->text) == 0;
}

const struct keel_res_value *mismatch(const struct vnode *v, const struct demand *d)
{
	uint32_t i;

	for (i = 0; i < d->n_other; i++)
		if (!other_matches(v, d->other[i]))
			return d->other[i];
	return NULL;
}
