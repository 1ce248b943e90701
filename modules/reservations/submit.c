/* SPDX-License-Identifier: Apache-2.0
 *
 * submit.c - a new reservation: who may make one, its draft, the point resv_submit, its queue; then it waits for its vnodes, or is
 * confirmed at once where its kind says so.
 *
 * A number is taken once it is known that the requester may make one; what is refused after that has used it up.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keel/acl.h"
#include "keel/words.h"

KEEL_ATTRS_OF(server, resv_enable, acl_resv_host_enable, acl_resv_hosts);
KEEL_ATTRS_OF(resv, Reserve_Owner, euser, egroup, queue, server, Submit_Host, ctime, mtime, reserve_count,
	      reserve_rules, interactive, reserve_rrule, reserve_timezone, reserve_start, reserve_end, reserve_duration);
KEEL_ATTRS_OF(resv, reserve_job, reserve_standing);

/* What a submission carries while its chain may wait. */
struct submission {
	struct keel_req *req; /* NULL: a module makes it */
	const struct keel_session *who; /* until the chain */
	const struct keel_resv_kind_def *kind; /* until the chain; NULL: an ordinary one */
	struct keel_mod *owner; /* of its row */
	struct keel_obj *draft;
	char *nodes; /* of a kind that says where it is; owned */
	struct keel_mod *me;
	keel_resv_done *done;
	void *arg;
};

static void submission_end(struct submission *s, int32_t code, const char *text)
{
	if (s->req)
		keel_reply(s->req, code, text && *text ? "%s" : NULL, text);
	else
		s->done(s->me, s->arg, code, text && *text ? text : NULL);
	free(s->nodes);
	free(s);
}

static struct keel_obj *server_of(struct keel_mod *mod)
{
	return keel_find(mod, "server", keel_server_name(mod));
}

/* ---- before a number is taken ---------------------------------------------------------------------------------------- */

/* Without a list, this host. */
static bool host_is_listed(struct keel_mod *mod, struct keel_obj *server, const struct keel_session *who)
{
	struct keel_acl acl = KEEL_ACL(NULL, who->host);

	if (!keel_is_set(server, server_acl_resv_hosts))
		return strcasecmp(who->host, keel_host_name(mod)) == 0;
	keel_emit(server, server_acl_resv_hosts, NULL, &(struct keel_emit){ keel_acl_text, &acl });
	return acl.allowed;
}

static int32_t check_kind(struct keel_mod *mod, struct submission *s, const char *extend, struct keel_err *err)
{
	s->kind = kind_asked(mod, extend, &s->owner);
	if (!s->kind && extend && *extend)
		return keel_error(err, PBSE_NOSUP, "%s: no module that is loaded brings the kind of reservation \"%.32s\"",
				  keel_pbse_text(PBSE_NOSUP), extend);
	return s->kind && !(s->who->roles & s->kind->roles) ? fails(err, PBSE_PERM) : 0;
}

static int32_t check_may(struct keel_mod *mod, struct submission *s, const char *extend, struct keel_err *err)
{
	struct keel_obj *server = server_of(mod);

	if (!keel_get_int(server, server_resv_enable))
		return keel_error(err, PBSE_RESVAUTH_U, "reservations disallowed on %s", keel_server_name(mod));
	if (keel_get_int(server, server_acl_resv_host_enable) && !host_is_listed(mod, server, s->who))
		return fails(err, PBSE_RESVAUTH_H);
	return check_kind(mod, s, extend, err);
}

/* ---- the draft --------------------------------------------------------------------------------------------------------- */

