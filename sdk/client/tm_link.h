/* SPDX-License-Identifier: Apache-2.0
 *
 * tm_link.h - the connection of a program to the daemon of its host.
 */
#ifndef CLIENT_TM_LINK_H
#define CLIENT_TM_LINK_H

#include "frame.h"
#include "request.h"

struct tm_link {
	int fd; /* -1: none */
	struct frame_reader reader;
};

/* Connects: KEELSON_MOM_SOCKET, else the usual places below PBS_MOM_HOME and PBS_HOME. Returns 0 or -errno. */
int tm_link_open(struct tm_link *l);
void tm_link_close(struct tm_link *l);

/* Sends a request; while that has to wait, what comes is read. Returns 0 or -errno: the connection is lost. */
int tm_link_send(struct tm_link *l, const char *name, const struct arg *args, size_t n, uint64_t corr);

/* Reads what is there, after having waited for at most `wait_ms` (-1: without end). Returns 1, 0: nothing came, or -errno. */
int tm_link_read(struct tm_link *l, int wait_ms);

/* The next whole frame of what was read: 1; 0: there is none; -EPROTO. Pings are answered. */
int tm_link_next(struct tm_link *l, struct frame *ret);

#endif
