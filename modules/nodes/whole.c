/* SPDX-License-Identifier: Apache-2.0
 *
 * whole.c - what follows from all parts of a job at once: the amounts of its vnodes, the other vnodes of its hosts.
 * Each host is visited once, however many parts are on it.
 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(node, resources_assigned);

/* ---- amounts ------------------------------------------------------------------------------------------- */

void parts_charge(struct keel_mod *mod, const struct parts *whole, struct holder *holder, int32_t sign, const char *only)
{
	struct parts *shared = parts_charged(mod, whole);
	const struct parts *p = shared ? shared : whole;
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		/* Each part as an exec_vnode of its own. All but the first follow an empty part, because some resources
		 * are charged on a job's first vnode only. */
		const struct keel_exec_part two[] = { { .vnode = "" }, p->part[i] };
		const struct keel_exec alone = { .n = i == 0 ? 1 : 2, .part = i == 0 ? two + 1 : two };
		struct keel_obj *node = p->at[i].node;

		if (!node)
			continue;
		if (p->at[i].vnode && p->at[i].vnode->holds)
			held_charge(mod, &p->at[i], &p->part[i], i == 0, holder, sign, only);
		else
			keel_resource_charge_exec(node, node_resources_assigned, &alone, two[1].vnode, sign, only);
		if (i + 1 < p->n && p->at[i + 1].node == node)
			continue;
		occupancy_update(mod, node);
		node_touch(mod, node);
	}
	free(shared);
}

/* ---- a host for one job ------------------------------------------------------------------------------ */

struct guest {
	const char *job_id;
	struct holder *holder;
	enum guests what;
};

static void guest_of(struct keel_mod *mod, struct keel_obj *node, void *arg)
{
	const struct guest *g = arg;
	struct vnode *v = keel_slot(mod, node);
	struct tenant **at = v ? tenant_at(v, g->job_id) : NULL, *t = at ? *at : NULL;

	if (g->what == GUESTS_LEAVE && t && t->guest) {
		*at = t->next;
		tenant_free(mod, t);
	} else if (g->what == GUESTS_COME && v && !t && (t = tenant_get(v, g->job_id))) {
		t->guest = t->exclusive = true;
		tenant_lodge(mod, t, g->holder);
	} else if (g->what == GUESTS_FOLLOW && t && t->guest) {
		tenant_lodge(mod, t, g->holder);
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

void parts_guests(struct keel_mod *mod, const struct parts *p, const char *job_id, struct holder *holder, int32_t share,
		  enum guests what)
{
	struct guest g = { job_id, holder, what };
	const char **host = calloc(p->n ? p->n : 1, sizeof(*host));
	uint32_t i, n = 0;

	for (i = 0; i < p->n; i++) {
		struct keel_obj *node = p->at[i].node;
		const char *name;

		if (!node || (what == GUESTS_COME && node_sharing(mod, node, share) != KEEL_SHARE_EXCLHOST))
			continue;
		name = node_mom(node);
		if (!host)
			each_vnode_of(mod, name, guest_of, &g);
		else if (n == 0 || strcmp(name, host[n - 1]) != 0)
			host[n++] = name;
	}
	if (n > 1)
		qsort(host, n, sizeof(*host), by_name);
	for (i = 0; i < n; i++)
		if (i == 0 || strcmp(host[i], host[i - 1]) != 0)
			each_vnode_of(mod, host[i], guest_of, &g);
	free(host);
}
