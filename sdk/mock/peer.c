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
	char *json = body_json(bytes, len, "msg");
	struct keel_msg *m;

	if (msg_open(bytes, len, &m) < 0)
		die("a message to %s that cannot be read", peer);
	texts_add(&mock->sent, host_print("%s %s %s", peer, msg_api.str(m, "msg"), json));
	msg_destroy(m);
	free(json);
}

const char *keel_mock_sent(struct keel_mock *mock, uint32_t i)
{
	return i < mock->sent.n ? mock->sent.at[i] : NULL;
}

void keel_mock_sent_clear(struct keel_mock *mock)
{
	texts_clear(&mock->sent, NULL);
}

void keel_mock_deliver(struct keel_mock *mock, const char *peer, const char *name, const char *body)
{
	struct peer *p = peer_find(mock->parts.links, peer);
	struct keel_out *o = body_of_text(body);
	const char *bytes;
	uint32_t len;

	if (p == NULL || o == NULL)
		die("a message from %s, which is no peer", peer);
	out_put_str(o, "msg", name);
	bytes = out_bytes(o, &len);
	if (dispatch(mock->parts.links, peer, p->daemon, bytes, len) < 0)
		die("the message %s cannot be read", name);
	out_drop(o);
}

int peers_init(struct keel_mock *mock)
{
	mock->carrier = (struct keel_carrier_api){ .size = sizeof(mock->carrier), .self = &mock->self.pub, .send = carry };
	if (links_create(&mock->parts, &mock->parts.links) < 0)
		return -1;
	mock->parts.links->running = true; /* a test that offers "carrier" may link peers itself, by the group "carry" */
	return 0;
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
