/* SPDX-License-Identifier: Apache-2.0
 *
 * charge.c - add amounts to resources_assigned and subtract them.
 *
 * A name that was once assigned stays in the list with amount 0.
 */
#include "resources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add(struct keel_obj *obj, const struct keel_attr *attr,
		const struct keel_res_value *v, int32_t sign, bool in_kb)
{
	const struct keel_reslist *have = keel_get_ptr(obj, attr);
	const struct keel_res_value *before = list_get(have, v->res->name);
	struct keel_res_value sum = *v;
	struct keel_reslist *list;

	if (in_kb && v->res->type == KEEL_RES_SIZE) {
		sum.n = ceil(v->n / 1024) * 1024;
		sum.unit = 1;
	}
	sum.n *= sign;
	if (before) {
		sum.n += before->n;
		if (!in_kb && sum.n == 0)
			sum.unit = before->unit;
	}
	if (sum.n < 0)
		sum.n = 0;
	list = have ? list_copy(have) : NULL;
	if (list && before && !v->text) {
		list->v[before - have->v].n = sum.n;
		list->v[before - have->v].unit = sum.unit;
	} else if ((have && !list) || list_put(&list, &sum)) {
		list_free(list);
		return;
	}
	keel_set_ptr(obj, attr, list);
}

void charge_list(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr,
		 const struct keel_reslist *list, int32_t sign, const char *only)
{
	uint32_t i;

	(void)mod;
	for (i = 0; i < list_count(list); i++) {
		const struct keel_res_value *v = &list->v[i];

		if ((v->res->flags & KEEL_RES_SUM) && (!only || name_in(only, v->res->name)))
			add(obj, attr, v, sign, false);
	}
}

void charge_exec(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr,
		 const struct keel_exec *exec, const char *vnode, int32_t sign, const char *only)
{
	uint32_t i, k;

	(void)mod;
	for (i = 0; i < exec->n; i++) {
		const struct keel_exec_part *part = &exec->part[i];
		const uint32_t counted = KEEL_RES_EACH | (i == 0 ? KEEL_RES_FIRST : 0);

		if (strcmp(part->vnode, vnode) != 0)
			continue;
		for (k = 0; k < part->n; k++)
			if ((part->v[k].res->flags & counted) && (!only || name_in(only, part->v[k].res->name)))
				add(obj, attr, &part->v[k], sign, true);
	}
}
