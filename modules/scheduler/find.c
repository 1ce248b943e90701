/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c - places in time for what is not a job: find() and on_cycle() of the service `sched`.
 *
 *   find() -> MAKING ---> FILLING --------> GATHERING ----------> TRYING -> done
 *             a copy      least that is     ends of jobs, when    at a moment; MOVING to the next one
 *                         free in its time  any time will do
 *
 * Searches go one after the other, in the order of find(), each in steps of a millisecond or so: in a cycle that is the
 * phase FINDING, before jobs are looked at; else on a timer of their own. What is found is compared with the vnodes and
 * promises of that very moment, and handed over in the same turn: so it does no harm when something changes meanwhile.
 */
#include "scheduler.h"
#include "trial.h"

#include "keel/sched_reason.h"
#include "keel/sized.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(job, exec_vnode);

#define FAR (366 * 86400LL) /* seconds: no place is sought beyond that */
#define TIME_MAX (INT64_MAX / 4)

enum { KEPT = 1, BARRED = 2 /* by the arrangement of its chunks */ };

/* When a running job will have ended, and where. */
struct ending {
	struct heap_node heap;
	int64_t at;
	char *exec_vnode; /* owned */
};

struct find {
	struct keel_mod *me;
	keel_sched_found *done;
	void *arg;
	bool (*usable)(struct keel_mod *me, void *arg, struct keel_obj *node);
	struct keel_select *select;
	struct keel_place place;
	char *except, *partition;
	struct keel_exec *beside; /* NULL: it keeps nothing */
	int64_t from, till, duration;

	enum { MAKING, FILLING, GATHERING, MOVING, TRYING } at;
	struct keel_mod *mod;
	struct snapshot *s; /* of the searches; borrowed */
	int64_t moment;
	uint32_t filled; /* vnodes */
	uint8_t *kept;	 /* per vnode, when it keeps something: enum bits */
	struct heap endings;
	struct memo memo;
	struct find *next;
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

static void endings_free(struct find *f)
{
	while (ending_first(f))
		ending_free(f, ending_first(f));
}

static void find_free(struct find *f)
{
	endings_free(f);
	keel_resource_select_free(f->select);
	keel_resource_exec_free(f->beside);
	free(f->except);
	free(f->partition);
	free(f->kept);
	free(f);
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

/* False: no memory. */
static bool fill(struct find *f, uint32_t node)
{
	struct vnode *v = &f->s->node[node];
	struct span_ask ask = { .from = f->moment, .till = end_of(f), .except = f->except };
	struct span_least least = { .free = v->free };

	if (!spans_least(f->s, node, &ask, &least))
		return false;
	v->alone = least.closed;
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

static bool refill_all(struct find *f, const struct keel_exec *exec)
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

/* A copy for all searches, until none is left. False: no memory. */
static bool make(struct keel_mod *mod, struct find *f)
{
	struct state *st = mod->state;
	struct snapshot *now = st->find_copy ? NULL : snapshot_now(mod);
	uint32_t i;

	if (now)
		st->find_copy = snapshot_copy(now);
	f->s = st->find_copy;
	if (!f->s || !f->s->order || (f->beside && !keep(f)))
		return false;
	for (i = 0; now && i < f->s->n; i++) {
		struct vnode *v = &f->s->node[i];

		v->down = v->down && is_closed(mod, v);
		v->fenced = false;
		v->promised = v->closed = 0;
		limits_free(v->limits);
		v->limits = NULL;
		future_put(v->future);
		v->future = NULL;
	}
	f->s->counts_people = false;
	f->s->n_future = 0;
	f->moment = f->from;
	f->filled = 0;
	f->memo = (struct memo){ 0 };
	endings_free(f);
	st->searches++;
	st->running.at = f->duration ? st->running.first : NULL;
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

/* ---- moments ------------------------------------------------------------------------------------------------------- */

/* The end of one running job. False: all are there. */
static bool gather(struct keel_mod *mod, struct find *f)
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
static bool move_over(struct keel_mod *mod, struct find *f, int64_t from, uint32_t *ret_parts)
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
				refill_all(f, b->exec);
		}
	return true;
}

/* To the next moment at which something comes free; false: there is none. */
static bool move_on(struct keel_mod *mod, struct find *f)
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
		f->at = FILLING;
	}
	return true;
}

