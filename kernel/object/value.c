/* SPDX-License-Identifier: Apache-2.0
 *
 * value.c - the packed slots of one object; values set by the system.
 *
 * Bit n of `set`: attribute n has a value. The index of its slot is the number of lower bits that are set.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "util/err.h"

void value_lost(void)
{
	fputs("keelsond: no memory to keep a changed value; stopping, so that a restart finds the "
	      "last state that was acknowledged\n", stderr);
	abort();
}

static uint32_t place(const struct keel_obj *o, uint32_t n)
{
	uint32_t word = n / 64, before = 0;

	for (uint32_t i = 0; i < word; i++)
		before += (uint32_t)__builtin_popcountll(o->set[i]);
	return before + (uint32_t)__builtin_popcountll(o->set[word] & ((1ull << n % 64) - 1));
}

union keel_slot *value_at(const struct keel_obj *o, const struct keel_attr *a)
{
	return bit_get(o->set, a->number) ? &o->slot[place(o, a->number)] : NULL;
}

int value_reserve(struct keel_obj *o, uint32_t more)
{
	uint32_t need = o->n + more < ATTR_MAX ? o->n + more : ATTR_MAX;
	uint32_t cap = (need + 2) / 4 * 4 + 1; /* fills what malloc() takes */
	union keel_slot *slot;

	if (need <= o->cap)
		return 0;
	slot = realloc(o->slot, cap * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	o->slot = slot;
	o->cap = (uint16_t)cap;
	return 0;
}

int value_put(struct keel_obj *o, const struct keel_attr *a, const union keel_slot *slot)
{
	uint32_t at = place(o, a->number);

	if (bit_get(o->set, a->number)) {
		type_drop(a->type, &o->slot[at]);
		o->slot[at] = *slot;
		return 0;
	}
	/* No extra room for change sets: a commit puts its value into the room that it reserved. */
	if (o->n == o->cap && value_reserve(o, 1) < 0)
		return -ENOMEM;
	memmove(&o->slot[at + 1], &o->slot[at], (o->n - at) * sizeof(*slot));
	o->slot[at] = *slot;
	bit_set(o->set, a->number);
	o->n++;
	return 0;
}

/* Removes the slot of a value that its type has freed already. */
static void value_emptied(struct keel_obj *o, const struct keel_attr *a)
{
	uint32_t at = place(o, a->number);

	o->n--;
	memmove(&o->slot[at], &o->slot[at + 1], (o->n - at) * sizeof(o->slot[0]));
	bit_clear(o->set, a->number);
}

void value_drop(struct keel_obj *o, const struct keel_attr *a)
{
	if (!bit_get(o->set, a->number))
		return;
	type_drop(a->type, &o->slot[place(o, a->number)]);
	value_emptied(o, a);
}

void value_drop_all(struct keel_obj *o)
{
	uint32_t at = 0;

	EACH_BIT(number, o->set[w])
		type_drop(o->klass->by_number[number]->type, &o->slot[at++]);
	free(o->slot);
	o->slot = NULL;
	o->n = o->cap = 0;
	memset(o->set, 0, sizeof(o->set));
}

/* Moves *slot into the object, without using the room that change sets reserved. Returns 0 or -ENOMEM. */
static int value_write(struct keel_obj *o, const struct keel_attr *a, const union keel_slot *slot)
{
	return value_reserve(o, 1 + changes_of(o)) < 0 ? -ENOMEM : value_put(o, a, slot);
}

int32_t value_parse(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key, const char *text,
		    struct keel_err *err)
{
	union keel_slot *old = value_at(o, a), slot = { 0 };
	bool is_set = old != NULL;
	int32_t code = type_parse(a, op, key, text, old ? old : &slot, &is_set, err);

	if (code)
		return code;
	if (old && !is_set)
		value_emptied(o, a);
	if (!old && is_set && value_write(o, a, &slot) < 0) {
		type_drop(a->type, &slot);
		return err_no_memory(err);
	}
	return 0;
}

/* ---- values set by the system ----------------------------------------------------------------
 * Without permission and check(), and changed() is not called. Setting a derived attribute, one whose row is withdrawn,
 * or one of a dead object does nothing. */

static bool writable(const struct keel_obj *o, const struct keel_attr *a)
{
	return !(o->flags & OBJ_DEAD) && KEEL_ATTR_HAS_VALUE(&a->def) && a->klass;
}

static void value_touched(struct keel_obj *o, const struct keel_attr *a)
{
	if (a->def.flags & KEEL_ATTR_SAVE)
		write_touch(o);
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
	value_touched(o, a);
}

int32_t write_str(struct keel_obj *o, const struct keel_attr *a, const char *text)
{
	union keel_slot slot;

	if (!writable(o, a))
		return 0;
	if (!a->type->text)
		return write_text(o, a, KEEL_SET, NULL, text, NULL) ? -EINVAL : 0;
	if (!text || !*text) {
		write_unset(o, a, NULL);
		return 0;
	}
	slot.p = strdup(text);
	if (!slot.p || value_write(o, a, &slot) < 0) {
		free(slot.p);
		return -ENOMEM;
	}
	value_touched(o, a);
	return 0;
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
	value_touched(o, a);
}

int32_t write_text(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
		   const char *text, struct keel_err *err)
{
	bool was_set = bit_get(o->set, a->number);
	int32_t code = writable(o, a) ? value_parse(o, a, op, key, text, err) : 0;

	if (!code && (was_set || bit_get(o->set, a->number)))
		value_touched(o, a);
	return code;
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
