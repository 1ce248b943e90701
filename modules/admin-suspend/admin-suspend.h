/* SPDX-License-Identifier: Apache-2.0
 *
 * admin-suspend.h - what the files of this module share.
 */
#ifndef ADMIN_SUSPEND_H
#define ADMIN_SUSPEND_H

#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/resource.h"
#include "pbs_error.h"

#define MAINTENANCE_BIT 0x20000u
#define SUSPEND "admin-suspend"
#define RESUME "admin-resume"

/* A job listed on a vnode, in order of suspension. */
struct listed {
	char *id; /* owned */
	int64_t number; /* of the suspension; the list is sorted by it */
	struct listed *next;
};

/* Private memory on each vnode: derived from the marks of jobs, never stored. */
struct vnode {
	struct listed *jobs; /* owned */
	struct keel_obj *node;
	struct vnode *next; /* in in_maintenance: the vnodes with jobs */
};

struct state {
	struct vnode *in_maintenance;
	int64_t last_number;
};

/* ---- mark.c: the stored mark on a job; lists and bits are derived from it --------------------------- */

bool mark_is_set(struct keel_obj *job);
/* Out of memory: the mark is not set, and the job is suspended without it; the replying caller checks
 * mark_missing(). */
void mark_set(struct keel_mod *mod, struct keel_obj *job, const char *who);
bool mark_missing(struct keel_obj *job);
#define MARK_MISSING                                                                                       \
	"suspended, but out of memory for its vnodes' maintenance; resume it (qsig -s resume) and try again"
void mark_comment(struct keel_obj *job, const char *comment);
void mark_clear(struct keel_mod *mod, struct keel_obj *job);
/* After a restart or reload: derives the lists from the job's mark. */
void mark_known(struct keel_mod *mod, struct keel_obj *job);

/* ---- listing.c: maintenance_jobs of vnodes ------------------------------------------------------------ */

/* False: out of memory; it is on no list. */
bool listing_add(struct keel_mod *mod, struct keel_obj *job, int64_t number);
void listing_remove(struct keel_mod *mod, const char *job_id);
const struct listed *listing_of(struct keel_mod *mod, struct keel_obj *node);
void derive_maintenance_jobs(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit);
void vnode_fini(struct keel_mod *mod, void *slot);

/* ---- signals.c ------------------------------------------------------------------------------------------- */

extern const struct keel_signal_def suspend_signal, resume_signal;
keel_verdict on_signal(struct keel_call *c, const struct keel_ev_job_signal *ev);

/* ---- node_jobs.c ----------------------------------------------------------------------------------------------- */

struct node_jobs {
	char **id; /* owned */
	uint32_t n;
	bool failed; /* out of memory: some are missing */
};

/* Fills *ret with the admin-suspended jobs on the vnodes of a node and, if `running`, those that run there. Returns
 * false if there is no such node; the caller frees *ret in any case. */
bool node_jobs_find(struct keel_mod *mod, const char *name, bool running, struct node_jobs *ret);
void node_jobs_free(struct node_jobs *w);
bool is_of_node(struct keel_obj *node, const char *name);

/* ---- verb.c: pbsnodes --admin-suspend, --admin-resume ------------------------------------------------------ */

extern const struct keel_request_def suspend_nodes, resume_nodes;

#endif
