/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - the server has started: what others have of each reservation is made again from what is stored.
 *
 *	0, 8			cannot be: gone
 *	1			waits on; of a kind that is confirmed at once: discarded
 *	2, 10			its vnodes are judged anew; without vnodes, and without having lost them: searched at once
 *	5			holds them again, no second record B
 *	6, 9			its running jobs are deleted, then its next time
 *	7			its jobs are deleted
 *	11			the old values come back
 */
#include "reservations.h"

#include <stdio.h>

KEEL_ATTRS_OF(resv, reserve_rules, reserve_retry, queue, server);

void resv_slot_fini(struct keel_mod *mod, void *slot)
{
	struct resv *r = slot;

	if (r->obj)
		search_forget(mod, r->obj);
	judge_forget(mod, r);
	again_over(r);
	if (r->alteration)
		keel_end(mod, r->alteration);
	askers_drop(mod, r);
	keel_alarm_end(&r->clock);
	keel_alarm_end(&r->purge);
	keel_alarm_end(&r->left);
	keel_alarm_end(&r->mover);
	spans_free(mod, r);
}

static bool has_all_nodes(const struct resv *r)
{
	for (uint32_t i = 0; i < r->n_spans; i++)
		if (!r->span[i].nodes)
			return false;
	return r->n_spans > 0;
}

/* Its queue is an object of its own, which somebody may have lost. */
static void queue_again(struct keel_mod *mod, struct keel_obj *resv)
{
	const char *name = keel_get_str(resv, resv_queue);
	const struct resv *r = resv_slot(mod, resv);
	struct keel_err err = { 0 };

	if (name && keel_find(mod, "queue", name))
		return;
	if (queue_make(mod, resv, &err)) {
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "its queue cannot be made again: %s", err.text);
		return;
	}
	if (resv_is_confirmed(resv))
		queue_enable(mod, resv, true);
	if (resv_is_running(resv) && r->span[0].nodes)
		queue_start(mod, resv, true);
}

static void waits(struct keel_mod *mod, struct keel_obj *resv, const struct resv *r)
{
	const bool lost = keel_get_int(resv, resv_reserve_rules) & RULE_LOST;

	spans_block(mod, resv);
	if (lost || !has_all_nodes(r)) {
		if (!lost)
			resv_to(mod, resv, KEEL_RESV_DEGRADED, KEEL_RESV_DEGRADED);
		keel_set_int(resv, resv_reserve_retry, keel_time(mod));
		return;
	}
	if (resv_state(resv) == KEEL_RESV_DEGRADED || resv_substate(resv) == KEEL_RESV_DEGRADED) {
		resv_to(mod, resv, KEEL_RESV_CONFIRMED, KEEL_RESV_CONFIRMED);
		retry_clear(resv);
	}
	resv_judge(mod, resv);
}

static void runs(struct keel_mod *mod, struct keel_obj *resv)
{
	spans_hold(mod, resv);
	spans_block(mod, resv);
	if (keel_get_int(resv, resv_reserve_rules) & RULE_LOST)
		keel_set_int(resv, resv_reserve_retry, keel_time(mod));
	else
		resv_judge(mod, resv);
}

static void ends(struct keel_mod *mod, struct keel_obj *resv, bool running_only)
{
	if (keel_get_int(resv, resv_reserve_rules) & RULE_BEGUN) {
		spans_hold(mod, resv);
		spans_block(mod, resv);
	}
	resv_sweep(mod, resv, running_only);
}

static void unconfirmed(struct keel_mod *mod, struct keel_obj *resv)
{
	char who[300];

	if (!(keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER)) {
		clock_set(mod, resv);
		return;
	}
	snprintf(who, sizeof(who), "root@%s", keel_host_name(mod));
	resv_remove(mod, resv, who);
}

static void again(struct keel_mod *mod, struct keel_obj *resv)
{
	switch (resv_state(resv)) {
	case KEEL_RESV_NONE:
	case KEEL_RESV_DELETED:
		resv_gone(mod, resv);
		return;
	case KEEL_RESV_UNCONFIRMED:
		unconfirmed(mod, resv);
		return;
	case KEEL_RESV_FINISHED:
	case KEEL_RESV_DELETING_JOBS:
		resv_to(mod, resv, KEEL_RESV_DELETING_JOBS, resv_substate(resv));
		ends(mod, resv, true);
		return;
	case KEEL_RESV_BEING_DELETED:
		ends(mod, resv, false);
		return;
	case KEEL_RESV_RUNNING:
		runs(mod, resv);
		break;
	default:
		waits(mod, resv, resv_slot(mod, resv));
	}
	clock_set(mod, resv);
}

static void known(struct keel_mod *mod, struct keel_obj *resv, void *arg)
{
	bool *lacks = arg;
	const char *server = keel_get_str(resv, resv_server);

	if (!server || strcmp(server, keel_server_name(mod)) != 0)
		keel_set_str(resv, resv_server, keel_server_name(mod)); /* it was renamed; the id stays */
	if (spans_read(mod, resv)) {
		*lacks = true;
		return;
	}
	if (resv_state(resv) == KEEL_RESV_BEING_ALTERED)
		alter_revert(mod, resv);
	queue_again(mod, resv);
	specific_again(mod, resv);
	again(mod, resv);
}

int32_t resv_replay(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	bool lacks = false;

	st->began = keel_time(mod);
	each_resv(mod, known, &lacks);
	if (lacks)
		return keel_error(err, -ENOMEM, "no memory for the times of reservations");
	vnodes_clear(mod);
	vnodes_await(mod);
	return 0;
}
