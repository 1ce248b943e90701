/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.c - `keelson resv R12`: what state it is in, its times and vnodes, which of them are unavailable, and why the last
 * search found none. Of one that was denied, and so is gone, the reason is known for a while.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(resv, reserve_index, reserve_count, reserve_retry, reserve_why, reserve_lost_to, reserve_rules);
KEEL_ATTR_OPT(node, state);
KEEL_ATTR_OPT(server, scheduling);

enum {
	TIMES_MAX = 20, /* shown of each */
	VNODES_MAX = 50,
	TEXT_MAX = 1000, /* of the vnodes of a time */
	SPANS_MAX = 4,	 /* whose unavailable vnodes are named */
};

/* ---- denied ones --------------------------------------------------------------------------------------- */

void denied_remember(struct keel_mod *mod, const char *id, const char *why)
{
	struct state *st = mod->state;
	char **at = &st->denied[st->n_denied % DENIED_MAX];
	char *text = NULL;

	if (asprintf(&text, "%s: %s", id, why) < 0)
		return;
	free(*at);
	*at = text;
	st->n_denied++;
}

void denied_forget(struct keel_mod *mod)
{
	struct state *st = mod->state;

	for (uint32_t i = 0; i < DENIED_MAX; i++) {
		free(st->denied[i]);
		st->denied[i] = NULL;
	}
}

