/* SPDX-License-Identifier: Apache-2.0
 *
 * daemon.h - one kernel: its parts from start to end.
 */
#ifndef KEELSON_DAEMON_H
#define KEELSON_DAEMON_H

#include "main/options.h"
#include "util/owner.h"

/* Start, serve until asked to stop, end. Returns the exit code of the process. */
int daemon_run(const struct options *o);

/* What a simulation puts in the place of the machine: time, and what it adds to the parts before modules
 * are loaded (a store, hosts). Such a daemon has no sockets and catches no signals. */
struct world {
	int (*loop)(void *arg, struct loop **ret_loop);
	int (*furnish)(void *arg, struct parts *parts, struct keel_err *err);
	void *arg;
};
struct daemon;
/* A daemon that serves; `world` NULL: the real one. Its loop is the caller's to run. */
int daemon_create(const struct options *o, const struct world *world, struct daemon **ret_daemon,
		  struct keel_err *err);
void daemon_destroy(struct daemon *d); /* orderly: last replies and commits; NULL is fine */
/* As if the machine lost its power: its loop calls nobody any more, so nothing is stored and nobody is told. */
void daemon_abandon(struct daemon *d);

/* Look at configuration and modules and start nothing; print what was found. Exit code. */
int daemon_check(const struct options *o);

/* Ask a running daemon to stop in an orderly way, soon. */
void daemon_stop(struct parts *parts);

#endif
