/* SPDX-License-Identifier: Apache-2.0
 *
 * links.h - messages between daemons: memory inside one process, a module that carries them between hosts.
 *
 * Offers the groups "link" and "carry"; raises peer_up and peer_down.
 */
#ifndef KEELSON_LINKS_H
#define KEELSON_LINKS_H

#include "keel/api.h"
#include "util/owner.h"

struct links;

int links_create(struct parts *parts, struct links **ret_links);
void links_destroy(struct links *l);
int links_start(struct links *l, struct keel_err *err); /* after the modules have started */
void links_stop(struct links *l);

/* This daemon restarts: notifies each peer, which then waits for it for longer. */
void links_goodbye(struct links *l);
/* Appends the peers that count as up, for the next image of this daemon; before links_stop(). */
struct buf;
void links_handover(struct links *l, struct buf *out);
/* The peers of the last image: they are awaited for a grace, which begins with links_start(). Before objects are loaded. */
void links_expect(struct links *l, const char *text);

/* Withdraw what a module that leaves listens to; NULL: of all. */
void links_detach(struct links *l, struct owner *owner);

#endif
