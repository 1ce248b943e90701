/* SPDX-License-Identifier: Apache-2.0
 *
 * links.c - the life of all links, and the group "link".
 */
#include "link/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/inside.h"
#include "log/log.h"
#include "registry/registry.h"
#include "util/err.h"

static struct links *links_of(struct keel_mod *m)
{
	return owner_of(m)->parts->links;
}

/* ---- the group "link" ------------------------------------------------------------------------- */
static int32_t link_on(struct keel_mod *m, const char *name, uint32_t from,
		       void (*fn)(struct keel_mod *, const char *, const struct keel_msg *))
{
	return dispatch_on(links_of(m), owner_of(m), name, from, fn);
}

static int32_t link_send(struct keel_mod *m, const char *peer, const char *name, struct keel_out *o)
{
	struct peer *p = peer_find(links_of(m), peer);

	if (p == NULL || !p->up) {
		out_drop(o);
		return -ENOTCONN;
	}
	out_put_str(o, "msg", name);
	return peer_send(p, o);
}

static bool link_is_up(struct keel_mod *m, const char *peer)
{
	struct peer *p = peer_find(links_of(m), peer);

	return p != NULL && p->up;
}

static const struct keel_link_api api = {
	.size = sizeof(api),
	.version = 0,
	.on = link_on,
	.send = link_send,
	.is_up = link_is_up,
};

/* ---- creation ----------------------------------------------------------------------------------- */
int links_create(struct parts *parts, struct links **ret_links)
{
	struct links *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return -ENOMEM;
	l->parts = parts;
	ret = registry_offer(parts->registry, "link", &api);
	if (ret == 0)
		ret = carried_offer(l);
	if (ret < 0)
		links_destroy(l);
	else
		*ret_links = l;
	return ret;
}

void links_destroy(struct links *l)
{
	if (l == NULL)
		return;
	links_stop(l);
	memory_destroy(l);
	peers_destroy(l);
	dispatch_detach(l, NULL);
	index_fini(&l->handlers);
	free(l);
}

/* ---- start and stop ---------------------------------------------------------------------------- */
/* Both ends are this process. */
static int start_memory(struct links *l, struct keel_err *err)
{
	struct peer *server = peer_get(l, SERVER_PEER, KEEL_SERVER);
	struct peer *mom = peer_get(l, l->parts->host_name, KEEL_MOM);

	if (server == NULL || mom == NULL)
		return err_set(err, -ENOMEM, "no memory for links");
	server->up = mom->up = server->memory = mom->memory = true;
	server->daemon = KEEL_SERVER;
	peer_linked(server, NULL);
	mom->daemon = KEEL_MOM;
	peer_linked(mom, NULL);
	if (mom == server)
		mom->daemon = KEEL_ANY; /* a host of that name */
	return 0;
}

int links_start(struct links *l, struct keel_err *err)
{
	l->running = true;
	if (l->parts->daemon == (KEEL_SERVER | KEEL_MOM))
		return start_memory(l, err);
	if (registry_service(l->parts->registry, "carrier", 0, NULL, NULL) == NULL)
		log_add(l->parts->log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Link", l->parts->host_name,
			"no module carries messages between hosts: this daemon reaches no other; enable one that "
			"offers the service 'carrier'");
	return 0;
}

void links_stop(struct links *l)
{
	struct peer *p;

	l->running = false;
	for (uint32_t at = 0; (p = (struct peer *)index_next(&l->peers, &at));) {
		loop_timer_cancel(p->grace);
		p->grace = NULL;
		p->up = false;
	}
}

void links_detach(struct links *l, struct owner *owner)
{
	dispatch_detach(l, owner);
	carried_leave(l, owner);
}
