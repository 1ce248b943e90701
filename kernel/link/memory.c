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

static void delivery_destroy(struct delivery *d)
{
	DL_DELETE(d->to->links->deliveries, d);
	out_drop(d->out);
	free(d);
}

/* The one who sends to the server is the mom of this host, and the other way round. On a host whose
 * name is "server" both are one peer, and which of the two speaks cannot be told. */
static void deliver(void *arg)
{
	struct delivery *d = arg;
	struct links *l = d->to->links;
	bool to_server = d->to->daemon == KEEL_SERVER;
	const char *from = to_server ? l->parts->host_name : SERVER_PEER;
	uint32_t daemon = d->to->daemon == KEEL_ANY ? KEEL_ANY : KEEL_ANY & ~d->to->daemon;
	uint32_t len;
	const char *bytes = out_bytes(d->out, &len);

	if (d->to->up && d->generation == d->to->generation && dispatch(l, from, daemon, bytes, len) < 0)
		log_add(l->parts->log, KEEL_LOG_ERROR, "Link", from, "a message that cannot be read");
	delivery_destroy(d);
}

int memory_send(struct peer *to, struct keel_out *o)
{
	struct links *l = to->links;
	struct delivery *d = calloc(1, sizeof(*d));

	if (d == NULL || loop_defer(l->parts->loop, deliver, d) < 0) {
		log_add(l->parts->log, KEEL_LOG_ERROR, "Link", to->name, "no memory: a message is lost");
		free(d);
		out_drop(o);
		return -ENOMEM;
	}
	*d = (struct delivery){ .to = to, .generation = to->generation, .out = o };
	DL_APPEND(l->deliveries, d);
	return 0;
}

void memory_destroy(struct links *l)
{
	while (l->deliveries != NULL) {
		loop_defer_cancel(l->parts->loop, deliver, l->deliveries);
		delivery_destroy(l->deliveries);
	}
}
