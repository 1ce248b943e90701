/* SPDX-License-Identifier: Apache-2.0
 *
 * call.h - send one request and receive its reply.
 */
#ifndef CLIENT_CALL_H
#define CLIENT_CALL_H

#include "pack.h"
#include "request.h"

/* Callbacks for one request. `body` is a map, borrowed until the callback returns. */
struct listener {
	/* Called for each PART; may be NULL. Returns 0; > 0: skip further parts; -ENOMEM or -EPROTO: the call fails. */
	int (*part)(const struct pack_value *body, void *arg);
	/* Called for a REPLY with code 0; may be NULL. Returns 0, or -ENOMEM or -EPROTO: the call fails. */
	int (*reply)(const struct pack_value *body, void *arg);
	void *arg;
	bool stop_at_signal; /* fail with EINTR after a signal handler ran */
	/* A request that only waits: if the server ends or restarts, the call reconnects, however long that takes, and
	 * sends it again. */
	bool again;
};

/* Returns 0 or the error, also in pbs_errno, with the connection's text set. `l` may be NULL. */
int call(int c, const char *name, const struct arg *args, size_t n, const struct listener *l);

/* Sends only; returns as call(). The next call drops the reply. */
int call_without_reply(int c, const char *name, const struct arg *args, size_t n);

#define CALL(c, name, l, ...)                                                                      \
	call(c, name, (const struct arg[]){ __VA_ARGS__ },                                         \
	     sizeof((const struct arg[]){ __VA_ARGS__ }) / sizeof(struct arg), l)

#endif
