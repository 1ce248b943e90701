/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.c - turns, deferred and posted calls; worker threads.
 *
 * libuv passes: timers, idle, then waits for and serves fds, finished work and posts, then `check`
 * handles. Our one check handle is the end of the turn: what those deferred, timers that are due, what these deferred,
 * then the turn-end callback. An idle handle keeps libuv from sleeping as long as one of them is wanted.
 */
#include "loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "loop/inside.h"

/* Timers that are due, and deferred calls that defer again, go on within the turn for this long, then others get
 * theirs. */
#define TIMERS_BUDGET_NS (3 * 1000 * 1000)
#define TURN_BUDGET_NS (10 * 1000 * 1000)
#define HIGH_FD 1000 /* below the usual limit of 1024 */

void hurry_on(uv_idle_t *idle)
{
	(void)idle; /* being active is its work */
}

static void calls_run(struct loop *l, struct calls *calls, int64_t budget_ns)
{
	int64_t until = 0;
	struct call c;

	while (calls_take(calls, &c)) {
		if (until == 0)
			until = loop_clock_ns(l) + budget_ns;
		c.fn(c.arg);
		if (loop_clock_ns(l) > until)
			return;
	}
}

static void turn_over(uv_check_t *check)
{
	struct loop *l = check->data;

	loop_busy(l);
	calls_run(l, &l->deferred, TURN_BUDGET_NS); /* answers do not wait for a slice of long work */
	calls_run(l, &l->ready, TIMERS_BUDGET_NS);
	calls_run(l, &l->deferred, TURN_BUDGET_NS);
	if (l->due) {
		l->due = false;
		if (l->turn_end != NULL)
			l->turn_end(l->turn_arg);
	}
	if (l->ready.first == NULL && l->deferred.first == NULL && !l->due)
		uv_idle_stop(&l->hurry);
	l->busy = false;
	l->turns++;
}

static void posted(uv_async_t *wake)
{
	struct loop *l = wake->data;
	struct calls taken;
	struct call c;

	pthread_mutex_lock(&l->lock);
	taken = l->posted;
	l->posted = (struct calls){ 0 };
	pthread_mutex_unlock(&l->lock);
	loop_busy(l);
	while (calls_take(&taken, &c))
		c.fn(c.arg);
}

static void never(void *arg, int events)
{
	(void)arg, (void)events;
}

/* libuv ends the program when its table of descriptors cannot grow. So it has room for most daemons from the
 * beginning: it is as long as the highest descriptor ever watched. */
static void table_widen(struct loop *l)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	struct loop_watch *w;

	if (high >= 0 && loop_watch(l, high, LOOP_READABLE, never, NULL, &w) == 0)
		loop_watch_cancel(w);
	if (high >= 0)
		close(high);
	if (fd >= 0)
		close(fd);
}

int loop_create(struct loop **ret_loop)
{
	struct loop *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return -ENOMEM;
	setenv("UV_THREADPOOL_SIZE", "16", 0); /* four modules that hang, before the store has to wait */
	ret = uv_loop_init(&l->uv);
	if (ret < 0) {
		free(l);
		return ret;
	}
	l->uv.data = l;
	pthread_mutex_init(&l->lock, NULL);
	ret = uv_async_init(&l->uv, &l->wake, posted);
	if (ret < 0) {
		uv_loop_close(&l->uv);
		pthread_mutex_destroy(&l->lock);
		free(l);
		return ret;
	}
	uv_check_init(&l->uv, &l->turn);
	uv_idle_init(&l->uv, &l->hurry);
	l->wake.data = l->turn.data = l->hurry.data = l;
	uv_check_start(&l->turn, turn_over);
	table_widen(l);
	*ret_loop = l;
	return 0;
}

void handle_free(uv_handle_t *h)
{
	free(h->data);
}

/* Close what is still open; the loop's own handles are part of it. */
static void handle_close(uv_handle_t *h, void *arg)
{
	struct loop *l = arg;

	if (uv_is_closing(h))
		return;
	uv_close(h, h->data == l ? NULL : handle_free);
}

