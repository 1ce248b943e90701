/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c - the clock the test owns, and what is due by it: timers, deferred and posted calls, work,
 * holds that ended. Things of one moment are done in the order in which they were asked for.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "inside.h"

#define ENDLESS 1000000 /* things at one moment */

struct keel_timer {
	struct head head;
	struct item *item;
};
struct keel_watch {
	struct head head;
	struct keel_watch *prev, *next;
	struct mod *mod;
	int fd;
	uint32_t ready; /* what it waits for */
	keel_fn *fn;
	void *arg;
};

/* ---- items ----------------------------------------------------------------------------------------- */
static bool is_before(const struct item *a, const struct item *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

struct item *item_add(struct keel_mock *mock, struct mod *m, int64_t after_ms)
{
	struct item *i = make(sizeof(*i)), *at;

	i->at = mock->now + (after_ms > 0 ? after_ms : 0);
	i->number = mock->numbers++;
	i->mod = m;
	if (m != NULL)
		m->live++;
	DL_FOREACH(mock->items, at)
		if (is_before(i, at))
			break;
	if (at != NULL)
		DL_PREPEND_ELEM(mock->items, at, i);
	else
		DL_APPEND(mock->items, i);
	return i;
}

struct item *host_item(struct keel_mock *mock, int64_t after_ms, void (*fn)(void *arg), void *arg)
{
	struct item *i = item_add(mock, NULL, after_ms);

	i->host = fn;
	i->arg = arg;
	return i;
}

void item_drop(struct keel_mock *mock, struct item *i)
{
	DL_DELETE(mock->items, i);
	if (i->timer != NULL)
		head_end(&i->timer->head);
	if (i->mod != NULL)
		i->mod->live--;
	free(i);
}

static void *on_worker(void *arg)
{
	struct item *i = arg;

	i->work(i->arg);
	return NULL;
}

/* On another thread, so that a use of the host is seen; but now, so that a test is the same each time. */
static void do_work(struct item *i)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, on_worker, i) != 0 || pthread_join(thread, NULL) != 0)
		die("a worker thread cannot be started");
}

static void item_do(struct keel_mock *mock, struct item *i)
{
	struct item due;

	if (i->work != NULL)
		do_work(i);
	due = *i;
	if (i->at > mock->now)
		mock->now = i->at;
	item_drop(mock, i);
	if (due.host != NULL)
		due.host(due.arg);
	else if (due.fn != NULL)
		IN(due.mod, due.fn(&due.mod->pub, due.arg));
}

/* What other threads posted becomes due. */
static void posts_take(struct keel_mock *mock)
{
	struct item *posts, *i, *next;

	pthread_mutex_lock(&mock->lock);
	posts = mock->posts;
	mock->posts = NULL;
	pthread_mutex_unlock(&mock->lock);
	DL_FOREACH_SAFE(posts, i, next) {
		struct item *due = item_add(mock, i->mod, 0);

		due->fn = i->fn;
		due->arg = i->arg;
		free(i);
	}
}

static short events_of(const struct keel_watch *w)
{
	return (short)((w->ready & KEEL_READABLE ? POLLIN : 0) | (w->ready & KEEL_WRITABLE ? POLLOUT : 0));
}

/* Call for each fd that is ready within `ms` of real time. */
static bool fds_do(struct keel_mock *mock, int ms)
{
	struct keel_watch *w;
	struct pollfd *fds;
	int n = 0, i = 0;
	bool any = false;

	DL_COUNT(mock->watches, w, n);
	fds = make((size_t)n * sizeof(*fds));
	DL_FOREACH(mock->watches, w)
		fds[i++] = (struct pollfd){ .fd = w->ready != 0 ? w->fd : -1, .events = events_of(w) };
	if (poll(fds, (nfds_t)n, ms) > 0) {
		for (i = 0; i < n; i++) {
			DL_FOREACH(mock->watches, w)
				if (w->fd == fds[i].fd && fds[i].revents != 0)
					break;
			if (w == NULL)
				continue;
			any = true;
			IN(w->mod, w->fn(&w->mod->pub, w->arg));
		}
	}
	free(fds);
	return any;
}

static bool do_next(struct keel_mock *mock, int64_t until)
{
	posts_take(mock);
	if (mock->items == NULL || mock->items->at > mock->now)
		if (mock->watches != NULL && fds_do(mock, 0))
			return true;
	if (mock->items == NULL || mock->items->at > until)
		return false;
	item_do(mock, mock->items);
	return true;
}

void keel_mock_advance(struct keel_mock *mock, int64_t ms)
{
	int64_t until = mock->now + ms, was = mock->now;

	for (uint32_t n = 0; do_next(mock, until); n++) {
		if (mock->now != was)
			n = 0;
		was = mock->now;
		if (n > ENDLESS)
			die("a module goes on for ever without the clock moving");
	}
	mock->now = until;
}

bool keel_mock_next(struct keel_mock *mock)
{
	return do_next(mock, INT64_MAX);
}

static int64_t real_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool wait_for(struct keel_mock *mock, bool (*fn)(void *arg), void *arg, int64_t ms, bool clock)
{
	int64_t began = real_ms(), was = mock->now;

	for (;;) {
		int64_t passed = real_ms() - began;

		keel_mock_advance(mock, clock ? was + passed - mock->now : 0);
		if (fn(arg))
			return true;
		if (passed >= ms)
			return false;
		fds_do(mock, 2);
	}
}

bool keel_mock_wait(struct keel_mock *mock, bool (*fn)(void *arg), void *arg, int64_t ms)
{
	return wait_for(mock, fn, arg, ms, false);
}

bool keel_mock_run(struct keel_mock *mock, bool (*fn)(void *arg), void *arg, int64_t ms)
{
	return wait_for(mock, fn, arg, ms, true);
}

