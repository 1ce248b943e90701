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
	char *id;
	int64_t number; /* of the suspension: the order */
	struct listed *next;
};

/* Private memory on each vnode: derived from the marks of jobs, never stored. */
struct vnode {
	struct listed *jobs;
};

struct state {
	const struct keel_core_api *core;
	const struct keel_object_api *object;
	const struct keel_hook_api *hook;
	const struct keel_call_api *call;
	const struct keel_msg_api *msg;
	const struct keel_request_api *request;
	const struct keel_job_api *job;
	const struct keel_node_api *node;
	const struct keel_resource_api *resource;
	const struct keel_attr *mark, *verb_nodes, *exec_vnode;
	int64_t last_number;
};

/* ---- mark.c: the mark on a job is the one truth; lists and bits follow ------------------------------ */

bool mark_is_set(struct keel_mod *mod, struct keel_obj *job);
void mark_set(struct keel_mod *mod, struct keel_obj *job, const char *who);
void mark_comment(struct keel_mod *mod, struct keel_obj *job, const char *comment);
void mark_clear(struct keel_mod *mod, struct keel_obj *job);
/* After a restart or a late load: the mark is there, the lists are not. */
void mark_known(struct keel_mod *mod, struct keel_obj *job);

/* ---- listing.c: maintenance_jobs of vnodes ------------------------------------------------------------ */

void listing_add(struct keel_mod *mod, struct keel_obj *job, int64_t number);
void listing_remove(struct keel_mod *mod, const char *job_id);
bool listing_is_empty(struct keel_mod *mod, struct keel_obj *node);
void derive_maintenance_jobs(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit);
void vnode_fini(struct keel_mod *mod, void *slot);

/* ---- signals.c ------------------------------------------------------------------------------------------- */

extern const struct keel_signal_def suspend_signal, resume_signal;
keel_verdict on_signal(struct keel_call *c, const struct keel_ev_job_signal *ev);

/* ---- verb.c: pbsnodes --admin-suspend, --admin-resume ------------------------------------------------------ */

extern const struct keel_request_def suspend_nodes, resume_nodes;

#endif
