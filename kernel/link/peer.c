/* SPDX-License-Identifier: Apache-2.0
 *
 * peer.c - the daemons we know, whether they are linked, and what waits to be sent to them.
 *
 *	peer_linked -> up, peer_up is raised
 *	   '-- it is lost -> not up, grace runs -- linked again: peer_up, no peer_down
 *	                                       '-- over: peer_down is raised, once
 *
 * Messages to one peer leave in the order of send(), each after what it is about is durable. A
 * message for a link that was lost meanwhile is dropped: modules start over at peer_up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/hooks.h"
#include "link/inside.h"
#include "log/log.h"
#include "msg/msg.h"
#include "store/store.h"
#include "util/crumb.h"

struct peer *peer_find(struct links *l, const char *name)
{
	return (struct peer *)index_find(&l->peers, name, strlen(name));
}

struct peer *peer_get(struct links *l, const char *name, uint32_t daemon)
{
	struct peer *p = peer_find(l, name);

	if (p != NULL)
		return p;
	p = calloc(1, sizeof(*p) + strlen(name) + 1);
	if (p == NULL)
		return NULL;
	p->links = l;
	p->daemon = daemon;
	strcpy(p->name, name);
	index_key_init(&p->key, p->name, strlen(p->name));
	if (index_add(&l->peers, &p->key) == 0)
		return p;
	free(p);
	return NULL;
}

bool peer_is_up(const struct peer *p)
{
	return p != NULL && (p->memory || p->carrier != NULL);
}

/* ---- up and down ----------------------------------------------------------------------------- */
void peer_linked(struct peer *p, const struct keel_carrier_api *carrier)
{
	loop_timer_cancel(p->grace);
	p->grace = NULL;
	p->carrier = carrier;
	p->memory = carrier == NULL;
	p->awaited = false;
	p->generation++;
	hooks_note(p->links->parts->hooks, KEEL_POINT_peer_up,
		   KEEL_EVENT(peer_up, .peer = p->name, .daemon = p->daemon));
}

static void grace_over(void *arg)
{
	struct peer *p = arg;
	struct parts *parts = p->links->parts;

	p->grace = NULL;
	p->awaited = false;
	log_add(parts->log, KEEL_LOG_SYSTEM, "Link", p->name, "link is down: no new link within %lld s",
		(long long)(p->grace_ms / 1000));
	hooks_note(parts->hooks, KEEL_POINT_peer_down,
		   KEEL_EVENT(peer_down, .peer = p->name, .daemon = p->daemon));
}

void peer_leaves(struct links *l, const char *name)
{
	struct peer *p = peer_find(l, name);

	if (p == NULL || p->carrier == NULL)
		return;
	if (p->grace_ms < GOODBYE_GRACE_MS)
		p->grace_ms = GOODBYE_GRACE_MS;
	log_add(l->parts->log, KEEL_LOG_SYSTEM, "Link", name, "it restarts");
}

void peer_await(struct peer *p)
{
	p->awaited = true;
	p->grace = loop_timer(p->links->parts->loop, p->grace_ms, grace_over, p);
	if (p->grace == NULL)
		grace_over(p);
}

/* ---- messages ---------------------------------------------------------------------------------- */
void message_destroy(struct message *m)
{
	DL_DELETE(m->peer->pending, m);
	out_drop(m->out);
	free(m);
}

void peer_carry(struct peer *p, const char *bytes, uint32_t len)
{
	CRUMB_CALL(owner_of(p->carrier->self), "send() of a carrier", p->name,
		   p->carrier->send(p->carrier->self, p->name, bytes, len));
}

/* In memory the sender to the server is the mom of this host, and the other way round. On a host whose name is "server"
 * both are one peer, and the message may be from either. */
static void durable(void *arg)
{
	struct message *m = arg;
	struct peer *p = m->peer;
	struct links *l = p->links;
	bool current = peer_is_up(p) && m->generation == p->generation;
	const char *from = p->daemon == KEEL_SERVER ? l->parts->host_name : SERVER_PEER;
	uint32_t len, daemon = p->daemon == BOTH ? BOTH : BOTH & ~p->daemon;
	const char *bytes = out_bytes(m->out, &len);

	if (current && !p->memory)
		peer_carry(p, bytes, len);
	else if (current && dispatch(l, from, daemon, bytes, len) < 0)
		log_add(l->parts->log, KEEL_LOG_ERROR, "Link", from, "a message that cannot be read");
	message_destroy(m);
}

int peer_send(struct peer *p, struct keel_out *o)
{
	uint32_t len;
	struct message *m = out_bytes(o, &len) != NULL ? calloc(1, sizeof(*m)) : NULL;
	int ret = m == NULL ? -ENOMEM : len > MESSAGE_MOST ? -EMSGSIZE : 0;

	if (ret < 0) {
		out_drop(o);
		free(m);
		return ret;
	}
	*m = (struct message){ .peer = p, .generation = p->generation, .out = o };
	DL_APPEND(p->pending, m);
	ret = store_after(p->links->parts->store, durable, m);
	if (ret < 0)
		message_destroy(m);
	return ret;
}