/* What one job that has ended by then has had. False: there is no more of them. */
static bool move_step(struct find *f)
{
	struct ending *e = ending_first(f);
	struct keel_exec *exec;

	if (!e || e->at > f->moment)
		return false;
	exec = exec_of(e->exec_vnode); /* NULL without memory */
	refill_all(f, exec);
	keel_resource_exec_free(exec);
	ending_free(f, e);
	return true;
}

/* ---- a try -------------------------------------------------------------------------------------------------------- */

static bool vnode_does(void *arg, const struct vnode *v)
{
	struct find *f = arg;
	struct keel_obj *node = keel_find(f->mod, "node", v->name);

	return node && !keel_node_closed_inside(node) && !(f->kept && (f->kept[v - f->s->node] & BARRED)) &&
	       (!f->usable || f->usable(f->me, f->arg, node));
}

static struct wish wish_of(struct find *f)
{
	return (struct wish){ .select = f->select, .place = f->place, .partition = f->partition, .eligible = vnode_does,
			      .arg = f, .memo = &f->memo, .quiet = true };
}

/* Would it fit if nothing ran and nothing were promised? */
static bool fits_alone(struct find *f)
{
	struct wish w = wish_of(f);
	struct reason unused = { 0 };
	uint32_t i;

	for (i = 0; i < f->s->n; i++) {
		struct vnode *v = &f->s->node[i];

		memcpy(v->free, v->total, sizeof(double) * f->s->n_column);
		v->jobs = 0;
		v->alone = false;
		vnode_judge(f->s, v);
	}
	order_make(f->s);
	f->at = MAKING; /* they are good for nothing now */
	return place_fits(f->s, &w, &unused);
}

static void why_not(struct find *f, struct reason *ret)
{
	struct wish w = wish_of(f);

	w.quiet = false;
	if (!ret->text[0])
		place_fits(f->s, &w, ret);
	if (!ret->never && (ret->code == KEEL_WHY_FEW_FREE || ret->code == KEEL_WHY_NO_NODES) && fits_alone(f))
		reason_why(ret, KEEL_WHY_CONFLICT);
}

static void answer(struct keel_mod *mod, struct find *f, const char *exec_vnode, const struct reason *r)
{
	struct keel_sched_place place = {
		.size = sizeof(place),
		.exec_vnode = exec_vnode,
		.from = f->moment,
	};

	if (!exec_vnode) {
		place.code = r->code ? r->code : PBSE_SYSTEM;
		place.why = r->text;
	}
	((struct state *)mod->state)->finds = f->next;
	f->done(f->me, f->arg, &place);
	find_free(f);
}

static bool is_possible(struct find *f, struct reason *ret)
{
	struct wish w = wish_of(f);

	return place_possible(f->s, &w, ret);
}

static void try(struct keel_mod *mod, struct find *f)
{
	struct wish w = wish_of(f);
	struct reason r = { 0 };
	char *exec_vnode = place_find(f->s, &w, &r);
	struct keel_exec *exec = exec_of(exec_vnode);
	bool again = exec ? refill_all(f, exec) /* is it still so? */
			  : !exec_vnode && is_possible(f, &r) && move_on(mod, f);

	keel_resource_exec_free(exec);
	if (!again && !exec_vnode)
		why_not(f, &r);
	if (!again)
		answer(mod, f, exec_vnode, &r);
	free(exec_vnode);
}

static void fill_more(struct keel_mod *mod, struct find *f)
{
	struct reason r = { 0 };

	if (f->filled < f->s->n && fill(f, f->filled)) {
		f->filled++;
	} else if (f->filled < f->s->n) {
		reason_set(&r, "out of memory in the scheduler");
		answer(mod, f, NULL, &r);
	} else {
		order_make(f->s);
		take_starts(mod, f);
		f->at = GATHERING;
	}
}

/* One step of the search at hand. False: there is none. */
static bool find_step(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct find *f = st->finds;
	struct reason r = { 0 };

	if (!f)
		return false;
	switch (f->at) {
	case MAKING:
		if (make(mod, f))
			break;
		reason_set(&r, "out of memory in the scheduler");
		answer(mod, f, NULL, &r);
		break;
	case FILLING: fill_more(mod, f); break;
	case GATHERING:
		if (!gather(mod, f))
			f->at = MOVING;
		break;
	case MOVING:
		if (!move_step(f))
			f->at = TRYING;
		break;
	case TRYING: try(mod, f); break;
	}
	return true;
}

