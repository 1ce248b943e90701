/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - at a host: requests of its clients, until the server has answered them.
 *
 *	came -> SENT ------------------ REPLY, REFUSE -> answered
 *	  '---> WAITING (no link) -> SENT   |
 *	           ^------- AGAIN ----------'     the body stays here until then, so that it can be sent once more
 *
 * When the link is lost, what was sent and only waits, or was sent in part, is sent once more; the rest is answered with an
 * error, for the server may have done it. Nothing is sent before the server has said HERE: without this module it would be lost. Without a link a request is refused at once, but while the server restarts or this daemon has
 * just begun. When this daemon restarts, LEAVE makes the server say AGAIN to what it may, and libpbs sends it again.
 */
#include "client-relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERVER "server"
#define NO_MEMORY "no memory to carry the request to the server"
enum {
	TICK_MS = 250,
	FIRST_LINK_MS = 10 * 1000, /* of a daemon that has begun */
	RESTART_MS = 60 * 1000,    /* of a server that said so */
	HERE_MS = 5 * 1000,	   /* from the link to the server's first record */
};

struct carried {
	UT_hash_handle hh; /* by id */
	uint64_t id;
	struct keel_req *req;
	struct state *s;
	bool sent, parts;    /* parts: its client has some */
	uint32_t waits;	     /* OP_WAITS */
	uint32_t at, window; /* of the body: what was sent, and may be */
	uint32_t in_flight;  /* of the body, not taken yet */
	uint32_t owed;       /* bytes of parts that the client has not read yet */
	int64_t deadline_ms; /* while it is not sent */
	struct carried *prev, *next;
};

static void tick_start(struct state *s);
static int64_t patience_ms(const struct state *s);

/* ---- life -------------------------------------------------------------------------------------------------- */
static void carried_free(struct carried *c)
{
	struct state *s = c->s;

	s->window += c->in_flight;
	if (c->hh.tbl != NULL)
		HASH_DEL(s->carried, c);
	DL_DELETE2(s->carried_list, c, prev, next);
	free(c);
}

static void refuse_no_memory(struct carried *c)
{
	struct keel_req *req = c->req;

	carried_free(c);
	keel_reply(req, PBSE_SYSTEM, NO_MEMORY);
}

static bool may_send(const struct state *s)
{
	return s->linked && s->here;
}

static void carried_again(struct carried *c)
{
	struct keel_req *req = c->req;

	carried_free(c);
	keel_reply_again(req);
}

static void refuse_unreachable(struct carried *c)
{
	struct state *s = c->s;
	struct keel_req *req = c->req;
	int64_t s_down = (keel_now_ms(s->mod) - s->down_ms) / 1000;

	carried_free(c);
	if (s->linked)
		keel_reply(req, PBSE_NOSERVER, "cannot reach the server from this host: the server takes no requests of hosts; "
			   "enable its module client-relay, or work on the server's host");
	else
		keel_reply(req, PBSE_NOSERVER, "cannot reach the server from this host: its daemon has no link to it, for %lld s now; "
		   "mom_logs of host %s says why", (long long)s_down, keel_host_name(s->mod));
}

/* ---- to the server ------------------------------------------------------------------------------------------- */
static void body_send(struct carried *c)
{
	struct state *s = c->s;
	uint32_t len;
	const char *body = keel_req_raw(c->req, &len);

	while (c->at < len && c->window > 0 && s->window > 0) {
		uint32_t n = len - c->at;

		n = n < CHUNK ? n : CHUNK;
		n = n < c->window ? n : c->window;
		batch_add(&s->up, OP_DATA, c->id, body + c->at, n);
		c->at += n;
		c->window -= n;
		c->in_flight += n;
		s->window -= n;
	}
}

static void request_send(struct carried *c)
{
	const struct keel_session *who = keel_req_session(c->req);
	const char *text[] = { who->user, who->group != NULL ? who->group : "", who->groups != NULL ? who->groups : "" };
	unsigned char open[4 + 2 * (NAME_MOST + 1) + GROUPS_MOST + 1];
	uint32_t len, at = 4;

	keel_req_raw(c->req, &len);
	number_write(open, len);
	for (int i = 0; i < 3; i++) {
		size_t n = strlen(text[i]), most = i == 2 ? GROUPS_MOST : NAME_MOST;

		n = n <= most ? n : 0;
		memcpy(open + at, text[i], n);
		open[at + n] = '\0';
		at += (uint32_t)n + 1;
	}
	c->sent = true;
	c->waits = 0;
	c->at = 0;
	c->window = WINDOW_UP;
	batch_add(&c->s->up, OP_OPEN, c->id, open, at);
	body_send(c);
}

/* One with parts is not sent again: what it waits for has a name in them, by which its client asks on. */
static void request_resume(struct carried *c)
{
	if (c->parts)
		carried_again(c);
	else
		request_send(c);
}

