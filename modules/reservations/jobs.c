/* SPDX-License-Identifier: Apache-2.0
 *
 * jobs.c - jobs in reservations: which one a job is in follows from its queue.
 */
#include "reservations.h"

#include <string.h>

KEEL_ATTRS_OF(job, reserve_ID, queue, Resource_List);
KEEL_ATTR_OF(resv, Resource_List);

#define PLACE_LEN 128

static int32_t share_of(const char *place)
{
	struct keel_place parsed = { 0 };

	return keel_resource_place_parse(place, &parsed, NULL) ? KEEL_SHARE_UNSET : parsed.share;
}

/* How much of its vnodes the reservation has for itself is all that its jobs can have. */
static bool conflicts(struct keel_call *c, struct keel_obj *job, struct keel_obj *resv)
{
	char wanted[PLACE_LEN] = "", have[PLACE_LEN] = "";
	int32_t share;

	if (keel_call_get(c, job, "Resource_List", "place", wanted, sizeof(wanted)) <= 0)
		return false;
	share = share_of(wanted);
	if (share != KEEL_SHARE_EXCL && share != KEEL_SHARE_EXCLHOST)
		return false;
	keel_get_text(resv, resv_Resource_List, "place", have, sizeof(have));
	return share_of(have) < share;
}

static keel_verdict refuse(struct keel_call *c)
{
	return keel_reject(c, PBSE_JOBINRESV_CONFLICT, "%s Resource_List.place", keel_pbse_text(PBSE_JOBINRESV_CONFLICT));
}

keel_verdict on_job_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	struct keel_obj *resv = ev->queue ? resv_of_queue(c->mod, keel_id(ev->queue)) : NULL;
	struct keel_err err = { 0 };

	if (!resv)
		return KEEL_NEXT;
	if (conflicts(c, ev->job, resv))
		return refuse(c);
	if (keel_call_set(c, ev->job, "reserve_ID", NULL, keel_id(resv), &err))
		return keel_reject(c, err.code, "%s", err.text);
	return KEEL_NEXT;
}

/* qalter: a place that the job does not have yet. */
keel_verdict on_job_modify(struct keel_call *c, const struct keel_ev_job_modify *ev)
{
	const char *queue = ev->job ? keel_get_str(ev->job, job_queue) : NULL;
	struct keel_obj *resv = queue ? resv_of_queue(c->mod, queue) : NULL;
	char wanted[PLACE_LEN] = "", have[PLACE_LEN] = "";

	if (!resv || keel_call_get(c, ev->job, "Resource_List", "place", wanted, sizeof(wanted)) <= 0)
		return KEEL_NEXT;
	keel_get_text(ev->job, job_Resource_List, "place", have, sizeof(have));
	return strcmp(wanted, have) != 0 && conflicts(c, ev->job, resv) ? refuse(c) : KEEL_NEXT;
}

keel_verdict on_job_move(struct keel_call *c, const struct keel_ev_job_move *ev)
{
	struct keel_obj *resv = ev->queue ? resv_of_queue(c->mod, keel_id(ev->queue)) : NULL;

	return resv && conflicts(c, ev->job, resv) ? refuse(c) : KEEL_NEXT;
}

/* However it came into its queue: by qmove, a route, or because its reservation was made for it. */
void job_follows(struct keel_mod *mod, struct keel_obj *job)
{
	const char *queue = keel_get_str(job, job_queue);
	struct keel_obj *resv = queue ? resv_of_queue(mod, queue) : NULL;

	if (resv)
		keel_set_str(job, job_reserve_ID, keel_id(resv));
	else
		keel_unset(job, job_reserve_ID, NULL);
}

const char *holder_of(struct keel_mod *mod, const char *job_id)
{
	struct keel_obj *job = keel_find(mod, "job", job_id), *resv;
	const char *id = job ? keel_get_str(job, job_reserve_ID) : NULL;

	resv = id ? keel_find(mod, "resv", id) : NULL;
	return resv ? keel_id(resv) : NULL;
}
