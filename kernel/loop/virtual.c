/* SPDX-License-Identifier: Apache-2.0
 *
 * virtual.c - a loop whose time is given from outside.
 *
 * A turn is what it is in the real loop: timers that are due, posted calls, deferred calls, the end of
 * the turn. Between turns time jumps. Work for a thread is a timer: when it fires it is
 * done and its end is told, so that two runs with the same times are the same run.
 */
#include <errno.h>
#include <stdlib.h>

#include "loop/inside.h"

struct virtual {
	struct loop_virtual conf;
	int64_t now_ms, clock_ns;
	uint64_t number;
	struct loop_timer **heap; /* the first one is due first */
	size_t n, size;
};

struct deed {
	struct loop *loop;
	loop_fn *work, *done;
	void *arg;
};

/* ---- the heap --------------------------------------------------------------------------------- */

static bool before(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->due.at_ms != b->due.at_ms ? a->due.at_ms < b->due.at_ms :
					      a->due.number < b->due.number;
}

static void put(struct virtual *v, size_t place, struct loop_timer *t)
{
	v->heap[place] = t;
	t->due.place = place;
}

static void up(struct virtual *v, struct loop_timer *t)
{
	size_t at = t->due.place;

	for (; at > 0 && before(t, v->heap[(at - 1) / 2]); at = (at - 1) / 2)
		put(v, at, v->heap[(at - 1) / 2]);
	put(v, at, t);
}

static void down(struct virtual *v, struct loop_timer *t)
{
	size_t at = t->due.place, child;

	for (; (child = at * 2 + 1) < v->n; at = child) {
		if (child + 1 < v->n && before(v->heap[child + 1], v->heap[child]))
			child++;
		if (!before(v->heap[child], t))
			break;
		put(v, at, v->heap[child]);
	}
	put(v, at, t);
}

static int heap_add(struct virtual *v, struct loop_timer *t)
{
	if (v->n == v->size) {
		size_t size = v->size == 0 ? 64 : v->size * 2;
		struct loop_timer **heap = reallocarray(v->heap, size, sizeof(*heap));

		if (heap == NULL)
			return -ENOMEM;
		v->heap = heap;
		v->size = size;
	}
	put(v, v->n++, t);
	up(v, t);
	return 0;
}

static void heap_remove(struct virtual *v, struct loop_timer *t)
{
	size_t place = t->due.place;
	struct loop_timer *last = v->heap[--v->n];

	t->due.place = SIZE_MAX;
	if (last == t)
		return;
	put(v, place, last);
	up(v, last);
	down(v, last);
}

/* ---- timers and work ---------------------------------------------------------------------------- */

struct loop_timer *virtual_timer(struct loop *l, int64_t after_ms, loop_fn *fn, void *arg)
{
	struct virtual *v = l->virtual;
	struct loop_timer *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->loop = l;
	t->fn = fn;
	t->arg = arg;
	t->due.at_ms = after_ms > INT64_MAX - 1 - v->now_ms ? INT64_MAX - 1 :
							       v->now_ms + (after_ms > 0 ? after_ms : 0);
	t->due.number = v->number++;
	if (heap_add(v, t) < 0) {
		free(t);
		return NULL;
	}
	return t;
}

void virtual_timer_cancel(struct loop_timer *t)
{
	if (t->due.place == SIZE_MAX)
		return; /* it fires now and is freed behind it */
	heap_remove(t->loop->virtual, t);
	free(t);
}

static void deed_do(void *arg)
{
	struct deed d = *(struct deed *)arg;

	free(arg);
	d.work(d.arg);
	if (d.done != NULL && !d.loop->stop_at_once)
		d.done(d.arg);
}

int virtual_work(struct loop *l, loop_fn *work, loop_fn *done, void *arg)
{
	const struct loop_virtual *conf = &l->virtual->conf;
	struct deed *d = malloc(sizeof(*d));

	if (d == NULL)
		return -ENOMEM;
	*d = (struct deed){ l, work, done, arg };
	if (virtual_timer(l, conf->work_ms != NULL ? conf->work_ms(conf->arg) : 0, deed_do, d) != NULL)
		return 0;
	free(d);
	return -ENOMEM;
}

