/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - what events of a server have in common: the requestor, what a script may change, what the result means for
 * the operation.
 */
#include "server.h"

#include <stdlib.h>

#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/queue.h"
#include "keel/service/resource.h"
#include "keel/service/resv.h"
#include "keel/service/sched.h"
#include "keel/words.h"

/* A mom has none of them. */
KEEL_USE_OPT(job);
KEEL_USE_OPT(node);
KEEL_USE_OPT(queue);
KEEL_USE_OPT(resource);
KEEL_USE_OPT(resv);
KEEL_USE_OPT(sched);

/* ---- requestors --------------------------------------------------------------------------------------------- */
static void requestor_split(struct run *r, const char *who)
{
	size_t len = strcspn(who, "@");

	snprintf(r->requestor, sizeof(r->requestor), "%.*s", (int)len, who);
	if (who[len] == '@')
		snprintf(r->requestor_host, sizeof(r->requestor_host), "%s", who + len + 1);
}

void server_about(struct run *r, const char *id, const char *who)
{
	const struct keel_session *session = r->call ? keel_call_session(r->call) : NULL;
	struct keel_mod *mod = r->st->mod;

	snprintf(r->id, sizeof(r->id), "%s", id);
	snprintf(r->requestor_host, sizeof(r->requestor_host), "%s", keel_host_name(mod));
	if (session && session->user && *session->user) {
		snprintf(r->requestor, sizeof(r->requestor), "%s", session->user);
		snprintf(r->requestor_host, sizeof(r->requestor_host), "%s", session->host);
	} else if (who && strchr(who, '@') && *who != '@') {
		requestor_split(r, who);
	} else {
		snprintf(r->requestor, sizeof(r->requestor), "pbs_server");
	}
}

/* ---- objects ------------------------------------------------------------------------------------------------ */
void server_object(struct run *r, struct pack *params, const char *key, struct keel_obj *obj, struct keel_call *c)
{
	pack_key(params, key);
	if (obj) {
		run_remember(r, key, obj);
		pack_object(r->st, params, obj, c, NULL);
	} else {
		pack_nothing(params);
	}
}

void server_shown(struct run *r, struct pack *params, const char *key, struct keel_obj *obj, const struct pack *facts)
{
	pack_key(params, key);
	if (obj)
		pack_object(r->st, params, obj, NULL, facts);
	else
		pack_nothing(params);
}

/* ---- what is requested: what an operation would make of an object, without what is computed -------------------- */
struct requested {
	struct keel_call *call;
	struct keel_obj *obj;
	bool is_new; /* all that it has is requested */
	const struct keel_attr *const *attrs; /* of its class */
	uint32_t n;
	bool *changes; /* those that the operation changes */
	const struct keel_attr *schedselect;
	char computed[4096]; /* names of resources that no request named */
	struct pack *out;
	uint32_t pairs;
	/* of the attribute that is being written */
	const struct keel_attr *attr;
	uint32_t open, keys;
	bool keyed, begun;
};

static void requested_find(void *arg, struct keel_obj *obj, const struct keel_attr *attr)
{
	struct requested *q = arg;

	for (uint32_t i = 0; obj == q->obj && i < q->n; i++)
		q->changes[i] |= q->attrs[i] == attr;
}

/* Does the object have this value of the key already? */
static bool is_same(const struct requested *q, const char *key, const char *text, uint32_t len)
{
	char small[256], *have = small;
	int32_t n = keel_get_text(q->obj, q->attr, key, small, sizeof(small));
	bool same;

	if (n < 0 || (uint32_t)n != len)
		return false;
	if (len >= sizeof(small)) {
		have = malloc((size_t)len + 1);
		if (!have || keel_get_text(q->obj, q->attr, key, have, len + 1) < 0) {
			free(have);
			return false;
		}
	}
	same = memcmp(have, text, len) == 0;
	if (have != small)
		free(have);
	return same;
}

static void requested_value(void *arg, const char *key, const char *text, uint32_t len)
{
	struct requested *q = arg;

	if (key && (keel_words_have(q->computed, key) || (!q->is_new && is_same(q, key, text, len))))
		return;
	if (!q->begun) {
		pack_key(q->out, keel_attr_name(q->attr));
		q->pairs++;
		q->begun = true;
		q->keyed = key != NULL;
		if (key)
			q->open = pack_open_map(q->out);
	}
	if (key) {
		pack_key(q->out, key);
		q->keys++;
	}
	pack_bytes(q->out, text, len);
}

static void requested_attrs(struct requested *q)
{
	const struct keel_emit emit = { requested_value, q };

	for (uint32_t i = 0; i < q->n; i++) {
		if ((!q->is_new && !q->changes[i]) || q->attrs[i] == q->schedselect)
			continue;
		q->attr = q->attrs[i];
		q->begun = q->keyed = false;
		q->keys = 0;
		keel_call_emit(q->call, q->obj, q->attr, NULL, &emit);
		if (q->keyed)
			pack_close(q->out, q->open, q->keys);
	}
}

static bool requested_look(struct run *r, struct requested *q)
{
	q->attrs = class_attrs(r->st, keel_klass(q->obj), &q->n);
	q->schedselect = keel_attr_find(r->st->mod, keel_klass(q->obj), "schedselect");
	q->changes = q->attrs ? calloc(q->n + 1, sizeof(*q->changes)) : NULL;
	if (q->changes && !q->is_new)
		keel_call_each(q->call, requested_find, q);
	if (keel_call_get(q->call, q->obj, "resources_defaulted", NULL, q->computed, sizeof(q->computed)) < 0)
		q->computed[0] = '\0';
	return q->changes != NULL;
}