void loop_destroy(struct loop *l)
{
	if (l == NULL)
		return;
	loop_tick_end(l);
	if (l->schedstat > 0)
		close(l->schedstat);
	uv_walk(&l->uv, handle_close, l);
	while (uv_loop_close(&l->uv) == UV_EBUSY)
		uv_run(&l->uv, UV_RUN_ONCE);
	calls_forget(&l->ready, NULL, NULL);
	calls_forget(&l->deferred, NULL, NULL);
	calls_forget(&l->posted, NULL, NULL);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

int loop_run(struct loop *l)
{
	uv_update_time(&l->uv);
	while (!l->stop)
		uv_run(&l->uv, UV_RUN_DEFAULT);
	l->stop = false;
	return 0;
}

void loop_stop(struct loop *l)
{
	l->stop = true;
	uv_stop(&l->uv);
}

static void time_is_up(void *arg)
{
	*(bool *)arg = true;
}

int loop_run_until(struct loop *l, bool (*done)(void *arg), void *arg, int64_t deadline_ms)
{
	bool late = false;
	struct loop_timer *t = loop_timer(l, deadline_ms, time_is_up, &late);

	if (t == NULL)
		return -ENOMEM;
	while (!done(arg) && !late)
		uv_run(&l->uv, UV_RUN_ONCE);
	if (late)
		return done(arg) ? 0 : -ETIMEDOUT;
	loop_timer_cancel(t);
	return 0;
}

int loop_defer(struct loop *l, loop_fn *fn, void *arg)
{
	int ret = calls_add(&l->deferred, fn, arg);

	if (ret == 0)
		uv_idle_start(&l->hurry, hurry_on);
	return ret;
}

void loop_defer_cancel(struct loop *l, loop_fn *fn, void *arg)
{
	calls_forget(&l->deferred, fn, arg);
}

int loop_post(struct loop *l, loop_fn *fn, void *arg)
{
	int ret;

	pthread_mutex_lock(&l->lock);
	ret = calls_add(&l->posted, fn, arg);
	pthread_mutex_unlock(&l->lock);
	return ret == 0 ? uv_async_send(&l->wake) : ret;
}

void loop_turn_end(struct loop *l, loop_fn *fn, void *arg)
{
	l->turn_end = fn;
	l->turn_arg = arg;
}

void loop_turn_due(struct loop *l)
{
	l->due = true;
	uv_idle_start(&l->hurry, hurry_on);
}

/* ---- worker threads ----------------------------------------------------------------------------- */
struct work {
	uv_work_t uv;
	struct loop *loop;
	loop_fn *work, *done;
	void *arg;
};

static void work_do(uv_work_t *uv)
{
	struct work *w = uv->data;

	w->work(w->arg);
}

static void work_done(uv_work_t *uv, int cancelled)
{
	struct work w = *(struct work *)uv->data;

	(void)cancelled; /* the only possible error, and no caller cancels */
	free(uv->data);
	loop_busy(w.loop);
	if (w.done != NULL)
		w.done(w.arg);
	w.loop->working--;
}

/* Threads begin here, and inherit: what ends or reloads the daemon is left to the loop's own, which can hold it. */
static int queue(struct loop *l, struct work *w)
{
	sigset_t held, was;
	int ret;

	sigemptyset(&held);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &held, &was);
	ret = uv_queue_work(&l->uv, &w->uv, work_do, work_done);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return ret;
}

int loop_work(struct loop *l, loop_fn *work, loop_fn *done, void *arg)
{
	struct work *w = calloc(1, sizeof(*w));
	int ret;

	if (w == NULL)
		return -ENOMEM;
	w->loop = l;
	w->work = work;
	w->done = done;
	w->arg = arg;
	w->uv.data = w;
	ret = queue(l, w);
	if (ret < 0)
		free(w);
	else
		l->working++;
	return ret;
}

void loop_work_end(struct loop *l)
{
	while (l->working > 0)
		uv_run(&l->uv, UV_RUN_ONCE);
}
