/* SPDX-License-Identifier: Apache-2.0
 *
 * room.c - where jobs of a block's queue are placed: inside the block, and nowhere else.
 *
 * A room is a small snapshot made of the block's vnodes: of each what the block has left there, or what is physically free
 * when that is less. It lives as long as the block stays as it is; vnodes that changed are read again. What starts in a room is
 * taken of the snapshot of all vnodes, too: there the block counts with what it holds or with what its jobs use, whichever
 * is more.
 */
#include "scheduler.h"
#include "trial.h"

#include "keel/sched_reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, queue, euser, egroup);

#define UNNAMED (-1.0)

struct room {
	char *queue, *id; /* owned; of the block */
	struct block *block; /* what `s` was made of; counted */
	struct snapshot *s; /* NULL: not made so far */
	double *held, *inside; /* per vnode and column: of the block (UNNAMED: it does not say), used by its jobs */
	uint32_t *in_all;      /* per vnode: its number in the snapshot of all */
	uint64_t generation;   /* of vnodes, when they were read last */
	bool stale;
	UT_hash_handle hh;
};

/* ---- which there are ------------------------------------------------------------------------------------- */

static void room_empty(struct room *r)
{
	if (r->s) {
		klasses_free(r->s->klasses);
		free(r->s->by_name);
		r->s->pool = NULL;
		r->s->n_pool = 0;
		snapshot_copy_free(r->s);
	}
	block_put(r->block);
	free(r->held);
	free(r->inside);
	free(r->in_all);
	r->s = NULL;
	r->block = NULL;
	r->held = r->inside = NULL;
	r->in_all = NULL;
}

void rooms_empty(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct room *r;

	for (r = st->rooms; r; r = r->hh.next)
		room_empty(r);
}

static void room_free(struct keel_mod *mod, struct room *r)
{
	struct state *st = mod->state;

	HASH_DEL(st->rooms, r);
	room_empty(r);
	free(r->queue);
	free(r->id);
	free(r);
}

void rooms_free(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct room *r, *next;

	HASH_ITER(hh, st->rooms, r, next)
		room_free(mod, r);
	st->rooms_of = 0;
}

static bool room_add(struct keel_mod *mod, const struct block *b)
{
	struct state *st = mod->state;
	struct room *r;

	HASH_FIND_STR(st->rooms, b->queue, r);
	if (r)
		return true;
	r = calloc(1, sizeof(*r));
	if (r && (r->queue = strdup(b->queue)) && (r->id = strdup(b->id)))
		HASH_ADD_KEYPTR(hh, st->rooms, r->queue, strlen(r->queue), r);
	if (r && r->queue && r->id && r->hh.tbl)
		return true;
	if (r) {
		free(r->queue);
		free(r->id);
	}
	free(r);
	return false;
}

/* Blocks have changed: a room for each queue that has one. False: no memory. */
static bool rooms_find(struct keel_mod *mod)
{
	struct state *st = mod->state;
	const struct promiser *p;
	const struct block *b;
	struct room *r, *next;

	if (st->rooms_of == st->spans.changes + 1)
		return true;
	HASH_ITER(hh, st->rooms, r, next) {
		HASH_FIND_STR(st->spans.by_id, r->id, p);
		b = p ? p->first : NULL;
		if (!b || !b->queue || strcmp(b->queue, r->queue) != 0)
			room_free(mod, r);
	}
	for (p = st->spans.by_id; p; p = p->hh.next) /* all of one id have the same queue */
		if (p->first->queue && !room_add(mod, p->first))
			return false;
	st->rooms_of = st->spans.changes + 1;
	return true;
}

/* *ret_failed: no memory to say. */
static struct room *room_of(struct keel_mod *mod, const char *queue, bool *ret_failed)
{
	struct state *st = mod->state;
	struct room *r = NULL;

	*ret_failed = !rooms_find(mod);
	if (queue)
		HASH_FIND_STR(st->rooms, queue, r);
	return r;
}

bool has_room(struct keel_mod *mod, const char *queue)
{
	bool failed;

	return room_of(mod, queue, &failed) || failed;
}

/* The block whose time is now; NULL: none. */
static struct block *block_now(struct keel_mod *mod, const struct room *r)
{
	struct state *st = mod->state;
	int64_t now = keel_time(mod);
	struct promiser *p;
	struct block *b;

