/* SPDX-License-Identifier: Apache-2.0
 *
 * req.c - one request: from its frame to its one reply.
 *
 *	req_start -> OPEN --reply()--> SENT --store_after--> frame to the client, end
 *	              |                 '---- client gone: dropped after the store
 *	              '-- client gone, or the kernel has replied -> ORPHAN --reply()--> end
 *
 * Ended requests stay in a quarantine before their memory is used again, so that a second reply is
 * recognised, logged and ignored, and never sent to another client.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/hooks.h"
#include "log/log.h"
#include "request/inside.h"
#include "store/store.h"
#include "util/account.h"
#include "util/crumb.h"
#include "util/err.h"
#include "wire/pack.h"

enum { NAME_SHOWN = 64, TEXT_SIZE = 1024 };
/* ---- memory ------------------------------------------------------------------------------- */
static struct keel_req *req_create(struct client *c, const struct frame *f, struct keel_msg *m)
{
	struct router *r = c->router;
	struct keel_req *q = r->free_reqs;

	if (q != NULL && r->n_free > r->limits.quarantine) {
		DL_DELETE(r->free_reqs, q);
		r->n_free--;
	} else {
		q = malloc(sizeof(*q));
	}
	if (q == NULL)
		return NULL;
	*q = (struct keel_req){ .state = REQ_OPEN, .router = r, .client = c, .corr = f->corr, .msg = m,
				 .len = f->len, .since_ns = loop_clock_ns(r->parts->loop) };
	DL_APPEND(c->reqs, q);
	c->n_reqs++;
	c->open += q->len;
	r->open += q->len;
	r->n_open++;
	return q;
}

/* The client is gone, or has its reply; the request stays until its module replies. */
static void req_detach(struct keel_req *q)
{
	struct client *c = q->client;

	q->client = NULL;
	DL_DELETE(c->reqs, q);
	c->n_reqs--;
	c->open -= q->len;
	q->router->n_open--;
	q->router->drain.n_old -= q->old;
	DL_APPEND(q->router->orphans, q);
	client_request_ended(c);
	drain_due(q->router);
}

static void req_end(struct keel_req *q)
{
	struct router *r = q->router;

	if (q->client != NULL)
		req_detach(q);
	DL_DELETE(r->orphans, q);
	r->open -= q->len;
	msg_destroy(q->msg);
	free(q->raw);
	out_drop(q->out);
	user_unref(q->user);
	*q = (struct keel_req){ .state = REQ_FREE, .router = r };
	DL_APPEND(r->free_reqs, q);
	r->n_free++;
}

void req_destroy_all(struct router *r)
{
	struct keel_req *q, *next;

	while (r->orphans != NULL)
		req_end(r->orphans);
	DL_FOREACH_SAFE(r->free_reqs, q, next)
		free(q);
	r->free_reqs = NULL;
	r->n_free = 0;
}

/* ---- replies ------------------------------------------------------------------------------- */
static struct keel_out *reply_make(int32_t code, const char *text)
{
	struct keel_out *o = out_create();

	out_put_int(o, "code", code);
	if (text != NULL && text[0] != '\0')
		out_put_str(o, "text", text);
	return o;
}

static struct keel_out *again_make(const struct keel_req *q)
{
	struct keel_out *o = reply_make(PBSE_SVRDOWN, "The server ends or restarts; send the request again");

	if (!q->parts)
		out_put_int(o, "again", 1);
	return o;
}

/* `def` NULL: unknown request; `name` is what the client wrote. */
static void log_reject(const struct client *c, const struct keel_request_def *def, const char *name, int32_t code)
{
	char type[NAME_SHOWN + 1];

	if (!client_may_log(c))
		return;
	if (def != NULL && def->number != 0)
		snprintf(type, sizeof(type), "%u", def->number);
	else
		snprintf(type, sizeof(type), "%s", name);
	log_add(c->router->parts->log, KEEL_LOG_DEBUG, "Req", def != NULL ? def->name : type,
		"Reject reply code=%d, aux=0, type=%s, from %s", code, type, client_who(c));
}

static void released(void *arg)
{
	struct keel_req *q = arg;
	struct client *c = q->client;
	struct keel_out *o = q->out;
	struct parts *parts = q->router->parts;

	if (q->route != NULL && !(q->route->def.flags & KEEL_REQUEST_WAITS))
		account_add(&parts->account[KEEL_ACCOUNT_REQUEST], loop_clock_ns(parts->loop) - q->since_ns);
	q->out = NULL;
	if (c != NULL)
		client_send(c, o, WIRE_REPLY, q->corr);
	else
		out_drop(o);
	req_end(q);
}

static void body_drop(void *msg)
{
	msg_destroy(msg);
}

