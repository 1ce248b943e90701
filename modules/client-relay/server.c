/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - at the server: requests that hosts carry here, served as user@host, the host being the link's.
 *
 *	OPEN -> (what may this host do?) -> DATA ... -> served -> PART ..., REPLY
 *
 * A listing's first part goes at once, the rest as its client reads it. When a host's link is lost its clients are gone.
 *
 * What hosts send is served in slices, one host after the other: other clients of the server wait for a slice, never for
 * all that a host has sent.
 */
#include "client-relay.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asked {
	UT_hash_handle hh; /* by id, of the host */
	uint64_t id;
	struct host *host;
	struct keel_remote *remote;
	uint32_t lacks;   /* of the body */
	uint32_t window;  /* of the host's, that it was given */
	uint32_t flight;  /* bytes of parts that the host has not taken */
	bool waits; /* or is being answered: it has no place among those that are served */
	bool parts;
};

/* Of one message. */
struct records {
	struct records *prev, *next;
	size_t len;
	unsigned char bytes[];
};

struct host {
	UT_hash_handle hh;
	struct state *s;
	struct asked *asked;
	uint32_t n, n_waits;
	bool over; /* deferred */
	int64_t window; /* that listings may still be given */
	struct batch down;
	struct records *in; /* that were not served yet */
	size_t in_len;
	int64_t looked_ms, refused_ms; /* for requests that wait; in the log */
	uint32_t refused;
	struct host *prev, *next; /* hosts of which records wait */
	char name[];
};

/* ---- hosts and requests ---------------------------------------------------------------------------------------- */
static void asked_free(struct asked *a)
{
	struct host *h = a->host;

	h->window += a->window;
	h->n--;
	h->n_waits -= a->waits;
	HASH_DEL(h->asked, a);
	free(a);
}

static void in_drop(struct host *h)
{
	struct records *in, *next;

	if (h->in != NULL)
		DL_DELETE(h->s->busy, h);
	DL_FOREACH_SAFE(h->in, in, next)
		free(in);
	h->in = NULL;
	h->in_len = 0;
}

static void host_over(struct host *h)
{
	struct asked *a, *next;

	in_drop(h);
	HASH_ITER(hh, h->asked, a, next) {
		if (a->remote != NULL)
			keel_remote_end(a->remote);
		asked_free(a);
	}
}

static void over_later(struct keel_mod *mod, void *arg)
{
	struct host *h = arg;

	h->over = false;
	host_over(h);
	if (keel_link_is_up(mod, h->name))
		batch_add(&h->down, OP_HERE, 0, NULL, 0);
}

/* Not below the function that added to it. Without memory: when the link is down or there again. */
static void link_lost(struct batch *b)
{
	struct host *h = (struct host *)((char *)b - offsetof(struct host, down));

	if (!h->over)
		h->over = keel_defer(b->mod, over_later, h) == 0;
}

static struct host *host_get(struct state *s, const char *name)
{
	struct host *h;

	HASH_FIND_STR(s->hosts, name, h);
	if (h != NULL)
		return h;
	h = calloc(1, sizeof(*h) + strlen(name) + 1);
	if (h == NULL)
		return NULL;
	h->s = s;
	h->window = WINDOW_DOWN_ALL;
	strcpy(h->name, name);
	h->down = (struct batch){ .mod = s->mod, .peer = h->name, .message = TO_HOST, .lost = link_lost };
	HASH_ADD_STR(s->hosts, name, h);
	if (h->hh.tbl != NULL)
		return h;
	free(h);
	return NULL;
}

void server_host_over(struct state *s, const char *peer)
{
	struct host *h;

	HASH_FIND_STR(s->hosts, peer, h);
	if (h != NULL)
		host_over(h);
}

/* Without memory it is not said that requests are served here, and the host sends none. */
void server_host_up(struct state *s, const char *peer)
{
	struct host *h = host_get(s, peer);

	if (h == NULL)
		return;
	host_over(h);
	batch_add(&h->down, OP_HERE, 0, NULL, 0);
}

