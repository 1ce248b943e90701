/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - vnodes in the order they are tried, and how to pass over most of them.
 *
 * The order is cut into spans of up to SPAN vnodes. A span knows an upper bound of each amount that any
 * of its vnodes has left (itself, or with the rest of its host), how it would be on empty vnodes, which
 * classes are in it and to what kinds of jobs it is open. A search looks at a span's vnodes only when
 * the bounds leave hope.
 *
 * Bounds may be too high, never too low: while a trial takes amounts nothing is updated, after a start
 * order_update() moves the few vnodes that changed where node_sort_key wants them. The bounds of their spans and
 * the sums of their hosts are stale then, and made anew before the next trial: once, however many changed.
 */
#include "spans.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPAN 128
#define FILL 64 /* of a new order */

enum { OWN, HOST, OWN_EMPTY, HOST_EMPTY, BOUNDS };

struct span {
	uint32_t n;
	uint32_t node[SPAN];
	uint64_t klasses, open_klasses;
	uint8_t open; /* bit per enum keel_place_share */
	bool stale;
	bool timed; /* blocks begin later on some of them: its bounds are for the order's time */
};

struct order {
	struct span *span;
	double *best; /* per span: BOUNDS x columns */
	uint32_t n_span, room;
	uint32_t *span_of; /* per vnode */
	double *key;       /* per vnode: one per sort key, and the score; high first */
	uint32_t n_key;
	uint32_t *of_host, *first, *in_use; /* vnodes by host; where a host's begin; jobs' vnodes */
	double *host_left, *host_total; /* per host, per column; NULL: every host is one vnode */
	uint32_t *stale_host, n_stale_host;
	bool *is_stale; /* per host; then all its spans are, too */
	int64_t till;	/* bounds are for jobs until then or longer; 0: for all */
	bool retimed;	/* spans with blocks are stale */
};

/* ---- amounts ------------------------------------------------------------------------------------ */

/* What others share may change behind the vnode's back. */
static double bound_of(const struct vnode *v, uint32_t column, bool empty)
{
	if (v->via && v->via[column])
		return HUGE_VAL;
	return empty ? v->total[column] : v->free[column];
}

/* ---- hosts --------------------------------------------------------------------------------------- */

const uint32_t *order_of_host(const struct snapshot *s, uint32_t host, uint32_t *ret_n)
{
	const struct order *o = s->order;

	*ret_n = o ? o->first[host + 1] - o->first[host] : 0;
	return o ? o->of_host + o->first[host] : NULL;
}

bool host_in_use(const struct snapshot *s, uint32_t host)
{
	return s->order && s->order->in_use[host] > 0;
}

static void host_sum(struct snapshot *s, uint32_t host)
{
	struct order *o = s->order;
	uint32_t n, i, c;
	const uint32_t *node = order_of_host(s, host, &n);

	o->in_use[host] = 0;
	for (i = 0; i < n; i++)
		o->in_use[host] += s->node[node[i]].in_use;
	for (c = 0; o->host_left && c < s->n_column; c++) {
		double *left = &o->host_left[(size_t)host * s->n_column + c];
		double *total = &o->host_total[(size_t)host * s->n_column + c];

		*left = *total = 0;
		for (i = 0; i < n; i++) {
			const struct vnode *v = &s->node[node[i]];

			*total += bound_of(v, c, true);
			if (v->usable)
				*left += fmax(bound_of(v, c, false), 0);
		}
	}
}

