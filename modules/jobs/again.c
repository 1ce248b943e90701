/* SPDX-License-Identifier: Apache-2.0
 *
 * again.c - what taps change of a job on its way in: another queue, other resources.
 *
 * A submission, an alteration and a move are complete when their point is raised: defaults of the queue,
 * schedselect, sums. When a tap has changed Resource_List or the queue they are completed again, by the tap of
 * jobs behind those that may change (order 800) and before those that check limits (from 900 on).
 */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, Resource_List, resources_defaulted, edits, owner_groups);
KEEL_ATTR_AS(attr_job_queue, job, queue, 0);

/* One that is on its way: as it was when it was complete. */
struct again {
	UT_hash_handle hh;
	char key[AGAIN_KEY];
	struct keel_changes *set; /* the operation's */
	struct keel_reslist *list;
	char *computed, *queue;
};

static void again_free(struct again *a)
{
	keel_resource_list_free(a->list);
	free(a->computed);
	free(a->queue);
	free(a);
}

/* Remembers what the set has made of the job. False: no memory. */
static bool again_fill(struct again *a, struct keel_obj *job, const char *queue)
{
	const union keel_slot *list = keel_change_slot(a->set, job, job_Resource_List);
	const union keel_slot *computed = keel_change_slot(a->set, job, job_resources_defaulted);

	if (list && list->p && !(a->list = keel_resource_list_copy(list->p)))
		return false;
	a->computed = strdup(computed && computed->p ? computed->p : "");
	a->queue = strdup(queue);
	return a->computed && a->queue;
}

int32_t again_expect(struct keel_mod *mod, const char *key, struct keel_changes *set, struct keel_obj *job,
		     const char *queue,
		     struct keel_err *err)
{
	struct state *st = mod->state;
	struct again *a = calloc(1, sizeof(*a)), *there = NULL;

	if (!a)
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	snprintf(a->key, sizeof(a->key), "%s", key);
	a->set = set;
	if (again_fill(a, job, queue))
		HASH_ADD_STR(st->again, key, a);
	HASH_FIND_STR(st->again, a->key, there);
	if (there == a)
		return 0;
	again_free(a);
	return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
}

const char *again_queue(struct keel_mod *mod, const char *key)
{
	struct state *st = mod->state;
	struct again *a;

	HASH_FIND_STR(st->again, key, a);
	return a ? a->queue : NULL;
}

void again_over(struct keel_mod *mod, const char *key)
{
	struct state *st = mod->state;
	struct again *a;

	HASH_FIND_STR(st->again, key, a);
	if (!a)
		return;
	HASH_DEL(st->again, a);
	again_free(a);
}

/* ---- what a tap has changed --------------------------------------------------------------------------------- */
/* What its key is, edits.c has written. */
static struct again *again_find(struct keel_call *c, struct keel_obj *job, bool draft)
{
	struct state *st = c->mod->state;
	char text[32], key[AGAIN_KEY];
	struct again *a;

	if (draft)
		snprintf(key, sizeof(key), "%s", keel_id(job));
	else if (keel_call_get(c, job, "edits", NULL, text, sizeof(text)) > 0)
		edits_key(strtoll(text, NULL, 10), key);
	else
		return NULL;
	HASH_FIND_STR(st->again, key, a);
	return a;
}

static const char *queue_now(struct keel_call *c, struct keel_obj *job, char *buf, size_t len)
{
	return keel_call_get(c, job, "queue", NULL, buf, (uint32_t)len) > 0 ? buf : "";
}

static bool other_list(struct again *a, struct keel_obj *job)
{
	const union keel_slot *now = keel_change_slot(a->set, job, job_Resource_List);

	return !keel_resource_list_equal(now ? now->p : NULL, a->list);
}

static int32_t complete(struct again *a, struct keel_obj *job, struct keel_obj *queue, struct keel_err *err)
{
	return keel_resource_prepare_again(a->set, job, queue, a->list, a->computed, err);
}

static keel_verdict refuse(struct keel_call *c, int32_t code, const struct keel_err *err)
{
	return keel_reject(c, code, "%s", err->text[0] ? err->text : keel_pbse_text(code));
}

/* The queue a tap has chosen admits the job, or not. */
static int32_t admit_there(struct keel_mod *mod, struct keel_obj *queue, const struct keel_session *who,
			   struct again *a,
			   struct keel_obj *job, struct keel_err *err)
{
	int32_t code = who ? admit(mod, queue, who, false, err) : 0;

