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

static const struct keel_need needs[] = {
	KEEL_NEED(core, 0, struct state, core),	      KEEL_NEED(object, 0, struct state, object),
	KEEL_NEED(hook, 0, struct state, hook),	      KEEL_NEED(call, 0, struct state, call),
	KEEL_NEED(msg, 0, struct state, msg),	      KEEL_NEED(request, 0, struct state, request),
	KEEL_NEED(job, 0, struct state, job),	      KEEL_NEED(node, 0, struct state, node),
	KEEL_NEED(resource, 0, struct state, resource),
};

static const struct keel_node_state_def maintenance = {
	.size = sizeof(struct keel_node_state_def),
	.bit = MAINTENANCE_BIT,
	.place = 140,
	.unavailable = 1,
	.name = "maintenance",
	.doc = "has an admin-suspended job",
};

static const struct keel_attr_def maintenance_jobs =
	KEEL_ATTR_DEF("node", "maintenance_jobs", "string_array", .order = 190,
		      .read_roles = KEEL_MANAGERS, .derive = derive_maintenance_jobs,
		      .doc = "admin-suspended jobs on the vnode, in order of suspension");
static const struct keel_attr_def mark =
	KEEL_ATTR_DEF("job", "admin_suspended", "string", .order = 930, .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_OPERATORS,
		      .doc = "number, who, when, and the administrator's comment");
static const struct keel_attr_def verb_nodes =
	KEEL_ATTR_DEF("job", "admin_suspended_nodes", "string", .order = 931, .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_OPERATORS,
		      .doc = "nodes whose --admin-suspend stopped the job");

static const struct keel_contrib contribs[] = {
	KEEL_ROW(NODE_STATE, maintenance), KEEL_ROW(ATTR, maintenance_jobs), KEEL_ROW(ATTR, mark),
	KEEL_ROW(ATTR, verb_nodes),	KEEL_ROW(SIGNAL, suspend_signal), KEEL_ROW(SIGNAL, resume_signal),
	KEEL_ROW(REQUEST, suspend_nodes),	KEEL_ROW(REQUEST, resume_nodes),
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

static keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	mark_known(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_node_delete(struct keel_call *c, const struct keel_ev_node_delete *ev)
{
	struct state *st = keel_state(c);

	return listing_of(c->mod, ev->node) ? st->call->reject(c, PBSE_OBJBUSY, NULL) : KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_signal, on_signal),	  KEEL_TAP(job_suspended, on_suspended),
	KEEL_TAP(job_resumed, on_resumed),	  KEEL_TAP(job_purged, on_purged),
	KEEL_TAP(job_known, on_known),		  KEEL_TAP(node_delete, on_node_delete),
};

static const struct keel_find wanted[] = {
	KEEL_FIND(struct state, mark, "job", "admin_suspended"),
	KEEL_FIND(struct state, verb_nodes, "job", "admin_suspended_nodes"),
	KEEL_FIND(struct state, exec_vnode, "job", "exec_vnode"),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	if (keel_find_all(mod, st->core, st->object, wanted, KEEL_COUNT(wanted), err))
		return -1;
	if (st->object->slot_bind(mod, "node", sizeof(struct vnode), vnode_fini))
		return st->core->error(err, -1, "cannot attach to class node");
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
	struct state *st = mod->state;
	struct keel_cursor *walk = st->object->cursor(mod, "job");
	struct keel_text list;
	struct keel_obj *job;
	int32_t result = 0;

	if (!walk)
		return st->core->error(err, -EBUSY, "no memory to look for jobs that are admin-suspended; try again");
	keel_text_init(&list);
	while ((job = st->object->next(walk)))
		if (mark_is_set(mod, job))
			keel_text_printf(&list, "%s%s", list.len ? "," : "", st->object->id(job));
	st->object->cursor_close(walk);
	if (list.len)
		result = st->core->error(err, -ENOTEMPTY,
					 "jobs are admin-suspended (%.380s); admin-resume or delete them first",
					 list.data);
	keel_text_fini(&list);
	return result;
}

KEEL_MODULE(.name = "admin-suspend", .version = "1.0", .vendor = "Keelson",
	    .summary = "suspend jobs for maintenance of their vnodes", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), .needs = needs, .n_needs = KEEL_COUNT(needs),
	    .contribs = contribs, .n_contribs = KEEL_COUNT(contribs), .taps = taps,
	    .n_taps = KEEL_COUNT(taps), .init = init, .busy = busy, .fini = fini);
