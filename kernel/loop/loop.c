/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.c - time and timers, descriptors and signals, turns, deferred and posted calls, worker threads.
 *
 * libuv passes: timers, idle, then waits for and serves fds, finished work and posts, then `check`
 * handles. Our one check handle is the end of the turn: what those deferred, timers that are due, what these deferred,
 * then the turn-end callback. An idle handle keeps libuv from sleeping as long as one of them is wanted.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "loop/calls.h"
#include "loop/loop.h"

/* Timers that are due, and deferred calls that defer again, go on within the turn for this long, then others get
 * theirs. */
#define TIMERS_BUDGET_NS (3 * 1000 * 1000)
#define TURN_BUDGET_NS (10 * 1000 * 1000)
#define HIGH_FD 1000 /* below the usual limit of 1024 */
#define SCHEDSTAT "/proc/thread-self/schedstat" /* ns computed, ns waited, how often */
#define SCHEDSTAT_NONE (-1) /* not available on this system */

struct loop {
	uv_loop_t uv;
	uv_check_t turn;  /* after all ready events: the end of the turn */
	uv_idle_t hurry;  /* active while something waits for the end of the turn: do not sleep */
	uv_async_t wake;  /* for loop_post() */
	bool stop;        /* requested, not yet seen by loop_run() */
	int schedstat;    /* fd; 0: not opened yet */
	bool due;         /* loop_turn_due() was called in this turn */
	loop_fn *turn_end;
	void *turn_arg;
	uint32_t working;      /* loop_work() whose `done` has not returned */
	struct calls ready;    /* timers that are due */
	struct calls deferred;
	pthread_mutex_t lock; /* guards posted */
	struct calls posted;
};

struct loop_timer {
	uv_timer_t uv; /* its data is the timer */
	loop_fn *fn;
	void *arg;
	bool ready;
};

struct loop_watch {
	uv_poll_t uv; /* its data is the watch */
	loop_fd_fn *fn;
	void *arg;
	int events; /* what is wanted now */
};

struct loop_signal {
	uv_signal_t uv; /* its data is the struct */
	void (*fn)(void *arg, int signum);
	void *arg;
};

/* The close callback of handles whose data is malloc'ed with them. */
static void handle_free(uv_handle_t *h)
{
	free(h->data);
}

static void hurry_on(uv_idle_t *idle)
{
	(void)idle; /* being active is its work */
}

/* ---- time and timers ------------------------------------------------------------------------------
 * A timer never fires before its time: the loop's idea of now is brought up to date when one is made. Nor does it fire
 * in the turn it was made in, nor one before others that were due earlier: slices of long work let others in, and each
 * other.
 */
int64_t loop_now_ms(const struct loop *l)
{
	return (int64_t)uv_now(&l->uv);
}

