/* SPDX-License-Identifier: Apache-2.0
 *
 * call.h - send one request and hear its answer.
 */
#ifndef CLIENT_CALL_H
#define CLIENT_CALL_H

#include "pack.h"
#include "request.h"

/* Who listens. `body` is a map, borrowed until return. */
struct listener {
	/* A PART. 0; -ENOMEM or -EPROTO fail the call; > 0: hear no more parts. May be NULL. */
	int (*part)(const msgpack_object *body, void *arg);
	/* The REPLY, only when its code is 0. 0, -ENOMEM or -EPROTO. May be NULL. */
	int (*reply)(const msgpack_object *body, void *arg);
	void *arg;
	bool stop_at_signal; /* give up with EINTR when a signal handler ran */
	/* A request that only waits: when the server ends or restarts it is sent again, to the one that is there
	 * then, however long that takes. */
	bool again;
};

/* 0 or the error; pbs_errno and the text of the connection are set. `l` may be NULL. */
int call(int c, const char *name, const struct arg *args, size_t n, const struct listener *l);

/* Send only; an answer that comes later is dropped by the next call. */
int call_without_answer(int c, const char *name, const struct arg *args, size_t n);

#define CALL(c, name, l, ...)                                                                      \
	call(c, name, (const struct arg[]){ __VA_ARGS__ },                                         \
	     sizeof((const struct arg[]){ __VA_ARGS__ }) / sizeof(struct arg), l)

#endif
