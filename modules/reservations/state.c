/* SPDX-License-Identifier: Apache-2.0
 *
 * state.c - the one door through which a reservation changes its state.
 */
#include "reservations.h"

KEEL_ATTRS_OF(resv, reserve_state, reserve_substate, reserve_rules, mtime);

int32_t resv_state(struct keel_obj *resv)
{
	return (int32_t)keel_get_int(resv, resv_reserve_state);
}

int32_t resv_substate(struct keel_obj *resv)
{
	return (int32_t)keel_get_int(resv, resv_reserve_substate);
}

void resv_to(struct keel_mod *mod, struct keel_obj *resv, int32_t state, int32_t substate)
{
	if (resv_state(resv) == state && resv_substate(resv) == substate)
		return;
	keel_set_int(resv, resv_reserve_state, state);
	keel_set_int(resv, resv_reserve_substate, substate);
	keel_set_int(resv, resv_mtime, keel_time(mod));
}

/* One that is altered keeps its substate: 5, or a number of trouble, which tells nothing; then its begin is known by its B record. */
bool resv_is_running(struct keel_obj *resv)
{
	int32_t state = resv_state(resv);

	return state == KEEL_RESV_RUNNING ||
	       (state == KEEL_RESV_BEING_ALTERED && (resv_substate(resv) == KEEL_RESV_RUNNING ||
						     (keel_get_int(resv, resv_reserve_rules) & RULE_BEGUN)));
}

bool resv_is_confirmed(struct keel_obj *resv)
{
	switch (resv_state(resv)) {
	case KEEL_RESV_CONFIRMED:
	case KEEL_RESV_RUNNING:
	case KEEL_RESV_DEGRADED:
		return true;
	case KEEL_RESV_BEING_ALTERED:
		return resv_substate(resv) != KEEL_RESV_UNCONFIRMED;
	default:
		return false;
	}
}
