/* SPDX-License-Identifier: Apache-2.0
 *
 * spare.c - the way up of the next process: a stand-by that sleeps until it is needed, or one that serves as
 * soon as it can.
 *
 *   start -> open, check -> CHECKED: nothing of the daemon's state is in it, nothing was done
 *         -> take over: init, replay, start, sent as one -> UP -> a moment later the next stand-by is started
 *
 * Nobody waits here: each step follows the answer to the one before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolate/inside.h"
#include "log/log.h"
#include "object/objects.h"
#include "util/err.h"

#define SPREAD 50 /* first stand-bys of many modules are not started in one turn */
#define SPREAD_MS 20

static void next_step(struct process *p, enum talk_down what, pending_fn *fn)
{
	struct isolate *iso = p->iso;
	struct mp *m = &iso->scratch;
	size_t begun = talk_begin(m);

	if (what == TALK_OPEN)
		open_put(iso, m);
	else
		talk_put_int(m, what);
	if (what == TALK_CONF && iso->conf_len > 0)
		mp_raw(m, iso->conf_values, iso->conf_len);
	if (ask_send(p, begun, fn, sizeof(struct pending)) == NULL)
		process_give_up(p, "its process does not take what it is told");
}

/* 0: it could. Else its end is on the way, with its own words. */
static int step_taken(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct keel_err err = { 0 };
	int ret;

	pending_drop(p, q);
	if (in == NULL)
		return -ECHILD;
	ret = step_of(in, why, &err);
	if (ret < 0)
		process_give_up(p, "it could not be started: %s", err.text);
	return ret;
}

/* ---- take over -------------------------------------------------------------------------------------- */
void started_up(struct process *p)
{
	struct isolate *iso = p->iso;

	p->state = PROCESS_UP;
	iso->serves = true;
	iso->returns = false;
	p->up_ms = loop_now_ms(iso->parts->loop);
	if (iso->limits.standby)
		spare_in(iso, iso->restarts > 0 ? SPARE_AFTER_MS :
						  SPARE_AFTER_MS + p->pid % SPREAD * SPREAD_MS);
	calls_flush(iso);
}

static void started(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct isolate *iso = p->iso;

	if (step_taken(p, q, in, why) < 0)
		return;
	started_up(p);
	iso_log(iso, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN,
		"its process runs, pid %ld, after %lld us; events told before it heard what there is: %u",
		(long)p->pid, (long long)(loop_clock_ns(iso->parts->loop) / 1000 - iso->late_us),
		iso->notes_lost);
	iso->notes_lost = 0;
}

static void agreed(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	step_taken(p, q, in, why);
}

static void take_over(struct isolate *iso)
{
	struct process *p = iso->spare;

	iso->now = p;
	iso->spare = NULL;
	iso->restarts++;
	if (p->stale)
		next_step(p, TALK_CONF, agreed);
	next_step(p, TALK_INIT, agreed); /* one that fails does nothing that comes behind */
	p->state = PROCESS_READY;
	hooks_replay(iso->parts->hooks, iso->parts->objects, iso->owner);
	next_step(p, TALK_START, started);
	process_flush(p);
}

/* ---- up to there ------------------------------------------------------------------------------------- */
static void checked(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct isolate *iso = p->iso;

	if (step_taken(p, q, in, why) < 0 || p != iso->spare)
		return;
	p->state = PROCESS_CHECKED;
	iso->spare_fails = 0;
	if (iso->now == NULL && iso->restart == NULL)
		take_over(iso);
}

static void reopened(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct keel_err err = { 0 };
	int ret = -ECHILD;

	(void)why;
	if (in != NULL)
		ret = described_take(p->iso, in, (const char *)in->r.at, (uint32_t)(in->r.end - in->r.at),
				     &err);
	pending_drop(p, q);
	if (ret < 0 && in != NULL)
		process_give_up(p, "it could not be started: %s", err.text);
}

static void begin(struct isolate *iso)
{
	struct keel_err err = { 0 };

	if (process_start(iso, &iso->spare, &err) < 0) {
		iso->spare = NULL;
		not_returned(iso, err.text);
		spare_lost(iso, err.text);
		return;
	}
	next_step(iso->spare, TALK_OPEN, reopened);
	next_step(iso->spare, TALK_CONF, checked);
}

static void again(void *arg)
{
	struct isolate *iso = arg;

	iso->restart = NULL;
	if (iso->spare == NULL)
		begin(iso);
	else if (iso->now == NULL && iso->spare->state == PROCESS_CHECKED)
		take_over(iso);
}

void spare_in(struct isolate *iso, int64_t ms)
{
	loop_timer_cancel(iso->restart);
	iso->again_ms = loop_now_ms(iso->parts->loop) + ms;
	iso->restart = loop_timer(iso->parts->loop, ms, again, iso);
}

void come_back(struct isolate *iso)
{
	iso->serves = iso->returns = true;
	iso->benched = false;
	iso->deaths = iso->backoff_ms = 0;
	iso->late_us = loop_clock_ns(iso->parts->loop) / 1000;
	spare_in(iso, 0);
}

void not_returned(struct isolate *iso, const char *why)
{
	struct keel_err err = { 0 };

	if (iso->returns)
		step_failed(iso, TALK_INIT, err_set(&err, -ECHILD, "%s", why), &err);
	iso->returns = false;
}

void spare_lost(struct isolate *iso, const char *why)
{
	int64_t ms = (int64_t)SPARE_RETRY_MS << iso->spare_fails;

	if (ms < BACKOFF_MAX_MS)
		iso->spare_fails++;
	iso_log(iso, KEEL_LOG_ERROR, "its stand-by: %s; the next one is started in %lld ms", why, (long long)ms);
	spare_in(iso, ms);
}