static const char *denied_why(struct keel_mod *mod, const char *operand)
{
	const struct state *st = mod->state;
	const size_t len = strcspn(operand, ".@");

	for (uint32_t i = 0; i < DENIED_MAX; i++)
		if (len && st->denied[i] && strncmp(st->denied[i], operand, len) == 0 && st->denied[i][len] == '.')
			return st->denied[i];
	return NULL;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

struct report {
	struct keel_mod *mod;
	struct keel_obj *resv;
	struct keel_out *out;
};

static __attribute__((format(printf, 2, 3))) void line(struct report *r, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	keel_add_str(r->out, text ? text : "...");
	free(text);
}

static const struct {
	int32_t state;
	const char *text;
} sentences[] = {
	{ KEEL_RESV_UNCONFIRMED, "waits for the scheduler's decision" },
	{ KEEL_RESV_CONFIRMED, "is confirmed, and has not begun" },
	{ KEEL_RESV_RUNNING, "has begun: jobs of its queue run" },
	{ KEEL_RESV_BEING_DELETED, "is deleted as soon as its jobs are gone" },
	{ KEEL_RESV_DELETING_JOBS, "is between two times: running jobs of the last one are being deleted" },
	{ KEEL_RESV_DEGRADED, "is confirmed, has not begun, and lacks vnodes" },
	{ KEEL_RESV_BEING_ALTERED, "has new values, which wait for the scheduler's decision" },
};

static const char *sentence(int32_t state)
{
	for (uint32_t i = 0; i < KEEL_COUNT(sentences); i++)
		if (sentences[i].state == state)
			return sentences[i].text;
	return "is between two states";
}

/* What a number of another module means. */
static const char *substate_doc(struct keel_mod *mod, int32_t number)
{
	const struct state *st = mod->state;

	for (const struct keel_row *row = st->substates; row; row = row->next) {
		const struct keel_resv_substate_def *def = row->def;

		if (def->number == number)
			return def->doc;
	}
	return NULL;
}

static void show_state(struct report *r)
{
	const int32_t state = resv_state(r->resv), substate = resv_substate(r->resv);
	const char *doc = substate_doc(r->mod, substate), *by = keel_get_str(r->resv, resv_reserve_lost_to);
	struct keel_obj *server = keel_find(r->mod, "server", keel_server_name(r->mod));

	line(r, "%s %s (state %d, substate %d)", keel_id(r->resv), sentence(state), state, substate);
	if (keel_get_int(r->resv, resv_reserve_rules) & RULE_LOST)
		line(r, "vnodes of it were taken by %s%s%s", by ? by : "another reservation", doc ? ": " : "", doc ? doc : "");
	if ((state == KEEL_RESV_UNCONFIRMED || state == KEEL_RESV_BEING_ALTERED) && server && server_scheduling &&
	    !keel_get_int(server, server_scheduling))
		line(r, "nothing is decided while scheduling is off: qmgr -c 'set server scheduling = True'");
}

static void show_times(struct report *r)
{
	const struct resv *slot = resv_slot(r->mod, r->resv);
	const long long first = keel_get_int(r->resv, resv_reserve_index), count = keel_get_int(r->resv, resv_reserve_count);
	char from[64], till[64];

	for (uint32_t i = 0; slot && i < slot->n_spans && i < TIMES_MAX; i++) {
		const struct span *s = &slot->span[i];

		line(r, "time %lld of %lld: %s to %s, %.*s%s", (first > 0 ? first : 1) + i, count > 0 ? count : 1,
		     moment_text(s->from, from, sizeof(from)), moment_text(s->till, till, sizeof(till)), TEXT_MAX,
		     s->nodes ? s->nodes : "no vnodes", s->nodes && strlen(s->nodes) > TEXT_MAX ? " ..." : "");
	}
	if (slot && slot->n_spans > TIMES_MAX)
		line(r, "and %u later ones", slot->n_spans - TIMES_MAX);
}

/* ---- vnodes that are unavailable ------------------------------------------------------------------------- */

static void show_broken(struct report *r, const char *vnode)
{
	struct keel_obj *node = keel_find(r->mod, "node", vnode);
	char state[128] = "";

	if (node && node_state)
		keel_get_text(node, node_state, NULL, state, sizeof(state));
	line(r, "vnode %s is unavailable: %s", vnode, !node ? "there is none of that name" : *state ? state : "closed");
}

/* Each once for the vnodes of one time; `*left` bounds the lines. */
static void show_span(struct report *r, const char *nodes, uint32_t *left)
{
	struct keel_exec *exec;

	if (keel_resource_exec_parse(nodes, &exec, NULL))
		return;
	for (uint32_t i = 0; i < exec->n && *left; i++) {
		const char *vnode = exec->part[i].vnode;

		if ((i && strcmp(exec->part[i - 1].vnode, vnode) == 0) || !vnode_is_broken(r->mod, vnode))
			continue;
		show_broken(r, vnode);
		--*left;
	}
	keel_resource_exec_free(exec);
}

static void show_vnodes(struct report *r)
{
	const struct resv *slot = resv_slot(r->mod, r->resv);
	uint32_t left = VNODES_MAX, spans = SPANS_MAX;

	for (uint32_t i = 0; slot && i < slot->n_spans && i < TIMES_MAX && spans; i++) {
		const char *nodes = slot->span[i].nodes;

		if (!nodes || (i && nodes == slot->span[i - 1].nodes) || !span_is_broken(r->mod, r->resv, i))
			continue;
		show_span(r, nodes, &left);
		spans--;
	}
}

static bool is_in_its_times(const struct report *r, int64_t when)
{
	const struct resv *slot = resv_slot(r->mod, r->resv);

	return !slot || !slot->n_spans || when < slot->span[slot->n_spans - 1].till;
}

static void show_retry(struct report *r)
{
	const int64_t retry = keel_get_int(r->resv, resv_reserve_retry);
	const char *why = keel_get_str(r->resv, resv_reserve_why);
	char date[64];

	if (why)
		line(r, "the last search for vnodes found none: %s", why);
	if (retry > keel_time(r->mod) && !is_in_its_times(r, retry))
		line(r, "others are not looked for before its end");
	else if (retry > keel_time(r->mod))
		line(r, "others are looked for on %s", moment_text(retry, date, sizeof(date)));
	else if (retry)
		line(r, "others are looked for in the next cycle of the scheduler");
}

/* ---- the request ------------------------------------------------------------------------------------------- */

static void answer(struct keel_mod *mod, struct keel_req *req, struct keel_obj *resv, const char *denied)
{
	struct report r = { mod, resv, keel_out(mod) };

	if (!r.out) {
		keel_reply(req, PBSE_INTERNAL, "no memory for the answer");
		return;
	}
	keel_open_array(r.out, "lines");
	if (resv) {
		show_state(&r);
		show_times(&r);
		show_vnodes(&r);
		show_retry(&r);
	} else {
		line(&r, "it was denied, and is gone: %s", denied);
	}
	keel_close(r.out);
	keel_reply_out(req, r.out);
}

static void on_resv(struct keel_mod *mod, struct keel_req *req)
{
	uint32_t n = 0;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);
	const char *operand = args && n ? args[0] : "", *denied;
	struct keel_obj *resv = resv_find(mod, operand);

	denied = resv ? NULL : denied_why(mod, operand);
	if (resv || denied)
		answer(mod, req, resv, denied);
	else
		keel_reply(req, PBSE_UNKRESVID, NULL);
}

const struct keel_request_def explain_row = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_EVERYBODY,
	.name = "keelson.resv",
	.doc = "what a reservation has, and what it waits for",
	.handler = on_resv,
	.flags = KEEL_REQUEST_READ,
};
