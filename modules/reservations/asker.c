/* SPDX-License-Identifier: Apache-2.0
 *
 * asker.c - requests that wait for a decision about a reservation: `-I` of pbs_rsub and pbs_ralter.
 *
 * A client that waits has the id in a part first. When the server restarts, the library sends resv_wait with that id; a client
 * that goes leaves the reservation as it is.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>

KEEL_ATTRS_OF(resv, interactive, Reserve_Owner, reserve_rules);

#define WAIT_MAX INT64_C(31536000) /* seconds: a year */

/* `<id> <word>` */
static void reply(struct keel_mod *mod, struct keel_req *req, const char *id, const char *word)
{
	struct keel_out *out = keel_out(mod);
	char text[400];

	snprintf(text, sizeof(text), "%s %s", id, word);
	keel_put_str(out, "reply", text);
	keel_reply_out(req, out);
}

static void asker_free(struct resv *r, struct asker *a)
{
	struct asker **at = &r->askers;

	while (*at && *at != a)
		at = &(*at)->next;
	if (*at)
		*at = a->next;
	keel_alarm_end(&a->alarm);
	free(a);
}

static void asker_answer(struct keel_mod *mod, struct asker *a, const char *word)
{
	struct keel_req *req = a->req;
	struct resv *r = a->resv;

	reply(mod, req, keel_id(r->obj), word);
	asker_free(r, a);
	if (!r->askers)
		keel_unset(r->obj, resv_interactive, NULL);
}

static void asker_gone(struct keel_mod *mod, void *arg)
{
	struct asker *a = arg;
	struct keel_req *req = a->req;

	asker_free(a->resv, a);
	keel_reply(req, PBSE_SYSTEM, NULL);
	(void)mod;
}

static void wait_over(struct keel_mod *mod, void *arg)
{
	struct asker *a = arg;
	struct keel_obj *resv = a->resv->obj;
	bool removes = a->removes;

	asker_answer(mod, a, removes ? "delete, wait period expired" : "UNCONFIRMED");
	if (removes)
		resv_remove(mod, resv, keel_get_str(resv, resv_Reserve_Owner));
}

/* Fails with -ENOMEM: the request does not wait. */
static int32_t asker_new(struct keel_mod *mod, struct resv *r, struct keel_req *req, int64_t seconds)
{
	struct asker *a = calloc(1, sizeof(*a));
	int64_t length = seconds > WAIT_MAX || seconds < -WAIT_MAX ? WAIT_MAX : seconds < 0 ? -seconds : seconds;

	if (!a || keel_alarm_set(mod, &a->alarm, length * 1000, wait_over, a)) {
		free(a);
		return -ENOMEM;
	}
	a->req = req;
	a->resv = r;
	a->removes = seconds < 0;
	a->next = r->askers;
	r->askers = a;
	keel_on_gone(req, asker_gone, a);
	return 0;
}

void asker_wait(struct keel_mod *mod, struct keel_obj *resv, struct keel_req *req, int64_t seconds, bool alters,
		const char *word_now)
{
	struct resv *r = resv_slot(mod, resv);
	struct keel_out *out;

	if (!seconds || !r || asker_new(mod, r, req, alters && seconds < 0 ? -seconds : seconds)) {
		keel_unset(resv, resv_interactive, NULL);
		reply(mod, req, keel_id(resv), word_now);
		return;
	}
	out = keel_out(mod);
	keel_put_str(out, "id", keel_id(resv));
	keel_part(req, out);
}

void askers_answer(struct keel_mod *mod, struct keel_obj *resv, const char *word)
{
	struct resv *r = resv_slot(mod, resv);

	while (r && r->askers)
		asker_answer(mod, r->askers, word);
}

void askers_drop(struct keel_mod *mod, struct resv *r)
{
	while (r->askers) {
		struct keel_req *req = r->askers->req;

		asker_free(r, r->askers);
		keel_reply(req, PBSE_UNKRESVID, NULL);
	}
	(void)mod;
}

/* Still to be decided: unconfirmed, or altered. */
static bool is_open(struct keel_obj *resv)
{
	int32_t state = resv_state(resv);

	return state == KEEL_RESV_UNCONFIRMED || state == KEEL_RESV_BEING_ALTERED;
}

void on_resv_wait(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *body = keel_req_body(req);
	const char *id = keel_msg_str(body, "id");
	struct keel_obj *resv = id ? resv_find(mod, id) : NULL;
	const bool alters = keel_msg_int(body, "alters", 0);
	int32_t code = resv ? resv_permit(mod, resv, req, 70) : PBSE_UNKRESVID;

	if (code)
		keel_reply(req, code, NULL);
	else if (is_open(resv) || specific_moves(resv))
		asker_wait(mod, resv, req, keel_msg_int(body, "seconds", 0), alters, "UNCONFIRMED");
	else if (alters)
		reply(mod, req, keel_id(resv), keel_get_int(resv, resv_reserve_rules) & RULE_ALTERED ? "CONFIRMED" : "DENIED");
	else
		reply(mod, req, keel_id(resv), resv_is_confirmed(resv) ? "CONFIRMED" : "BEING DELETED");
}
