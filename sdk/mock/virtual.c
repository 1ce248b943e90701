/* SPDX-License-Identifier: Apache-2.0
 *
 * virtual.c - a loop whose time is given from outside.
 *
 * A turn is what it is in the real loop: posted calls and what these defer, timers that are due and what these post and
 * defer, the end of the turn. Between turns time jumps. Work for a thread is a timer: when it fires it is
 * done and its end is reported, so that two runs with the same times are the same run.
 */
#include "virtual.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <utlist.h>

#include "loop/calls.h"

/* Timers that are due, and deferred calls that defer again, go on within the turn for this long, then others get
 * theirs. */
#define TIMERS_BUDGET_NS (3 * 1000 * 1000)
#define TURN_BUDGET_NS (10 * 1000 * 1000)

struct loop {
	struct loop_virtual conf;
	int64_t now_ms, clock_ns;
	uint64_t number;
	struct loop_timer **heap; /* the first one is due first */
	size_t n, size;
	bool stop;   /* requested, not yet seen by loop_run() */
	bool frozen;
	bool due;    /* loop_turn_due() was called in this turn */
	loop_fn *turn_end;
	void *turn_arg;
	bool held;   /* loop_hold() */
	struct calls deferred, posted;
	pthread_mutex_t lock; /* of `posted` */
	struct loop_watch *watches;
};

struct loop_watch {
	struct loop *loop;
	int fd, events;
	loop_fd_fn *fn;
	void *arg;
	struct loop_watch *prev, *next;
};

struct loop_timer {
	int64_t at_ms;
	uint64_t number; /* equal times: first come, first served */
	size_t place;    /* SIZE_MAX: not in the heap */
	struct loop *loop;
	loop_fn *fn;
	void *arg;
};

struct deed {
	struct loop *loop;
	loop_fn *work, *done;
	void *arg;
};

/* ---- the heap --------------------------------------------------------------------------------- */

static bool before(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms :
					      a->number < b->number;
}

static void put(struct loop *l, size_t place, struct loop_timer *t)
{
	l->heap[place] = t;
	t->place = place;
}

static void up(struct loop *l, struct loop_timer *t)
{
	size_t at = t->place;

	for (; at > 0 && before(t, l->heap[(at - 1) / 2]); at = (at - 1) / 2)
		put(l, at, l->heap[(at - 1) / 2]);
	put(l, at, t);
}

static void down(struct loop *l, struct loop_timer *t)
{
	size_t at = t->place, child;

	for (; (child = at * 2 + 1) < l->n; at = child) {
		if (child + 1 < l->n && before(l->heap[child + 1], l->heap[child]))
			child++;
		if (!before(l->heap[child], t))
			break;
		put(l, at, l->heap[child]);
	}
	put(l, at, t);
}

static int heap_add(struct loop *l, struct loop_timer *t)
{
	if (l->n == l->size) {
		size_t size = l->size == 0 ? 64 : l->size * 2;
		struct loop_timer **heap = reallocarray(l->heap, size, sizeof(*heap));

		if (heap == NULL)
			return -ENOMEM;
		l->heap = heap;
		l->size = size;
	}
	put(l, l->n++, t);
	up(l, t);
	return 0;
}

static void heap_remove(struct loop *l, struct loop_timer *t)
{
	size_t place = t->place;
	struct loop_timer *last = l->heap[--l->n];

	t->place = SIZE_MAX;
	if (last == t)
		return;
	put(l, place, last);
	up(l, last);
	down(l, last);
}

/* ---- timers and work ---------------------------------------------------------------------------- */

struct loop_timer *loop_timer(struct loop *l, int64_t after_ms, loop_fn *fn, void *arg)
{
	struct loop_timer *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->loop = l;
	t->fn = fn;
	t->arg = arg;
	t->at_ms = after_ms > INT64_MAX - 1 - l->now_ms ? INT64_MAX - 1 :
							  l->now_ms + (after_ms > 0 ? after_ms : 0);
	t->number = l->number++;
	if (heap_add(l, t) < 0) {
		free(t);
		return NULL;
	}
	return t;
}

void loop_timer_cancel(struct loop_timer *t)
{
	if (t == NULL || t->place == SIZE_MAX)
		return; /* it fires now and is freed behind it */
	heap_remove(t->loop, t);
	free(t);
}

static void deed_do(void *arg)
{
	struct deed d = *(struct deed *)arg;

	free(arg);
	d.work(d.arg);
	if (d.done != NULL && !d.loop->frozen)
		d.done(d.arg);
}