static void send_after(struct keel_req *q, struct keel_out *o)
{
	q->state = REQ_SENT;
	q->out = o;
	/* A long body is freed in this turn, not together with those that wait for the same transaction. */
	if (q->len > q->router->limits.queued_small && loop_defer(q->router->parts->loop, body_drop, q->msg) == 0)
		q->msg = NULL;
	if (q->route != NULL && (q->route->def.flags & KEEL_REQUEST_READ)) {
		released(q);
		return;
	}
	if (store_after(q->router->parts->store, released, q) == 0)
		return;
	log_add(q->router->parts->log, KEEL_LOG_ERROR, "Req", "client",
		"no memory for an answer to %s: its connection is closed", q->session.who);
	client_send(q->client, NULL, WIRE_REPLY, q->corr); /* disconnects the client */
	req_end(q);
}

/* Returns whether a reply may be sent; otherwise deals with it: a second one is logged, an orphan ends. */
static bool req_answerable(struct keel_req *q)
{
	if (q->state == REQ_OPEN)
		return true;
	if (q->state == REQ_ORPHAN)
		req_end(q);
	else
		log_add(q->router->parts->log, KEEL_LOG_ERROR, "Req", "client",
			"a module answered a request that was answered before; ignored");
	return false;
}

static void KEEL_PRINTF(3, 4) reply(struct keel_req *q, int32_t code, const char *fmt, ...)
{
	char text[TEXT_SIZE];
	va_list ap;

	if (!req_answerable(q))
		return;
	if (fmt != NULL) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
	}
	if (code != 0 && q->route != NULL)
		log_reject(q->client, &q->route->def, q->route->def.name, code);
	send_after(q, reply_make(code, fmt != NULL ? text : pbse_text(code)));
}

static void reply_with(struct keel_req *q, struct keel_out *o)
{
	uint32_t len;

	if (!req_answerable(q)) {
		out_drop(o);
		return;
	}
	if (out_bytes(o, &len) == NULL) {
		out_drop(o);
		o = reply_make(PBSE_SYSTEM, "the answer does not fit into memory");
	}
	send_after(q, o);
}

static void reply_out(struct keel_req *q, struct keel_out *o)
{
	out_put_int(o, "code", 0);
	reply_with(q, o);
}

static void reply_raw(struct keel_req *q, const void *bytes, uint32_t len)
{
	reply_with(q, out_raw(bytes, len));
}

static int32_t part(struct keel_req *q, struct keel_out *o)
{
	struct client *c = q->client;

	if (q->state != REQ_OPEN || c->broken) {
		out_drop(o);
		return -EPIPE;
	}
	q->parts = true;
	client_send(c, o, WIRE_PART, q->corr);
	if (client_overfull(c) && !c->full)
		client_write(c);
	if (c->broken)
		return -EPIPE;
	return client_overfull(c) ? -ENOBUFS : 0;
}

/* ---- other functions for modules -------------------------------------------------------------- */
static int32_t drained(struct keel_req *q, keel_fn *fn, void *arg)
{
	if (q->state != REQ_OPEN || q->client->broken)
		return -EPIPE;
	q->drained = fn;
	q->drained_arg = arg;
	if (client_drained(q->client))
		client_again(q->client);
	return 0;
}

static const char *req_name(struct keel_req *q)
{
	return q->route != NULL ? q->route->def.name : "";
}

static void on_gone(struct keel_req *q, keel_fn *fn, void *arg)
{
	if (q->state != REQ_OPEN)
		return;
	q->gone = fn;
	q->gone_arg = arg;
}

static void on_leave(struct keel_req *q, keel_fn *fn, void *arg)
{
	if (q->state != REQ_OPEN)
		return;
	q->leave = fn;
	q->leave_arg = arg;
}

static const void *raw(struct keel_req *q, uint32_t *ret_len)
{
	*ret_len = (uint32_t)q->len;
	return q->raw;
}

static int32_t part_raw(struct keel_req *q, const void *bytes, uint32_t len)
{
	return part(q, out_raw(bytes, len));
}

static void again(struct keel_req *q)
{
	if (req_answerable(q))
		send_after(q, again_make(q));
}

static const struct keel_session *session(struct keel_req *q)
{
	return &q->session;
}

static const struct keel_msg *body(struct keel_req *q)
{
	return q->msg;
}

/* ---- ends that the client or the kernel brings ------------------------------------------------ */
void req_client_gone(struct keel_req *q)
{
	struct router *r = q->router;
	keel_fn *gone = q->gone;
	void *arg = q->gone_arg;
	struct route *route = q->route;

	req_detach(q);
	if (q->state == REQ_SENT)
		return;
	q->state = REQ_ORPHAN;
	/* Cancelling a hold may make the module reply; then `gone` is not called. */
	hooks_client_gone(r->parts->hooks, q);
	if (q->state == REQ_ORPHAN && gone != NULL)
		CRUMB_CALL(route->owner, "on_gone()", route->def.name, gone(&route->owner->pub, arg));
}

