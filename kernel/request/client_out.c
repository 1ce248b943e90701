/* SPDX-License-Identifier: Apache-2.0
 *
 * client_out.c - frames on their way to a client.
 *
 * They are queued during a turn and written at once at its end (flush). What the socket does not take waits until it
 * is writable. Invariant: `queued` is what of `out` is not written, and part of the sums of the uid and the router.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "request/inside.h"

#define WRITES_PER_FLUSH 4 /* each is as much as the socket takes */

static void queued_count(struct client *c)
{
	size_t more = c->out.len - c->out_off - c->queued; /* less: modulo */

	c->queued += more;
	c->share->queued += more;
	c->router->queued += more;
}

bool client_overfull(const struct client *c)
{
	const struct router_limits *limits = &c->router->limits;

	return c->queued > limits->queued_high ||
	       (c->queued > limits->queued_small && c->share->queued > limits->queued_uid);
}

bool client_drained(const struct client *c)
{
	return c->queued < c->router->limits.queued_low && !client_overfull(c);
}

static void client_flush(void *arg)
{
	struct client *c = arg;

	c->in_flush = false;
	client_write(c);
	if (c->broken)
		client_drop(c);
	else
		client_rearm(c);
}

/* When this fails without memory the sweep flushes later. */
void client_flush_soon(struct client *c)
{
	if (!c->in_flush)
		c->in_flush = loop_defer(c->router->parts->loop, client_flush, c) == 0;
}

void client_drop_queue(struct client *c)
{
	buf_fini(&c->out);
	c->out_off = 0;
	queued_count(c);
	if (c->in_flush)
		loop_defer_cancel(c->router->parts->loop, client_flush, c);
}

void client_send(struct client *c, struct keel_out *o, uint16_t type, uint64_t corr)
{
	size_t len;
	const char *frame = o == NULL || c->broken ? NULL : out_frame(o, type, corr, &len);

	if (frame != NULL && c->queued == 0) {
		c->progress_ms = loop_now_ms(c->router->parts->loop);
		c->out = o->b;
		buf_init(&o->b);
	} else if (frame != NULL) {
		if (c->out_off > c->queued) {
			memmove(c->out.data, c->out.data + c->out_off, c->queued);
			c->out.len = c->queued;
			c->out_off = 0;
		}
		buf_add(&c->out, frame, len);
	}
	if (frame == NULL || c->out.failed)
		c->broken = true; /* the client would wait for this reply: disconnect it */
	out_drop(o);
	queued_count(c);
	client_flush_soon(c);
}

void client_written(struct client *c, size_t n)
{
	c->progress_ms = loop_now_ms(c->router->parts->loop);
	c->out_off += n;
	if (c->out_off == c->out.len) {
		buf_fini(&c->out);
		c->out_off = 0;
	}
	queued_count(c);
}

static void tell_drained(struct client *c)
{
	struct keel_req *q;

	if (!client_drained(c))
		return;
	if (c->leftover)
		client_again(c);
	DL_FOREACH(c->reqs, q) {
		if (q->drained != NULL) {
			client_again(c);
			return;
		}
	}
}

static void socket_write(struct client *c)
{
	for (int i = 0; i < WRITES_PER_FLUSH && c->queued > 0 && !c->broken; i++) {
		ssize_t n = send(c->fd, c->out.data + c->out_off, c->queued, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			client_written(c, (size_t)n);
		} else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			break;
		} else if (n == 0 || errno != EINTR) {
			c->broken = true;
		}
	}
}

void client_write(struct client *c)
{
	(c->write != NULL ? c->write : socket_write)(c);
	c->full = c->queued > 0;
	if (c->closing && c->queued == 0 && c->reqs == NULL)
		c->broken = true;
	tell_drained(c);
}
