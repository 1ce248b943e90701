/* SPDX-License-Identifier: Apache-2.0
 *
 * restart.c - a process ended: what it owed fails, and the next one comes.
 *
 *   lost -> what it owed fails -> after a while the next one is started, opens the file, which is what it was
 *        -> check, init, replay, start, sent as one -> UP
 *
 * Nothing waits here: each step follows the answer to the one before. Until it is up, calls fail by the policy of
 * their taps.
 *
 * Restarts are paid for: a few at once, then so many in a second, so that a module that crashes at each call
 * costs its callers and not the machine. A process that was of no use at all waits, each time twice as long.
 */
#include <errno.h>
#include <stdio.h>

#include "isolate/inside.h"
#include "log/log.h"
#include "util/err.h"

static int64_t now_ms(const struct isolate *iso)
{
	return loop_now_ms(iso->parts->loop);
}

/* ---- up ------------------------------------------------------------------------------------------------ */
void started_up(struct process *p)
{
	struct isolate *iso = p->iso;

	p->state = PROCESS_UP;
	iso->serves = true;
	iso->returns = false;
	p->up_ms = now_ms(iso);
	calls_flush(iso);
}

static void next_step(struct process *p, enum talk_down what, pending_fn *fn)
{
	struct isolate *iso = p->iso;
	struct buf *m = &iso->scratch;
	size_t begun = talk_begin(m);

	if (what == TALK_OPEN)
		open_put(iso, m);
	else
		talk_put_int(m, what);
	if (what == TALK_CONF && iso->conf_len > 0)
		buf_add(m, iso->conf_values, iso->conf_len);
	if (ask_send(p, begun, fn, sizeof(struct pending)) == NULL)
		process_give_up(p, "its process does not take what it is told");
}

/* False: it could not. Its end is on the way, with its own words. */
static bool step_taken(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct keel_err err = { 0 };
	int ret = -ECHILD;

	pending_drop(p, q);
	if (in != NULL)
		ret = step_of(in, why, &err);
	if (in != NULL && ret < 0)
		process_give_up(p, "it could not be started: %s", err.text);
	return ret == 0;
}

static void agreed(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	(void)step_taken(p, q, in, why);
}

static void started(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct isolate *iso = p->iso;

	if (!step_taken(p, q, in, why))
		return;
	started_up(p);
	iso_log(iso, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN,
		"its process runs, pid %ld, after %lld us; events told before it heard what there is: %u",
		(long)p->pid, (long long)(loop_clock_ns(iso->parts->loop) / 1000 - iso->late_us),
		iso->notes_lost);
	iso->notes_lost = 0;
}

static void reopened(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct isolate *iso = p->iso;
	struct keel_err err = { 0 };
	int ret = -ECHILD;

	(void)why;
	if (in != NULL)
		ret = described_take(iso, in, (const char *)in->r.at, (uint32_t)(in->r.end - in->r.at), &err);
	pending_drop(p, q);
	if (ret < 0 && in != NULL)
		process_give_up(p, "it could not be started: %s", err.text);
	if (ret < 0)
		return;
	iso->restarts++;
	next_step(p, TALK_CONF, agreed);
	next_step(p, TALK_INIT, agreed); /* one that fails does nothing that comes behind */
	p->state = PROCESS_READY;
	hooks_replay(iso->parts->hooks, iso->parts->objects, iso->owner);
	next_step(p, TALK_START, started);
	process_flush(p);
}

/* ---- when the next one may come ------------------------------------------------------------------------ */
static void again(void *arg);

static void again_in(struct isolate *iso, int64_t ms)
{
	loop_timer_cancel(iso->restart);
	iso->again_ms = now_ms(iso) + ms;
	iso->restart = loop_timer(iso->parts->loop, ms, again, iso);
}

