/* SPDX-License-Identifier: Apache-2.0
 *
 * history.c - jobs that are over stay for a while, when the site wants that.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(server, job_history_enable, job_history_duration);
KEEL_ATTR_OF(job, history_timestamp);

#define CLEAN_EVERY_MS 120000
#define CLEAN_SLICE 1000 /* jobs: some milliseconds */
#define KEEP_SECONDS (336 * 3600)

static struct keel_obj *server(struct keel_mod *mod)
{
	return keel_find(mod, "server", keel_server_name(mod));
}

bool history_on(struct keel_mod *mod)
{
	struct keel_obj *obj = server(mod);

	return obj && keel_get_int(obj, server_job_history_enable);
}

/* Forget what ended before `when`, so many at a time. True: there may be more. */
static bool history_clean(struct keel_mod *mod, int64_t when)
{
	struct state *st = mod->state;
	struct keel_cursor *walk;
	struct keel_obj *job;
	uint32_t n = 0;

	if (st->counts.n[TALLY_HISTORY] == 0 || !(walk = keel_cursor(mod, "job")))
		return false;
	while (n < CLEAN_SLICE && (job = keel_next(walk))) {
		struct job *j = job_slot(mod, job);

		if (step_is_expired(j->step) && when == INT64_MAX)
			part_over(mod, job, j->step, false);
		else if (!step_is_over(j->step) || keel_get_int(job, job_history_timestamp) > when)
			continue;
		job_leave(mod, job);
		n++;
	}
	keel_cursor_close(walk);
	return n == CLEAN_SLICE;
}

static void clean_due(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct keel_obj *obj = server(mod);
	int64_t keep = KEEP_SECONDS;
	bool more;

	(void)arg;
	if (obj && keel_is_set(obj, server_job_history_duration))
		keep = keel_get_int(obj, server_job_history_duration);
	/* Those that end after this moment stay; none where the site wants no history. */
	more = history_clean(mod, obj && !keel_get_int(obj, server_job_history_enable) ? INT64_MAX
										       : keel_time(mod) - keep);
	ended_clean(mod);
	st->cleaner = keel_timer(mod, more ? 0 : CLEAN_EVERY_MS, clean_due, NULL);
}

void history_start(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->cleaner = keel_timer(mod, CLEAN_EVERY_MS, clean_due, NULL);
}

void history_switched(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr)
{
	struct state *st = mod->state;

	if (!st->cleaner || keel_get_int(obj, attr))
		return;
	keel_timer_cancel(st->cleaner);
	clean_due(mod, NULL);
}
