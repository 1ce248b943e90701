/* SPDX-License-Identifier: Apache-2.0
 *
 * watchdog.c - the clock tick of the loop: taps that take too long are found (hook/time.c), and a turn that does not end is
 * reported after `after_ms`, and at each doubling; after `abort_ms` the daemon ends itself.
 *
 * All of it in the signal handler of the tick, on the thread that stands still. Each tick counts for two at most: when
 * everything was stopped (a debugger, a suspended machine) the daemon did not stand still.
 */
#include <signal.h>
#include <string.h>

#include "hook/hooks.h"
#include "loop/loop.h"
#include "main/inside.h"

#define TICKS 4 /* in the time until the first report, two in that of a soft budget */
#define TICK_LONGEST_MS 10 /* modules may have smaller budgets than the daemon */

static struct {
	struct parts *parts;
	int64_t after_ms, abort_ms, tick_ms; /* after_ms 0: neither; abort_ms 0: never */
	uint64_t turn;			     /* the one of the last tick */
	int64_t last_ms, still_ms, next_ms;
} w;

#define SECONDS 32

/* "1.5 s" */
static const char *seconds(int64_t ms, char text[SECONDS])
{
	char *at = text + SECONDS - 5;
	int64_t whole = ms / 1000;

	memcpy(at, (const char[]){ '.', (char)('0' + ms / 100 % 10), ' ', 's', '\0' }, 5);
	do
		*--at = (char)('0' + whole % 10);
	while ((whole /= 10) > 0);
	return at;
}

static void stands_still(int64_t passed_ms)
{
	char text[SECONDS];

	w.still_ms += passed_ms < 2 * w.tick_ms ? passed_ms : 2 * w.tick_ms;
	if (w.after_ms > 0 && w.still_ms >= w.next_ms) {
		w.next_ms *= 2;
		crash_say("keelsond: no request has been served for ", seconds(w.still_ms, text), NULL);
		crash_say_where();
	}
	if (w.abort_ms > 0 && w.still_ms >= w.abort_ms) {
		crash_say("keelsond: the daemon ends itself: hooks.watchdog_abort says it has stood still for too long\n", NULL);
		raise(SIGABRT);
	}
}

static void tick(void *arg, uint64_t turn, int64_t late_ns)
{
	int64_t now = loop_clock_ns(w.parts->loop) / 1000000, late_ms = late_ns / 1000000;
	char text[SECONDS];

	(void)arg;
	if (turn != w.turn) {
		if (w.next_ms > w.after_ms)
			crash_say("keelsond: requests are served again, after ", seconds(w.still_ms, text), "\n", NULL);
		w.turn = turn;
		w.still_ms = 0;
		w.next_ms = w.after_ms;
	} else if (turn != LOOP_ASLEEP) {
		stands_still(now - w.last_ms);
	}
	w.last_ms = now;
	/* Nothing can be said while the thread takes no signal: a system call that cannot be interrupted, a stopped daemon. */
	if (turn != LOOP_ASLEEP && w.after_ms > 0 && late_ms >= w.after_ms) {
		crash_say("keelsond: no request was served for ", seconds(late_ms, text),
			  ": the daemon was in the system, or stopped; a file system that hangs does that;", NULL);
		crash_say_where();
	}
	hooks_tick(w.parts->hooks, late_ns, w.tick_ms * 1000000);
}

int watchdog_start(struct parts *parts, const struct hooks_conf *c)
{
	int64_t tick_ms = TICK_LONGEST_MS;

	if (tick_ms > c->soft_budget_ms / 2)
		tick_ms = c->soft_budget_ms / 2;
	if (c->watchdog_ms > 0 && tick_ms > c->watchdog_ms / TICKS)
		tick_ms = c->watchdog_ms / TICKS;
	if (tick_ms < 1)
		tick_ms = 1;
	w.parts = parts;
	w.after_ms = w.next_ms = c->watchdog_ms;
	w.abort_ms = c->watchdog_ms > 0 ? c->watchdog_abort_ms : 0;
	w.tick_ms = tick_ms;
	w.turn = LOOP_ASLEEP;
	w.still_ms = 0;
	return loop_tick(parts->loop, tick_ms, &parts->account[KEEL_ACCOUNT_TURN], tick, NULL);
}
