/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c - what time it is, and timers. A timer never fires before its time: the loop's idea of now
 * is brought up to date when one is made. Nor does it fire in the turn it was made in, though libuv
 * (before 1.45) would go on with timers as long as one is due: slices of long work let others in.
 */
#include <stdlib.h>
#include <time.h>

#include "loop/inside.h"

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

static uint64_t turn_of(const struct loop *l)
{
	return atomic_load_explicit(&l->turns, memory_order_relaxed);
}

static void timer_fire(uv_timer_t *uv);

static void go_on(void *arg)
{
	struct loop_timer *t = arg;

	t->put_off = false;
	uv_timer_start(&t->uv, timer_fire, 0, 0);
}

static void timer_fire(uv_timer_t *uv)
{
	struct loop_timer *t = uv->data;
	struct loop *l = uv->loop->data;

	if (t->turn == turn_of(l) && loop_defer(l, go_on, t) == 0) {
		t->put_off = true;
		return;
	}
	t->fn(t->arg);
	loop_timer_cancel(t);
}

struct loop_timer *loop_timer(struct loop *l, int64_t after_ms, loop_fn *fn, void *arg)
{
	struct loop_timer *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->fn = fn;
	t->arg = arg;
	t->turn = turn_of(l);
	uv_update_time(&l->uv);
	uv_timer_init(&l->uv, &t->uv);
	t->uv.data = t;
	uv_timer_start(&t->uv, timer_fire, after_ms < 0 ? 0 : (uint64_t)after_ms, 0);
	return t;
}

void loop_timer_cancel(struct loop_timer *t)
{
	if (t == NULL || uv_is_closing((uv_handle_t *)&t->uv))
		return;
	if (t->put_off)
		loop_defer_cancel(t->uv.loop->data, go_on, t);
	uv_close((uv_handle_t *)&t->uv, handle_free);
}
