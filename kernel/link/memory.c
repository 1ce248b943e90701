/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - a server and a mom in one process: each message is delivered later in the turn, never
 * below its sender, and through the same encoding as any other.
 */
#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "link/inside.h"
#include "log/log.h"

static void delivery_destroy(struct links *l, struct delivery *d)
{
	DL_DELETE(l->deliveries, d);
	out_drop(d->out);
	free(d);
}

/* The one who sends to the server is the mom of this host, and the other way round. On a host whose
 * name is "server" both are one peer, and which of the two speaks cannot be told. */
static void deliver(struct links *l, struct delivery *d)
{
	bool to_server = d->to->daemon == KEEL_SERVER;
	const char *from = to_server ? l->parts->host_name : SERVER_PEER;
	uint32_t daemon = d->to->daemon == KEEL_ANY ? KEEL_ANY : KEEL_ANY & ~d->to->daemon;
	uint32_t len;
	const char *bytes = out_bytes(d->out, &len);

	if (!d->to->up || d->generation != d->to->generation)
		return;
	if (dispatch(l, from, daemon, bytes, len) < 0)
		log_add(l->parts->log, KEEL_LOG_ERROR, "Link", from, "a message that cannot be read");
}

static void deliver_all(void *arg)
{
	struct ticket *ticket = arg;
	struct links *l = ticket->links;
	struct delivery *d;

	free(ticket);
	if (l == NULL)
		return;
	l->deliver_ticket = NULL;
	/* A new ticket comes with what is sent meanwhile; the head may then be taken by either. */
	for (d = l->deliveries; d != NULL; d = l->deliveries) {
		struct keel_out *o = d->out;
		struct delivery now = *d;

		d->out = NULL;
		delivery_destroy(l, d);
		deliver(l, &now);
		out_drop(o);
		if (l->deliver_ticket != NULL)
			return;
	}
}

int memory_send(struct peer *to, struct keel_out *o)
{
	struct links *l = to->links;
	struct delivery *d = calloc(1, sizeof(*d));

	if (d == NULL)
		goto fail;
	if (l->deliver_ticket == NULL) {
		l->deliver_ticket = calloc(1, sizeof(*l->deliver_ticket));
		if (l->deliver_ticket == NULL)
			goto fail;
		l->deliver_ticket->links = l;
		if (loop_defer(l->parts->loop, deliver_all, l->deliver_ticket) < 0) {
			free(l->deliver_ticket);
			l->deliver_ticket = NULL;
			goto fail;
		}
	}
	*d = (struct delivery){ .to = to, .generation = to->generation, .out = o };
	DL_APPEND(l->deliveries, d);
	return 0;
fail:
	log_add(l->parts->log, KEEL_LOG_ERROR, "Link", to->name, "no memory: a message is lost");
	free(d);
	out_drop(o);
	return -ENOMEM;
}

void memory_destroy(struct links *l)
{
	if (l->deliver_ticket != NULL)
		l->deliver_ticket->links = NULL;
	l->deliver_ticket = NULL;
	while (l->deliveries != NULL)
		delivery_destroy(l, l->deliveries);
}
