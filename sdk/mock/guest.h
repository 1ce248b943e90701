/* SPDX-License-Identifier: Apache-2.0
 *
 * guest.h - clients inside this process, for simulations and tests: bytes in, frames out through send(), which must not call
 * back. When the client is gone that is called once with len 0; the handle is invalid then.
 */
#ifndef KEELSON_GUEST_H
#define KEELSON_GUEST_H

#include "request/router.h"

struct client;
struct router_guest {
	uint32_t uid, gid;
	const char *user, *group; /* copied */
	void (*send)(void *arg, const char *frames, size_t len);
	void *arg;
};
/* Returns 0, -EUSERS or -ENOMEM. */
int router_guest(struct router *r, const struct router_guest *guest, struct client **ret_client);
void router_guest_in(struct client *c, const char *bytes, size_t len);
void router_guest_leave(struct client *c);
void *router_guest_arg(const struct client *c); /* of a guest */

#endif
