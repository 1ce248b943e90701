/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.c - the group core: this process' own loop, timers, watches and worker threads; what only the daemon can do is sent
 * to it, or refused.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "host.h"

#define WORKERS 4
#define ROUNDS 64 /* of messages, before timers and what else waits have their turn */

struct later {
	struct later *prev, *next;
	void (*work)(void *arg); /* of work(): what runs elsewhere */
	keel_fn *fn;
	void *arg;
};
struct keel_timer {
	struct keel_timer *prev, *next;
	int64_t at_ms;
	keel_fn *fn;
	void *arg;
};
struct keel_watch {
	struct keel_watch *prev, *next;
	int fd;
	uint32_t ready;
	bool gone;
	keel_fn *fn;
	void *arg;
};

static struct keel_timer *timers; /* soonest first */
static struct keel_watch *watches;
/* Of all threads: */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static struct later *posted, *to_work;
static uint32_t n_workers, n_idle;
static int wake[2] = { -1, -1 };

static void call(keel_fn *fn, void *arg)
{
	handles_end();
	fn(&host.mod, arg);
	handles_end();
}

static struct later *later_new(void (*work)(void *arg), keel_fn *fn, void *arg)
{
	struct later *l = malloc(sizeof(*l));

	if (l)
		*l = (struct later){ .work = work, .fn = fn, .arg = arg };
	return l;
}

