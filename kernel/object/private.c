/* SPDX-License-Identifier: Apache-2.0
 *
 * private.c - private memory of modules on objects, freed with the object or the module.
 *
 * An object has a number that is unique in its class while it lives. A module's memory on object n is piece n of its
 * pool for that class; a bit of the object says whether it has one.
 */
#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "object/object.h"
#include "util/crumb.h"

#define FIRST_NUMBERS 64u

struct bind {
	struct owner *owner;
	struct class *klass;
	struct bind *next;	 /* of the class */
	struct bind *owner_next; /* of the owner */
	uint32_t bit; /* no other one of the class has it */
	void (*fini)(struct keel_mod *, void *slot);
	struct pool pieces;
};

/* ---- numbers --------------------------------------------------------------------------------- */
int number_take(struct class *c, uint32_t *ret_number)
{
	struct numbers *n = &c->numbers;

	if (n->n_spare == 0 && n->given == n->cap) {
		uint32_t cap = n->cap ? n->cap * 2 : FIRST_NUMBERS, *spare;

		spare = reallocarray(n->spare, cap, sizeof(*spare)); /* returning a number cannot fail */
		if (!spare)
			return -ENOMEM;
		n->spare = spare;
		n->cap = cap;
	}
	*ret_number = n->n_spare > 0 ? n->spare[--n->n_spare] : n->given++;
	return 0;
}

void number_give(struct class *c, uint32_t number)
{
	c->numbers.spare[c->numbers.n_spare++] = number;
}

/* ---- binds ------------------------------------------------------------------------------------- */
static struct bind *bind_of(const struct owner *owner, const struct class *c)
{
	struct bind *b = owner->binds;

	while (b && b->klass != c)
		b = b->owner_next;
	return b;
}

int32_t private_bind(struct keel_mod *m, const char *klass, uint32_t size,
		     void (*fini)(struct keel_mod *, void *slot))
{
	struct class *c = class_get(objects_of(m), klass);
	struct owner *owner = owner_of(m);
	uint32_t used = 0;
	struct bind *b;

	if (!c)
		return -ENOMEM;
	if (size == 0)
		return -EINVAL;
	if (bind_of(owner, c))
		return -EEXIST;
	LL_FOREACH(c->binds, b)
		used |= b->bit;
	b = ~used ? malloc(sizeof(*b)) : NULL;
	if (!b)
		return -ENOMEM;
	*b = (struct bind){ .owner = owner, .klass = c, .bit = ~used & -~used, .fini = fini, .owner_next = owner->binds };
	pool_init(&b->pieces, size);
	owner->binds = b;
	LL_APPEND(c->binds, b);
	return 0;
}

void *private_slot(struct keel_mod *m, struct keel_obj *o)
{
	struct bind *b = bind_of(owner_of(m), o->klass);
	void *piece;

	if (!b || o->flags & OBJ_DEAD)
		return NULL;
	if (o->pieces & b->bit)
		return pool_at(&b->pieces, o->number);
	piece = pool_take(&b->pieces, o->number);
	if (piece)
		o->pieces |= b->bit;
	return piece;
}

static void piece_give(void *bind, struct keel_obj *o)
{
	struct bind *b = bind;

	if (!(o->pieces & b->bit))
		return;
	if (b->fini) {
		struct crumb crumb;

		crumb_begin(&crumb, b->owner, "slot destructor", NULL);
		b->fini(&b->owner->pub, pool_at(&b->pieces, o->number));
		crumb_end(&crumb);
	}
	o->pieces &= ~b->bit;
	pool_give(&b->pieces, o->number);
}

void private_free(struct keel_obj *o)
{
	for (struct bind *b = o->klass->binds; b && o->pieces; b = b->next)
		piece_give(b, o);
}

/* While its destructor runs, the module's other pieces still exist. */
void objects_detach(struct owner *owner)
{
	struct bind *b;

	while ((b = owner->binds)) {
		class_each(b->klass, piece_give, b);
		pool_fini(&b->pieces);
		owner->binds = b->owner_next;
		LL_DELETE(b->klass->binds, b);
		free(b);
	}
}

/* The class ends with the engine, after its modules. */
void binds_end(struct class *c)
{
	struct bind *b, *next;

	LL_FOREACH_SAFE(c->binds, b, next) {
		pool_fini(&b->pieces);
		free(b);
	}
	c->binds = NULL;
}