/* What the server says about every reservation. */
static void fill(struct keel_mod *mod, struct submission *s, char letter, int64_t number)
{
	const struct keel_session *who = s->who;
	struct keel_obj *draft = s->draft;
	int64_t now = keel_time(mod);
	char text[32];

	keel_set_str(draft, resv_Reserve_Owner, who->who);
	keel_set_str(draft, resv_euser, who->user);
	snprintf(text, sizeof(text), "%u", who->gid);
	keel_set_str(draft, resv_egroup, who->group ? who->group : text);
	snprintf(text, sizeof(text), "%c%lld", letter, (long long)number);
	keel_set_str(draft, resv_queue, text);
	keel_set_str(draft, resv_server, keel_server_name(mod));
	keel_set_str(draft, resv_Submit_Host, who->host);
	keel_set_int(draft, resv_ctime, now);
	keel_set_int(draft, resv_mtime, now);
	keel_set_int(draft, resv_reserve_count, 1);
	keel_set_int(draft, resv_reserve_rules, s->kind ? s->kind->flags & KEEL_RESV_WHATEVER : 0);
}

/* Makes s->draft and *ret_changes with all that the request says. Fails with a PBSE code and *err: there is no draft. */
static int32_t draft_make(struct keel_mod *mod, struct submission *s, const struct wish *wish, char letter, int64_t number,
			  struct keel_changes **ret_changes, struct keel_err *err)
{
	struct keel_changes *ch;
	char id[300];
	int32_t code;

	snprintf(id, sizeof(id), "%c%lld.%s", letter, (long long)number, keel_server_name(mod));
	s->draft = keel_draft(mod, "resv", id, err);
	if (!s->draft)
		return err->code > 0 ? err->code : PBSE_SYSTEM;
	fill(mod, s, letter, number);
	ch = keel_changes(mod);
	code = ch ? wish_apply(mod, wish, ch, s->draft, err)
		  : keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (!code && s->kind)
		code = s->kind->place(s->owner, ch, s->draft, &s->nodes, err);
	if (!code)
		code = keel_resource_prepare(ch, s->draft, NULL, err);
	if (code) {
		keel_discard(ch);
		keel_destroy(s->draft);
		s->draft = NULL;
		return code > 0 ? code : PBSE_SYSTEM;
	}
	*ret_changes = ch;
	return 0;
}

/* One with a rule is standing, unless that says one time only: then it is an ordinary one at that time. */
static int32_t draft_kind(struct keel_mod *mod, struct submission *s, const struct wish *wish, struct keel_changes **ret_changes,
			  struct keel_err *err)
{
	int64_t number = keel_job_take_number();
	char letter = s->kind ? s->kind->letter[0] : wish_has(wish, "reserve_rrule") ? 'S' : 'R';
	int32_t code = draft_make(mod, s, wish, letter, number, ret_changes, err);
	const union keel_slot *count;

	if (code || letter != 'S')
		return code;
	count = keel_change_slot(*ret_changes, s->draft, resv_reserve_count);
	if (count && count->i > 1)
		return 0;
	keel_discard(*ret_changes);
	keel_destroy(s->draft);
	return draft_make(mod, s, wish, 'R', number, ret_changes, err);
}

/* ---- accepted ------------------------------------------------------------------------------------------------------------ */

static void log_submitted(struct keel_mod *mod, struct keel_obj *resv)
{
	const char *rule = keel_get_str(resv, resv_reserve_rrule), *zone = keel_get_str(resv, resv_reserve_timezone);
	char from[32], till[32];

	time_text(keel_get_int(resv, resv_reserve_start), from);
	time_text(keel_get_int(resv, resv_reserve_end), till);
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "New reservation submitted start=%s end=%s%s%s%s%s", from, till,
		 rule ? " recurrence_rrule=" : "", rule ? rule : "", rule ? " timezone=" : "", rule && zone ? zone : "");
}

/* It is there: object, queue, times. Fails with a PBSE code and *err: there is none of them. */
static int32_t resv_publish(struct keel_mod *mod, struct keel_obj *resv, struct keel_err *err)
{
	int32_t code = queue_make(mod, resv, err);

	if (code)
		return code == PBSE_DUPLIST ? fails(err, code) : fails(err, PBSE_resvFail);
	resv_to(mod, resv, KEEL_RESV_UNCONFIRMED, KEEL_RESV_UNCONFIRMED);
	if (!resv_slot(mod, resv) || keel_publish(resv) || spans_read(mod, resv)) {
		queue_remove(mod, resv);
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	}
	spans_block(mod, resv);
	clock_set(mod, resv);
	return 0;
}

