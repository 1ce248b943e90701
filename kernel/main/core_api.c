/* SPDX-License-Identifier: Apache-2.0
 *
 * core_api.c - the API group "core", over loop and log.
 *
 * Every callback that is registered is counted in its owner's `live` until it has ended, so that what a module leaves behind
 * is found. Worker threads are shared with the store: a module gets OWNER_WORKERS of them at most, and its further work is
 * queued.
 */
#include <errno.h>
#include <stdlib.h>

#include "keel/module.h"
#include "log/log.h"
#include "loop/loop.h"
#include "main/daemon.h"
#include "store/store.h"
#include "util/crumb.h"
#include "util/err.h"
#include "util/version.h"

/* What is called later: by a timer, a watch, at the end of the turn, when all is stored, or after work on a worker thread. */
struct callback {
	struct owner *owner; /* NULL: it has ended */
	const char *what;    /* for reports */
	keel_fn *fn;	     /* NULL: of work only */
	void (*work)(void *arg);
	void *arg;
	struct loop_timer *timer;
	struct loop_watch *watch;
	struct callback *next; /* another one that has ended; work that waits for a thread */
	uint32_t place, uses;
};

static void core_log(struct keel_mod *m, uint32_t event, const char *klass, const char *object,
		     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_addv(owner_of(m)->parts->log, event, klass, object, fmt, ap);
	va_end(ap);
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

static const char *core_fact(struct keel_mod *m, uint32_t which)
{
	const struct parts *p = owner_of(m)->parts;
	const char *const facts[] = {
		[KEEL_FACT_HOME] = p->home,
		[KEEL_FACT_EXEC_DIR] = p->exec_dir,
		[KEEL_FACT_SERVER_NAME] = p->server_name,
		[KEEL_FACT_HOST_NAME] = p->host_name,
		[KEEL_FACT_VERSION] = KEELSON_VERSION_TEXT,
		[KEEL_FACT_CLIENT_SOCKET] = p->client_socket,
		[KEEL_FACT_LOG_DIR] = log_dir(p->log),
	};

	return which < KEEL_COUNT(facts) ? facts[which] : NULL;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

/* The handle of one is a number: its place and how often that was used. So one that has ended is known for ever, and
 * cancelling it is harmless. */
static struct {
	struct callback **at;
	uint32_t n;
	struct callback *unused;
} callbacks;

static void *handle_of(const struct callback *c)
{
	return (void *)(uintptr_t)((uint64_t)c->uses << 32 | (c->place + 1));
}

/* Returns NULL if it has ended. */
static struct callback *callback_of(const void *handle)
{
	uint64_t number = (uintptr_t)handle;
	uint32_t place = (uint32_t)number;
	struct callback *c = place > 0 && place <= callbacks.n ? callbacks.at[place - 1] : NULL;

	return c != NULL && c->owner != NULL && c->uses == number >> 32 ? c : NULL;
}

static struct callback *callback_create(void)
{
	struct callback **more = callbacks.at, *c = calloc(1, sizeof(*c));

	if (c != NULL && (callbacks.n & (callbacks.n - 1)) == 0)
		more = reallocarray(more, callbacks.n > 0 ? 2 * (size_t)callbacks.n : 1, sizeof(struct callback *));
	if (c == NULL || more == NULL) {
		free(c);
		return NULL;
	}
	callbacks.at = more;
	c->place = callbacks.n;
	return callbacks.at[callbacks.n++] = c;
}

static struct callback *callback_begin(struct keel_mod *m, const char *what, keel_fn *fn, void *arg)
{
	struct callback *c = callbacks.unused;

	if (c != NULL)
		callbacks.unused = c->next;
	else if ((c = callback_create()) == NULL)
		return NULL;
	c->owner = owner_of(m);
	c->what = what;
	c->fn = fn;
	c->arg = arg;
	c->owner->live++;
	return c;
}

static void callback_end(struct callback *c)
{
	c->owner->live--;
	c->owner = NULL;
	c->uses++;
	c->next = callbacks.unused;
	callbacks.unused = c;
}

/* For the loop: calls it once. */
static void callback_last(void *arg)
{
	const struct callback was = *(struct callback *)arg;

	callback_end(arg);
	if (was.fn != NULL)
		CRUMB_CALL(was.owner, was.what, NULL, was.fn(&was.owner->pub, was.arg));
}

/* ---- timers and fds -------------------------------------------------------------------------- */

static struct keel_timer *core_timer(struct keel_mod *m, int64_t after_ms, keel_fn *fn, void *arg)
{
	struct callback *c = callback_begin(m, "timer", fn, arg);

	if (c == NULL)
		return NULL;
	c->timer = loop_timer(c->owner->parts->loop, after_ms, callback_last, c);
	if (c->timer != NULL)
		return handle_of(c);
	callback_end(c);
	return NULL;
}

static void core_timer_cancel(struct keel_timer *handle)
{
	struct callback *c = callback_of(handle);

	if (c == NULL)
		return;
	loop_timer_cancel(c->timer);
	callback_end(c);
}

static void fd_ready(void *arg, int events)
{
	const struct callback *c = arg;

	(void)events;
	CRUMB_CALL(c->owner, c->what, NULL, c->fn(&c->owner->pub, c->arg));
}

static struct keel_watch *core_watch_fd(struct keel_mod *m, int fd, keel_fn *fn, void *arg)
{
	struct callback *c = callback_begin(m, "watch", fn, arg);

	if (c == NULL)
		return NULL;
	if (loop_watch(c->owner->parts->loop, fd, LOOP_READABLE, fd_ready, c, &c->watch) == 0)
		return handle_of(c);
	callback_end(c);
	return NULL;
}

static void core_watch_cancel(struct keel_watch *handle)
{
	struct callback *c = callback_of(handle);

	if (c == NULL)
		return;
	loop_watch_cancel(c->watch);
	callback_end(c);
}

static int32_t core_watch_for(struct keel_watch *handle, uint32_t ready)
{
	struct callback *c = callback_of(handle);

	if (c == NULL || (ready & ~(uint32_t)(KEEL_READABLE | KEEL_WRITABLE)) != 0)
		return -EINVAL;
	return loop_watch_set(c->watch, (ready & KEEL_READABLE ? LOOP_READABLE : 0) |
						(ready & KEEL_WRITABLE ? LOOP_WRITABLE : 0));
}

/* ---- calls that come later -------------------------------------------------------------------- */

/* Returns `ret`, with which the callback was registered; it ends on an error. */
static int32_t registered(struct callback *c, int ret)
{
	if (ret < 0)
		callback_end(c);
	return ret;
}

static const char deferred[] = "deferred call";

static int32_t core_defer(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct callback *c = callback_begin(m, deferred, fn, arg);

	return c != NULL ? registered(c, loop_defer(c->owner->parts->loop, callback_last, c)) : -ENOMEM;
}

void core_drop(struct loop *l)
{
	for (uint32_t i = 0; i < callbacks.n; i++) {
		struct callback *c = callbacks.at[i];

		if (c->owner == NULL || c->what != deferred || c->owner->parts->loop != l)
			continue;
		loop_defer_cancel(l, callback_last, c);
		callback_end(c);
	}
}

static int32_t core_when_durable(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct callback *c = callback_begin(m, "deferred call", fn, arg);

	return c != NULL ? registered(c, store_after(c->owner->parts->store, callback_last, c)) : -ENOMEM;
}

static void work_do(void *arg)
{
	const struct callback *c = arg;

	CRUMB_CALL(c->owner, "worker", NULL, c->work(c->arg));
}

static int work_start(struct callback *c);

static void work_over(void *arg)
{
	struct owner *o = ((struct callback *)arg)->owner;
	struct callback *next = o->work;

	o->working--;
	if (next != NULL) {
		o->work = next->next;
		if (work_start(next) < 0) {
			work_do(next); /* no memory for a worker call: on the loop's thread then */
			callback_last(next);
		}
	}
	callback_last(arg);
}

static int work_start(struct callback *c)
{
	int ret = loop_work(c->owner->parts->loop, work_do, work_over, c);

	c->owner->working += ret == 0;
	return ret;
}

static int32_t core_work(struct keel_mod *m, void (*work)(void *arg), keel_fn *done, void *arg)
{
	struct callback *c = callback_begin(m, "done() of work", done, arg);
	struct owner *o = owner_of(m);

	if (c == NULL)
		return -ENOMEM;
	c->work = work;
	c->next = NULL;
	if (o->working < OWNER_WORKERS)
		return registered(c, work_start(c));
	if (o->work == NULL)
		o->work = c;
	else
		o->work_last->next = c;
	o->work_last = c;
	return 0;
}

static void core_stop(struct keel_mod *m)
{
	daemon_stop(owner_of(m)->parts);
}

static void core_log_events(struct keel_mod *m, uint32_t mask)
{
	log_set_mask(owner_of(m)->parts->log, mask, true);
}

const struct keel_core_api core_api = {
	.size = sizeof(core_api),
	.version = 0,
	.log = core_log,
	.error = err_set,
	.pbse_text = pbse_text,
	.now_ms = core_now_ms,
	.time = core_time,
	.daemon = core_daemon,
	.fact = core_fact,
	.timer = core_timer,
	.timer_cancel = core_timer_cancel,
	.defer = core_defer,
	.work = core_work,
	.watch_fd = core_watch_fd,
	.watch_cancel = core_watch_cancel,
	.stop = core_stop,
	.log_events = core_log_events,
	.clock_us = core_clock_us,
	.when_durable = core_when_durable,
	.watch_for = core_watch_for,
};