int64_t loop_time_us(const struct loop *l)
{
	struct timespec now;

	(void)l;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t loop_time(const struct loop *l)
{
	return loop_time_us(l) / 1000000;
}

int64_t loop_clock_ns(struct loop *l)
{
	(void)l;
	return (int64_t)uv_hrtime();
}

static void fire(void *arg)
{
	struct loop_timer *t = arg;

	t->ready = false;
	t->fn(t->arg);
	loop_timer_cancel(t);
}

/* Queued behind the timers that were due earlier. Without memory for that it fires at once. */
static void timer_due(uv_timer_t *uv)
{
	struct loop_timer *t = uv->data;
	struct loop *l = uv->loop->data;

	t->ready = calls_add(&l->ready, fire, t) == 0;
	if (t->ready)
		uv_idle_start(&l->hurry, hurry_on);
	else
		fire(t);
}

struct loop_timer *loop_timer(struct loop *l, int64_t after_ms, loop_fn *fn, void *arg)
{
	struct loop_timer *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->fn = fn;
	t->arg = arg;
	uv_update_time(&l->uv);
	uv_timer_init(&l->uv, &t->uv);
	t->uv.data = t;
	uv_timer_start(&t->uv, timer_due, after_ms < 0 ? 0 : (uint64_t)after_ms, 0);
	return t;
}

void loop_timer_cancel(struct loop_timer *t)
{
	if (t == NULL || uv_is_closing((uv_handle_t *)&t->uv))
		return;
	if (t->ready)
		calls_forget(&((struct loop *)t->uv.loop->data)->ready, fire, t);
	uv_close((uv_handle_t *)&t->uv, handle_free);
}

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

/* ---- descriptors and signals ----------------------------------------------------------------------
 * libuv stops a watch whose fd has an error. Ours goes on: the callback gets all events that are watched, so that its
 * read or write fails with the error and it cancels the watch.
 */
_Static_assert((int)LOOP_READABLE == UV_READABLE && (int)LOOP_WRITABLE == UV_WRITABLE, "events are libuv's");

static void watch_ready(uv_poll_t *uv, int failure, int events)
{
	struct loop_watch *w = uv->data;

	if (failure < 0) {
		events = w->events;
		uv_poll_start(uv, events, watch_ready);
	}
	loop_busy(uv->loop->data);
	if (events & w->events)
		w->fn(w->arg, events & w->events);
}

int loop_watch(struct loop *l, int fd, int events, loop_fd_fn *fn, void *arg, struct loop_watch **ret_watch)
{
	struct loop_watch *w = calloc(1, sizeof(*w));
	int ret = w == NULL ? -ENOMEM : uv_poll_init(&l->uv, &w->uv, fd);

	if (ret < 0) {
		free(w);
		return ret;
	}
	w->uv.data = w;
	w->fn = fn;
	w->arg = arg;
	ret = loop_watch_set(w, events);
	if (ret < 0)
		uv_close((uv_handle_t *)&w->uv, handle_free);
	else
		*ret_watch = w;
	return ret;
}

int loop_watch_set(struct loop_watch *w, int events)
{
	if (w->events == events)
		return 0;
	w->events = events;
	return uv_poll_start(&w->uv, events, watch_ready);
}

void loop_watch_cancel(struct loop_watch *w)
{
	if (w != NULL && !uv_is_closing((uv_handle_t *)&w->uv))
		uv_close((uv_handle_t *)&w->uv, handle_free);
}

static void signal_came(uv_signal_t *uv, int signum)
{
	struct loop_signal *s = uv->data;

	loop_busy(uv->loop->data);
	s->fn(s->arg, signum);
}

int loop_signal(struct loop *l, int signum, void (*fn)(void *arg, int signum), void *arg)
{
	struct loop_signal *s = calloc(1, sizeof(*s));
	int ret = s == NULL ? -ENOMEM : uv_signal_init(&l->uv, &s->uv);

	if (ret < 0) {
		free(s);
		return ret;
	}
	s->uv.data = s;
	s->fn = fn;
	s->arg = arg;
	ret = uv_signal_start(&s->uv, signal_came, signum);
	if (ret < 0)
		uv_close((uv_handle_t *)&s->uv, handle_free);
	return ret;
}

/* ---- turns ------------------------------------------------------------------------------------------ */
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
	loop_idle(l);
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

/* libuv ends the program when its table of descriptors cannot grow. So it has room for most daemons from the
 * beginning: it is as long as the highest descriptor ever watched. */
static void table_widen(struct loop *l)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	struct loop_watch *w;

	if (high >= 0 && loop_watch(l, high, LOOP_READABLE, NULL, NULL, &w) == 0)
		loop_watch_cancel(w); /* before it could be ready */
	if (high >= 0)
		close(high);
	if (fd >= 0)
		close(fd);
}

int loop_create(struct loop **ret_loop)
{
	struct loop *l = calloc(1, sizeof(*l));
	int ret;

	setenv("UV_THREADPOOL_SIZE", "16", 0); /* four modules that hang, before the store has to wait */
	ret = l == NULL ? -ENOMEM : uv_loop_init(&l->uv);
	if (ret == 0) {
		ret = uv_async_init(&l->uv, &l->wake, posted);
		if (ret < 0)
			uv_loop_close(&l->uv);
	}
	if (ret < 0) {
		free(l);
		return ret;
	}
	pthread_mutex_init(&l->lock, NULL);
	uv_check_init(&l->uv, &l->turn);
	uv_idle_init(&l->uv, &l->hurry);
	l->uv.data = l->wake.data = l->turn.data = l->hurry.data = l;
	uv_check_start(&l->turn, turn_over);
	table_widen(l);
	*ret_loop = l;
	return 0;
}

/* Close what is still open; the loop's own handles are part of it. */
static void handle_close(uv_handle_t *h, void *arg)
{
	if (!uv_is_closing(h))
		uv_close(h, h->data == arg ? NULL : handle_free);
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
	uv_work_t uv; /* its data is the struct */
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
	struct loop *l = uv->loop->data;
	struct work w = *(struct work *)uv->data;

	(void)cancelled; /* the only possible error, and no caller cancels */
	free(uv->data);
	loop_busy(l);
	if (w.done != NULL)
		w.done(w.arg);
	l->working--;
}

int loop_work(struct loop *l, loop_fn *work, loop_fn *done, void *arg)
{
	struct work *w = malloc(sizeof(*w));
	sigset_t held, was;
	int ret;

	if (w == NULL)
		return -ENOMEM;
	*w = (struct work){ .uv.data = w, .work = work, .done = done, .arg = arg };
	/* Threads begin here, and inherit: what ends or reloads the daemon is left to the loop's own, which can hold it. */
	sigemptyset(&held);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &held, &was);
	ret = uv_queue_work(&l->uv, &w->uv, work_do, work_done);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
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
