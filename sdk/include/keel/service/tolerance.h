/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/tolerance.h - service "tolerance" (offered by tolerate-node-failures): jobs that survive the loss of hosts.
 *
 * What hooks of sites do with vnode_list_fail, release_nodes() and increment_chunks(), for modules: at the points
 * task_prologue and task_launch of the primary, when the sisters have answered. increment() is there on servers, too.
 */
#ifndef KEEL_SERVICE_TOLERANCE_H
#define KEEL_SERVICE_TOLERANCE_H

#include "keel/types.h"
#include "keel/use.h"

/* A host of a job that failed. */
struct keel_tolerance_host {
	uint32_t size;
	int32_t code;		  /* PBSE; 15059: it does not answer */
	const char *name, *stage; /* "join", "prologue", "run", "end" */
	const char *text;	  /* why */
	const char *vnodes;	  /* what the job had there: its share of exec_vnode; "" when that is not known any more */
};

struct keel_tolerance_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below */
	/* Does this run go on when a host fails now? False also for a job of which this host is not the primary. */
	bool (*is_tolerant)(struct keel_mod *, const char *id);
	/* Calls fn for each host that failed in this run, also when the job has given it back. */
	void (*each_failed)(struct keel_mod *, const char *id, void (*fn)(void *arg, const struct keel_tolerance_host *),
			    void *arg);
	/* Has this host of the job answered well so far? One that is silent has not, and has not failed. */
	bool (*is_good)(struct keel_mod *, const char *id, const char *host);
	/* release_nodes(keep_select=): the job goes on with vnodes of good hosts that satisfy `select`, the primary's chunk
	 * first. 0, also when that is all it has; -ENODATA: it cannot be satisfied, the log says why and nothing has changed;
	 * -EPERM: it is not tolerant; -EINVAL: no select; -ENOTSUP: it has vnodes of a Cray; -ENOENT: not its primary; -EBUSY:
	 * its program runs. */
	int32_t (*keep)(struct keel_mod *, const char *id, const char *select);
	/* release_nodes(node_list=): without these vnodes. Fails as keep() does. */
	int32_t (*release)(struct keel_mod *, const char *id, const char *const *vnodes, uint32_t n);
	/* The server sets this vnode of a host that failed offline, with a comment; NULL: as why the host failed. -ENOENT: its
	 * host is none of those. */
	int32_t (*offline)(struct keel_mod *, const char *id, const char *vnode, const char *comment);
	/* When this run ends and the job is queued again it is held (s), for this reason. Reject the start then. */
	int32_t (*hold)(struct keel_mod *, const char *id, const char *why);
	/* increment_chunks(): rules "2", "-1" or "50%", one for each item of the select (NULL: none), or n 0: rules[0] for all.
	 * The caller frees it. NULL with *err: a rule is missing, or is none. */
	char *(*increment)(struct keel_mod *, const char *select, const char *const *rules, uint32_t n, struct keel_err *);
};

KEEL_SERVICE(tolerance);
#define keel_tolerance_is_tolerant(...) KEEL_CALL(tolerance, is_tolerant, __VA_ARGS__)
#define keel_tolerance_each_failed(...) KEEL_CALL(tolerance, each_failed, __VA_ARGS__)
#define keel_tolerance_is_good(...) KEEL_CALL(tolerance, is_good, __VA_ARGS__)
#define keel_tolerance_keep(...) KEEL_CALL(tolerance, keep, __VA_ARGS__)
#define keel_tolerance_release(...) KEEL_CALL(tolerance, release, __VA_ARGS__)
#define keel_tolerance_offline(...) KEEL_CALL(tolerance, offline, __VA_ARGS__)
#define keel_tolerance_hold(...) KEEL_CALL(tolerance, hold, __VA_ARGS__)
#define keel_tolerance_increment(...) KEEL_CALL(tolerance, increment, __VA_ARGS__)

#endif
