/* SPDX-License-Identifier: Apache-2.0
 *
 * alter.c - request resv_alter: what pbs_ralter asks for is read, checked against what the reservation is, and shown to the
 * point resv_modify. What becomes of it is in altered.c.
 *
 *	given		begin		end
 *	-R		R		stays
 *	-E		stays		E
 *	-D		stays		begin + D
 *	-R -E		R		E
 *	-R -D		R		R + D
 *	-E -D		E - D		E
 *	all three	15086
 *
 * Names, mail and lists of people are changed at once. Times and select need a decision: the values that they had are in
 * reserve_alter_revert, in the same change set.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

KEEL_ATTRS_OF(resv, reserve_start, reserve_end, reserve_duration, Resource_List, schedselect, reserve_alter_revert,
	      reserve_standing_revert, reserve_rules, interactive, mtime, Authorized_Users, Authorized_Groups,
	      Reserve_Owner);
KEEL_ATTR_OPT(server, scheduling);

#define REQUEST_ALTER 91
#define WAIT_MAX (1000 * 1000 * 1000) /* seconds */

enum wanted { START = 1, END = 2, DURATION = 4, TIMES = START | END | DURATION, SELECT = 8, LISTS = 16 };

/* One that is between its request and the answer of the point. */
struct alteration {
	struct keel_req *req;
	uint32_t wanted;
	bool force;
	int64_t seconds; /* -I */
	int32_t state;	 /* of the reservation, when it was checked */
	struct times old, new;
	char id[];
};

/* ---- what is asked for -------------------------------------------------------------------------------- */

static const struct word {
	const char *name;
	uint32_t wanted;
} words[] = {
	{ "reserve_start", START },	 { "reserve_end", END },	  { "reserve_duration", DURATION },
	{ "Resource_List", SELECT },	 { "Authorized_Users", LISTS }, { "Authorized_Groups", LISTS },
};

static uint32_t wanted_by(const struct keel_attrop *op)
{
	for (uint32_t i = 0; i < KEEL_COUNT(words); i++)
		if (strcasecmp(words[i].name, op->name) == 0)
			return words[i].wanted;
	return 0;
}

/* -I: how long the requester waits. It is no value of the reservation. */
static int32_t read_seconds(struct alteration *a, const struct keel_attrop *op, struct keel_err *err)
{
	char *end = NULL;
	const long long n = op->value ? strtoll(op->value, &end, 10) : 0;

	if (n <= 0 || n > WAIT_MAX || *end)
		return keel_error(err, PBSE_BADATVAL, "%s interactive", keel_pbse_text(PBSE_BADATVAL));
	a->seconds = n;
	return 0;
}

static int32_t read_one(struct keel_changes *ch, struct keel_obj *resv, struct alteration *a, const struct keel_attrop *op,
			struct keel_err *err)
{
	const uint32_t wanted = wanted_by(op);

	if (strcasecmp(op->name, "interactive") == 0)
		return read_seconds(a, op, err);
	if (wanted == SELECT && (!op->key || strcasecmp(op->key, "select") != 0 || op->op != KEEL_SET))
		return fails(err, PBSE_NOSUP);
	if (!(wanted & LISTS) && op->op != KEEL_SET && op->op != KEEL_UNSET)
		return fails(err, PBSE_NOSUP);
	if (wanted & (TIMES | SELECT) && (!op->value || !*op->value))
		return fails(err, wanted & TIMES ? PBSE_BADTSPEC : PBSE_NOSUP);
	a->wanted |= wanted;
	return keel_change(ch, keel_req_session(a->req), resv, op, err);
}

static int32_t read_all(struct keel_changes *ch, struct keel_obj *resv, struct alteration *a, struct keel_err *err)
{
	const struct keel_attrop *op = NULL;
	uint32_t n = 0;
	int32_t code = keel_msg_attrs(keel_req_body(a->req), "attrs", &op, &n);

	if (code && code != -ENODATA)
		return keel_error(err, PBSE_PROTOCOL, "Batch protocol error");
	code = 0;
	for (uint32_t i = 0; i < n && !code; i++)
		code = read_one(ch, resv, a, &op[i], err);
	return code;
}

