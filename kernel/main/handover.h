/* SPDX-License-Identifier: Apache-2.0
 *
 * handover.h - descriptors from one image of the daemon to the next, by the LISTEN_FDS convention, which is also how
 * systemd passes sockets.
 */
#ifndef KEELSON_HANDOVER_H
#define KEELSON_HANDOVER_H

#include "keel/types.h"

#define HANDOVER_FDS 8
#define HANDED_CLIENT "client" /* the clients' socket; also what has no name */

/* Descriptors, by name. */
struct handed {
	uint32_t n;
	struct {
		char name[32];
		int fd;
	} at[HANDOVER_FDS];
};
/* What came with this image; the environment is cleared. From now on they are closed by an exec. */
void handed_take(struct handed *ret);
/* Returns one, which is the caller's from now on; -1: there is none. */
int handed_use(struct handed *h, const char *name);
int handed_find(const struct handed *h, const char *name); /* it stays there */
void handed_close(struct handed *h); /* those that were not used */
void handed_add(struct handed *h, const char *name, int fd);
/* The environment with which the next image takes them; the caller frees it. `notify`: NOTIFY_SOCKET, or NULL. NULL without memory. */
char **handed_env(const struct handed *h, const char *notify);
/* Right before the exec. Safe in a signal handler. */
void handed_pass(const struct handed *h);

#endif
