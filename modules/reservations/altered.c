/* SPDX-License-Identifier: Apache-2.0
 *
 * altered.c - what becomes of an alteration whose values are there already: it is confirmed, or they are what they were.
 *
 *	1, 2, 5, 10 --alter_begin()--> 11, the substate stays
 *	11 --alter_done(): vnodes were found--> 2 or 5, as the clock says
 *	   --alter_denied()--> forced: as alter_done() with the vnodes that it has; else alter_revert()
 *	   --alter_revert(): denied, too late, a restart--> what it was
 *
 * Until then its vnodes stay promised for the time that it had: neither the scheduler's blocks nor what it holds changes.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(resv, reserve_start, reserve_end, reserve_duration, reserve_alter_revert, reserve_standing_revert, reserve_rules,
	      Resource_List);

/* ---- the values that it had ----------------------------------------------------------------------------- */

/* 0: there is none. */
static int64_t number_in(struct keel_obj *resv, const struct keel_attr *attr, const char *key)
{
	return (int64_t)keel_resource_list_number(keel_get_ptr(resv, attr), key, 0);
}

/* To be freed; NULL: there is none, or no memory. */
static char *select_in(struct keel_obj *resv, const struct keel_attr *attr)
{
	const struct keel_res_value *v = keel_resource_list_get(keel_get_ptr(resv, attr), "select");

	return v && v->text ? strdup(v->text) : NULL;
}

void alter_before(struct keel_obj *resv, int64_t *ret_from, int64_t *ret_till)
{
	const int64_t start = number_in(resv, resv_reserve_alter_revert, "start_time");

	if (!start)
		return;
	*ret_from = start;
	*ret_till = start + number_in(resv, resv_reserve_alter_revert, "walltime");
}

/* Resource_List and schedselect follow. */
static int32_t select_change(struct keel_mod *mod, struct keel_obj *resv, const char *select, struct keel_err *err)
{
	struct keel_changes *ch = keel_changes(mod);
	int32_t code = ch ? keel_change_text(ch, resv, resv_Resource_List, KEEL_SET, "select", select, err) : -ENOMEM;

	if (!code)
		code = keel_resource_prepare(ch, resv, NULL, err);
	if (code)
		keel_discard(ch);
	else
		keel_commit(ch);
	return code;
}

static void select_back(struct keel_mod *mod, struct keel_obj *resv, const struct keel_attr *attr)
{
	char *was = select_in(resv, attr), *is = select_in(resv, resv_Resource_List);
	struct keel_err err = { 0 };

	if (was && (!is || strcmp(was, is) != 0) && select_change(mod, resv, was, &err))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "its select %s does not come back: %s", was, err.text);
	free(was);
	free(is);
}

/* Resource_List.walltime is how long its soonest time is. */
static void walltime_follow(struct keel_obj *resv)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)keel_get_int(resv, resv_reserve_duration));
	keel_set_text(resv, resv_Resource_List, KEEL_SET, "walltime", text, NULL);
}

/* ---- it is altered ---------------------------------------------------------------------------------------- */

static void rule(struct keel_obj *resv, int64_t bits, bool on)
{
	const int64_t rules = keel_get_int(resv, resv_reserve_rules);

	keel_set_int(resv, resv_reserve_rules, on ? rules | bits : rules & ~bits);
}

void alter_begin(struct keel_mod *mod, struct keel_obj *resv, const struct times *new, bool force)
{
	search_forget(mod, resv);
	span_move(mod, resv, new->start, new->end);
	walltime_follow(resv);
	rule(resv, RULE_FORCED | RULE_ALTERED, false);
	rule(resv, RULE_FORCED, force);
	resv_to(mod, resv, KEEL_RESV_BEING_ALTERED, resv_substate(resv));
	clock_set(mod, resv);
}

/* The state that it had: what is wrong with its vnodes is judged anew. */
static int32_t state_before(struct keel_obj *resv)
{
	switch (resv_substate(resv)) {
	case KEEL_RESV_UNCONFIRMED:
	case KEEL_RESV_CONFIRMED:
	case KEEL_RESV_RUNNING:
		return resv_substate(resv);
	default:
		return resv_is_running(resv) ? KEEL_RESV_RUNNING : KEEL_RESV_DEGRADED;
	}
}

/* ---- confirmed ---------------------------------------------------------------------------------------------- */

/* It ran, and begins later now: what it held is given back. */
static void leave(struct keel_mod *mod, struct keel_obj *resv)
{
	spans_unhold(mod, resv);
	queue_start(mod, resv, false);
	rule(resv, RULE_BEGUN, false);
}

static void settle(struct keel_mod *mod, struct keel_obj *resv, bool found, bool moved)
{
	const bool running = resv_is_running(resv), later = keel_get_int(resv, resv_reserve_start) > keel_time(mod);
	const bool lost = !found && keel_get_int(resv, resv_reserve_rules) & RULE_LOST;
	const int32_t state = running && !later ? KEEL_RESV_RUNNING : KEEL_RESV_CONFIRMED;
	const int32_t substate = resv_substate(resv);

	if (moved)
		queue_enable(mod, resv, true);
	if (running && later)
		leave(mod, resv);
	if (!lost) {
		rule(resv, RULE_LOST | RULE_SOON, false);
		retry_clear(resv);
		resv_to(mod, resv, state, state);
	} else {
		resv_to(mod, resv, state == KEEL_RESV_CONFIRMED ? KEEL_RESV_DEGRADED : state, substate);
	}
	if (state == KEEL_RESV_RUNNING && resv_slot(mod, resv)->span[0].nodes && !queue_is_started(mod, resv))
		queue_start(mod, resv, true);
}

