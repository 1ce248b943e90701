/* SPDX-License-Identifier: Apache-2.0
 *
 * link.c - other daemons, whom the test plays; and the group "blob".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

struct listener {
	struct listener *next;
	struct mod *owner;
	char *name;
	uint32_t from;
	void (*fn)(struct keel_mod *, const char *peer, const struct keel_msg *);
};
struct peer {
	struct peer *next;
	char *name;
	uint32_t daemon;
	bool up;
};

static struct peer *peer_find(struct keel_mock *mock, const char *name)
{
	struct peer *p = mock->peers;

	while (p != NULL && strcmp(p->name, name) != 0)
		p = p->next;
	return p;
}

/* ---- the group "link" ------------------------------------------------------------------------------- */
static int32_t on(struct keel_mod *pub, const char *name, uint32_t from,
		  void (*fn)(struct keel_mod *, const char *peer, const struct keel_msg *))
{
	struct mod *m = mod_in(pub, "link", "on");
	struct listener *l;

	if (m == NULL || fails(mock_of(m)))
		return -ENOMEM;
	LL_FOREACH(mock_of(m)->listeners, l)
		if (strcmp(l->name, name) == 0)
			return -EEXIST;
	l = make(sizeof(*l));
	*l = (struct listener){ .owner = m, .name = dup_text(name), .from = from, .fn = fn };
	LL_APPEND(mock_of(m)->listeners, l);
	return 0;
}

/* A message that comes back to this daemon. */
struct returning {
	struct keel_mock *mock;
	struct listener *to;
	struct node *root;
};

static void deliver(struct keel_mock *mock, const struct listener *l, const char *peer, struct node *root)
{
	struct keel_msg *msg = msg_make(mock, root);

	IN(l->owner, l->fn(&l->owner->pub, peer, msg));
	msg_end(msg);
}

static void returned(void *arg)
{
	struct returning *r = arg;
	struct listener *l;

	LL_FOREACH(r->mock->listeners, l)
		if (l == r->to)
			break;
	if (l != NULL)
		deliver(r->mock, l, l->from == KEEL_SERVER ? "server" : r->mock->host, r->root);
	else
		node_free(r->root);
	free(r);
}

static void return_to(struct keel_mock *mock, const char *name, struct node *root)
{
	struct returning *r = make(sizeof(*r));

	*r = (struct returning){ .mock = mock, .to = mock->listeners, .root = root };
	while (r->to != NULL && strcmp(r->to->name, name) != 0)
		r->to = r->to->next;
	host_item(mock, 0, returned, r);
}

void keel_mock_loopback(struct keel_mock *mock, bool loopback)
{
	mock->loopback = loopback;
}

static int32_t send_to(struct keel_mod *pub, const char *peer, const char *name, struct keel_out *o)
{
	struct mod *m = mod_in(pub, "link", "send");
	struct node *root = out_take(o, "send");
	struct text t = { 0 };
	const struct peer *p = m != NULL ? peer_find(mock_of(m), peer) : NULL;
	struct record *r;

	if (m == NULL || p == NULL || !p->up || root == NULL || fails(mock_of(m))) {
		node_free(root);
		return p == NULL || !p->up ? -ENOTCONN : -ENOMEM;
	}
	text_put(&t, "%s %s ", peer, name);
	node_json(root, &t);
	if (mock_of(m)->loopback)
		return_to(mock_of(m), name, root);
	else
		node_free(root);
	r = make(sizeof(*r));
	r->text = t.data;
	LL_APPEND(mock_of(m)->sent, r);
	return 0;
}

static bool is_up(struct keel_mod *pub, const char *peer)
{
	struct mod *m = mod_in(pub, "link", "is_up");
	const struct peer *p = m != NULL ? peer_find(mock_of(m), peer) : NULL;

	return p != NULL && p->up;
}

const struct keel_link_api link_api = {
	.size = sizeof(link_api), .on = on, .send = send_to, .is_up = is_up,
};