/* It is to be sent once more, under another id: what still comes for the old one is of the try before. */
static void request_wait(struct carried *c, int64_t patience_ms)
{
	struct state *s = c->s;

	s->window += c->in_flight;
	c->in_flight = 0;
	c->sent = false;
	c->deadline_ms = keel_now_ms(s->mod) + patience_ms;
	HASH_DEL(s->carried, c);
	c->id = ++s->last_id;
	HASH_ADD(hh, s->carried, id, sizeof(c->id), c);
	if (c->hh.tbl != NULL)
		tick_start(s);
	else
		refuse_no_memory(c);
}

/* The link it was sent over is gone. The server cannot have served what it has a part of. */
static void request_lost(struct carried *c)
{
	struct keel_req *req = c->req;

	uint32_t len;

	(void)keel_req_raw(req, &len);
	if ((c->waits != 0 && (c->waits == 2 || c->parts)) || c->at < len) {
		request_wait(c, c->waits != 0 ? INT32_MAX : patience_ms(c->s));
		return;
	}
	carried_free(c);
	keel_reply(req, PBSE_PROTOCOL, "the link from this host to the server was lost before it answered; look whether it was done");
}

/* `end`: the link is there, so that the server is to drop them. */
static void sent_lost(struct state *s, bool end)
{
	struct carried *c, *next;

	s->lost = false;
	DL_FOREACH_SAFE(s->carried_list, c, next) {
		if (c->sent && end)
			batch_add(&s->up, OP_END, c->id, NULL, 0);
		if (c->sent)
			request_lost(c);
	}
}

static void batch_lost(struct batch *b)
{
	struct state *s = b->mod->state;

	s->lost = true;
	tick_start(s); /* not below the function that added to it */
}

/* ---- without a link -------------------------------------------------------------------------------------------- */
/* How long a request may wait for a link, or for the server's HERE; 0: it is refused. */
static int64_t patience_ms(const struct state *s)
{
	int64_t now_ms = keel_now_ms(s->mod);

	if (s->linked)
		return s->up_ms + HERE_MS > now_ms ? s->up_ms + HERE_MS - now_ms : 0;
	if (s->bye_ms > now_ms)
		return s->bye_ms - now_ms;
	return s->down_ms == s->begin_ms && now_ms - s->begin_ms < FIRST_LINK_MS ? FIRST_LINK_MS : 0;
}

static void link_look(struct state *s)
{
	bool up = keel_link_is_up(s->mod, SERVER);

	bool down = s->linked && !up;

	if (down)
		s->down_ms = keel_now_ms(s->mod);
	s->linked = up;
	s->here = s->here && up;
	if (s->lost || down)
		sent_lost(s, up);
}

static void tick(struct keel_mod *mod, void *arg)
{
	struct state *s = mod->state;
	struct carried *c, *next;
	int64_t now_ms = keel_now_ms(mod);

	(void)arg;
	s->tick = NULL;
	link_look(s);
	DL_FOREACH_SAFE(s->carried_list, c, next) {
		if (c->sent)
			continue;
		if (may_send(s))
			request_resume(c);
		else if (c->deadline_ms <= now_ms || (s->linked && patience_ms(s) == 0))
			refuse_unreachable(c);
	}
	if (s->carried_list != NULL)
		tick_start(s);
}

static void tick_start(struct state *s)
{
	if (s->tick == NULL)
		s->tick = keel_timer(s->mod, TICK_MS, tick, NULL);
}

void host_linked(struct state *s)
{
	s->linked = true;
	s->here = false;
	s->up_ms = keel_now_ms(s->mod);
	sent_lost(s, false); /* over the link before */
}

static void on_here(struct state *s)
{
	struct carried *c, *next;

	sent_lost(s, false); /* it has forgotten them */
	s->here = s->linked = true;
	s->bye_ms = 0;
	DL_FOREACH_SAFE(s->carried_list, c, next)
		request_resume(c);
}

/* ---- requests of clients --------------------------------------------------------------------------------------- */
static void client_gone(struct keel_mod *mod, void *arg)
{
	struct carried *c = arg;
	struct keel_req *req = c->req;

	if (c->sent)
		batch_add(&((struct state *)mod->state)->up, OP_END, c->id, NULL, 0);
	carried_free(c);
	keel_reply(req, PBSE_NOSERVER, NULL); /* goes nowhere */
}

static void client_leaves(struct keel_mod *mod, void *arg)
{
	struct state *s = mod->state;
	struct carried *c = arg;

	s->leaving = true;
	if (c->sent)
		batch_add(&s->up, OP_LEAVE, c->id, NULL, 0);
	else
		carried_again(c);
}

/* One user's pile is not sent again and again while the server has no place for it. */
static bool has_many(const struct state *s, uint32_t uid)
{
	const struct carried *c;
	uint32_t n = 0;

	DL_FOREACH(s->carried_list, c)
		n += keel_req_session(c->req)->uid == uid;
	return n >= MINE_MOST;
}

