/* SPDX-License-Identifier: Apache-2.0
 *
 * daemon.h - one kernel: its command line, and its parts from start to end.
 */
#ifndef KEELSON_DAEMON_H
#define KEELSON_DAEMON_H

#include "keel/api.h"
#include "util/owner.h"

struct options {
	const char *conf_file; /* NULL: place_conf_file() */
	const char *home;   /* NULL: as configured */
	uint32_t roles;     /* enum keel_daemon bits; 0: as configured */
	bool check, foreground, version, help;
	const char **set;   /* "key=value"; owned, the strings are argv's */
	size_t n_set;
	const char *set_dir;  /* run with this set of modules (keel/renew.h), or check it; NULL: with the configuration */
	const char *back;     /* with set_dir: the one to go back to; or NULL */
	const char *refused;  /* with set_dir: the error of the set in whose place this one runs; or NULL */
	const char *rename_server; /* the name that the store has and loses; or NULL */
	bool last_good;       /* run with the last set that served */
};

/* Start, serve until daemon_stop() or a signal, end. Returns the exit code of the process. */
int daemon_run(const struct options *o);

/* What a simulation replaces: time, and what it adds to the parts before modules are loaded (a store, hosts). Such a
 * daemon has no sockets and catches no signals. */
struct world {
	int (*loop)(void *arg, struct loop **ret_loop);
	int (*furnish)(void *arg, struct parts *parts, struct keel_err *err);
	void *arg;
};
struct daemon;
/* Start a daemon whose loop the caller runs; `world` NULL: no simulation. Returns 0, or an error with *err. */
int daemon_create(const struct options *o, const struct world *world, struct daemon **ret_daemon,
		  struct keel_err *err);
/* As after a power failure: calls no callback any more, so that nothing is stored and no client or peer is notified. */
void daemon_abandon(struct daemon *d);

/* Check configuration and modules, start nothing, print the result. Returns the exit code of the process. */
int daemon_check(const struct options *o);

/* Make a running daemon stop in an orderly way, after this turn. */
void daemon_stop(struct parts *parts);

/* The API group "core": log, clock, timers, fds, worker threads. */
extern const struct keel_core_api core_api;
/* After a start that failed: what modules have deferred until the daemon is ready does not happen. */
void core_drop(struct loop *l);

#endif
