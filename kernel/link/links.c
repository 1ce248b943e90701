/* SPDX-License-Identifier: Apache-2.0
 *
 * links.c - the life of all links; the group "link", from a message's name to the module that listens to it; the group
 * "carry", by which the module that offers the service "carrier" says which daemons it has reached, when it lost them,
 * and what they sent.
 *
 * The sender's role is that of its key; a message from a role that its listener did not name is logged and dropped.
 */
#include "link/links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/inside.h"
#include "log/log.h"
#include "msg/msg.h"
#include "registry/registry.h"
#include "wire/buf.h"
#include "util/crumb.h"
#include "util/err.h"

static struct links *links_of(struct keel_mod *m)
{
	return owner_of(m)->parts->links;
}

/* ---- the group "link" ------------------------------------------------------------------------- */
static int32_t link_on(struct keel_mod *m, const char *name, uint32_t from, message_fn *fn)
{
	struct links *l = links_of(m);
	struct handler *h;

	if (name == NULL || name[0] == '\0' || fn == NULL || (from & KEEL_ANY) == 0)
		return -EINVAL;
	if (index_find(&l->handlers, name, strlen(name)))
		return -EEXIST;
	h = calloc(1, sizeof(*h) + strlen(name) + 1);
	if (h == NULL)
		return -ENOMEM;
	h->from = from;
	h->owner = owner_of(m);
	h->fn = fn;
	strcpy(h->name, name);
	index_key_init(&h->key, h->name, strlen(h->name));
	if (index_add(&l->handlers, &h->key) == 0)
		return 0;
	free(h);
	return -ENOMEM;
}

void links_detach(struct links *l, struct owner *owner)
{
	struct handler *h;

	for (uint32_t at = 0; (h = (struct handler *)index_next(&l->handlers, &at));) {
		if (owner != NULL && h->owner != owner)
			continue;
		index_remove(&l->handlers, &h->key);
		free(h);
		at--;
	}
}

int dispatch(struct links *l, const char *peer, uint32_t daemon, const char *bytes, size_t len)
{
	struct keel_msg *m;
	struct handler *h;
	const char *name;

	if (msg_open(bytes, len, &m) < 0)
		return -EPROTO;
	name = msg_api.str(m, "msg");
	if (name == NULL) {
		msg_destroy(m);
		return -EPROTO;
	}
	h = (struct handler *)index_find(&l->handlers, name, strlen(name));
	if (strcmp(name, GOODBYE) == 0)
		peer_leaves(l, peer);
	else if (h == NULL)
		log_add(l->parts->log, KEEL_LOG_DEBUG, "Link", peer,
			"message '%.64s' ignored: no module here listens to it", name);
	else if ((h->from & daemon) == 0)
		log_add(l->parts->log, KEEL_LOG_SECURITY, "Link", peer,
			"message '%.64s' refused: it may not come from this kind of daemon", name);
	else
		CRUMB_CALL(h->owner, "message handler", name, h->fn(&h->owner->pub, peer, m));
	msg_destroy(m);
	return 0;
}

static int32_t link_send(struct keel_mod *m, const char *peer, const char *name, struct keel_out *o)
{
	struct peer *p = peer_find(links_of(m), peer);

	if (!peer_is_up(p)) {
		out_drop(o);
		return -ENOTCONN;
	}
	out_put_str(o, "msg", name);
	return peer_send(p, o);
}

static int32_t link_stream(struct keel_mod *m, const char *peer, const char *name, struct keel_out *o)
{
	struct peer *p = peer_find(links_of(m), peer);
	const char *bytes;
	uint32_t len;
	int ret;

	if (!peer_is_up(p) || p->memory)
		return link_send(m, peer, name, o); /* of this process: in a turn of its own */
	out_put_str(o, "msg", name);
	bytes = out_bytes(o, &len);
	ret = bytes == NULL ? -ENOMEM : len > MESSAGE_MOST ? -EMSGSIZE : 0;
	if (ret == 0)
		peer_carry(p, bytes, len);
	out_drop(o);
	return ret;
}

static bool link_is_up(struct keel_mod *m, const char *peer)
{
	return peer_is_up(peer_find(links_of(m), peer));
}

static bool link_is_awaited(struct keel_mod *m, const char *peer)
{
	struct peer *p = peer_find(links_of(m), peer);

	return p != NULL && p->awaited;
}

static const struct keel_link_api api = {
	.size = sizeof(api),
	.version = 0,
	.on = link_on,
	.send = link_send,
	.is_up = link_is_up,
	.is_awaited = link_is_awaited,
	.stream = link_stream,
};

/* ---- the group "carry" ------------------------------------------------------------------------ */
static int32_t carry_up(struct keel_mod *m, const char *name, uint32_t daemon, int64_t grace_ms)
{
	struct links *l = links_of(m);
	const struct keel_carrier_api *carrier = registry_service(l->parts->registry, "carrier", 0, NULL, NULL);
	struct peer *p;

	if (carrier == NULL || carrier->self != m)
		return -EPERM;
	p = peer_get(l, name, daemon);
	if (p == NULL)
		return -ENOMEM;
	if (p->memory || !l->running)
		return -EBUSY;
	p->daemon = daemon;
	p->grace_ms = grace_ms;
	peer_linked(p, carrier);
	return 0;
}