/* As many people as one that is submitted may have. A list of nobody is no list, which would let everybody in: its owner is left. */
static int32_t check_lists(struct keel_changes *ch, struct keel_obj *resv, struct keel_err *err)
{
	if (keel_change_peek(ch, resv, resv_Authorized_Users, NULL, NULL, 0) > LIST_LEN_MAX ||
	    keel_change_peek(ch, resv, resv_Authorized_Groups, NULL, NULL, 0) > LIST_LEN_MAX)
		return keel_error(err, PBSE_BADATVAL, "%s list: too long", keel_pbse_text(PBSE_BADATVAL));
	if (keel_change_peek(ch, resv, resv_Authorized_Users, NULL, NULL, 0) > 0)
		return 0;
	return keel_change_text(ch, resv, resv_Authorized_Users, KEEL_SET, NULL, keel_get_str(resv, resv_Reserve_Owner), err);
}

static int64_t asked_int(struct keel_changes *ch, struct keel_obj *resv, const struct keel_attr *attr)
{
	const union keel_slot *slot = keel_change_slot(ch, resv, attr);

	return slot ? slot->i : 0;
}

/* ---- times ---------------------------------------------------------------------------------------------- */

/* What is given, and what follows from it. All of it is far from the ends of int64. */
static int32_t times_of(struct keel_changes *ch, struct keel_obj *resv, struct alteration *a)
{
	struct times *t = &a->new;

	*t = a->old;
	if (a->wanted & START)
		t->start = asked_int(ch, resv, resv_reserve_start);
	if (a->wanted & END)
		t->end = asked_int(ch, resv, resv_reserve_end);
	if (a->wanted & DURATION)
		t->duration = asked_int(ch, resv, resv_reserve_duration);
	if ((a->wanted & TIMES) == TIMES || t->start < 0 || t->start > TIME_LIMIT || t->end < 0 || t->end > TIME_LIMIT ||
	    t->duration <= 0 || t->duration > TIME_LIMIT)
		return PBSE_BADTSPEC;
	if (!(a->wanted & DURATION))
		t->duration = t->end - t->start;
	else if (a->wanted & END)
		t->start = t->end - t->duration;
	else
		t->end = t->start + t->duration;
	return 0;
}

/* A standing one must be over before its next time. */
static int32_t check_next(struct keel_mod *mod, struct keel_obj *resv, const struct times *t)
{
	const struct resv *r = resv_slot(mod, resv);

	if (!r || r->n_spans < 2 || (t->start < r->span[1].from && t->end <= r->span[1].from))
		return 0;
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "%s", keel_pbse_text(PBSE_STDG_RESV_OCCR_CONFLICT));
	return PBSE_STDG_RESV_OCCR_CONFLICT;
}

static int32_t check_times(struct keel_mod *mod, struct keel_obj *resv, const struct alteration *a, const struct times *t)
{
	const bool moved = t->start != a->old.start, running = resv_is_running(resv);
	const int64_t now = keel_time(mod);
	int32_t code;

	if (running && (moved || (a->wanted & TIMES) == (END | DURATION)) && !queue_is_empty(mod, resv))
		return PBSE_RESV_NOT_EMPTY;
	code = check_next(mod, resv, t);
	if (code)
		return code;
	if (t->end <= t->start || t->end > TIME_LIMIT || (moved && t->start < now) || (!running && t->end <= now))
		return PBSE_BADTSPEC;
	return 0;
}

/* A text of the system's into the set. */
static int32_t put(struct keel_changes *ch, struct keel_obj *resv, const struct keel_attr *attr, const char *key,
		   int64_t value, struct keel_err *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	return keel_change_text(ch, resv, attr, KEEL_SET, key, text, err);
}

