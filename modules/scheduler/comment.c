/* SPDX-License-Identifier: Apache-2.0
 *
 * comment.c - every job of a group gets the comment why it does not start.
 *
 * A comment is a stored write, so they are spread: a batch at the end of a cycle, further ones at
 * conf.comment_gap while jobs wait that have no comment; jobs whose comment is that of an earlier cycle
 * come after them, ten times slower. A text that is there already is not written.
 */
#include "scheduler.h"

#include <stdio.h>
#include <string.h>

#include <utlist.h>

KEEL_ATTR_OF(job, comment);
KEEL_ATTR_OF(sched, attr_update_period);

#define BATCH 64
#define SLOWER 10

void reason_comment(const struct reason *r, char *buf, size_t len)
{
	snprintf(buf, len, "%s: %s", r->never ? "Can Never Run" : "Not Running", r->text);
}

static bool is_comment(const char *have, const char *text)
{
	size_t len = strlen(text);

	return strncmp(have, text, len) == 0 &&
	       (have[len] == '\0' || strncmp(have + len, KEEL_JOB_LAST_TRY, sizeof(KEEL_JOB_LAST_TRY) - 1) == 0);
}

bool comment(struct keel_mod *mod, struct entry *e, const char *text)
{
	struct state *st = mod->state;
	const char *have = keel_get_str(e->job, job_comment);
	int64_t now = keel_time(mod), period;
	struct keel_obj *sched;

	/* The comment of an array that has begun says that; its queued subjobs have no other. */
	if (!(keel_job_state(e->job) == 'Q' ||
	      (e->resumes && keel_job_is_suspended(e->job))) ||
	    (have && is_comment(have, text)))
		return true;
	/* Seconds between changes of one job; 0: as they come. */
	sched = keel_find(mod, "sched", "default");
	period = sched ? keel_get_int(sched, sched_attr_update_period) : 0;
	if (period > 0 && e->commented_at && now - e->commented_at < period)
		return false;
	e->commented_at = (uint32_t)now;
	keel_job_set_comment(e->job, text);
	keel_note(mod, KEEL_POINT_job_reason,
		  KEEL_EVENT(job_reason, .id = keel_id(e->job), .job = e->job,
			     .comment = text));
	keel_log(mod, KEEL_LOG_JOB, "Job", keel_id(e->job),
		 "Job Modified at request of %s", st->who);
	return true;
}

void talk(struct keel_mod *mod, struct group *g)
{
	struct state *st = mod->state;

	if (g->talking || (!g->fresh.first && !g->stale.first))
		return;
	g->talking = true;
	DL_APPEND2(st->talk_first, g, talk_prev, talk_next);
}

void talk_not(struct keel_mod *mod, struct group *g)
{
	struct state *st = mod->state;

	if (!g->talking)
		return;
	DL_DELETE2(st->talk_first, g, talk_prev, talk_next);
	g->talking = false;
}

/* The next one of the group, and the group to the end: all groups in turn. */
static void tell(struct keel_mod *mod, struct group *g)
{
	struct entry *e = g->fresh.first ? g->fresh.first : g->stale.first;
	bool told;

	talk_not(mod, g);
	if (!e || !g->verdict)
		return;
	told = comment(mod, e, g->verdict);
	list_drop(e);
	list_add(told ? &g->current : &g->stale, e);
	talk(mod, g);
}

static void talk_on(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->talk_timer = NULL;
	talk_now(mod);
}

void talk_now(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	const struct group *g;
	bool news = false;
	uint32_t n;

	if (st->talk_timer || !scheduling_on(mod)) /* not faster because cycles are many */
		return;
	for (n = 0; n < BATCH && st->talk_first; n++)
		tell(mod, st->talk_first);
	for (n = 0, g = st->talk_first; g && n < BATCH && !news; g = g->talk_next, n++)
		news = g->fresh.first != NULL;
	if (st->talk_first)
		st->talk_timer = keel_timer(mod, conf->comment_gap * (news ? 1 : SLOWER), talk_on, NULL);
}
