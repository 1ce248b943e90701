/* SPDX-License-Identifier: Apache-2.0
 *
 * put.c - put the chunks of a job on vnodes, one after the other.
 *
 * A chunk goes to one vnode when one is big enough, else over several vnodes of one host (not
 * vscatter). What is taken is taken at once and given back when the trial fails, so nothing is ever
 * given twice. Chunks of one kind go on searching where the last one was put: nothing before fits them.
 */
#include "spans.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does the arrangement let this chunk onto the vnode, after the chunks before it? */
static bool is_arranged(const struct trial *t, uint32_t node)
{
	const struct scratch *x = t->s->scratch;

	switch (t->w->place.arrange) {
	case KEEL_PLACE_SCATTER: return x->host_used[t->s->node[node].host] != x->round;
	case KEEL_PLACE_VSCATTER: return x->used[node] != x->round;
	default: return true;
	}
}

static bool has_values(const struct trial *t, uint32_t node, const struct demand *d)
{
	const struct vnode *v = &t->s->node[node];

	return d->klass_ok[v->klass] && (d->host == ANY_HOST || !mismatch(t->s, v, d));
}

/* ---- amounts --------------------------------------------------------------------------------------------- */

static double *left_at(const struct trial *t, uint32_t node, uint32_t column)
{
	const struct vnode *v = &t->s->node[node];

	if (!t->empty)
		return amount_at(t->s, node, column);
	if (v->via && v->via[column])
		node = v->via[column] - 1;
	return &t->empty_left[(size_t)node * t->s->n_column + column];
}

double left(const struct trial *t, uint32_t node, const struct need *k)
{
	if (k->column == NOT_COMPARED)
		return HUGE_VAL;
	if (k->column == NO_COLUMN)
		return 0;
	return *left_at(t, node, k->column) -
	       (t->till && !t->empty ? spans_gap(t->s, node, k->column, t->till) : 0);
}

const struct need *short_of(const struct trial *t, uint32_t node, const struct demand *d,
			    uint32_t chunk)
{
	uint32_t k;

	for (k = 0; k < d->n_need; k++)
		if (is_needed(&d->need[k], chunk) &&
		    left(t, node, &d->need[k]) + EPSILON < d->need[k].amount)
			return &d->need[k];
	return NULL;
}

static void part_move(const struct trial *t, const struct part *p, int sign)
{
	const struct demand *d = &t->demand[p->demand];
	uint32_t k;

	for (k = 0; k < d->n_need; k++)
		if (d->need[k].column < t->s->n_column)
			*left_at(t, p->node, d->need[k].column) -= sign * t->amount[p->amount + k];
}

/* Room for one more part with `n` amounts. */
static bool part_room(struct trial *t, uint32_t n)
{
	uint32_t room = t->room ? t->room * 2 : 8, amount_room = (t->amount_room + n) * 2;
	struct part *part = t->part;
	double *amount = t->amount;

	if (t->n_part == t->room) {
		if (!(part = reallocarray(t->part, room, sizeof(*part))))
			return false;
		t->part = part;
		t->room = room;
	}
	if (t->n_amount + n > t->amount_room) {
		if (!(amount = reallocarray(t->amount, amount_room, sizeof(*amount))))
			return false;
		t->amount = amount;
		t->amount_room = amount_room;
	}
	return true;
}

static bool part_add(struct trial *t, uint32_t chunk, uint32_t demand, uint32_t node,
		     const double *amount)
{
	uint32_t k, n = t->demand[demand].n_need;
	struct part *p;

	if (!part_room(t, n))
		return false;
	p = &t->part[t->n_part++];
	*p = (struct part){ .chunk = chunk, .demand = demand, .node = node, .amount = t->n_amount };
	for (k = 0; k < n; k++)
		t->amount[t->n_amount++] = amount[k];
	part_move(t, p, 1);
	return true;
}

void parts_drop(struct trial *t, uint32_t down_to)
{
	while (t->n_part > down_to) {
		struct part *p = &t->part[--t->n_part];

		part_move(t, p, -1);
		t->n_amount = p->amount;
	}
}

/* ---- one chunk ------------------------------------------------------------------------------------------- */

static void mark(struct trial *t, uint32_t node)
{
	struct scratch *x = t->s->scratch;

	x->used[node] = x->round;
	x->host_used[t->s->node[node].host] = x->round;
}