static int32_t put_times(struct keel_changes *ch, struct keel_obj *resv, const struct times *t, struct keel_err *err)
{
	int32_t code = put(ch, resv, resv_reserve_start, NULL, t->start, err);

	if (!code)
		code = put(ch, resv, resv_reserve_end, NULL, t->end, err);
	if (!code)
		code = put(ch, resv, resv_reserve_duration, NULL, t->duration, err);
	return code ? code : put(ch, resv, resv_Resource_List, "walltime", t->duration, err);
}

static int32_t alter_times(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *resv, struct alteration *a,
			   struct keel_err *err)
{
	int32_t code = times_of(ch, resv, a);

	if (!code)
		code = check_times(mod, resv, a, &a->new);
	return code ? fails(err, code) : put_times(ch, resv, &a->new, err);
}

/* ---- select ------------------------------------------------------------------------------------------------ */

/* With the defaults that a chunk gets both are alike: `2` and `2:ncpus=1`. */
static int32_t alter_select(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *resv, struct keel_err *err)
{
	const union keel_slot *slot;
	int32_t code;

	if (keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER)
		return fails(err, PBSE_NOSUP);
	if (keel_get_int(resv, resv_reserve_rules) & RULE_LOST)
		return fails(err, PBSE_BADSTATE);
	code = keel_resource_prepare(ch, resv, NULL, err);
	slot = code ? NULL : keel_change_slot(ch, resv, resv_schedselect);
	(void)mod;
	return code ? code : subset_check(slot ? slot->p : NULL, keel_get_str(resv, resv_schedselect), err);
}

/* ---- what it was --------------------------------------------------------------------------------------------- */

static char *select_of(struct keel_obj *resv)
{
	const int32_t len = keel_get_text(resv, resv_Resource_List, "select", NULL, 0);
	char *text = len > 0 ? malloc((size_t)len + 1) : NULL;

	if (text)
		keel_get_text(resv, resv_Resource_List, "select", text, (uint32_t)len + 1);
	return text;
}

/* What its later times have comes back behind this one; start_time is for those who look. The first alteration says it. */
static int32_t keep_standing(struct keel_changes *ch, struct keel_obj *resv, const struct alteration *a, const char *select,
			     struct keel_err *err)
{
	const struct keel_attr *attr = resv_reserve_standing_revert;
	const bool has_start = keel_get_text(resv, attr, "start_time", NULL, 0) > 0;
	int32_t code = 0;

	if (a->new.start != a->old.start && !has_start)
		code = put(ch, resv, attr, "start_time", a->old.start, err);
	if (!code && a->wanted & SELECT && select && keel_get_text(resv, attr, "select", NULL, 0) <= 0)
		code = keel_change_text(ch, resv, attr, KEEL_SET, "select", select, err);
	return code;
}

static int32_t keep_old(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *resv, const struct alteration *a,
			struct keel_err *err)
{
	const struct keel_attr *attr = resv_reserve_alter_revert;
	const struct resv *r = resv_slot(mod, resv);
	char *select = select_of(resv);
	int32_t code = put(ch, resv, attr, "start_time", a->old.start, err);

	if (!code)
		code = put(ch, resv, attr, "walltime", a->old.duration, err);
	if (!code && select)
		code = keel_change_text(ch, resv, attr, KEEL_SET, "select", select, err);
	if (!code && r && r->n_spans > 1)
		code = keep_standing(ch, resv, a, select, err);
	free(select);
	return code;
}

/* ---- checked ------------------------------------------------------------------------------------------------------ */

static bool may_be_altered(struct keel_obj *resv)
{
	switch (resv_state(resv)) {
	case KEEL_RESV_UNCONFIRMED:
		return !(keel_get_int(resv, resv_reserve_rules) & RULE_SOON); /* it has no times yet */
	case KEEL_RESV_CONFIRMED:
	case KEEL_RESV_RUNNING:
	case KEEL_RESV_DEGRADED:
		return true;
	default:
		return false;
	}
}

