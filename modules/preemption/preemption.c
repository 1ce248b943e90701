/* SPDX-License-Identifier: Apache-2.0
 *
 * preemption.c - running jobs of a lower level give way to a job that cannot start.
 *
 * Who gives way: search.c (the point preempt_victims), choose.c, candidate.c over the crowds of running.c.
 * How one victim gives way is a letter of preempt_order: a row of the kind PREEMPT, three of which are
 * here (methods.c). preempt.c tries the letters of a victim; request.c does it for a scheduler of the
 * site's own.
 */
#include "preemption.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

KEEL_USE(resource);
KEEL_USE(job);
KEEL_USE(node);
KEEL_USE(sched);
KEEL_USE_OPT(limits);
KEEL_USE_OPT(fairshare);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(BOOL, struct conf, preemptive_sched, .fallback = "true",
		       .doc = "the scheduler preempts, unless its sched_config says"),
	KEEL_CONF_RULE(INT, struct conf, preempt_attempts, .fallback = "0", .min = 0, .max = 1000000,
		       .doc = "jobs that may try it in a cycle; 0: all"),
	KEEL_CONF_RULE(DURATION, struct conf, timeout, .fallback = "5m", .min = 1000, .max = 86400000,
		       .doc = "a victim that has not given way by then (kill_delay of its queue added) "
			      "has failed to"),
	KEEL_CONF_RULE(LIST, struct conf, scheduler_users,
		       .doc = "users whose programs may call pbs_preempt_jobs() while the server's own "
			      "scheduler does not work"),
};

#define SCHED_ATTR(i) KEEL_ROW(ATTR, preemption_sched_attrs[i])
#define JOB_ATTR(i) KEEL_ROW(ATTR, preemption_job_attrs[i])
static const struct keel_contrib contribs[] = {
	KEEL_ROW(KIND, preempt_kind),
	KEEL_ROW(PREEMPT, suspend_method),
	KEEL_ROW(PREEMPT, checkpoint_method),
	KEEL_ROW(PREEMPT, requeue_method),
	SCHED_ATTR(0), SCHED_ATTR(1), SCHED_ATTR(2), SCHED_ATTR(3), SCHED_ATTR(4), SCHED_ATTR(5),
	JOB_ATTR(0), JOB_ATTR(1), JOB_ATTR(2),
	KEEL_ROW(REQUEST, preempt_request),
	KEEL_ROW(JOB_KEY, level_row),
	KEEL_ROW(JOB_KEY, preempted_row),
};

static keel_verdict on_server_stop(struct keel_call *c, const struct keel_ev_server_stop *ev)
{
	struct state *st = keel_state(c);

	(void)ev;
	st->stopping = true;
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(server_stop, on_server_stop),
	KEEL_TAP(job_preempt, on_preempt, .order = 1000),
	KEEL_TAP(node_down, on_node_down),
	KEEL_TAP(job_started, on_started),
	KEEL_TAP(job_suspended, on_suspended),
	KEEL_TAP(job_resumed, on_resumed),
	KEEL_TAP(job_placed, on_placed),
	KEEL_TAP(job_purged, on_purged),
	KEEL_TAP(job_known, on_known),
	KEEL_TAP(job_submit, on_submit, .order = 100),
	KEEL_TAP(job_modify, on_modify, .order = 100),
	KEEL_TAP(management, on_management, .order = 100),
	KEEL_TAP(preempt_victims, on_victims),
	KEEL_TAP(job_explain, on_explain),
	KEEL_TAP(cycle_begin, on_cycle_begin),
	KEEL_TAP(cycle_end, on_cycle_end),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	snprintf(st->who, sizeof(st->who), "Scheduler@%s", keel_host_name(mod));
	order_parse("SCR", NULL, NULL, &st->order);
	prio_parse("express_queue, normal_jobs", &st->prio);
	if (keel_slot_bind(mod, "job", sizeof(struct runner), runner_fini))
		return keel_error(err, -1, "cannot attach to class job");
	return 0;
}

static int32_t busy(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	return st->waiting ? keel_error(err, -EBUSY, "%u jobs are giving way; try again",
					st->waiting)
			   : 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->stopping = true;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct method *m;

	while ((m = st->methods)) {
		st->methods = m->next;
		free(m);
	}
	free(st->last.id);
	victims_clear(&st->last.deleted);
}

static const char *const requires_modules[] = { "queues", "jobs", "scheduler", NULL };

KEEL_MODULE(.name = "preemption", .version = "1.0", .vendor = "Keelson",
	    .summary = "running jobs give way to more urgent ones", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules,
	    .init = init, .start = attributes_read, .busy = busy, .stop = stop, .fini = fini);
