/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share: router, client, request. Tests include it too.
 *
 *	listening socket -> client (one connection) -> req (one request) -> route (a module's row)
 *	                       ^------------ frames -------- reply after store_after()
 */
#ifndef KEELSON_REQUEST_INSIDE_H
#define KEELSON_REQUEST_INSIDE_H

#include "loop/loop.h"
#include "msg/msg.h"
#include "request/router.h"
#include "util/index.h"
#include "wire/buf.h"
#include "wire/frame.h"

struct router_limits {
#define LIMIT(type, name, value) type name;
#include "request/limits.def"
#undef LIMIT
};

struct user {
	uint32_t uid;
	int error;        /* 0; -ENOENT: no such account; other -errno: the lookup failed */
	char *name, *who; /* who: name@host; NULL when error */
	char *host;       /* NULL: this one */
	char *group;      /* name of the primary group; NULL when it has none */
	char *groups;     /* all of them, a comma list, the primary first; NULL: not known */
	unsigned refs;
	struct uid_share *share; /* whose lookup it is, while that is under way; NULL: that share is gone */
};

struct route {
	struct index_key name;       /* first; def.name */
	struct keel_request_def def; /* normalised */
	struct owner *owner;
};

enum req_state {
	REQ_FREE = 0,
	REQ_OPEN = 0x7251,   /* its module is to reply */
	REQ_ORPHAN = 0x7252, /* the same, but the client is gone, or the kernel has replied */
	REQ_SENT = 0x7253,   /* the reply waits for the store */
};

struct keel_req {
	enum req_state state;
	struct router *router;
	struct client *client; /* NULL: gone */
	struct route *route;   /* NULL: withdrawn */
	uint64_t corr;
	struct keel_msg *msg;
	size_t len; /* of msg */
	int64_t since_ns;
	struct keel_session session;
	struct user *user;     /* the session's strings */
	struct keel_out *out;  /* SENT */
	keel_fn *gone, *drained, *leave;
	void *gone_arg, *drained_arg, *leave_arg;
	void *raw;             /* instead of `msg`: a body that is carried elsewhere, `len` bytes, owned */
	bool receiving;        /* an operation at the point request_receive is under way */
	bool parts;            /* it has sent some */
	bool old;              /* it was open, and had acted, when a drain began */
	struct keel_req *prev, *next; /* of the client, or free, or orphans and withdrawn */
};

/* A request of a client of another host: one that comes and goes through a module. */
struct keel_remote {
	struct owner *owner; /* NULL: the client is of this host */
	uint32_t roles;
	bool reads;
	int64_t credit; /* bytes that frame() may still get */
	void (*frame)(struct keel_mod *, void *arg, uint16_t type, const void *body, uint32_t len);
	void (*gone)(struct keel_mod *, void *arg);
	void *arg;
};

struct client {
	struct keel_remote remote; /* first: a remote is a client */
	struct router *router;
	int fd;
	struct loop_watch *watch;
	void (*write)(struct client *c), (*gone)(struct client *c); /* of one without a socket; NULL: fd */
	uint32_t uid, gid;
	struct uid_share *share;
	bool deciding;     /* in the reserve until the roles of its user are known */
	struct user *user; /* NULL: being looked up; requests wait */
	struct frame_reader reader;
	size_t input; /* bytes in `reader`, part of the router's input */
	struct keel_req *reqs;
	uint32_t n_reqs;
	size_t open; /* bytes of them */
	struct buf out; /* frames to be written, from out_off */
	size_t out_off, queued;
	int64_t progress_ms, read_ms;
	bool closing;  /* read no more, close when all is written */
	bool broken;   /* to be dropped by the next flush */
	bool leftover; /* whole frames may be waiting in `reader` */
	bool full;     /* the socket takes no more now */
	bool in_flush; /* deferred */
	struct loop_timer *again; /* in the next turn */
	struct client *prev, *next;
};

struct uid_share {
	struct router *router;
	char *who; /* of another host's user, whose uid is UINT32_MAX; else NULL */
	uint32_t uid, n, deciding; /* connections */
	size_t queued;             /* bytes waiting for them */
	struct user *user;         /* NULL: not known yet */
	int64_t stale_ms, expires_ms;
	struct user *lookup;       /* under way */
	struct loop_timer *patience;
	bool late;                 /* the lookup: clients get the older user */
	uint32_t logged;           /* lines since the last sweep */
	struct uid_share *prev, *next;
};

/* The end of service before a restart; drain.c. */
struct drain {
	enum drain_phase { DRAIN_NONE, DRAIN_SERVING, DRAIN_ENDING, DRAIN_LEAVING } phase;
	bool late;      /* the deadline has passed */
	bool for_good;  /* no other image follows, and goodbyes say so */
	uint32_t n_old; /* requests that were open at its start, acted, and are open still */
	struct loop_timer *step, *deadline;
	void (*done)(void *arg);
	void *arg;
};

struct router {
	struct parts *parts;
	struct router_limits limits;
	uint32_t euid;
	struct index routes;
	struct route *others; /* takes what no other row names; NULL: none */
	struct client *clients;
	uint32_t n_clients, n_remotes, n_open; /* n_remotes: of the clients; n_open: REQ_OPEN and REQ_SENT */
	struct uid_share *shares; /* oldest first */
	uint32_t n_shares;
	uint32_t refreshes; /* lookups of users that are known */
	size_t input, queued, open; /* open: bytes of requests whose client may be gone already */
	struct keel_req *orphans, *free_reqs; /* free ones: oldest first */
	uint32_t n_free;
	int64_t served_ns; /* what requests took in this turn; 0: none was served yet */
	struct loop_timer *sweep_timer;
	struct drain drain;
	struct loop_watch *listener; /* NULL: not listening */
	int listen_fd;
	struct loop_timer *pause; /* no descriptor was left: it is not watched */
	bool handed;   /* to the next image of this daemon: the path stays */
	char *listen_path;
	int64_t refused_log_ms;
	uint32_t logged;
	bool trim;     /* much memory was used */
	char scratch[64 * 1024];
};

/* users.c */
struct uid_share *share_get(struct router *r, uint32_t uid, const char *who); /* made when missing; who: of another host, or NULL */
void share_destroy(struct uid_share *s);
/* Calls client_known(), now or later. Returns 0 or -ENOMEM. */
int user_find(struct client *c);
void user_unref(struct user *u); /* NULL is fine */
int user_who(struct user *u, const char *host); /* fills in `who`; returns 0 or u->error */
/* Returns a user of another host, one reference; NULL: no memory. */
struct user *user_of_host(const struct keel_remote_setup *def);

/* client.c */
const char *client_who(const struct client *c);
bool client_may_log(const struct client *c); /* one more line about it */
void client_known(struct client *c, struct user *u); /* u: one reference, moved; may drop the client */
int client_create(struct router *r, int fd, uint32_t uid, uint32_t gid);
/* Makes one with no socket; u: one reference, moved, NULL: no memory. `remote`: it is of another host. NULL: see errno. */
struct client *client_of_user(struct router *r, struct user *u, struct owner *remote);
void client_take(struct client *c, const char *bytes, size_t len); /* what it sent */
void client_drop(struct client *c);
/* Returns whether it, or its uid, has so much unread output that nothing more may be queued. */
bool client_overfull(const struct client *c);
bool client_drained(const struct client *c);
void client_rearm(struct client *c); /* watch its socket for what it waits for now */
void client_request_ended(struct client *c); /* one of its requests ended */
void client_again(struct client *c);    /* go on with it in the next turn */
void client_turn_over(void *router);     /* deferred to the end of the turn: resets served_ns */

/* client_out.c */
void client_send(struct client *c, struct keel_out *o, uint16_t type, uint64_t corr);
void client_write(struct client *c);      /* write now what the socket takes */
void client_written(struct client *c, size_t n); /* so many bytes of its queue are */
void client_flush_soon(struct client *c); /* write at the end of the turn, and drop it when broken */
void client_drop_queue(struct client *c); /* and cancel the flush */

/* req.c */
uint32_t req_roles(const struct client *c); /* enum keel_role bits of its user */
void req_start(struct client *c, const struct frame *f);
void req_client_gone(struct keel_req *q);
void req_again(struct keel_req *q); /* replies that the request is to be sent again */
void req_withdraw(struct keel_req *q, int32_t code, const char *text); /* the kernel replies with an error */
void req_destroy_all(struct router *r);

void router_listen_stop(struct router *r);
void router_listen_pause(struct router *r); /* connections wait in the backlog of the socket from now on */

/* remote.c */
extern const struct keel_remote_api remote_api;

/* drain.c */
void client_leave(struct client *c); /* its daemon ends: "again" where nothing has been done */
void drain_due(struct router *r); /* a request has its reply, or a client is gone */
void drain_end(struct router *r);
extern const struct keel_request_api req_api;

#endif
