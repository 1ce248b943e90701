/* SPDX-License-Identifier: Apache-2.0
 *
 * scheduler.c - which job runs where, and when: the scheduler of this server.
 *
 * Everything that changes a job or a vnode wakes it (taps below, service job); cycle.c decides, place.c
 * knows how. Policy comes from taps at start_job, job_rank, node_eligible and node_score.
 */
#include "scheduler.h"

#include <stdio.h>
#include <string.h>

KEEL_USE(resource);
KEEL_USE(node);
KEEL_USE(job);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(LIST, struct conf, resources, .fallback = "ncpus, mem, arch, host, vnode, aoe, eoe",
		       .doc = "built-in resources compared when a job is placed; booleans and a site's "
			      "own always are"),
	KEEL_CONF_RULE(DURATION, struct conf, slice, .fallback = "2ms", .min = 1, .max = 50,
		       .doc = "a cycle leaves the loop to others after this"),
	KEEL_CONF_RULE(DURATION, struct conf, rest, .fallback = "2s", .min = 100, .max = 600000,
		       .doc = "pause of a job whose start failed; doubled five times"),
	KEEL_CONF_RULE(DURATION, struct conf, comment_gap, .fallback = "20ms", .min = 1, .max = 60000,
		       .doc = "between batches of comments of jobs that do not start"),
	KEEL_CONF_RULE(BOOL, struct conf, by_queue, .fallback = "true",
		       .doc = "all jobs of the queue with the highest Priority before the next queue"),
	KEEL_CONF_RULE(BOOL, struct conf, round_robin, .fallback = "false",
		       .doc = "one job of each queue in turn"),
	KEEL_CONF_RULE(BOOL, struct conf, strict_ordering, .fallback = "false",
		       .doc = "no job before one that cannot start, but for what delays nobody"),
	KEEL_CONF_RULE(LIST, struct conf, job_sort_key, .fallback = "",
		       .doc = "order of jobs: \"name HIGH\" or \"name LOW\", the first one first"),
	KEEL_CONF_RULE(LIST, struct conf, node_sort_key, .fallback = "sort_priority HIGH",
		       .doc = "order of vnodes: <resource|sort_priority|last_used_time> HIGH|LOW "
			      "[total|assigned|unused]"),
	KEEL_CONF_RULE(LIST, struct conf, resource_unset_infinite,
		       .doc = "resources of which a vnode without a value has plenty"),
	KEEL_CONF_RULE(LIST, struct conf, smp_cluster_dist, .fallback = "pack",
		       .doc = "pack, or round_robin: the vnode that waited longest goes first"),
	KEEL_CONF_RULE(LIST, struct conf, server_dyn_res,
		       .doc = "\"<resource> !<command>\": what there is of it, asked before each cycle"),
	KEEL_CONF_RULE(BOOL, struct conf, refuse_impossible, .fallback = "false",
		       .doc = "refuse jobs that could never run when they are submitted"),
};

/* ---- what changes jobs -------------------------------------------------------------------------------- */

static void look(struct keel_mod *mod, struct keel_obj *job)
{
	struct entry *e = entry_of(mod, job);

	if (!e)
		return;
	e->gave_up = 0;
	entry_touch(mod, e);
	wake(mod, CMD_JOB);
}

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	look(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	top_known(c->mod, ev->job);
	look(c->mod, ev->job);
	return KEEL_NEXT;
}

