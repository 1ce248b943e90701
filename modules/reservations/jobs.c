/* SPDX-License-Identifier: Apache-2.0
 *
 * jobs.c - jobs in reservations: which one a job is in follows from its queue.
 */
#include "reservations.h"

#include <string.h>

KEEL_ATTRS_OF(job, reserve_ID, queue, Resource_List);
KEEL_ATTRS_OF(resv, Resource_List, resv_nodes);

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

/* That of the event's queue, or of the one that a tap before this has chosen. */
static struct keel_obj *resv_chosen(struct keel_call *c, struct keel_obj *job, struct keel_obj *queue)
{
	const char *had = job ? keel_get_str(job, job_queue) : NULL;
	char name[64];

	if (job && keel_call_get(c, job, "queue", NULL, name, sizeof(name)) > 0 && (!had || strcmp(name, had) != 0))
		return resv_of_queue(c->mod, name);
	return queue ? resv_of_queue(c->mod, keel_id(queue)) : NULL;
}

keel_verdict on_job_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	struct keel_obj *resv = resv_chosen(c, ev->job, ev->queue);
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
	struct keel_obj *resv = resv_chosen(c, ev->job, ev->queue);

	return resv && conflicts(c, ev->job, resv) ? refuse(c) : KEEL_NEXT;
}

/* ---- starts ------------------------------------------------------------------------------------------------ */

static bool has_vnode(const struct keel_exec *exec, const char *vnode)
{
	uint32_t i = 0;

	while (i < exec->n && strcmp(exec->part[i].vnode, vnode) != 0)
		i++;
	return i < exec->n;
}

/* The first vnode of the job's that the reservation does not have; NULL: there is none. */
static const char *vnode_beside(const struct keel_exec *job, const struct keel_exec *resv)
{
	uint32_t i = 0;

	while (i < job->n && has_vnode(resv, job->part[i].vnode))
		i++;
	return i < job->n ? job->part[i].vnode : NULL;
}

static keel_verdict vnodes_check(struct keel_call *c, struct keel_obj *resv, const char *exec_vnode)
{
	const char *nodes = keel_get_str(resv, resv_resv_nodes), *beside;
	struct keel_exec *has = NULL, *job = NULL;
	keel_verdict v = KEEL_NEXT;

	if (keel_resource_exec_parse(exec_vnode, &job, NULL))
		return KEEL_NEXT; /* the start itself fails */
	if (!nodes || keel_resource_exec_parse(nodes, &has, NULL))
		v = keel_reject(c, PBSE_RESCUNAV, "reservation %.200s has no vnodes now: run the job when it has", keel_id(resv));
	else if ((beside = vnode_beside(job, has)))
		v = keel_reject(c, PBSE_RESCUNAV, "vnode %.200s is not in reservation %.200s: name vnodes of its resv_nodes, "
				"or move the job to another queue", beside, keel_id(resv));
	keel_resource_exec_free(has);
	keel_resource_exec_free(job);
	return v;
}

/* By whatever way a job is started: not before its reservation begins, nor beside what that has. */
keel_verdict on_start_now(struct keel_call *c, const struct keel_ev_start_now *ev)
{
	const char *queue = ev->job ? keel_get_str(ev->job, job_queue) : NULL;
	struct keel_obj *resv = queue ? resv_of_queue(c->mod, queue) : NULL;

	if (!resv)
		return KEEL_NEXT;
	if (!resv_is_running(resv))
		return keel_reject(c, PBSE_BADSTATE, "reservation %.200s does not run now: wait for its begin, or move the job to "
				   "another queue", keel_id(resv));
	return ev->exec_vnode && *ev->exec_vnode ? vnodes_check(c, resv, ev->exec_vnode) : KEEL_NEXT;
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
