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
/* Out of memory: the mark is not set, and the job is suspended without it. */
void mark_set(struct keel_mod *mod, struct keel_obj *job, const char *who);
#define MARK_MISSING                                                                                       \
	"suspended, but out of memory for its vnodes' maintenance; resume it (qsig -s resume) and try again"
void mark_comment(struct keel_obj *job, const char *comment);
void mark_clear(struct keel_mod *mod, struct keel_obj *job);
/* After a restart or reload: derives the lists from the job's mark. */
keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev);

/* ---- listing.c: maintenance_jobs of vnodes ------------------------------------------------------------ */

/* False: out of memory; it is on no list. */
bool listing_add(struct keel_mod *mod, struct keel_obj *job, int64_t number);
void listing_remove(struct keel_mod *mod, const char *job_id);
const struct listed *listing_of(struct keel_mod *mod, struct keel_obj *node);
void derive_maintenance_jobs(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit);
void vnode_fini(struct keel_mod *mod, void *slot);

/* ---- steps.c ------------------------------------------------------------------------------------------- */

/* Suspends or resumes a job, its vnodes included, and calls `done` once, with PBSE_SYSTEM if it could not be marked;
 * `job` is NULL there if it is gone. */
typedef void step_done(struct keel_mod *mod, void *arg, struct keel_obj *job, const char *id, int32_t code, const char *text);
void step(struct keel_mod *mod, struct keel_obj *job, bool suspend, const char *who, step_done *done, void *arg);
extern const struct keel_signal_def suspend_signal, resume_signal;
keel_verdict on_signal(struct keel_call *c, const struct keel_ev_job_signal *ev);

/* ---- verb.c: pbsnodes --admin-suspend, --admin-resume ------------------------------------------------------ */

extern const struct keel_request_def suspend_nodes, resume_nodes;

/* ---- service.c: for other modules ------------------------------------------------------------------------------ */

extern const struct keel_service_def service_row;

#endif