static bool hosts_make(struct snapshot *s)
{
	struct order *o = s->order;
	uint32_t *fill = calloc(s->n_hosts + 1, sizeof(*fill)), i;

	o->of_host = calloc(s->n + 1, sizeof(*o->of_host));
	o->first = calloc(s->n_hosts + 2, sizeof(*o->first));
	o->in_use = calloc(s->n_hosts + 1, sizeof(*o->in_use));
	o->stale_host = calloc(s->n_hosts + 1, sizeof(*o->stale_host));
	o->is_stale = calloc(s->n_hosts + 1, sizeof(*o->is_stale));
	if (s->n_hosts < s->n) {
		o->host_left = calloc((size_t)s->n_hosts * s->n_column + 1, sizeof(double));
		o->host_total = calloc((size_t)s->n_hosts * s->n_column + 1, sizeof(double));
	}
	if (!fill || !o->of_host || !o->first || !o->in_use || !o->stale_host || !o->is_stale ||
	    (s->n_hosts < s->n && (!o->host_left || !o->host_total))) {
		free(fill);
		return false;
	}
	for (i = 0; i < s->n; i++)
		o->first[s->node[i].host + 1]++;
	for (i = 0; i < s->n_hosts; i++)
		o->first[i + 1] += o->first[i];
	for (i = 0; i < s->n; i++) {
		uint32_t h = s->node[i].host;

		o->of_host[o->first[h] + fill[h]++] = i;
	}
	free(fill);
	return true;
}

/* ---- keys ------------------------------------------------------------------------------------------ */

static double amount_key(const struct snapshot *s, uint32_t node, const struct sort_key *k)
{
	const struct vnode *v = &s->node[node];
	uint32_t c = k->res ? column_of(s, k->res) : NO_COLUMN;

	if (c >= s->n_column) {
		const struct keel_res_value *o = k->res ? other_of(v, k->res) : NULL;

		return o && o->res->type <= KEEL_RES_BOOL && k->by == SORT_TOTAL ? o->n : 0;
	}
	if (k->by == SORT_TOTAL)
		return v->total[c];
	if (k->by == SORT_UNUSED)
		return v->free[c];
	return v->total[c] < HUGE_VAL ? v->total[c] - v->free[c] : 0;
}

static void keys_of(const struct snapshot *s, uint32_t node, double *ret)
{
	const struct vnode *v = &s->node[node];
	uint32_t k;

	ret[0] = (double)v->score;
	for (k = 0; k < s->n_sort; k++) {
		double n;

		switch (s->sort[k].by) {
		case SORT_PRIORITY: n = (double)v->priority; break;
		case SORT_LAST_USED: n = (double)v->last_used; break;
		case SORT_TURN: n = v->taken_in; break;
		default: n = amount_key(s, node, &s->sort[k]); break;
		}
		ret[k + 1] = s->sort[k].low_first ? -n : n;
	}
}

static bool goes_before(const struct order *o, uint32_t a, uint32_t b)
{
	const double *x = o->key + (size_t)a * o->n_key, *y = o->key + (size_t)b * o->n_key;
	uint32_t k;

	for (k = 0; k < o->n_key; k++)
		if (x[k] != y[k])
			return x[k] > y[k];
	return a < b;
}

static int by_key(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x == y ? 0 : goes_before(arg, x, y) ? -1 : 1;
}

/* ---- bounds ------------------------------------------------------------------------------------------ */

static uint8_t open_bits(const struct snapshot *s, uint32_t node)
{
	const struct vnode *v = &s->node[node];
	int64_t till = v->future ? s->order->till : 0;
	bool quiet = !s->order->in_use[v->host], closes = false;
	uint8_t bits = 0;
	int k;

	if (till)
		spans_promised(s, node, till, &closes);
	for (k = 0; v->usable && !closes && k < 4; k++)
		if (v->share[k] == KEEL_SHARE_SHARED ||
		    (v->share[k] == KEEL_SHARE_EXCL ? !v->in_use : quiet))
			bits |= (uint8_t)(1 << k);
	return bits;
}

static void raise(double *best, const double *by, uint32_t n)
{
	uint32_t c;

	for (c = 0; c < n; c++)
		if (by[c] > best[c])
			best[c] = by[c];
}