static void refuse(struct host *h, uint64_t id, int32_t code, const char *text)
{
	unsigned char bytes[4 + 512];
	size_t len = strnlen(text, 512);

	number_write(bytes, (uint32_t)code);
	memcpy(bytes + 4, text, len);
	batch_add(&h->down, OP_REFUSE, id, bytes, (uint32_t)(4 + len));
}

/* ---- places ------------------------------------------------------------------------------------------------------ */
static bool place_leave(struct asked *a)
{
	struct host *h = a->host;

	if (a->waits || h->n_waits >= WAITING_MOST)
		return false;
	a->waits = true;
	h->n_waits++;
	return true;
}

static void waits_look(struct asked *a)
{
	int32_t waits = a->lacks == 0 && !a->waits ? keel_remote_waits(a->remote) : 0;

	if (waits != 0 && place_leave(a))
		batch_add_number(&a->host->down, OP_WAITS, a->id, (uint32_t)waits);
}

/* Those that were served later than their last bytes came, when the server was busy, are looked at when all places are taken. */
static bool has_place(struct host *h)
{
	const struct conf *conf = h->s->mod->conf;
	int64_t now_ms = keel_now_ms(h->s->mod);
	struct asked *a, *next;

	if (h->n - h->n_waits >= conf->requests && now_ms - h->looked_ms >= LOOK_MS) {
		h->looked_ms = now_ms;
		HASH_ITER(hh, h->asked, a, next)
			waits_look(a);
	}
	return h->n - h->n_waits < conf->requests;
}

/* ---- what was served --------------------------------------------------------------------------------------------- */
/* The first part has shown that it is a listing: from now on it gets a window, when the host has one left. */
static uint32_t window_grow(struct asked *a)
{
	struct host *h = a->host;

	if (a->parts)
		return 0;
	a->parts = true;
	if (h->window < WINDOW_DOWN)
		return 0;
	h->window -= WINDOW_DOWN;
	a->window = WINDOW_DOWN;
	return WINDOW_DOWN;
}

static void on_frame(struct keel_mod *mod, void *arg, uint16_t type, const void *body, uint32_t len)
{
	struct asked *a = arg;

	(void)mod;
	if (type == WIRE_PART) {
		a->flight += len;
		place_leave(a); /* a client that does not read takes none from others of its host */
		batch_add(&a->host->down, OP_PART, a->id, body, len);
		return;
	}
	batch_add(&a->host->down, type == WIRE_REPLY ? OP_REPLY : OP_AGAIN, a->id, body, len);
	asked_free(a);
}

static void on_gone(struct keel_mod *mod, void *arg)
{
	struct asked *a = arg;

	(void)mod;
	refuse(a->host, a->id, PBSE_SYSTEM, "the server dropped the request: it restarts, the answer was not read for too long, or there was no memory");
	asked_free(a);
}

/* ---- what a host may ---------------------------------------------------------------------------------------------- */
static bool is_listed(const char *const *patterns, const char *host)
{
	for (; *patterns != NULL; patterns++)
		if (fnmatch(*patterns, host, 0) == 0)
			return true;
	return false;
}

/* One record a second of each host, and the number of those left out. */
static void log_refused(struct host *h, const char *user, const char *why)
{
	struct state *s = h->s;
	int64_t now_ms = keel_now_ms(s->mod);

	if (h->refused_ms != 0 && now_ms - h->refused_ms < 1000) {
		h->refused++;
		return;
	}
	keel_log(s->mod, KEEL_LOG_SECURITY, "Relay", h->name, "request of %s@%s refused: %s (%u more before)", user, h->name, why,
		 h->refused);
	h->refused_ms = now_ms;
	h->refused = 0;
}

