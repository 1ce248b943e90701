/* SPDX-License-Identifier: Apache-2.0
 *
 * whole.c - what follows from all parts of a job at once: amounts of its vnodes, its hosts' other vnodes. Each vnode
 * and each host has one turn, however many parts it has.
 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

/* ---- amounts ------------------------------------------------------------------------------------------- */

/* Parts of a vnode in the order they have. */
static int by_vnode(const void *a, const void *b)
{
	const struct keel_exec_part *x = *(const struct keel_exec_part *const *)a;
	const struct keel_exec_part *y = *(const struct keel_exec_part *const *)b;
	int order = strcmp(x->vnode, y->vnode);

	return order ? order : (x > y) - (x < y);
}

/* The parts by vnode, malloc'ed, behind one of no vnode. */
static struct keel_exec_part *parts_sorted(const struct keel_exec *exec)
{
	const struct keel_exec_part **at = calloc(exec->n, sizeof(*at));
	struct keel_exec_part *sorted = at ? calloc(exec->n + 1, sizeof(*sorted)) : NULL;
	uint32_t i;

	for (i = 0; sorted && i < exec->n; i++)
		at[i] = &exec->part[i];
	if (sorted)
		qsort(at, exec->n, sizeof(*at), by_vnode);
	for (i = 0; sorted && i < exec->n; i++)
		sorted[i + 1] = *at[i];
	if (sorted)
		sorted[0].vnode = "";
	free(at);
	return sorted;
}

static void vnode_charge(struct keel_mod *mod, const struct keel_exec *exec, const char *vnode, int32_t sign,
			 const char *only)
{
	struct state *st = mod->state;
	struct keel_obj *node = st->object->find(mod, "node", vnode);

	if (!node)
		return;
	st->resource->charge_exec(st->resource->self, node, st->attr.assigned, exec, vnode, sign, only);
	occupancy_update(mod, node);
	node_touch(mod, node);
}

/* Those of one vnode look like a job of their own; the one before them, of another vnode, says that they are not its
 * first (some resources count there only). */
static void sorted_charge(struct keel_mod *mod, const struct keel_exec_part *sorted, uint32_t n, const char *first,
			  int32_t sign, const char *only)
{
	uint32_t i, end;

	for (i = 1; i <= n; i = end) {
		const char *vnode = sorted[i].vnode;
		const uint32_t before = strcmp(vnode, first) == 0 ? 0 : 1;

		for (end = i + 1; end <= n && strcmp(sorted[end].vnode, vnode) == 0; end++)
			;
		vnode_charge(mod, &(struct keel_exec){ .n = end - i + before, .part = sorted + i - before }, vnode,
			     sign, only);
	}
}

static bool first_part_of(const struct keel_exec *exec, uint32_t i)
{
	uint32_t k;

	for (k = 0; k < i; k++)
		if (strcmp(exec->part[k].vnode, exec->part[i].vnode) == 0)
			return false;
	return true;
}

void exec_charge(struct keel_mod *mod, const struct keel_exec *whole, int32_t sign, const char *only)
{
	struct keel_exec *shared = exec_charged(mod, whole);
	const struct keel_exec *exec = shared ? shared : whole;
	struct keel_exec_part *sorted = exec->n > 1 ? parts_sorted(exec) : NULL;
	uint32_t i;

	if (sorted)
		sorted_charge(mod, sorted, exec->n, exec->part[0].vnode, sign, only);
	for (i = 0; !sorted && i < exec->n; i++) /* one; or no memory, and slowly */
		if (first_part_of(exec, i))
			vnode_charge(mod, exec, exec->part[i].vnode, sign, only);
	free(sorted);
	free(shared);
}

/* ---- a host for one job ------------------------------------------------------------------------------ */

struct guest {
	const char *job_id;
	bool leaves;
};

static void guest_of(struct keel_mod *mod, struct keel_obj *node, void *arg)
{
	struct state *st = mod->state;
	const struct guest *g = arg;
	struct vnode *v = st->object->slot(mod, node);
	struct tenant **at = v ? tenant_at(v, g->job_id) : NULL, *t = at ? *at : NULL;

	if (g->leaves && t && t->guest) {
		*at = t->next;
		tenant_free(t);
	} else if (!g->leaves && v && !t && (t = tenant_get(v, g->job_id))) {
		t->guest = t->exclusive = true;
	} else {
		return;
	}
	occupancy_update(mod, node);
	node_touch(mod, node);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void exec_guests(struct keel_mod *mod, const struct keel_exec *exec, const char *job_id, int32_t share, bool leaves)
{
	struct state *st = mod->state;
	struct guest g = { job_id, leaves };
	const char **host = calloc(exec->n ? exec->n : 1, sizeof(*host));
	uint32_t i, n = 0;

	for (i = 0; i < exec->n; i++) {
		struct keel_obj *node = st->object->find(mod, "node", exec->part[i].vnode);

		if (!node || (!leaves && node_sharing(mod, node, share) != KEEL_SHARE_EXCLHOST))
			continue;
		if (host)
			host[n++] = node_host_of(mod, exec->part[i].vnode);
		else
			each_vnode_of(mod, node_host_of(mod, exec->part[i].vnode), guest_of, &g);
	}
	if (n > 1)
		qsort(host, n, sizeof(*host), by_name);
	for (i = 0; i < n; i++)
		if (i == 0 || strcmp(host[i], host[i - 1]) != 0)
			each_vnode_of(mod, host[i], guest_of, &g);
	free(host);
}
