/* SPDX-License-Identifier: Apache-2.0
 *
 * least.c - what blocks leave of a vnode, now and later.
 *
 * What is free of a vnode only falls when a block begins there. So the least that is free over a window
 * is the least of what is free at its begin and at each begin of a block inside it. A vnode with blocks has a
 * list of those moments, each with the gap: by how much less than now will be free then. A job that is
 * placed there, or goes, changes both alike, but for moments after its end: there the gap changes.
 */
#include "spans.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A moment at which blocks begin. */
enum { OTHERS = 0, OURS = 1 /* one of them names this vnode */, CLOSES = 2 };
struct future {
	uint32_t refs, n, n_column;
	int64_t *at;   /* ascending */
	uint8_t *kind; /* per moment */
	double *gap;   /* per moment and column */
};

/* ---- whose amounts ---------------------------------------------------------------------------------------- */

static uint32_t owner_of(const struct snapshot *s, uint32_t node, uint32_t column)
{
	const struct vnode *v = &s->node[node];

	return v->via && v->via[column] ? v->via[column] - 1 : node;
}

void spans_touch(struct snapshot *s, uint32_t node, void (*fn)(struct vnode *v))
{
	uint32_t c;

	fn(&s->node[node]);
	for (c = 0; s->node[node].via && c < s->n_column; c++)
		if (s->node[node].via[c])
			fn(&s->node[s->node[node].via[c] - 1]);
}

/* As fn(arg, y) for each vnode y whose blocks and jobs take of this one's amounts. */
static void each_taker(const struct snapshot *s, uint32_t node, void (*fn)(void *arg, uint32_t taker), void *arg)
{
	uint32_t i;

	fn(arg, node);
	for (i = 0; i < s->node[node].n_taker; i++)
		fn(arg, s->node[node].taker[i]);
}

/* A part that names `taker`, and what it takes of `node`. */
struct taking {
	const struct snapshot *s;
	uint32_t node, taker;
};

static double part_takes(const struct taking *t, const struct keel_exec *exec, uint32_t part, uint32_t column)
{
	const struct keel_exec_part *p = &exec->part[part];
	double n = 0;
	uint32_t k;

	if (owner_of(t->s, t->taker, column) != t->node)
		return 0;
	for (k = 0; k < p->n; k++)
		if (p->v[k].res == t->s->column[column])
			n += in_part(p, part, k);
	return n;
}

/* ---- parts of jobs by vnode -------------------------------------------------------------------------------- */

static int by_vnode(const void *a, const void *b, void *arg)
{
	const struct keel_exec *exec = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(exec->part[x].vnode, exec->part[y].vnode);

	return order ? order : (x > y) - (x < y);
}

uint32_t *exec_by_name(const struct keel_exec *exec)
{
	uint32_t *sorted = calloc((size_t)exec->n + 1, sizeof(*sorted)), i;

	for (i = 0; sorted && i < exec->n; i++)
		sorted[i] = i;
	if (sorted)
		qsort_r(sorted, exec->n, sizeof(*sorted), by_vnode, (void *)exec);
	return sorted;
}

