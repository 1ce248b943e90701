/* SPDX-License-Identifier: Apache-2.0
 *
 * links.h - messages between daemons: memory inside one process, encrypted TCP between hosts.
 *
 * The server listens, moms connect and stay connected. A host's key pair is in a file, the keys a
 * server accepts are files too, each bound to a role and a host name (keys.h). Offers the group
 * "link"; raises peer_up and peer_down.
 */
#ifndef KEELSON_LINKS_H
#define KEELSON_LINKS_H

#include "keel/api.h"
#include "util/owner.h"

struct links;

struct links_conf {
	const char *listen;    /* "host:port" (port 0: any, written to <home>/run/link.port); NULL: no */
	const char *server;    /* "host:port" of the server, for a mom that is not embedded; NULL: none */
	const char *key_file;  /* own secret key, mode 0600 */
	const char *peers_dir; /* <name>.pub: role, host name and public key of who may speak */
	int64_t heartbeat_ms, grace_ms;
};

int links_create(struct parts *parts, const struct links_conf *conf, struct links **ret_links,
		 struct keel_err *err);
void links_destroy(struct links *l);
int links_start(struct links *l, struct keel_err *err); /* after the modules have started */
void links_stop(struct links *l);
/* Peers whose messages somebody else carries, for simulations: `send` gets each message to one of them,
 * as the bytes of its body, borrowed. */
typedef void links_carry_fn(void *arg, const char *peer, const char *bytes, size_t len);
void links_carry(struct links *l, links_carry_fn *send, void *arg);
int links_carried_up(struct links *l, const char *peer);    /* linked (again): a mom of that host */
void links_carried_down(struct links *l, const char *peer); /* the link is lost, grace runs */
/* A message of it; 0, -ENOTCONN, or -EPROTO when the bytes are none. */
int links_carried_in(struct links *l, const char *peer, const char *bytes, size_t len);

/* Withdraw what a module that leaves listens to. */
void links_detach(struct links *l, struct owner *owner);

#endif
