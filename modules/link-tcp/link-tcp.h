/* SPDX-License-Identifier: Apache-2.0
 *
 * link-tcp.h - what the files of this folder share.
 */
#ifndef LINK_TCP_H
#define LINK_TCP_H

#include <netdb.h>
#include <sodium.h>
#include <sys/socket.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "hello.h"
#include "keel/keel.h"
#include "keel/renew.h"
#include "keel/service/carrier.h"

#define SERVER_PEER "server"
enum {
	ADDRESS_MAX = 128,
	REASON_MAX = 320,
	FAILURES = 4, /* addresses of a name whose reasons are remembered */
	REFUSALS = 64, /* strangers whose reasons are */
	CHUNK_MAX = 64 * 1024,
	GREET_MAX = 1024, /* of a chunk before the proof, whatever the version */
	PLAIN_MAX = CHUNK_MAX - crypto_secretstream_xchacha20poly1305_ABYTES,
	STREAM_HEADER = crypto_secretstream_xchacha20poly1305_HEADERBYTES,
};

struct limits {
	uint32_t half_open, accepts_per_turn, reads_per_turn;
	size_t queue_max; /* bytes waiting for one peer; also the largest message */
	int64_t greet_ms, backoff_min_ms, backoff_max_ms;
	int64_t rival_ms; /* for a linked daemon to answer, when another one comes under its name */
	int64_t silent_beats; /* heartbeats without a sign of life */
};

struct conf {
	const char *listen, *address, *server, *key_file, *peers_dir;
	int64_t heartbeat, grace;
};

enum conn_state { CONN_CONNECTING, CONN_HELLO, CONN_HEADER, CONN_PROOF, CONN_RIVAL, CONN_UP };

struct bytes {
	uint8_t *data;
	size_t len, size;
};

struct conn {
	struct link *link;
	int fd;
	struct keel_watch *watch;
	uint32_t events;
	bool opened; /* by us */
	struct way *way; /* opened: for this one; NULL: it is not expected any more */
	enum conn_state state;
	const char *broken; /* why it is to be dropped; NULL: it is fine */
	char broken_text[REASON_MAX], address[ADDRESS_MAX];
	struct greeting greeting;
	struct hello theirs;
	char name[KEY_HOST_MAX + 1]; /* of the peer; "": not said yet */
	uint32_t daemon;
	crypto_secretstream_xchacha20poly1305_state push, pull;
	struct keel_timer *deadline; /* until CONN_UP */
	int64_t heard_ms, up_ms;
	uint64_t pings, pongs; /* sent, and answered in that order */
	uint64_t awaited;      /* CONN_RIVAL: the pong of the other connection that refuses this one */
	bool tried;	       /* CONN_UP: a rival waits for its pong */
	uint8_t in[4 + CHUNK_MAX];
	size_t in_len;
	struct bytes message, out; /* a message that is not all there; sealed chunks */
	size_t out_off;
	bool full, flush;
	UT_hash_handle hh; /* CONN_UP: in `up` of the link */
	struct conn *prev, *next;
};

/* Why an address of a way failed. */
struct failure {
	char address[ADDRESS_MAX], why[REASON_MAX];
};

/* A daemon that may link though it is not enrolled, or that is dialled: the server of a mom, and those of expect(). */
struct way {
	struct link *link;
	char *host, *address; /* address NULL: it dials */
	uint32_t n_callers;   /* of expect() */
	bool has_key;	      /* else its key is in the directory of peers */
	uint8_t key[KEY_SIZE];
	struct keel_timer *timer;
	struct resolve *job; /* on a worker thread */
	int64_t backoff_ms;
	uint32_t attempt;
	struct failure failures[FAILURES]; /* since it was linked last, which the log has */
	uint32_t n_failures;
	int64_t failing_ms; /* since when there is no link; 0: there is one, or none was tried */
	struct way *prev, *next;
};

/* Why a daemon at an address was refused; name: as it said. */
struct refused {
	char address[ADDRESS_MAX], name[KEY_HOST_MAX + 1], why[REASON_MAX];
	int64_t seen_ms; /* 0: not used */
};

