/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c - what time it is, and timers. A timer never fires before its time: the loop's idea of now
 * is brought up to date when one is made. Nor does it fire in the turn it was made in, nor one before others that
 * were due earlier: slices of long work let others in, and each other.
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
