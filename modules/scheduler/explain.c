/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.c - why a job does not fit: from the cheap and general to the particular.
 *
 * First whether it could ever fit (totals, then a trial on empty vnodes), then what is missing now.
 * Texts with numbers speak of sums over all vnodes the job may use.
 */
#include "spans.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting -------------------------------------------------------------------------------------- */

struct tally {
	uint32_t vnodes, hosts, free_vnodes, free_hosts;
};

static bool is_allowed(struct trial *t, uint32_t node)
{
	return may_use(t, node) && taps_let(t, node);
}

static void count(struct trial *t, struct tally *ret)
{
	uint8_t *seen = calloc(2, t->s->n_hosts + 1), *free_seen = seen ? seen + t->s->n_hosts + 1 : NULL;
	uint32_t i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; seen && i < t->s->n; i++) {
		const struct vnode *v = &t->s->node[i];

		if (!is_allowed(t, i))
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

static bool too_few(const struct trial *t, uint32_t hosts, uint32_t vnodes)
{
	return (t->w->place.arrange == KEEL_PLACE_SCATTER && t->w->select->chunks > hosts) ||
	       (t->w->place.arrange == KEEL_PLACE_VSCATTER && t->w->select->chunks > vnodes);
}

/* ---- sums ------------------------------------------------------------------------------------------- */

/* What all chunks take of a column. */
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

/* What there is of it; a shared amount once. */
static void there_is(struct trial *t, uint32_t column, double *ret_have, double *ret_total)
{
	uint32_t i;

	*ret_have = *ret_total = 0;
	for (i = 0; i < t->s->n; i++) {
		const struct vnode *v = &t->s->node[i];

		if ((v->via && v->via[column]) || !is_allowed(t, i))
			continue;
		*ret_total += v->total[column];
		if (v->usable)
			*ret_have += v->free[column];
	}
}

static bool short_sum(struct trial *t, bool empty, struct reason *ret)
{
	uint32_t d, k;

	for (d = 0; d < t->w->select->n; d++)
		for (k = 0; k < t->demand[d].n_need; k++) {
			const struct need *need = &t->demand[d].need[k];
			double wanted = need->amount * t->w->select->chunk[d].count, total = 0, have = 0;

			if (need->column == NOT_COMPARED)
				continue;
			if (need->column != NO_COLUMN) {
				wanted = wanted_sum(t, need->column);
				there_is(t, need->column, &have, &total);
			}
			if (empty)
				have = total;
			if (have + EPSILON >= wanted)
				continue;
			reason_amount(ret, KEEL_WHY_RESOURCE, need->res, wanted, have, total);
			return true;
		}
	return false;
}

/* ---- vnode by vnode ------------------------------------------------------------------------------------ */

/* What keeps a demand off a vnode; the text is made once, of the one that holds for all. */
struct cause {
	int32_t code; /* 0: nothing of the vnode's own */
	const struct keel_resource *res;
	const struct keel_res_value *want, *other; /* of words */
	double wanted, have, total;
};

static struct cause cause_of(const struct trial *t, uint32_t node, const struct demand *d, bool empty)
{
	const struct vnode *v = &t->s->node[node];
	struct cause c = { .code = empty ? 0 : limit_of(t, node) };
	const struct need *need;

	if (c.code)
		return c;
	c.want = d->klass_ok[v->klass] && d->host == ANY_HOST ? NULL : mismatch(t->s, v, d);
	if (c.want) {
		c.code = KEEL_WHY_RESOURCE;
		c.res = c.want->res;
		c.other = other_of(v, c.res);
		return c;
	}
	need = NULL;
	for (uint32_t k = 0; k < d->n_need && !need; k++) {
		const struct need *n = &d->need[k];
		double have;

		if (n->column == NOT_COMPARED)
			continue;
		c.total = n->column == NO_COLUMN ? 0 : total_at(t->s, node, n->column);
		have = n->column == NO_COLUMN ? 0 : *amount_at(t->s, node, n->column);
		c.have = empty ? c.total : have;
		c.wanted = n->amount;
		if (c.have + EPSILON < n->amount)
			need = n;
	}
	if (need) {
		c.code = KEEL_WHY_RESOURCE;
		c.res = need->res;
	}
	return c;
}

static bool same_cause(const struct cause *a, const struct cause *b)
{
	if (a->code != b->code || a->res != b->res || a->want != b->want)
		return false;
	if (a->want) {
		const struct keel_res_value *x = a->other, *y = b->other;

		return strcmp(x && x->text ? x->text : "", y && y->text ? y->text : "") == 0 &&
		       (x ? x->n : 0) == (y ? y->n : 0);
	}
	return a->wanted == b->wanted && a->have == b->have && a->total == b->total;
}

static bool is_builtin(const struct keel_resource *res, const char *name)
{
	return (res->flags & KEEL_RES_BUILTIN) && strcmp(res->name, name) == 0;
}

static void cause_tell(const struct cause *c, bool same, struct reason *ret)
{
	if (c->code != KEEL_WHY_RESOURCE)
		reason_why(ret, c->code);
	else if (c->want && is_builtin(c->res, "aoe"))
		reason_why(ret, KEEL_WHY_PROVISION_AOE, c->want->text ? c->want->text : "");
	else if (c->want && is_builtin(c->res, "eoe"))
		reason_why(ret, KEEL_WHY_PROVISION_EOE, c->want->text ? c->want->text : "");
	else if (!same)
		reason_short(ret, c->code, c->res);
	else if (c->want)
		reason_differs(ret, c->code, c->want, c->other);
	else
		reason_amount(ret, c->code, c->res, c->wanted, c->have, c->total);
	if (c->res)
		snprintf(ret->what, sizeof(ret->what), "%s", c->res->name);
}

/* A reason that all vnodes have in common for one demand: with detail when it is the same everywhere. */
static bool any_common_reason(struct trial *t, bool empty, struct reason *ret)
{
	uint32_t d, i;

	for (d = 0; d < t->w->select->n; d++) {
		struct cause first = { 0 }, one = { 0 };
		bool same = true;

		for (i = 0; i < t->s->n; i++) {
			if (!is_allowed(t, i) || (!empty && !t->s->node[i].usable))
				continue;
			one = cause_of(t, i, &t->demand[d], empty);
			if (!one.code)
				break;
			if (!first.code)
				first = one;
			else if (same)
				same = same_cause(&first, &one);
		}
		if (!first.code || !one.code)
			continue;
		cause_tell(&first, same, ret);
		return true;
	}
	return false;
}

/* ---- why not ---------------------------------------------------------------------------------------------- */

bool explain_never(struct trial *t, struct reason *ret)
{
	struct tally have;

	count(t, &have);
	if (have.vnodes == 0)
		return false;
	if (too_few(t, have.hosts, have.vnodes))
		reason_why(ret, KEEL_WHY_FEW_TOTAL);
	else if (short_sum(t, true, ret) || any_common_reason(t, true, ret))
		;
	else if (try_empty(t, try_all))
		return false;
	else
		reason_why(ret, t->many_hosts ? KEEL_WHY_NODE_NO_MULTINODE : KEEL_WHY_NO_NODES);
	ret->never = true;
	return true;
}

void explain(struct trial *t, struct reason *ret)
{
	struct tally have;

	count(t, &have);
	ret->never = false;
	if (t->failed)
		reason_set(ret, "out of memory in the scheduler");
	else if (have.free_vnodes == 0 || too_few(t, have.free_hosts, have.free_vnodes))
		reason_why(ret, KEEL_WHY_FEW_FREE);
	else if (short_sum(t, false, ret) || any_common_reason(t, false, ret))
		;
	else
		reason_why(ret, KEEL_WHY_NO_NODES);
}

/* ---- for people ------------------------------------------------------------------------------------------------ */

/* A block is in the chunk's way. */
static bool is_promised(const struct trial *t, uint32_t node, const struct demand *d, struct reason *ret)
{
	bool alone = t->s->node[node].share[t->w->place.share & 3] != KEEL_SHARE_SHARED, closes = false;
	const struct block *b;

	if (!t->till || (!short_of(t, node, d, 0) && !(spans_promised(t->s, node, t->till, &closes) && alone) && !closes))
		return false;
	b = spans_first(t->s, node, t->till, NULL, true);
	reason_block(ret, b);
	return true;
}

/* What keeps the chunk off the vnode now. False: nothing does. */
static bool word_of(struct trial *t, uint32_t node, const struct demand *d, struct reason *ret)
{
	const struct vnode *v = &t->s->node[node];
	struct cause c;

	if (!is_allowed(t, node)) {
		reason_why(ret, KEEL_WHY_NODE_KIND);
		return true;
	}
	c = cause_of(t, node, d, false);
	if (c.code == KEEL_WHY_RESOURCE && c.want) { /* it will never have that */
		cause_tell(&c, true, ret);
		return true;
	}
	if (c.code && !v->down) {
		cause_tell(&c, true, ret);
		return true;
	}
	if (!v->usable) {
		reason_why(ret, KEEL_WHY_NODE_STATE, "");
		return true;
	}
	if (is_promised(t, node, d, ret))
		return true;
	if (is_open(t, node))
		return false;
	reason_why(ret, KEEL_WHY_NODE_EXCLUSIVE, "Job");
	return true;
}

void words_find(struct trial *t, struct vnode_words *ret)
{
	uint32_t d, i;

	for (d = 0; d < t->w->select->n; d++)
		for (i = 0; i < t->s->n; i++) {
			struct reason why;
			struct vnode_word *word = &ret->word[ret->n];

			why.never = false;
			if (!word_of(t, i, &t->demand[d], &why))
				ret->fits++;
			else if (ret->n == ret->room)
				ret->others++;
			else {
				*word = (struct vnode_word){ .chunk = d, .node = i, .why = why };
				ret->n++;
			}
		}
}