	HASH_FIND_STR(st->spans.by_id, r->id, p);
	for (b = p ? p->first : NULL; b; b = b->next)
		if (block_covers(b, now) && b->queue && strcmp(b->queue, r->queue) == 0)
			return b;
	return NULL;
}

void rooms_log(struct keel_mod *mod)
{
	struct state *st = mod->state;
	const struct room *r;

	rooms_find(mod);
	for (r = st->rooms; r; r = r->hh.next) {
		const struct block *b = block_now(mod, r);

		if (b && (!b->exec || !b->exec->n))
			keel_log(mod, KEEL_LOG_DEBUG, "Resv", r->id,
				 "Reservation is invalid - ignoring for this cycle: it has no vnodes");
	}
}

/* ---- making one --------------------------------------------------------------------------------------------- */

/* What the block says of this vnode. */
static double *held_at(const struct room *r, uint32_t node)
{
	return r->held + (size_t)node * r->s->n_column;
}

static double *inside_at(const struct room *r, uint32_t node)
{
	return r->inside + (size_t)node * r->s->n_column;
}

/* What is there now. */
static void vnode_read(struct keel_mod *mod, struct room *r, uint32_t i)
{
	struct state *st = mod->state;
	struct vnode *v = &r->s->node[i];
	const struct vnode *of_all = &st->snapshot->node[r->in_all[i]];
	struct keel_obj *node = keel_find(mod, "node", v->name);
	const struct keel_reslist *used = node ? keel_node_used(node) : NULL, *inside;
	bool all = r->block->flags & KEEL_BLOCK_WHATEVER;
	uint32_t c;

	inside = node ? keel_node_used_inside(node, r->id, &v->jobs, &v->alone) : NULL;
	for (c = 0; c < r->s->n_column; c++) {
		const char *name = r->s->column[c]->name;
		double held = held_at(r, i)[c], there_is = total_at(st->snapshot, r->in_all[i], c);

		inside_at(r, i)[c] = keel_resource_list_number(inside, name, 0);
		v->total[c] = held == UNNAMED || all ? there_is : held;
		v->free[c] = there_is - keel_resource_list_number(used, name, 0);
		if (held != UNNAMED && !all)
			v->free[c] = fmin(v->free[c], held - inside_at(r, i)[c]);
	}
	v->down = !node || keel_node_closed_inside(node);
	v->fenced = of_all->fenced;
	v->last_used = of_all->last_used;
	vnode_judge(r->s, v);
}

/* Limits of a vnode are about all jobs there, those of its own snapshot about those inside. */
static bool limits_read(struct keel_mod *mod, struct room *r, uint32_t i)
{
	struct state *st = mod->state;
	struct vnode *v = &r->s->node[i];
	const struct vnode *of_all = &st->snapshot->node[r->in_all[i]];
	uint32_t others = of_all->jobs > v->jobs ? of_all->jobs - v->jobs : 0;

	limits_free(v->limits);
	v->limits = of_all->limits;
	if (!limits_copy(r->s, i))
		return false;
	if (v->limits && v->limits->jobs) {
		v->down |= v->limits->jobs <= others;
		v->limits->jobs -= v->limits->jobs > others ? others : 0;
		vnode_judge(r->s, v);
	}
	return true;
}

/* The vnodes of the block, each once; *ret_n of them. NULL without memory. */
static uint32_t *vnodes_of(const struct snapshot *all, const struct block *b, uint32_t *map, uint32_t *ret_n)
{
	uint32_t *list = calloc((size_t)b->exec->n + 1, sizeof(*list)), i;

	*ret_n = 0;
	for (i = 0; list && i < b->exec->n; i++) {
		const struct vnode *v = vnode_named(all, b->exec->part[i].vnode);

		if (!v || map[v - all->node])
			continue;
		list[(*ret_n)++] = (uint32_t)(v - all->node);
		map[v - all->node] = *ret_n; /* and one more than its number */
	}
	return list;
}

static bool amounts_make(struct room *r, const struct snapshot *all, const uint32_t *map)
{
	size_t n = (size_t)r->s->n * r->s->n_column, k;
	uint32_t i, m, column;

	r->held = malloc(sizeof(double) * (n + 1));
	r->inside = calloc(n + 1, sizeof(double));
	r->s->amounts = calloc(2 * n + 1, sizeof(double));
	if (!r->held || !r->inside || !r->s->amounts)
		return false;
	for (k = 0; k < n; k++)
		r->held[k] = UNNAMED;
	for (i = 0; i < r->block->exec->n; i++) {
		const struct keel_exec_part *p = &r->block->exec->part[i];
		const struct vnode *v = vnode_named(all, p->vnode);
		uint32_t at = v ? map[v - all->node] : 0;

		for (m = 0; at && m < p->n; m++) {
			column = column_of(r->s, p->v[m].res);
			if (column >= r->s->n_column)
				continue;
			if (held_at(r, at - 1)[column] == UNNAMED)
				held_at(r, at - 1)[column] = 0;
			held_at(r, at - 1)[column] += in_part(p, i, m);
		}
	}
	return true;
}