static int64_t clock_us(struct keel_mod *m)
{
	struct timespec t;

	(void)m;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t now_ms(struct keel_mod *m)
{
	return clock_us(m) / 1000;
}

static int64_t time_of_day(struct keel_mod *m)
{
	(void)m;
	return time(NULL);
}

/* ---- timers, deferred calls ---------------------------------------------------------------------------- */
static struct keel_timer *timer(struct keel_mod *m, int64_t after_ms, keel_fn *fn, void *arg)
{
	struct keel_timer *t = malloc(sizeof(*t)), *at;

	if (!t)
		return NULL;
	*t = (struct keel_timer){ .at_ms = now_ms(m) + (after_ms > 0 ? after_ms : 0), .fn = fn, .arg = arg };
	DL_FOREACH(timers, at) {
		if (at->at_ms > t->at_ms)
			break;
	}
	if (at)
		DL_PREPEND_ELEM(timers, at, t);
	else
		DL_APPEND(timers, t);
	return t;
}

/* One that is gone is not in the list. */
static void timer_cancel(struct keel_timer *t)
{
	struct keel_timer *at;

	DL_FOREACH(timers, at) {
		if (at == t)
			break;
	}
	if (!at)
		return;
	DL_DELETE(timers, at);
	free(at);
}

static void timers_run(void)
{
	int64_t now = now_ms(&host.mod);

	while (timers && timers->at_ms <= now && !host.over) {
		struct keel_timer was = *timers;

		timer_cancel(timers);
		call(was.fn, was.arg);
	}
}

static int32_t defer(struct keel_mod *m, keel_fn *fn, void *arg)
{
	return timer(m, 0, fn, arg) ? 0 : -ENOMEM;
}

static void *worker(void *arg)
{
	struct later *l;

	for (;;) {
		pthread_mutex_lock(&lock);
		n_idle++;
		while (!to_work)
			pthread_cond_wait(&wanted, &lock);
		n_idle--;
		l = to_work;
		DL_DELETE(to_work, l);
		pthread_mutex_unlock(&lock);
		l->work(l->arg);
		pthread_mutex_lock(&lock);
		DL_APPEND(posted, l);
		pthread_mutex_unlock(&lock);
		if (write(wake[1], "", 1) < 0)
			continue; /* it is full: the loop wakes all the same */
	}
	return arg;
}

static int32_t work(struct keel_mod *m, void (*fn)(void *arg), keel_fn *done, void *arg)
{
	struct later *l = later_new(fn, done, arg);
	pthread_t thread;

	(void)m;
	if (!l)
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	if (n_idle == 0 && n_workers < WORKERS && pthread_create(&thread, NULL, worker, NULL) == 0) {
		n_workers++;
		pthread_detach(thread);
	}
	if (n_workers > 0)
		DL_APPEND(to_work, l);
	pthread_mutex_unlock(&lock);
	pthread_cond_signal(&wanted);
	if (n_workers > 0)
		return 0;
	free(l);
	return -ENOMEM;
}

static void posted_run(void)
{
	struct later *all, *l;
	char bytes[64];

	while (read(wake[0], bytes, sizeof(bytes)) > 0)
		;
	pthread_mutex_lock(&lock);
	all = posted;
	posted = NULL;
	pthread_mutex_unlock(&lock);
	while ((l = all) != NULL) {
		DL_DELETE(all, l);
		call(l->fn, l->arg);
		free(l);
	}
}

/* ---- watches -------------------------------------------------------------------------------------------- */
static struct keel_watch *watch_fd(struct keel_mod *m, int fd, keel_fn *fn, void *arg)
{
	struct keel_watch *w;

	(void)m;
	DL_FOREACH(watches, w) {
		if (w->fd == fd && !w->gone)
			return NULL;
	}
	w = fcntl(fd, F_GETFD) >= 0 ? malloc(sizeof(*w)) : NULL;
	if (!w)
		return NULL;
	*w = (struct keel_watch){ .fd = fd, .ready = KEEL_READABLE, .fn = fn, .arg = arg };
	DL_APPEND(watches, w);
	return w;
}

static void watch_cancel(struct keel_watch *w)
{
	if (w)
		w->gone = true; /* it may be looked at */
}

static int32_t watch_for(struct keel_watch *w, uint32_t ready)
{
	if (ready & ~(uint32_t)(KEEL_READABLE | KEEL_WRITABLE))
		return -EINVAL;
	w->ready = ready;
	return 0;
}

static void daemon_said(void)
{
	int rounds = 0;

	do {
		heard_all();
		line_flush();
	} while (!host.over && ++rounds < ROUNDS && line_soon());
}

/* What is waited for: the daemon, other threads, then the watches, in order. */
static struct pollfd *fds_of(nfds_t *ret_n)
{
	struct keel_watch *w;
	struct pollfd *fds;
	nfds_t n = 0;

	DL_COUNT(watches, w, n);
	fds = own(calloc(n + 2, sizeof(*fds)));
	fds[0] = (struct pollfd){ .fd = host.fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = wake[0], .events = POLLIN };
	n = 2;
	DL_FOREACH(watches, w)
		fds[n++] = (struct pollfd){ .fd = w->ready && !w->gone ? w->fd : -1,
					    .events = (short)((w->ready & KEEL_READABLE ? POLLIN : 0) |
							      (w->ready & KEEL_WRITABLE ? POLLOUT : 0)) };
	*ret_n = n;
	return fds;
}

/* Those that come meanwhile are behind those that were waited for. */
static void watches_run(const struct pollfd *fds, nfds_t n)
{
	struct keel_watch *w = watches, *next;

	for (nfds_t i = 2; i < n && !host.over; i++, w = w->next)
		if (fds[i].revents && !w->gone)
			call(w->fn, w->arg);
	DL_FOREACH_SAFE(watches, w, next) {
		if (!w->gone)
			continue;
		DL_DELETE(watches, w);
		free(w);
	}
}

static void turn(void)
{
	int64_t left = timers ? timers->at_ms - now_ms(&host.mod) : -1;
	nfds_t n;
	struct pollfd *fds = fds_of(&n);

	if (host.queue || (timers && left < 0))
		left = 0;
	line_flush();
	if (poll(fds, n, left > 60000 ? 60000 : (int)left) < 0 && errno != EINTR)
		abort();
	if (fds[0].revents || host.queue)
		daemon_said();
	if (fds[1].revents)
		posted_run();
	watches_run(fds, n);
	timers_run();
	free(fds);
}

void loop_run(void)
{
	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
		abort();
	while (!host.over)
		turn();
}

/* ---- the daemon ------------------------------------------------------------------------------------------ */
static void core_log(struct keel_mod *m, uint32_t event, const char *klass, const char *object, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	(void)m;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	told(UP_log, (int64_t)event, klass, object, text);
	free(text);
}

static const char *core_pbse_text(int32_t code)
{
	static const struct {
		int32_t code;
		const char *text;
	} rows[] = {
#define PBSE(number, name, words) { number, words },
#include "keel/pbse.def"
#undef PBSE
	};

	for (uint32_t i = 0; i < KEEL_COUNT(rows); i++)
		if (rows[i].code == code)
			return rows[i].text ? rows[i].text : "";
	return "";
}

REFUSED(stop, void, , struct keel_mod *)
REFUSED(log_events, void, , struct keel_mod *, uint32_t)

static uint32_t core_daemon(struct keel_mod *m)
{
	(void)m;
	return host.daemon;
}

static const char *core_fact(struct keel_mod *m, uint32_t which)
{
	const char *const facts[] = {
		[KEEL_FACT_HOME] = host.home,		    [KEEL_FACT_EXEC_DIR] = host.exec_dir,
		[KEEL_FACT_SERVER_NAME] = host.server_name, [KEEL_FACT_HOST_NAME] = host.host_name,
		[KEEL_FACT_VERSION] = host.version,
	};

	(void)m;
	return which < KEEL_COUNT(facts) ? facts[which] : NULL;
}

REFUSED(when_durable, int32_t, -ENOTSUP, struct keel_mod *, keel_fn *, void *)

const struct keel_core_api host_core = {
	.size = sizeof(host_core), .log = core_log, .error = fail_with, .pbse_text = core_pbse_text, .now_ms = now_ms,
	.time = time_of_day, .daemon = core_daemon, .fact = core_fact, .timer = timer,
	.timer_cancel = timer_cancel, .defer = defer, .work = work, .watch_fd = watch_fd,
	.watch_cancel = watch_cancel, .stop = stop, .log_events = log_events, .clock_us = clock_us,
	.when_durable = when_durable, .watch_for = watch_for,
};