/* ---- time ----------------------------------------------------------------------------------------- */

int64_t virtual_now_ms(const struct loop *l)
{
	return l->virtual->now_ms;
}

int64_t virtual_time_us(const struct loop *l)
{
	return l->virtual->conf.epoch_us + l->virtual->now_ms * 1000;
}

int64_t virtual_clock_ns(struct loop *l)
{
	struct virtual *v = l->virtual;

	if (v->conf.look_ns == 0)
		return (int64_t)uv_hrtime();
	v->clock_ns += v->conf.look_ns;
	if (v->clock_ns < v->now_ms * 1000000)
		v->clock_ns = v->now_ms * 1000000;
	return v->clock_ns;
}

int64_t virtual_cpu_ns(const struct loop *l)
{
	return l->virtual->conf.look_ns == 0 ? (int64_t)uv_hrtime() : l->virtual->clock_ns;
}

/* ---- turns ---------------------------------------------------------------------------------------- */

int64_t loop_next_ms(const struct loop *l)
{
	const struct virtual *v = l->virtual;

	if (l->stop_at_once)
		return INT64_MAX;
	if (l->due || l->deferred.first != l->deferred.end || l->posted.first != l->posted.end)
		return v->now_ms;
	return v->n > 0 ? v->heap[0]->due.at_ms : INT64_MAX;
}

static void timers_run(struct loop *l)
{
	struct virtual *v = l->virtual;
	uint64_t later = v->number; /* those made from now on wait for the next turn */

	while (!l->stop_at_once && v->n > 0 && v->heap[0]->due.at_ms <= v->now_ms &&
	       v->heap[0]->due.number < later) {
		struct loop_timer *t = v->heap[0];

		heap_remove(v, t);
		t->fn(t->arg);
		free(t);
	}
}

void loop_turn(struct loop *l, int64_t now_ms)
{
	struct virtual *v = l->virtual;

	if (now_ms > v->now_ms)
		v->now_ms = now_ms;
	timers_run(l);
	if (!l->stop_at_once)
		posted_run(l);
	if (!l->stop_at_once)
		turn_end(l);
}

/* Nothing to do until the deadline: time jumps there. */
int virtual_run(struct loop *l, bool (*done)(void *arg), void *arg, int64_t until_ms)
{
	bool keep = done != NULL; /* a stop meanwhile is for loop_run() */

	while (keep ? !done(arg) : !l->stop) {
		int64_t next = loop_next_ms(l);

		if (next == INT64_MAX || next > until_ms) {
			if (until_ms != INT64_MAX && l->virtual->now_ms < until_ms)
				l->virtual->now_ms = until_ms;
			return keep ? -ETIMEDOUT : -EDEADLK;
		}
		loop_turn(l, next);
	}
	if (!keep)
		l->stop = false;
	return 0;
}

void loop_freeze(struct loop *l)
{
	l->stop_at_once = true;
}

int loop_create_virtual(const struct loop_virtual *conf, struct loop **ret_loop)
{
	struct loop *l = calloc(1, sizeof(*l));
	struct virtual *v = calloc(1, sizeof(*v));

	if (l == NULL || v == NULL) {
		free(l);
		free(v);
		return -ENOMEM;
	}
	v->conf = *conf;
	v->now_ms = conf->now_ms;
	l->virtual = v;
	pthread_mutex_init(&l->lock, NULL);
	*ret_loop = l;
	return 0;
}

void virtual_destroy(struct loop *l)
{
	struct virtual *v = l->virtual;

	for (size_t i = 0; i < v->n; i++) {
		if (v->heap[i]->fn == deed_do)
			free(v->heap[i]->arg);
		free(v->heap[i]);
	}
	free(v->heap);
	free(v);
	calls_fini(&l->deferred);
	calls_fini(&l->posted);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
