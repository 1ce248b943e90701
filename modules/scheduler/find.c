/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c - places in time for what is not a job: find() and on_cycle() of the service `sched`.
 *
 *   find() -> MAKING -> FILLING -----------------> GATHERING -----------> TRYING -> done
 *             a copy    what is free of vnodes     ends of jobs, when     at a moment; MOVING to the next one
 *                       in its time; PEEKING       any time will do
 *                       when some are there: it
 *                       may do with those
 *
 * Searches go one after the other, in the order of find(), each in steps of a millisecond or so: in a cycle that is the
 * phase FINDING, before jobs are looked at; else on a timer of their own. What is found is compared with the vnodes and
 * promises of that very moment, and handed over in the same turn: so it does no harm when something changes meanwhile.
 */
#include "find.h"
#include "trial.h"

#include "keel/sched_reason.h"
#include "keel/sized.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX (INT64_MAX / 4)

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

/* Among the vnodes that have been looked at. Gives the answer, or knows what is next. */
static void try(struct keel_mod *mod, struct find *f)
{
	struct wish w = wish_of(f);
	struct reason r = { 0 };
	char *exec_vnode = place_find(f->s, &w, &r);
	struct keel_exec *exec = exec_of(exec_vnode);
	const bool peeks = f->at == PEEKING;
	bool again = true;

	if (exec)
		again = find_refill(f, exec); /* is it still so? */
	else if (peeks)
		f->at = FILLING;
	else
		again = !exec_vnode && is_possible(f, &r) && find_move_on(mod, f);
	keel_resource_exec_free(exec);
	if (!again && !exec_vnode)
		why_not(f, &r);
	if (!again)
		answer(mod, f, exec_vnode, &r);
	free(exec_vnode);
}

static void out_of_memory(struct keel_mod *mod, struct find *f)
{
	struct reason r = { 0 };

	reason_set(&r, "out of memory in the scheduler");
	answer(mod, f, NULL, &r);
}

/* One step of the search at hand. False: there is none. */
static bool find_step(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct find *f = st->finds;

	if (!f)
		return false;
	switch (f->at) {
	case MAKING:
		if (!find_make(mod, f))
			out_of_memory(mod, f);
		break;
	case FILLING:
		if (!find_fill_more(mod, f))
			out_of_memory(mod, f);
		break;
	case GATHERING:
		if (!find_gather(mod, f))
			f->at = MOVING;
		break;
	case MOVING:
		if (!find_move_step(f))
			f->at = TRYING;
		break;
	case PEEKING:
	case TRYING: try(mod, f); break;
	}
	return true;
}

/* The snapshot goes that the copy was made from: the search at hand begins anew. */
void finds_restart(struct keel_mod *mod)
{
	struct state *st = mod->state;

	find_copy_drop(st);
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
	find_init(f);
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
