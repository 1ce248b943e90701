/* SPDX-License-Identifier: Apache-2.0
 *
 * peer.c - other daemons, whom a test plays: the kernel's links, of which this host is the carrier.
 */
#include <string.h>

#include "host.h"
#include "hook/hooks.h"
#include "link/inside.h"
#include "msg/msg.h"

static void carry(struct keel_mod *self, const char *peer, const void *bytes, uint32_t len)
{
	struct keel_mock *mock = host_of_mod(self);
	struct keel_msg *m;
	char *body;

	if (msg_open(bytes, len, &m) < 0)
		return;
	body = body_json(bytes, len, "msg");
	texts_add(&mock->sent, host_print("%s %s %s", peer, msg_api()->str(m, "msg"), body));
	free(body);
	msg_destroy(m);
}

int peers_init(struct keel_mock *mock)
{
	mock->carrier = (struct keel_carrier_api){ .size = sizeof(mock->carrier), .self = &mock->self.pub, .send = carry };
	return links_create(&mock->parts, &mock->parts.links);
}

void keel_mock_peer(struct keel_mock *mock, const char *name, uint32_t daemon, bool up)
{
	struct peer *p = peer_get(mock->parts.links, name, daemon);

	if (p == NULL)
		die("no memory");
	p->daemon = daemon;
	p->memory = up && mock->loopback && (strcmp(name, SERVER_PEER) == 0 || strcmp(name, mock->parts.host_name) == 0);
	if (up) {
		peer_linked(p, p->memory ? NULL : &mock->carrier);
		return;
	}
	p->carrier = NULL;
	hooks_note(mock->parts.hooks, KEEL_POINT_peer_down, KEEL_EVENT(peer_down, .peer = name, .daemon = daemon));
}

static void memory_peer(struct keel_mock *mock, const char *name, uint32_t daemon, bool on)
{
	struct peer *p = peer_get(mock->parts.links, name, daemon);

	if (p == NULL)
		die("no memory");
	p->memory = on;
	p->carrier = NULL;
}

void keel_mock_loopback(struct keel_mock *mock, bool on)
{
	mock->loopback = on;
	memory_peer(mock, SERVER_PEER, KEEL_SERVER, on);
	memory_peer(mock, mock->parts.host_name, KEEL_MOM, on);
}

const char *keel_mock_sent(struct keel_mock *mock, uint32_t i)
{
	host_settle(mock);
	return texts_at(&mock->sent, i);
}

void keel_mock_sent_clear(struct keel_mock *mock)
{
	host_settle(mock);
	texts_clear(&mock->sent, &mock->kept);
}

bool keel_mock_deliver(struct keel_mock *mock, const char *peer, const char *name, const char *body)
{
	struct links *l = mock->parts.links;
	const struct peer *p = peer_find(l, peer);
	struct handler *h;
	struct keel_out *o;
	uint32_t len;
	const char *bytes;

	h = (struct handler *)index_find(&l->handlers, name, strlen(name));
	if (h == NULL || p == NULL || (h->from & p->daemon) == 0)
		return false;
	o = body_of_text(body);
	out_put_str(o, "msg", name);
	bytes = out_bytes(o, &len);
	if (bytes == NULL || dispatch(l, peer, p->daemon, bytes, len) < 0)
		die("no memory for a message");
	out_drop(o);
	return true;
}