static void answer(struct submission *s, struct keel_mod *mod, const char *id, const char *word)
{
	struct keel_out *out;
	char text[320];

	if (!s->req) {
		submission_end(s, 0, id);
		return;
	}
	out = keel_out(mod);
	snprintf(text, sizeof(text), "%s %s", id, word);
	keel_put_str(out, "reply", text);
	keel_reply_out(s->req, out);
	s->req = NULL;
	free(s->nodes);
	free(s);
}

/* Confirmed in this turn, without the scheduler. */
static void confirm_now(struct keel_mod *mod, struct submission *s, struct keel_obj *resv)
{
	const char *const nodes[] = { s->nodes };

	keel_unset(resv, resv_interactive, NULL);
	resv_confirmed(mod, resv, keel_get_str(resv, resv_Reserve_Owner), nodes, 1);
	answer(s, mod, keel_id(resv), "CONFIRMED");
}

static void wait_for_place(struct keel_mod *mod, struct submission *s, struct keel_obj *resv)
{
	keel_sched_reconsider();
	if (!s->req) {
		answer(s, mod, keel_id(resv), "");
		return;
	}
	asker_wait(mod, resv, s->req, keel_get_int(resv, resv_interactive), false, "UNCONFIRMED");
	free(s->nodes);
	free(s);
}

static void submit_accepted(struct keel_mod *mod, struct submission *s)
{
	struct keel_obj *resv = s->draft;
	struct keel_err err = { 0 };
	int32_t code = specific_check(mod, resv);

	code = code ? fails(&err, code) : resv_publish(mod, resv, &err);
	if (code) {
		keel_destroy(resv);
		submission_end(s, code, err.text);
		return;
	}
	log_submitted(mod, resv);
	if (keel_is_set(resv, resv_reserve_job)) { /* it runs already */
		code = specific_made(mod, resv);
		if (code) {
			resv_gone(mod, resv);
			submission_end(s, code, NULL);
		} else {
			answer(s, mod, keel_id(resv), "CONFIRMED");
		}
		return;
	}
	record_submit(mod, resv);
	if ((keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER) && s->nodes)
		confirm_now(mod, s, resv);
	else
		wait_for_place(mod, s, resv);
}

static void submit_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct submission *s = arg;

	again_over(resv_slot(mod, s->draft));
	if (outcome->verdict == KEEL_NEXT || outcome->verdict == KEEL_DONE) {
		submit_accepted(mod, s);
		return;
	}
	keel_destroy(s->draft);
	submission_end(s, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
}

/* ---- nothing is made --------------------------------------------------------------------------------------------------------- */

static int64_t number_in(struct keel_changes *ch, struct keel_obj *draft, const struct keel_attr *attr)
{
	const union keel_slot *slot = keel_change_slot(ch, draft, attr);

	return slot ? slot->i : 0;
}

static void draft_drop(struct submission *s, struct keel_changes *ch)
{
	keel_discard(ch);
	keel_destroy(s->draft);
	s->draft = NULL;
}

int32_t submit_times(struct keel_mod *mod, const struct wish *wish, struct times *ret, struct keel_err *err)
{
	struct submission s = { .who = wish->who };
	struct keel_changes *ch;
	int32_t code = draft_make(mod, &s, wish, 'R', 0, &ch, err);

	if (code)
		return code;
	ret->duration = number_in(ch, s.draft, resv_reserve_duration);
	ret->start = number_in(ch, s.draft, resv_reserve_standing);
	if (!ret->start)
		ret->start = number_in(ch, s.draft, resv_reserve_start);
	ret->end = ret->start + ret->duration;
	draft_drop(&s, ch);
	return 0;
}

/* 0 and *ret_text, which the caller frees. */
static int32_t preview_make(struct keel_mod *mod, struct submission *s, const struct wish *wish, char **ret_text,
			    struct keel_err *err)
{
	struct keel_resv_window w = { .size = sizeof(w), .occurrence = 1 };
	struct keel_changes *ch;
	int32_t code = draft_make(mod, s, wish, s->kind->letter[0], 0, &ch, err);

