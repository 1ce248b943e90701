/* SPDX-License-Identifier: Apache-2.0
 *
 * entity-limits.c - how much users, groups, projects and all of them together may queue and run.
 *
 *   job_submit, job_move   max_queued, queued_jobs_threshold
 *   start_group  max_run; max_run_soft is offered by the service "limits"
 *   trial_vacate, trial_restore   a what-if of the scheduler
 *   job_explain     numbers and limits of a job's user, group and project
 *   job_placed, job_step, job_queued, job_moved, job_waits, job_purged, job_known   what is counted
 */
#include "entity-limits.h"

#include <string.h>

KEEL_USE(resource);
KEEL_USE(job);

/* ---- attributes ------------------------------------------------------------------------------------- */

static const char *const count_names[FAMILIES] = { "max_queued", "queued_jobs_threshold", "max_run",
						   "max_run_soft" };
static const char *const amount_names[FAMILIES] = { "max_queued_res", "queued_jobs_threshold_res",
						    "max_run_res", "max_run_res_soft" };

#define ROW(class_name, attr_name, type_name, place, words)                                        \
	KEEL_ATTR_DEF(class_name, attr_name, type_name, .order = (place), .flags = KEEL_ATTR_SAVE, \
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_OPERATORS, .doc = words)
#define BOTH(attr_name, at_server, in_queue, words)                                                \
	ROW("server", attr_name, "limit_list", at_server, words),                                  \
		ROW("queue", attr_name, "limit_list", in_queue, words)
#define BOTH_RES(attr_name, at_server, in_queue, words)                                            \
	ROW("server", attr_name, "resource_limits", at_server, words),                             \
		ROW("queue", attr_name, "resource_limits", in_queue, words)
static const struct keel_attr_def attrs[] = {
	BOTH("max_queued", 50, 70, "the most jobs that may be queued or running"),
	BOTH_RES("max_queued_res", 51, 71, "the most that queued and running jobs may ask for of a resource"),
	BOTH("max_run", 60, 80, "the most jobs that may run at a time"),
	BOTH_RES("max_run_res", 61, 81, "the most that running jobs may have of a resource"),
	BOTH("max_run_soft", 70, 82, "how many running jobs are safe from preemption by soft limits (preempt_prio)"),
	BOTH_RES("max_run_res_soft", 71, 83, "what running jobs may have of a resource, safe from preemption by soft limits"),
	BOTH("queued_jobs_threshold", 72, 84, "the most jobs that may wait in state Q"),
	BOTH_RES("queued_jobs_threshold_res", 73, 85, "the most that jobs in state Q may ask for of a resource"),
};
static const struct keel_attr_def max_queuable =
	ROW("queue", "max_queuable", "long", 30, 
	    "the most jobs that may be in the queue; old style, not together with max_queued");

static const struct keel_limits_api service = {
	.size = sizeof(struct keel_limits_api),
	.over_soft = over_soft,
};
static const struct keel_service_def service_def = {
	.size = sizeof(struct keel_service_def),
	.name = "limits",
	.doc = "who runs more than a soft limit says",
	.table = &service,
};

#define OLD(i) KEEL_ROW(ATTR, old_attrs[QUEUE][i]), KEEL_ROW(ATTR, old_attrs[SERVER][i])
#define NEW(i) KEEL_ROW(ATTR, attrs[2 * (i)]), KEEL_ROW(ATTR, attrs[2 * (i) + 1])
static const struct keel_contrib contribs[] = {
	KEEL_ROW(TYPE, list_type), KEEL_ROW(TYPE, resource_type),
	NEW(0), NEW(1), NEW(2), NEW(3), NEW(4), NEW(5), NEW(6), NEW(7),
	OLD(0), OLD(1), OLD(2), OLD(3), OLD(4), OLD(5), OLD(6), OLD(7), OLD(8),
	KEEL_ROW(ATTR, max_queuable), KEEL_ROW(SERVICE, service_def),
};
_Static_assert(KEEL_COUNT(contribs) == 4 + KEEL_COUNT(attrs) + SCOPES * OLD_LIMITS,
	       "each attribute has its ATTR above");

