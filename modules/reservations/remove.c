/* SPDX-License-Identifier: Apache-2.0
 *
 * remove.c - pbs_rdel, and how a reservation goes: at once without jobs, else it is BD until its last job is over.
 */
#include "reservations.h"

KEEL_ATTRS_OF(resv, queue, reserve_rules);

#define REQUEST_DELETE 72

static bool ends_already(struct keel_obj *resv)
{
	const int32_t state = resv_state(resv);

	return state == KEEL_RESV_BEING_DELETED || state == KEEL_RESV_DELETED;
}

/* While its last jobs ended it had its vnodes still: who lost some to it may have looked for them in vain. */
static void give_back(struct keel_mod *mod, struct keel_obj *resv)
{
	if (resv_state(resv) == KEEL_RESV_BEING_DELETED && keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER)
		resv_retry(mod, keel_id(resv));
}

void resv_gone(struct keel_mod *mod, struct keel_obj *resv)
{
	search_forget(mod, resv);
	give_back(mod, resv);
	spans_release(mod, resv);
	queue_remove(mod, resv);
	keel_log(mod, KEEL_LOG_DEBUG, "Resv", keel_id(resv), "reservation deleted");
	keel_destroy(resv);
	keel_sched_reconsider();
}

static void queue_shut(struct keel_mod *mod, struct keel_obj *resv, const char *who)
{
	static const struct keel_queue_set shut[] = { { "enabled", NULL, "False" }, { "started", NULL, "False" } };
	const char *name = keel_get_str(resv, resv_queue);
	struct keel_obj *queue = name ? keel_find(mod, "queue", name) : NULL;
	struct keel_err err = { 0 };

	if (queue && keel_queue_change(queue, shut, KEEL_COUNT(shut), who, &err))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "its queue cannot be closed: %s", err.text);
}

void resv_close(struct keel_mod *mod, struct keel_obj *resv, const char *who)
{
	struct resv *r = resv_slot(mod, resv);

	search_forget(mod, resv);
	keel_alarm_end(&r->clock);
	if (queue_is_empty(mod, resv)) {
		resv_gone(mod, resv);
		return;
	}
	queue_shut(mod, resv, who);
	resv_to(mod, resv, KEEL_RESV_BEING_DELETED, KEEL_RESV_DELETING_JOBS);
	r->rounds = 0;
	resv_sweep(mod, resv, false);
}

void resv_remove(struct keel_mod *mod, struct keel_obj *resv, const char *who)
{
	const bool confirmed = resv_state(resv) != KEEL_RESV_UNCONFIRMED;

	if (ends_already(resv)) {
		job_left(mod, resv);
		return;
	}
	record_remove(mod, resv, who);
	letter_send(mod, resv, 'a', NULL);
	if (confirmed)
		keel_note(mod, KEEL_POINT_resv_end, KEEL_EVENT(resv_end, .id = keel_id(resv), .resv = resv, .deleted = 1));
	askers_answer(mod, resv, confirmed ? "BEING DELETED" : "DENIED");
	resv_close(mod, resv, who);
}

void on_resv_delete(struct keel_mod *mod, struct keel_req *req)
{
	const char *id = keel_msg_str(keel_req_body(req), "id");
	struct keel_obj *resv = id ? resv_find(mod, id) : NULL;
	int32_t code;

	if (!resv) {
		keel_log(mod, KEEL_LOG_DEBUG, "Resv", id ? id : "", "%s", keel_pbse_text(PBSE_UNKRESVID));
		keel_reply(req, PBSE_UNKRESVID, NULL);
		return;
	}
	code = resv_permit(mod, resv, req, REQUEST_DELETE);
	if (!code)
		resv_remove(mod, resv, keel_req_session(req)->who);
	keel_reply(req, code, NULL);
}
