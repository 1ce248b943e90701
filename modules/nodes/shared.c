/* SPDX-License-Identifier: Apache-2.0
 *
 * shared.c - amounts that vnodes share: with `resources_available.lic = @other`, lic that a job takes here is
 * charged to the vnode `other`.
 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(node, resources_available);

/* The vnode to charge; its node is NULL if it is this one. */
static struct spot owner_of(struct keel_mod *mod, const struct spot *at, const struct keel_resource *res)
{
	const struct keel_res_value *v =
		at->node && (res->flags & KEEL_RES_EACH)
			? keel_resource_list_get(keel_get_ptr(at->node, node_resources_available), res->name)
			: NULL;

	if (!v || !v->text || *v->text != '@')
		return (struct spot){ 0 };
	return spot_find(mod, v->text + 1);
}

/* One allocation: struct parts, all parts, their spots, the values of the original parts. */
struct parts *parts_charged(struct keel_mod *mod, const struct parts *p)
{
	uint32_t values = 0, i, k, extra = 0, room;
	struct keel_exec_part *part;
	struct keel_res_value *v;
	struct parts *x;

	for (i = 0; i < p->n; i++) {
		values += p->part[i].n;
		for (k = 0; k < p->part[i].n; k++)
			extra += owner_of(mod, &p->at[i], p->part[i].v[k].res).node != NULL;
	}
	room = p->n + extra;
	if (!extra)
		return NULL;
	x = calloc(1, sizeof(*x) + room * (sizeof(*part) + sizeof(*x->at)) + (values + extra) * sizeof(*v));
	if (!x)
		return NULL;
	part = (struct keel_exec_part *)(void *)(x + 1);
	*x = (struct parts){ p->n, part, (struct spot *)(void *)(part + room) };
	v = (struct keel_res_value *)(void *)(x->at + room);
	for (i = 0; i < p->n; i++) {
		part[i] = p->part[i];
		part[i].v = v;
		x->at[i] = p->at[i];
		for (k = 0; k < part[i].n; k++, v++) {
			const struct spot owner = owner_of(mod, &p->at[i], p->part[i].v[k].res);

			*v = p->part[i].v[k];
			if (!owner.node)
				continue;
			x->at[x->n] = owner;
			part[x->n++] = (struct keel_exec_part){ keel_id(owner.node), part[i].chunk, 1,
								&p->part[i].v[k] };
			v->n = 0;
		}
	}
	return x;
}
