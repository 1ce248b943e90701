/* SPDX-License-Identifier: Apache-2.0
 *
 * changes.c - what changed since a generation, for callers that keep a snapshot of all vnodes; and which
 * vnodes are on one host.
 *
 * Vnodes form a list, the one that changed last first, so that a caller reads only those that changed since
 * its snapshot. `shape` is incremented when vnodes are created or destroyed, or get other amounts, queues or
 * priorities.
 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

static void list_out(struct state *st, struct vnode *v)
{
	if (v->newer)
		v->newer->older = v->older;
	else if (st->newest == v)
		st->newest = v->older;
	if (v->older)
		v->older->newer = v->newer;
	v->newer = v->older = NULL;
}

void node_touch(struct keel_mod *mod, struct keel_obj *node)
{
	struct state *st = mod->state;
	struct vnode *v = keel_slot(mod, node);

	st->generation++;
	if (!v)
		return;
	list_out(st, v);
	v->obj = node;
	v->changed = st->generation;
	v->older = st->newest;
	if (st->newest)
		st->newest->newer = v;
	st->newest = v;
}

void node_reshape(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->generation++;
	st->shape++;
}

void changes_forget(struct keel_mod *mod, struct vnode *v)
{
	struct state *st = mod->state;

	list_out(st, v);
	v->obj = NULL;
	st->members++;
	node_reshape(mod);
}

void node_changed_since(struct keel_mod *mod, uint64_t since,
			void (*fn)(void *arg, struct keel_obj *node), void *arg)
{
	struct state *st = mod->state;
	struct vnode *v, *older;

	for (v = st->newest; v && v->changed > since; v = older) {
		older = v->older;
		fn(arg, v->obj);
	}
}

uint64_t node_shape(struct keel_mod *mod)
{
	return ((struct state *)mod->state)->shape;
}

void node_tenants(struct keel_mod *mod, struct keel_obj *node,
		  void (*fn)(void *arg, const char *job_id, bool suspended), void *arg)
{
	struct vnode *v = keel_slot(mod, node);
	const struct tenant *t;

	for (t = v ? v->tenants : NULL; t; t = t->next)
		if (!t->guest)
			fn(arg, t->job_id, t->given_back != NULL);
}

/* ---- vnodes of a host --------------------------------------------------------------------------- */

static int by_host(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	return order ? order : (x->place > y->place) - (x->place < y->place);
}

void neighbours_free(struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n_neighbour; i++)
		free(st->neighbour[i].host);
	free(st->neighbour);
	st->neighbour = NULL;
	st->n_neighbour = 0;
}

/* Built again after vnodes were created or destroyed. Out of memory: the list is short or empty. */
static void neighbours_make(struct keel_mod *mod)
{
	struct state *st = mod->state;
	uint32_t room = keel_count(mod, "node"), n = 0;
	struct keel_cursor *walk;
	struct keel_obj *node;

	if (st->neighbour && st->neighbours_of == st->members && st->n_neighbour == room)
		return;
	neighbours_free(st);
	st->neighbour = calloc(room + 1, sizeof(*st->neighbour));
	walk = st->neighbour ? keel_cursor(mod, "node") : NULL;
	while (walk && n < room && (node = keel_next(walk))) {
		const char *host = node_host_of(mod, keel_id(node));

		st->neighbour[n].node = node;
		st->neighbour[n].place = n;
		if (!(st->neighbour[n].host = strdup(host ? host : "")))
			break;
		n++;
	}
	if (walk)
		keel_cursor_close(walk);
	st->n_neighbour = n;
	st->neighbours_of = st->members;
	if (n)
		qsort(st->neighbour, n, sizeof(*st->neighbour), by_host);
}

/* Every vnode of the host, in order of creation. fn must not create or destroy vnodes. */
void each_vnode_of(struct keel_mod *mod, const char *host,
		   void (*fn)(struct keel_mod *, struct keel_obj *, void *), void *arg)
{
	struct state *st = mod->state;
	uint32_t low = 0, high;

	neighbours_make(mod);
	high = st->n_neighbour;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (strcmp(st->neighbour[middle].host, host) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < st->n_neighbour && strcmp(st->neighbour[low].host, host) == 0; low++)
		fn(mod, st->neighbour[low].node, arg);
}
