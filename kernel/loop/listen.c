/* SPDX-License-Identifier: Apache-2.0
 *
 * listen.c - connections that come: some a turn, so that others have theirs. Without a file descriptor to take one
 * the socket stays readable: then it is not watched for a moment.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop/loop.h"

#define PAUSE_MS 100

struct loop_listener {
	struct loop *loop;
	struct loop_listening conf;
	struct loop_watch *watch;
	struct loop_timer *pause;
};

static void accept_resume(void *arg)
{
	struct loop_listener *x = arg;

	x->pause = NULL;
	loop_watch_set(x->watch, LOOP_READABLE);
}

static void accept_pause(struct loop_listener *x, int error)
{
	x->conf.paused(x->conf.arg, error);
	x->pause = loop_timer(x->loop, PAUSE_MS, accept_resume, x);
	if (x->pause != NULL)
		loop_watch_set(x->watch, 0);
}

static void on_readable(void *arg, int events)
{
	struct loop_listener *x = arg;

	(void)events;
	for (uint32_t i = 0; i < x->conf.per_turn; i++) {
		int fd = accept4(x->conf.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
				accept_pause(x, errno);
			return;
		}
		x->conf.came(x->conf.arg, fd);
	}
}

int loop_listen(struct loop *l, const struct loop_listening *conf, struct loop_listener **ret_listener)
{
	struct loop_listener *x = calloc(1, sizeof(*x));
	int ret = x == NULL ? -ENOMEM : 0;

	if (ret == 0) {
		*x = (struct loop_listener){ .loop = l, .conf = *conf };
		ret = loop_watch(l, conf->fd, LOOP_READABLE, on_readable, x, &x->watch);
	}
	if (ret < 0) {
		close(conf->fd);
		free(x);
		return ret;
	}
	*ret_listener = x;
	return 0;
}

void loop_listen_pause(struct loop_listener *x)
{
	loop_timer_cancel(x->pause);
	x->pause = NULL;
	loop_watch_set(x->watch, 0);
}

void loop_listen_stop(struct loop_listener *x)
{
	if (x == NULL)
		return;
	loop_timer_cancel(x->pause);
	loop_watch_cancel(x->watch);
	close(x->conf.fd);
	free(x);
}
