/* SPDX-License-Identifier: Apache-2.0
 *
 * private.c - modules' own memory on objects, freed with the object or the module.
 *
 * An object of a class has a number, of no other one while it lives. What a module has on object n is piece n
 * of its memory for that class, which comes in chunks: a reload takes and gives memory on a hundred thousand
 * objects, and looks at none of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define BETWEEN 16u /* bytes that are nobody's, between one piece and the next */
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define BETWEEN 0u
#endif

#define ALIGN 16u
#define PIECES 64u /* of a chunk: a bit of `taken` each */

struct chunk {
	uint64_t taken;
	_Alignas(ALIGN) char bytes[];
};

struct bind {
	struct owner *owner;
	struct class *klass;
	struct bind *next;	 /* of the class */
	struct bind *owner_next; /* of the owner */
	uint32_t size, stride;
	void (*fini)(struct keel_mod *, void *slot);
	struct chunk **chunks;
	uint32_t n_chunks;
};

/* ---- numbers --------------------------------------------------------------------------------- */
int number_take(struct class *c, uint32_t *ret_number)
{
	struct numbers *n = &c->numbers;

	if (n->n_spare == 0 && n->given == n->cap) {
		uint32_t cap = n->cap ? n->cap * 2 : PIECES, *spare;

		spare = reallocarray(n->spare, cap, sizeof(*spare)); /* all of them may come back */
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

/* ---- pieces ----------------------------------------------------------------------------------- */
static struct chunk *chunk_at(const struct bind *b, uint32_t number)
{
	return number / PIECES < b->n_chunks ? b->chunks[number / PIECES] : NULL;
}

static int chunks_widen(struct bind *b, uint32_t n)
{
	struct chunk **chunks;

	if (n <= b->n_chunks)
		return 0;
	n += n / 2;
	chunks = reallocarray(b->chunks, n, sizeof(struct chunk *));
	if (!chunks)
		return -ENOMEM;
	memset(chunks + b->n_chunks, 0, (n - b->n_chunks) * sizeof(struct chunk *));
	b->chunks = chunks;
	b->n_chunks = n;
	return 0;
}

static struct chunk *chunk_make(struct bind *b, uint32_t number)
{
	size_t size = (size_t)PIECES * b->stride;
	struct chunk *c = chunks_widen(b, number / PIECES + 1) == 0 ? malloc(sizeof(*c) + size) : NULL;

	if (!c)
		return NULL;
	c->taken = 0;
	ASAN_POISON_MEMORY_REGION(c->bytes, size);
	b->chunks[number / PIECES] = c;
	return c;
}

static void *piece_take(const struct bind *b, struct chunk *c, uint32_t i)
{
	void *piece = c->bytes + (size_t)i * b->stride;

	if (c->taken >> i & 1)
		return piece;
	c->taken |= 1ull << i;
	ASAN_UNPOISON_MEMORY_REGION(piece, b->size);
	return memset(piece, 0, b->size);
}

static void piece_give(const struct bind *b, struct chunk *c, uint32_t i)
{
	void *piece = c->bytes + (size_t)i * b->stride;

	if (b->fini)
		b->fini(&b->owner->pub, piece);
	c->taken &= ~(1ull << i);
	ASAN_POISON_MEMORY_REGION(piece, b->stride);
}

static void chunk_free(const struct bind *b, struct chunk *c)
{
	while (c && b->fini && c->taken)
		piece_give(b, c, (uint32_t)__builtin_ctzll(c->taken));
	if (c)
		ASAN_UNPOISON_MEMORY_REGION(c->bytes, (size_t)PIECES * b->stride);
	free(c);
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
	struct bind *b, **at;

	if (!c)
		return -ENOMEM;
	if (size == 0)
		return -EINVAL;
	if (bind_of(owner, c))
		return -EEXIST;
	b = malloc(sizeof(*b));
	if (!b)
		return -ENOMEM;
	*b = (struct bind){ .owner = owner, .klass = c, .size = size, .fini = fini,
			    .stride = (size + BETWEEN + ALIGN - 1) / ALIGN * ALIGN,
			    .owner_next = owner->binds };
	owner->binds = b;
	for (at = &c->binds; *at;)
		at = &(*at)->next;
	*at = b;
	return 0;
}

bool objects_bound(const struct owner *user, const struct owner *of)
{
	const struct bind *b = user != of ? user->binds : NULL;

	while (b && b->klass->owner != of)
		b = b->owner_next;
	return b != NULL;
}

void *private_slot(struct keel_mod *m, struct keel_obj *o)
{
	struct bind *b = bind_of(owner_of(m), o->klass);
	struct chunk *c;

	if (!b || o->flags & OBJ_DEAD)
		return NULL;
	c = chunk_at(b, o->number);
	if (!c)
		c = chunk_make(b, o->number);
	return c ? piece_take(b, c, o->number % PIECES) : NULL;
}

void private_free(struct keel_obj *o)
{
	uint32_t i = o->number % PIECES;

	for (struct bind *b = o->klass->binds; b; b = b->next) {
		struct chunk *c = chunk_at(b, o->number);

		if (c && c->taken >> i & 1)
			piece_give(b, c, i);
	}
}

static void bind_end(struct bind *b)
{
	struct bind **at = &b->klass->binds;

	for (uint32_t i = 0; i < b->n_chunks; i++)
		chunk_free(b, b->chunks[i]);
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	free(b->chunks);
	free(b);
}

void objects_detach(struct owner *owner)
{
	while (owner->binds) {
		struct bind *b = owner->binds;

		owner->binds = b->owner_next;
		bind_end(b);
	}
}

/* The class ends with the engine: nobody is called any more. */
void binds_end(struct class *c)
{
	while (c->binds) {
		c->binds->fini = NULL;
		bind_end(c->binds);
	}
}
