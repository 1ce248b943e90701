/* SPDX-License-Identifier: Apache-2.0
 *
 * retry.c - reservations whose vnodes are unavailable, or were taken: how it is seen, and when others are looked for.
 *
 *	what				state		substate	ends with
 *	a vnode of its soonest time
 *	is unavailable			2 -> 10, 5	10		all are back, or others were found
 *	one of a later time		as it is	10		likewise
 *	vnodes were taken (lose())	2 -> 10, as is	of the row	others were found
 *
 * What was taken stays taken until vnodes were found, whatever is up: RULE_LOST and reserve_lost_to are stored, so that neither a
 * restart nor the module that took them going away changes that.
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

KEEL_ATTRS_OF(resv, reserve_retry, reserve_rules, reserve_start, reserve_lost_to, reserve_why, reserve_alter_revert);
KEEL_ATTR_OPT(server, reserve_retry_time);

#define RETRY_TIME 600 /* seconds, where the server has no other */

/* ---- when ------------------------------------------------------------------------------------------- */

const char *moment_text(int64_t when, char *buf, size_t len)
{
	const time_t at = (time_t)when;
	struct tm tm;

	if (!localtime_r(&at, &tm) || !strftime(buf, len, "%a %b %d %H:%M:%S %Y", &tm))
		snprintf(buf, len, "%lld", (long long)when);
	return buf;
}

void retry_set(struct keel_mod *mod, struct keel_obj *resv, int64_t when)
{
	const bool again = keel_get_int(resv, resv_reserve_retry) > 0;
	char date[64];

	keel_set_int(resv, resv_reserve_retry, when);
	keel_log(mod, KEEL_LOG_DEBUG2, "Resv", keel_id(resv), "%s reconfirm reservation will be made on %s",
		 again ? "Next attempt to" : "An attempt to", moment_text(when, date, sizeof(date)));
}

int64_t retry_time(struct keel_mod *mod, struct keel_obj *resv)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const int64_t now = keel_time(mod), start = keel_get_int(resv, resv_reserve_start);
	int64_t wait = server && server_reserve_retry_time ? keel_get_int(server, server_reserve_retry_time) : 0, when;

	if (wait <= 0)
		wait = RETRY_TIME;
	when = wait < INT64_MAX - now ? now + wait : INT64_MAX;
	return start > now && start < when ? start : when;
}

bool retry_is_due(struct keel_mod *mod, struct keel_obj *resv)
{
	return keel_get_int(resv, resv_reserve_retry) <= keel_time(mod);
}

void why_set(struct keel_obj *resv, const char *why)
{
	if (why && *why)
		keel_set_str(resv, resv_reserve_why, why);
}

void reconfirm_failed(struct keel_mod *mod, struct keel_obj *resv, const char *why)
{
	why_set(resv, why);
	retry_set(mod, resv, retry_time(mod, resv));
	clock_set(mod, resv);
}

void retry_clear(struct keel_obj *resv)
{
	keel_unset(resv, resv_reserve_retry, NULL);
	keel_unset(resv, resv_reserve_why, NULL);
}

/* ---- degraded ----------------------------------------------------------------------------------------- */

static bool span_is_unfit(struct keel_mod *mod, struct keel_obj *resv, uint32_t i)
{
	return !resv_slot(mod, resv)->span[i].nodes || span_is_broken(mod, resv, i);
}

/* Times behind each other with the same vnodes share a text: it is looked at once. */
static bool later_is_unfit(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct resv *r = resv_slot(mod, resv);

	for (uint32_t i = 1; i < r->n_spans; i++)
		if ((!r->span[i].nodes || r->span[i].nodes != r->span[i - 1].nodes) && span_is_unfit(mod, resv, i))
			return true;
	return false;
}

/* Only these follow their vnodes. One that is altered is judged when that is decided. */
static bool is_judged(struct keel_obj *resv)
{
	const int32_t state = resv_state(resv);

	if (keel_get_int(resv, resv_reserve_rules) & (RULE_WHATEVER | RULE_LOST))
		return false;
	return state == KEEL_RESV_CONFIRMED || state == KEEL_RESV_RUNNING || state == KEEL_RESV_DEGRADED;
}