	if (code)
		return code;
	w.from = number_in(ch, s->draft, resv_reserve_start);
	w.till = number_in(ch, s->draft, resv_reserve_end);
	w.nodes = s->nodes;
	*ret_text = s->nodes ? s->kind->preview(s->owner, &w) : NULL;
	draft_drop(s, ch);
	if (!w.nodes)
		return keel_error(err, PBSE_IVALREQ, "what its select names is not there");
	return *ret_text ? 0 : keel_error(err, PBSE_SYSTEM, "System error: out of memory");
}

static void preview(struct keel_mod *mod, struct submission *s, const struct wish *wish)
{
	struct keel_err err = { 0 };
	struct keel_out *out;
	char *text = NULL;
	int32_t code = s->kind->preview ? preview_make(mod, s, wish, &text, &err) : fails(&err, PBSE_NOSUP);

	if (!code) {
		out = keel_out(mod);
		keel_put_str(out, "reply", text);
		keel_reply_out(s->req, out);
		free(s->nodes);
		free(s);
	} else {
		submission_end(s, code, err.text);
	}
	free(text);
}

/* What only a request asks for, in its `extend`. True: it is answered, or will be. */
static bool asks_otherwise(struct keel_mod *mod, struct submission *s, const struct wish *wish, const char *extend)
{
	const bool dry = keel_words_have(extend, "dry-run"), again = keel_words_have(extend, "repeat");

	if (dry && again)
		submission_end(s, PBSE_NOSUP, "a dry run is of one time; leave out that it is repeated");
	else if (again && !s->kind->repeats)
		submission_end(s, PBSE_NOSUP, NULL);
	else if (dry)
		preview(mod, s, wish);
	else if (again) {
		repeat_submit(mod, wish, s->kind);
		free(s);
	}
	return dry || again;
}

/* ---- asked ----------------------------------------------------------------------------------------------------------------- */

static void submission_raise(struct keel_mod *mod, struct submission *s, const struct wish *wish, const char *extend)
{
	struct keel_changes *ch = NULL;
	struct keel_err err = { 0 };
	int32_t code = check_may(mod, s, extend, &err);

	if (!code && s->req && s->kind && asks_otherwise(mod, s, wish, extend))
		return;
	if (!code)
		code = draft_kind(mod, s, wish, &ch, &err);
	if (!code && (code = again_expect(mod, ch, s->draft, s->kind != NULL, &err)))
		draft_drop(s, ch);
	if (code) {
		submission_end(s, code, err.text);
		return;
	}
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_resv_submit,
		.event = KEEL_EVENT(resv_submit, .id = keel_id(s->draft), .resv = s->draft, .who = s->who->who),
		.changes = ch,
		.req = s->req,
		.done = submit_decided,
		.arg = s,
	});
}

void on_resv_submit(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *body = keel_req_body(req);
	struct submission *s = calloc(1, sizeof(*s));
	struct wish wish = { .who = keel_req_session(req), .req = req };
	int32_t code = s ? keel_msg_attrs(body, "attrs", &wish.attrs, &wish.n) : -ENOMEM;

	if (code && code != -ENODATA) {
		free(s);
		keel_reply(req, code == -ENOMEM ? PBSE_SYSTEM : PBSE_PROTOCOL, NULL);
		return;
	}
	s->req = req;
	s->who = wish.who;
	submission_raise(mod, s, &wish, keel_msg_str(body, "extend"));
}

void resv_make(struct keel_mod *mod, const struct keel_resv_new *new, struct keel_mod *me, keel_resv_done *done, void *arg)
{
	struct submission *s = calloc(1, sizeof(*s));
	struct wish wish = { .who = new->session, .attrs = new->attrs, .n = new->n_attrs };

	if (!s) {
		done(me, arg, PBSE_SYSTEM, NULL);
		return;
	}
	s->who = new->session;
	s->me = me;
	s->done = done;
	s->arg = arg;
	submission_raise(mod, s, &wish, new->extend);
}
