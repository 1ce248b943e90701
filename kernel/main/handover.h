/* SPDX-License-Identifier: Apache-2.0
 *
 * handover.h - from one image of the daemon to the next: descriptors by the LISTEN_FDS convention, which is also how
 * systemd passes sockets, and a text in the set of the next one.
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
/* The environment with which the next image takes them, malloc'ed; `notify`: NOTIFY_SOCKET, or NULL. NULL: no memory. */
char **handed_env(const struct handed *h, const char *notify);
/* Right before the exec. Safe in a signal handler. */
void handed_pass(const struct handed *h);

/* The text: what the change was that made the set, and what is to be answered. */
struct handover {
	char *back;  /* the set that is executed when this one does not serve; NULL: none */
	char *token; /* of the request; NULL: none */
	int code;    /* 0: `text` is a line per change, else why nothing changed */
	char *text;
};
int handover_write(const char *set, const char *name, const struct handover *h);
int handover_read(const char *set, struct handover *ret); /* 0, -errno */
void handover_fini(struct handover *h);

#endif
