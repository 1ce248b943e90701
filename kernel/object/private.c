/* SPDX-License-Identifier: Apache-2.0
 *
 * private.c - modules' own memory on objects, freed with the object or the module.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"

#define BINDS_MAX 1024u

static struct bind *bind_of(const struct class *c, const struct owner *owner)
{
	for (uint32_t i = 0; i < c->n_binds; i++)
		if (c->binds[i].owner == owner)
			return &c->binds[i];
	return NULL;
}

int32_t private_bind(struct keel_mod *m, const char *klass, uint32_t size,
		     void (*fini)(struct keel_mod *, void *slot))
{
	struct class *c = class_get(objects_of(m), klass);
	struct bind *b;

	if (!c)
		return -ENOMEM;
	if (size == 0)
		return -EINVAL;
	if (bind_of(c, owner_of(m)))
		return -EEXIST;
	b = bind_of(c, NULL);
	if (!b) {
		b = c->n_binds < BINDS_MAX ?
			    realloc(c->binds, (c->n_binds + 1) * sizeof(*b)) :
			    NULL;
		if (!b)
			return -ENOMEM;
		c->binds = b;
		b += c->n_binds++;
	}
	*b = (struct bind){ .owner = owner_of(m), .size = size, .fini = fini };
	slab_init(&b->slots, size);
	return 0;
}

bool objects_bound(const struct objects *o, const struct owner *user, const struct owner *of)
{
	for (const struct class *c = o->classes; c; c = c->next)
		if (c->owner == of && user != of && bind_of(c, user))
			return true;
	return false;
}

static int widen(struct keel_obj *o, uint32_t n)
{
	void **priv = realloc(o->priv, n * sizeof(*priv));

	if (!priv)
		return -ENOMEM;
	memset(priv + o->n_priv, 0, (n - o->n_priv) * sizeof(*priv));
	o->priv = priv;
	o->n_priv = (uint16_t)n;
	return 0;
}

void *private_slot(struct keel_mod *m, struct keel_obj *o)
{
	const struct class *c = o->klass;
	struct bind *b = bind_of(c, owner_of(m));
	uint32_t i;

	if (!b || o->flags & OBJ_DEAD)
		return NULL;
	i = (uint32_t)(b - c->binds);
	if (i >= o->n_priv && widen(o, i + 1) < 0)
		return NULL;
	if (!o->priv[i])
		o->priv[i] = slab_take(&b->slots);
	return o->priv[i];
}

static void slot_free(struct keel_obj *o, uint32_t i)
{
	struct bind *b = &o->klass->binds[i];
	void *slot = i < o->n_priv ? o->priv[i] : NULL;

	if (!slot)
		return;
	o->priv[i] = NULL;
	if (b->fini)
		b->fini(&b->owner->pub, slot);
	slab_give(&b->slots, slot);
}

void private_free(struct keel_obj *o)
{
	for (uint32_t i = 0; i < o->n_priv; i++)
		slot_free(o, i);
	free(o->priv);
	o->priv = NULL;
	o->n_priv = 0;
}

static void bind_end(struct bind *b)
{
	slab_fini(&b->slots);
	*b = (struct bind){ 0 };
}

/* Numbers of the binds that `owners` have on `c`. */
static uint32_t binds_of(const struct class *c, struct owner *const *owners, uint32_t n, uint32_t *numbers)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct bind *b = bind_of(c, owners[i]);

		if (b)
			numbers[found++] = (uint32_t)(b - c->binds);
	}
	return found;
}

static void list_leave(struct list *l, const uint32_t *numbers, uint32_t n)
{
	for (struct keel_obj *o = l->first; o; o = o->next)
		for (uint32_t i = 0; o->priv && i < n; i++)
			slot_free(o, numbers[i]);
}

/* One walk for all of them: with many objects the walk is what costs. */
void objects_detach(struct objects *o, struct owner *const *owners, uint32_t n)
{
	uint32_t *numbers = malloc((n ? n : 1) * sizeof(*numbers));

	if (!numbers)
		value_lost();
	for (struct class *c = o->classes; c; c = c->next) {
		uint32_t found = binds_of(c, owners, n, numbers);

		if (!found)
			continue;
		list_leave(&c->live, numbers, found);
		list_leave(&c->drafts, numbers, found);
		for (uint32_t i = 0; i < found; i++)
			bind_end(&c->binds[numbers[i]]);
	}
	free(numbers);
}
