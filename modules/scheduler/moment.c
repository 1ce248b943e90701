/* SPDX-License-Identifier: Apache-2.0
 *
 * moment.c - the vnodes as they will be at the moment of a search, and the next moment at which more is free.
 *
 * What will be free of a vnode at its lowest, by blocks and running jobs (least.c), stands in a copy of the snapshot, and the
 * rest is an ordinary trial there. From one moment to the next only vnodes are looked at again where something ends, or
 * begins to be in the way.
 */
#include "find.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(job, exec_vnode);

#define FEW 128 /* vnodes that are looked at before the first try */
#define FAR (366 * 86400LL) /* seconds: no place is sought beyond that */

/* When a running job will have ended, and where. */
struct ending {
	struct heap_node heap;
	int64_t at;
	char *exec_vnode; /* owned */
};

static bool ends_before(const struct heap_node *a, const struct heap_node *b)
{
	return ((const struct ending *)(const void *)a)->at < ((const struct ending *)(const void *)b)->at;
}

_Static_assert(offsetof(struct ending, heap) == 0, "a heap_node is its ending");

static struct ending *ending_first(const struct find *f)
{
	return (struct ending *)(void *)f->endings.root;
}

static void ending_free(struct find *f, struct ending *e)
{
	heap_remove(&f->endings, &e->heap);
	free(e->exec_vnode);
	free(e);
}

void endings_free(struct find *f)
{
	while (ending_first(f))
		ending_free(f, ending_first(f));
}

/* ---- vnodes in its time ---------------------------------------------------------------------------------------- */

static bool is_closed(struct keel_mod *mod, const struct vnode *v)
{
	struct keel_obj *node = keel_find(mod, "node", v->name);

	return !node || keel_node_closed_inside(node);
}

static int64_t end_of(const struct find *f)
{
	return f->duration ? f->moment + f->duration : f->till;
}

void find_init(struct find *f)
{
	f->endings.before = ends_before;
}

/* What it keeps there is not free for the rest. */
static void keep_take(struct find *f, uint32_t node)
{
	uint32_t i, k, column;

	for (i = 0; i < f->beside->n; i++) {
		const struct keel_exec_part *p = &f->beside->part[i];

		for (k = 0; strcmp(p->vnode, f->s->node[node].name) == 0 && k < p->n; k++) {
			column = column_of(f->s, p->v[k].res);
			if (column < f->s->n_column)
				*amount_at(f->s, node, column) -= in_part(p, i, k);
		}
	}
}

struct host_asking {
	const struct find *f;
	bool closed;
};

static void tenant_of_host(void *arg, const char *job_id, bool suspended)
{
	struct host_asking *a = arg;
	struct keel_obj *job = suspended ? NULL : keel_find(a->f->mod, "job", job_id);

	a->closed |= job && share_of(job) == KEEL_SHARE_EXCLHOST && job_until(a->f->mod, job) > a->f->moment;
}

/* Does a job on another vnode have the host for itself? */
static bool is_host_closed(const struct find *f, uint32_t node)
{
	struct host_asking a = { f, false };
	uint32_t n, i;
	const uint32_t *other = order_of_host(f->s, f->s->node[node].host, &n);

	for (i = 0; i < n && !a.closed; i++) {
		struct keel_obj *obj = other[i] == node ? NULL : keel_find(f->mod, "node", f->s->node[other[i]].name);

		if (obj)
			keel_node_tenants(obj, tenant_of_host, &a);
	}
	return a.closed;
}

/* False: no memory. */
static bool fill(struct find *f, uint32_t node)
{
	struct vnode *v = &f->s->node[node];
	struct span_ask ask = { .from = f->moment, .till = end_of(f), .except = f->except };
	struct span_least least = { .free = v->free };

	if (!spans_least(f->s, node, &ask, &least))
		return false;
	v->fenced = false;
	v->alone = least.closed || is_host_closed(f, node);
	v->jobs = least.promised;
	if (f->kept && (f->kept[node] & KEPT))
		keep_take(f, node);
	vnode_judge(f->s, v);
	return true;
}

/* Again, of what has been looked at before. True: it has less than it seemed, or no memory. */
static bool refill(struct find *f, uint32_t node)
{
	struct vnode *v = &f->s->node[node];
	double was[f->s->n_column + 1];
	bool in_use = v->in_use, less, ok;
	uint32_t c;

	memcpy(was, v->free, sizeof(double) * f->s->n_column);
	less = v->usable;
	ok = fill(f, node);
	less = less && !v->usable;
	less |= v->in_use && !in_use;
	for (c = 0; c < f->s->n_column; c++)
		less |= v->free[c] + EPSILON < was[c];
	snapshot_changed(f->s, node);
	return less || !ok;
}

