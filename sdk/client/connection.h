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
	bool left; /* the server said goodbye: it restarts, and the next call connects again */
	bool stopped; /* the same, but it does not restart: the next call tries once */
	bool repeat; /* the last request changed nothing, and is to be sent again */
	bool parts; /* the last request has received some */
	bool in_callback; /* a callback for a part is running: no request can be sent */
	uint64_t corr; /* id of the last request */
	struct frame_reader reader;
	char *text; /* of the last error, owned */
	struct ecl_attribute_errors *refused; /* attributes with errors found before sending, owned */
};

/* Takes ownership of `fd`. Returns 0 or -ENOMEM; then the caller still owns `fd`. */
int connection_add(int fd, const char *server);

/* Connects the same handle to its server again. Returns 0 or a PBSE number. */
int connection_reopen(struct connection *conn);

/* Returns the connection, borrowed until pbs_disconnect(); NULL: no such handle. */
struct connection *connection_find(int c);

/* Clears text, refused attributes and pbs_errno. */
void connection_clear(struct connection *conn);

/* Sets pbs_errno and the text (copied, NULL: none); returns `code`. `conn` may be NULL. */
int connection_fail(struct connection *conn, int code, const char *text);

/* The same with the text of the error table. */
int connection_fail_code(struct connection *conn, int code);

#endif