static bool put_whole(struct trial *t, uint32_t chunk, uint32_t demand, uint32_t node)
{
	const struct demand *d = &t->demand[demand];
	double amount[d->n_need + 1];
	uint32_t k;

	if (!is_open(t, node) || !is_arranged(t, node) || !has_values(t, node, d) ||
	    short_of(t, node, d, chunk) || !taps_let(t, node))
		return false;
	for (k = 0; k < d->n_need; k++)
		amount[k] = is_needed(&d->need[k], chunk) ? d->need[k].amount : 0;
	if (!part_add(t, chunk, demand, node, amount))
		t->failed = true;
	mark(t, node);
	return !t->failed;
}

/* As much of what is missing as the vnode has. */
static void put_some(struct trial *t, uint32_t chunk, uint32_t demand, uint32_t node, double *missing)
{
	const struct demand *d = &t->demand[demand];
	double amount[d->n_need + 1];
	bool any = false;
	uint32_t k;

	for (k = 0; k < d->n_need; k++) {
		double most = left(t, node, &d->need[k]);

		amount[k] = fmin(fmax(most, 0), missing[k]);
		any |= amount[k] > 0;
	}
	if (!any || !taps_let(t, node))
		return;
	if (!part_add(t, chunk, demand, node, amount))
		t->failed = true;
	for (k = 0; k < d->n_need; k++)
		missing[k] = missing[k] - amount[k] <= EPSILON ? 0 : missing[k] - amount[k];
}

/* Over the vnodes of one host, the best first. */
static bool put_spread(struct trial *t, uint32_t chunk, uint32_t demand, uint32_t host)
{
	const struct demand *d = &t->demand[demand];
	double missing[d->n_need + 1];
	uint32_t i, k, n, before = t->n_part;
	const uint32_t *node = order_of_host(t->s, host, &n);
	bool open = false;

	for (k = 0; k < d->n_need; k++) {
		missing[k] = is_needed(&d->need[k], chunk) ? d->need[k].amount : 0;
		open |= missing[k] > 0;
	}
	for (i = 0; i < n && open && !t->failed; i++) {
		if (!is_open(t, node[i]) || !is_arranged(t, node[i]) || !has_values(t, node[i], d))
			continue;
		put_some(t, chunk, demand, node[i], missing);
		for (open = false, k = 0; k < d->n_need; k++)
			open |= missing[k] > 0;
	}
	if (open || t->failed || t->n_part == before) {
		parts_drop(t, before);
		return false;
	}
	for (k = before; k < t->n_part; k++)
		mark(t, t->part[k].node);
	return true;
}

static bool put_anywhere(struct trial *t, uint32_t chunk, uint32_t demand)
{
	struct scratch *x = t->s->scratch;
	struct demand *d = &t->demand[demand];
	struct probe p = (struct probe){ .klasses = d->klasses & set_klasses(t),
					 .empty = t->empty,
					 .timeless = !t->till,
					 .share = (uint32_t)t->w->place.share & 3,
					 .whole_host = false,
					 .need = d->need,
					 .n_need = d->n_need };
	struct need now[d->n_need + 1];
	uint32_t node, k;

	p.need = now;
	p.n_need = 0;
	for (k = 0; k < d->n_need; k++)
		if (is_needed(&d->need[k], chunk))
			now[p.n_need++] = d->need[k];
	for (; (node = order_next(t->s, &p, &d->at)) != NO_NODE && !t->failed; cursor_step(&d->at))
		if (put_whole(t, chunk, demand, node))
			return true;
	if (t->w->place.arrange == KEEL_PLACE_VSCATTER || t->s->n_hosts == t->s->n)
		return false;
	p.whole_host = true;
	for (; (node = order_next(t->s, &p, &d->spread_at)) != NO_NODE && !t->failed;
	     cursor_step(&d->spread_at)) {
		uint32_t host = t->s->node[node].host;

		if (x->host_short[host] == x->spread)
			continue;
		if (put_spread(t, chunk, demand, host))
			return true;
		x->host_short[host] = x->spread;
	}
	return false;
}

/* Any vnode may do. */
static void search_anew(struct trial *t, struct demand *d)
{
	d->at = d->spread_at = (struct cursor){ 0, 0 };
	t->s->scratch->spread++;
}

