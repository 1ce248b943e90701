/* SPDX-License-Identifier: Apache-2.0
 *
 * clone.c - a draft that begins as a copy of another object: its values, not its private memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "util/err.h"

/* The slots have the order of the rows that are set. */
static int copy_slots(struct keel_obj *to, const struct keel_obj *from)
{
	const union keel_slot *slot = from->slot;
	if (value_reserve(to, from->n) < 0)
		return -ENOMEM;
	EACH_BIT(number, from->set[w]) {
		const struct keel_attr *a = from->klass->by_number[number];

		slot++;
		if (a->def.flags & KEEL_ATTR_OWN)
			continue;
		if (type_copy(a->type, slot - 1, &to->slot[to->n]) < 0)
			return -ENOMEM;
		bit_set(to->set, number);
		to->n++;
	}
	return 0;
}

static int copy_raw(struct keel_obj *to, const struct keel_obj *from)
{
	size_t size = from->raw ? sizeof(*from->raw) + from->raw->len : 0;

	to->raw = size ? malloc(size) : NULL;
	if (!to->raw)
		return size ? -ENOMEM : 0;
	memcpy(to->raw, from->raw, size);
	return 0;
}

struct keel_obj *object_clone(struct keel_mod *m, struct keel_obj *from, const char *id, struct keel_err *err)
{
	struct keel_obj *o = obj_begin(from->klass, id, err);

	(void)m;
	if (!o)
		return NULL;
	if (copy_slots(o, from) < 0 || copy_raw(o, from) < 0) {
		err_no_memory(err);
		object_destroy(o);
		return NULL;
	}
	return o;
}
