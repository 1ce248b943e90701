/* SPDX-License-Identifier: Apache-2.0
 *
 * core_api.c - the API group "core", over loop and log.
 *
 * Every callback that is registered is counted in its owner's `live`, so that the module is not unloaded before it has
 * ended. Posts come from other threads and are counted in `posts`, which is atomic. Worker threads are shared with
 * the store: a module gets OWNER_WORKERS of them at most, and its further work is queued.
 */
#include "main/core_api.h"

#include <errno.h>
#include <stdlib.h>

#include "log/log.h"
#include "loop/loop.h"
#include "store/store.h"
#include "main/daemon.h"
#include "util/crumb.h"
#include "util/err.h"
#include "util/owner.h"
#include "util/version.h"

struct timer {
	struct owner *owner; /* NULL: over */
	struct loop_timer *timer;
	keel_fn *fn;
	void *arg;
	struct timer *next; /* over: another one that is */
	uint32_t place, uses;
};

struct keel_watch {
	struct owner *owner;
	struct loop_watch *watch;
	keel_fn *fn;
	void *arg;
};

/* A callback that is due later: deferred, posted, or after work on a worker thread. */
struct later {
	struct owner *owner;
	keel_fn *fn;
	void (*work)(void *arg);
	void *arg;
	struct later *next; /* work that waits for a thread */
};

static void core_log(struct keel_mod *m, uint32_t event, const char *klass, const char *object,
		     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_addv(owner_of(m)->parts->log, event, klass, object, fmt, ap);
	va_end(ap);
}

static int32_t core_error(struct keel_err *err, int32_t code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_setv(err, code, fmt, ap);
	va_end(ap);
	return code;
}

static const char *core_pbse_text(int32_t code)
{
	return pbse_text(code);
}

static int64_t core_now_ms(struct keel_mod *m)
{
	return loop_now_ms(owner_of(m)->parts->loop);
}

static int64_t core_time(struct keel_mod *m)
{
	return loop_time(owner_of(m)->parts->loop);
}

static int64_t core_clock_us(struct keel_mod *m)
{
	return loop_clock_ns(owner_of(m)->parts->loop) / 1000;
}

static uint32_t core_daemon(struct keel_mod *m)
{
	return owner_of(m)->parts->daemon;
}

static const char *core_home(struct keel_mod *m)
{
	return owner_of(m)->parts->home;
}

static const char *core_exec_dir(struct keel_mod *m)
{
	return owner_of(m)->parts->exec_dir;
}

static const char *core_server_name(struct keel_mod *m)
{
	return owner_of(m)->parts->server_name;
}

static const char *core_host_name(struct keel_mod *m)
{
	return owner_of(m)->parts->host_name;
}

static const char *core_version_text(struct keel_mod *m)
{
	(void)m;
	return KEELSON_VERSION_TEXT;
}

/* ---- timers and fds -------------------------------------------------------------------------- */

/* A handle is a number: the place of the timer and how often that was used. So one that is over is known for ever, and
 * cancelling it is harmless. */
static struct {
	struct timer **at;
	uint32_t n;
	struct timer *unused;
} timers;

static struct keel_timer *timer_handle(const struct timer *t)
{
	return (struct keel_timer *)(uintptr_t)((uint64_t)t->uses << 32 | (t->place + 1));
}

/* Returns NULL if it is over. */
static struct timer *timer_of(const struct keel_timer *handle)
{
	uint64_t number = (uintptr_t)handle;
	uint32_t place = (uint32_t)number;
	struct timer *t = place > 0 && place <= timers.n ? timers.at[place - 1] : NULL;

	return t != NULL && t->owner != NULL && t->uses == number >> 32 ? t : NULL;
}

static struct timer *timer_take(void)
{
	struct timer **more, *t = timers.unused;