static void note(struct keel_mod *mod, struct keel_obj *resv, const char *who)
{
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "Reservation alter confirmed");
	record_confirm(mod, resv, who);
	keel_note(mod, KEEL_POINT_resv_confirm, KEEL_EVENT(resv_confirm, .id = keel_id(resv), .resv = resv));
	askers_answer(mod, resv, "CONFIRMED");
}

static const char *scheduler(struct keel_mod *mod, char *buf, size_t len)
{
	snprintf(buf, len, "Scheduler@%s", keel_host_name(mod));
	return buf;
}

/* `found`: its vnodes are what was found for it. */
static void confirmed(struct keel_mod *mod, struct keel_obj *resv, const char *who, bool found)
{
	const bool moved = number_in(resv, resv_reserve_alter_revert, "start_time") != keel_get_int(resv, resv_reserve_start);
	char buf[300];

	keel_unset(resv, resv_reserve_alter_revert, NULL);
	rule(resv, RULE_FORCED, false);
	rule(resv, RULE_ALTERED, true);
	settle(mod, resv, found, moved);
	spans_block(mod, resv);
	note(mod, resv, who ? who : scheduler(mod, buf, sizeof(buf)));
	resv_judge(mod, resv);
	clock_set(mod, resv);
	keel_sched_reconsider();
}

/* Its first confirmation, with other values than it was submitted with. */
static void first_confirmed(struct keel_mod *mod, struct keel_obj *resv, const char *const *nodes, uint32_t n)
{
	char buf[300];

	keel_unset(resv, resv_reserve_alter_revert, NULL);
	rule(resv, RULE_FORCED, false);
	rule(resv, RULE_ALTERED, true);
	resv_to(mod, resv, KEEL_RESV_UNCONFIRMED, KEEL_RESV_UNCONFIRMED);
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "Reservation alter confirmed");
	resv_confirmed(mod, resv, scheduler(mod, buf, sizeof(buf)), nodes, n);
}

void alter_done(struct keel_mod *mod, struct keel_obj *resv, const char *const *nodes, uint32_t n)
{
	if (resv_substate(resv) == KEEL_RESV_UNCONFIRMED)
		first_confirmed(mod, resv, nodes, n);
	else if (spans_place(mod, resv, nodes, n))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "no memory for its vnodes; it is searched again");
	else
		confirmed(mod, resv, NULL, true);
}

void alter_confirm(struct keel_mod *mod, struct keel_obj *resv, const char *who)
{
	confirmed(mod, resv, who, false);
}

void alter_over(struct keel_mod *mod, struct keel_obj *resv)
{
	keel_unset(resv, resv_reserve_alter_revert, NULL);
	rule(resv, RULE_FORCED, false);
	resv_to(mod, resv, KEEL_RESV_RUNNING, resv_substate(resv));
	resv_end(mod, resv);
}

/* ---- not confirmed -------------------------------------------------------------------------------------------- */

/* What only this alteration had changed is not different from later times any more. */
static void standing_same(struct keel_obj *resv)
{
	char *select = select_in(resv, resv_reserve_standing_revert), *is = select_in(resv, resv_Resource_List);

	if (number_in(resv, resv_reserve_standing_revert, "start_time") == keel_get_int(resv, resv_reserve_start))
		keel_unset(resv, resv_reserve_standing_revert, "start_time");
	if (select && is && strcmp(select, is) == 0)
		keel_unset(resv, resv_reserve_standing_revert, "select");
	free(select);
	free(is);
}

static void values_back(struct keel_mod *mod, struct keel_obj *resv)
{
	int64_t from = keel_get_int(resv, resv_reserve_start), till = keel_get_int(resv, resv_reserve_end);

	alter_before(resv, &from, &till);
	span_move(mod, resv, from, till);
	select_back(mod, resv, resv_reserve_alter_revert);
	walltime_follow(resv);
	keel_unset(resv, resv_reserve_alter_revert, NULL);
	if (keel_is_set(resv, resv_reserve_standing_revert))
		standing_same(resv);
}

void alter_revert(struct keel_mod *mod, struct keel_obj *resv)
{
	const int32_t state = state_before(resv), substate = resv_substate(resv);

	search_forget(mod, resv);
	values_back(mod, resv);
	rule(resv, RULE_FORCED, false);
	resv_to(mod, resv, state, substate);
	askers_answer(mod, resv, "DENIED");
	resv_judge(mod, resv);
	clock_set(mod, resv);
}

void alter_denied(struct keel_mod *mod, struct keel_obj *resv, const char *why)
{
	const struct resv *r = resv_slot(mod, resv);

	if (keel_get_int(resv, resv_reserve_rules) & RULE_FORCED && r->n_spans && r->span[0].nodes &&
	    resv_substate(resv) != KEEL_RESV_UNCONFIRMED) {
		confirmed(mod, resv, NULL, false);
		return;
	}
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "Reservation alter denied");
	alter_revert(mod, resv);
	why_set(resv, why);
}

/* Nothing was decided in time. */
void alter_late(struct keel_mod *mod, struct keel_obj *resv)
{
	alter_denied(mod, resv, "its time came before it was decided");
}

/* ---- the next time of a standing one ---------------------------------------------------------------------------- */

void alter_next(struct keel_mod *mod, struct keel_obj *resv)
{
	walltime_follow(resv);
	if (!keel_is_set(resv, resv_reserve_standing_revert))
		return;
	select_back(mod, resv, resv_reserve_standing_revert);
	keel_unset(resv, resv_reserve_standing_revert, NULL);
}
