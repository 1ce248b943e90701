/* SPDX-License-Identifier: Apache-2.0
 *
 * write.c - values set by the system: without permission and check(), and changed() is not called.
 *
 * Setting a derived attribute, one whose row is withdrawn, or one of a dead object does nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "util/err.h"

static bool writable(const struct keel_obj *o, const struct keel_attr *a)
{
	return !(o->flags & OBJ_DEAD) && KEEL_ATTR_HAS_VALUE(&a->def) && a->klass;
}

static void value_touched(struct keel_obj *o, const struct keel_attr *a)
{
	if (a->def.flags & KEEL_ATTR_SAVE)
		write_touch(o);
}

/* Moves *slot into the object, without using the room that change sets reserved. Returns 0 or -ENOMEM. */
static int value_write(struct keel_obj *o, const struct keel_attr *a, const union keel_slot *slot)
{
	if (value_reserve(o, 1 + changes_of(o)) < 0 || value_put(o, a, slot) < 0)
		return -ENOMEM;
	value_touched(o, a);
	return 0;
}

void write_int(struct keel_obj *o, const struct keel_attr *a, int64_t n)
{
	union keel_slot *old;

	if (!writable(o, a) || !(a->type->def.flags & KEEL_TYPE_INT))
		return;
	old = value_at(o, a);
	if (old && old->i == n)
		return;
	if (value_write(o, a, &(union keel_slot){ .i = n }) < 0)
		value_lost();
}

int32_t write_str(struct keel_obj *o, const struct keel_attr *a, const char *text)
{
	union keel_slot slot;

	if (!writable(o, a))
		return 0;
	if (a->type->quick != QUICK_STRING)
		return write_text(o, a, KEEL_SET, NULL, text, NULL) ? -EINVAL : 0;
	if (!text || !*text) {
		write_unset(o, a, NULL);
		return 0;
	}
	slot.p = strdup(text);
	if (slot.p && value_write(o, a, &slot) == 0)
		return 0;
	free(slot.p);
	return -ENOMEM;
}

void write_ptr(struct keel_obj *o, const struct keel_attr *a, void *p)
{
	union keel_slot slot = { .p = p };

	if (!p) {
		write_unset(o, a, NULL);
		return;
	}
	if (!writable(o, a) || a->type->scalar || (a->type->def.flags & KEEL_TYPE_INT))
		return;
	if (value_write(o, a, &slot) < 0)
		value_lost();
}

/* Parses into the current value: a type's parse() leaves it unchanged on an error. */
int32_t write_text(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
		   const char *text, struct keel_err *err)
{
	union keel_slot *old = value_at(o, a), slot = { 0 };
	bool is_set = old != NULL;
	int32_t code;

	if (!writable(o, a))
		return 0;
	code = type_parse(a, op, key, text, old ? old : &slot, &is_set, err);
	if (code)
		return code;
	if (old && is_set)
		value_touched(o, a);
	else if (old) {
		value_emptied(o, a);
		value_touched(o, a);
	} else if (is_set && value_write(o, a, &slot) < 0) {
		type_drop(a->type, &slot);
		return err_no_memory(err);
	}
	return 0;
}

void write_unset(struct keel_obj *o, const struct keel_attr *a, const char *key)
{
	union keel_slot *slot = value_at(o, a);

	if (!slot || !writable(o, a))
		return;
	if (!key || !(a->type->def.flags & KEEL_TYPE_KEYED) ||
	    a->type->def.unset(mod_of(a->type->owner), slot, key))
		value_drop(o, a);
	value_touched(o, a);
}