/* The snapshot goes that the copy was made from: the search at hand begins anew. */
void finds_restart(struct keel_mod *mod)
{
	struct state *st = mod->state;

	snapshot_copy_free(st->find_copy);
	st->find_copy = NULL;
	if (st->finds)
		st->finds->at = MAKING;
}

/* ---- turns -------------------------------------------------------------------------------------------------------- */

bool finds_step(struct keel_mod *mod)
{
	struct state *st = mod->state;
	void (*fn)(struct keel_mod *me) = st->finds_asked ? NULL : st->on_cycle;

	st->finds_asked = true;
	if (fn)
		fn(st->cycle_of);
	if (find_step(mod))
		return true;
	finds_restart(mod); /* its memory is of no more use */
	return false;
}

/* Outside of a cycle, or of its phase. */
static void turn(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->find_timer = NULL;
	if (st->phase == FINDING)
		return;
	st->slice_us = clock_us(mod);
	while (find_step(mod) && !slice_is_over(mod))
		;
	if (st->finds)
		finds_go_on(mod);
	else
		finds_restart(mod);
}

void finds_go_on(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->finds && !st->find_timer && st->phase != FINDING)
		st->find_timer = keel_timer(mod, 0, turn, NULL);
}

void finds_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->find_timer);
	st->find_timer = NULL;
	while (st->finds) {
		struct find *f = st->finds;

		st->finds = f->next;
		find_free(f);
	}
	finds_restart(mod);
}

/* ---- the service ---------------------------------------------------------------------------------------------------- */

static bool copied(const char *from, char **ret)
{
	*ret = from && *from ? strdup(from) : NULL;
	return *ret || !from || !*from;
}

static int32_t wish_read(struct find *f, const struct keel_sched_wish *w, struct keel_err *err)
{
	int32_t rc = 0;

	f->from = w->from;
	f->till = w->till;
	f->duration = w->duration;
	f->usable = w->usable;
	if (w->from < 0 || w->from > TIME_MAX || w->duration < 0 || w->duration > TIME_MAX ||
	    (!w->duration && (w->till <= w->from || w->till > TIME_MAX)))
		return keel_error(err, PBSE_BADTSPEC, "there is no time between its begin and its end");
	if (!copied(w->except, &f->except) || !copied(w->partition, &f->partition))
		return keel_error(err, -ENOMEM, "out of memory in the scheduler");
	rc = keel_resource_select_parse(w->select ? w->select : "", &f->select, err);
	if (!rc)
		rc = keel_resource_place_parse(w->place && *w->place ? w->place : "free", &f->place, err);
	if (!rc && w->beside && *w->beside)
		rc = keel_resource_exec_parse(w->beside, &f->beside, err);
	return rc;
}

int32_t sched_find(struct keel_mod *mod, const struct keel_sched_wish *w, struct keel_mod *me, keel_sched_found *done,
		   void *arg, struct keel_err *err)
{
	struct state *st = mod->state;
	struct find *f = calloc(1, sizeof(*f)), **at = &st->finds;
	struct keel_sched_wish known;
	int32_t rc;

	if (!f)
		return keel_error(err, -ENOMEM, "out of memory in the scheduler");
	f->mod = mod;
	f->me = me;
	f->done = done;
	f->arg = arg;
	f->endings.before = ends_before;
	KEEL_SIZED(&known, w);
	rc = wish_read(f, &known, err);
	if (rc) {
		find_free(f);
		return rc;
	}
	while (*at)
		at = &(*at)->next;
	*at = f;
	finds_go_on(mod);
	return 0;
}

void sched_find_drop(struct keel_mod *mod, struct keel_mod *me, void *arg)
{
	struct state *st = mod->state;
	struct find **at = &st->finds, *f;

	while ((f = *at)) {
		if (f->me != me || f->arg != arg) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		find_free(f);
	}
}

void sched_on_cycle(struct keel_mod *mod, struct keel_mod *me, void (*fn)(struct keel_mod *me))
{
	struct state *st = mod->state;

	st->cycle_of = me;
	st->on_cycle = fn;
}
