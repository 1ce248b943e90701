/* SPDX-License-Identifier: Apache-2.0
 *
 * await.c - job_run_wait = execjob_hook: after each start the cycle stands still until the host has
 * accepted the job, or given it back, or has had its time.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(sched, job_run_wait);

#define HOST_MS 30000 /* the cycle goes on without the report of a host that takes longer */

static void await_over(struct keel_mod *mod)
{
	struct state *st = mod->state;

	free(st->awaited);
	st->awaited = NULL;
	keel_timer_cancel(st->await_timer);
	st->await_timer = NULL;
	cycle_go_on(mod);
}

static void await_timeout(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->await_timer = NULL;
	await_over(mod);
}

void await_host(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	struct keel_obj *sched = keel_find(mod, "sched", "default");
	const char *text = sched ? keel_get_str(sched, sched_job_run_wait) : NULL;

	if (!cycle_runs(st) || st->awaited || !text || strcmp(text, "execjob_hook") != 0 ||
	    !(st->awaited = strdup(id)))
		return;
	st->await_timer = keel_timer(mod, HOST_MS, await_timeout, NULL);
	if (st->await_timer)
		st->phase = AWAITING;
	else
		await_over(mod);
}

void await_heard(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;

	if (st->awaited && strcmp(st->awaited, id) == 0)
		await_over(mod);
}