void host_request(struct keel_mod *mod, struct keel_req *req)
{
	struct state *s = mod->state;
	struct carried *c;

	if (has_many(s, keel_req_session(req)->uid)) {
		keel_reply(req, PBSE_NOCONNECTS, "too many requests of this user wait on this host; try again when some are answered");
		return;
	}
	c = calloc(1, sizeof(*c));
	if (c == NULL) {
		keel_reply(req, PBSE_SYSTEM, NO_MEMORY);
		return;
	}
	c->s = s;
	c->req = req;
	c->id = ++s->last_id;
	DL_APPEND2(s->carried_list, c, prev, next);
	HASH_ADD(hh, s->carried, id, sizeof(c->id), c);
	if (c->hh.tbl == NULL) {
		refuse_no_memory(c);
		return;
	}
	link_look(s);
	if (may_send(s)) {
		request_send(c);
	} else if (patience_ms(s) > 0) {
		c->deadline_ms = keel_now_ms(mod) + patience_ms(s);
	} else {
		refuse_unreachable(c);
		return;
	}
	keel_on_gone(req, client_gone, c);
	keel_on_leave(req, client_leaves, c);
	tick_start(s);
}

/* ---- from the server --------------------------------------------------------------------------------------------- */
static void client_read(struct keel_mod *mod, void *arg)
{
	struct carried *c = arg;

	batch_add_number(&((struct state *)mod->state)->up, OP_TAKEN, c->id, c->owed);
	c->owed = 0;
}

static void on_part(struct carried *c, const struct record *r)
{
	int32_t ret;

	c->parts = true;
	c->owed += r->len;
	ret = keel_part_raw(c->req, r->data, r->len);
	if (ret == 0)
		client_read(c->s->mod, c);
	else if (ret == -ENOBUFS)
		(void)keel_drained(c->req, client_read, c); /* -EPIPE: client_gone() follows */
}

static void on_taken(struct carried *c, const struct record *r)
{
	struct state *s = c->s;
	uint32_t n = r->len == 4 ? number_read(r->data) : 0;

	bool full = s->window <= 0;

	n = n < c->in_flight ? n : c->in_flight;
	c->in_flight -= n;
	c->window += n;
	s->window += n;
	body_send(c);
	for (c = full ? s->carried_list : NULL; c != NULL && s->window > 0; c = c->next) {
		if (c->sent)
			body_send(c);
	}
}

static void on_refuse(struct carried *c, const struct record *r)
{
	struct keel_req *req = c->req;
	int32_t code = r->len >= 4 ? (int32_t)number_read(r->data) : PBSE_PROTOCOL;
	int len = r->len > 4 ? (int)(r->len - 4 < 512 ? r->len - 4 : 512) : 0;

	carried_free(c);
	keel_reply(req, code != 0 ? code : PBSE_PROTOCOL, "%.*s", len, len > 0 ? (const char *)r->data + 4 : "");
}

static void on_record(struct state *s, const struct record *r)
{
	struct carried *c;
	struct keel_req *req;

	if (r->op == OP_BYE) {
		s->bye_ms = keel_now_ms(s->mod) + RESTART_MS;
		return;
	}
	if (r->op == OP_HERE) {
		on_here(s);
		return;
	}
	HASH_FIND(hh, s->carried, &r->id, sizeof(r->id), c);
	if (c == NULL || !c->sent)
		return; /* its client has gone, or it is to be sent once more */
	req = c->req;
	switch (r->op) {
	case OP_PART: on_part(c, r); break;
	case OP_TAKEN: on_taken(c, r); break;
	case OP_REFUSE: on_refuse(c, r); break;
	case OP_WAITS: c->waits = r->len == 4 ? number_read(r->data) : 0; break;
	case OP_REPLY:
		carried_free(c);
		keel_reply_raw(req, r->data, r->len);
		break;
	case OP_AGAIN:
		if (s->leaving)
			carried_again(c);
		else
			request_wait(c, RESTART_MS);
		break;
	default: break;
	}
}

void host_records(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct state *s = mod->state;
	uint32_t len = 0;
	const unsigned char *at = keel_msg_bytes(msg, "records", &len), *end = at + len;
	struct record r;
	bool bad = at == NULL;

	while (!bad && record_next(&at, end, &r, &bad))
		on_record(s, &r);
	if (s->carried_list != NULL)
		tick_start(s); /* there was no memory for it */
	if (bad)
		keel_log(mod, KEEL_LOG_ERROR, "Relay", peer, "what the server sent is no record");
}

/* ---- start and stop ------------------------------------------------------------------------------------------------ */
int32_t host_start(struct state *s, struct keel_err *err)
{
	(void)err;
	s->up = (struct batch){ .mod = s->mod, .peer = SERVER, .message = TO_SERVER, .lost = batch_lost };
	s->window = WINDOW_UP_ALL;
	s->begin_ms = s->down_ms = s->up_ms = keel_now_ms(s->mod);
	s->linked = keel_link_is_up(s->mod, SERVER);
	return 0;
}

void host_stop(struct state *s)
{
	while (s->carried_list != NULL) {
		struct keel_req *req = s->carried_list->req;

		carried_free(s->carried_list);
		keel_reply(req, PBSE_SVRDOWN, "the daemon of this host ends; look whether the server has done it");
	}
	keel_timer_cancel(s->tick);
	s->tick = NULL;
	batch_fini(&s->up);
}
