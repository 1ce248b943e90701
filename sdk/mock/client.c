/* SPDX-License-Identifier: Apache-2.0
 *
 * client.c - users whom a test plays, and their requests.
 */
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "guest.h"
#include "hook/hooks.h"
#include "host.h"
#include "msg/msg.h"
#include "request/inside.h"

struct guest {
	struct guest *next;
	struct keel_mock *mock;
	struct client *client; /* NULL: gone */
	struct keel_mock_reply *reply;
	const char **part;
	uint32_t n_parts;
	bool answered, slow;
	keel_fn *drained; /* what is called when it reads again */
	void *drained_arg;
};

struct dummy {
	struct dummy *next;
	struct keel_req req;
};

struct session {
	struct session *next;
	struct keel_session pub;
};

/* ---- users ------------------------------------------------------------------------------------------------- */
const struct keel_session *keel_mock_session(struct keel_mock *mock, const char *user, uint32_t roles)
{
	struct session *s = host_keep(mock, host_alloc(sizeof(*s)));

	s->pub = (struct keel_session){
		.size = sizeof(s->pub), .roles = roles | KEEL_USER, .uid = 1000, .gid = 1000,
		.user = host_keep(mock, host_dup(user)), .host = mock->parts.host_name,
		.who = host_keep(mock, host_print("%s@%s", user, mock->parts.host_name)), .group = "users",
		.groups = "users",
	};
	LL_PREPEND(mock->sessions, s);
	return &s->pub;
}

/* What they may, as a module at this point would say it. */
static keel_verdict on_client_auth(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_client_auth *ev = event;
	struct keel_mock *mock = arg;
	const struct keel_call_api *call = keel_mock_group(mock, "call");
	const struct session *s = mock->sessions;

	(void)point;
	while (s != NULL && strcmp(s->pub.user, ev->user) != 0)
		s = s->next;
	if (s != NULL)
		call->add(c, s->pub.roles);
	return KEEL_NEXT;
}

void clients_init(struct keel_mock *mock)
{
	mock->parts.router->limits.request = WIRE_BODY_MAX;
	router_set_stall(mock->parts.router, INT32_MAX);
}

/* ---- frames ------------------------------------------------------------------------------------------------- */
static void take_part(struct guest *g, const struct frame *f)
{
	const char **part = host_alloc((g->n_parts + 1) * sizeof(*part));

	if (g->n_parts > 0)
		memcpy(part, g->part, g->n_parts * sizeof(*part));
	part[g->n_parts++] = host_keep(g->mock, body_json(f->body, f->len, NULL));
	g->part = host_keep(g->mock, part);
	if (g->reply != NULL) {
		g->reply->parts = g->n_parts;
		g->reply->part = g->part;
	}
}

static void take_reply(struct guest *g, const struct frame *f)
{
	struct keel_msg *m;
	const char *text;

	g->answered = true;
	if (g->reply == NULL || msg_open(f->body, f->len, &m) < 0)
		return;
	text = msg_api.str(m, "text");
	g->reply->told = true;
	g->reply->code = (int32_t)msg_api.integer(m, "code", 0);
	snprintf(g->reply->text, sizeof(g->reply->text), "%s", text != NULL ? text : "");
	g->reply->json = host_keep(g->mock, body_json(f->body, f->len, "code"));
	msg_destroy(m);
}

static void frame_came(void *arg, const struct frame *f)
{
	if (f->type == WIRE_PART)
		take_part(arg, f);
	else if (f->type == WIRE_REPLY)
		take_reply(arg, f);
}

static void bytes_came(void *arg, const char *bytes, size_t len)
{
	struct guest *g = arg;

	if (len == 0)
		g->client = NULL;
	else
		frames_each(bytes, len, frame_came, g);
}

/* What waits for the end of a turn leaves now; those who have their answers go. */
void clients_settle(struct keel_mock *mock)
{
	struct guest *g;

	LL_FOREACH(mock->guests, g) {
		if (g->client != NULL && !g->client->full && g->client->queued > 0)
			client_write(g->client);
		if (g->client != NULL && g->answered)
			router_guest_leave(g->client);
	}
}