void req_again(struct keel_req *q)
{
	client_send(q->client, again_make(q), q->client->remote.owner != NULL && !q->parts ? WIRE_GOODBYE : WIRE_REPLY, q->corr);
	req_client_gone(q);
}

void req_withdraw(struct keel_req *q, int32_t code, const char *text)
{
	struct client *c = q->client;

	if (q->route != NULL)
		log_reject(c, &q->route->def, q->route->def.name, code);
	client_send(c, reply_make(code, text != NULL ? text : pbse_text(code)), WIRE_REPLY, q->corr);
	req_detach(q);
	if (q->state == REQ_OPEN)
		q->state = REQ_ORPHAN;
}

/* ---- start ---------------------------------------------------------------------------------- */
static const char *host_of(const struct client *c)
{
	return c->user->host != NULL ? c->user->host : c->router->parts->host_name;
}

uint32_t req_roles(const struct client *c)
{
	struct router *r = c->router;
	uint32_t roles = KEEL_USER;

	if (c->uid == 0 || c->uid == r->euid)
		roles |= KEEL_OPERATOR | KEEL_MANAGER;
	if (r->parts->daemon & KEEL_SERVER)
		roles |= (uint32_t)hooks_fold(r->parts->hooks, KEEL_POINT_client_auth,
					      KEEL_EVENT(client_auth, .user = c->user->name, .host = host_of(c),
							 .uid = c->uid),
					      NULL, 0) &
			 KEEL_EVERYBODY;
	return c->remote.owner != NULL ? roles & c->remote.roles : roles;
}

static void fill_session(struct keel_req *q, uint32_t roles)
{
	struct client *c = q->client;

	q->user = c->user;
	c->user->refs++;
	q->session = (struct keel_session){
		.size = sizeof(q->session),
		.roles = roles,
		.uid = c->uid,
		.gid = c->gid,
		.user = c->user->name,
		.host = host_of(c),
		.who = c->user->who,
		.group = c->user->group,
		.groups = c->user->groups,
	};
}

/* Returns the route `name`, or `name.verb` when there is a verb; NULL: no such row. */
static struct route *route_of(struct router *r, const char *name, const char *verb)
{
	struct route *route;
	char full[256];

	if (verb != NULL && snprintf(full, sizeof(full), "%s.%s", name, verb) < (int)sizeof(full))
		name = full;
	route = (struct route *)index_find(&r->routes, name, strlen(name));
	return route != NULL && !(route->def.flags & KEEL_REQUEST_OTHERS) ? route : NULL; /* that goes by no name of a client */
}

static void req_serve(struct keel_req *q)
{
	struct parts *parts = q->router->parts;
	struct owner *owner = q->route->owner;
	uint64_t changes = store_changes(parts->store);
	uint32_t parked = hooks_parked(parts->hooks);
	CRUMB_CALL(owner, "request", q->route->def.name, q->route->def.handler(&owner->pub, q));
	if (store_changes(parts->store) == changes)
		hooks_handled(parts->hooks, q, parked);
}

/* The outcome of request_receive: calls the handler, or replies with the refusal. */
static void request_received(struct keel_mod *m, void *arg, const struct keel_outcome *outcome)
{
	struct keel_req *q = arg;

	(void)m;
	q->receiving = false;
	if (q->state != REQ_OPEN) /* its client or its module is gone */
		req_end(q);
	else if (outcome->verdict == KEEL_NEXT || outcome->verdict == KEEL_DONE)
		req_serve(q);
	else
		reply(q, outcome->code != 0 ? outcome->code : PBSE_HOOKERROR,
		      outcome->text != NULL ? "%s" : NULL, outcome->text);
}

static void request_raise(struct keel_req *q)
{
	struct hooks *h = q->router->parts->hooks;

	if (!hooks_tapped(h, KEEL_POINT_request_receive)) {
		req_serve(q);
		return;
	}
	q->receiving = true;
	hooks_raise(h, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_request_receive,
		.event = KEEL_EVENT(request_receive, .name = q->route->def.name,
				    .who = q->session.who),
		.req = q,
		.done = request_received,
		.arg = q,
	});
}

/* Decodes the body; a long one without copying it, where none goes on as it is: reading changes it. Returns 0 or -errno. */
static int body_open(struct client *c, const struct frame *f, struct keel_msg **ret_msg)
{
	bool takes = f->len > c->router->limits.queued_small && c->router->others == NULL;
	char *memory = takes ? frame_take(&c->reader, f) : NULL;

	if (memory == NULL)
		return msg_open(f->body, f->len, ret_msg);
	return msg_take(memory, (size_t)(f->body - memory), f->len, ret_msg);
}

