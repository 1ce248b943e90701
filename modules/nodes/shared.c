/* SPDX-License-Identifier: Apache-2.0
 *
 * shared.c - amounts that vnodes share: `resources_available.lic = @other` means that what a job takes
 * of lic here it takes of the other vnode's.
 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

/* The vnode that has the amount; NULL: this one. */
static const char *owner_of(struct keel_mod *mod, const char *vnode, const struct keel_resource *res)
{
	struct state *st = mod->state;
	struct keel_obj *node = st->object->find(mod, "node", vnode);
	const struct keel_res_value *v =
		node ? st->resource->list_get(st->object->get_ptr(node, st->attr.available), res->name)
		     : NULL;

	if (!v || !v->text || *v->text != '@' || !(res->flags & KEEL_RES_EACH))
		return NULL;
	return st->object->find(mod, "node", v->text + 1) ? v->text + 1 : NULL;
}

static uint32_t shared_count(struct keel_mod *mod, const struct keel_exec *exec, uint32_t *ret_values)
{
	uint32_t i, k, n = 0;

	*ret_values = 0;
	for (i = 0; i < exec->n; i++) {
		*ret_values += exec->part[i].n;
		for (k = 0; k < exec->part[i].n; k++)
			n += owner_of(mod, exec->part[i].vnode, exec->part[i].v[k].res) != NULL;
	}
	return n;
}

/* One block: the parts, then the values of the first ones. */
struct keel_exec *exec_charged(struct keel_mod *mod, const struct keel_exec *exec)
{
	uint32_t values, i, k, extra = shared_count(mod, exec, &values);
	struct keel_exec_part *part;
	struct keel_res_value *v;
	struct keel_exec *x;

	if (!extra)
		return NULL;
	x = calloc(1, sizeof(*x) + (exec->n + extra) * sizeof(*part) + (values + extra) * sizeof(*v));
	if (!x)
		return NULL;
	part = (struct keel_exec_part *)(void *)(x + 1);
	v = (struct keel_res_value *)(void *)(part + exec->n + extra);
	*x = (struct keel_exec){ .n = exec->n, .chunks = exec->chunks, .part = part };
	for (i = 0; i < exec->n; i++) {
		part[i] = exec->part[i];
		part[i].v = v;
		for (k = 0; k < part[i].n; k++, v++) {
			const char *owner = owner_of(mod, part[i].vnode, exec->part[i].v[k].res);

			*v = exec->part[i].v[k];
			if (!owner)
				continue;
			part[x->n++] = (struct keel_exec_part){ owner, part[i].chunk, 1,
								&exec->part[i].v[k] };
			v->n = 0;
		}
	}
	return x;
}