	if (t != NULL) {
		timers.unused = t->next;
		return t;
	}
	t = calloc(1, sizeof(*t));
	more = t != NULL && (timers.n & (timers.n - 1)) == 0 ?
		       reallocarray(timers.at, timers.n > 0 ? 2 * (size_t)timers.n : 1, sizeof(struct timer *)) :
		       timers.at;
	if (t == NULL || more == NULL) {
		free(t);
		return NULL;
	}
	timers.at = more;
	t->place = timers.n;
	timers.at[timers.n++] = t;
	return t;
}

static void timer_over(struct timer *t)
{
	t->owner = NULL;
	t->uses++;
	t->next = timers.unused;
	timers.unused = t;
}

static void call_guarded(struct owner *owner, const char *what, keel_fn *fn, void *arg)
{
	struct crumb c;

	crumb_begin(&c, owner, what, NULL);
	fn(&owner->pub, arg);
	crumb_end(&c);
}

static void timer_fired(void *arg)
{
	struct timer *t = arg;
	struct owner *owner = t->owner;
	keel_fn *fn = t->fn;
	void *of = t->arg;

	owner->live--;
	timer_over(t);
	call_guarded(owner, "timer", fn, of);
}

static struct keel_timer *core_timer(struct keel_mod *m, int64_t after_ms, keel_fn *fn, void *arg)
{
	struct timer *t = timer_take();

	if (t == NULL)
		return NULL;
	t->owner = owner_of(m);
	t->fn = fn;
	t->arg = arg;
	t->timer = loop_timer(t->owner->parts->loop, after_ms, timer_fired, t);
	if (t->timer == NULL) {
		timer_over(t);
		return NULL;
	}
	t->owner->live++;
	return timer_handle(t);
}

static void core_timer_cancel(struct keel_timer *handle)
{
	struct timer *t = timer_of(handle);

	if (t == NULL)
		return;
	loop_timer_cancel(t->timer);
	t->owner->live--;
	timer_over(t);
}

static void fd_ready(void *arg, int events)
{
	struct keel_watch *w = arg;

	(void)events;
	call_guarded(w->owner, "watch", w->fn, w->arg);
}

static struct keel_watch *core_watch_fd(struct keel_mod *m, int fd, keel_fn *fn, void *arg)
{
	struct keel_watch *w = malloc(sizeof(*w));

	if (w == NULL)
		return NULL;
	*w = (struct keel_watch){ .owner = owner_of(m), .fn = fn, .arg = arg };
	if (loop_watch(w->owner->parts->loop, fd, LOOP_READABLE, fd_ready, w, &w->watch) < 0) {
		free(w);
		return NULL;
	}
	w->owner->live++;
	return w;
}

static void core_watch_cancel(struct keel_watch *w)
{
	if (w == NULL)
		return;
	loop_watch_cancel(w->watch);
	w->owner->live--;
	free(w);
}

static int32_t core_watch_for(struct keel_watch *w, uint32_t ready)
{
	if ((ready & ~(uint32_t)(KEEL_READABLE | KEEL_WRITABLE)) != 0)
		return -EINVAL;
	return loop_watch_set(w->watch, (ready & KEEL_READABLE ? LOOP_READABLE : 0) |
						(ready & KEEL_WRITABLE ? LOOP_WRITABLE : 0));
}

/* ---- calls that come later -------------------------------------------------------------------- */

static struct later *later_create(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct later *l = malloc(sizeof(*l));

	if (l != NULL)
		*l = (struct later){ .owner = owner_of(m), .fn = fn, .arg = arg };
	return l;
}

static void later_call(void *arg)
{
	struct later l = *(struct later *)arg;

	free(arg);
	l.owner->live--;
	if (l.fn != NULL)
		call_guarded(l.owner, l.work != NULL ? "done() of work" : "deferred call", l.fn, l.arg);
}

