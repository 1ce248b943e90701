/* SPDX-License-Identifier: Apache-2.0
 *
 * tolerate-node-failures.c - jobs that go on without hosts that fail.
 *
 * on a server   attributes.c, spare.c, server.c
 * on a primary  runs.c hosts that failed; release.c what the job gives back before its program starts
 * pure          increment.c, keep.c, chunks.c
 */
#include "runs.h"
#include "server.h"

KEEL_USE(link);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(ENUM, struct conf, failed_node, .fallback = "nothing", .choices = "nothing,offline",
		       .doc = "on a server: what becomes of vnodes whose host failed for a job; offline: until an operator "
			      "clears them, with the reason as comment"),
};

static const struct keel_contrib contribs[] = {
	KEEL_ROW(TYPE, tolerance_type), KEEL_ROW(ATTR, tolerance_row), KEEL_ROW(ATTR, spares_row), KEEL_ROW(ATTR, kept_row),
	KEEL_ROW(ATTR, lost_row), KEEL_ROW(ATTR, failed_row), KEEL_ROW(ATTR, unsatisfied_row),
	KEEL_ROW(JOB_PREPARE, spare_prepare),
	KEEL_ROW(SERVICE, tolerance_service),
};

static const struct keel_tap taps[] = {
	KEEL_TAP(job_started, on_job_started),
	KEEL_TAP(job_step, on_job_step),
	KEEL_TAP(peer_up, on_host_peer_up),
	KEEL_TAP(task_lost, on_task_lost),
	KEEL_TAP(task_prologue, on_task_prologue, .order = -900),
	KEEL_TAP(task_launch, on_task_launch, .order = 900),
};

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	int32_t r = 0;

	if (keel_daemon(mod) & KEEL_SERVER)
		r = server_start(mod, err);
	if (r == 0 && keel_daemon(mod) & KEEL_MOM)
		r = runs_start(mod, err);
	return r;
}

static void stop(struct keel_mod *mod)
{
	if (keel_daemon(mod) & KEEL_MOM)
		runs_stop(mod);
}

KEEL_MODULE(.name = "tolerate-node-failures", .version = "1.0", .vendor = "Keelson",
	    .summary = "jobs that go on without hosts that fail", .roles = KEEL_SERVER | KEEL_MOM,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	    .start = start, .stop = stop);
