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

bool mark_is_set(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	return st->object->is_set(job, st->mark);
}

static bool write_mark(struct keel_mod *mod, struct keel_obj *job, int64_t number, const char *who)
{
	struct state *st = mod->state;
	time_t now = (time_t)st->core->time(mod);
	char when[32] = "", *text;
	bool done;

	ctime_r(&now, when);
	when[strcspn(when, "\n")] = '\0';
	if (asprintf(&text, "%lld by %s at %s", (long long)number, who, when) < 0)
		return false;
	done = st->object->set_str(job, st->mark, text) == 0;
	free(text);
	return done;
}

void mark_set(struct keel_mod *mod, struct keel_obj *job, const char *who)
{
	struct state *st = mod->state;
	int64_t number = ++st->last_number;

	if (write_mark(mod, job, number, who) && listing_add(mod, job, number))
		return;
	st->object->unset(job, st->mark, NULL);
	st->core->log(mod, KEEL_LOG_ERROR, "Job", st->object->id(job), "%s", MARK_MISSING);
}

bool mark_missing(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	return job && st->job->is_suspended(st->job->self, job) && !mark_is_set(mod, job);
}

void mark_comment(struct keel_mod *mod, struct keel_obj *job, const char *comment)
{
	struct state *st = mod->state;
	const char *have = st->object->get_str(job, st->mark);
	char *text;

	if (!have || asprintf(&text, "%s: %s", have, comment) < 0)
		return;
	st->object->set_str(job, st->mark, text);
	free(text);
}

void mark_clear(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	if (!mark_is_set(mod, job))
		return;
	st->object->unset(job, st->mark, NULL);
	st->object->unset(job, st->verb_nodes, NULL);
	listing_remove(mod, st->object->id(job));
}

void mark_known(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(job, st->mark), *exec = st->object->get_str(job, st->exec_vnode);
	int64_t number;

	if (!text)
		return;
	if (!st->job->is_suspended(st->job->self, job)) {
		st->object->unset(job, st->mark, NULL);
		st->object->unset(job, st->verb_nodes, NULL);
		return;
	}
	number = strtoll(text, NULL, 10);
	if (number > st->last_number)
		st->last_number = number;
	if (!listing_add(mod, job, number))
		st->core->log(mod, KEEL_LOG_ERROR, "Job", st->object->id(job),
			      "admin-suspended, but its vnodes (%.200s) cannot be put into maintenance; set them offline",
			      exec ? exec : "unknown");
}
