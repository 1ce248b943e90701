/* SPDX-License-Identifier: Apache-2.0
 *
 * guest.c - clients inside this process: no socket, and their maker gives uid and gid. Everything else, frames and
 * bounds included, is as for any client.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "request/inside.h"

static struct user *user_make(const struct router *r, const struct router_guest *g)
{
	struct user *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	*u = (struct user){ .uid = g->uid, .refs = 1, .name = strdup(g->user),
			    .group = g->group != NULL ? strdup(g->group) : NULL };
	if (u->name == NULL || user_who(u, r->parts->host_name) < 0) {
		user_unref(u);
		return NULL;
	}
	return u;
}

int router_guest(struct router *r, const struct router_guest *g, struct client **ret_client)
{
	struct user *user = user_make(r, g);
	struct client *c = user != NULL ? client_make(r, -1, g->uid, g->gid) : NULL;

	if (c == NULL) {
		user_unref(user);
		return -ENOMEM;
	}
	c->user = user;
	if (!client_may_stay(c)) {
		client_drop(c);
		return -EUSERS;
	}
	c->send = g->send;
	c->send_arg = g->arg;
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
