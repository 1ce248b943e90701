/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/remote.h - serve a request of a client of another host, whose daemon has verified its user.
 *
 * A module says KEEL_USE(remote). The session has that host, and UINT32_MAX as uid: a uid of another host means nothing
 * here. Its user has the roles that the lists of managers and operators give to user@host, and no more than the module
 * lets it have. What it sends, and what it does not read, is bounded as for any client.
 */
#ifndef KEEL_REMOTE_H
#define KEEL_REMOTE_H

#include "keel/api.h"
#include "keel/use.h"

KEEL_SERVICE(remote);

/* A request; its body follows by keel_remote_in(). Fails with -EAGAIN when this daemon ends or restarts, -EUSERS when
 * there are too many of it, -EINVAL for a length that no request has, -ENOMEM. */
static inline int32_t keel_remote_start(struct keel_mod *mod, const struct keel_remote_setup *def, struct keel_remote **ret)
{
	return KEEL_USE_remote->start(mod, def, ret);
}

/* More bytes of the body; copied. With the last one it is served, now or in a later turn; answers come later. */
static inline void keel_remote_in(struct keel_remote *remote, const void *bytes, uint32_t len)
{
	KEEL_USE_remote->in(remote, bytes, len);
}

/* The other side has taken `n` bytes of frames: as many more may be given to frame(). */
static inline void keel_remote_taken(struct keel_remote *remote, uint32_t n)
{
	KEEL_USE_remote->taken(remote, n);
}

/* 0: it does not wait for something (KEEL_REQUEST_WAITS), or is not being served yet; 1: it does; 2: and changes nothing
 * (KEEL_REQUEST_READ), so that it may be sent once more. */
static inline int32_t keel_remote_waits(struct keel_remote *remote)
{
	return KEEL_USE_remote->waits(remote);
}

/* The client's daemon ends or restarts: where nothing has been done yet, or it only waits, a GOODBYE follows; else it
 * goes on. */
static inline void keel_remote_again(struct keel_remote *remote)
{
	KEEL_USE_remote->again(remote);
}

/* Its client is gone: no callback follows. */
static inline void keel_remote_end(struct keel_remote *remote)
{
	KEEL_USE_remote->end(remote);
}

#endif