static void span_bounds(const struct snapshot *s, uint32_t span)
{
	const struct order *o = s->order;
	struct span *p = &o->span[span];
	uint32_t n = s->n_column, i, c;
	double *best = o->best + (size_t)span * BOUNDS * n, own[2][n + 1];

	p->klasses = p->open_klasses = 0;
	p->open = 0;
	p->stale = p->timed = false;
	for (c = 0; c < BOUNDS * n; c++)
		best[c] = 0;
	for (i = 0; i < p->n; i++) {
		const struct vnode *v = &s->node[p->node[i]];
		uint8_t open = open_bits(s, p->node[i]);

		p->klasses |= 1ull << (v->klass & 63);
		if (open)
			p->open_klasses |= 1ull << (v->klass & 63);
		p->open |= open;
		for (c = 0; c < n; c++) {
			own[0][c] = bound_of(v, c, false);
			own[1][c] = bound_of(v, c, true);
			if (v->future && o->till && own[0][c] < HUGE_VAL)
				own[0][c] -= spans_gap(s, p->node[i], c, o->till);
		}
		p->timed |= v->future != NULL;
		raise(best + OWN_EMPTY * n, own[1], n);
		if (open)
			raise(best + OWN * n, own[0], n);
		if (!o->host_left)
			continue;
		raise(best + HOST_EMPTY * n, o->host_total + (size_t)v->host * n, n);
		raise(best + HOST * n, o->host_left + (size_t)v->host * n, n);
	}
}

/* ---- the order ------------------------------------------------------------------------------------------ */

void order_free(struct order *o)
{
	if (!o)
		return;
	free(o->span);
	free(o->best);
	free(o->span_of);
	free(o->key);
	free(o->of_host);
	free(o->first);
	free(o->in_use);
	free(o->stale_host);
	free(o->is_stale);
	free(o->host_left);
	free(o->host_total);
	free(o);
}

static bool spans_make(struct snapshot *s, const uint32_t *sorted)
{
	struct order *o = s->order;
	uint32_t i;

	o->room = s->n / FILL + 2;
	o->span = calloc(o->room, sizeof(*o->span));
	o->best = calloc((size_t)o->room * BOUNDS * s->n_column + 1, sizeof(double));
	o->span_of = calloc(s->n + 1, sizeof(*o->span_of));
	if (!o->span || !o->best || !o->span_of)
		return false;
	o->n_span = 1;
	for (i = 0; i < s->n; i++) {
		if (o->span[o->n_span - 1].n == FILL)
			o->n_span++;
		o->span_of[sorted[i]] = o->n_span - 1;
		o->span[o->n_span - 1].node[o->span[o->n_span - 1].n++] = sorted[i];
	}
	for (i = 0; i < o->n_span; i++)
		span_bounds(s, i);
	return true;
}

static bool fill(struct snapshot *s)
{
	struct order *o = s->order;
	uint32_t *sorted = calloc(s->n + 1, sizeof(*sorted)), i;
	bool ok;

	o->n_key = s->n_sort + 1;
	o->key = calloc((size_t)s->n * o->n_key + 1, sizeof(double));
	if (!sorted || !o->key || !hosts_make(s)) {
		free(sorted);
		return false;
	}
	for (i = 0; i < s->n; i++) {
		sorted[i] = i;
		keys_of(s, i, o->key + (size_t)i * o->n_key);
	}
	qsort_r(sorted, s->n, sizeof(*sorted), by_key, o);
	for (i = 0; i < s->n_hosts; i++) {
		qsort_r(o->of_host + o->first[i], o->first[i + 1] - o->first[i], sizeof(uint32_t),
			by_key, o);
		host_sum(s, i);
	}
	ok = spans_make(s, sorted);
	free(sorted);
	return ok;
}

void order_make(struct snapshot *s)
{
	order_free(s->order);
	s->order = calloc(1, sizeof(*s->order));
	if (s->order && !fill(s)) {
		order_free(s->order);
		s->order = NULL;
	}
}

static void *copy_of(const void *from, size_t bytes, bool *ok)
{
	void *to = from ? malloc(bytes + 1) : NULL;

	if (to)
		memcpy(to, from, bytes);
	*ok &= to || !from;
	return to;
}

struct order *order_copy(const struct snapshot *s)
{
	const struct order *o = s->order;
	struct order *c = o ? calloc(1, sizeof(*c)) : NULL;
	size_t amounts = sizeof(double) * s->n_hosts * s->n_column;
	bool ok = true;