/* The first of its parts on the vnode, as an index into by_name; exec->n: none. */
static uint32_t first_part(const struct tenant *t, const char *vnode)
{
	uint32_t low = 0, high = t->exec->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (strcmp(t->exec->part[t->by_name[mid]].vnode, vnode) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_on(const struct tenant *t, uint32_t at, const char *vnode)
{
	return at < t->exec->n && strcmp(t->exec->part[t->by_name[at]].vnode, vnode) == 0;
}

/* ---- the future of a vnode ---------------------------------------------------------------------------------- */

static struct future *future_new(uint32_t n, uint32_t n_column)
{
	size_t gaps = ((size_t)n + 1) * n_column;
	struct future *f = calloc(1, sizeof(*f) + gaps * sizeof(double) + (n + 1) * (sizeof(int64_t) + 1));

	if (!f)
		return NULL;
	f->refs = 1;
	f->n = n;
	f->n_column = n_column;
	f->gap = (double *)(void *)(f + 1);
	f->at = (int64_t *)(void *)(f->gap + gaps);
	f->kind = (uint8_t *)(f->at + n + 1);
	return f;
}

struct future *future_share(struct future *f)
{
	if (f)
		f->refs++;
	return f;
}

void future_put(struct future *f)
{
	if (f && --f->refs == 0)
		free(f);
}

/* One that is the vnode's alone. */
static struct future *future_own(struct vnode *v)
{
	struct future *f = v->future, *own;

	if (f->refs == 1)
		return f;
	own = future_new(f->n, f->n_column);
	if (!own)
		return NULL;
	memcpy(own->at, f->at, f->n * sizeof(*f->at));
	memcpy(own->kind, f->kind, f->n);
	memcpy(own->gap, f->gap, (size_t)f->n * f->n_column * sizeof(double));
	future_put(f);
	v->future = own;
	return own;
}

/* The first moment at or after `at`; f->n: none. */
static uint32_t moment(const struct future *f, int64_t at)
{
	uint32_t low = 0, high = f->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (f->at[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* From `at` on by n more; the gaps are differences until future_sum(). */
static void gap_from(struct future *f, uint32_t column, int64_t at, double n)
{
	f->gap[(size_t)moment(f, at) * f->n_column + column] += n;
}

static void future_sum(struct future *f)
{
	uint32_t i, c;

	for (i = 1; i < f->n; i++)
		for (c = 0; c < f->n_column; c++)
			f->gap[(size_t)i * f->n_column + c] += f->gap[(size_t)(i - 1) * f->n_column + c];
}

struct making {
	struct snapshot *s;
	uint32_t node, taker, n;
	struct future *f; /* NULL: moments are counted */
	int64_t *at;
};

static bool is_ahead(const struct snapshot *s, const struct block *b)
{
	return b->from > s->at && b->till > b->from;
}

static void moments_count(void *arg, uint32_t taker)
{
	struct making *m = arg;
	const struct booked *k = spans_of(m->s->spans, m->s->node[taker].name);
	uint32_t i;

	for (i = 0; k && i < k->n; i++) {
		if (!is_ahead(m->s, k->list[i].block))
			continue;
		if (m->at)
			m->at[m->n] = k->list[i].block->from;
		m->n++;
	}
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Its moments. NULL: none, or no memory. */
static struct future *moments_make(struct making *m)
{
	struct future *f;
	uint32_t i;

	each_taker(m->s, m->node, moments_count, m);
	f = m->n ? future_new(m->n, m->s->n_column) : NULL;
	if (!f)
		return NULL;
	m->at = f->at;
	m->n = 0;
	each_taker(m->s, m->node, moments_count, m);
	qsort(f->at, f->n, sizeof(*f->at), by_time);
	for (i = m->n = 0; i < f->n; i++)
		if (!i || f->at[i] != f->at[i - 1])
			f->at[m->n++] = f->at[i];
	f->n = m->n;
	return f;
}

/* A block that covers now is charged; what has not begun in truth is taken here. */
static void block_note(struct making *m, const struct block *b, uint32_t part)
{
	struct snapshot *s = m->s;
	struct taking t = { s, m->node, m->taker };
	struct vnode *v = &s->node[m->node];
	bool covers = block_covers(b, s->at), ours = m->taker == m->node;
	uint32_t c;

	if (ours && covers) {
		v->promised++;
		v->closed += block_closes(b);
	}
	if (m->f && ours && is_ahead(s, b))
		m->f->kind[moment(m->f, b->from)] |= (uint8_t)(OURS | (block_closes(b) ? CLOSES : 0));
	for (c = 0; c < s->n_column; c++) {
		double n = part_takes(&t, b->exec, part, c);

		if (covers && !(b->flags & KEEL_BLOCK_BEGAN))
			v->free[c] -= n;
		if (m->f && is_ahead(s, b))
			gap_from(m->f, c, b->from, n);
		if (m->f && b->till > s->at && (covers || is_ahead(s, b)))
			gap_from(m->f, c, b->till, -n);
	}
}

static void blocks_note(struct making *m)
{
	const struct booked *k = spans_of(m->s->spans, m->s->node[m->taker].name);
	uint32_t i;

	for (i = 0; k && i < k->n; i++)
		block_note(m, k->list[i].block, k->list[i].part);
}

/* A job that ends gives back, unless what it uses is a block's. */
static void tenant_note(void *arg, const struct tenant *t)
{
	struct making *m = arg;
	const char *vnode = m->s->node[m->taker].name;
	struct taking taking = { m->s, m->node, m->taker };
	uint32_t i, c;

	if (spans_inside(m->s->spans, vnode, t->queue))
		return;
	for (i = first_part(t, vnode); is_on(t, i, vnode); i++)
		for (c = 0; c < m->s->n_column; c++)
			gap_from(m->f, c, t->till, -part_takes(&taking, t->exec, t->by_name[i], c));
}

static void taker_note(void *arg, uint32_t taker)
{
	struct making *m = arg;

	m->taker = taker;
	blocks_note(m);
	if (m->f && m->s->tenants)
		m->s->tenants(m->s->tenants_arg, m->s->node[taker].name, m->f->at[m->f->n - 1], tenant_note, m);
}

void spans_apply(struct snapshot *s, uint32_t node)
{
	struct making m = { .s = s, .node = node };
	struct vnode *v = &s->node[node];

	s->n_future -= v->future != NULL;
	future_put(v->future);
	v->future = NULL;
	v->promised = v->closed = 0;
	if (!s->spans || !s->spans->n)
		return;
	m.f = v->future = moments_make(&m);
	s->n_future += v->future != NULL;
	if (!v->future && m.n)
		v->closed = 1; /* no memory: as little as possible is promised twice */
	each_taker(s, node, taker_note, &m);
	if (m.f)
		future_sum(m.f);
	v->in_use = v->jobs > 0 || v->promised;
	v->usable &= !v->closed;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

double spans_gap(const struct snapshot *s, uint32_t node, uint32_t column, int64_t till)
{
	const struct future *f = s->node[owner_of(s, node, column)].future;
	double most = 0;
	uint32_t i;

	for (i = f ? moment(f, s->at + 1) : 0; f && i < f->n && f->at[i] < till; i++)
		most = fmax(most, f->gap[(size_t)i * f->n_column + column]);
	return most;
}

bool spans_promised(const struct snapshot *s, uint32_t node, int64_t till, bool *closes)
{
	const struct future *f = s->node[node].future;
	uint8_t kinds = 0;
	uint32_t i;

	for (i = f ? moment(f, s->at + 1) : 0; f && i < f->n && f->at[i] < till && !(kinds & CLOSES); i++)
		kinds |= f->kind[i];
	*closes = kinds & CLOSES;
	return kinds & OURS;
}

/* Is this moment in the way? */
static bool in_the_way(const struct snapshot *s, uint32_t node, const struct booking *k, const double *need, bool alone)
{
	uint32_t c;

	if (alone || !need || block_closes(k->block))
		return true;
	for (c = 0; c < s->n_column; c++) {
		uint32_t owner = owner_of(s, node, c);
		const struct future *f = s->node[owner].future;
		uint32_t i = f ? moment(f, k->block->from) : 0;

		if (f && i < f->n && f->at[i] == k->block->from && need[c] > 0 &&
		    *amount_at(s, node, c) - f->gap[(size_t)i * f->n_column + c] < -EPSILON)
			return true;
	}
	return false;
}

const struct block *spans_first(const struct snapshot *s, uint32_t node, int64_t till, const double *need, bool alone)
{
	const struct booked *k = spans_of(s->spans, s->node[node].name);
	uint32_t i;

	for (i = 0; k && i < k->n && k->list[i].block->from < till; i++)
		if (k->list[i].block->from > s->at && in_the_way(s, node, &k->list[i], need, alone))
			return k->list[i].block;
	return NULL;
}

/* What the job has of this vnode, by column. */
static void needs_of(const struct trial *t, uint32_t node, double *need)
{
	uint32_t i, k;

	memset(need, 0, sizeof(*need) * t->s->n_column);
	for (i = 0; i < t->n_part; i++) {
		const struct part *p = &t->part[i];
		const struct demand *d = &t->demand[p->demand];

		for (k = 0; p->node == node && k < d->n_need; k++)
			if (d->need[k].column < t->s->n_column)
				need[d->need[k].column] += t->amount[p->amount + k];
	}
}

const struct block *block_in_way(const struct trial *t, int64_t till)
{
	const struct snapshot *s = t->s;
	double need[s->n_column + 1];
	const struct block *first = NULL, *b;
	uint32_t i, k, n;

	for (i = 0; i < t->n_part; i++) {
		uint32_t node = t->part[i].node;
		uint8_t share = s->node[node].share[t->w->place.share & 3];
		const uint32_t *other = order_of_host(s, s->node[node].host, &n);

		needs_of(t, node, need);
		b = spans_first(s, node, till, need, share != KEEL_SHARE_SHARED);
		for (k = 0; !b && share == KEEL_SHARE_EXCLHOST && k < n; k++)
			b = spans_first(s, other[k], till, NULL, true);
		if (b && (!first || b->from < first->from))
			first = b;
	}
	return first;
}

/* ---- changes -------------------------------------------------------------------------------------------------------- */

void spans_move(struct snapshot *s, uint32_t node, uint32_t column, double n, int64_t till)
{
	struct vnode *v = &s->node[owner_of(s, node, column)];
	struct future *f = v->future && till < INT64_MAX ? future_own(v) : NULL;
	uint32_t i;

	if (v->future && till < INT64_MAX && !f)
		v->closed++; /* no memory: for the rest of this copy */
	for (i = f ? moment(f, till) : 0; f && i < f->n; i++)
		f->gap[(size_t)i * f->n_column + column] += n;
}

void spans_begin(struct snapshot *s, const struct block *b, bool begins)
{
	uint32_t i, c;

	for (i = 0; i < (b->exec ? b->exec->n : 0); i++) {
		struct vnode *v = vnode_named(s, b->exec->part[i].vnode);
		struct taking t = { s, 0, 0 };

		if (!v)
			continue;
		t.taker = (uint32_t)(v - s->node);
		for (c = 0; c < s->n_column; c++) {
			double n;

			t.node = owner_of(s, t.taker, c);
			n = begins ? -part_takes(&t, b->exec, i, c) : part_takes(&t, b->exec, i, c);
			s->node[t.node].free[c] += n;
			spans_move(s, t.taker, c, n, begins ? b->from : b->till);
		}
		v->promised += begins ? 1 : -(uint32_t)(v->promised > 0);
		if (block_closes(b))
			v->closed += begins ? 1 : -(uint32_t)(v->closed > 0);
		vnode_judge(s, v);
		snapshot_changed(s, t.taker);
	}
}

/* ---- any window ---------------------------------------------------------------------------------------------------------- */

struct asking {
	const struct snapshot *s;
	const struct span_ask *ask;
	struct span_least *ret;
	uint32_t node, taker;
	struct future *f;
	int64_t *at;
	uint32_t n;
};

/* Asked of each block of a vnode, of which there may be thousands: what is quick is first. */
static bool counts(const struct asking *a, const struct block *b)
{
	return b->from < a->ask->till && b->till > a->ask->from && b->till > b->from &&
	       !(a->ask->except && strcmp(b->id, a->ask->except) == 0);
}

static void ask_moments(void *arg, uint32_t taker)
{
	struct asking *a = arg;
	const struct booked *k = spans_of(a->s->spans, a->s->node[taker].name);
	uint32_t i;

	for (i = 0; k && i < k->n && k->list[i].block->from < a->ask->till; i++) {
		const struct block *b = k->list[i].block;

		if (!counts(a, b) || b->from <= a->ask->from)
			continue;
		if (a->at)
			a->at[a->n] = b->from;
		a->n++;
	}
}

static void ask_tenant(void *arg, const struct tenant *t)
{
	struct asking *a = arg;
	const char *vnode = a->s->node[a->taker].name;
	struct taking taking = { a->s, a->node, a->taker };
	uint32_t i, c;

	if (t->till <= a->ask->from || spans_inside(a->s->spans, vnode, t->queue))
		return;
	for (i = first_part(t, vnode); is_on(t, i, vnode); i++)
		for (c = 0; c < a->s->n_column; c++) {
			double n = part_takes(&taking, t->exec, t->by_name[i], c);

			gap_from(a->f, c, a->ask->from, n);
			gap_from(a->f, c, t->till, -n);
		}
	a->ret->promised |= a->taker == a->node;
	a->ret->closed |= a->taker == a->node && a->s->node[a->node].share[t->share & 3] != KEEL_SHARE_SHARED;
}

static void ask_taker(void *arg, uint32_t taker)
{
	struct asking *a = arg;
	const struct booked *k = spans_of(a->s->spans, a->s->node[taker].name);
	struct taking t = { a->s, a->node, taker };
	uint32_t i, c;

	a->taker = taker;
	for (i = 0; k && i < k->n && k->list[i].block->from < a->ask->till; i++) {
		const struct block *b = k->list[i].block;

		if (!counts(a, b))
			continue;
		a->ret->promised |= taker == a->node;
		a->ret->closed |= taker == a->node && block_closes(b);
		for (c = 0; c < a->s->n_column; c++) {
			double n = part_takes(&t, b->exec, k->list[i].part, c);

			gap_from(a->f, c, b->from, n);
			gap_from(a->f, c, b->till, -n);
		}
	}
	if (a->s->tenants)
		a->s->tenants(a->s->tenants_arg, a->s->node[taker].name, INT64_MAX, ask_tenant, a);
}

bool spans_least(const struct snapshot *s, uint32_t node, const struct span_ask *ask, struct span_least *ret)
{
	struct asking a = { .s = s, .ask = ask, .ret = ret, .node = node };
	uint32_t i, c;

	ret->closed = ret->promised = false;
	each_taker(s, node, ask_moments, &a);
	a.f = future_new(a.n + 1, s->n_column);
	if (!a.f)
		return false;
	a.at = a.f->at;
	a.at[0] = ask->from;
	a.n = 1;
	each_taker(s, node, ask_moments, &a);
	qsort(a.f->at, a.f->n, sizeof(*a.f->at), by_time);
	each_taker(s, node, ask_taker, &a);
	future_sum(a.f);
	for (c = 0; c < s->n_column; c++) {
		double most = 0;

		for (i = 0; i < a.f->n; i++)
			most = fmax(most, a.f->gap[(size_t)i * s->n_column + c]);
		ret->free[c] = s->node[node].total[c] - most;
	}
	future_put(a.f);
	return true;
}
