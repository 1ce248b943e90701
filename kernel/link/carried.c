/* SPDX-License-Identifier: Apache-2.0
 *
 * carried.c - the group "carry": who offers the service "carrier" says here which daemons it has reached, when it lost
 * them, and what they sent. Loss, delay and order are the carrier's; being up, grace and stale messages are those of any peer.
 */
#include <errno.h>

#include "link/inside.h"
#include "registry/registry.h"

static struct links *links_of(struct keel_mod *m)
{
	return owner_of(m)->parts->links;
}

static int32_t up(struct keel_mod *m, const char *name, uint32_t daemon, int64_t grace_ms)
{
	struct links *l = links_of(m);
	const struct keel_carrier_api *carrier = registry_service(l->parts->registry, "carrier", 0, NULL, NULL);
	struct peer *p;

	if (carrier == NULL || carrier->self != m)
		return -EPERM;
	p = peer_get(l, name, daemon);
	if (p == NULL)
		return -ENOMEM;
	if (p->memory || !l->running)
		return -EBUSY;
	p->daemon = daemon;
	p->grace_ms = grace_ms;
	peer_linked(p, carrier);
	return 0;
}

/* The peer as far as it is this carrier's; NULL: it is not. */
static struct peer *carried(struct keel_mod *m, const char *name)
{
	struct peer *p = peer_find(links_of(m), name);

	return p != NULL && p->carrier != NULL && p->carrier->self == m ? p : NULL;
}

static void lost(struct keel_mod *m, const char *name)
{
	struct peer *p = carried(m, name);

	if (p != NULL)
		peer_unlinked(p);
}

static int32_t in(struct keel_mod *m, const char *name, const void *bytes, uint32_t len)
{
	struct peer *p = carried(m, name);

	return p != NULL && p->up ? dispatch(p->links, p->name, p->daemon, bytes, len) : -ENOTCONN;
}

void carried_leave(struct links *l, struct owner *owner)
{
	struct peer *p;

	for (uint32_t at = 0; (p = (struct peer *)index_next(&l->peers, &at));)
		lost(&owner->pub, p->name);
}

int carried_offer(struct links *l)
{
	static const struct keel_carry_api api = { .size = sizeof(api), .up = up, .lost = lost, .in = in };

	return registry_offer(l->parts->registry, "carry", &api);
}
