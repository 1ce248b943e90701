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

void mark_set(struct keel_mod *mod, struct keel_obj *job, const char *who)
{
	struct state *st = mod->state;
	time_t now = (time_t)keel_time(mod);
	char when[32] = "", *text;
	int64_t number = ++st->last_number;
	bool done;

	ctime_r(&now, when);
	when[strcspn(when, "\n")] = '\0';
	if (asprintf(&text, "%lld by %s at %s", (long long)number, who, when) < 0)
		text = NULL;
	done = text && keel_set_str(job, job_admin_suspended, text) == 0 && listing_add(mod, job, number);
	free(text);
	if (done)
		return;
	keel_unset(job, job_admin_suspended, NULL);
	keel_log(mod, KEEL_LOG_ERROR, "Job", keel_id(job), "%s", MARK_MISSING);
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

keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	struct state *st = keel_state(c);
	const char *text = keel_get_str(ev->job, job_admin_suspended), *exec = keel_get_str(ev->job, job_exec_vnode);
	int64_t number = text ? strtoll(text, NULL, 10) : 0;

	if (text && !keel_job_is_suspended(ev->job)) {
		keel_unset(ev->job, job_admin_suspended, NULL);
		keel_unset(ev->job, job_admin_suspended_nodes, NULL);
		return KEEL_NEXT;
	}
	if (number > st->last_number)
		st->last_number = number;
	if (text && !listing_add(c->mod, ev->job, number))
		keel_log(c->mod, KEEL_LOG_ERROR, "Job", ev->id,
			 "admin-suspended, but its vnodes (%.200s) cannot be put into maintenance; set them offline",
			 exec ? exec : "unknown");
	return KEEL_NEXT;
}
