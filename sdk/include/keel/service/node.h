/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/node.h - service "node" (offered by nodes): vnodes, their states, what is assigned.
 */
#ifndef KEEL_SERVICE_NODE_H
#define KEEL_SERVICE_NODE_H

#include "keel/service/resource.h"
#include "keel/types.h"
#include "keel/use.h"

/* State bits of the base system; features add theirs with NODE_STATE rows. */
enum keel_node_bit {
	KEEL_NODE_OFFLINE = 0x1,
	KEEL_NODE_DOWN = 0x2,
	KEEL_NODE_UNRESOLVABLE = 0x8,
	KEEL_NODE_JOB_BUSY = 0x10,
	KEEL_NODE_STALE = 0x20,
	KEEL_NODE_JOB_EXCLUSIVE = 0x40,
	KEEL_NODE_BUSY = 0x80,
	KEEL_NODE_UNKNOWN = 0x100,
	KEEL_NODE_INITIALIZING = 0x400,
	KEEL_NODE_OFFLINE_BY_MOM = 0x4000,
	KEEL_NODE_SLEEP = 0x40000,
};

struct keel_node_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* The current bits; 0 is "free". */
	uint32_t (*state)(struct keel_mod *, struct keel_obj *node);
	/* Set or clear bits: log record, last_state_change_time, point node_state. */
	void (*set_state)(struct keel_mod *, struct keel_obj *node, uint32_t bits, bool on);
	/* Any bit that keeps new work away (base ones and those of NODE_STATE rows)? */
	bool (*unavailable)(struct keel_mod *, struct keel_obj *node);
	/* The link peer that serves the vnode; NULL unknown vnode. */
	const char *(*host_of)(struct keel_mod *, const char *vnode);
	/* resources_available; NULL when unset. Borrowed until the callback returns. */
	const struct keel_reslist *(*available)(struct keel_mod *, struct keel_obj *node);
	/* resources_assigned: what jobs have of it; NULL: nothing. Borrowed until the callback returns. */
	const struct keel_reslist *(*assigned)(struct keel_mod *, struct keel_obj *node);

	/* Give a job its vnodes: every vnode of `exec_vnode` gets slots and resources_assigned, job-busy
	 * and job-exclusive follow. *ret_exec_host, which the caller frees: n1/0*2+n2/0. `excl`: enum
	 * keel_place_share after combining with `sharing`. Fails with a PBSE code and *err; nothing is assigned then. */
	int32_t (*assign)(struct keel_mod *, const char *job_id, const char *exec_vnode, int32_t share,
			  char **ret_exec_host, struct keel_err *);
	/* Take them back: slots and all resources, or (suspension) only the resources named in `only`.
	 * `ended`: the job is over, last_used_time follows. Releasing what is not assigned does nothing. */
	void (*release)(struct keel_mod *, const char *job_id, const char *exec_vnode, const char *only,
			bool ended);
	/* Does any job occupy slots of this vnode, exclusively? For schedulers. */
	bool (*in_use)(struct keel_mod *, struct keel_obj *node);
	/* A number that changes whenever anything a scheduler looks at changed. */
	uint64_t (*generation)(struct keel_mod *);
	/* Effective sharing for a job: enum keel_place_share SHARED, EXCL or EXCLHOST. */
	int32_t (*sharing)(struct keel_mod *, struct keel_obj *node, int32_t place_share);
	/* How many jobs are on it; suspended ones are not, whatever they keep. */
	uint32_t (*jobs_on)(struct keel_mod *, struct keel_obj *node);
	/* A number that moves with all that is not about who is where: vnodes come or go, get other amounts,
	 * another queue or priority. Read all of them again then, else those of changed_since(). */
	uint64_t (*shape)(struct keel_mod *);
	/* Calls fn for each vnode that changed since that generation. fn must not change vnodes. */
	void (*changed_since)(struct keel_mod *, uint64_t generation,
			      void (*fn)(void *arg, struct keel_obj *node), void *arg);
	/* Jobs on the vnode; a suspended one is there when it keeps a part. */
	void (*tenants)(struct keel_mod *, struct keel_obj *node,
			void (*fn)(void *arg, const char *job_id, bool suspended), void *arg);
	/* Since when its host has not answered, in seconds since 1970, over restarts of the server; 0: it does. */
	int64_t (*lost_at)(struct keel_mod *, struct keel_obj *node);
	/* Is there a link to its host now? False as soon as it breaks, before the vnode is down. */
	bool (*linked)(struct keel_mod *, struct keel_obj *node);
	/* assign() of a job that runs already, where all is counted anew: it has the slots that its
	 * `exec_host` names, and others it takes as they come free. Fails as assign() does. */
	int32_t (*assign_again)(struct keel_mod *, const char *job_id, const char *exec_vnode, int32_t share,
				const char *exec_host, struct keel_err *);
	/* A job that has the vnodes of `before` has those of `after` from now on: parts of before, in any order, with as
	 * much or less. What stays keeps its slots, the rest is free at once. Fails with PBSE_IVALREQ and *err, nothing
	 * has changed then; or PBSE_SYSTEM. */
	int32_t (*shrink)(struct keel_mod *, const char *job_id, const char *before, const char *after, int32_t share,
			  struct keel_err *);

	/* A holder, such as a reservation that has begun, has these amounts of vnodes from now on, instead of what it had;
	 * NULL or "": nothing. They are in resources_assigned, without slots, and not in `jobs`. A job inside a holder
	 * (on_holder()) has slots, and is charged to it: of each resource of a vnode the holder counts with what it holds or
	 * with what its jobs use, whichever is more. Vnodes that are not there are left out. Fails with a PBSE code and *err: it
	 * has what it had. */
	int32_t (*hold)(struct keel_mod *, const char *holder, const char *exec_vnode, struct keel_err *);
	/* Registers the function that names the holder whose vnodes a job uses (NULL: none); called when a job is assigned,
	 * which remembers the answer for as long as it is there. fn NULL takes it back. */
	void (*on_holder)(struct keel_mod *, struct keel_mod *me,
			  const char *(*fn)(struct keel_mod *me, const char *job_id));
	/* What jobs use of it, whatever holders hold besides; NULL: nothing. Borrowed until the callback returns. */
	const struct keel_reslist *(*used)(struct keel_mod *, struct keel_obj *node);
	/* What the jobs inside this holder use of it; NULL: nothing. Borrowed likewise. *ret_jobs: how many they are that are not
	 * suspended, *ret_alone: is one of them exclusive? Both may be NULL. */
	const struct keel_reslist *(*used_inside)(struct keel_mod *, struct keel_obj *node, const char *holder,
						  uint32_t *ret_jobs, bool *ret_alone);
	/* Does its state keep new jobs away even from inside a holder? True for all that make it unavailable but NODE_STATE
	 * rows with KEEL_NODE_STATE_OUTSIDE. */
	bool (*closed_inside)(struct keel_mod *, struct keel_obj *node);
	/* on_holder() has another answer about a job than when it was assigned these vnodes: from now on it is charged there.
	 * Fails with 15010 or a code of the text, and *err: it is charged as before. */
	int32_t (*lodge)(struct keel_mod *, const char *job_id, const char *exec_vnode, struct keel_err *);
	/* The i-th word of a vnode's state, from 0, and its bit; NULL: there are no more. That for OFFLINE_BY_MOM, which listings show as
	 * "offline", is "offline_by_mom". */
	const char *(*word)(struct keel_mod *, uint32_t i, uint32_t *ret_bit);
};

