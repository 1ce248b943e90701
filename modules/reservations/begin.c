/* SPDX-License-Identifier: Apache-2.0
 *
 * begin.c - a time of a reservation begins: 2 or 10 becomes 5, what is wrong with its vnodes stays in the substate.
 */
#include "reservations.h"

KEEL_ATTR_OF(resv, reserve_rules);

static int32_t substate_at_begin(struct keel_obj *resv)
{
	const int32_t substate = resv_substate(resv);

	return substate == KEEL_RESV_CONFIRMED ? KEEL_RESV_RUNNING : substate;
}

/* The record is written once for each time, however often the server restarts in it. */
static void record_once(struct keel_mod *mod, struct keel_obj *resv)
{
	const int64_t rules = keel_get_int(resv, resv_reserve_rules);

	if (rules & RULE_BEGUN)
		return;
	keel_set_int(resv, resv_reserve_rules, rules | RULE_BEGUN);
	record_begin(mod, resv);
	letter_send(mod, resv, 'b', NULL);
}

void resv_begin(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct resv *r = resv_slot(mod, resv);
	const char *nodes = r->n_spans ? r->span[0].nodes : NULL;

	search_forget(mod, resv);
	resv_to(mod, resv, KEEL_RESV_RUNNING, substate_at_begin(resv));
	if (nodes)
		queue_start(mod, resv, true);
	spans_hold(mod, resv);
	span_block_soonest(mod, resv);
	keel_log(mod, KEEL_LOG_DEBUG3, "Resv", keel_id(resv), "vnodes in reservation: %u; ", (unsigned)nodes_count(nodes));
	record_once(mod, resv);
	keel_note(mod, KEEL_POINT_resv_begin, KEEL_EVENT(resv_begin, .id = keel_id(resv), .resv = resv));
	resv_judge(mod, resv);
	clock_set(mod, resv);
	keel_sched_reconsider();
}
