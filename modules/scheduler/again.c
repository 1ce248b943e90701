/* SPDX-License-Identifier: Apache-2.0
 *
 * again.c - vnodes that are known already: a suspended job that goes on, a start that is on its way.
 */
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

void settle(struct snapshot *s, uint32_t node, int32_t share)
{
	struct vnode *v = &s->node[node];
	uint32_t i;

	v->in_use = true;
	v->jobs += v->taken_in != s->takes;
	v->taken_in = s->takes;
	if (is_busy(s, v))
		v->usable = false;
	if (v->share[share & 3] == KEEL_SHARE_SHARED)
		return;
	v->usable = false;
	v->alone = true;
	if (v->share[share & 3] == KEEL_SHARE_EXCLHOST)
		for (i = 0; i < s->n; i++)
			if (s->node[i].host == v->host) {
				s->node[i].usable = false;
				s->node[i].alone = true;
			}
}

double in_part(const struct keel_exec_part *p, uint32_t index, uint32_t k)
{
	const struct keel_res_value *v = &p->v[k];
	bool counts = (v->res->flags & KEEL_RES_EACH) || ((v->res->flags & KEEL_RES_FIRST) && index == 0);

	if (!counts || v->res->type >= KEEL_RES_BOOL)
		return 0;
	return v->res->type == KEEL_RES_SIZE ? ceil(v->n / 1024) * 1024 : v->n;
}

static void take(struct snapshot *s, const struct keel_exec *exec, int sign)
{
	uint32_t i, k, column;

	for (i = 0; i < exec->n; i++) {
		struct vnode *v = vnode_named(s, exec->part[i].vnode);

		if (!v)
			continue;
		for (k = 0; k < exec->part[i].n; k++) {
			column = column_of(s, exec->part[i].v[k].res);
			if (column < s->n_column)
				v->free[column] -= sign * in_part(&exec->part[i], i, k);
		}
		}
}

void place_take(struct snapshot *s, const struct keel_exec *exec)
{
	uint32_t i;

	take(s, exec, 1);
	s->takes++;
	for (i = 0; i < exec->n; i++) {
		struct vnode *v = vnode_named(s, exec->part[i].vnode);

		if (v)
			settle(s, (uint32_t)(v - s->node), KEEL_SHARE_SHARED);
	}
}

/* After take(): the first amount that went below zero. */
static bool overdrawn(struct snapshot *s, const struct keel_exec *exec, struct reason *ret)
{
	uint32_t i, k, column;

	for (i = 0; i < exec->n; i++) {
		const struct vnode *v = vnode_named(s, exec->part[i].vnode);

		for (k = 0; v && k < exec->part[i].n; k++) {
			const struct keel_resource *res = exec->part[i].v[k].res;
			double wanted = in_part(&exec->part[i], i, k);

			column = column_of(s, res);
			if (wanted <= 0 || !is_checked(s, res) || column >= s->n_column ||
			    v->free[column] >= -EPSILON)
				continue;
			reason_amount(ret, KEEL_WHY_RESOURCE, res, wanted,
				      v->free[column] + wanted, v->total[column]);
			return true;
		}
	}
	return false;
}

bool place_again(struct snapshot *s, const struct keel_exec *exec, int32_t share,
		 struct reason *ret)
{
	uint32_t i;

	ret->never = false;
	for (i = 0; i < exec->n; i++) {
		const struct vnode *v = vnode_named(s, exec->part[i].vnode);

		if (v && v->usable && (v->share[share & 3] == KEEL_SHARE_SHARED || !v->in_use))
			continue;
		reason_why(ret, KEEL_WHY_FEW_FREE);
		return false;
	}
	take(s, exec, 1);
	if (overdrawn(s, exec, ret)) {
		take(s, exec, -1);
		return false;
	}
	s->takes++;
	for (i = 0; i < exec->n; i++)
		settle(s, (uint32_t)(vnode_named(s, exec->part[i].vnode) - s->node), share);
	return true;
}
