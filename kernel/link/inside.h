/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 *
 *	send() -> message (waits for the store, in order) -> peer -> the carrier, or dispatch in this process
 *	on()   <- dispatch <- peer's name and role         <------- the carrier
 */
#ifndef KEELSON_LINK_INSIDE_H
#define KEELSON_LINK_INSIDE_H

#include "keel/service/carrier.h"
#include "keel/wire.h"
#include "link/links.h"
#include "loop/loop.h"
#include "util/index.h"

#define SERVER_PEER "server"
#define GOODBYE "keel.goodbye" /* the message of a daemon that restarts */
enum {
	BOTH = KEEL_SERVER | KEEL_MOM, /* one process that is both: the other end of its link is itself */
	MESSAGE_MOST = 2 * WIRE_SCRIPT_MAX, /* bytes */
	GOODBYE_GRACE_MS = 60000,	    /* at least, of a peer that restarts: its new image may hang, and the old one come back */
	EXPECTED_GRACE_MS = 10000,	    /* at least, of a peer of the last image: the longest pause of one that dials, twice */
};

typedef void message_fn(struct keel_mod *, const char *peer, const struct keel_msg *);

struct handler {
	struct index_key key; /* first; name */
	uint32_t from;
	struct owner *owner;
	message_fn *fn;
	char name[];
};

/* A daemon that has been linked once. Never forgotten: there are as many as enrolled keys. */
struct peer {
	struct index_key key; /* first; name */
	struct links *links;
	uint32_t daemon;
	bool memory;				/* its other end is this process */
	const struct keel_carrier_api *carrier; /* of the link there is; NULL: memory, or none */
	bool awaited;				/* it was up, and its grace has not ended */
	int64_t grace_ms;
	uint64_t generation;     /* counts links: a message belongs to the link it was meant for */
	struct loop_timer *grace;
	struct message *pending; /* in order of send() */
	char name[];
};

struct message {
	struct peer *peer;
	uint64_t generation;
	struct keel_out *out;
	struct message *prev, *next;
};

struct links {
	struct parts *parts;
	struct index handlers, peers;
	bool running;
};

/* peer.c */
struct peer *peer_find(struct links *l, const char *name);
bool peer_is_up(const struct peer *p); /* NULL is fine */
struct peer *peer_get(struct links *l, const char *name, uint32_t daemon); /* made when missing */
void peer_linked(struct peer *p, const struct keel_carrier_api *carrier); /* NULL: memory */
void peer_await(struct peer *p);
void peer_leaves(struct links *l, const char *name); /* it said goodbye */
int peer_send(struct peer *p, struct keel_out *o);
void peer_carry(struct peer *p, const char *bytes, uint32_t len); /* over its carrier */
void message_destroy(struct message *m);

/* links.c: to the module that listens. Returns 0, or -EPROTO: the bytes are no message. */
int dispatch(struct links *l, const char *peer, uint32_t daemon, const char *bytes, size_t len);

#endif
