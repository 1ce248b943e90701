/* SPDX-License-Identifier: Apache-2.0
 *
 * mark.c - the admin mark of a job, stored on the job.
 *
 * The text is `<number> by <requester> at <time>[: comment]`. maintenance_jobs and the maintenance bit of vnodes are
 * derived from the marks when they change and after a restart, so that they cannot disagree.
 */
#include "admin-suspend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

KEEL_ATTRS_OF(job, admin_suspended, admin_suspended_nodes, exec_vnode);

bool mark_is_set(struct keel_obj *job)
{
	return keel_is_set(job, job_admin_suspended);
}

static bool write_mark(struct keel_mod *mod, struct keel_obj *job, int64_t number, const char *who)
{
	time_t now = (time_t)keel_time(mod);
	char when[32] = "", *text;
	bool done;

	ctime_r(&now, when);
	when[strcspn(when, "\n")] = '\0';
	if (asprintf(&text, "%lld by %s at %s", (long long)number, who, when) < 0)
		return false;
	done = keel_set_str(job, job_admin_suspended, text) == 0;
	free(text);
	return done;
}

void mark_set(struct keel_mod *mod, struct keel_obj *job, const char *who)
{
	struct state *st = mod->state;
	int64_t number = ++st->last_number;

	if (write_mark(mod, job, number, who) && listing_add(mod, job, number))
		return;
	keel_unset(job, job_admin_suspended, NULL);
	keel_log(mod, KEEL_LOG_ERROR, "Job", keel_id(job), "%s", MARK_MISSING);
}

bool mark_missing(struct keel_obj *job)
{
	return job && keel_job_is_suspended(job) && !mark_is_set(job);
}

void mark_comment(struct keel_obj *job, const char *comment)
{
	const char *have = keel_get_str(job, job_admin_suspended);
	char *text;

	if (!have || asprintf(&text, "%s: %s", have, comment) < 0)
		return;
	keel_set_str(job, job_admin_suspended, text);
	free(text);
}

void mark_clear(struct keel_mod *mod, struct keel_obj *job)
{
	if (!mark_is_set(job))
		return;
	keel_unset(job, job_admin_suspended, NULL);
	keel_unset(job, job_admin_suspended_nodes, NULL);
	listing_remove(mod, keel_id(job));
}

void mark_known(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *text = keel_get_str(job, job_admin_suspended), *exec = keel_get_str(job, job_exec_vnode);
	int64_t number;

	if (!text)
		return;
	if (!keel_job_is_suspended(job)) {
		keel_unset(job, job_admin_suspended, NULL);
		keel_unset(job, job_admin_suspended_nodes, NULL);
		return;
	}
	number = strtoll(text, NULL, 10);
	if (number > st->last_number)
		st->last_number = number;
	if (!listing_add(mod, job, number))
		keel_log(mod, KEEL_LOG_ERROR, "Job", keel_id(job),
			 "admin-suspended, but its vnodes (%.200s) cannot be put into maintenance; set them offline",
			 exec ? exec : "unknown");
}
