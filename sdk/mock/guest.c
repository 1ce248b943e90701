/* SPDX-License-Identifier: Apache-2.0
 *
 * guest.c - clients inside this process: their maker says who they are.
 */
#include "mock/guest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "request/inside.h"

/* It takes all of it. */
static void guest_write(struct client *c)
{
	const struct router_guest *g = c->remote.arg;

	if (c->queued == 0)
		return;
	g->send(g->arg, c->out.data, c->queued);
	client_written(c, c->queued);
}

static void guest_gone(struct client *c)
{
	struct router_guest *g = c->remote.arg;

	g->send(g->arg, NULL, 0);
	free(g);
}

static struct user *guest_user(const struct router *r, const struct router_guest *g)
{
	struct user *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	*u = (struct user){ .uid = g->uid, .refs = 1, .name = strdup(g->user),
			    .group = g->group != NULL ? strdup(g->group) : NULL };
	if (u->name != NULL && user_who(u, r->parts->host_name) == 0)
		return u;
	user_unref(u);
	return NULL;
}

int router_guest(struct router *r, const struct router_guest *guest, struct client **ret_client)
{
	struct router_guest *g = malloc(sizeof(*g));
	struct client *c;

	if (g == NULL)
		return -ENOMEM;
	*g = *guest;
	c = client_of_user(r, guest_user(r, g), NULL);
	if (c == NULL) {
		free(g);
		return -errno;
	}
	c->gid = g->gid;
	c->write = guest_write;
	c->gone = guest_gone;
	c->remote.arg = g;
	*ret_client = c;
	return 0;
}

void router_guest_in(struct client *c, const char *bytes, size_t len)
{
	client_take(c, bytes, len);
	if (c->broken)
		client_drop(c);
}

void router_guest_leave(struct client *c)
{
	client_drop(c);
}

void *router_guest_arg(const struct client *c)
{
	return ((const struct router_guest *)c->remote.arg)->arg;
}
