/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.c - copies of a snapshot for what-ifs, and jobs that give back what they have in one.
 *
 * A copy shares with its original what placement never changes: names, totals, strings. It must be
 * gone before the original.
 */
#include "spans.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------ */

static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h;
}

void snapshot_index(struct snapshot *s)
{
	uint32_t room = 16, i, at;

	while (room < s->n * 2)
		room *= 2;
	free(s->by_name);
	s->n_by_name = room;
	s->by_name = calloc(room, sizeof(*s->by_name));
	for (i = 0; s->by_name && i < s->n; i++) {
		for (at = hash(s->node[i].name) & (room - 1); s->by_name[at]; at = (at + 1) & (room - 1))
			;
		s->by_name[at] = i + 1;
	}
}

struct vnode *vnode_named(const struct snapshot *s, const char *name)
{
	uint32_t i, at;

	if (s->by_name) {
		for (at = hash(name) & (s->n_by_name - 1); s->by_name[at];
		     at = (at + 1) & (s->n_by_name - 1))
			if (strcmp(s->node[s->by_name[at] - 1].name, name) == 0)
				return &s->node[s->by_name[at] - 1];
		return NULL;
	}
	for (i = 0; i < s->n; i++)
		if (strcmp(s->node[i].name, name) == 0)
			return &s->node[i];
	return NULL;
}

/* ---- copies ------------------------------------------------------------------------------------------- */

/* Limits with people to count are the copy's own. */
bool limits_copy(struct snapshot *copy, uint32_t node)
{
	const struct vnode_limits *from = copy->node[node].limits;
	struct vnode_limits *to = from ? malloc(sizeof(*to)) : NULL;
	uint32_t i;

	copy->node[node].limits = to;
	if (!from || !to)
		return !from;
	*to = *from;
	to->n_head = 0;
	to->head = calloc(from->n_head + 1, sizeof(*to->head));
	for (i = 0; to->head && i < from->n_head; i++) {
		to->head[i] = (struct headcount){ strdup(from->head[i].name), from->head[i].n };
		if (!to->head[i].name)
			return false;
		to->n_head++;
	}
	return to->head != NULL;
}

struct snapshot *snapshot_copy(const struct snapshot *s)
{
	struct snapshot *copy = malloc(sizeof(*copy));
	bool ok;
	uint32_t i;

	if (!copy)
		return NULL;
	*copy = *s;
	copy->node = calloc(s->n + 1, sizeof(*copy->node));
	copy->amounts = malloc(sizeof(double) * ((size_t)s->n * s->n_column + 1));
	copy->pool = pools_copy(s);
	copy->order = order_copy(s);
	copy->scratch = scratch_make(s);
	copy->sets = NULL;
	ok = copy->node && copy->amounts && copy->pool && copy->order && copy->scratch;
	for (i = 0; copy->node && copy->amounts && i < s->n; i++) {
		copy->node[i] = s->node[i];
		copy->node[i].free = copy->amounts + (size_t)i * s->n_column;
		memcpy(copy->node[i].free, s->node[i].free, sizeof(double) * s->n_column);
		copy->node[i].future = future_share(s->node[i].future);
		ok &= limits_copy(copy, i);
	}
	if (ok)
		return copy;
	snapshot_copy_free(copy);
	return NULL;
}

void limits_free(struct vnode_limits *l)
{
	uint32_t i;

	if (!l)
		return;
	for (i = 0; i < l->n_head; i++)
		free(l->head[i].name);
	free(l->head);
	free(l);
}

void snapshot_copy_free(struct snapshot *s)
{
	uint32_t i;

	if (!s)
		return;
	for (i = 0; s->node && i < s->n; i++) {
		limits_free(s->node[i].limits);
		future_put(s->node[i].future);
	}
	if (s->pool)
		pools_free(s->pool, s->n_pool);
	order_free(s->order);
	free(s->scratch);
	sets_free(s->sets);
	free(s->amounts);
	free(s->node);
	free(s);
}

/* ---- what if it were not there ---------------------------------------------------------------------------- */

void exec_only(struct keel_exec *exec, const char *names)
{
	uint32_t i, k;

	for (i = 0; names && i < exec->n; i++)
		for (k = 0; k < exec->part[i].n; k++)
			if (!is_listed(names, exec->part[i].v[k].res->name))
				((struct keel_res_value *)exec->part[i].v)[k].n = 0;
}

static void amounts_move(struct snapshot *s, const struct keel_exec *exec, int sign,
			 const char *only, int64_t till)
{
	uint32_t i, k;

	for (i = 0; i < exec->n; i++) {
		struct vnode *v = vnode_named(s, exec->part[i].vnode);

		for (k = 0; v && k < exec->part[i].n; k++) {
			const struct keel_resource *res = exec->part[i].v[k].res;
			uint32_t column = column_of(s, res);

			if (column >= s->n_column || (only && !is_listed(only, res->name)))
				continue;
			*amount_at(s, (uint32_t)(v - s->node), column) += sign * in_part(&exec->part[i], i, k);
			spans_move(s, (uint32_t)(v - s->node), column, sign * in_part(&exec->part[i], i, k), till);
		}
	}
}

void vnode_judge(const struct snapshot *s, struct vnode *v)
{
	v->in_use = v->jobs > 0 || v->promised;
	v->usable = !v->down && !v->alone && !v->fenced && !v->closed && !is_busy(s, v);
}

static void alone_set(struct snapshot *s, struct vnode *v, int32_t share, bool alone)
{
	int32_t kind = v->share[share & 3];
	uint32_t n, i;
	const uint32_t *other = order_of_host(s, v->host, &n);

	if (kind == KEEL_SHARE_SHARED)
		return;
	v->alone = alone;
	for (i = 0; kind == KEEL_SHARE_EXCLHOST && i < n; i++) {
		s->node[other[i]].alone = alone;
		vnode_judge(s, &s->node[other[i]]);
		snapshot_changed(s, other[i]);
	}
}

/* Whatever it keeps, a job that gives back leaves its vnodes. */
static void move(struct snapshot *s, const struct keel_exec *exec, int32_t share, const char *only,
		 int sign, int64_t till)
{
	uint32_t i;

	amounts_move(s, exec, sign, only, till);
	s->takes++;
	for (i = 0; i < exec->n; i++) {
		struct vnode *v = vnode_named(s, exec->part[i].vnode);

		if (!v || v->taken_in == s->takes)
			continue;
		v->taken_in = s->takes;
		if (sign > 0)
			v->jobs -= v->jobs > 0;
		else
			v->jobs++;
		alone_set(s, v, share, sign < 0);
		vnode_judge(s, v);
		snapshot_changed(s, (uint32_t)(v - s->node));
	}
}

void place_vacate(struct snapshot *s, const struct keel_exec *exec, int32_t share, const char *only, int64_t till)
{
	move(s, exec, share, only, 1, till);
}

void place_occupy(struct snapshot *s, const struct keel_exec *exec, int32_t share, const char *only, int64_t till)
{
	move(s, exec, share, only, -1, till);
}
