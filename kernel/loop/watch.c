/* SPDX-License-Identifier: Apache-2.0
 *
 * watch.c - fds and signals.
 *
 * libuv stops a watch whose fd has an error. Ours goes on: the callback gets all events that are watched, so that its
 * read or write fails with the error and it cancels the watch.
 */
#include <errno.h>
#include <stdlib.h>

#include "loop/inside.h"

static void watch_ready(uv_poll_t *uv, int failure, int events);

static int watch_start(struct loop_watch *w)
{
	int events = (w->events & LOOP_READABLE ? UV_READABLE : 0) |
		     (w->events & LOOP_WRITABLE ? UV_WRITABLE : 0);

	if (events == 0)
		return uv_poll_stop(&w->uv);
	return uv_poll_start(&w->uv, events, watch_ready);
}

static void watch_ready(uv_poll_t *uv, int failure, int events)
{
	struct loop_watch *w = uv->data;
	int told = (events & UV_READABLE ? LOOP_READABLE : 0) |
		   (events & UV_WRITABLE ? LOOP_WRITABLE : 0);

	if (failure < 0) {
		told = w->events;
		watch_start(w);
	}
	told &= w->events;
	loop_busy(uv->loop->data);
	if (told != 0)
		w->fn(w->arg, told);
}

int loop_watch(struct loop *l, int fd, int events, loop_fd_fn *fn, void *arg,
	       struct loop_watch **ret_watch)
{
	struct loop_watch *w = calloc(1, sizeof(*w));
	int ret;

	if (w == NULL)
		return -ENOMEM;
	w->fn = fn;
	w->arg = arg;
	w->events = events;
	ret = uv_poll_init(&l->uv, &w->uv, fd);
	if (ret < 0) {
		free(w);
		return ret;
	}
	w->uv.data = w;
	ret = watch_start(w);
	if (ret < 0) {
		uv_close((uv_handle_t *)&w->uv, handle_free);
		return ret;
	}
	*ret_watch = w;
	return 0;
}

int loop_watch_set(struct loop_watch *w, int events)
{
	if (w->events == events)
		return 0;
	w->events = events;
	return watch_start(w);
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
	int ret;

	if (s == NULL)
		return -ENOMEM;
	s->fn = fn;
	s->arg = arg;
	ret = uv_signal_init(&l->uv, &s->uv);
	if (ret < 0) {
		free(s);
		return ret;
	}
	s->uv.data = s;
	ret = uv_signal_start(&s->uv, signal_came, signum);
	if (ret < 0)
		uv_close((uv_handle_t *)&s->uv, handle_free);
	return ret;
}
