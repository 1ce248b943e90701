/* SPDX-License-Identifier: Apache-2.0
 *
 * slab.c - many zeroed pieces of one size, given back one by one or all at once.
 *
 * Private memory of modules on a hundred thousand objects comes and goes with a reload: as single
 * allocations that alone would take longer than a request may wait. Sanitizers see each piece.
 */
#include <stdlib.h>
#include <string.h>

#include "object/slab.h"

#define CHUNK_BYTES 32768u
#define ALIGN 16u

struct chunk {
	struct chunk *next;
	_Alignas(ALIGN) char bytes[];
};

#if defined(__SANITIZE_ADDRESS__)
#define SINGLE 1
#else
#define SINGLE 0
#endif

void slab_init(struct slab *s, uint32_t size)
{
	*s = (struct slab){ .size = (size + ALIGN - 1) / ALIGN * ALIGN };
	s->per_chunk = s->size < CHUNK_BYTES ? CHUNK_BYTES / s->size : 1;
	s->used = s->per_chunk;
}

static void *slab_fresh(struct slab *s)
{
	struct chunk *c = s->chunks;

	if (s->used == s->per_chunk) {
		c = malloc(sizeof(*c) + (size_t)s->per_chunk * s->size);
		if (!c)
			return NULL;
		c->next = s->chunks;
		s->chunks = c;
		s->used = 0;
	}
	return c->bytes + (size_t)s->used++ * s->size;
}

void *slab_take(struct slab *s)
{
	void *piece = s->free;

	if (SINGLE)
		return calloc(1, s->size);
	if (piece)
		memcpy(&s->free, piece, sizeof(s->free));
	else
		piece = slab_fresh(s);
	return piece ? memset(piece, 0, s->size) : NULL;
}

void slab_give(struct slab *s, void *piece)
{
	if (SINGLE) {
		free(piece);
		return;
	}
	memcpy(piece, &s->free, sizeof(s->free));
	s->free = piece;
}

void slab_fini(struct slab *s)
{
	while (s->chunks) {
		struct chunk *c = s->chunks;

		s->chunks = c->next;
		free(c);
	}
	*s = (struct slab){ 0 };
}
