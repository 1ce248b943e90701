/* SPDX-License-Identifier: Apache-2.0
 *
 * remote.c - one request of a client of another host: the group `remote`.
 *
 *	start -> in ... in -> served as of any client -> PART ... PART, REPLY -> dropped
 *	                                   (as many bytes as the window admits)
 *
 * It is a client without a socket, that sends one frame. Its user is given by the module, with a host; frames leave one by
 * one through frame(). It is dropped from the loop's own callbacks, like each client.
 */
#include <errno.h>

#include "request/inside.h"
#include "util/crumb.h"

static void end(struct keel_remote *x)
{
	struct client *c = (struct client *)x;

	x->frame = NULL;
	x->gone = NULL;
	c->broken = true;
	client_flush_soon(c);
}

/* Gives the module the frames that the window admits. */
static void remote_write(struct client *c)
{
	struct keel_remote *x = &c->remote;

	while (c->queued > 0 && x->credit > 0 && x->frame != NULL) {
		const unsigned char *head = (const unsigned char *)c->out.data + c->out_off;
		uint32_t len = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
		uint16_t type = (uint16_t)(head[4] << 8 | head[5]);

		x->credit -= len; /* of bodies, which is what the other side can count */
		CRUMB_CALL(x->owner, "frame() of a remote request", client_who(c),
			   x->frame(&x->owner->pub, x->arg, type, head + WIRE_HEADER_SIZE, type == WIRE_GOODBYE ? 0 : len));
		if (type != WIRE_PART)
			end(x);
		client_written(c, WIRE_HEADER_SIZE + (size_t)len);
	}
}

static void remote_gone(struct client *c)
{
	struct keel_remote *x = &c->remote;

	if (x->gone != NULL)
		CRUMB_CALL(x->owner, "gone() of a remote request", client_who(c), x->gone(&x->owner->pub, x->arg));
}

static int32_t start(struct keel_mod *m, const struct keel_remote_setup *def, struct keel_remote **ret)
{
	struct router *r = owner_of(m)->parts->router;
	char head[WIRE_HEADER_SIZE];
	struct client *c;

	if (def->length == 0 || def->length > WIRE_BODY_MAX)
		return -EINVAL;
	if (r->drain.phase >= DRAIN_ENDING)
		return -EAGAIN;
	c = client_of_user(r, user_of_host(def), owner_of(m));
	if (c == NULL)
		return -errno;
	c->write = remote_write;
	c->gone = remote_gone;
	c->remote = (struct keel_remote){ .owner = owner_of(m), .roles = def->roles, .reads = def->reads, .credit = def->window,
					  .frame = def->frame, .gone = def->gone, .arg = def->arg };
	frame_header(head, WIRE_REQUEST, 1, def->length);
	client_take(c, head, sizeof(head));
	*ret = &c->remote;
	return 0;
}

static void in(struct keel_remote *x, const void *bytes, uint32_t len)
{
	struct client *c = (struct client *)x;

	if (!c->broken && !c->closing)
		client_take(c, bytes, len);
	if (c->broken)
		client_flush_soon(c);
}

static void taken(struct keel_remote *x, uint32_t n)
{
	struct client *c = (struct client *)x;

	x->credit += n;
	if (c->queued > 0)
		client_flush_soon(c);
}

static int32_t waits(struct keel_remote *x)
{
	const struct keel_req *q = ((struct client *)x)->reqs;
	uint32_t flags = q != NULL && q->state == REQ_OPEN && q->route != NULL ? q->route->def.flags : 0;

	return (flags & KEEL_REQUEST_WAITS) == 0 ? 0 : (flags & KEEL_REQUEST_READ) != 0 ? 2 : 1;
}

static void again(struct keel_remote *x)
{
	client_leave((struct client *)x);
}

const struct keel_remote_api remote_api = {
	.size = sizeof(remote_api),
	.version = 0,
	.start = start,
	.in = in,
	.taken = taken,
	.waits = waits,
	.again = again,
	.end = end,
};
