/* SPDX-License-Identifier: Apache-2.0
 *
 * kept.c - values of rows that were withdrawn.
 *
 * They stay in their slots, under a row that no lookup returns: when the module is loaded again, as in a reload, its
 * row takes them over and no object is touched. Stored rows include them meanwhile. Those that cannot stay become
 * raw bytes, all in one walk: when the type is withdrawn (except for numbers and plain texts), when a row of that name
 * has another type, or when the class has no number left. Values that are not saved are dropped then.
 */
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "types/types.h"

void kept_add(const struct keel_attr *a)
{
	struct class *c = a->klass;
	struct keel_attr *k = malloc(sizeof(*k));

	if (!k)
		value_lost();
	*k = *a;
	attr_own_words(k);
	k->def.flags = a->def.flags & KEEL_ATTR_SAVE;
	index_key_init(&k->name, k->def.name, strlen(k->def.name));
	k->next = c->kept;
	c->kept = k;
	c->by_number[k->number] = k;
}

static void values_leave(struct keel_obj *o, const uint64_t *mask, struct buf *pairs)
{
	uint32_t n = 0;

	pairs->len = 0;
	EACH_BIT(number, o->set[w] & mask[w]) {
		const struct keel_attr *k = o->klass->by_number[number];

		if (k->def.flags & KEEL_ATTR_SAVE) {
			raw_encode(pairs, k, value_at(o, k));
			n++;
		}
		value_drop(o, k);
	}
	if (pairs->failed || (n && raw_add(o, pairs, n) < 0))
		value_lost();
}

static struct keel_attr **kept_remove(struct class *c, struct keel_attr **at)
{
	struct keel_attr *k = *at;

	c->by_number[k->number] = NULL;
	*at = k->next;
	free(k->words);
	free(k);
	return at;
}

/* The kept values in `mask` become raw bytes, or are dropped when they are not saved. */
static void kept_sweep(struct class *c, uint64_t *mask)
{
	struct buf pairs = { 0 };

	for (const struct keel_attr *k = c->kept; k; k = k->next)
		if (!(k->def.flags & KEEL_ATTR_SAVE))
			bit_set(mask, k->number);
	for (uint32_t i = 0; i < c->live.n; i++)
		if (c->live.at[i])
			values_leave(c->live.at[i], mask, &pairs);
	for (struct keel_obj *o = c->drafts; o; o = o->next)
		values_leave(o, mask, &pairs);
	buf_fini(&pairs);
	for (struct keel_attr **at = &c->kept; *at;)
		at = bit_get(mask, (*at)->number) ? kept_remove(c, at) : &(*at)->next;
}

static bool is_number(const struct type *t)
{
	return t->def.flags & KEEL_TYPE_INT;
}

static bool is_text(const struct type *t)
{
	const uint32_t flags = KEEL_TYPE_STRING | KEEL_TYPE_TEXT;

	return (t->def.flags & flags) == flags || t->def.parse == type_string.parse;
}

/* Returns whether values of the two types have the same form, as if stored and read. */
static bool is_same(const struct type *a, const struct type *b)
{
	return a == b || (is_number(a) && is_number(b)) || (is_text(a) && is_text(b));
}

/* Returns the type that can keep its values once it is withdrawn; NULL: none. */
static struct type *heir_of(const struct objects *o, const struct type *t)
{
	return is_number(t) ? type_find(o, "long") : is_text(t) ? type_find(o, "string") : NULL;
}

uint32_t kept_take(struct class *c, const struct keel_attr *a)
{
	struct keel_attr **at = &c->kept, *k;
	uint32_t number;

	while ((k = *at) && strcmp(k->def.name, a->def.name) != 0)
		at = &k->next;
	if (!k)
		return ATTR_NONE;
	if (!is_same(k->type, a->type) || !KEEL_ATTR_HAS_VALUE(&a->def) || !(k->def.flags & KEEL_ATTR_SAVE)) {
		uint64_t mask[ATTR_WORDS] = { 0 };

		bit_set(mask, k->number);
		kept_sweep(c, mask);
		return ATTR_NONE;
	}
	number = k->number;
	kept_remove(c, at);
	return number;
}

void kept_leave(struct objects *o, const struct type *t)
{
	struct type *heir = t ? heir_of(o, t) : NULL;

	for (struct class *c = o->classes; c; c = c->next) {
		uint64_t mask[ATTR_WORDS] = { 0 };
		bool any = false;

		for (struct keel_attr *k = c->kept; k; k = k->next) {
			if (t && k->type != t)
				continue;
			if (heir) {
				k->type = heir;
				continue;
			}
			bit_set(mask, k->number);
			any = true;
		}
		if (any)
			kept_sweep(c, mask);
	}
}

void kept_end(struct class *c)
{
	while (c->kept)
		kept_remove(c, &c->kept);
}
