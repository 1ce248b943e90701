/* SPDX-License-Identifier: Apache-2.0
 *
 * tick.c - how long the loop's thread waited for a processor; a clock tick while turns are made: a timer signal to
 * that thread, whose handler calls back.
 *
 * A turn arms it when it is not armed; a signal that finds the loop asleep does not arm it again. So a daemon that
 * has nothing to do gets no signals, and a turn costs nothing but its first one in a tick's time. One loop of a
 * process ticks. System calls of a turn may end with EINTR because of it, where SA_RESTART does not help.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "loop/inside.h"

#define TICK_SIGNAL (SIGRTMIN + 1)
#define SCHEDSTAT "/proc/thread-self/schedstat" /* ns computed, ns waited, how often */

int64_t loop_delay_ns(struct loop *l)
{
	char text[96], *waited;
	ssize_t n;

	if (l->schedstat == SCHEDSTAT_NONE)
		return 0;
	if (l->schedstat == 0)
		l->schedstat = open(SCHEDSTAT, O_RDONLY | O_CLOEXEC);
	n = l->schedstat > 0 ? pread(l->schedstat, text, sizeof(text) - 1, 0) : -1;
	if (n <= 0) {
		if (l->schedstat > 0)
			close(l->schedstat);
		l->schedstat = SCHEDSTAT_NONE;
		return 0;
	}
	text[n] = '\0';
	strtoll(text, &waited, 10);
	return strtoll(waited, NULL, 10);
}

static struct {
	struct loop *loop;
	timer_t timer;
	struct itimerspec once;
	int64_t ns, due_ns;
	loop_tick_fn *fn;
	void *arg;
	volatile sig_atomic_t armed;
} tick;

static void arm(void)
{
	tick.due_ns = loop_clock_ns(tick.loop) + tick.ns;
	tick.armed = timer_settime(tick.timer, 0, &tick.once, NULL) == 0;
}

static void ticked(int signum)
{
	int kept = errno;

	(void)signum;
	tick.armed = 0;
	if (tick.loop != NULL) {
		tick.fn(tick.arg, tick.loop->busy ? tick.loop->turns : LOOP_ASLEEP, loop_clock_ns(tick.loop) - tick.due_ns);
		if (tick.loop->busy)
			arm();
	}
	errno = kept;
}

void loop_busy(struct loop *l)
{
	l->busy = true;
	if (tick.loop == l && !tick.armed)
		arm();
}

int loop_tick(struct loop *l, int64_t ms, loop_tick_fn *fn, void *arg)
{
	struct sigaction act = { .sa_handler = ticked, .sa_flags = (int)(SA_RESTART | SA_ONSTACK) };
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TICK_SIGNAL };

	if (tick.loop != NULL)
		return -EBUSY;
	how._sigev_un._tid = gettid();
	if (sigaction(TICK_SIGNAL, &act, NULL) < 0 || timer_create(CLOCK_MONOTONIC, &how, &tick.timer) < 0)
		return -errno;
	loop_delay_ns(l); /* opens what the handler reads */
	tick.once.it_value = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	tick.ns = ms * 1000000;
	tick.fn = fn;
	tick.arg = arg;
	tick.armed = 0;
	tick.loop = l;
	return 0;
}

void loop_tick_end(struct loop *l)
{
	if (tick.loop != l)
		return;
	tick.loop = NULL;
	timer_delete(tick.timer);
}
