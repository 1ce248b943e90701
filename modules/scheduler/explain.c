/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.c - why a job does not fit: from the cheap and general to the particular.
 *
 * First whether it could ever fit (totals, then a trial on empty vnodes), then what is missing now.
 * Texts with numbers speak of sums over all vnodes the job may use.
 */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

/* ---- why not ---------------------------------------------------------------------------------------------- */

struct tally {
	uint32_t vnodes, hosts, free_vnodes, free_hosts;
};

static void count(const struct trial *t, struct tally *ret)
{
	uint32_t i;
	uint8_t *seen = calloc(2, t->s->n_hosts + 1), *free_seen = seen + t->s->n_hosts + 1;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; seen && i < t->s->n; i++) {
		const struct vnode *v = &t->s->node[i];

		if (!t->may[i])
			continue;
		ret->vnodes++;
		ret->hosts += !seen[v->host];
		seen[v->host] = 1;
		if (!v->usable)
			continue;
		ret->free_vnodes++;
		ret->free_hosts += !free_seen[v->host];
		free_seen[v->host] = 1;
	}
	free(seen);
}

/* What all chunks take of a column, and what there is of it. */
static double wanted_sum(const struct trial *t, uint32_t column)
{
	double sum = 0;
	uint32_t d, k;

	for (d = 0; d < t->w->select->n; d++)
		for (k = 0; k < t->demand[d].n_need; k++) {
			const struct need *need = &t->demand[d].need[k];

			if (need->column == column)
				sum += need->amount * (is_needed(need, 1) ? t->w->select->chunk[d].count
									   : d == 0);
		}
	return sum;
}

static bool short_sum(const struct trial *t, bool empty, struct reason *ret)
{
	uint32_t d, k, i;

	for (d = 0; d < t->w->select->n; d++)
		for (k = 0; k < t->demand[d].n_need; k++) {
			const struct need *need = &t->demand[d].need[k];
			double wanted, total = 0, have = 0;

			if (need->column == NOT_COMPARED)
				continue;
			wanted = need->column == NO_COLUMN ? need->amount * t->w->select->chunk[d].count
							   : wanted_sum(t, need->column);
			for (i = 0; i < t->s->n && need->column != NO_COLUMN; i++) {
				if (!t->may[i])
					continue;
				total += t->s->node[i].total[need->column];
				if (t->s->node[i].usable)
					have += t->s->node[i].free[need->column];
			}
			if (empty)
				have = total;
			if (have + EPSILON < wanted) {
				reason_amount(ret, KEEL_WHY_RESOURCE, need->res, wanted, have, total);
				return true;
			}
		}
	return false;
}

/* What keeps this demand off this vnode: false when nothing of the vnode's own does. */
static bool node_reason(const struct trial *t, uint32_t i, const struct demand *d, bool empty,
			struct reason *ret, const struct keel_resource **ret_res)
{
	struct vnode v = t->s->node[i];
	const struct keel_res_value *other = mismatch(&v, d);
	const struct need *need;

	if (other) {
		reason_differs(ret, KEEL_WHY_RESOURCE, other, other_of(&v, other->res));
		*ret_res = other->res;
		return true;
	}
	if (empty)
		v.free = v.total;
	need = short_of(&v, d, 0);
	if (!need)
		return false;
	reason_amount(ret, KEEL_WHY_RESOURCE, need->res, need->amount, left(&v, need),
		      need->column < t->s->n_column ? v.total[need->column] : 0);
	*ret_res = need->res;
	return true;
}

/* The common reason of all vnodes for one demand: with detail when it is the same text everywhere. */
static bool common_reason(const struct trial *t, const struct demand *d, bool empty,
			  struct reason *ret)
{
	const struct keel_resource *first = NULL, *res;
	struct reason one;
	bool same = true;
	uint32_t i;

	for (i = 0; i < t->s->n; i++) {
		if (!t->may[i] || (!empty && !t->s->node[i].usable))
			continue;
		one = *ret;
		if (!node_reason(t, i, d, empty, &one, &res))
			return false;
		if (!first) {
			first = res;
			*ret = one;
		} else if (strcmp(ret->text, one.text) != 0) {
			same = false;
		}
	}
	if (first && !same)
		reason_short(ret, KEEL_WHY_RESOURCE, first);
	return first != NULL;
}

static bool any_common_reason(const struct trial *t, bool empty, struct reason *ret)
{
	uint32_t d;

	for (d = 0; d < t->w->select->n; d++)
		if (common_reason(t, &t->demand[d], empty, ret))
			return true;
	return false;
}

static bool too_few(const struct trial *t, uint32_t hosts, uint32_t vnodes)
{
	return (t->w->place.arrange == KEEL_PLACE_SCATTER && t->w->select->chunks > hosts) ||
	       (t->w->place.arrange == KEEL_PLACE_VSCATTER && t->w->select->chunks > vnodes);
}

static bool explain_never(struct trial *t, const struct tally *have, struct reason *ret)
{
	if (too_few(t, have->hosts, have->vnodes))
		reason_why(ret, KEEL_WHY_FEW_TOTAL);
	else if (short_sum(t, true, ret) || any_common_reason(t, true, ret))
		;
	else if (try_empty(t))
		return false;
	else
		reason_why(ret, KEEL_WHY_NO_NODES);
	ret->never = true;
	return true;
}

void explain(struct trial *t, struct reason *ret)
{
	struct tally have;

	count(t, &have);
	ret->never = false;
	if (have.vnodes == 0) {
		reason_why(ret, KEEL_WHY_FEW_FREE);
		return;
	}
	if (explain_never(t, &have, ret))
		return;
	if (t->failed)
		reason_set(ret, "out of memory in the scheduler");
	else if (have.free_vnodes == 0 || too_few(t, have.free_hosts, have.free_vnodes))
		reason_why(ret, KEEL_WHY_FEW_FREE);
	else if (short_sum(t, false, ret) || any_common_reason(t, false, ret))
		;
	else
		reason_why(ret, KEEL_WHY_NO_NODES);
}