static int32_t check_kind(struct keel_mod *mod, struct keel_obj *resv, struct keel_err *err)
{
	const char letter = kind_letter(resv);

	if (letter == 'R' || letter == 'S' || kind_of(mod, resv))
		return 0;
	return keel_error(err, PBSE_NOSUP, "the module that made %s is not loaded: it can be deleted, not altered", keel_id(resv));
}

static int32_t prepare(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *resv, struct alteration *a,
		       struct keel_err *err)
{
	int32_t code = read_all(ch, resv, a, err);

	if (!code && a->force && (a->wanted & SELECT || !(a->wanted & TIMES)))
		code = fails(err, PBSE_NOSUP);
	if (!code && a->wanted & LISTS)
		code = check_lists(ch, resv, err);
	a->new = a->old;
	if (!code && a->wanted & TIMES)
		code = alter_times(mod, ch, resv, a, err);
	if (!code && a->wanted & SELECT)
		code = alter_select(mod, ch, resv, err);
	if (!code && a->wanted & (TIMES | SELECT))
		code = keep_old(mod, ch, resv, a, err);
	return code;
}

/* ---- accepted ------------------------------------------------------------------------------------------------------ */

static void log_asked(struct keel_mod *mod, struct keel_obj *resv, const struct alteration *a)
{
	char date[64];
	struct keel_text text;

	keel_text_init(&text);
	keel_text_str(&text, "Attempting to modify reservation");
	if (a->new.start != a->old.start)
		keel_text_printf(&text, " start=%s", moment_text(a->new.start, date, sizeof(date)));
	if (a->new.end != a->old.end)
		keel_text_printf(&text, " end=%s", moment_text(a->new.end, date, sizeof(date)));
	if (a->wanted & SELECT) {
		char *select = select_of(resv);

		keel_text_printf(&text, " select=%s", select ? select : "");
		free(select);
	}
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "%s", text.data);
	keel_text_fini(&text);
}

static bool is_scheduled(struct keel_mod *mod)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	return !server || !server_scheduling || keel_get_int(server, server_scheduling);
}

/* The values are there. Decided in this turn, or by the next cycle. */
static void accepted(struct keel_mod *mod, struct keel_obj *resv, struct alteration *a)
{
	const bool whatever = keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER;
	const bool at_once = whatever || (a->force && !is_scheduled(mod) && resv_slot(mod, resv)->span[0].nodes);
	char who[512];

	alter_begin(mod, resv, &a->new, a->force);
	if (resv_is_running(resv) && a->new.end <= keel_time(mod)) { /* its time is over now */
		asker_wait(mod, resv, a->req, 0, true, "ALTER REQUESTED");
		alter_over(mod, resv);
		return;
	}
	if (!at_once) {
		keel_set_int(resv, resv_interactive, a->seconds);
		asker_wait(mod, resv, a->req, a->seconds, true, "ALTER REQUESTED");
		keel_sched_reconsider();
		return;
	}
	snprintf(who, sizeof(who), "%s", keel_req_session(a->req)->who);
	asker_wait(mod, resv, a->req, 0, true, "CONFIRMED");
	alter_confirm(mod, resv, whatever ? who : NULL);
}

/* A tap may have changed the times that were asked for: they are taken where these could have been asked for as well. */
static void times_settle(struct keel_mod *mod, struct keel_obj *resv, struct alteration *a)
{
	const int64_t start = keel_get_int(resv, resv_reserve_start), end = keel_get_int(resv, resv_reserve_end);
	const struct times t = { start, end, end - start };

	if (start == a->new.start && end == a->new.end)
		return;
	if (a->wanted & TIMES && check_times(mod, resv, a, &t) == 0)
		a->new = t;
	else
		span_move(mod, resv, a->new.start, a->new.end);
}

