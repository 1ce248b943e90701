/* SPDX-License-Identifier: Apache-2.0
 *
 * restart.c - the process ended: what it owed fails, and it is started again.
 *
 *   lost -> DOWN -- back-off --> open -> check -> init -> READY, replay -> start -> UP
 *        -> BENCHED: too many deaths within the window
 *
 * Who was up for a while is started again at once; who was not, waits, each time twice as long. Nobody waits
 * here: each step follows the answer to the one before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolate/inside.h"
#include "log/log.h"
#include "object/objects.h"
#include "util/err.h"

static void again(void *arg);

/* ---- the way up ------------------------------------------------------------------------------------- */
/* It came, and could not: counts as a death, with its own words. */
static void refused(struct isolate *iso, const struct keel_err *err)
{
	process_give_up(iso, "it could not be started: %s", err->text);
}

static void next_step(struct isolate *iso, enum talk_down what, pending_fn *fn, bool values)
{
	struct mp *m = &iso->scratch;
	size_t begun = talk_begin(m);

	if (what == TALK_OPEN)
		open_put(iso, m);
	else
		talk_put_int(m, what);
	if (values)
		mp_raw(m, iso->conf_values, iso->conf_len);
	if (ask_send(iso, begun, fn, sizeof(struct pending)) == NULL)
		process_give_up(iso, "its process does not take what it is told");
}

/* 0: go on with the next step. */
static int step_taken(struct isolate *iso, struct pending *p, struct talk_in *in, const char *why)
{
	struct keel_err err = { 0 };
	int ret;

	pending_drop(iso, p);
	if (in == NULL)
		return -ECHILD;
	ret = step_of(in, why, &err);
	if (ret < 0)
		refused(iso, &err);
	return ret;
}

static void started(struct isolate *iso, struct pending *p, struct talk_in *in, const char *why)
{
	if (step_taken(iso, p, in, why) < 0)
		return;
	iso->state = ISO_UP;
	iso->up_ms = loop_now_ms(iso->parts->loop);
	iso_log(iso, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN,
		"its process runs, pid %ld; events told before it heard what there is: %u", (long)iso->pid,
		iso->notes_lost);
	iso->notes_lost = 0;
	calls_flush(iso);
}

static void inited(struct isolate *iso, struct pending *p, struct talk_in *in, const char *why)
{
	if (step_taken(iso, p, in, why) < 0)
		return;
	iso->state = ISO_READY;
	hooks_replay(iso->parts->hooks, iso->parts->objects, iso->owner);
	start_later(iso);
}

void start_later(struct isolate *iso)
{
	next_step(iso, TALK_START, started, false);
}

static void checked(struct isolate *iso, struct pending *p, struct talk_in *in, const char *why)
{
	if (step_taken(iso, p, in, why) == 0)
		next_step(iso, TALK_INIT, inited, false);
}

static void reopened(struct isolate *iso, struct pending *p, struct talk_in *in, const char *why)
{
	struct keel_err err = { 0 };
	int ret;

	(void)why;
	ret = in == NULL ? -ECHILD :
			   described_take(iso, in, (const char *)in->r.at, (uint32_t)(in->r.end - in->r.at),
					  &err);
	pending_drop(iso, p);
	if (ret == 0)
		next_step(iso, TALK_CONF, checked, true);
	else if (in != NULL)
		refused(iso, &err);
}

static void again(void *arg)
{
	struct isolate *iso = arg;
	struct keel_err err = { 0 };

	iso->restart = NULL;
	iso->restarts++;
	if (process_start(iso, &err) < 0)
		process_lost(iso, err.text);
	else
		next_step(iso, TALK_OPEN, reopened, false);
}

/* ---- the way down ----------------------------------------------------------------------------------- */
/* True: too often. */
static bool count_death(struct isolate *iso)
{
	int64_t now = loop_now_ms(iso->parts->loop);

	if (iso->deaths == 0 || now - iso->death_ms > iso->limits.within_ms) {
		iso->deaths = 0;
		iso->death_ms = now;
	}
	if (iso->state == ISO_UP && now - iso->up_ms >= GOOD_LIFE_MS)
		iso->backoff_ms = 0;
	else
		iso->backoff_ms = iso->backoff_ms == 0 ? BACKOFF_FIRST_MS :
				  iso->backoff_ms * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS :
									 iso->backoff_ms * 2;
	return ++iso->deaths >= (uint64_t)iso->limits.deaths && iso->limits.deaths > 0;
}

static void tell_lost(const struct isolate *iso, const char *why, uint32_t failed)
{
	const char *tap = iso->last_tap < iso->desc.n_taps ? iso->taps[iso->last_tap].name : "no tap";

	if (iso->state == ISO_BENCHED)
		iso_log(iso, KEEL_LOG_ERROR | KEEL_LOG_FORCE,
			"%s.%s: %s; calls failed: %u, events lost: %u; this was the %u. time, its taps are "
			"not called any more until the module is reloaded",
			iso->name, tap, why, failed, iso->notes, iso->deaths);
	else
		iso_log(iso, KEEL_LOG_ERROR | KEEL_LOG_FORCE,
			"%s.%s: %s; calls failed: %u, events lost: %u; it is started again in %u ms",
			iso->name, tap, why, failed, iso->notes, iso->backoff_ms);
}

static void pendings_fail(struct isolate *iso, const char *why)
{
	struct pending *p, *next;

	HASH_ITER(hh, iso->pending, p, next)
		p->fn(iso, p, NULL, why);
}

void process_lost(struct isolate *iso, const char *why)
{
	bool too_often = iso->serves && count_death(iso);
	uint32_t failed;

	process_end(iso);
	iso->state = too_often ? ISO_BENCHED : ISO_DOWN;
	failed = calls_fail(iso, why, !iso->serves || too_often);
	if (iso->serves)
		tell_lost(iso, why, failed);
	iso->notes = 0;
	pendings_fail(iso, why);
	requests_fail(iso, why);
	if (too_often)
		hooks_bench(iso->parts->hooks, iso->owner);
	if (too_often || !iso->serves)
		return;
	iso->again_ms = loop_now_ms(iso->parts->loop) + iso->backoff_ms;
	iso->restart = loop_timer(iso->parts->loop, iso->backoff_ms, again, iso);
}
