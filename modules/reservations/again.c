/* SPDX-License-Identifier: Apache-2.0
 *
 * again.c - what taps change of a new reservation: its times, what it requests.
 *
 * A submission is complete when its point is raised: times, sums, schedselect. When a tap has changed start, end,
 * duration or Resource_List they are completed again, by the tap behind those that may change (order 800).
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(resv, reserve_start, reserve_end, reserve_duration, reserve_rrule, Resource_List, resources_defaulted);

/* As it was when it was complete. */
struct again {
	struct keel_changes *set; /* the operation's */
	bool fixed;		  /* a kind that has said where it is, and when: nothing of it may change */
	struct times times;
	struct keel_reslist *list;
	char *computed;
};

static const union keel_slot *slot_in(const struct again *a, struct keel_obj *resv, const struct keel_attr *attr)
{
	return keel_change_slot(a->set, resv, attr);
}

static int64_t number_in(const struct again *a, struct keel_obj *resv, const struct keel_attr *attr)
{
	const union keel_slot *slot = slot_in(a, resv, attr);

	return slot ? slot->i : 0;
}

static struct times times_in(const struct again *a, struct keel_obj *resv)
{
	return (struct times){ .start = number_in(a, resv, resv_reserve_start), .end = number_in(a, resv,
												 resv_reserve_end),
			       .duration = number_in(a, resv, resv_reserve_duration) };
}

void again_over(struct resv *r)
{
	struct again *a = r ? r->again : NULL;

	if (!a)
		return;
	keel_resource_list_free(a->list);
	free(a->computed);
	free(a);
	r->again = NULL;
}

int32_t again_expect(struct keel_mod *mod, struct keel_changes *set, struct keel_obj *resv, bool fixed,
		     struct keel_err *err)
{
	struct resv *r = resv_slot(mod, resv);
	struct again *a = r ? calloc(1, sizeof(*a)) : NULL;
	const union keel_slot *list, *computed;

	if (!a)
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	a->set = set;
	a->fixed = fixed;
	r->again = a;
	a->times = times_in(a, resv);
	list = slot_in(a, resv, resv_Resource_List);
	computed = slot_in(a, resv, resv_resources_defaulted);
	a->list = list && list->p ? keel_resource_list_copy(list->p) : NULL;
	a->computed = strdup(computed && computed->p ? computed->p : "");
	if (a->computed && (a->list || !list || !list->p))
		return 0;
	again_over(r);
	return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
}

/* A walltime that a tap has changed is the duration it wants. */
static void walltime_take(const struct again *a, struct keel_obj *resv, struct times *now)
{
	const union keel_slot *slot = slot_in(a, resv, resv_Resource_List);
	const double was = keel_resource_list_number(a->list, "walltime", 0);
	const double is = slot ? keel_resource_list_number(slot->p, "walltime", 0) : 0;

	if (is != was && now->duration == a->times.duration && is >= 1 && is <= (double)TIME_LIMIT)
		now->duration = (int64_t)is;
}

/* What follows from the others is computed anew: the end from a new duration, else the duration. */
static int32_t times_again(struct keel_mod *mod, struct again *a, struct keel_obj *resv, struct keel_err *err)
{
	struct times now = times_in(a, resv);
	int32_t code;

	walltime_take(a, resv, &now);
	if (memcmp(&now, &a->times, sizeof(now)) == 0)
		return 0;
	if (slot_in(a, resv, resv_reserve_rrule))
		return fails(err, PBSE_BADTSPEC);
	if (now.duration != a->times.duration && now.end == a->times.end)
		now.end = 0;
	else if (now.duration == a->times.duration)
		now.duration = 0;
	code = times_complete(&now, keel_time(mod));
	return code ? fails(err, code) : wish_put_times(a->set, resv, &now, err);
}

keel_verdict again_submit(struct keel_call *c, const struct keel_ev_resv_submit *ev)
{
	struct resv *r = ev->resv ? resv_slot(c->mod, ev->resv) : NULL;
	struct again *a = r ? r->again : NULL;
	const union keel_slot *list = a ? slot_in(a, ev->resv, resv_Resource_List) : NULL;
	struct keel_err err = { 0 };
	struct times now;
	int32_t code;

	if (!a)
		return KEEL_NEXT;
	now = times_in(a, ev->resv);
	if (memcmp(&now, &a->times, sizeof(now)) == 0 && keel_resource_list_equal(list ? list->p : NULL, a->list))
		return KEEL_NEXT;
	code = a->fixed ? fails(&err, PBSE_NOSUP) : times_again(c->mod, a, ev->resv, &err);
	if (!code)
		code = keel_resource_prepare_again(a->set, ev->resv, NULL, a->list, a->computed, &err);
	return code ? keel_reject(c, code, "%s", err.text) : KEEL_NEXT;
}