/* ---- the test's side ----------------------------------------------------------------------------------- */
void keel_mock_peer(struct keel_mock *mock, const char *name, uint32_t daemon, bool up)
{
	struct peer *p = peer_find(mock, name);

	if (p == NULL) {
		p = make(sizeof(*p));
		p->name = dup_text(name);
		LL_PREPEND(mock->peers, p);
	}
	p->daemon = daemon;
	p->up = up;
	if (up)
		keel_mock_raise(mock, KEEL_POINT_peer_up, KEEL_EVENT(peer_up, .peer = name, .daemon = daemon),
				NULL);
	else
		keel_mock_raise(mock, KEEL_POINT_peer_down,
				KEEL_EVENT(peer_down, .peer = name, .daemon = daemon), NULL);
}

const char *keel_mock_sent(struct keel_mock *mock, uint32_t i)
{
	const struct record *r = mock->sent;

	while (r != NULL && i-- > 0)
		r = r->next;
	return r != NULL ? r->text : NULL;
}

void keel_mock_sent_clear(struct keel_mock *mock)
{
	while (mock->sent != NULL) {
		struct record *r = mock->sent;

		mock->sent = r->next;
		keep(mock, r->text);
		free(r);
	}
}

bool keel_mock_deliver(struct keel_mock *mock, const char *peer, const char *name, const char *body)
{
	const struct peer *p = peer_find(mock, peer);
	struct listener *l;

	LL_FOREACH(mock->listeners, l)
		if (strcmp(l->name, name) == 0)
			break;
	if (l == NULL || p == NULL || (l->from & p->daemon) == 0)
		return false;
	deliver(mock, l, peer, node_of_text(body));
	return true;
}

void links_leave(struct mod *m)
{
	struct listener *l, *next;

	LL_FOREACH_SAFE(mock_of(m)->listeners, l, next) {
		if (l->owner != m)
			continue;
		LL_DELETE(mock_of(m)->listeners, l);
		free(l->name);
		free(l);
	}
}

void links_fini(struct keel_mock *mock)
{
	keel_mock_sent_clear(mock);
	while (mock->peers != NULL) {
		struct peer *p = mock->peers;

		mock->peers = p->next;
		free(p->name);
		free(p);
	}
}

/* ---- the group "blob" -------------------------------------------------------------------------------------- */
static struct blob *blob_find(const struct body *b, const char *name)
{
	struct blob *x = b->blobs;

	while (x != NULL && strcmp(x->name, name) != 0)
		x = x->next;
	return x;
}

static int32_t blob_put(struct keel_obj *o, const char *name, const void *bytes, uint32_t len)
{
	struct body *b = body_of(o, "put");
	struct blob *x;

	if (b == NULL || fails(o->head.mock))
		return -ENOMEM;
	x = blob_find(b, name);
	if (x == NULL) {
		x = make(sizeof(*x));
		x->name = dup_text(name);
		LL_PREPEND(b->blobs, x);
	}
	free(x->bytes);
	x->bytes = make((size_t)len + 1);
	if (len > 0)
		memcpy(x->bytes, bytes, len);
	x->len = len;
	return 0;
}

struct getting {
	struct mod *mod;
	char *klass, *id, *name;
	void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len);
	void *arg;
};

static void got(void *arg)
{
	struct getting *g = arg;
	struct body *b = body_find(mock_of(g->mod), g->klass, g->id);
	const struct blob *x = b != NULL ? blob_find(b, g->name) : NULL;

	g->mod->live--;
	if (!g->mod->head.ended)
		IN(g->mod, g->fn(&g->mod->pub, g->arg, x != NULL ? x->bytes : NULL, x != NULL ? x->len : 0));
	free(g->klass);
	free(g->id);
	free(g->name);
	free(g);
}

static int32_t blob_get(struct keel_mod *pub, const char *klass, const char *id, const char *name,
			void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len),
			void *arg)
{
	struct mod *m = mod_in(pub, "blob", "get");
	struct getting *g;

	if (m == NULL || fails(mock_of(m)))
		return -ENOMEM;
	g = make(sizeof(*g));
	*g = (struct getting){ .mod = m, .klass = dup_text(klass), .id = dup_text(id),
			       .name = dup_text(name), .fn = fn, .arg = arg };
	m->live++;
	host_item(mock_of(m), 0, got, g);
	return 0;
}

const struct keel_blob_api blob_api = { .size = sizeof(blob_api), .put = blob_put, .get = blob_get };

const char *keel_mock_blob(struct keel_obj *o, const char *name)
{
	const struct blob *x = blob_find(o->body, name);

	return x != NULL ? ring(o->head.mock, dup_text(x->bytes)) : NULL;
}
