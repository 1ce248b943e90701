/* SPDX-License-Identifier: Apache-2.0
 *
 * reap.c - children of the image before this one: polled until they have ended.
 */
#include <stdlib.h>
#include <sys/wait.h>

#include "loop/inside.h"

#define FIRST_MS 2
#define EVERY_MS 200

struct dying {
	uv_timer_t uv; /* its data is the struct: freed with the loop at the latest */
	pid_t pid;
};

static void child_poll(uv_timer_t *uv)
{
	const struct dying *d = uv->data;

	if (waitpid(d->pid, NULL, WNOHANG) != 0)
		uv_close((uv_handle_t *)uv, handle_free);
}

void loop_reap(struct loop *l, pid_t pid)
{
	struct dying *d;

	if (waitpid(pid, NULL, WNOHANG) != 0)
		return;
	d = malloc(sizeof(*d));
	if (d == NULL)
		return; /* a zombie, until this process ends */
	d->pid = pid;
	uv_update_time(&l->uv);
	uv_timer_init(&l->uv, &d->uv);
	d->uv.data = d;
	uv_timer_start(&d->uv, child_poll, FIRST_MS, EVERY_MS);
}
