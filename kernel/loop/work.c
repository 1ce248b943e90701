/* SPDX-License-Identifier: Apache-2.0
 *
 * work.c - calls on a worker thread, with a callback on the loop's.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "loop/inside.h"

struct work {
	uv_work_t uv;
	struct loop *loop;
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
	struct work w = *(struct work *)uv->data;

	(void)cancelled; /* the only possible error, and no caller cancels */
	free(uv->data);
	loop_busy(w.loop);
	if (w.done != NULL)
		w.done(w.arg);
	w.loop->working--;
}

/* Threads begin here, and inherit: what ends or reloads the daemon is left to the loop's own, which can hold it. */
static int queue(struct loop *l, struct work *w)
{
	sigset_t held, was;
	int ret;

	sigemptyset(&held);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &held, &was);
	ret = uv_queue_work(&l->uv, &w->uv, work_do, work_done);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return ret;
}

int loop_work(struct loop *l, loop_fn *work, loop_fn *done, void *arg)
{
	struct work *w = calloc(1, sizeof(*w));
	int ret;

	if (w == NULL)
		return -ENOMEM;
	w->loop = l;
	w->work = work;
	w->done = done;
	w->arg = arg;
	w->uv.data = w;
	ret = queue(l, w);
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