/* The state of the module. */
struct link {
	struct keel_mod *mod;
	struct limits limits;
	char *key_file, *peers_dir;
	struct identity me; /* daemon 0: not read yet */
	struct way *ways;
	struct conn *conns, *up;
	uint32_t n_half_open;
	struct keel_timer *heartbeat, *listen_pause;
	int64_t beat_ms; /* of the last heartbeat */
	int listen_fd;
	char address[KEEL_CARRIER_ADDRESS]; /* where others dial this daemon; "": nowhere */
	struct keel_watch *listener;
	struct refused refusals[REFUSALS];
	int64_t refused_log_ms; /* the last record about a stranger */
	uint32_t refused_untold;
	bool running, flushing;
};

static inline const struct conf *conf_of(const struct link *l)
{
	return l->mod->conf;
}

/* ways.c */
struct way *way_find(const struct link *l, const char *host);
/* Makes or changes the way to a host; key NULL: that of the directory of peers. NULL without memory. */
struct way *way_set(struct link *l, const char *host, const char *address, const uint8_t *key);
void way_forget(struct link *l, struct way *w);
/* expect() of the carrier: key NULL forgets the host. Fails with -EINVAL for a bad name, address or key, -ENOMEM, or an
 * error of own_key(), which is logged. */
int32_t ways_expect(struct keel_mod *m, const char *host, const char *address, const char *key);
/* own() and proved() of the carrier. */
int32_t ways_own(struct keel_mod *m, char address[KEEL_CARRIER_ADDRESS], char key[KEEL_CARRIER_KEY]);
int32_t ways_proved(struct keel_mod *m, const char *peer, char key[KEEL_CARRIER_KEY]);

/* link-tcp.c: reads the key of this daemon, once. Fails with an error of key_read() and *err, or -ENOTSUP when the daemon
 * takes no links. */
int32_t own_key(struct link *l, struct keel_err *err);

/* conn.c; a conn is dropped only from the loop's callbacks, what fails deeper sets `broken` */
/* NULL without memory: the caller closes `fd`, which else is owned by the conn. */
struct conn *conn_create(struct link *l, int fd, struct way *w, const struct sockaddr *sa, socklen_t len);
void conn_drop(struct conn *c, const char *why);
void address_show(const struct sockaddr *sa, socklen_t len, char address[ADDRESS_MAX]); /* "HOST port PORT" */
struct conn *conn_named(const struct link *l, const char *name); /* that is up; NULL: none */
void conn_message(struct keel_mod *m, const char *peer, const void *bytes, uint32_t len);
void conn_chunk(struct conn *c, const void *bytes, size_t len); /* as it is, before the proof */
void conn_seal(struct conn *c, const void *bytes, size_t len, uint8_t tag);
void conn_up(struct conn *c);
void conn_break(struct conn *c, const char *why); /* it is dropped when the caller has returned to the loop */
void conn_write(struct conn *c);
void conn_heartbeat(struct link *l);
void conn_ping(struct conn *c);

/* greet.c: one chunk of the handshake; *c moves on or is broken */
void greet_open(struct conn *c);
void greet_chunk(struct conn *c, const uint8_t *bytes, size_t len);
/* Who dialled has proved itself, and is taken. */
void greet_take(struct conn *c);

/* rival.c */
/* c has proved the name of `other`, which is up. */
void rival_begin(struct conn *c, struct conn *other);
/* A pong of `other` has come. */
void rivals_answered(struct conn *other);
/* The connection of that name has gone. */
void rivals_take(struct link *l, const char *name);

/* refused.c: a stranger is refused; the log has each change of the reason, by address and name */
void refused_log(const struct conn *c, const char *why);
/* It is linked: the next refusal is logged. */
void refused_forget(const struct conn *c);

/* listen.c, dial.c */
/* Fails with -errno and *err: a bad address, or one that is in use. */
int32_t listen_start(struct link *l, const char *at, struct keel_err *err);
void listen_stop(struct link *l);
void dial_start(struct way *w);
/* `lasted`: the link was up for a while, so begin with short waits again. `address`: the one that was tried; "": none. why
 * NULL: the log has the reason. */
void dial_again(struct way *w, bool lasted, const char *address, const char *why);
/* It is linked. Returns how long it was not, in seconds; -1: there was no failure. */
int64_t dial_done(struct way *w);
void dial_stop(struct way *w);
/* "host:port" or "[host]:port" into two strings, which the caller frees. Fails with -EINVAL or -ENOMEM. */
int address_split(const char *text, char **ret_host, char **ret_port);
bool address_is(const char *text); /* ways.c */
/* Fails with -EPERM and *err where other users could write this file of `dir`; "": the directory. */
int32_t key_guard(const char *dir, const char *name, struct keel_err *err);

#endif
