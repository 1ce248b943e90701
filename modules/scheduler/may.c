/* SPDX-License-Identifier: Apache-2.0
 *
 * may.c - which vnodes a job may use at all: queue, partition, limits of the vnode, taps.
 */
#include "spans.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Vnodes of the job's queue if it has some, else those that belong to no queue. */
bool may_use(const struct trial *t, uint32_t node)
{
	const struct vnode *v = &t->s->node[node];

	if (t->has_queue_nodes ? !same(v->queue, t->w->queue) : v->queue != NULL)
		return false;
	return same(v->partition, t->w->partition) && in_set(t, node);
}

bool taps_let(struct trial *t, uint32_t node)
{
	const struct vnode *v = &t->s->node[node];
	struct scratch *x = t->s->scratch;

	if (!t->w->eligible || !v->usable || t->empty || t->untapped)
		return true;
	if (x->tapped[node] / 2 != x->trial) /* the taps are called once in a trial */
		x->tapped[node] = 2 * x->trial + t->w->eligible(t->w->arg, v);
	t->refused |= !(x->tapped[node] & 1);
	return x->tapped[node] & 1;
}

bool queue_has_nodes(const struct trial *t)
{
	uint32_t i;

	for (i = 0; t->w->queue && i < klasses_count(t->s); i++)
		if (same(klass_like(t->s, i)->queue, t->w->queue))
			return true;
	return false;
}

static uint32_t heads(const struct vnode_limits *l, char kind, const char *name)
{
	uint32_t i;

	for (i = 0; name && i < l->n_head; i++)
		if (l->head[i].name[0] == kind && strcmp(l->head[i].name + 2, name) == 0)
			return l->head[i].n;
	return 0;
}

int32_t limits_say(const struct vnode *v, const char *user, const char *group)
{
	const struct vnode_limits *l = v->limits;

	if (!l)
		return 0;
	if (l->jobs && v->jobs >= l->jobs)
		return KEEL_WHY_NODE_JOBS;
	if (l->of_user && heads(l, 'u', user) >= l->of_user)
		return KEEL_WHY_NODE_ANY_USER;
	if (l->of_group && heads(l, 'g', group) >= l->of_group)
		return KEEL_WHY_NODE_ANY_GROUP;
	return 0;
}

int32_t limit_of(const struct trial *t, uint32_t node)
{
	const struct vnode *v = &t->s->node[node];

	if (v->one_host_only && t->many_hosts)
		return KEEL_WHY_NODE_NO_MULTINODE;
	return t->empty ? 0 : limits_say(v, t->w->user, t->w->group);
}

static void head_add(struct vnode_limits *l, char kind, const char *name)
{
	struct headcount *bigger;
	uint32_t i;

	for (i = 0; name && i < l->n_head; i++)
		if (l->head[i].name[0] == kind && strcmp(l->head[i].name + 2, name) == 0) {
			l->head[i].n++;
			return;
		}
	bigger = name ? reallocarray(l->head, l->n_head + 1, sizeof(*bigger)) : NULL;
	if (!bigger)
		return;
	l->head = bigger;
	if (asprintf(&l->head[l->n_head].name, "%c:%s", kind, name) < 0)
		return;
	l->head[l->n_head++].n = 1;
}

static void head_drop(struct vnode_limits *l, char kind, const char *name)
{
	uint32_t i;

	for (i = 0; name && i < l->n_head; i++)
		if (l->head[i].name[0] == kind && strcmp(l->head[i].name + 2, name) == 0)
			l->head[i].n -= l->head[i].n > 0;
}

void limits_count(struct vnode_limits *l, const char *user, const char *group)
{
	if (l && l->of_user)
		head_add(l, 'u', user);
	if (l && l->of_group)
		head_add(l, 'g', group);
}

void limits_move(struct snapshot *s, const struct keel_exec *exec, const char *user,
		 const char *group, int sign)
{
	uint32_t i;

	s->takes++;
	for (i = 0; s->counts_people && i < exec->n; i++) {
		struct vnode *v = vnode_named(s, exec->part[i].vnode);
		struct vnode_limits *l = v && v->taken_in != s->takes ? v->limits : NULL;

		if (v)
			v->taken_in = s->takes;
		if (l && sign > 0)
			limits_count(l, user, group);
		if (l && sign < 0 && l->of_user)
			head_drop(l, 'u', user);
		if (l && sign < 0 && l->of_group)
			head_drop(l, 'g', group);
	}
}

/* Is what is promised of the vnode until the job's end no matter to it, whatever the amounts? */
static bool time_lets(const struct trial *t, uint32_t node, uint8_t share)
{
	const struct snapshot *s = t->s;
	bool closes, promised = spans_promised(s, node, t->till, &closes);
	uint32_t n, i;
	const uint32_t *other;

	if (closes || (promised && share != KEEL_SHARE_SHARED))
		return false;
	other = share == KEEL_SHARE_EXCLHOST ? order_of_host(s, s->node[node].host, &n) : NULL;
	for (i = 0; other && i < n; i++)
		if (spans_promised(s, other[i], t->till, &closes))
			return false;
	return true;
}

bool is_open(const struct trial *t, uint32_t node)
{
	const struct vnode *v = &t->s->node[node];
	uint8_t share = v->share[t->w->place.share & 3];

	if (limit_of(t, node) || !may_use(t, node))
		return false;
	if (t->empty)
		return true;
	if (!v->usable || (share != KEEL_SHARE_SHARED && v->in_use))
		return false;
	if (t->till && !time_lets(t, node, share))
		return false;
	return share != KEEL_SHARE_EXCLHOST || !host_in_use(t->s, v->host);
}

