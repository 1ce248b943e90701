/* SPDX-License-Identifier: Apache-2.0
 *
 * value.c - the packed slots of one object.
 *
 * Bit n of `set`: attribute n has a value. The index of its slot is the number of lower bits that are set.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"

#define STEP 4u

void value_lost(void)
{
	fputs("keelsond: no memory to keep a changed value; stopping, so that a restart finds the "
	      "last state that was acknowledged\n",
	      stderr);
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
	uint32_t need = o->n + more, cap;
	union keel_slot *slot;

	if (need <= o->cap)
		return 0;
	if (need > ATTR_MAX)
		need = ATTR_MAX;
	cap = (need + STEP - 1) / STEP * STEP;
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

void value_drop(struct keel_obj *o, const struct keel_attr *a)
{
	if (!bit_get(o->set, a->number))
		return;
	type_drop(a->type, &o->slot[place(o, a->number)]);
	value_emptied(o, a);
}

void value_emptied(struct keel_obj *o, const struct keel_attr *a)
{
	uint32_t at = place(o, a->number);

	o->n--;
	memmove(&o->slot[at], &o->slot[at + 1], (o->n - at) * sizeof(o->slot[0]));
	bit_clear(o->set, a->number);
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

/* "ncpus=1,mem=2gb": the default of a row whose type has keys. */
static int keyed_fallback(const struct keel_attr *a, union keel_slot *slot, bool *is_set)
{
	char *list = strdup(a->def.fallback), *save = NULL;
	int rc = list ? 0 : -ENOMEM;

	for (char *item = list ? strtok_r(list, ",", &save) : NULL; item && rc == 0;
	     item = strtok_r(NULL, ",", &save)) {
		char *value = strchr(item, '=');
		struct keel_err err;

		if (!value)
			continue;
		*value++ = '\0';
		/* A key that the type does not know (now) gives no value. */
		(void)type_parse(a, KEEL_SET, item, value, slot, is_set, &err);
	}
	free(list);
	return rc;
}

int value_fallback(struct keel_obj *o, const struct keel_attr *a)
{
	union keel_slot slot = { 0 };
	bool is_set = false;
	struct keel_err err;
	int rc = 0;

	if (a->type->def.flags & KEEL_TYPE_KEYED)
		rc = keyed_fallback(a, &slot, &is_set);
	else if (type_parse(a, KEEL_SET, NULL, a->def.fallback, &slot, &is_set, &err))
		rc = -ENOMEM; /* the text itself was accepted when the row was added */
	if (rc == 0 && is_set)
		rc = value_put(o, a, &slot);
	if (rc < 0 && is_set)
		type_drop(a->type, &slot);
	return rc;
}