static void posted_call(void *arg)
{
	struct later l = *(struct later *)arg;

	free(arg);
	call_guarded(l.owner, "posted call", l.fn, l.arg);
	__atomic_sub_fetch(&l.owner->posts, 1, __ATOMIC_RELEASE);
}

/* Counts a callback whose registration returned 0; frees it on an error. Returns `ret`. */
static int32_t later_begun(struct keel_mod *m, struct later *l, int ret)
{
	if (ret < 0)
		free(l);
	else
		owner_of(m)->live++;
	return ret;
}

static int32_t core_defer(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct later *l = later_create(m, fn, arg);

	return l != NULL ? later_begun(m, l, loop_defer(owner_of(m)->parts->loop, later_call, l)) : -ENOMEM;
}

static int32_t core_when_durable(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct later *l = later_create(m, fn, arg);

	return l != NULL ? later_begun(m, l, store_after(owner_of(m)->parts->store, later_call, l)) : -ENOMEM;
}

static int32_t core_post(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct later *l = later_create(m, fn, arg);
	int ret;

	if (l == NULL)
		return -ENOMEM;
	__atomic_add_fetch(&owner_of(m)->posts, 1, __ATOMIC_ACQUIRE);
	ret = loop_post(l->owner->parts->loop, posted_call, l);
	if (ret < 0) {
		__atomic_sub_fetch(&owner_of(m)->posts, 1, __ATOMIC_RELEASE);
		free(l);
	}
	return ret;
}

static void work_do(void *arg)
{
	struct later *l = arg;
	struct crumb c;

	crumb_begin(&c, l->owner, "worker", NULL);
	l->work(l->arg);
	crumb_end(&c);
}

static int work_start(struct later *l);

static void work_over(void *arg)
{
	struct owner *o = ((struct later *)arg)->owner;
	struct later *next = o->work;

	o->working--;
	if (next != NULL) {
		o->work = next->next;
		if (work_start(next) < 0) {
			work_do(next); /* no memory for a worker call: on the loop's thread then */
			later_call(next);
		}
	}
	later_call(arg);
}

static int work_start(struct later *l)
{
	int ret = loop_work(l->owner->parts->loop, work_do, work_over, l);

	l->owner->working += ret == 0;
	return ret;
}

static int work_or_wait(struct owner *o, struct later *l)
{
	if (o->working < OWNER_WORKERS)
		return work_start(l);
	if (o->work == NULL)
		o->work = l;
	else
		o->work_last->next = l;
	o->work_last = l;
	return 0;
}

static int32_t core_work(struct keel_mod *m, void (*work)(void *arg), keel_fn *done, void *arg)
{
	struct later *l = later_create(m, done, arg);

	if (l == NULL)
		return -ENOMEM;
	l->work = work;
	return later_begun(m, l, work_or_wait(owner_of(m), l));
}

static void core_stop(struct keel_mod *m)
{
	daemon_stop(owner_of(m)->parts);
}

static void core_log_events(struct keel_mod *m, uint32_t mask)
{
	log_override_mask(owner_of(m)->parts->log, mask);
}

const struct keel_core_api *core_api(void)
{
	static const struct keel_core_api api = {
		.size = sizeof(api),
		.version = 0,
		.log = core_log,
		.error = core_error,
		.pbse_text = core_pbse_text,
		.now_ms = core_now_ms,
		.time = core_time,
		.daemon = core_daemon,
		.home = core_home,
		.exec_dir = core_exec_dir,
		.server_name = core_server_name,
		.host_name = core_host_name,
		.version_text = core_version_text,
		.timer = core_timer,
		.timer_cancel = core_timer_cancel,
		.defer = core_defer,
		.post = core_post,
		.work = core_work,
		.watch_fd = core_watch_fd,
		.watch_cancel = core_watch_cancel,
		.stop = core_stop,
		.log_events = core_log_events,
		.clock_us = core_clock_us,
		.when_durable = core_when_durable,
		.watch_for = core_watch_for,
	};

	return &api;
}
