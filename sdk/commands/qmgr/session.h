/* SPDX-License-Identifier: Apache-2.0
 *
 * session.h - a run of qmgr: the servers it talks to, and what is active.
 */
#ifndef QMGR_SESSION_H
#define QMGR_SESSION_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"

struct peer {
	struct peer *next;
	char *name; /* owned; "" is the default server */
	int c; /* 0 while not connected */
};

struct session {
	struct peer *peers; /* owned */
	struct object_name *active[MGR_OBJ_LAST]; /* owned; servers are named in `server` */
	bool stop_at_error, echo, check_only, terminal;
	bool counts; /* commands of a file: which line failed is said */
	unsigned long read, line; /* lines that were read; the one in which the command begins */
	FILE *in; /* borrowed; import reads bodies from it */
};

/* One object at one server. */
struct target {
	const char *name; /* "": the server, or all its objects */
	const char *server; /* "": the default one */
	int c;
	bool default_name; /* the name was not given, it is the default */
};

void session_init(struct session *s);
void session_fini(struct session *s);

/* Returns the handle of a server, connecting if needed; -1 after lines on stderr. */
int session_connect(struct session *s, const char *server);

/* A server hung up: the next session_connect() connects again. */
void session_forget(struct session *s, int c);

/* Makes the names the active objects of their kind. Takes ownership of `names`. */
void session_activate(struct session *s, int object, struct object_name *names);
void session_print_active(const struct session *s, int object);
void session_has_active(const struct session *s, bool ret[MGR_OBJ_LAST]);

/* Adds an active server, from the command line. Returns 0 or -ENOMEM. */
int session_add_server(struct session *s, const char *server);

typedef int target_fn(struct session *s, const struct command *q, const struct target *t);

/* Calls `fn` for each target of `q`. Returns the status of the last error, or 0. */
int session_each_target(struct session *s, const struct command *q, target_fn *fn);

/* Prints the server's error about `t` on stderr. Returns the exit status of a change. */
int target_failed(struct session *s, const struct target *t);

/* The same from parts. */
int target_failed_as(const struct target *t, int error, const char *text);

#endif