int loop_work(struct loop *l, loop_fn *work, loop_fn *done, void *arg)
{
	struct deed *d = malloc(sizeof(*d));

	if (d == NULL)
		return -ENOMEM;
	*d = (struct deed){ l, work, done, arg };
	if (loop_timer(l, l->conf.work_ms != NULL ? l->conf.work_ms(l->conf.arg) : 0, deed_do, d) != NULL)
		return 0;
	free(d);
	return -ENOMEM;
}

int loop_defer(struct loop *l, loop_fn *fn, void *arg)
{
	return calls_add(&l->deferred, fn, arg);
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
	return ret;
}

void loop_turn_end(struct loop *l, loop_fn *fn, void *arg)
{
	l->turn_end = fn;
	l->turn_arg = arg;
}

void loop_turn_due(struct loop *l)
{
	l->due = true;
}

/* ---- time ----------------------------------------------------------------------------------------- */

int64_t loop_now_ms(const struct loop *l)
{
	return l->now_ms;
}

int64_t loop_time_us(const struct loop *l)
{
	return l->conf.epoch_us + l->now_ms * 1000;
}

int64_t loop_time(const struct loop *l)
{
	return loop_time_us(l) / 1000000;
}

int64_t loop_clock_ns(struct loop *l)
{
	struct timespec now;

	if (l->conf.look_ns == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	}
	l->clock_ns += l->conf.look_ns;
	if (l->clock_ns < l->now_ms * 1000000)
		l->clock_ns = l->now_ms * 1000000;
	return l->clock_ns;
}

/* ---- turns ---------------------------------------------------------------------------------------- */

int64_t loop_next_ms(const struct loop *l)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&l->lock;
	bool has_posts;

	if (l->frozen)
		return INT64_MAX;
	pthread_mutex_lock(lock);
	has_posts = l->posted.first != NULL;
	pthread_mutex_unlock(lock);
	if ((l->due && !l->held) || l->deferred.first != NULL || has_posts)
		return l->now_ms;
	return l->n > 0 ? l->heap[0]->at_ms : INT64_MAX;
}

static void timers_run(struct loop *l)
{
	uint64_t later = l->number; /* those made from now on wait for the next turn */
	int64_t until = 0;

	while (!l->frozen && l->n > 0 && l->heap[0]->at_ms <= l->now_ms && l->heap[0]->number < later) {
		struct loop_timer *t = l->heap[0];

		if (until == 0)
			until = loop_clock_ns(l) + TIMERS_BUDGET_NS;
		heap_remove(l, t);
		t->fn(t->arg);
		free(t);
		if (l->frozen || loop_clock_ns(l) > until)
			return;
	}
}

static void posted_run(struct loop *l)
{
	struct calls taken;
	struct call c;

	pthread_mutex_lock(&l->lock);
	taken = l->posted;
	l->posted = (struct calls){ 0 };
	pthread_mutex_unlock(&l->lock);
	while (!l->frozen && calls_take(&taken, &c))
		c.fn(c.arg);
	calls_forget(&taken, NULL, NULL);
}

static void deferred_run(struct loop *l)
{
	int64_t until = 0;
	struct call c;

	while (!l->frozen && calls_take(&l->deferred, &c)) {
		if (until == 0)
			until = loop_clock_ns(l) + TURN_BUDGET_NS;
		c.fn(c.arg);
		if (l->frozen || loop_clock_ns(l) > until)
			return;
	}
}

void loop_due(struct loop *l)
{
	posted_run(l);
	deferred_run(l);
}

void loop_turn(struct loop *l, int64_t now_ms)
{
	if (now_ms > l->now_ms)
		l->now_ms = now_ms;
	loop_due(l);
	timers_run(l);
	loop_due(l);
	loop_settle(l);
}

void loop_settle(struct loop *l)
{
	if (!l->due || l->frozen || l->held)
		return;
	l->due = false;
	if (l->turn_end != NULL)
		l->turn_end(l->turn_arg);
}

void loop_hold(struct loop *l, bool hold)
{
	l->held = hold;
}

void loop_epoch(struct loop *l, int64_t epoch_us)
{
	l->conf.epoch_us = epoch_us;
}

/* Nothing to do until the deadline: time jumps there. */
int loop_run_until(struct loop *l, bool (*done)(void *arg), void *arg, int64_t deadline_ms)
{
	int64_t until_ms = l->now_ms + deadline_ms;

	while (!done(arg)) {
		int64_t next = loop_next_ms(l);

		if (next == INT64_MAX || next > until_ms) {
			l->now_ms = until_ms;
			return -ETIMEDOUT;
		}
		loop_turn(l, next);
	}
	return 0;
}