static void succeed(struct isolate *iso, bool of_use)
{
	int64_t now = now_ms(iso), wait = iso->paid_ms - now - RESTARTS_BURST * RESTART_EACH_MS;

	if (of_use)
		iso->backoff_ms = 0;
	else
		iso->backoff_ms = iso->backoff_ms == 0 ? BACKOFF_FIRST_MS : iso->backoff_ms * 2;
	if (iso->backoff_ms > BACKOFF_MAX_MS)
		iso->backoff_ms = BACKOFF_MAX_MS;
	iso->paid_ms = (iso->paid_ms > now ? iso->paid_ms : now) + RESTART_EACH_MS;
	iso->late_us = loop_clock_ns(iso->parts->loop) / 1000;
	again_in(iso, wait > iso->backoff_ms ? wait : iso->backoff_ms);
}

static void not_returned(struct isolate *iso, const char *why)
{
	struct keel_err err = { 0 };

	if (iso->returns)
		step_failed(iso, TALK_INIT, err_set(&err, -ECHILD, "%s", why), &err);
	iso->returns = false;
}

static void again(void *arg)
{
	struct isolate *iso = arg;
	struct keel_err err = { 0 };

	iso->restart = NULL;
	if (process_start(iso, &iso->now, &err) == 0) {
		next_step(iso->now, TALK_OPEN, reopened);
		return;
	}
	succeed(iso, false);
	iso_log(iso, KEEL_LOG_ERROR, "%s; it is tried again in %u ms", err.text, iso->backoff_ms);
	not_returned(iso, err.text);
	calls_fail(iso, "its process cannot be started");
}

void come_back(struct isolate *iso)
{
	iso->serves = iso->returns = true;
	iso->benched = false;
	iso->deaths = iso->backoff_ms = 0;
	iso->late_us = loop_clock_ns(iso->parts->loop) / 1000;
	again_in(iso, 0);
}

/* ---- lost ------------------------------------------------------------------------------------------------ */
/* True: too often. */
static bool count_death(struct isolate *iso)
{
	int64_t now = now_ms(iso);

	if (iso->deaths == 0 || now - iso->death_ms > iso->limits.within_ms) {
		iso->deaths = 0;
		iso->death_ms = now;
	}
	return ++iso->deaths >= (uint64_t)iso->limits.deaths && iso->limits.deaths > 0;
}

static bool was_of_use(const struct process *p)
{
	return p->state == PROCESS_UP && (p->of_use || now_ms(p->iso) - p->up_ms >= GOOD_LIFE_MS);
}

static void tell_lost(const struct process *p, const char *tap, const char *why, uint32_t failed)
{
	const struct isolate *iso = p->iso;
	int64_t wait = iso->again_ms - now_ms(iso);
	char next[160];

	snprintf(next, sizeof(next), "it is started again in %lld ms", (long long)(wait > 0 ? wait : 0));
	if (iso->benched)
		snprintf(next, sizeof(next), "this was the %u. time, its taps are not called any more until the module "
			 "is reloaded", iso->deaths);
	iso_log(iso, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "%s.%s: %s; calls failed: %u, events lost: %u; %s",
		iso->name, tap, why, failed, p->notes, next);
}

/* All that it will not answer; how many calls. */
static uint32_t owed_fail(struct process *p, const char *why)
{
	uint32_t failed = calls_fail(p->iso, why);
	struct pending *q, *next;

	iso_holds_end(p);
	HASH_ITER(hh, p->pending, q, next)
		q->fn(p, q, NULL, why);
	requests_fail(p, why);
	return failed;
}

void process_lost(struct process *p, const char *why)
{
	struct isolate *iso = p->iso;
	const char *tap = calls_tap(p);
	uint32_t failed;

	iso->now = NULL;
	if (iso->serves) {
		iso->benched = count_death(iso);
		if (!iso->benched)
			succeed(iso, was_of_use(p));
	}
	failed = owed_fail(p, why);
	not_returned(iso, why);
	if (iso->serves)
		tell_lost(p, tap, why, failed);
	process_destroy(p);
	if (iso->benched)
		hooks_bench(iso->parts->hooks, iso->owner);
	if (iso->benched || !iso->serves)
		process_end(iso, why);
}

void process_end(struct isolate *iso, const char *why)
{
	struct process *p = iso->now;

	loop_timer_cancel(iso->restart);
	iso->restart = NULL;
	iso->now = NULL;
	if (p != NULL)
		owed_fail(p, why);
	process_destroy(p);
	calls_fail(iso, why);
}