	if (!c)
		return NULL;
	*c = *o;
	c->span = copy_of(o->span, sizeof(*o->span) * o->room, &ok);
	c->best = copy_of(o->best, sizeof(double) * o->room * BOUNDS * s->n_column, &ok);
	c->span_of = copy_of(o->span_of, sizeof(uint32_t) * s->n, &ok);
	c->key = copy_of(o->key, sizeof(double) * s->n * o->n_key, &ok);
	c->of_host = copy_of(o->of_host, sizeof(uint32_t) * s->n, &ok);
	c->first = copy_of(o->first, sizeof(uint32_t) * (s->n_hosts + 2), &ok);
	c->in_use = copy_of(o->in_use, sizeof(uint32_t) * s->n_hosts, &ok);
	c->stale_host = copy_of(o->stale_host, sizeof(uint32_t) * s->n_hosts, &ok);
	c->is_stale = copy_of(o->is_stale, sizeof(bool) * s->n_hosts, &ok);
	c->host_left = copy_of(o->host_left, amounts, &ok);
	c->host_total = copy_of(o->host_total, amounts, &ok);
	if (ok)
		return c;
	order_free(c);
	return NULL;
}

/* ---- changes ------------------------------------------------------------------------------------------------ */

/* Room for one more in a full span: its second half becomes a span of its own behind it. */
static bool split(struct snapshot *s, uint32_t at)
{
	struct order *o = s->order;
	size_t bounds = sizeof(double) * BOUNDS * s->n_column;
	struct span *from, *to;
	uint32_t i, k;

	if (o->n_span == o->room) {
		struct span *span = reallocarray(o->span, o->room * 2, sizeof(*span));
		double *best;

		if (!span)
			return false;
		o->span = span;
		best = realloc(o->best, o->room * 2 * bounds + 1);
		if (!best)
			return false;
		o->best = best;
		o->room *= 2;
	}
	memmove(o->span + at + 1, o->span + at, (o->n_span - at) * sizeof(*o->span));
	memmove((char *)o->best + (at + 1) * bounds, (char *)o->best + at * bounds,
		(o->n_span - at) * bounds);
	o->n_span++;
	from = &o->span[at];
	to = &o->span[at + 1];
	to->n = from->n - from->n / 2;
	from->n /= 2;
	memmove(to->node, to->node + from->n, to->n * sizeof(to->node[0]));
	for (i = at + 1; i < o->n_span; i++)
		for (k = 0; k < o->span[i].n; k++)
			o->span_of[o->span[i].node[k]] = i;
	o->span[at + 1].stale = true;
	return true;
}

/* The span whose vnodes stand around where `node` belongs. */
static uint32_t span_for(const struct order *o, uint32_t node)
{
	uint32_t i, at = 0;

	for (i = 0; i < o->n_span; i++) {
		if (o->span[i].n == 0)
			continue;
		if (!goes_before(o, o->span[i].node[0], node))
			break;
		at = i;
	}
	return at;
}

static void put_in(struct snapshot *s, uint32_t node)
{
	struct order *o = s->order;
	uint32_t at = span_for(o, node), i;
	struct span *p;

	if (o->span[at].n == SPAN) {
		split(s, at); /* without memory it stays out of its order: see below */
		at = span_for(o, node);
	}
	while (o->span[at].n == SPAN)
		at = (at + 1) % o->n_span;
	p = &o->span[at];
	for (i = p->n; i > 0 && goes_before(o, node, p->node[i - 1]); i--)
		p->node[i] = p->node[i - 1];
	p->node[i] = node;
	p->n++;
	o->span_of[node] = at;
}

void order_update(struct snapshot *s, uint32_t node)
{
	struct order *o = s->order;
	uint32_t host = s->node[node].host;
	double now[SORT_KEYS_MAX + 2], *key;
	struct span *p;
	uint32_t i, k;

	if (!o)
		return;
	o->span[o->span_of[node]].stale = true;
	key = o->key + (size_t)node * o->n_key;
	keys_of(s, node, now);
	if (memcmp(now, key, o->n_key * sizeof(double)) != 0) {
		memcpy(key, now, o->n_key * sizeof(double));
		p = &o->span[o->span_of[node]];
		for (i = 0; p->node[i] != node; i++)
			;
		p->n--;
		memmove(p->node + i, p->node + i + 1, (p->n - i) * sizeof(p->node[0]));
		put_in(s, node);
		qsort_r(o->of_host + o->first[host], o->first[host + 1] - o->first[host],
			sizeof(uint32_t), by_key, o);
		o->span[o->span_of[node]].stale = true;
	}
	/* What is on it may have opened or closed its other vnodes. */
	if (o->is_stale[host])
		return;
	o->is_stale[host] = true;
	o->stale_host[o->n_stale_host++] = host;
	for (k = o->first[host]; k < o->first[host + 1]; k++)
		o->span[o->span_of[o->of_host[k]]].stale = true;
}