int loop_run(struct loop *l)
{
	while (!l->stop) {
		if (loop_next_ms(l) == INT64_MAX)
			return -EDEADLK;
		loop_turn(l, loop_next_ms(l));
	}
	l->stop = false;
	return 0;
}

void loop_stop(struct loop *l)
{
	l->stop = true;
}

void loop_freeze(struct loop *l)
{
	l->frozen = true;
}

/* ---- life ------------------------------------------------------------------------------------------- */

int loop_create_virtual(const struct loop_virtual *conf, struct loop **ret_loop)
{
	struct loop *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return -ENOMEM;
	l->conf = *conf;
	l->now_ms = conf->now_ms;
	pthread_mutex_init(&l->lock, NULL);
	*ret_loop = l;
	return 0;
}

void loop_destroy(struct loop *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->n; i++) {
		if (l->heap[i]->fn == deed_do)
			free(l->heap[i]->arg);
		free(l->heap[i]);
	}
	free(l->heap);
	calls_forget(&l->deferred, NULL, NULL);
	calls_forget(&l->posted, NULL, NULL);
	while (l->watches != NULL)
		loop_watch_cancel(l->watches);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* ---- descriptors -------------------------------------------------------------------------------------- */

int loop_watch(struct loop *l, int fd, int events, loop_fd_fn *fn, void *arg, struct loop_watch **ret_watch)
{
	struct loop_watch *w;
	struct stat st;

	if (!l->conf.fds)
		return -ENOTSUP;
	if (fstat(fd, &st) < 0 || S_ISREG(st.st_mode))
		return -EPERM;
	w = malloc(sizeof(*w));
	if (w == NULL)
		return -ENOMEM;
	*w = (struct loop_watch){ .loop = l, .fd = fd, .events = events, .fn = fn, .arg = arg };
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	DL_APPEND(l->watches, w);
	*ret_watch = w;
	return 0;
}

int loop_watch_set(struct loop_watch *w, int events)
{
	w->events = events;
	return 0;
}

void loop_watch_cancel(struct loop_watch *w)
{
	if (w == NULL)
		return;
	DL_DELETE(w->loop->watches, w);
	free(w);
}

static short poll_events(int events)
{
	return (short)((events & LOOP_READABLE ? POLLIN : 0) | (events & LOOP_WRITABLE ? POLLOUT : 0));
}

/* The watch may have been cancelled by a callback before. */
static bool watch_call(struct loop *l, const struct pollfd *p)
{
	int came = (p->revents & POLLIN ? LOOP_READABLE : 0) | (p->revents & POLLOUT ? LOOP_WRITABLE : 0);
	struct loop_watch *w;

	DL_FOREACH(l->watches, w) {
		if (w->fd != p->fd || poll_events(w->events) == 0)
			continue;
		w->fn(w->arg, (p->revents & (POLLERR | POLLHUP)) != 0 ? w->events : w->events & came);
		return true;
	}
	return false;
}

bool loop_poll(struct loop *l, int real_ms)
{
	struct loop_watch *w;
	struct pollfd *fds;
	nfds_t n = 0;
	bool any = false;

	if (l->watches == NULL && real_ms == 0)
		return false;
	DL_FOREACH(l->watches, w)
		n++;
	fds = calloc(n + 1, sizeof(*fds));
	if (fds == NULL)
		return false;
	n = 0;
	DL_FOREACH(l->watches, w) {
		if (w->events != 0)
			fds[n++] = (struct pollfd){ .fd = w->fd, .events = poll_events(w->events) };
	}
	if (poll(fds, n, real_ms) > 0)
		for (nfds_t i = 0; i < n; i++)
			any |= fds[i].revents != 0 && watch_call(l, &fds[i]);
	free(fds);
	return any;
}

/* ---- what there is none of ---------------------------------------------------------------------------- */

#define NONE(type, function, value, ...)      \
	type function(__VA_ARGS__)            \
	{                                     \
		return value;                 \
	}
NONE(int, loop_create, -ENOTSUP, struct loop **)
NONE(int, loop_signal, -ENOTSUP, struct loop *, int, void (*)(void *, int), void *)
NONE(int, loop_tick, -ENOTSUP, struct loop *, int64_t, struct keel_account *, loop_tick_fn *, void *)
NONE(void, loop_tick_end, , struct loop *)
NONE(void, loop_busy, , const struct loop *)
NONE(int64_t, loop_delay_ns, 0, struct loop *)
NONE(void, loop_work_end, , struct loop *) /* a work that has not begun has no effect: loop_destroy() drops it */
