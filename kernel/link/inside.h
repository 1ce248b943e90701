/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share. Nobody else includes it.
 *
 *	send() -> message (waits for the store, in order) -> peer -> memory, or conn -> chunks -> TCP
 *	on()   <- dispatch <- peer's name and role         <------- memory, or conn <- chunks <-
 */
#ifndef KEELSON_LINK_INSIDE_H
#define KEELSON_LINK_INSIDE_H

#include <netdb.h>
#include <sodium.h>
#include <sys/socket.h>

#include "link/hello.h"
#include "link/links.h"
#include "loop/loop.h"
#include "msg/out.h"
#include "util/buf.h"
#include "util/hash.h"
#include "wire/frame.h"

#define SERVER_PEER "server"
enum {
	CHUNK_MAX = 64 * 1024,
	PLAIN_MAX = CHUNK_MAX - crypto_secretstream_xchacha20poly1305_ABYTES,
	STREAM_HEADER = crypto_secretstream_xchacha20poly1305_HEADERBYTES,
};

struct links_limits {
	uint32_t half_open, accepts_per_turn, reads_per_turn;
	size_t queue_max; /* bytes waiting for one peer; also the largest message */
	int64_t greet_ms, backoff_min_ms, backoff_max_ms;
	int64_t silent_beats; /* heartbeats without a sign of life */
};

struct handler {
	char *name;
	uint32_t from;
	struct owner *owner;
	void (*fn)(struct keel_mod *, const char *peer, const struct keel_msg *);
	UT_hash_handle hh;
};

/* A daemon that has been linked once. Never forgotten: there are as many as enrolled keys. */
struct peer {
	struct links *links;
	char *name;
	uint32_t daemon;
	bool memory, carried, up;
	struct conn *conn;       /* NULL: memory or not linked */
	uint64_t generation;     /* counts links: a message belongs to the link it was meant for */
	struct loop_timer *grace;
	struct message *pending; /* in order of send() */
	UT_hash_handle hh;
};

struct message {
	struct peer *peer;
	uint64_t generation;
	struct keel_out *out;
	bool durable;
	struct message *prev, *next;
};

enum conn_state { CONN_CONNECTING, CONN_HELLO, CONN_HEADER, CONN_PROOF, CONN_UP };

struct conn {
	struct links *links;
	int fd;
	struct loop_watch *watch;
	int events;
	bool opened; /* by us */
	enum conn_state state;
	const char *broken; /* why it is to be dropped; NULL: it is fine */
	char address[128];
	struct greeting greeting;
	struct hello theirs;
	struct peer *peer; /* CONN_UP */
	crypto_secretstream_xchacha20poly1305_state push, pull;
	struct loop_timer *deadline; /* until CONN_UP */
	int64_t heard_ms, up_ms;
	uint8_t in[4 + CHUNK_MAX];
	size_t in_len;
	struct frame_reader reader;
	struct buf plain, out; /* to be sealed; sealed */
	size_t out_off;
	bool full, in_flush;
	struct conn *prev, *next;
};

/* A deferred call; in the list of those under way. */
struct delivery {
	struct peer *to; /* a memory peer */
	uint64_t generation;
	struct keel_out *out;
	struct delivery *prev, *next;
};

struct dial {
	struct loop_timer *timer;
	struct resolve *job; /* on a worker thread */
	int64_t backoff_ms;
	uint32_t attempt;
	bool told; /* the failure is in the log */
};

struct links {
	struct parts *parts;
	struct links_limits limits;
	char *listen, *server, *peers_dir;
	int64_t heartbeat_ms, grace_ms;
	struct identity me;
	struct handler *handlers;
	struct peer *peers;
	struct conn *conns;
	uint32_t n_half_open;
	struct delivery *deliveries;
	struct loop_timer *heartbeat;
	int64_t beat_ms; /* of the last heartbeat */
	struct loop_listener *listener;
	struct dial dial;
	int64_t refused_log_ms; /* the last record about a stranger */
	uint32_t refused_untold;
	bool running;
	links_carry_fn *carry;
	void *carry_arg;
};

/* peer.c */
struct peer *peer_find(struct links *l, const char *name);
struct peer *peer_get(struct links *l, const char *name, uint32_t daemon); /* made when missing */
void peer_linked(struct peer *p, struct conn *c); /* conn NULL: memory */
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
void carried_out(struct peer *to, struct keel_out *o); /* borrowed */

/* conn.c; a conn is dropped only from the loop's callbacks, what fails deeper sets `broken` */
struct conn *conn_create(struct links *l, int fd, bool opened, const struct sockaddr *sa,
			 socklen_t len);
void conn_drop(struct conn *c, const char *why);
void conn_send(struct conn *c, const void *frame, size_t len);
void conn_chunk(struct conn *c, const void *bytes, size_t len); /* as it is, before the proof */
void conn_seal(struct conn *c, const void *bytes, size_t len);
void conn_up(struct conn *c);
void conn_heartbeat(struct links *l);

/* greet.c: one chunk of the handshake; *c moves on or is broken */
void greet_open(struct conn *c);
void greet_chunk(struct conn *c, const uint8_t *bytes, size_t len);

/* listen.c, dial.c */
int listen_start(struct links *l, struct keel_err *err);
void listen_stop(struct links *l);
void dial_start(struct links *l);
/* `lasted`: the link was up for a while, so begin with short waits again. */
void dial_again(struct links *l, bool lasted, const char *why);
void dial_stop(struct links *l);
/* "host:port" or "[host]:port" into two malloc'ed strings. 0, -EINVAL, -ENOMEM. */
int address_split(const char *text, char **ret_host, char **ret_port);

#endif