static void degraded(struct keel_mod *mod, struct keel_obj *resv, bool soonest)
{
	const int32_t state = resv_state(resv), waiting = soonest ? KEEL_RESV_DEGRADED : KEEL_RESV_CONFIRMED;
	const int32_t next = state == KEEL_RESV_RUNNING ? state : waiting;

	if (next != state || resv_substate(resv) != KEEL_RESV_DEGRADED)
		resv_to(mod, resv, next, KEEL_RESV_DEGRADED);
	if (keel_get_int(resv, resv_reserve_retry) <= 0)
		retry_set(mod, resv, retry_time(mod, resv));
}

static void whole(struct keel_mod *mod, struct keel_obj *resv)
{
	const int32_t state = resv_state(resv) == KEEL_RESV_RUNNING ? KEEL_RESV_RUNNING : KEEL_RESV_CONFIRMED;

	if (resv_state(resv) != state || resv_substate(resv) != state)
		resv_to(mod, resv, state, state);
	else if (keel_get_int(resv, resv_reserve_retry) <= 0)
		return;
	retry_clear(resv); /* also that of a time that is over */
}

void resv_judge(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct resv *r = resv_slot(mod, resv);

	if (!r || !r->n_spans || !is_judged(resv))
		return;
	if (span_is_unfit(mod, resv, 0))
		degraded(mod, resv, true);
	else if (later_is_unfit(mod, resv))
		degraded(mod, resv, false);
	else
		whole(mod, resv);
	clock_set(mod, resv);
}

/* ---- taken ------------------------------------------------------------------------------------------------ */

static bool may_lose(struct keel_obj *resv)
{
	const int32_t state = resv_state(resv);

	if (keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER)
		return false;
	return resv_is_confirmed(resv) || state == KEEL_RESV_DELETING_JOBS;
}

/* Does the i-th of its times intersect those of the loss? While it is altered its vnodes are for the time that it had. */
static bool is_hit(struct keel_mod *mod, struct keel_obj *resv, uint32_t i, const struct keel_resv_loss *loss)
{
	const struct span *s = &resv_slot(mod, resv)->span[i];
	int64_t from = s->from, till = s->till;

	if (i == 0 && resv_state(resv) == KEEL_RESV_BEING_ALTERED)
		alter_before(resv, &from, &till);
	return s->nodes && from < loss->till && loss->from < till;
}

/* What its times have left. Times behind each other with the same vnodes share a text, and what is left of it. */
struct left {
	const char **nodes; /* of each time; borrowed */
	char **own;	    /* what `nodes` has anew */
	const char *of;	    /* the text that was looked at last, */
	const char *is;	    /* what is left of it, */
	bool less, any;	    /* and whether that is less; is any of them? */
};

static bool left_init(struct left *l, uint32_t n)
{
	*l = (struct left){ .nodes = calloc(n, sizeof(*l->nodes)), .own = calloc(n, sizeof(*l->own)) };
	return l->nodes && l->own;
}

static void left_fini(struct left *l, uint32_t n)
{
	for (uint32_t i = 0; l->own && i < n; i++)
		free(l->own[i]);
	free(l->own);
	free(l->nodes);
}

static void left_take(struct keel_mod *mod, struct left *l, const struct span *s, uint32_t i, const struct keel_resv_loss *loss)
{
	if (s->nodes != l->of) {
		l->of = s->nodes;
		l->less = nodes_without(mod, s->nodes, loss->vnodes, loss->n_vnodes, &l->own[i]);
		l->is = l->less ? l->own[i] : s->nodes;
	}
	l->nodes[i] = l->is;
	l->any |= l->less;
}

