/* SPDX-License-Identifier: Apache-2.0
 *
 * client_out.c - frames on their way to a client.
 *
 * They are queued during a turn and written at once at its end (flush). What the socket does not take waits until it
 * is writable. Invariant: `queued` is the memory of the frames from first to last, and part of the sums of the
 * uid and the router.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utlist.h>

#include "request/inside.h"

#define IOV_COUNT 64
#define WRITES_PER_FLUSH 4 /* each is as much as the socket takes */

static void queued_add(struct client *c, size_t bytes) /* less: modulo */
{
	c->queued += bytes;
	c->share->queued += bytes;
	c->router->queued += bytes;
}

static size_t out_weight(const struct keel_out *o)
{
	return sizeof(*o) + o->b.size;
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
	struct keel_out *o, *next;

	DL_FOREACH_SAFE(c->first, o, next)
		out_drop(o);
	c->first = NULL;
	queued_add(c, -c->queued);
	if (c->in_flush)
		loop_defer_cancel(c->router->parts->loop, client_flush, c);
}

void client_send(struct client *c, struct keel_out *o, uint16_t type, uint64_t corr)
{
	size_t len;

	if (o == NULL || c->broken || out_frame(o, type, corr, &len) == NULL) {
		/* The client would wait for this reply: disconnect it. */
		c->broken = true;
		out_drop(o);
		client_flush_soon(c);
		return;
	}
	if (c->queued == 0)
		c->progress_ms = loop_now_ms(c->router->parts->loop);
	DL_APPEND(c->first, o);
	queued_add(c, out_weight(o));
	client_flush_soon(c);
}

static unsigned fill_iov(struct client *c, struct iovec *iov)
{
	struct keel_out *o = c->first;
	size_t off = c->first_off;
	unsigned n = 0;

	for (; o != NULL && n < IOV_COUNT; o = o->next, n++) {
		iov[n] = (struct iovec){ o->b.data + off, o->b.len - off };
		off = 0;
	}
	return n;
}

static void frame_written(struct client *c, size_t n)
{
	c->progress_ms = loop_now_ms(c->router->parts->loop);
	n += c->first_off;
	while (c->first != NULL && n >= c->first->b.len) {
		struct keel_out *o = c->first;

		n -= o->b.len;
		DL_DELETE(c->first, o);
		queued_add(c, -out_weight(o));
		out_drop(o);
	}
	c->first_off = n;
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

static void guest_write(struct client *c)
{
	while (c->first != NULL) {
		size_t len = c->first->b.len;

		c->send(c->send_arg, c->first->b.data, len);
		frame_written(c, len);
	}
}

static void socket_write(struct client *c)
{
	struct iovec iov[IOV_COUNT];

	for (int i = 0; i < WRITES_PER_FLUSH && c->first != NULL && !c->broken; i++) {
		struct msghdr mh = { .msg_iov = iov, .msg_iovlen = fill_iov(c, iov) };
		ssize_t n = sendmsg(c->fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			frame_written(c, (size_t)n);
		} else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			break;
		} else if (n == 0 || errno != EINTR) {
			c->broken = true;
		}
	}
}

void client_write(struct client *c)
{
	c->full = false;
	if (c->send != NULL)
		guest_write(c);
	else
		socket_write(c);
	c->full = c->first != NULL;
	if (c->closing && c->first == NULL && c->reqs == NULL)
		c->broken = true;
	tell_drained(c);
}
