/* SPDX-License-Identifier: Apache-2.0
 *
 * restart.c - the way down: a process ended, or is suspected of a loop; who fails, and when the next one serves.
 *
 *   gone: its successor is on the way -> its last words are there -> lost: what it owed fails, told, destroyed
 *
 * Restarts are paid for: a few at once, then so many in a second, so that a module that crashes at each call
 * costs its callers and not the machine. Who was of no use at all waits, each time twice as long.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "isolate/inside.h"
#include "log/log.h"

static int64_t now_ms(const struct isolate *iso)
{
	return loop_now_ms(iso->parts->loop);
}

/* ---- when the next one may come ------------------------------------------------------------------------ */
int64_t restart_wait(const struct isolate *iso)
{
	int64_t ahead = iso->paid_ms - now_ms(iso) - RESTARTS_BURST * RESTART_EACH_MS;

	return ahead > 0 ? ahead : 0;
}

static void succeed(struct isolate *iso, bool of_use)
{
	int64_t wait = restart_wait(iso), now = now_ms(iso);

	if (of_use)
		iso->backoff_ms = 0;
	else
		iso->backoff_ms = iso->backoff_ms == 0 ? BACKOFF_FIRST_MS : iso->backoff_ms * 2;
	if (iso->backoff_ms > BACKOFF_MAX_MS)
		iso->backoff_ms = BACKOFF_MAX_MS;
	iso->paid_ms = (iso->paid_ms > now ? iso->paid_ms : now) + RESTART_EACH_MS;
	iso->late_us = loop_clock_ns(iso->parts->loop) / 1000;
	spare_in(iso, wait > iso->backoff_ms ? wait : iso->backoff_ms);
}

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

/* ---- out of the way -------------------------------------------------------------------------------------- */
static void retire(struct process *p)
{
	struct isolate *iso = p->iso;

	if (p == iso->now)
		iso->now = NULL;
	else if (p == iso->spare)
		iso->spare = NULL;
	else
		return;
	DL_APPEND(iso->retired, p);
	calls_take_back(p);
}

void process_retire(struct process *p)
{
	p->suspect_ms = p->busy_ms;
	retire(p);
	process_stand_back(p);
	succeed(p->iso, true);
}

static bool was_of_use(const struct process *p)
{
	return p->state == PROCESS_UP && (p->of_use || now_ms(p->iso) - p->up_ms >= GOOD_LIFE_MS);
}

void process_gone(struct process *p)
{
	struct isolate *iso = p->iso;
	bool stood_by = iso->spare == p && iso->now != NULL, served = p == iso->now || p == iso->spare;

	if (p->gone || !iso->serves)
		return;
	p->gone = true;
	retire(p);
	if (stood_by)
		return; /* whom nobody misses */
	iso->benched = count_death(iso);
	if (p->suspect_ms > 0)
		iso->patience_ms = iso->limits.patience_ms; /* it was one */
	if (!iso->benched && served)
		succeed(iso, was_of_use(p));
}

/* ---- ended --------------------------------------------------------------------------------------------- */
static void tell_lost(const struct process *p, const char *tap, const char *why, uint32_t failed)
{
	const struct isolate *iso = p->iso;
	int64_t wait = iso->now != NULL ? 0 : iso->again_ms - now_ms(iso);
	char next[160];

	snprintf(next, sizeof(next), "it is started again in %lld ms", (long long)(wait > 0 ? wait : 0));
	if (iso->benched)
		snprintf(next, sizeof(next), "this was the %u. time, its taps are not called any more until the module "
			 "is reloaded", iso->deaths);
	else if (p->suspect_ms > 0)
		snprintf(next, sizeof(next), "another one serves already");
	iso_log(iso, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "%s.%s: %s; calls failed: %u, events lost: %u; %s",
		iso->name, tap, why, failed, p->notes, next);
}

static void forget(struct process *p)
{
	struct isolate *iso = p->iso;

	if (p == iso->now)
		iso->now = NULL;
	else if (p == iso->spare)
		iso->spare = NULL;
	else
		DL_DELETE(iso->retired, p);
}

/* All that it will not answer. */
static uint32_t owed_fail(struct process *p, const char *why)
{
	uint32_t failed = calls_fail(p, why);
	struct pending *q, *next;

	HASH_ITER(hh, p->pending, q, next)
		q->fn(p, q, NULL, why);
	requests_fail(p, why);
	return failed;
}

void process_lost(struct process *p, const char *why)
{
	struct isolate *iso = p->iso;
	const char *tap = calls_tap(p);
	bool stood_by = p->state < PROCESS_READY && iso->now != NULL && iso->now != p;
	uint32_t failed;

	process_gone(p);
	forget(p);
	failed = owed_fail(p, why);
	not_returned(iso, why);
	if (stood_by)
		spare_lost(iso, why);
	else if (iso->serves)
		tell_lost(p, tap, why, failed);
	process_destroy(p);
	if (iso->benched)
		hooks_bench(iso->parts->hooks, iso->owner);
	if (iso->benched || !iso->serves)
		processes_end(iso, why);
}

void process_leave(struct process *p)
{
	forget(p);
	process_destroy(p);
}

void processes_end(struct isolate *iso, const char *why)
{
	struct process *p;

	loop_timer_cancel(iso->restart);
	iso->restart = NULL;
	while ((p = iso->now != NULL ? iso->now : iso->spare != NULL ? iso->spare : iso->retired) != NULL) {
		forget(p);
		owed_fail(p, why);
		process_destroy(p);
	}
	calls_fail_waiting(iso, why);
}