static void requested_pack(struct run *r, struct pack *params, const char *key, struct requested *q)
{
	uint32_t map, attrs;

	run_remember(r, key, q->obj);
	params->failed |= !requested_look(r, q);
	pack_key(params, key);
	map = pack_open_map(params);
	pack_pair_text(params, "class", keel_klass(q->obj));
	pack_pair_text(params, "id", keel_id(q->obj));
	pack_key(params, "attrs");
	attrs = pack_open_map(params);
	if (!params->failed)
		requested_attrs(q);
	pack_close(params, attrs, q->pairs);
	pack_close(params, map, 3);
	free(q->changes);
}

void server_submitted(struct run *r, struct pack *params, const char *key, struct keel_obj *obj, struct keel_call *c)
{
	requested_pack(r, params, key, &(struct requested){ .call = c, .obj = obj, .out = params, .is_new = true });
}

void server_requested(struct run *r, struct pack *params, const char *key, struct keel_obj *obj, struct keel_call *c)
{
	requested_pack(r, params, key, &(struct requested){ .call = c, .obj = obj, .out = params });
}

/* ---- results ------------------------------------------------------------------------------------------------ */
void server_restarts_cycle(struct run *r, const struct result *result)
{
	if (!result->restart_cycle || !keel_has(sched))
		return;
	keel_log(r->st->mod, KEEL_LOG_DEBUG2, "Hook", r->name, "requested for scheduler to restart cycle");
	keel_sched_reconsider();
}

keel_verdict server_settle_note(struct run *r, struct keel_call *c, const struct result *result)
{
	(void)c;
	server_restarts_cycle(r, result);
	return KEEL_NEXT;
}

keel_verdict server_refusal(struct run *r, struct keel_call *c, const struct result *result)
{
	char text[480];

	result_text(r, result, text, sizeof(text));
	return c ? keel_reject(c, PBSE_HOOKERROR, "%s", text) : KEEL_REJECT;
}

/* A change that cannot be made refuses the operation; the reason is for the administrator. */
static keel_verdict change_refused(struct run *r, struct keel_call *c, const struct change *change,
				   const struct keel_err *err)
{
	keel_log(r->st->mod, KEEL_LOG_DEBUG2, "Hook", r->name, "%s cannot set %s%s%s: %s", r->event->name,
		 change->attr,
		 change->key ? "." : "", change->key ? change->key : "", err->text);
	return c ? keel_reject(c, PBSE_HOOKERROR, "%s event: rejected request", r->event->name) : KEEL_REJECT;
}

const struct keel_session server_manager = {
	.size = sizeof(server_manager), .roles = KEEL_USER | KEEL_OPERATOR | KEEL_MANAGER, .user = "root",
		.host = "localhost",
	.who = "root@localhost", .group = "root",
};

/* A process is not trusted: it sets what a manager's request might, by the same checks, and a job's queue. */
static int32_t change_judge(struct run *r, const struct change *change, struct keel_err *err)
{
	const struct keel_attrop op = { .name = change->attr, .key = change->key && *change->key ? change->key : NULL,
					.value = change->text, .op = change->text ? KEEL_SET : KEEL_UNSET };
	struct keel_obj *obj = run_find(r, change->target);
	struct keel_changes *set = obj ? keel_changes(r->st->mod) : NULL;
	int32_t code = PBSE_SYSTEM;

	if (set && strcmp(keel_klass(obj), "job") == 0 && strcmp(op.name, "queue") == 0)
		code = 0;
	else if (set)
		code = keel_change(set, &server_manager, obj, &op, err);
	keel_discard(set);
	return code;
}

keel_verdict server_changes(struct run *r, struct keel_call *c, const struct result *result, const char *target)
{
	struct keel_err err = { 0 };

	for (uint32_t i = 0; i < result->n_changes; i++) {
		const struct change *change = &result->changes[i];
		int32_t code = strcmp(change->target, target) != 0
				       ? keel_error(&err, PBSE_ATTRRO, "%s is not to be changed there", change->target)
				       : change_judge(r, change, &err);

		if (!code)
			code = change_make(r, c, change, &err);
		if (code)
			return change_refused(r, c, change, &err);
	}
	return KEEL_NEXT;
}

keel_verdict server_settle(struct run *r, struct keel_call *c, const struct result *result, const char *target)
{
	server_restarts_cycle(r, result);
	if (result->how != ACCEPTED)
		return server_refusal(r, c, result);
	return server_changes(r, c, result, target);
}

/* ---- start and end ------------------------------------------------------------------------------------------ */
/* Resources come and go by requests of managers. */
static keel_verdict on_management_done(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_management_done *ev = event;

	(void)point, (void)arg;
	if (ev->code == 0 && strcmp(ev->klass, "resource") == 0)
		tables_changed(c->mod->state);
	return KEEL_NEXT;
}

int32_t server_start(struct state *st, struct keel_err *err)
{
	st->server = calloc(1, sizeof(*st->server));
	if (!st->server)
		return keel_error(err, -ENOMEM, "no memory for events of a server");
	return keel_tap_add(st->mod, KEEL_POINT_management_done, "tables", 0, on_management_done, NULL, err);
}

void server_stop(struct state *st)
{
	if (!st->server)
		return;
	keel_tap_remove(st->mod, KEEL_POINT_management_done, "tables");
	if (st->server->holds_starts)
		keel_tap_remove(st->mod, KEEL_POINT_start_job, "postqueuejob");
	answers_free(st->server);
	vnodes_stop(st);
	queued_stop(st->server);
	free(st->server);
	st->server = NULL;
}
