/* SPDX-License-Identifier: Apache-2.0
 *
 * refresh.c - the snapshot follows the vnodes.
 *
 * What this scheduler starts it takes itself. Of what happens otherwise it hears by a number that
 * moved; then it reads the vnodes that changed since. All of them are read only when vnodes came or
 * went or became others. Starts that are on their way keep what they will take.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(job, queue);

#define MANY 16 /* more than every n-th changed: one new order is cheaper */

struct reading {
	struct keel_mod *mod;
	struct snapshot *s;
	uint32_t *node; /* that were read */
	uint32_t n;
	bool strange; /* one that is not in the snapshot */
};

static void read_again(void *arg, struct keel_obj *node)
{
	struct reading *r = arg;
	struct vnode *v = vnode_named(r->s, keel_id(node));

	if (!v)
		r->strange = true;
	else if (v->read_in != r->s->reads && r->n < r->s->n) {
		vnode_reread(r->mod, r->s, v, node);
		spans_apply(r->s, (uint32_t)(v - r->s->node));
		v->read_in = r->s->reads;
		v->unsure = false;
		r->node[r->n++] = (uint32_t)(v - r->s->node);
	}
}

static void read_unsure(struct reading *r)
{
	struct state *st = r->mod->state;
	uint32_t i;

	for (i = 0; st->unsure && i < r->s->n; i++) {
		struct keel_obj *node = r->s->node[i].unsure
						? keel_find(r->mod, "node", r->s->node[i].name)
						: NULL;

		if (node)
			read_again(r, node);
	}
	st->unsure = false;
}

/* Starts that no vnode knows of yet. */
static void take_starts(struct keel_mod *mod, struct snapshot *s, bool anew)
{
	struct state *st = mod->state;
	struct start *start;

	for (start = st->starts; start; start = start->next) {
		struct keel_obj *job = keel_find(mod, "job", start->id);

		if (start->assigned)
			continue;
		if (!start->exec &&
		    keel_resource_exec_parse(start->exec_vnode, &start->exec, NULL))
			start->exec = NULL;
		if (start->exec && job && has_room(mod, keel_get_str(job, job_queue)))
			exec_only(start->exec, ""); /* its amounts are its block's */
		if (start->exec)
			place_take(s, start->exec, anew);
		if (job)
			totals_move(s, job, NULL, 1);
	}
}

/* False: it cannot be brought up to date. */
static bool refresh(struct keel_mod *mod, struct snapshot *s)
{
	struct state *st = mod->state;
	struct reading r = { .mod = mod, .s = s, .node = calloc(s->n + 1, sizeof(*r.node)) };
	uint32_t i, totals = pools_sum(s);

	s->reads++;
	s->at = keel_time(mod);
	if (r.node) {
		keel_node_changed_since(st->generation - 1, read_again, &r);
		read_unsure(&r);
	}
	if (!r.node || r.strange || !totals_read(mod, s)) {
		free(r.node);
		return false;
	}
	if (pools_sum(s) != totals)
		s->shape = ++st->pictures;
	take_starts(mod, s, true);
	fence_apply(mod, s, false);
	if (r.n > s->n / MANY + 8)
		order_make(s);
	else
		for (i = 0; i < r.n; i++)
			snapshot_changed(s, r.node[i]);
	free(r.node);
	return snapshot_linked(s);
}

struct snapshot *snapshot_now(struct keel_mod *mod)
{
	struct state *st = mod->state;
	uint64_t now = keel_node_generation() + 1; /* never 0 */
	uint64_t shape = keel_node_shape();
	uint32_t before;

	blocks_pass(mod);
	if (st->snapshot && st->generation == now && !st->unsure) {
		st->snapshot->at = keel_time(mod);
		return st->snapshot;
	}
	plan_restart(mod); /* its copies are of the old one */
	if (!st->snapshot || !st->generation || st->node_shape != shape ||
	    !refresh(mod, st->snapshot)) {
		before = st->snapshot ? st->snapshot->n : 0;
		finds_restart(mod);
		rooms_empty(mod);
		snapshot_free(st->snapshot);
		st->snapshot = snapshot_make(mod);
		if (!st->snapshot || st->snapshot->n != before)
			calendar_close(mod); /* plans know vnodes by number */
		st->node_shape = shape;
		st->unsure = false;
		if (st->snapshot) {
			take_starts(mod, st->snapshot, false);
			fence_apply(mod, st->snapshot, true);
		}
	}
	st->generation = now;
	st->epoch++;
	return st->snapshot;
}

void snapshot_unsure(struct keel_mod *mod, const char *exec_vnode)
{
	struct state *st = mod->state;
	struct keel_exec *exec = NULL;
	uint32_t i;

	if (!st->snapshot)
		return;
	if (keel_resource_exec_parse(exec_vnode, &exec, NULL)) {
		st->generation = 0;
		return;
	}
	for (i = 0; i < exec->n; i++) {
		struct vnode *v = vnode_named(st->snapshot, exec->part[i].vnode);

		if (v)
			v->unsure = true;
	}
	st->unsure = true;
	keel_resource_exec_free(exec);
}
