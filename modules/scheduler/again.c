/* SPDX-License-Identifier: Apache-2.0
 *
 * again.c - vnodes that are known already: a suspended job that goes on, a start that is on its way.
 */
#include "spans.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All cpus are taken: job-busy, as nodes will say. */
bool is_busy(const struct snapshot *s, const struct vnode *v)
{
	uint32_t i;

	for (i = 0; i < s->n_column; i++)
		if (strcmp(s->column[i]->name, "ncpus") == 0)
			return v->free[i] <= 0 && v->free[i] < v->total[i];
	return false;
}

/* The job has it for itself: this vnode, or all of its host. */
static void close_to_others(struct snapshot *s, uint32_t node, int32_t share)
{
	struct vnode *v = &s->node[node];
	uint32_t n, i;
	const uint32_t *other = order_of_host(s, v->host, &n);

	v->usable = false;
	v->alone = true;
	if (v->share[share & 3] != KEEL_SHARE_EXCLHOST)
		return;
	for (i = 0; i < n; i++) {
		s->node[other[i]].usable = false;
		s->node[other[i]].alone = true;
		if (other[i] != node)
			snapshot_changed(s, other[i]);
	}
}

void settle(struct snapshot *s, uint32_t node, int32_t share)
{
	struct vnode *v = &s->node[node];

	v->in_use = true;
	v->jobs += v->taken_in != s->takes;
	v->taken_in = s->takes;
	if (is_busy(s, v))
		v->usable = false;
	if (v->share[share & 3] != KEEL_SHARE_SHARED)
		close_to_others(s, node, share);
}

double in_part(const struct keel_exec_part *p, uint32_t index, uint32_t k)
{
	const struct keel_res_value *v = &p->v[k];
	bool counts = (v->res->flags & KEEL_RES_EACH) || ((v->res->flags & KEEL_RES_FIRST) && index == 0);

	if (!counts || v->res->type >= KEEL_RES_BOOL)
		return 0;
	return v->res->type == KEEL_RES_SIZE ? ceil(v->n / 1024) * 1024 : v->n;
}

static void take_part(struct snapshot *s, const struct keel_exec *exec, uint32_t i, int sign, int64_t till)
{
	struct vnode *v = vnode_named(s, exec->part[i].vnode);
	uint32_t k, column;

	for (k = 0; v && k < exec->part[i].n; k++) {
		column = column_of(s, exec->part[i].v[k].res);
		if (column >= s->n_column)
			continue;
		*amount_at(s, (uint32_t)(v - s->node), column) -= sign * in_part(&exec->part[i], i, k);
		spans_move(s, (uint32_t)(v - s->node), column, -sign * in_part(&exec->part[i], i, k), till);
	}
}

static void take(struct snapshot *s, const struct keel_exec *exec, int sign, int64_t till)
{
	uint32_t i;

	for (i = 0; i < exec->n; i++)
		take_part(s, exec, i, sign, till);
}

static void changed(struct snapshot *s, const struct keel_exec *exec)
{
	uint32_t i;

	for (i = 0; i < exec->n; i++) {
		const struct vnode *v = vnode_named(s, exec->part[i].vnode);

		if (v)
			snapshot_changed(s, (uint32_t)(v - s->node));
	}
}

void place_take(struct snapshot *s, const struct keel_exec *exec, bool anew)
{
	uint32_t i;

	s->takes++;
	for (i = 0; i < exec->n; i++) {
		struct vnode *v = vnode_named(s, exec->part[i].vnode);

		if (!v || (anew && v->read_in != s->reads))
			continue;
		take_part(s, exec, i, 1, INT64_MAX);
		settle(s, (uint32_t)(v - s->node), KEEL_SHARE_SHARED);
	}
	changed(s, exec);
}

/* After take(): the first amount that went below zero. */
static bool overdrawn(struct snapshot *s, const struct keel_exec *exec, struct reason *ret)
{
	uint32_t i, k, j, l, column;
	double have;

	for (i = 0; i < exec->n; i++) {
		const struct vnode *v = vnode_named(s, exec->part[i].vnode);

		for (k = 0; v && k < exec->part[i].n; k++) {
			const struct keel_resource *res = exec->part[i].v[k].res;
			double wanted = 0; /* by all parts on this vnode */

			column = column_of(s, res);
			if (in_part(&exec->part[i], i, k) <= 0 || !is_checked(s, res) ||
			    column >= s->n_column)
				continue;
			have = *amount_at(s, (uint32_t)(v - s->node), column);
			if (have >= -EPSILON)
				continue;
			for (j = 0; j < exec->n; j++) {
				const struct keel_exec_part *p = &exec->part[j];

				for (l = 0; strcmp(p->vnode, exec->part[i].vnode) == 0 && l < p->n; l++)
					if (p->v[l].res == res)
						wanted += in_part(p, j, l);
			}
			reason_amount(ret, KEEL_WHY_RESOURCE, res, wanted, have + wanted,
				      total_at(s, (uint32_t)(v - s->node), column));
			return true;
		}
	}
	return false;
}

/* After take(): what is promised of these vnodes until then is in the way. */
static bool is_promised(const struct snapshot *s, const struct keel_exec *exec, int32_t share, int64_t till,
			struct reason *ret)
{
	const struct block *first = NULL, *b;
	double need[s->n_column + 1];
	uint32_t i, c;

	for (c = 0; c < s->n_column; c++)
		need[c] = 1; /* whatever went below zero */
	for (i = 0; i < exec->n && till && s->n_future; i++) {
		const struct vnode *v = vnode_named(s, exec->part[i].vnode);

		b = v ? spans_first(s, (uint32_t)(v - s->node), till, need,
				    v->share[share & 3] != KEEL_SHARE_SHARED)
		      : NULL;
		if (b && (!first || b->from < first->from))
			first = b;
	}
	if (first)
		reason_block(ret, first);
	return first != NULL;
}

bool place_again(struct snapshot *s, const struct keel_exec *exec, int32_t share, int64_t till,
		 struct reason *ret)
{
	int64_t ends = till ? till : INT64_MAX;
	uint32_t i;

	ret->never = false;
	for (i = 0; i < exec->n; i++) {
		const struct vnode *v = vnode_named(s, exec->part[i].vnode);

		if (v && v->usable && (v->share[share & 3] == KEEL_SHARE_SHARED || !v->in_use))
			continue;
		reason_why(ret, KEEL_WHY_FEW_FREE);
		return false;
	}
	take(s, exec, 1, ends);
	if (overdrawn(s, exec, ret) || is_promised(s, exec, share, till, ret)) {
		take(s, exec, -1, ends);
		return false;
	}
	s->takes++;
	for (i = 0; i < exec->n; i++)
		settle(s, (uint32_t)(vnode_named(s, exec->part[i].vnode) - s->node), share);
	changed(s, exec);
	return true;
}