/* ---- what is counted --------------------------------------------------------------------------------- */

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	if (ev->job)
		count_job(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_moved(struct keel_call *c, const struct keel_ev_job_moved *ev)
{
	if (ev->job)
		count_job(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_waits(struct keel_call *c, const struct keel_ev_job_waits *ev)
{
	if (ev->job)
		count_job(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_placed(struct keel_call *c, const struct keel_ev_job_placed *ev)
{
	if (ev->job)
		count_placed(c->mod, ev->job, true);
	return KEEL_NEXT;
}

static keel_verdict on_step(struct keel_call *c, const struct keel_ev_job_step *ev)
{
	if (ev->job)
		count_placed(c->mod, ev->job, ev->placed);
	return KEEL_NEXT;
}

/* It has less: what was counted of it goes, what it asks for now comes. */
static keel_verdict on_resized(struct keel_call *c, const struct keel_ev_job_resized *ev)
{
	if (ev->job)
		count_placed(c->mod, ev->job, !keel_job_is_suspended(ev->job));
	return KEEL_NEXT;
}

static keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	char letter = keel_job_state(ev->job);

	count_placed(c->mod, ev->job,
		     (letter == 'R' || letter == 'E') && !keel_job_is_suspended(ev->job));
	return KEEL_NEXT;
}

static keel_verdict on_vacate(struct keel_call *c, const struct keel_ev_trial_vacate *ev)
{
	if (ev->job)
		count_away(c->mod, ev->job, true);
	return KEEL_NEXT;
}

static keel_verdict on_restore(struct keel_call *c, const struct keel_ev_trial_restore *ev)
{
	if (ev->job)
		count_away(c->mod, ev->job, false);
	return KEEL_NEXT;
}

/* ---- limits on a resource go with it ------------------------------------------------------------------------ */

static keel_verdict on_resource_delete(struct keel_call *c, const struct keel_ev_resource_delete *ev)
{
	static const char *const classes[SCOPES] = { "queue", "server" };
	struct state *st = keel_state(c);
	struct keel_obj *obj;
	char text[8];

	for (int scope = 0; scope < SCOPES; scope++) {
		struct keel_cursor *walk = keel_cursor(c->mod, classes[scope]);
		bool failed = !walk;

		while (!failed && (obj = keel_next(walk)))
			for (int i = 0; i < FAMILIES && !failed; i++) {
				const struct keel_attr *attr = st->amount[scope][i];

				failed = keel_get_text(obj, attr, ev->id, text, sizeof(text)) >= 0 &&
					 keel_call_set(c, obj, keel_attr_name(attr), ev->id, NULL, NULL);
			}
		if (walk)
			keel_cursor_close(walk);
		if (failed)
			return keel_fail(c, "no memory to take away limits on resource %s; try again", ev->id);
	}
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_submit, on_submit, .order = 900),
	KEEL_TAP(job_move, on_move, .order = 900),
	KEEL_TAP(management, on_management),
	KEEL_TAP(resource_delete, on_resource_delete),
	KEEL_TAP(start_group, on_start_group),
	KEEL_TAP(job_queued, on_queued, .order = -100),
	KEEL_TAP(job_moved, on_moved, .order = -100),
	KEEL_TAP(job_waits, on_waits, .order = -100),
	KEEL_TAP(job_placed, on_placed, .order = -100),
	KEEL_TAP(job_step, on_step, .order = -100),
	KEEL_TAP(job_resized, on_resized, .order = -100),
	KEEL_TAP(job_purged, on_purged, .order = -100),
	KEEL_TAP(job_known, on_known, .order = -100, .after = "jobs"),
	KEEL_TAP(trial_vacate, on_vacate),
	KEEL_TAP(trial_restore, on_restore),
	KEEL_TAP(job_explain, on_explain),
};

/* ---- module ------------------------------------------------------------------------------------------------- */

/* Of a queue and of the server. */
static bool both_find(struct keel_mod *mod, const struct keel_attr *(*to)[FAMILIES], int family, const char *name)
{
	to[QUEUE][family] = keel_attr_find(mod, "queue", name);
	to[SERVER][family] = keel_attr_find(mod, "server", name);
	return to[QUEUE][family] && to[SERVER][family];
}

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	for (int i = 0; i < FAMILIES; i++)
		if (!both_find(mod, st->count, i, count_names[i]) || !both_find(mod, st->amount, i, amount_names[i]))
			return keel_error(err, -1, "there is no attribute %s or %s", count_names[i],
					  amount_names[i]);
	old_find(mod);
	if (keel_slot_bind(mod, "job", sizeof(struct counted), counted_fini))
		return keel_error(err, -1, "cannot attach to class job");
	return 0;
}

static const char *const requires_modules[] = { "jobs", "queues", "resources", "manager", NULL };

KEEL_MODULE(.name = "entity-limits", .version = "1.0", .vendor = "Keelson",
	    .summary = "how much users, groups and projects may queue and run",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs),
	    KEEL_TAPS(taps), .requires_modules = requires_modules, .init = init, .fini = count_fini);