static void on_open(struct host *h, const struct record *r)
{
	const struct conf *conf = h->s->mod->conf;
	struct opening o;
	struct asked *a;
	int32_t ret;

	HASH_FIND(hh, h->asked, &r->id, sizeof(r->id), a);
	if (a != NULL || opening_read(r, &o) < 0) {
		log_refused(h, "?", "it is not as this daemon's version has them");
		refuse(h, r->id, PBSE_PROTOCOL, "the server does not understand what the daemon of this host sent");
		return;
	}
	if (!is_listed(conf->look, h->name)) {
		log_refused(h, o.user, "client-relay.look does not name this host");
		refuse(h, r->id, PBSE_BADHOST, "the server takes no requests from this host (client-relay.look at the server)");
		return;
	}
	a = has_place(h) ? calloc(1, sizeof(*a)) : NULL;
	if (a == NULL) {
		batch_add(&h->down, OP_AGAIN, r->id, NULL, 0);
		return;
	}
	*a = (struct asked){ .id = r->id, .host = h, .lacks = o.length };
	HASH_ADD(hh, h->asked, id, sizeof(a->id), a);
	if (a->hh.tbl == NULL) {
		free(a);
		batch_add(&h->down, OP_AGAIN, r->id, NULL, 0);
		return;
	}
	h->n++;
	ret = keel_remote_start(h->s->mod, &(struct keel_remote_setup){
		.size = sizeof(struct keel_remote_setup),
		.roles = is_listed(conf->manage, h->name) ? KEEL_EVERYBODY : KEEL_USER,
		.reads = !is_listed(conf->submit, h->name),
		.user = o.user, .group = o.group, .groups = o.groups, .host = h->name,
		.length = o.length, .window = 1, .frame = on_frame, .gone = on_gone, .arg = a,
	}, &a->remote);
	if (ret == 0)
		return;
	asked_free(a);
	if (ret == -EINVAL)
		refuse(h, r->id, PBSE_IVALREQ, "the request is longer than any may be");
	else if (ret == -EUSERS)
		refuse(h, r->id, PBSE_NOCONNECTS, "too many requests of this user, or of hosts, wait at the server");
	else
		batch_add(&h->down, OP_AGAIN, r->id, NULL, 0);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */
static void on_data(struct asked *a, const struct record *r)
{
	struct host *h = a->host;
	uint64_t id = a->id;

	if (r->len > a->lacks) {
		log_refused(h, "?", "it is longer than it said");
		refuse(h, id, PBSE_PROTOCOL, "the request is longer than it said");
		keel_remote_end(a->remote);
		asked_free(a);
		return;
	}
	a->lacks -= r->len;
	batch_add_number(&h->down, OP_TAKEN, id, r->len);
	keel_remote_in(a->remote, r->data, r->len);
	HASH_FIND(hh, h->asked, &id, sizeof(id), a); /* it may have been answered by now */
	if (a != NULL)
		waits_look(a);
}

static void on_taken(struct asked *a, const struct record *r)
{
	uint32_t n = r->len == 4 ? number_read(r->data) : 0;

	n = n < a->flight ? n : a->flight;
	a->flight -= n;
	keel_remote_taken(a->remote, n + window_grow(a));
}

static void on_record(struct host *h, const struct record *r)
{
	struct asked *a;

	if (r->op == OP_OPEN) {
		on_open(h, r);
		return;
	}
	HASH_FIND(hh, h->asked, &r->id, sizeof(r->id), a);
	if (a == NULL)
		return; /* it has its answer */
	switch (r->op) {
	case OP_DATA: on_data(a, r); break;
	case OP_TAKEN: on_taken(a, r); break;
	case OP_LEAVE: keel_remote_again(a->remote); break;
	case OP_END:
		keel_remote_end(a->remote);
		asked_free(a);
		break;
	default: break;
	}
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */
static const unsigned char *records_serve(struct host *h, const unsigned char *at, const unsigned char *end)
{
	int64_t until_us = keel_clock_us(h->s->mod) + SLICE_US;
	struct record r;
	bool bad;

	for (uint32_t n = 1; record_next(&at, end, &r, &bad); n++) {
		on_record(h, &r);
		if (n % 16 == 0 && keel_clock_us(h->s->mod) >= until_us)
			break;
	}
	return at;
}

static void slice(struct keel_mod *mod, void *arg);

/* A host of which very much waits leaves the other clients most of the time. */
static bool slice_soon(struct state *s)
{
	if (s->slice == NULL && s->busy != NULL)
		s->slice = keel_timer(s->mod, s->busy->in_len > BATCH_MOST ? REST_MS : 0, slice, NULL);
	return s->slice != NULL;
}

/* Returns whether there was memory, and the host does not send more than it may. `first`: before what waits already. */
static bool in_add(struct host *h, const unsigned char *at, size_t len, bool first)
{
	struct state *s = h->s;
	struct records *in = h->in_len + len <= IN_MOST ? malloc(sizeof(*in) + len) : NULL;

	if (in == NULL)
		return false;
	in->len = len;
	memcpy(in->bytes, at, len);
	if (h->in == NULL)
		DL_APPEND(s->busy, h);
	if (first)
		DL_PREPEND(h->in, in);
	else
		DL_APPEND(h->in, in);
	h->in_len += len;
	return slice_soon(s);
}

static void in_serve(struct host *h, const unsigned char *at, size_t len, bool first)
{
	const unsigned char *end = at + len;

	if (h->in == NULL || first)
		at = records_serve(h, at, end);
	if (at == end || in_add(h, at, (size_t)(end - at), first))
		return;
	log_refused(h, "?", "this host sends more than it may; all it asked for is dropped");
	in_drop(h);
	link_lost(&h->down);
}

static void slice(struct keel_mod *mod, void *arg)
{
	struct state *s = mod->state;
	struct host *h = s->busy;
	struct records *in = h != NULL ? h->in : NULL;

	(void)arg;
	s->slice = NULL;
	if (in == NULL)
		return;
	DL_DELETE(s->busy, h);
	DL_DELETE(h->in, in);
	h->in_len -= in->len;
	if (h->in != NULL)
		DL_APPEND(s->busy, h);
	in_serve(h, in->bytes, in->len, true);
	free(in);
	slice_soon(s);
}

static bool are_records(const unsigned char *at, uint32_t len)
{
	const unsigned char *end = at + len;
	struct record r;
	bool bad = at == NULL || len > BATCH_MOST;

	while (!bad && record_next(&at, end, &r, &bad))
		;
	return !bad;
}

void server_records(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct state *s = mod->state;
	struct host *h;
	uint32_t len = 0;
	const unsigned char *at = keel_msg_bytes(msg, "records", &len);

	HASH_FIND_STR(s->hosts, peer, h);
	if (h != NULL && are_records(at, len))
		in_serve(h, at, len, false);
	else if (h != NULL)
		log_refused(h, "?", "what this host sent is no record, or too long");
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */
/* While links are there: they are gone when this module stops. */
void server_bye(struct state *s)
{
	struct host *h, *next;

	HASH_ITER(hh, s->hosts, h, next) {
		if (!keel_link_is_up(s->mod, h->name))
			continue;
		batch_add(&h->down, OP_BYE, 0, NULL, 0);
		batch_flush(&h->down);
	}
}

void server_stop(struct state *s)
{
	struct host *h, *next;

	keel_timer_cancel(s->slice);
	s->slice = NULL;
	HASH_ITER(hh, s->hosts, h, next)
		host_over(h);
}

void server_fini(struct state *s)
{
	struct host *h, *next;

	HASH_ITER(hh, s->hosts, h, next) {
		HASH_DEL(s->hosts, h);
		batch_fini(&h->down);
		free(h);
	}
}
