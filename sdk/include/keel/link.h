/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/link.h - messages to other daemons.
 *
 * A module says KEEL_USE(link). Peers are named by host; the server is "server". In the embedded daemon both ends are
 * one process and messages go through memory. A message is released after this turn's changes are durable.
 */
#ifndef KEEL_LINK_H
#define KEEL_LINK_H

#include "keel/api.h"
#include "keel/use.h"

KEEL_SERVICE(link);

/* Messages `name` go to fn, if the sender's key says one of `from` (enum keel_daemon bits). */
static inline int32_t keel_link_on(struct keel_mod *mod, const char *name, uint32_t from,
				   void (*fn)(struct keel_mod *, const char *peer, const struct keel_msg *))
{
	return KEEL_USE_link->on(mod, name, from, fn);
}

/* Sends a message; the out is moved, also when it fails: with -ENOTCONN when there is no such peer now. */
static inline int32_t keel_link_send(struct keel_mod *mod, const char *peer, const char *name,
				     struct keel_out *out)
{
	return KEEL_USE_link->send(mod, peer, name, out);
}

/* The same for bytes that are about nothing that changes: they leave at once, before messages that wait for the store. */
static inline int32_t keel_link_stream(struct keel_mod *mod, const char *peer, const char *name, struct keel_out *out)
{
	return KEEL_USE_link->stream(mod, peer, name, out);
}

/* Is there a link to it now? */
static inline bool keel_link_is_up(struct keel_mod *mod, const char *peer)
{
	return KEEL_USE_link->is_up(mod, peer);
}

/* Returns whether it was linked, perhaps before this daemon restarted, and its grace has not ended: it counts as up,
 * peer_down was not raised. */
static inline bool keel_link_is_awaited(struct keel_mod *mod, const char *peer)
{
	return KEEL_USE_link->is_awaited(mod, peer);
}

#endif
