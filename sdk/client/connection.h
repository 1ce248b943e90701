/* SPDX-License-Identifier: Apache-2.0
 *
 * connection.h - open connections, found by their handle (the number of the socket).
 */
#ifndef CLIENT_CONNECTION_H
#define CLIENT_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "pbs_ifl.h"

struct connection {
	struct connection *next;
	int fd;
	char *server; /* as the caller named it, owned; NULL: the default */
	bool lost; /* the stream cannot be used any more */
	bool hearing; /* somebody is shown a part of an answer: nothing can be asked */
	uint64_t corr; /* id of the last request */
	struct frame_reader reader;
	char *text; /* of the last error, owned */
	struct ecl_attribute_errors *refused; /* by the check before sending, owned */
};

/* Take over `fd`. 0 or -ENOMEM (then `fd` is still the caller's). */
int connection_add(int fd, const char *server);

/* The same handle on a new stream to its server. 0 or a PBSE number. */
int connection_reopen(struct connection *conn);

/* Borrowed until pbs_disconnect(); NULL: no such handle. */
struct connection *connection_find(int c);

/* Forget text and refused attributes, pbs_errno = 0. */
void connection_clear(struct connection *conn);

/* Set pbs_errno and the text (copied, NULL: none); returns `code`. `conn` may be NULL. */
int connection_fail(struct connection *conn, int code, const char *text);

/* The same with the text of the table. */
int connection_fail_code(struct connection *conn, int code);

#endif
