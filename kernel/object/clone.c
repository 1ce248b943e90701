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
static int copy_slots(struct keel_obj *to, const struct keel_obj *from, bool all)
{
	const union keel_slot *slot = from->slot;
	if (value_reserve(to, from->n) < 0)
		return -ENOMEM;
	EACH_BIT(number, from->set[w]) {
		const struct keel_attr *a = from->klass->by_number[number];

		slot++;
		if (!all && (a->def.flags & KEEL_ATTR_OWN))
			continue;
		if (type_copy(a->type, slot - 1, &to->slot[to->n]) < 0)
			return -ENOMEM;
		bit_set(to->set, number);
		to->n++;
	}
	return 0;
}

static struct keel_obj *copy(struct keel_obj *from, const char *id, bool all, struct keel_err *err)
{
	struct keel_obj *o = obj_begin(from->klass, id, err);

	if (!o)
		return NULL;
	if (copy_slots(o, from, all) < 0 || (from->raw && raw_add(o, from->raw->bytes, from->raw->len, from->raw->n) < 0)) {
		err_no_memory(err);
		object_destroy(o);
		return NULL;
	}
	return o;
}

struct keel_obj *objects_copy(struct keel_obj *o)
{
	return copy(o, "a copy", true, NULL); /* published ones have other names */
}

struct keel_obj *object_clone(struct keel_mod *m, struct keel_obj *from, const char *id, struct keel_err *err)
{
	(void)m;
	return copy(from, id, false, err);
}