bool find_refill(struct find *f, const struct keel_exec *exec)
{
	bool less = false;
	uint32_t i;

	for (i = 0; exec && i < exec->n; i++) {
		const struct vnode *v = vnode_named(f->s, exec->part[i].vnode);

		if (v)
			less |= refill(f, (uint32_t)(v - f->s->node));
	}
	return less;
}

/* Chunks that are scattered do not go where it has one already; those that are packed go nowhere else. False: no memory. */
static bool keep(struct find *f)
{
	int32_t how = f->place.arrange;
	uint32_t i, k;

	free(f->kept);
	f->kept = malloc(f->s->n + 1);
	if (!f->kept)
		return false;
	memset(f->kept, how == KEEL_PLACE_PACK ? BARRED : 0, f->s->n);
	for (i = 0; i < f->beside->n; i++) {
		const struct vnode *v = vnode_named(f->s, f->beside->part[i].vnode);
		uint32_t n = 0;
		const uint32_t *node = v ? order_of_host(f->s, v->host, &n) : NULL;

		for (k = 0; k < n && how == KEEL_PLACE_SCATTER; k++)
			f->kept[node[k]] |= BARRED;
		for (k = 0; k < n && how == KEEL_PLACE_PACK; k++)
			f->kept[node[k]] &= (uint8_t)~BARRED;
		if (v)
			f->kept[v - f->s->node] |= how == KEEL_PLACE_VSCATTER ? KEPT | BARRED : KEPT;
	}
	return true;
}

/* A vnode that has not been looked at is closed. */
static void vnode_shut(struct snapshot *s, struct vnode *v)
{
	v->fenced = true;
	v->alone = false;
	v->jobs = 0;
	vnode_judge(s, v);
}

/* Vnodes as they are tried, but with all of a host together: its other vnodes count when one wants the host for itself. False:
 * no memory. */
static bool order_by_host(struct snapshot *s, uint32_t *ret)
{
	uint32_t *list = calloc((size_t)s->n + 1, sizeof(*list)), i, k, n = 0, m = list ? order_list(s, list) : 0;

	s->takes++;
	for (i = 0; i < m; i++) {
		uint32_t n_host;
		const uint32_t *node = order_of_host(s, s->node[list[i]].host, &n_host);

		for (k = 0; k < n_host && s->node[node[k]].taken_in != s->takes; k++) {
			s->node[node[k]].taken_in = s->takes;
			ret[n++] = node[k];
		}
	}
	free(list);
	return n == s->n;
}

/* A copy for all searches, until none is left. False: no memory. */
static bool copy_make(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct snapshot *now = snapshot_now(mod), *s = now ? snapshot_copy(now) : NULL;
	uint32_t i;

	st->find_copy = s;
	st->find_order = s ? calloc((size_t)s->n + 1, sizeof(*st->find_order)) : NULL;
	st->find_filled = 0;
	if (!st->find_order)
		return false;
	for (i = 0; i < s->n; i++) {
		struct vnode *v = &s->node[i];

		v->down = v->down && is_closed(mod, v);
		v->promised = v->closed = 0;
		limits_free(v->limits);
		v->limits = NULL;
		future_put(v->future);
		v->future = NULL;
		memcpy(v->free, v->total, sizeof(double) * s->n_column);
		vnode_shut(s, v);
	}
	s->counts_people = false;
	s->n_future = 0;
	order_make(s);
	return order_by_host(s, st->find_order);
}

/* As before any search. */
static void copy_clean(struct state *st)
{
	struct snapshot *s = st->find_copy;
	bool many = st->find_filled > s->n / 8;
	uint32_t i;

	for (i = 0; i < st->find_filled; i++) {
		vnode_shut(s, &s->node[st->find_order[i]]);
		if (!many)
			snapshot_changed(s, st->find_order[i]);
	}
	if (many)
		order_make(s);
	st->find_filled = 0;
}

void find_copy_drop(struct state *st)
{
	snapshot_copy_free(st->find_copy);
	free(st->find_order);
	st->find_copy = NULL;
	st->find_order = NULL;
}

bool find_make(struct keel_mod *mod, struct find *f)
{
	struct state *st = mod->state;

	if (!st->find_copy && !copy_make(mod)) {
		find_copy_drop(st);
		return false;
	}
	copy_clean(st);
	f->s = st->find_copy;
	if (f->beside && !keep(f))
		return false;
	f->moment = f->from;
	f->filled = 0;
	f->memo = (struct memo){ 0 };
	endings_free(f);
	st->searches++;
	st->running.at = f->duration ? st->running.first : NULL;
	f->peek = FEW + 2 * f->select->chunks;
	if (*f->place.group || starts_wait(st))
		f->peek = f->s->n;
	f->at = FILLING;
	return true;
}

