/* SPDX-License-Identifier: Apache-2.0
 *
 * gate.c - may a job of this queue, of this length, start now?
 *
 * The queue is checked once per group of equal jobs; the length for each job, and only while a boundary is ahead. For
 * a job that an administrator starts (qrun), only the length up to a dedicated time is checked.
 */
#include "prime-time.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "keel/sched_reason.h"

KEEL_ATTRS_OF(job, Resource_List, resources_used, queue);

#define FOREVER (5 * 365 * (int64_t)86400) /* a job without walltime */

int32_t check_queue(const struct state *st, const char *queue, int64_t when)
{
	enum queue_kind kind = queue_kind(&st->rules, queue);
	bool dedicated = dedicated_at(&st->dedicated, when) != NULL;

	if ((kind == DEDICATED) != dedicated)
		return KEEL_WHY_DEDICATED;
	if (kind == PRIME && !holidays_is_prime(&st->holidays, when))
		return KEEL_WHY_PRIME_ONLY;
	if (kind == NONPRIME && holidays_is_prime(&st->holidays, when))
		return KEEL_WHY_NONPRIME_ONLY;
	return 0;
}

int64_t next_change(struct state *st, int64_t when)
{
	const int64_t end = st->known.change ? st->known.change : st->known.from + 86400;

	if (!st->known.from || when < st->known.from || when >= end) {
		st->known.from = when;
		st->known.change = holidays_next_change(&st->holidays, when);
	}
	return st->known.change;
}

int32_t check_length(struct state *st, const char *queue, int64_t when, int64_t seconds,
		     bool boundaries)
{
	enum queue_kind kind = queue_kind(&st->rules, queue);
	const struct period *p = kind == DEDICATED ? dedicated_at(&st->dedicated, when)
						   : dedicated_after(&st->dedicated, when);
	int64_t boundary = 0;

	if (boundaries && st->rules.backfill && !(kind == ANYTIME && st->rules.exempt_anytime))
		boundary = next_change(st, when);
	if (boundary && when + seconds > boundary + st->rules.spill)
		return KEEL_WHY_CROSSES_PRIME;
	if (p && when + seconds > (kind == DEDICATED ? p->end : p->begin))
		return KEEL_WHY_CROSSES_DEDICATED;
	return 0;
}

/* Seconds from now, without what a suspended job has run already. */
int64_t length_of(struct keel_obj *job)
{
	double seconds = keel_resource_list_number(keel_get_ptr(job, job_Resource_List), "walltime",
						   (double)FOREVER);

	if (keel_job_is_suspended(job))
		seconds -= keel_resource_list_number(keel_get_ptr(job, job_resources_used), "walltime", 0);
	return seconds < 0 ? 0 : seconds > (double)FOREVER ? FOREVER : (int64_t)seconds;
}

static const char *queue_of(struct keel_obj *job)
{
	const char *queue = keel_get_str(job, job_queue);

	return queue ? queue : "";
}

int32_t time_conflict(struct state *st, struct keel_obj *job, int64_t when)
{
	const char *queue = queue_of(job);
	int32_t code = check_queue(st, queue, when);

	return code ? code : check_length(st, queue, when, length_of(job), true);
}

/* An administrator starts the job with qrun. */
static bool is_requested(struct keel_obj *job)
{
	return keel_can(sched, asked_for) && keel_sched_asked_for(job);
}

static keel_verdict answer(struct keel_call *c, int32_t code, int64_t when)
{
	struct state *st = keel_state(c);
	char text[200];

	if (!code)
		return KEEL_NEXT;
	snprintf(text, sizeof(text), keel_why_text(code),
		 holidays_is_prime(&st->holidays, when) ? "nonprimetime" : "primetime");
	return keel_reject(c, code, "%s", text);
}

keel_verdict on_start_group(struct keel_call *c, const struct keel_ev_start_group *ev)
{
	struct state *st = keel_state(c);
	int64_t now = keel_time(c->mod);

	if (is_requested(ev->job))
		return KEEL_NEXT;
	return answer(c, check_queue(st, queue_of(ev->job), now), now);
}

keel_verdict on_start_job(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_start_job *ev = event;
	struct state *st = keel_state(c);
	int64_t now = keel_time(c->mod);

	(void)point, (void)arg;
	return answer(c, check_length(st, queue_of(ev->job), now, length_of(ev->job),
				      !is_requested(ev->job)), now);
}

/* ---- keelson explain ------------------------------------------------------------------------------- */

static void when_text(int64_t when, char buf[32])
{
	time_t t = (time_t)when;
	struct tm tm;

	buf[0] = '\0';
	if (localtime_r(&t, &tm))
		strftime(buf, 32, "%a %b %d %H:%M", &tm);
}

keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev)
{
	struct state *st = keel_state(c);
	int64_t now = keel_time(c->mod), change = next_change(st, now);
	const struct period *p = dedicated_at(&st->dedicated, now);
	char text[200], when[32];

	if (change) {
		when_text(change, when);
		snprintf(text, sizeof(text), "time         %s until %s\n",
			 holidays_is_prime(&st->holidays, now) ? "prime" : "non-prime", when);
		keel_append(c, text);
	}
	if (p || (p = dedicated_after(&st->dedicated, now))) {
		when_text(p->begin > now ? p->begin : p->end, when);
		snprintf(text, sizeof(text), "dedicated    %s %s; this job may last %lld s\n",
			 p->begin > now ? "from" : "until", when, (long long)length_of(ev->job));
		keel_append(c, text);
	}
	return KEEL_NEXT;
}