static bool spans_lose(struct keel_mod *mod, struct keel_obj *resv, const struct keel_resv_loss *loss)
{
	const struct resv *r = resv_slot(mod, resv);
	const uint32_t n = r->n_spans;
	struct left l;
	const bool memory = left_init(&l, n);
	bool lost;

	for (uint32_t i = 0; memory && i < n; i++) {
		l.nodes[i] = r->span[i].nodes;
		if (is_hit(mod, resv, i, loss))
			left_take(mod, &l, &r->span[i], i, loss);
	}
	lost = l.any;
	if (!memory || (lost && spans_place(mod, resv, l.nodes, n)))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv),
			 "no memory to take its vnodes for %s: both have them until the server restarts", loss->by);
	left_fini(&l, n);
	return lost;
}

/* Is `id` a word of the comma list? */
static bool list_has(const char *list, const char *id)
{
	const size_t len = strlen(id);

	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == len && strncmp(at, id, len) == 0)
			return true;
	return false;
}

static void remember(struct keel_obj *resv, const char *by)
{
	const bool more = keel_get_int(resv, resv_reserve_rules) & RULE_LOST;
	const char *list = more ? keel_get_str(resv, resv_reserve_lost_to) : NULL;
	struct keel_text text;

	if (list_has(list, by))
		return;
	keel_text_init(&text);
	keel_text_printf(&text, "%s%s%s", list ? list : "", list ? "," : "", by);
	if (!text.failed)
		keel_set_str(resv, resv_reserve_lost_to, text.data);
	keel_text_fini(&text);
}

static void lost(struct keel_mod *mod, struct keel_obj *resv, const struct keel_resv_loss *loss)
{
	const int32_t state = resv_state(resv);

	remember(resv, loss->by);
	keel_set_int(resv, resv_reserve_rules, keel_get_int(resv, resv_reserve_rules) | RULE_LOST);
	resv_to(mod, resv, state == KEEL_RESV_CONFIRMED ? KEEL_RESV_DEGRADED : state, loss->substate);
	retry_set(mod, resv, keel_time(mod));
	if (!resv_slot(mod, resv)->span[0].nodes && state != KEEL_RESV_DELETING_JOBS)
		queue_start(mod, resv, false);
	if (state != KEEL_RESV_BEING_ALTERED) /* else the scheduler knows the time that it had */
		spans_block(mod, resv);
	keel_note(mod, KEEL_POINT_resv_conflict,
		  KEEL_EVENT(resv_conflict, .id = keel_id(resv), .resv = resv, .with = loss->by));
	clock_set(mod, resv);
}

bool resv_lose(struct keel_mod *mod, struct keel_obj *resv, const struct keel_resv_loss *loss)
{
	const struct resv *r = resv_slot(mod, resv);

	if (!r || !r->n_spans || !loss->n_vnodes || !may_lose(resv) || !spans_lose(mod, resv, loss))
		return false;
	lost(mod, resv, loss);
	return true;
}

/* The times that they need, when both are known. Of one that has no vnodes left another one takes none, but keeps them from it. */
static bool meets(struct keel_mod *mod, struct keel_obj *resv, struct keel_obj *other)
{
	const struct resv *a = resv_slot(mod, resv), *b = other ? resv_slot(mod, other) : NULL;

	for (uint32_t i = 0; a && b && i < a->n_spans; i++)
		for (uint32_t j = 0; j < b->n_spans; j++)
			if (a->span[i].from < b->span[j].till && b->span[j].from < a->span[i].till)
				return true;
	return false;
}

static void retry_one(struct keel_mod *mod, struct keel_obj *resv, void *arg)
{
	if (!(keel_get_int(resv, resv_reserve_rules) & RULE_LOST) ||
	    (!list_has(keel_get_str(resv, resv_reserve_lost_to), arg) && !meets(mod, resv, keel_find(mod, "resv", arg))))
		return;
	keel_set_int(resv, resv_reserve_retry, keel_time(mod));
	clock_set(mod, resv);
	keel_sched_reconsider();
}

void resv_retry(struct keel_mod *mod, const char *id)
{
	each_resv(mod, retry_one, (void *)(uintptr_t)id);
}