void order_until(struct snapshot *s, int64_t till)
{
	struct order *o = s->order;
	uint32_t i;

	if (!o || o->till == till || (till && o->till && o->till < till))
		return;
	o->till = till;
	o->retimed = true;
	for (i = 0; i < o->n_span; i++)
		o->span[i].stale |= o->span[i].timed;
}

void order_settle(struct snapshot *s)
{
	struct order *o = s->order;
	uint32_t i;

	if (!o || (!o->n_stale_host && !o->retimed))
		return;
	o->retimed = false;
	for (i = 0; i < o->n_stale_host; i++) {
		host_sum(s, o->stale_host[i]);
		o->is_stale[o->stale_host[i]] = false;
	}
	for (i = 0; i < o->n_span; i++)
		if (o->span[i].stale)
			span_bounds(s, i);
	o->n_stale_host = 0;
}

uint32_t order_list(const struct snapshot *s, uint32_t *ret)
{
	const struct order *o = s->order;
	uint32_t n = 0, i, k;

	for (i = 0; o && i < o->n_span; i++)
		for (k = 0; k < o->span[i].n; k++)
			ret[n++] = o->span[i].node[k];
	return n;
}

/* ---- search -------------------------------------------------------------------------------------------------- */

/* Some of the needs are beyond this bound. */
static bool beyond(const struct snapshot *s, const struct probe *p, const double *own,
		   const double *host)
{
	uint32_t k;

	for (k = 0; k < p->n_need; k++) {
		uint32_t c = p->need[k].column;
		double most;

		if (c == NOT_COMPARED)
			continue;
		most = c >= s->n_column ? 0 : host ? host[c] : own[c];
		if (most + EPSILON < p->need[k].amount)
			return true;
	}
	return false;
}

static bool span_hopeless(const struct snapshot *s, const struct probe *p, uint32_t span)
{
	const struct order *o = s->order;
	const struct span *a = &o->span[span];
	const double *best = o->best + (size_t)span * BOUNDS * s->n_column;
	bool host = p->whole_host && o->host_left;
	uint32_t kind = p->empty ? (host ? HOST_EMPTY : OWN_EMPTY) : host ? HOST : OWN;

	if (a->timed && p->timeless && !p->empty)
		return !(a->klasses & p->klasses);
	if (a->n == 0 || !((p->empty ? a->klasses : a->open_klasses) & p->klasses) ||
	    (!p->empty && !(a->open & (1 << p->share))))
		return true;
	best += (size_t)kind * s->n_column;
	return beyond(s, p, best, NULL);
}

static bool node_hopeless(const struct snapshot *s, const struct probe *p, uint32_t node)
{
	const struct order *o = s->order;
	const struct vnode *v = &s->node[node];
	const double *host = NULL;

	if (!(p->klasses & (1ull << (v->klass & 63))) || (!p->empty && !v->usable))
		return true;
	if (v->via)
		return false;
	if (p->whole_host && o->host_left)
		host = (p->empty ? o->host_total : o->host_left) + (size_t)v->host * s->n_column;
	return beyond(s, p, p->empty ? v->total : v->free, host);
}

void cursor_step(struct cursor *c)
{
	c->slot++;
}

uint32_t order_next(const struct snapshot *s, const struct probe *p, struct cursor *c)
{
	const struct order *o = s->order;

	for (; c->span < o->n_span; c->span++, c->slot = 0) {
		const struct span *a = &o->span[c->span];

		if (span_hopeless(s, p, c->span))
			continue;
		for (; c->slot < a->n; c->slot++)
			if (!node_hopeless(s, p, a->node[c->slot]))
				return a->node[c->slot];
	}
	return NO_NODE;
}
