/* SPDX-License-Identifier: Apache-2.0
 *
 * client-relay.h - what the files of this module share.
 *
 *	client -> its host's daemon -> host.c -> records -> link -> server.c -> served as user@host
 *	       <-                   <- host.c <- records <- link <- server.c <- PARTs, REPLY
 */
#ifndef CLIENT_RELAY_H
#define CLIENT_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "keel/keel.h"
#include "keel/remote.h"
#include "keel/wire.h"
#include "pbs_error.h"

enum {
	CHUNK = 64 * 1024,	     /* bytes of a body in one record */
	BATCH_MOST = 256 * 1024,     /* bytes of records in one message, but for a longer record */
	WINDOW_UP = 256 * 1024,	     /* of one request's body, until the server has taken it */
	WINDOW_UP_ALL = 8 << 20,     /* of all bodies of a host */
	WINDOW_DOWN = 256 * 1024,    /* of one listing, beyond its first part */
	WINDOW_DOWN_ALL = 6 << 20,   /* of all listings of a host */
	WAITING_MOST = 1024,	     /* requests of one host that only wait, in all */
	MINE_MOST = 512,	     /* requests of one user of a host; the server takes fewer */
	IN_MOST = 32 << 20,	     /* bytes of a host's records that wait at the server */
	SLICE_US = 500,		     /* of a host's records, in one turn of the server */
	REST_MS = 2,		     /* before the next slice of a host of which more than a message waits */
	LOOK_MS = 100,
	NAME_MOST = 255,
	GROUPS_MOST = 64 * 1024,
};

struct conf {
	const char *const *look, *const *submit, *const *manage;
	int64_t requests;
};

/* ---- records.c: what goes over the link ------------------------------------------------------------------- */
#define TO_SERVER "relay.up"
#define TO_HOST "relay.down"

enum op {
	/* to the server */
	OP_OPEN = 1, /* length of the body (4 bytes), then user, group, groups, each with a NUL */
	OP_DATA,     /* bytes of the body */
	OP_LEAVE,    /* the host's daemon ends or restarts: AGAIN, if nothing was done */
	OP_END,	     /* the client is gone */
	/* to the host */
	OP_PART,     /* the body of a PART, of the REPLY */
	OP_REPLY,
	OP_REFUSE,   /* instead of a REPLY: code (4 bytes), text */
	OP_AGAIN,    /* nothing was done: send it once more, later */
	OP_WAITS,    /* keel_remote_waits() (4 bytes): with 2 it may be sent once more when the link is lost */
	OP_BYE,	     /* the server restarts: requests may wait for it */
	/* both ways */
	OP_TAKEN,    /* so many bytes (4) were taken */
	/* to the host */
	OP_HERE,     /* the server carries requests of this host from now on; those before are forgotten */
};

struct record {
	enum op op;
	uint64_t id; /* of the request: counts at the host, from the start of its daemon */
	const unsigned char *data; /* borrowed from the message */
	uint32_t len;
};

/* Records to one peer: what a turn adds leaves together. */
struct batch {
	struct keel_mod *mod;
	const char *peer, *message; /* borrowed for as long as the batch */
	char *bytes;
	size_t len, size;
	bool flushing, failed;
	void (*lost)(struct batch *); /* no link, or no memory: what was added is gone */
};
void batch_add(struct batch *b, enum op op, uint64_t id, const void *data, uint32_t len);
void batch_add_number(struct batch *b, enum op op, uint64_t id, uint32_t number);
void batch_flush(struct batch *b);
void batch_fini(struct batch *b);

uint32_t number_read(const unsigned char *at);
void number_write(unsigned char *at, uint32_t number);
/* Returns whether there is one more record at *at, which moves behind it. *ret_bad: the bytes are no records. */
bool record_next(const unsigned char **at, const unsigned char *end, struct record *ret, bool *ret_bad);

/* What an OPEN says. Returns 0, or -EPROTO; texts are borrowed from the record, NULL where they are empty. */
struct opening {
	uint32_t length;
	const char *user, *group, *groups;
};
int opening_read(const struct record *r, struct opening *ret);

/* ---- the two sides ------------------------------------------------------------------------------------------- */
struct carried; /* host.c: a request of a client of this host */
struct host;    /* server.c */

struct state {
	struct keel_mod *mod;
	/* of a host */
	struct batch up;
	struct carried *carried, *carried_list; /* by id; in order */
	uint64_t last_id;
	int64_t window;			    /* bytes of bodies that may still be sent */
	int64_t begin_ms, down_ms, bye_ms;  /* start of the daemon; since when there is no link; until when a restart may take */
	int64_t up_ms;			    /* since when there is one */
	bool linked, here, lost, leaving; /* here: OP_HERE came; lost: what was sent, although there may be a link */
	struct keel_timer *tick;
	/* of a server */
	struct host *hosts, *busy; /* busy: of which records wait, the next first */
	struct keel_timer *slice;
};

void host_request(struct keel_mod *mod, struct keel_req *req);
void host_records(struct keel_mod *mod, const char *peer, const struct keel_msg *msg);
void host_linked(struct state *s);
int32_t host_start(struct state *s, struct keel_err *err);
void host_stop(struct state *s);

void server_records(struct keel_mod *mod, const char *peer, const struct keel_msg *msg);
void server_host_over(struct state *s, const char *peer); /* its link was lost, or is another one */
void server_host_up(struct state *s, const char *peer);
void server_bye(struct state *s);
void server_stop(struct state *s);
void server_fini(struct state *s);

#endif