/* The change is committed after this tap: the next cycle sees it. */
static keel_verdict on_modify(struct keel_call *c, const struct keel_ev_job_modify *ev)
{
	blocks_end_moves(c->mod, ev->job);
	look(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_release(struct keel_call *c, const struct keel_ev_job_release *ev)
{
	look(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_moved(struct keel_call *c, const struct keel_ev_job_moved *ev)
{
	if (ev->job)
		look(c->mod, ev->job);
	return KEEL_NEXT;
}

/* An array that had nothing to start has again; one that is in its group is there for all of them. */
static keel_verdict on_waits(struct keel_call *c, const struct keel_ev_job_waits *ev)
{
	struct entry *e = ev->job ? entry_of(c->mod, ev->job) : NULL;

	if (e && (e->where == OUT || e->where == PARKED))
		look(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_suspended(struct keel_call *c, const struct keel_ev_job_suspended *ev)
{
	struct entry *e = entry_of(c->mod, ev->job);

	if (e)
		entry_suspended(c->mod, e);
	return KEEL_NEXT;
}

/* Its place among others has changed. */
static keel_verdict on_preempted(struct keel_call *c, const struct keel_ev_job_preempted *ev)
{
	struct entry *e = ev->job ? entry_of(c->mod, ev->job) : NULL;

	if (e && e->where == GROUPED) {
		entry_touch(c->mod, e);
		wake(c->mod, CMD_JOB);
	}
	if (e)
		top_preempted(c->mod, e);
	return KEEL_NEXT;
}

static keel_verdict on_placed(struct keel_call *c, const struct keel_ev_job_placed *ev)
{
	struct entry *e = entry_of(c->mod, ev->job);

	if (e) {
		avoid_sent(e);
		entry_running(c->mod, e);
	}
	return KEEL_NEXT;
}

/* It has fewer vnodes than before. */
static keel_verdict on_resized(struct keel_call *c, const struct keel_ev_job_resized *ev)
{
	struct entry *e = ev->job ? entry_of(c->mod, ev->job) : NULL;

	if (e)
		held_forget(e);
	return KEEL_NEXT;
}

static keel_verdict on_started(struct keel_call *c, const struct keel_ev_job_started *ev)
{
	struct entry *e = entry_of(c->mod, ev->job);

	if (e)
		avoid_forget(e);
	await_heard(c->mod, ev->id);
	return KEEL_NEXT;
}

static keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev)
{
	struct entry *e = entry_of(c->mod, ev->job);
	char name[300];
	struct keel_obj *whole = keel_id_whole(ev->id, name, sizeof(name)) ? keel_find(c->mod, "job", name) : NULL;

	if (e)
		entry_out(e);
	if (e && ev->requeued && !keel_id_is_part(ev->id))
		avoid_refused(c->mod, e, e);
	if (e && ev->requeued)
		look(c->mod, ev->job);
	if (whole && ev->requeued && e && entry_of(c->mod, whole))
		avoid_refused(c->mod, e, entry_of(c->mod, whole));
	if (whole)
		look(c->mod, whole); /* an array may start another subjob when one has ended */
	await_heard(c->mod, ev->id);
	return KEEL_NEXT;
}

static void on_change(struct keel_mod *mod)
{
	wake(mod, CMD_ENDED);
}

/* ---- what changes vnodes ---------------------------------------------------------------------------------- */

static keel_verdict on_node_known(struct keel_call *c, const struct keel_ev_node_known *ev)
{
	(void)ev;
	wake(c->mod, CMD_ENDED);
	return KEEL_NEXT;
}

/* job-busy and job-exclusive come and go with our own starts. */
static keel_verdict on_node_state(struct keel_call *c, const struct keel_ev_node_state *ev)
{
	const int64_t ours = KEEL_NODE_JOB_BUSY | KEEL_NODE_JOB_EXCLUSIVE;
	struct state *st = keel_state(c);

	if ((ev->before & ~ours) == (ev->after & ~ours))
		return KEEL_NEXT;
	if (ev->before & ~ev->after & ~ours) {
		st->relevance++;
		st->forgiven_ms = keel_now_ms(c->mod);
		rest_over(c->mod);
	}
	wake(c->mod, CMD_ENDED);
	return KEEL_NEXT;
}

/* ---- module ----------------------------------------------------------------------------------------------- */

static const struct keel_service_def sched_def = {
	.size = sizeof(struct keel_service_def),
	.name = "sched",
	.doc = "what-if, and the scheduler's settings",
	.table = &sched_service,
};

#define OTHER_ROWS 7
#define ATTR(i) KEEL_ROW(ATTR, sched_attrs[i])
static const struct keel_contrib contribs[] = {
	KEEL_ROW(CLASS, sched_class),
	KEEL_ROW(SERVICE, sched_def),
	KEEL_ROW(KIND, job_key_kind),
	KEEL_ROW(ATTR, top_attrs[0]), KEEL_ROW(ATTR, top_attrs[1]), KEEL_ROW(ATTR, top_attrs[2]),
	KEEL_ROW(REQUEST, explain_request),
	ATTR(0), ATTR(1), ATTR(2), ATTR(3), ATTR(4), ATTR(5), ATTR(6), ATTR(7), ATTR(8), ATTR(9),
	ATTR(10), ATTR(11), ATTR(12), ATTR(13), ATTR(14), ATTR(15), ATTR(16), ATTR(17), ATTR(18),
	ATTR(19),
};
_Static_assert(KEEL_COUNT(contribs) == SCHED_ATTRS + OTHER_ROWS, "each attribute has an ATTR above");

static const struct keel_tap taps[] = {
	KEEL_TAP(job_queued, on_queued),
	KEEL_TAP(job_submit, refuse_impossible, .order = 1000),
	KEEL_TAP(job_known, on_known),
	KEEL_TAP(job_modify, on_modify, .order = 1000),
	KEEL_TAP(job_release, on_release, .order = 1000),
	KEEL_TAP(job_moved, on_moved),
	KEEL_TAP(job_waits, on_waits),
	KEEL_TAP(job_suspended, on_suspended),
	KEEL_TAP(job_preempted, on_preempted),
	KEEL_TAP(job_placed, on_placed),
	KEEL_TAP(job_resized, on_resized),
	KEEL_TAP(job_started, on_started),
	KEEL_TAP(job_purged, on_purged),
	KEEL_TAP(node_known, on_node_known),
	KEEL_TAP(node_state, on_node_state),
	KEEL_TAP(management, on_management, .order = 1000),
};

/* Rows: where the pointer goes, class, name. */
static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	snprintf(st->who, sizeof(st->who), "Scheduler@%s", keel_host_name(mod));
	if (keel_slot_bind(mod, "job", sizeof(struct entry), entry_fini))
		return keel_error(err, -1, "cannot attach to class job");
	if (rank_init(mod))
		return keel_error(err, -1, "out of memory");
	st->relevance = 1;
	st->spans_next = INT64_MAX;
	st->first.before = st->all.before = group_before;
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	int32_t rc = sched_start(mod, err);

	if (rc)
		return rc;
	keel_job_on_change(mod, on_change);
	keel_job_on_run_request(mod, on_run_request);
	config_read(mod);
	iteration_start(mod);
	wake(mod, CMD_FIRST);
	return 0;
}

/* The new configuration is in force. */
static void reconfigured(struct keel_mod *mod, void *arg)
{
	(void)arg;
	config_read(mod);
}

/* The snapshot borrows from the configuration. */
static int32_t reconf(struct keel_mod *mod, const void *now, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)now, (void)err;
	plan_restart(mod);
	finds_restart(mod);
	rooms_empty(mod);
	snapshot_free(st->snapshot);
	st->snapshot = NULL;
	st->generation = 0;
	keel_log(mod, KEEL_LOG_SCHED, "Req", "", "Scheduler is reconfiguring");
	config_read(mod);
	st->relevance++;
	rest_over(mod);
	keel_defer(mod, reconfigured, NULL);
	wake(mod, CMD_CONFIGURED);
	return 0;
}

static void stop(struct keel_mod *mod)
{
	keel_job_on_change(NULL, NULL);
	keel_job_on_run_request(NULL, NULL);
	cycle_stop(mod);
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	cycle_stop(mod);
	starts_drop(mod);
	index_fini(mod);
	rooms_free(mod);
	snapshot_free(st->snapshot);
	st->snapshot = NULL;
	spans_fini(&st->spans);
	rank_free(mod);
	settings_free(st->settings);
	st->settings = NULL;
	tops_free(mod);
	dynres_free(st->dynres);
	st->dynres = NULL;
}

static const char *const requires_modules[] = { "manager", "queues", "jobs", "nodes", NULL };

KEEL_MODULE(.name = "scheduler", .version = "1.0", .vendor = "Keelson",
	    .summary = "decides which job runs where", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules,
	    .init = init, .start = start, .reconf = reconf, .stop = stop, .fini = fini);