int64_t keel_mock_now(struct keel_mock *mock)
{
	return mock->now;
}

/* ---- what modules ask for ---------------------------------------------------------------------------- */
static struct item *asked(struct mod *m, int64_t after_ms, keel_fn *fn, void *arg)
{
	struct item *i = item_add(mock_of(m), m, after_ms);

	i->fn = fn;
	i->arg = arg;
	return i;
}

static void unstored_drop(struct keel_mock *mock, struct item *i)
{
	DL_DELETE(mock->unstored, i);
	i->mod->live--;
	free(i);
}

struct keel_timer *core_timer(struct keel_mod *pub, int64_t after_ms, keel_fn *fn, void *arg)
{
	struct mod *m = mod_in(pub, "core", "timer");
	struct keel_timer *t;

	if (m == NULL || fails(mock_of(m)))
		return NULL;
	t = make(sizeof(*t));
	head_init(&t->head, mock_of(m), t);
	t->item = asked(m, after_ms, fn, arg);
	t->item->timer = t;
	return t;
}

void core_timer_cancel(struct keel_timer *t)
{
	if (t != NULL && head_good(&t->head, "timer-ended", "timer_cancel"))
		item_drop(t->head.mock, t->item);
}

int32_t core_defer(struct keel_mod *pub, keel_fn *fn, void *arg)
{
	struct mod *m = mod_in(pub, "core", "defer");

	if (m == NULL || fails(mock_of(m)))
		return -ENOMEM;
	asked(m, 0, fn, arg);
	return 0;
}

/* ---- what waits for the store ---------------------------------------------------------------------- */
int32_t core_when_durable(struct keel_mod *pub, keel_fn *fn, void *arg)
{
	struct mod *m = mod_in(pub, "core", "when_durable");
	struct keel_mock *mock = m != NULL ? mock_of(m) : NULL;
	struct item *i;

	if (m == NULL || fails(mock))
		return -ENOMEM;
	i = asked(m, 0, fn, arg);
	if (!mock->store_stands)
		return 0;
	DL_DELETE(mock->items, i);
	DL_APPEND(mock->unstored, i);
	return 0;
}

/* Everything becomes durable, in the order in which it was asked for. */
void keel_mock_store(struct keel_mock *mock, bool works)
{
	mock->store_stands = !works;
	while (works && mock->unstored != NULL) {
		const struct item was = *mock->unstored;

		unstored_drop(mock, mock->unstored);
		asked(was.mod, 0, was.fn, was.arg);
	}
}

/* Any thread: nothing but the list of posts is touched. */
int32_t core_post(struct keel_mod *pub, keel_fn *fn, void *arg)
{
	struct mod *m = (struct mod *)pub;
	struct keel_mock *mock = mock_of(m);
	struct item *i = make(sizeof(*i));

	*i = (struct item){ .mod = m, .fn = fn, .arg = arg };
	pthread_mutex_lock(&mock->lock);
	DL_APPEND(mock->posts, i);
	pthread_mutex_unlock(&mock->lock);
	return 0;
}

int32_t core_work(struct keel_mod *pub, void (*work)(void *arg), keel_fn *done, void *arg)
{
	struct mod *m = mod_in(pub, "core", "work");

	if (m == NULL || fails(mock_of(m)))
		return -ENOMEM;
	asked(m, 0, done, arg)->work = work;
	return 0;
}

struct keel_watch *core_watch(struct keel_mod *pub, int fd, keel_fn *fn, void *arg)
{
	struct mod *m = mod_in(pub, "core", "watch_fd");
	struct keel_watch *w;

	if (m == NULL || fd < 0 || fails(mock_of(m)))
		return NULL;
	w = make(sizeof(*w));
	head_init(&w->head, mock_of(m), w);
	w->mod = m;
	w->fd = fd;
	w->ready = KEEL_READABLE;
	w->fn = fn;
	w->arg = arg;
	m->live++;
	DL_APPEND(mock_of(m)->watches, w);
	return w;
}

int32_t core_watch_for(struct keel_watch *w, uint32_t ready)
{
	if (w == NULL || !head_good(&w->head, "watch-ended", "watch_for") ||
	    (ready & ~(uint32_t)(KEEL_READABLE | KEEL_WRITABLE)) != 0)
		return -EINVAL;
	w->ready = ready;
	return 0;
}

static void watch_end(struct keel_watch *w)
{
	DL_DELETE(w->head.mock->watches, w);
	w->mod->live--;
	head_end(&w->head);
}

void core_watch_cancel(struct keel_watch *w)
{
	if (w != NULL && head_good(&w->head, "watch-ended", "watch_cancel"))
		watch_end(w);
}

/* ---- a module leaves ------------------------------------------------------------------------------------- */
bool mod_is_busy(const struct mod *m)
{
	return m->live > 0;
}

void items_leave(struct keel_mock *mock, struct mod *m)
{
	struct item *i, *next;
	struct keel_watch *w, *after;

	posts_take(mock);
	DL_FOREACH_SAFE(mock->items, i, next)
		if (i->mod == m)
			item_drop(mock, i);
	DL_FOREACH_SAFE(mock->unstored, i, next)
		if (i->mod == m)
			unstored_drop(mock, i);
	DL_FOREACH_SAFE(mock->watches, w, after)
		if (w->mod == m)
			watch_end(w);
}

void clock_fini(struct keel_mock *mock)
{
	posts_take(mock);
	while (mock->items != NULL)
		item_drop(mock, mock->items);
	while (mock->unstored != NULL)
		unstored_drop(mock, mock->unstored);
	while (mock->watches != NULL)
		watch_end(mock->watches);
}
