/* SPDX-License-Identifier: Apache-2.0
 *
 * watchdog.c - the clock tick of the loop: taps that take too long are found (hook/time.c), and a turn that does not end is
 * reported after `after_ms`, and at each doubling; after `abort_ms` the daemon ends itself.
 *
 * All of it in the signal handler of the tick, on the thread that stands still. Each tick counts for two at most: when
 * everything was stopped (a debugger, a suspended machine) the daemon did not stand still.
 */
#include <signal.h>

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

static void say_seconds(const char *text, int64_t ms)
{
	crash_say(text);
	crash_say_number((uint64_t)ms / 1000);
	crash_say(".");
	crash_say_number((uint64_t)ms / 100 % 10);
	crash_say(" s");
}

static void moved_on(uint64_t turn)
{
	if (w.next_ms > w.after_ms) {
		say_seconds("keelsond: requests are served again, after ", w.still_ms);
		crash_say("\n");
	}
	w.turn = turn;
	w.still_ms = 0;
	w.next_ms = w.after_ms;
}

static void stands_still(int64_t passed_ms)
{
	w.still_ms += passed_ms < 2 * w.tick_ms ? passed_ms : 2 * w.tick_ms;
	if (w.after_ms > 0 && w.still_ms >= w.next_ms) {
		w.next_ms *= 2;
		say_seconds("keelsond: no request has been served for ", w.still_ms);
		crash_say_where();
	}
	if (w.abort_ms > 0 && w.still_ms >= w.abort_ms) {
		crash_say("keelsond: the daemon ends itself: hooks.watchdog_abort says it has stood still for too long\n");
		raise(SIGABRT);
	}
}

/* Nothing can be said while the thread takes no signal: a system call that cannot be interrupted, a stopped daemon. */
static void was_away(int64_t late_ms)
{
	if (w.after_ms <= 0 || late_ms < w.after_ms)
		return;
	say_seconds("keelsond: no request was served for ", late_ms);
	crash_say(": the daemon was in the system, or stopped; a file system that hangs does that;");
	crash_say_where();
}

static void tick(void *arg, uint64_t turn, int64_t late_ns)
{
	int64_t now = loop_clock_ns(w.parts->loop) / 1000000;

	(void)arg;
	if (turn != w.turn)
		moved_on(turn);
	else if (turn != LOOP_ASLEEP)
		stands_still(now - w.last_ms);
	w.last_ms = now;
	if (turn != LOOP_ASLEEP)
		was_away(late_ns / 1000000);
	hooks_tick(w.parts->hooks, late_ns, w.tick_ms * 1000000);
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int watchdog_start(struct parts *parts, int64_t soft_ms, int64_t after_ms, int64_t abort_ms)
{
	int64_t tick_ms = smaller(TICK_LONGEST_MS, soft_ms / 2);

	if (after_ms > 0)
		tick_ms = smaller(tick_ms, after_ms / TICKS);
	if (tick_ms < 1)
		tick_ms = 1;
	w.parts = parts;
	w.after_ms = w.next_ms = after_ms;
	w.abort_ms = after_ms > 0 ? abort_ms : 0;
	w.tick_ms = tick_ms;
	w.turn = LOOP_ASLEEP;
	w.still_ms = 0;
	return loop_tick(parts->loop, tick_ms, tick, NULL);
}
