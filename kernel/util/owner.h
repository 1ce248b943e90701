/* SPDX-License-Identifier: Apache-2.0
 *
 * owner.h - on whose behalf the kernel acts: a loaded module, or the kernel itself.
 *
 * Every API function gets a `struct keel_mod *`; that is the first member of an owner, and the owner points to the
 * parts of this kernel. Their types are named here and defined in their own folders, so that no folder
 * includes upwards and several kernels can run in one process.
 */
#ifndef KEELSON_OWNER_H
#define KEELSON_OWNER_H

#include "keel/api.h"

/* The parts of one kernel, and names and directories of this daemon. Owned by kernel/main. */
struct parts {
	struct loop *loop;
	struct log *log;
	struct conf *conf;
	struct registry *registry;
	struct objects *objects;
	struct hooks *hooks;
	struct store *store;
	struct router *router;
	struct links *links;
	struct modules *modules;
	struct keel_account account[KEEL_ACCOUNTS];
	uint32_t daemon;     /* enum keel_daemon bits */
	const char *home;          /* PBS_HOME, absolute */
	const char *exec_dir;      /* PBS_EXEC, absolute */
	const char *server_name;   /* the `.svr` part of ids */
	const char *rename_server; /* the name that the store is to lose for it; NULL: it has that name */
	const char *host_name;     /* this host, as other daemons know it */
	const char *daemon_name;   /* third field of a log record: "Server@svr", "pbs_mom" */
	const char *client_socket;
};

/* How long the taps of a module may take; 0: as configured for all modules. */
#define OWNER_NO_STRIKES (-1)
struct owner_budget {
	int64_t soft_ms, hard_ms;
	int64_t strikes; /* OWNER_NO_STRIKES: never benched */
};

#define OWNER_WORKERS 4 /* worker threads of one module at most: the store needs one, too */

struct owner {
	struct keel_mod pub; /* first: a keel_mod is an owner */
	struct parts *parts;
	uint32_t live;     /* registrations (timers, watches, taps, rows ...) that must end before unload */
	uint32_t working;  /* its calls on worker threads */
	struct callback *work, *work_last; /* its calls that wait for a worker thread */
	struct bind *binds; /* for kernel/object: its private memory on objects */
	struct owner_budget budget;
	void *filter; /* for kernel/hook: its taps are called for what this lets pass; NULL: for all */
};

/* For sentences; NULL: the kernel. */
static inline const char *owner_name(const struct owner *owner)
{
	return owner != NULL && owner->pub.name != NULL ? owner->pub.name : "the kernel";
}

static inline struct owner *owner_of(struct keel_mod *m)
{
	return (struct owner *)m;
}

#endif