static bool put_chunk(struct trial *t, uint32_t chunk, uint32_t demand, uint32_t host)
{
	struct demand *d = &t->demand[demand];
	const uint32_t *node;
	uint32_t n, i;
	bool there;

	if (d->host == NO_HOST || (host != ANY_HOST && d->host != ANY_HOST && d->host != host))
		return false;
	if (host == ANY_HOST && d->host == ANY_HOST) {
		there = put_anywhere(t, chunk, demand);
		if (d->first_differs && chunk == 0)
			search_anew(t, d);
		return there;
	}
	if (host == ANY_HOST)
		host = d->host;
	node = order_of_host(t->s, host, &n);
	for (i = 0; i < n && !t->failed; i++)
		if (put_whole(t, chunk, demand, node[i]))
			return true;
	return n > 1 && t->w->place.arrange != KEEL_PLACE_VSCATTER && !t->failed &&
	       put_spread(t, chunk, demand, host);
}

/* ---- all chunks -------------------------------------------------------------------------------------------- */

static bool put_all(struct trial *t, uint32_t host)
{
	uint32_t d, c, chunk = 0;

	t->s->scratch->round++;
	for (d = 0; d < t->w->select->n; d++) {
		search_anew(t, &t->demand[d]);
		for (c = 0; c < t->w->select->chunk[d].count; c++)
			if (!put_chunk(t, chunk++, d, host)) {
				parts_drop(t, 0);
				t->unplaced = d;
				return false;
			}
	}
	return true;
}

/* Sums of all chunks by column; at most as many as there are needs. */
static uint32_t needs_sum(const struct trial *t, struct need *sum)
{
	uint32_t n = 0, d, k, i;

	for (d = 0; d < t->w->select->n; d++)
		for (k = 0; k < t->demand[d].n_need; k++) {
			const struct need *need = &t->demand[d].need[k];
			double amount = need->amount *
					(is_needed(need, 1) ? t->w->select->chunk[d].count : d == 0);

			for (i = 0; i < n && sum[i].res != need->res; i++)
				;
			if (i == n)
				sum[n++] = (struct need){ need->column, 0, need->res };
			sum[i].amount += amount;
		}
	return n;
}

static uint32_t needs_count(const struct trial *t)
{
	uint32_t n = 0, d;

	for (d = 0; d < t->w->select->n; d++)
		n += t->demand[d].n_need;
	return n;
}

/* All on one host: each host that has enough in sum, in the order of its best vnode. */
bool try_hosts(struct trial *t)
{
	struct need sum[needs_count(t) + 1];
	struct probe p = { .klasses = set_klasses(t), .empty = t->empty, .timeless = !t->till, .whole_host = true,
			   .share = (uint32_t)t->w->place.share & 3, .need = sum,
			   .n_need = needs_sum(t, sum) };
	struct cursor at = { 0, 0 };
	uint32_t node, mine = ++t->s->scratch->round;

	for (; (node = order_next(t->s, &p, &at)) != NO_NODE && !t->failed; cursor_step(&at)) {
		uint32_t host = t->s->node[node].host;

		if (t->s->scratch->host_tried[host] == mine)
			continue;
		t->s->scratch->host_tried[host] = mine;
		if (put_all(t, host))
			return true;
	}
	return false;
}

bool try_all(struct trial *t)
{
	bool fits;

	if (t->w->place.arrange == KEEL_PLACE_PACK)
		return try_hosts(t);
	t->many_hosts = t->w->select->chunks > 1 && t->s->some_one_host;
	fits = put_all(t, ANY_HOST);
	if (!fits && t->many_hosts && t->w->place.arrange != KEEL_PLACE_SCATTER) {
		t->many_hosts = false;
		fits = try_hosts(t);
		t->many_hosts = !fits;
	}
	return fits;
}

bool try_empty(struct trial *t, bool (*fn)(struct trial *))
{
	const struct snapshot *s = t->s;
	uint32_t i;
	bool fits;

	t->empty_left = malloc(sizeof(double) * s->n_column * s->n + 1);
	if (!t->empty_left) {
		t->failed = true;
		return true;
	}
	for (i = 0; i < s->n; i++)
		memcpy(t->empty_left + (size_t)i * s->n_column, s->node[i].total,
		       sizeof(double) * s->n_column);
	t->empty = true;
	fits = fn(t);
	parts_drop(t, 0);
	t->empty = false;
	free(t->empty_left);
	t->empty_left = NULL;
	return fits;
}

