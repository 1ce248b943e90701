/* SPDX-License-Identifier: Apache-2.0
 *
 * router.h - clients, their sessions, and the way from a request's name to its handler.
 *
 * Registers the kind REQUEST, offers the API group "request". The roles of a session are the sum of the point
 * client_auth, raised at each request. A reply waits for store_after().
 */
#ifndef KEELSON_ROUTER_H
#define KEELSON_ROUTER_H

#include "keel/api.h"
#include "util/owner.h"

struct router;

int router_create(struct parts *parts, struct router **ret_router);
void router_destroy(struct router *r);
/* Listen on a Unix socket (mode 0666, users by SO_PEERCRED); replaces a dead one. `fd`: a socket that the last image of
 * this daemon left, moved; -1: none. Returns 0, or an error with *err. */
int router_listen(struct router *r, const char *path, int fd, struct keel_err *err);
/* Returns the listening socket for the next image of this daemon, owned by the caller; its path stays when this router
 * is destroyed. -1: none. */
int router_listen_fd(struct router *r);
/* The daemon restarts. Requests that only wait, or have changed nothing yet, are answered "again"; others may end until
 * `deadline_ms` of the loop's clock, and are then answered with an error. Each client gets a goodbye and is
 * disconnected; then done(arg) is called, from the loop. Connections that come meanwhile wait in the backlog. */
void router_drain(struct router *r, int64_t deadline_ms, void (*done)(void *arg), void *arg);
/* How long half a request, or replies that are not read, may stand still. */
void router_set_stall(struct router *r, int64_t stall_ms);
/* The daemon ends: the same, without a socket for those that come. `for_good`: clients need not wait for another one. */
void router_shutdown(struct router *r, bool for_good);
/* Returns whether no request is open; after the two above, whether all clients are gone. */
bool router_idle(const struct router *r);

#endif
