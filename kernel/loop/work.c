/* SPDX-License-Identifier: Apache-2.0
 *
 * work.c - calls on a worker thread whose end is told on the loop.
 */
#include <errno.h>
#include <stdlib.h>

#include "loop/inside.h"

struct work {
	uv_work_t uv;
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
	struct work *w = uv->data;
	loop_fn *done = w->done;
	void *arg = w->arg;

	(void)cancelled; /* only cancelling makes it fail, and nobody cancels */
	free(w);
	if (done != NULL)
		done(arg);
}

int loop_work(struct loop *l, loop_fn *work, loop_fn *done, void *arg)
{
	struct work *w = calloc(1, sizeof(*w));
	int ret;

	if (w == NULL)
		return -ENOMEM;
	w->work = work;
	w->done = done;
	w->arg = arg;
	w->uv.data = w;
	ret = uv_queue_work(&l->uv, &w->uv, work_do, work_done);
	if (ret < 0)
		free(w);
	return ret;
}
