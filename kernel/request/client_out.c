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
	while (c->first != NULL) {
		struct keel_out *o = c->first;

		c->first = out_next(o);
		out_drop(o);
	}
	c->last = NULL;
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
	out_link(o, NULL);
	if (c->last != NULL)
		out_link(c->last, o);
	else
		c->first = o;
	c->last = o;
	queued_add(c, out_weight(o));
	client_flush_soon(c);
}

static unsigned fill_iov(struct client *c, struct iovec *iov)
{
	struct keel_out *o = c->first;
	unsigned n = 0;

	for (; o != NULL && n < IOV_COUNT; o = out_next(o), n++) {
		size_t len;
		const char *data = out_data(o, &len);
		size_t off = n == 0 ? c->first_off : 0;

		iov[n] = (struct iovec){ (char *)data + off, len - off };
	}
	return n;
}

static void frame_written(struct client *c, size_t n)
{
	c->progress_ms = loop_now_ms(c->router->parts->loop);
	n += c->first_off;
	while (c->first != NULL) {
		struct keel_out *o = c->first;
		size_t len;

		out_data(o, &len);
		if (n < len)
			break;
		n -= len;
		c->first = out_next(o);
		queued_add(c, -out_weight(o));
		out_drop(o);
	}
	c->first_off = n;
	if (c->first == NULL)
		c->last = NULL;
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
		size_t len;
		const char *data = out_data(c->first, &len);

		c->send(c->send_arg, data, len);
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
