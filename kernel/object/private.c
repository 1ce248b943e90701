/* SPDX-License-Identifier: Apache-2.0
 *
 * private.c - private memory of modules on objects, freed with the object or the module.
 *
 * Each module that asked for it has a place in the class; an object has as many pieces, which are made at first use.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "object/object.h"
#include "util/crumb.h"

struct bind {
	struct owner *owner;
	struct class *klass;
	struct bind *next;	 /* of the class */
	struct bind *owner_next; /* of the owner */
	uint16_t at; /* no other one of the class has it */
	uint32_t size;
	void (*fini)(struct keel_mod *, void *slot);
};

/* ---- binds ------------------------------------------------------------------------------------- */
static struct bind *bind_of(const struct owner *owner, const struct class *c)
{
	struct bind *b = owner->binds;

	while (b && b->klass != c)
		b = b->owner_next;
	return b;
}

static struct bind *bind_at(const struct class *c, uint16_t at)
{
	struct bind *b = c->binds;

	while (b && b->at != at)
		b = b->next;
	return b;
}

int32_t private_bind(struct keel_mod *m, const char *klass, uint32_t size,
		     void (*fini)(struct keel_mod *, void *slot))
{
	struct class *c = class_get(objects_of(m), klass);
	struct owner *owner = owner_of(m);
	struct bind *b;
	uint16_t at = 0;

	if (!c)
		return -ENOMEM;
	if (size == 0)
		return -EINVAL;
	if (bind_of(owner, c))
		return -EEXIST;
	while ((b = bind_at(c, at)))
		at++;
	b = malloc(sizeof(*b));
	if (!b)
		return -ENOMEM;
	*b = (struct bind){ .owner = owner, .klass = c, .at = at, .size = size, .fini = fini, .owner_next = owner->binds };
	owner->binds = b;
	LL_APPEND(c->binds, b);
	return 0;
}

uint16_t private_room(const struct class *c)
{
	const struct bind *b;
	uint16_t n = 0;

	LL_FOREACH(c->binds, b)
		n = b->at < n ? n : (uint16_t)(b->at + 1);
	return n;
}

/* For a bind that is younger than the object. Returns 0 or -ENOMEM. */
static int pieces_widen(struct keel_obj *o)
{
	uint16_t n = private_room(o->klass);
	void **piece = calloc(n, sizeof(void *));

	if (!piece)
		return -ENOMEM;
	memcpy(piece, o->piece, o->n_pieces * sizeof(void *));
	if (o->piece != o->first_pieces)
		free(o->piece);
	o->piece = piece;
	o->n_pieces = n;
	return 0;
}

void *private_slot(struct keel_mod *m, struct keel_obj *o)
{
	const struct bind *b = bind_of(owner_of(m), o->klass);

	if (!b || o->flags & OBJ_DEAD || (b->at >= o->n_pieces && pieces_widen(o) < 0))
		return NULL;
	if (!o->piece[b->at])
		o->piece[b->at] = calloc(1, b->size);
	return o->piece[b->at];
}

static void piece_free(void *bind, struct keel_obj *o)
{
	const struct bind *b = bind;
	void *piece = b->at < o->n_pieces ? o->piece[b->at] : NULL;

	if (piece && b->fini)
		CRUMB_CALL(b->owner, "slot destructor", NULL, b->fini(&b->owner->pub, piece));
	if (piece)
		o->piece[b->at] = NULL;
	free(piece);
}

void private_free(struct keel_obj *o)
{
	for (struct bind *b = o->klass->binds; b; b = b->next)
		piece_free(b, o);
}

/* While its destructor runs, the module's other pieces still exist. */
void objects_detach(struct owner *owner)
{
	struct bind *b;

	while ((b = owner->binds)) {
		class_each(b->klass, piece_free, b);
		owner->binds = b->owner_next;
		LL_DELETE(b->klass->binds, b);
		free(b);
	}
}

/* The class ends with the engine, after its modules. */
void binds_end(struct class *c)
{
	struct bind *b, *next;

	LL_FOREACH_SAFE(c->binds, b, next)
		free(b);
	c->binds = NULL;
}
