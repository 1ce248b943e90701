/* SPDX-License-Identifier: Apache-2.0
 *
 * carried.c - peers whose messages are carried by whoever made this process: simulated hosts. Loss, delay
 * and order are the carrier's; being up, grace and stale messages are those of any peer.
 */
#include <errno.h>

#include "link/inside.h"

void links_carry(struct links *l, links_carry_fn *send, void *arg)
{
	l->carry = send;
	l->carry_arg = arg;
}

void carried_out(struct peer *to, struct keel_out *o)
{
	struct links *l = to->links;
	uint32_t len;
	const char *bytes = out_bytes(o, &len);

	if (bytes != NULL && l->carry != NULL)
		l->carry(l->carry_arg, to->name, bytes, len);
}

int links_carried_up(struct links *l, const char *name)
{
	struct peer *p = peer_get(l, name, KEEL_MOM);

	if (p == NULL)
		return -ENOMEM;
	p->carried = true;
	peer_linked(p, NULL);
	return 0;
}

void links_carried_down(struct links *l, const char *name)
{
	struct peer *p = peer_find(l, name);

	if (p != NULL && p->carried && p->up)
		peer_unlinked(p);
}

int links_carried_in(struct links *l, const char *name, const char *bytes, size_t len)
{
	struct peer *p = peer_find(l, name);

	if (p == NULL || !p->carried || !p->up)
		return -ENOTCONN;
	return dispatch(l, name, KEEL_MOM, bytes, len);
}
