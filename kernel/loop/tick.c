/* SPDX-License-Identifier: Apache-2.0
 *
 * tick.c - a clock tick while turns are made: a timer signal to the thread of the loop, whose handler calls back.
 *
 * A turn arms it when it is not armed; a signal that finds the loop asleep does not arm it again. So a daemon that
 * has nothing to do gets no signals, and a turn costs nothing but its first one in a tick's time. One loop of a
 * process ticks. System calls of a turn may end with EINTR because of it, where SA_RESTART does not help.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "loop/loop.h"
#include "util/account.h"

#define TICK_SIGNAL (SIGRTMIN + 1)

static struct {
	struct loop *loop;
	timer_t timer;
	struct itimerspec once;
	int64_t ns, due_ns;
	int64_t busy_ns; /* since then */
	struct keel_account *account;
	loop_tick_fn *fn;
	void *arg;
	volatile sig_atomic_t armed;
	volatile bool busy;      /* a turn is made */
	volatile uint64_t turns; /* so far */
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
		tick.fn(tick.arg, tick.busy ? tick.turns : LOOP_ASLEEP, loop_clock_ns(tick.loop) - tick.due_ns);
		if (tick.busy)
			arm();
	}
	errno = kept;
}

void loop_busy(const struct loop *l)
{
	if (tick.loop != l)
		return;
	if (!tick.busy)
		tick.busy_ns = loop_clock_ns(tick.loop);
	tick.busy = true;
	if (!tick.armed)
		arm();
}

void loop_idle(const struct loop *l)
{
	if (tick.loop != l)
		return;
	if (tick.busy && tick.account != NULL)
		account_add(tick.account, loop_clock_ns(tick.loop) - tick.busy_ns);
	tick.busy = false;
	tick.turns++;
}

int loop_tick(struct loop *l, int64_t ms, struct keel_account *turns, loop_tick_fn *fn, void *arg)
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
	tick.account = turns;
	tick.fn = fn;
	tick.arg = arg;
	tick.armed = 0;
	tick.busy = false;
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