/* Returns the peer that this carrier has linked; NULL: it has not. */
static struct peer *carried(struct keel_mod *m, const char *name)
{
	struct peer *p = peer_find(links_of(m), name);

	return p != NULL && p->carrier != NULL && p->carrier->self == m ? p : NULL;
}

static void carry_lost(struct keel_mod *m, const char *name)
{
	struct peer *p = carried(m, name);

	if (p == NULL)
		return;
	p->carrier = NULL;
	if (p->links->running)
		peer_await(p);
}

static int32_t carry_in(struct keel_mod *m, const char *name, const void *bytes, uint32_t len)
{
	struct peer *p = carried(m, name);

	return p != NULL ? dispatch(p->links, p->name, p->daemon, bytes, len) : -ENOTCONN;
}

static const struct keel_carry_api carry_api = {
	.size = sizeof(carry_api),
	.up = carry_up,
	.lost = carry_lost,
	.in = carry_in,
};

/* ---- creation ----------------------------------------------------------------------------------- */
int links_create(struct parts *parts, struct links **ret_links)
{
	struct links *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return -ENOMEM;
	l->parts = parts;
	ret = registry_offer(parts->registry, "link", &api);
	if (ret == 0)
		ret = registry_offer(parts->registry, "carry", &carry_api);
	if (ret < 0)
		links_destroy(l);
	else
		*ret_links = l;
	return ret;
}

void links_destroy(struct links *l)
{
	struct peer *p;

	if (l == NULL)
		return;
	links_stop(l);
	for (uint32_t at = 0; (p = (struct peer *)index_next(&l->peers, &at));) {
		while (p->pending != NULL)
			message_destroy(p->pending);
		free(p);
	}
	links_detach(l, NULL);
	index_fini(&l->handlers);
	index_fini(&l->peers);
	free(l);
}

/* ---- start and stop ---------------------------------------------------------------------------- */
/* Both ends are this process. */
static int start_memory(struct links *l, struct keel_err *err)
{
	struct peer *server = peer_get(l, SERVER_PEER, KEEL_SERVER);
	struct peer *mom = peer_get(l, l->parts->host_name, KEEL_MOM);

	if (server == NULL || mom == NULL)
		return err_set(err, -ENOMEM, "no memory for links");
	server->memory = mom->memory = true;
	server->daemon = KEEL_SERVER;
	peer_linked(server, NULL);
	mom->daemon = KEEL_MOM;
	peer_linked(mom, NULL);
	if (mom == server)
		mom->daemon = BOTH; /* a host of that name */
	return 0;
}

int links_start(struct links *l, struct keel_err *err)
{
	struct peer *p;

	l->running = true;
	for (uint32_t at = 0; (p = (struct peer *)index_next(&l->peers, &at));) {
		if (p->awaited)
			peer_await(p);
	}
	if (l->parts->daemon == BOTH)
		return start_memory(l, err);
	if (registry_service(l->parts->registry, "carrier", 0, NULL, NULL) == NULL)
		log_add(l->parts->log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Link", l->parts->host_name,
			"no module carries messages between hosts: this daemon reaches no other; enable one that "
			"offers the service 'carrier'");
	return 0;
}

void links_stop(struct links *l)
{
	struct peer *p;

	l->running = false;
	for (uint32_t at = 0; (p = (struct peer *)index_next(&l->peers, &at));) {
		loop_timer_cancel(p->grace);
		p->grace = NULL;
		p->memory = false;
		p->carrier = NULL;
	}
}

/* ---- a restart --------------------------------------------------------------------------------- */
void links_goodbye(struct links *l)
{
	struct keel_out *o = out_create();
	struct peer *p;
	const char *bytes;
	uint32_t len;

	out_put_str(o, "msg", GOODBYE);
	bytes = out_bytes(o, &len);
	for (uint32_t at = 0; (p = (struct peer *)index_next(&l->peers, &at));) {
		if (bytes != NULL && p->carrier != NULL)
			peer_carry(p, bytes, len);
	}
	out_drop(o);
}

void links_handover(struct links *l, struct buf *out)
{
	struct peer *p;

	for (uint32_t at = 0; (p = (struct peer *)index_next(&l->peers, &at));) {
		if (p->carrier != NULL || p->awaited)
			buf_printf(out, "%s %u %lld\n", p->name, p->daemon, (long long)p->grace_ms);
	}
}

void links_expect(struct links *l, const char *text)
{
	char name[256];
	unsigned daemon;
	long long grace_ms;

	for (int n; sscanf(text, "%255s %u %lld%n", name, &daemon, &grace_ms, &n) == 3; text += n) {
		struct peer *p = peer_get(l, name, daemon);

		if (p == NULL)
			return;
		p->grace_ms = grace_ms < EXPECTED_GRACE_MS ? EXPECTED_GRACE_MS : grace_ms;
		p->awaited = true;
	}
}