/* Copies of the vnodes, without what is about others: queues, partitions, other blocks. */
static bool nodes_make(struct room *r, const struct snapshot *all, uint32_t *host_map)
{
	struct snapshot *s = r->s;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		struct vnode *v = &s->node[i];

		*v = all->node[r->in_all[i]];
		if (!host_map[v->host])
			host_map[v->host] = ++s->n_hosts;
		v->host = host_map[v->host] - 1;
		v->queue = v->partition = NULL;
		v->via = v->taker = NULL;
		v->n_taker = v->promised = v->closed = 0;
		v->future = NULL;
		v->limits = NULL;
		v->total = s->amounts + 2 * (size_t)i * s->n_column;
		v->free = v->total + s->n_column;
	}
	return true;
}

/* The small snapshot, with all but its vnodes. */
static struct snapshot *frame_make(struct keel_mod *mod, const struct snapshot *all, uint32_t n)
{
	struct state *st = mod->state;
	struct snapshot *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	*s = *all;
	s->node = calloc(n + 1, sizeof(*s->node));
	s->n = n;
	s->n_hosts = s->n_by_name = s->n_pool = s->n_future = 0;
	s->by_name = NULL;
	s->pool = NULL;
	s->amounts = NULL;
	s->klasses = NULL;
	s->order = NULL;
	s->scratch = NULL;
	s->sets = NULL;
	s->spans = NULL;
	s->own_checked = s->own_endless = NULL;
	s->shape = ++st->pictures;
	s->is_room = true;
	if (s->node)
		return s;
	free(s);
	return NULL;
}

/* Is it one of the room's that no vnode knows of yet? */
static bool is_waiting(struct keel_mod *mod, const struct room *r, const struct start *start)
{
	struct keel_obj *job = start->assigned ? NULL : keel_find(mod, "job", start->id);
	const char *queue = job ? keel_get_str(job, job_queue) : NULL;

	return queue && strcmp(queue, r->queue) == 0;
}

static bool has_starts(struct keel_mod *mod, const struct room *r)
{
	const struct start *start = ((struct state *)mod->state)->starts;

	while (start && !is_waiting(mod, r, start))
		start = start->next;
	return start != NULL;
}

static void take_starts(struct keel_mod *mod, struct room *r)
{
	struct state *st = mod->state;

	for (const struct start *start = st->starts; start; start = start->next) {
		struct keel_exec *exec = is_waiting(mod, r, start) ? exec_of(start->exec_vnode) : NULL;

		if (exec)
			place_occupy(r->s, exec, share_of(keel_find(mod, "job", start->id)), NULL, INT64_MAX);
		keel_resource_exec_free(exec);
	}
}

static bool vnodes_read(struct keel_mod *mod, struct room *r)
{
	uint32_t i;

	for (i = 0; i < r->s->n; i++) {
		vnode_read(mod, r, i);
		if (!limits_read(mod, r, i))
			return false;
	}
	return true;
}

/* False: no memory. */
static bool room_make(struct keel_mod *mod, struct room *r, struct block *b)
{
	struct state *st = mod->state;
	const struct snapshot *all = st->snapshot;
	uint32_t *map = calloc((size_t)all->n + all->n_hosts + 1, sizeof(*map)), n = 0;
	bool ok;

	room_empty(r);
	r->block = b;
	b->refs++;
	r->in_all = map ? vnodes_of(all, b, map, &n) : NULL;
	r->s = r->in_all ? frame_make(mod, all, n) : NULL;
	ok = r->s && amounts_make(r, all, map) && nodes_make(r, all, map + all->n) && vnodes_read(mod, r);
	free(map);
	if (ok) {
		snapshot_index(r->s);
		snapshot_link(r->s);
	}
	if (!ok || !snapshot_linked(r->s)) {
		room_empty(r);
		return false;
	}
	take_starts(mod, r);
	r->stale = false;
	return true;
}