KEEL_SERVICE(node);
#define keel_node_state(...) KEEL_CALL(node, state, __VA_ARGS__)
#define keel_node_set_state(...) KEEL_CALL(node, set_state, __VA_ARGS__)
#define keel_node_unavailable(...) KEEL_CALL(node, unavailable, __VA_ARGS__)
#define keel_node_host_of(...) KEEL_CALL(node, host_of, __VA_ARGS__)
#define keel_node_available(...) KEEL_CALL(node, available, __VA_ARGS__)
#define keel_node_assigned(...) KEEL_CALL(node, assigned, __VA_ARGS__)
#define keel_node_assign(...) KEEL_CALL(node, assign, __VA_ARGS__)
#define keel_node_release(...) KEEL_CALL(node, release, __VA_ARGS__)
#define keel_node_in_use(...) KEEL_CALL(node, in_use, __VA_ARGS__)
#define keel_node_generation() KEEL_CALL0(node, generation)
#define keel_node_sharing(...) KEEL_CALL(node, sharing, __VA_ARGS__)
#define keel_node_jobs_on(...) KEEL_CALL(node, jobs_on, __VA_ARGS__)
#define keel_node_shape() KEEL_CALL0(node, shape)
#define keel_node_changed_since(...) KEEL_CALL(node, changed_since, __VA_ARGS__)
#define keel_node_tenants(...) KEEL_CALL(node, tenants, __VA_ARGS__)
#define keel_node_lost_at(...) KEEL_CALL(node, lost_at, __VA_ARGS__)
#define keel_node_linked(...) KEEL_CALL(node, linked, __VA_ARGS__)
#define keel_node_shrink(...) KEEL_CALL(node, shrink, __VA_ARGS__)
#define keel_node_hold(...) KEEL_CALL(node, hold, __VA_ARGS__)
#define keel_node_on_holder(...) KEEL_CALL(node, on_holder, __VA_ARGS__)
#define keel_node_word(...) KEEL_CALL(node, word, __VA_ARGS__)
#define keel_node_lodge(...) KEEL_CALL(node, lodge, __VA_ARGS__)
#define keel_node_used(...) KEEL_CALL(node, used, __VA_ARGS__)
#define keel_node_used_inside(...) KEEL_CALL(node, used_inside, __VA_ARGS__)
#define keel_node_closed_inside(...) KEEL_CALL(node, closed_inside, __VA_ARGS__)
#define keel_node_assign_again(...) KEEL_CALL(node, assign_again, __VA_ARGS__)

#endif
