/* SPDX-License-Identifier: Apache-2.0
 *
 * admin-suspend.c - suspend the jobs of a vnode for maintenance, and resume them.
 *
 * Two pseudo-signals, a vnode state, and a list of the jobs to resume:
 *   job_signal     rejects a resume that does not match the suspension
 *   job_suspended  sets the mark, its vnodes enter maintenance
 *   job_resumed    clears the mark; so does job_purged, when the job ended or was requeued
 *   job_known      derives lists and bits from the marks
 *   node_delete    rejected while jobs on the vnode are marked
 */
#include "admin-suspend.h"

#include <errno.h>
#include <string.h>

#include "keel/text.h"

KEEL_USE(job);
KEEL_USE(node);
KEEL_USE(resource);

static const struct keel_node_state_def maintenance = {
	.size = sizeof(struct keel_node_state_def),
	.bit = MAINTENANCE_BIT, .place = 140, .unavailable = 1,
	.name = "maintenance",
	.doc = "has an admin-suspended job",
};

static const struct keel_attr_def maintenance_jobs =
	KEEL_ATTR_DEF("node", "maintenance_jobs", "string_array", .order = 190,
		      .read_roles = KEEL_MANAGERS, .derive = derive_maintenance_jobs,
		      .doc = "jobs that were suspended here by qsig -s admin-suspend, in order of suspension");
static const struct keel_attr_def mark =
	KEEL_ATTR_DEF("job", "admin_suspended", "string", .order = 930, .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_OPERATORS,
		      .doc = "that it was admin-suspended: number, who, when, and the administrator's comment");
static const struct keel_attr_def verb_nodes =
	KEEL_ATTR_DEF("job", "admin_suspended_nodes", "string", .order = 931, .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_OPERATORS,
		      .doc = "hosts whose pbsnodes --admin-suspend stopped the job");

static const struct keel_contrib contribs[] = {
	KEEL_ROW(NODE_STATE, maintenance), KEEL_ROW(ATTR, maintenance_jobs), KEEL_ROW(ATTR, mark),
	KEEL_ROW(ATTR, verb_nodes),	KEEL_ROW(SIGNAL, suspend_signal), KEEL_ROW(SIGNAL, resume_signal),
	KEEL_ROW(REQUEST, suspend_nodes),	KEEL_ROW(REQUEST, resume_nodes), KEEL_ROW(SERVICE, service_row),
};

static keel_verdict on_suspended(struct keel_call *c, const struct keel_ev_job_suspended *ev)
{
	if (ev->job && strcmp(ev->signal, SUSPEND) == 0)
		mark_set(c->mod, ev->job, ev->who);
	return KEEL_NEXT;
}

static keel_verdict on_resumed(struct keel_call *c, const struct keel_ev_job_resumed *ev)
{
	if (ev->job)
		mark_clear(c->mod, ev->job);
	return KEEL_NEXT;
}

/* The object may be gone if the event was queued: the lists have the job's id. */
static keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev)
{
	if (ev->job)
		mark_clear(c->mod, ev->job);
	else
		listing_remove(c->mod, ev->id);
	return KEEL_NEXT;
}

static keel_verdict on_node_delete(struct keel_call *c, const struct keel_ev_node_delete *ev)
{
	return listing_of(c->mod, ev->node) ? keel_reject(c, PBSE_OBJBUSY, NULL) : KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_signal, on_signal),	  KEEL_TAP(job_suspended, on_suspended),
	KEEL_TAP(job_resumed, on_resumed),	  KEEL_TAP(job_purged, on_purged),
	KEEL_TAP(job_known, on_known),		  KEEL_TAP(node_delete, on_node_delete),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_slot_bind(mod, "node", sizeof(struct vnode), vnode_fini))
		return keel_error(err, -1, "cannot attach to class node");
	return 0;
}

/* Runs before vnode_fini() of each vnode, which then need not unlink it. */
static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->in_maintenance = NULL;
}

/* Without this module the marked jobs cannot be resumed: the error names them. */
static int32_t busy(struct keel_mod *mod, struct keel_err *err)
{
	struct keel_cursor *walk = keel_cursor(mod, "job");
	struct keel_text list;
	struct keel_obj *job;
	int32_t result = 0;

	if (!walk)
		return keel_error(err, -EBUSY, "no memory to look for jobs that are admin-suspended; try again");
	keel_text_init(&list);
	while ((job = keel_next(walk)))
		if (mark_is_set(job))
			keel_text_printf(&list, "%s%s", list.len ? "," : "", keel_id(job));
	keel_cursor_close(walk);
	if (list.len)
		result = keel_error(err, -ENOTEMPTY,
				    "jobs are admin-suspended (%.380s); admin-resume or delete them first",
				    list.data);
	keel_text_fini(&list);
	return result;
}

KEEL_MODULE(.name = "admin-suspend", .version = "1.0", .vendor = "Keelson",
	    .summary = "suspend jobs for maintenance of their vnodes", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	    .init = init, .busy = busy, .fini = fini);
