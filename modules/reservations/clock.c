/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c - one alarm per reservation, for the next thing that its times bring.
 *
 *	state			what
 *	1			its window is over before it was confirmed
 *	2, 10			it begins
 *	5			its end, less resv_post_processing_time; it has been idle for too long
 *	11			it begins, or ends, as it is to be: nothing was decided in time, the old values come back
 *	all but 1, 11		reserve_retry: a cycle of the scheduler
 *
 * Times are those of the wall clock, which may jump: an alarm waits for a minute at most, and looks then.
 */
#include "reservations.h"

KEEL_ATTRS_OF(resv, reserve_start, reserve_end, reserve_retry, reserve_rules, reserve_count, delete_idle_time);
KEEL_ATTR_OPT(server, resv_post_processing_time);

#define LOOK_AGAIN 60 /* seconds */
#define NEVER INT64_MAX

typedef void event_fn(struct keel_mod *mod, struct keel_obj *resv);
struct event {
	int64_t when;
	event_fn *fn;
};

static void sooner(struct event *e, int64_t when, event_fn *fn)
{
	if (when < e->when)
		*e = (struct event){ when, fn };
}

static void idle(struct keel_mod *mod, struct keel_obj *resv)
{
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "Deleting reservation after being idle for %lld seconds",
		 (long long)keel_get_int(resv, resv_delete_idle_time));
	resv_idle(mod, resv);
}

/* When jobs inside it are to be over. */
static int64_t last_moment(struct keel_mod *mod, struct keel_obj *resv)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const int64_t begin = keel_get_int(resv, resv_reserve_start), end = keel_get_int(resv, resv_reserve_end);
	const int64_t after = server && server_resv_post_processing_time
				      ? keel_get_int(server, server_resv_post_processing_time) : 0;

	return after > 0 && after < end - begin ? end - after : end;
}

/* It has had no jobs since then; 0: it has some. */
static int64_t idle_since(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);

	if (!queue_is_empty(mod, resv))
		r->idle_since = 0;
	else if (!r->idle_since)
		r->idle_since = keel_time(mod);
	return r->idle_since;
}

/* What was over when the server became ready ends a moment later. */
static int64_t not_at_once(struct keel_mod *mod, int64_t when)
{
	const struct state *st = mod->state;

	return when <= st->began ? st->began + GRACE : when;
}

static void waiting(struct keel_mod *mod, struct keel_obj *resv, struct event *e)
{
	const int64_t end = keel_get_int(resv, resv_reserve_end);

	if (end <= keel_time(mod))
		sooner(e, not_at_once(mod, end), resv_missed);
	else
		sooner(e, keel_get_int(resv, resv_reserve_start), resv_begin);
}

static void running(struct keel_mod *mod, struct keel_obj *resv, struct event *e)
{
	const int64_t limit = keel_get_int(resv, resv_delete_idle_time);
	int64_t since;

	sooner(e, not_at_once(mod, last_moment(mod, resv)), resv_end);
	if (limit <= 0 || resv_state(resv) != KEEL_RESV_RUNNING)
		return;
	since = idle_since(mod, resv);
	if (since && limit < NEVER - since)
		sooner(e, since + limit, idle);
}

static void unconfirmed(struct keel_mod *mod, struct keel_obj *resv, struct event *e)
{
	if (keel_get_int(resv, resv_reserve_count) < 2 && !(keel_get_int(resv, resv_reserve_rules) & RULE_SOON))
		sooner(e, not_at_once(mod, keel_get_int(resv, resv_reserve_end)), resv_end);
}

/* What runs is promised its vnodes until the end that it had. */
static void altered(struct keel_mod *mod, struct keel_obj *resv, struct event *e)
{
	int64_t from = 0, till = NEVER;

	if (!resv_is_running(resv)) {
		sooner(e, keel_get_int(resv, resv_reserve_start), alter_late);
		return;
	}
	alter_before(resv, &from, &till);
	sooner(e, till, alter_late);
	sooner(e, last_moment(mod, resv), alter_late);
}

static struct event next_event(struct keel_mod *mod, struct keel_obj *resv)
{
	struct event e = { NEVER, NULL };

	switch (resv_state(resv)) {
	case KEEL_RESV_UNCONFIRMED:
		unconfirmed(mod, resv, &e);
		break;
	case KEEL_RESV_CONFIRMED:
	case KEEL_RESV_DEGRADED:
		waiting(mod, resv, &e);
		break;
	case KEEL_RESV_RUNNING:
		running(mod, resv, &e);
		break;
	case KEEL_RESV_BEING_ALTERED:
		altered(mod, resv, &e);
		break;
	default:
		break;
	}
	return e;
}

static void end_if_over(struct keel_mod *mod, struct keel_obj *resv, void *arg)
{
	const bool runs = resv_state(resv) == KEEL_RESV_RUNNING;
	const struct event e = runs ? next_event(mod, resv) : (struct event){ NEVER, NULL };

	(void)arg;
	if (e.fn == resv_end && e.when <= keel_time(mod))
		resv_end(mod, resv);
}

/* Alarms of one second come in any order: what is over gives its vnodes back before others begin, or get them in a cycle. Once
 * a second. */
void clock_end_others(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->ended == keel_time(mod))
		return;
	st->ended = keel_time(mod);
	each_resv(mod, end_if_over, NULL);
}

static void fired(struct keel_mod *mod, void *arg)
{
	const struct event e = next_event(mod, arg);

	if (e.fn == resv_begin && e.when <= keel_time(mod))
		clock_end_others(mod);
	if (e.fn && e.when <= keel_time(mod))
		e.fn(mod, arg);
	else
		clock_set(mod, arg);
}

/* A cycle searches what is due, whatever began it; this begins one when nothing else does. */
static int64_t retry_next(struct resv *r, struct keel_obj *resv, int64_t now)
{
	const int64_t retry = resv_state(resv) == KEEL_RESV_BEING_ALTERED ? 0 : keel_get_int(resv, resv_reserve_retry);

	if (r->retry_at && r->retry_at <= now)
		keel_sched_reconsider();
	r->retry_at = retry > now ? retry : 0;
	return r->retry_at ? r->retry_at : NEVER;
}

void clock_set(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);
	const int64_t now = keel_time(mod);
	int64_t when, retry, left = LOOK_AGAIN;

	if (!r)
		return;
	keel_alarm_end(&r->clock);
	when = next_event(mod, resv).when;
	retry = retry_next(r, resv, now);
	if (retry < when)
		when = retry;
	if (when == NEVER)
		return;
	if (when < now + LOOK_AGAIN)
		left = when > now ? when - now : 0;
	if (keel_alarm_set(mod, &r->clock, left * 1000, fired, resv))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "no memory for its clock; restart the server to set it again");
}
