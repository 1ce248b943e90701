/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c - reservations by their names.
 */
#include "reservations.h"

#include <stdio.h>
#include <string.h>


struct resv *resv_slot(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = keel_slot(mod, resv);

	if (r)
		r->obj = resv;
	return r;
}

struct keel_obj *resv_find(struct keel_mod *mod, const char *operand)
{
	char id[300];
	size_t name = strcspn(operand, ".@");
	const char *server = operand[name] == '.' ? operand + name + 1 : keel_server_name(mod);
	size_t len = strcspn(server, "@");

	if (!name || name + len + 2 > sizeof(id))
		return NULL;
	snprintf(id, sizeof(id), "%.*s.%.*s", (int)name, operand, (int)len, server);
	return keel_find(mod, "resv", id);
}

/* The queue is named like the reservation, without the server's part. */
struct keel_obj *resv_of_queue(struct keel_mod *mod, const char *queue)
{
	return queue && *queue && !strpbrk(queue, ".@") ? resv_find(mod, queue) : NULL;
}

void each_resv(struct keel_mod *mod, void (*fn)(struct keel_mod *, struct keel_obj *, void *), void *arg)
{
	struct keel_cursor *all = keel_cursor(mod, "resv");
	struct keel_obj *resv;

	while (all && (resv = keel_next(all)))
		fn(mod, resv, arg);
	keel_cursor_close(all);
}