/* Those that start now, and that vnodes do not know of yet. */
static void take_starts(struct keel_mod *mod, struct find *f)
{
	struct state *st = mod->state;

	for (const struct start *start = st->starts; start; start = start->next) {
		struct keel_obj *job = start->assigned ? NULL : keel_find(mod, "job", start->id);
		struct keel_exec *exec = job && keel_time(mod) + job_duration(job) > f->moment
						 ? exec_of(start->exec_vnode)
						 : NULL;

		if (exec)
			place_occupy(f->s, exec, share_of(job), NULL, INT64_MAX);
		keel_resource_exec_free(exec);
	}
}

/* All of them have been looked at. */
static void filled(struct keel_mod *mod, struct find *f)
{
	order_make(f->s);
	take_starts(mod, f);
	f->at = GATHERING;
}

bool find_fill_more(struct keel_mod *mod, struct find *f)
{
	struct state *st = mod->state;
	bool few = f->peek < f->s->n / 2;
	uint32_t node;

	if (f->filled == f->s->n) {
		filled(mod, f);
		return true;
	}
	node = st->find_order[f->filled];
	if (few && f->filled >= f->peek && f->s->node[node].host != f->s->node[st->find_order[f->filled - 1]].host) {
		f->peek *= 4;
		f->at = PEEKING;
		return true;
	}
	if (!fill(f, node))
		return false;
	if (few)
		snapshot_changed(f->s, node);
	f->filled++;
	if (f->filled > st->find_filled)
		st->find_filled = f->filled;
	return true;
}

/* ---- moments ------------------------------------------------------------------------------------------------------- */

/* The end of one running job. False: all are there. */
bool find_gather(struct keel_mod *mod, struct find *f)
{
	struct state *st = mod->state;
	struct entry *e = f->duration ? st->running.at : NULL;
	const char *text;
	struct ending *ending;
	int64_t at;

	if (!e)
		return false;
	st->running.at = e->next;
	at = e->found_in == st->searches ? 0 : job_until(mod, e->job); /* the list turns round at times */
	e->found_in = st->searches;
	text = at > f->moment ? keel_get_str(e->job, job_exec_vnode) : NULL;
	ending = text ? calloc(1, sizeof(*ending)) : NULL;
	if (!ending) /* without memory it is no moment */
		return true;
	*ending = (struct ending){ .at = at, .exec_vnode = strdup(text) };
	heap_push(&f->endings, &ending->heap);
	return true;
}

/* A block ends, or begins, in what the time moves over. */
static bool is_passed(const struct block *b, int64_t from, int64_t to, int64_t duration)
{
	return (b->till > from && b->till <= to) || (b->from >= from + duration && b->from < to + duration);
}

/* Runs over all blocks that change what is free when the moment moves; *ret_parts: how much that is. */
static void move_over(struct keel_mod *mod, struct find *f, int64_t from, uint32_t *ret_parts)
{
	struct state *st = mod->state;
	const struct promiser *p;
	const struct block *b;

	for (p = st->spans.by_id; p; p = p->hh.next)
		for (b = p->first; b; b = b->next) {
			if (!b->exec || !is_passed(b, from, f->moment, f->duration))
				continue;
			if (ret_parts)
				*ret_parts += b->exec->n;
			else
				find_refill(f, b->exec);
		}
}

/* To the next moment at which something comes free; false: there is none. */
bool find_move_on(struct keel_mod *mod, struct find *f)
{
	struct state *st = mod->state;
	int64_t before = f->moment, next = ending_first(f) ? ending_first(f)->at : INT64_MAX;
	int64_t now = keel_time(mod), far = (f->from > now ? f->from : now) + FAR;
	const struct promiser *p;
	const struct block *b;
	uint32_t parts = 0;

	for (p = st->spans.by_id; p; p = p->hh.next)
		for (b = p->first; b; b = b->next)
			if (b->till > before && b->till < next)
				next = b->till;
	if (!f->duration || next > far || next <= before)
		return false;
	f->moment = next;
	move_over(mod, f, before, &parts);
	f->at = MOVING;
	if (parts <= f->s->n / 8 + 64) {
		move_over(mod, f, before, NULL);
	} else { /* all anew, in slices */
		f->filled = 0;
		f->peek = f->s->n;
		f->at = FILLING;
	}
	return true;
}

/* What one job that has ended by then has had. False: there is no more of them. */
bool find_move_step(struct find *f)
{
	struct ending *e = ending_first(f);
	struct keel_exec *exec;

	if (!e || e->at > f->moment)
		return false;
	exec = exec_of(e->exec_vnode); /* NULL without memory */
	find_refill(f, exec);
	keel_resource_exec_free(exec);
	ending_free(f, e);
	return true;
}