/* ---- requests --------------------------------------------------------------------------------------------------- */
static struct guest *guest_make(struct keel_mock *mock, const struct keel_session *s)
{
	struct guest *g = host_keep(mock, host_alloc(sizeof(*g)));
	bool manages = !(mock->parts.daemon & KEEL_SERVER) && (s->roles & (KEEL_OPERATOR | KEEL_MANAGER)) != 0;
	const struct router_guest face = { .uid = manages ? 0 : s->uid, .gid = manages ? 0 : s->gid, .user = s->user,
					   .group = s->group, .send = bytes_came, .arg = g };

	*g = (struct guest){ .mock = mock };
	if (mock->guests == NULL)
		keel_mock_tap(mock, KEEL_POINT_client_auth, "client_auth", 0, on_client_auth, mock);
	LL_PREPEND(mock->guests, g);
	if (router_guest(mock->parts.router, &face, &g->client) < 0)
		die("no memory for a client");
	return g;
}

struct keel_req *keel_mock_request(struct keel_mock *mock, const struct keel_session *s, const char *name,
				   const char *text, struct keel_mock_reply *ret)
{
	struct keel_out *o = body_of_text(text);
	struct guest *g;
	const char *frame;
	size_t len;

	if (s == NULL)
		s = keel_mock_session(mock, "test", KEEL_EVERYBODY);
	if (ret != NULL)
		*ret = (struct keel_mock_reply){ .json = NULL };
	g = guest_make(mock, s);
	g->reply = ret;
	out_put_str(o, "req", name);
	frame = out_frame(o, WIRE_REQUEST, 1, &len);
	if (frame == NULL)
		die("no memory for a request");
	router_guest_in(g->client, frame, len);
	out_drop(o);
	host_settle(mock);
	return g->client != NULL ? g->client->reqs : NULL;
}

static struct guest *guest_of(const struct keel_req *q)
{
	return q->client != NULL ? router_guest_arg(q->client) : NULL;
}

bool client_is_slow(const struct keel_req *q)
{
	const struct guest *g = guest_of(q);

	return g != NULL && g->slow;
}

void client_wants_drained(struct keel_req *q, keel_fn *fn, void *arg)
{
	struct guest *g = guest_of(q);

	g->drained = fn;
	g->drained_arg = arg;
}

void keel_mock_client_slow(struct keel_req *q, bool slow)
{
	const struct keel_request_api *api = keel_mock_group(host_of(q->router->parts), "request");
	struct guest *g = guest_of(q);

	if (g == NULL)
		return;
	g->slow = slow;
	if (!slow && g->drained != NULL)
		api->drained(q, g->drained, g->drained_arg);
	g->drained = NULL;
}

/* ---- requesters without a request ---------------------------------------------------------------------------------- */
struct keel_req *keel_mock_client(struct keel_mock *mock, const struct keel_session *s)
{
	struct dummy *d = host_keep(mock, host_alloc(sizeof(*d)));

	d->req = (struct keel_req){ .state = REQ_ORPHAN, .router = mock->parts.router,
				    .session = s != NULL ? *s : *keel_mock_session(mock, "test", KEEL_EVERYBODY) };
	LL_PREPEND(mock->dummies, d);
	return &d->req;
}

void keel_mock_client_gone(struct keel_req *q)
{
	struct keel_mock *mock = host_of(q->router->parts);
	struct dummy *d;

	LL_FOREACH(mock->dummies, d)
		if (&d->req == q) {
			hooks_client_gone(mock->parts.hooks, q);
			return;
		}
	if (q->client != NULL)
		router_guest_leave(q->client);
}

/* ---- the end --------------------------------------------------------------------------------------------------------- */
void replies_missing(struct keel_mock *mock, const struct owner *owner)
{
	const struct router *r = mock->parts.router;
	const struct keel_req *q;
	const struct client *c;

	DL_FOREACH(r->clients, c)
		DL_FOREACH(c->reqs, q)
			if (q->state == REQ_OPEN && q->route != NULL && q->route->owner == owner)
				violation(mock, "reply-missing", "%s to %s", owner->pub.name, q->route->def.name);
	DL_FOREACH(r->orphans, q)
		if (q->state == REQ_ORPHAN && q->route != NULL && q->route->owner == owner)
			violation(mock, "reply-missing", "%s to %s", owner->pub.name, q->route->def.name);
}

void clients_fini(struct keel_mock *mock)
{
	struct guest *g;

	LL_FOREACH(mock->guests, g) {
		g->reply = NULL;
		if (g->client != NULL)
			router_guest_leave(g->client);
	}
}