	if (!code && !keel_queue_runs(queue) && who && who->groups) /* for the lists of the queues it is routed to */
		code = keel_change_text(a->set, job, job_owner_groups, KEEL_SET, NULL, who->groups, err);
	return code;
}

keel_verdict again_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	struct keel_mod *mod = c->mod;
	struct again *a = ev->job ? again_find(c, ev->job, true) : NULL;
	struct keel_obj *queue = NULL;
	struct keel_err err = { 0 };
	char name[64];
	bool elsewhere;
	int32_t code;

	if (!a)
		return KEEL_NEXT;
	elsewhere = strcmp(queue_now(c, ev->job, name, sizeof(name)), a->queue) != 0;
	if (!elsewhere && !other_list(a, ev->job))
		return KEEL_NEXT;
	code = destination_find(mod, elsewhere ? name : a->queue, &queue);
	if (!code && elsewhere)
		code = admit_there(mod, queue, keel_call_session(c), a, ev->job, &err);
	if (!code && elsewhere)
		code = keel_change_text(a->set, ev->job, attr_job_queue, KEEL_SET, NULL, keel_id(queue), &err);
	if (!code)
		code = complete(a, ev->job, queue, &err);
	return code ? refuse(c, code, &err) : KEEL_NEXT;
}

/* A running job gets other limits alone. */
static int32_t check_limits(struct again *a, struct keel_obj *job, struct keel_err *err)
{
	const union keel_slot *slot = keel_change_slot(a->set, job, job_Resource_List);
	const struct keel_reslist *now = slot ? slot->p : NULL, *had = keel_get_ptr(job, job_Resource_List);
	uint32_t i = 0;

	for (; i < keel_resource_list_count(now); i++) {
		const struct keel_res_value *v = keel_resource_list_at(now, i), *old = keel_resource_list_get(had, v->res->name);
		const bool same = old && old->n == v->n && strcmp(old->text ? old->text : "",
								  v->text ? v->text : "") == 0;

		if (!same && !(v->res->flags & KEEL_RES_RUNNING))
			return keel_error(err, PBSE_MODATRRUN, "%s Resource_List.%s",
					  keel_pbse_text(PBSE_MODATRRUN), v->res->name);
	}
	return 0;
}

keel_verdict again_modify(struct keel_call *c, const struct keel_ev_job_modify *ev)
{
	struct again *a = ev->job ? again_find(c, ev->job, false) : NULL;
	struct keel_err err = { 0 };
	char name[64];
	int32_t code;

	if (!a)
		return KEEL_NEXT;
	if (edits_judge(c, ev->job) != KEEL_NEXT) /* what differs may be of another change */
		return KEEL_REJECT;
	if (strcmp(queue_now(c, ev->job, name, sizeof(name)), a->queue) != 0)
		return keel_reject(c, PBSE_IVALREQ, "an alteration cannot change the queue: move the job");
	if (!other_list(a, ev->job))
		return KEEL_NEXT;
	if (step_is_pending(job_slot(c->mod, ev->job)->step))
		code = complete(a, ev->job, job_queue(c->mod, ev->job), &err);
	else
		code = check_limits(a, ev->job, &err);
	return code ? refuse(c, code, &err) : KEEL_NEXT;
}

/* The set's `queue` is where the job goes. */
keel_verdict again_move(struct keel_call *c, const struct keel_ev_job_move *ev)
{
	struct keel_mod *mod = c->mod;
	struct again *a = ev->job ? again_find(c, ev->job, false) : NULL;
	struct keel_obj *queue = NULL;
	struct keel_session owner;
	struct keel_err err = { 0 };
	char name[64], *copy;
	int32_t code;

	if (!a || strcmp(queue_now(c, ev->job, name, sizeof(name)), a->queue) == 0)
		return KEEL_NEXT;
	if (edits_judge(c, ev->job) != KEEL_NEXT)
		return KEEL_REJECT;
	code = destination_find(mod, name, &queue);
	admit_owner(c->mod, ev->job, keel_call_session(c), &owner);
	if (!code)
		code = admit(mod, queue, &owner, false, &err);
	if (!code)
		code = complete(a, ev->job, queue, &err);
	copy = code ? NULL : strdup(keel_id(queue));
	if (!code && !copy)
		code = PBSE_SYSTEM;
	if (code)
		return refuse(c, code, &err);
	free(a->queue);
	a->queue = copy;
	return KEEL_NEXT;
}