/* Is it within the bounds? Decoding takes one turn; a script costs little there: it is only copied. */
static int32_t bounds_check(const struct client *c, const struct frame *f, struct keel_err *err)
{
	const struct router *r = c->router;
	size_t most = r->limits.request;

	if (f->len > most / (1 + PACK_VALUE_COST) && pack_cost(f->body, f->len, most) > most)
		return err_set(err, PBSE_IVALREQ, "the request is too long: at most %zu bytes besides a job's script, "
			       "where each value counts %u more; ask in parts", most, PACK_VALUE_COST);
	if (r->open + f->len > r->limits.open_all && c->open + f->len > r->limits.open_small)
		return err_set(err, PBSE_SYSTEM, "too many long requests wait for their answers; try again later");
	return 0;
}

/* Keeps the body as it came: it goes on elsewhere. Returns whether there was memory. */
static bool raw_take(struct keel_req *q, const struct frame *f)
{
	q->raw = malloc(f->len);
	if (q->raw != NULL)
		memcpy(q->raw, f->body, f->len);
	return q->raw != NULL;
}

#define VERB "keelson." /* of people: the refusal says who may */

/* May this client send it now? */
static int32_t right_check(const struct client *c, const struct route *route, uint32_t *ret_roles, struct keel_err *err)
{
	const char *trouble = store_trouble(c->router->parts->store);

	if (c->user->error != 0)
		return c->user->error == -ENOENT ? PBSE_BADCRED : PBSE_SYSTEM;
	if (route == NULL && !(c->router->parts->daemon & KEEL_SERVER))
		return err_set(err, PBSE_UNKREQ, "cannot reach the server from this host: none of the modules of its daemon "
			       "carries requests there; enable one, or work on the server's host");
	if (route == NULL)
		return PBSE_UNKREQ;
	if (c->remote.reads && !(route->def.flags & KEEL_REQUEST_READ))
		return err_set(err, PBSE_PERM, "%shost %s may look and not change anything", pbse_text(PBSE_PERM), c->user->host);
	*ret_roles = req_roles(c);
	if ((*ret_roles & route->def.roles) == 0 && strncmp(route->def.name, VERB, sizeof(VERB) - 1) == 0)
		return err_set(err, PBSE_PERM, "%s(%s may)", pbse_text(PBSE_PERM),
			       route->def.roles & KEEL_OPERATOR ? "operators and managers" : "managers");
	if ((*ret_roles & route->def.roles) == 0)
		return PBSE_PERM;
	if (!(route->def.flags & KEEL_REQUEST_READ) && trouble != NULL)
		return err_set(err, PBSE_SYSTEM, "%s%s", pbse_text(PBSE_SYSTEM), trouble);
	return 0;
}

void req_start(struct client *c, const struct frame *f)
{
	struct keel_err err;
	struct route *route = NULL;
	struct keel_msg *m = NULL;
	struct keel_req *q = NULL;
	const char *name = NULL;
	uint32_t roles = 0;
	bool raw;
	int32_t code;

	err.text[0] = '\0';
	code = bounds_check(c, f, &err);
	if (code == 0) {
		int ret = body_open(c, f, &m);

		name = ret == 0 ? msg_api.str(m, "req") : NULL;
		c->closing = c->closing || name == NULL;
		route = name != NULL ? route_of(c->router, name, msg_api.str(m, "verb")) : NULL;
		if (name != NULL && route == NULL)
			route = c->router->others;
		if (name == NULL)
			code = ret == -ENOMEM ? PBSE_SYSTEM : PBSE_PROTOCOL;
		else
			code = right_check(c, route, &roles, &err);
	}
	raw = route != NULL && route == c->router->others;
	q = code == 0 ? req_create(c, f, raw ? NULL : m) : NULL;
	if (q != NULL && raw && !raw_take(q, f)) {
		req_end(q);
		q = NULL;
	}
	if (q != NULL) {
		if (raw)
			msg_destroy(m);
		q->route = route;
		fill_session(q, roles);
		request_raise(q);
		return;
	}
	/* Nothing has changed: the reply does not wait for the store. */
	code = code != 0 ? code : PBSE_SYSTEM;
	log_reject(c, route != NULL ? &route->def : NULL, name != NULL ? name : "?", code);
	client_send(c, reply_make(code, err.text[0] != '\0' ? err.text : pbse_text(code)), WIRE_REPLY, f->corr);
	msg_destroy(m);
}

const struct keel_request_api req_api = {
	.size = sizeof(req_api),
	.version = 0,
	.session = session,
	.body = body,
	.reply = reply,
	.reply_out = reply_out,
	.part = part,
	.drained = drained,
	.on_gone = on_gone,
	.name = req_name,
	.raw = raw,
	.part_raw = part_raw,
	.reply_raw = reply_raw,
	.on_leave = on_leave,
	.again = again,
};