static void modified(struct keel_mod *mod, struct keel_obj *resv, struct alteration *a)
{
	times_settle(mod, resv, a);
	log_asked(mod, resv, a);
	keel_set_int(resv, resv_mtime, keel_time(mod));
	if (a->wanted & LISTS)
		queue_lists(mod, resv);
	if (a->wanted & (TIMES | SELECT))
		accepted(mod, resv, a);
	else
		asker_wait(mod, resv, a->req, 0, true, "ALTER REQUESTED");
}

static void decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct alteration *a = arg;
	struct keel_obj *resv = keel_find(mod, "resv", a->id);
	struct resv *r = resv ? resv_slot(mod, resv) : NULL;

	if (r && r->alteration == a)
		r->alteration = NULL;
	if (!r)
		keel_reply(a->req, PBSE_UNKRESVID, NULL);
	else if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE)
		keel_reply(a->req, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text ? "%s" : NULL, outcome->text);
	else
		modified(mod, resv, a);
	free(a);
}

/* The last tap: while others let it wait, the reservation may have begun, lost vnodes, or be deleted. */
keel_verdict on_resv_modify(struct keel_call *c, const struct keel_ev_resv_modify *ev)
{
	const struct resv *r = ev->resv ? resv_slot(c->mod, ev->resv) : NULL;

	if (r && r->alteration && r->alteration->state != resv_state(ev->resv))
		return keel_reject(c, PBSE_BADSTATE, NULL);
	return KEEL_NEXT;
}

/* ---- the request ---------------------------------------------------------------------------------------------------- */

static void ask(struct keel_mod *mod, struct keel_obj *resv, struct alteration *a)
{
	struct resv *r = resv_slot(mod, resv);
	struct keel_changes *ch = keel_changes(mod);
	struct keel_err err = { 0 };
	int32_t code = ch ? check_kind(mod, resv, &err) : fails(&err, PBSE_SYSTEM);

	if (!code)
		code = prepare(mod, ch, resv, a, &err);
	if (code) {
		keel_discard(ch);
		keel_reply(a->req, code, "%s", err.text);
		free(a);
		return;
	}
	r->alteration = a;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_resv_modify,
		.event = KEEL_EVENT(resv_modify, .id = a->id, .resv = resv, .who = keel_req_session(a->req)->who),
		.changes = ch,
		.req = a->req,
		.done = decided,
		.arg = a,
	});
}

static struct alteration *alteration_new(struct keel_obj *resv, struct keel_req *req, bool force)
{
	const char *id = keel_id(resv);
	struct alteration *a = calloc(1, sizeof(*a) + strlen(id) + 1);

	if (!a)
		return NULL;
	strcpy(a->id, id);
	a->req = req;
	a->force = force;
	a->state = resv_state(resv);
	a->old = (struct times){ keel_get_int(resv, resv_reserve_start), keel_get_int(resv, resv_reserve_end),
				 keel_get_int(resv, resv_reserve_end) - keel_get_int(resv, resv_reserve_start) };
	return a;
}

void on_resv_alter(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *body = keel_req_body(req);
	const char *id = keel_msg_str(body, "id"), *extend = keel_msg_str(body, "extend");
	struct keel_obj *resv = id ? resv_find(mod, id) : NULL;
	const bool force = extend && strstr(extend, "force");
	struct alteration *a = NULL;
	int32_t code = resv ? resv_permit(mod, resv, req, REQUEST_ALTER) : PBSE_UNKRESVID;

	if (!code && force && !(keel_req_session(req)->roles & KEEL_OPERATORS))
		code = PBSE_PERM;
	if (!code && (!may_be_altered(resv) || !resv_slot(mod, resv) || resv_slot(mod, resv)->alteration))
		code = PBSE_BADSTATE;
	if (!code && !(a = alteration_new(resv, req, force)))
		code = PBSE_SYSTEM;
	if (code == PBSE_UNKRESVID)
		keel_log(mod, KEEL_LOG_DEBUG, "Resv", id ? id : "", "%s", keel_pbse_text(code));
	if (code)
		keel_reply(req, code, NULL);
	else
		ask(mod, resv, a);
}
