/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share. Nobody else includes it.
 *
 *	send() -> message (waits for the store, in order) -> peer -> memory, or the carrier
 *	on()   <- dispatch <- peer's name and role         <------- memory, or the carrier
 */
#ifndef KEELSON_LINK_INSIDE_H
#define KEELSON_LINK_INSIDE_H

#include "keel/service/carrier.h"
#include "keel/wire.h"
#include "link/links.h"
#include "loop/loop.h"
#include "msg/out.h"
#include "util/index.h"

#define SERVER_PEER "server"
enum { MESSAGE_MOST = 2 * WIRE_SCRIPT_MAX }; /* bytes */

struct handler {
	struct index_key key; /* first; name */
	char *name;
	uint32_t from;
	struct owner *owner;
	void (*fn)(struct keel_mod *, const char *peer, const struct keel_msg *);
};

/* A daemon that has been linked once. Never forgotten: there are as many as enrolled keys. */
struct peer {
	struct index_key key; /* first; name */
	struct links *links;
	char *name;
	uint32_t daemon;
	bool memory, up;
	const struct keel_carrier_api *carrier; /* of the link there is; NULL: memory, or none */
	int64_t grace_ms;
	uint64_t generation;     /* counts links: a message belongs to the link it was meant for */
	struct loop_timer *grace;
	struct message *pending; /* in order of send() */
};

struct message {
	struct peer *peer;
	uint64_t generation;
	struct keel_out *out;
	bool durable;
	struct message *prev, *next;
};

/* A deferred call; in the list of those under way. */
struct delivery {
	struct peer *to; /* a memory peer */
	uint64_t generation;
	struct keel_out *out;
	struct delivery *prev, *next;
};

struct links {
	struct parts *parts;
	struct index handlers, peers;
	struct delivery *deliveries;
	bool running;
};

/* peer.c */
struct peer *peer_find(struct links *l, const char *name);
struct peer *peer_get(struct links *l, const char *name, uint32_t daemon); /* made when missing */
void peer_linked(struct peer *p, const struct keel_carrier_api *carrier); /* NULL: memory */
void peer_unlinked(struct peer *p);
int peer_send(struct peer *p, struct keel_out *o); /* moved */
void peers_destroy(struct links *l);

/* dispatch.c */
int dispatch_on(struct links *l, struct owner *owner, const char *name, uint32_t from,
		void (*fn)(struct keel_mod *, const char *, const struct keel_msg *));
/* 0, or -EPROTO when the bytes are no message. */
int dispatch(struct links *l, const char *peer, uint32_t daemon, const char *bytes, size_t len);
void dispatch_detach(struct links *l, struct owner *owner); /* NULL: everybody */

/* memory.c */
int memory_send(struct peer *to, struct keel_out *o); /* moved */
void memory_destroy(struct links *l);

/* carried.c */
int carried_offer(struct links *l);
void carried_leave(struct links *l, struct owner *owner); /* a carrier goes: its links are lost */

#endif