/* ---- keeping it ------------------------------------------------------------------------------------------------- */

struct rereading {
	struct keel_mod *mod;
	struct room *r;
	bool failed;
};

static void vnode_again(void *arg, struct keel_obj *node)
{
	struct rereading *a = arg;
	const struct vnode *v = vnode_named(a->r->s, keel_id(node));
	uint32_t i = v ? (uint32_t)(v - a->r->s->node) : 0;

	if (!v)
		return;
	vnode_read(a->mod, a->r, i);
	a->failed |= !limits_read(a->mod, a->r, i);
	snapshot_changed(a->r->s, i);
}

/* As the vnodes are now. False: no memory. */
static bool room_refresh(struct keel_mod *mod, struct room *r, struct block *b)
{
	struct state *st = mod->state;
	uint64_t now = keel_node_generation() + 1;
	struct rereading a = { mod, r, false };
	bool anew = !r->s || r->stale || r->block != b || (r->generation != now && has_starts(mod, r));

	if (!anew && r->generation != now)
		keel_node_changed_since(r->generation - 1, vnode_again, &a);
	if ((anew || a.failed) && !room_make(mod, r, b))
		return false;
	r->generation = now;
	r->s->pool = st->snapshot->pool; /* one for all: what is taken of it is taken in both */
	r->s->n_pool = st->snapshot->n_pool;
	return true;
}

void rooms_stale(struct keel_mod *mod)
{
	struct state *st = mod->state;

	for (struct room *r = st->rooms; r; r = r->hh.next)
		r->stale = true;
}

void room_started(struct keel_mod *mod, const char *queue, uint64_t before)
{
	bool failed;
	struct room *r = room_of(mod, queue, &failed);

	if (r && r->generation == before + 1)
		r->generation = keel_node_generation() + 1;
}

/* ---- where a job is placed ------------------------------------------------------------------------------------- */

struct snapshot *ground_of(struct keel_mod *mod, const char *queue, struct reason *ret)
{
	struct snapshot *all = snapshot_now(mod);
	bool failed;
	struct room *r = all ? room_of(mod, queue, &failed) : NULL;
	struct block *b = r ? block_now(mod, r) : NULL;

	if (all && !r && !failed)
		return all;
	if (r && !b)
		reason_why(ret, KEEL_WHY_QUEUE_NOT_STARTED);
	else if (r && (!b->exec || !b->exec->n))
		reason_why(ret, KEEL_WHY_NO_NODES);
	else if (r && room_refresh(mod, r, b))
		return r->s;
	else
		reason_set(ret, "out of memory in the scheduler");
	return NULL;
}

/* What the block counts with where its jobs use `more` than before. */
static double growth(double held, double used, double more)
{
	double least = held == UNNAMED ? 0 : held;

	return fmax(least, used + more) - fmax(least, used);
}

static void part_taken(struct room *r, struct snapshot *all, const struct keel_exec *exec, uint32_t part)
{
	const struct keel_exec_part *p = &exec->part[part];
	const struct vnode *v = vnode_named(r->s, p->vnode);
	uint32_t i = v ? (uint32_t)(v - r->s->node) : 0, k, column;
	double n;

	for (k = 0; v && k < p->n; k++) {
		column = column_of(r->s, p->v[k].res);
		if (column >= r->s->n_column)
			continue;
		n = in_part(p, part, k);
		*amount_at(all, r->in_all[i], column) -= growth(held_at(r, i)[column], inside_at(r, i)[column], n);
		inside_at(r, i)[column] += n;
	}
}

void ground_taken(struct keel_mod *mod, struct keel_obj *job, const struct keel_exec *exec)
{
	struct state *st = mod->state;
	struct snapshot *all = st->snapshot;
	bool failed;
	struct room *r = room_of(mod, keel_get_str(job, job_queue), &failed);
	uint32_t i;

	if (!r || !r->s)
		return;
	all->takes++;
	for (i = 0; i < exec->n; i++) {
		const struct vnode *v = vnode_named(all, exec->part[i].vnode);

		part_taken(r, all, exec, i);
		if (v)
			settle(all, (uint32_t)(v - all->node), share_of(job));
	}
	for (i = 0; i < exec->n; i++) {
		const struct vnode *v = vnode_named(all, exec->part[i].vnode);

		if (v)
			snapshot_changed(all, (uint32_t)(v - all->node));
	}
	people_move(all, job, exec, 1);
}
