/* SPDX-License-Identifier: Apache-2.0
 *
 * service.c - the service resv.
 */
#include "reservations.h"

KEEL_ATTRS_OF(resv, reserve_index, reserve_rules, Reserve_Owner);

static char kind(struct keel_mod *mod, struct keel_obj *resv)
{
	(void)mod;
	return kind_letter(resv);
}

static int32_t state(struct keel_mod *mod, struct keel_obj *resv)
{
	(void)mod;
	return resv_state(resv);
}

static int32_t substate(struct keel_mod *mod, struct keel_obj *resv)
{
	(void)mod;
	return resv_substate(resv);
}

static bool window(struct keel_mod *mod, struct keel_obj *resv, uint32_t i, struct keel_resv_window *ret)
{
	const struct resv *r = resv_slot(mod, resv);

	if (!r || i >= r->n_spans)
		return false;
	*ret = (struct keel_resv_window){ .size = sizeof(*ret), .occurrence = (uint32_t)keel_get_int(resv, resv_reserve_index) + i, .from = r->span[i].from,
					  .till = r->span[i].till, .nodes = r->span[i].nodes };
	return true;
}

static int32_t replace(struct keel_mod *mod, struct keel_obj *resv, const char *nodes)
{
	struct keel_exec *exec;

	if (!(keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER) || resv_state(resv) != KEEL_RESV_RUNNING ||
	    keel_resource_exec_parse(nodes, &exec, NULL))
		return -EINVAL;
	keel_resource_exec_free(exec);
	resv_confirmed(mod, resv, keel_get_str(resv, resv_Reserve_Owner), &nodes, 1);
	return 0;
}

static const struct keel_resv_api table = {
	.size = sizeof(table),
	.version = 1,
	.state = state,
	.substate = substate,
	.kind = kind,
	.window = window,
	.lose = resv_lose,
	.retry = resv_retry,
	.make = resv_make,
	.remove = resv_remove,
	.find = resv_find,
	.replace = replace,
};

const struct keel_service_def resv_service = {
	.size = sizeof(struct keel_service_def),
	.version = 1,
	.name = "resv",
	.doc = "reservations, for kinds of them",
	.table = &table,
};
