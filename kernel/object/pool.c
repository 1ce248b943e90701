/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.c - many pieces of one size, each known by a number.
 *
 * Neighbours in number are neighbours in memory: a walk through a hundred thousand pieces is fast.
 */
#include "object/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 16u
#define SHIFT_MOST 10u
#if defined(__SANITIZE_ADDRESS__)
#define CHUNK_BYTES 0u /* one piece each, so that AddressSanitizer sees its end */
#else
#define CHUNK_BYTES 16384u
#endif

struct pool_chunk {
	uint32_t n_taken;
	_Alignas(ALIGN) char bytes[];
};

void pool_init(struct pool *p, uint32_t size)
{
	*p = (struct pool){ .stride = (size + ALIGN - 1) / ALIGN * ALIGN };
	while (p->shift < SHIFT_MOST && p->stride << (p->shift + 1) <= CHUNK_BYTES)
		p->shift++;
}

void *pool_at(const struct pool *p, uint32_t number)
{
	return p->chunks[number >> p->shift]->bytes + (size_t)(number & ((1u << p->shift) - 1)) * p->stride;
}

static int widen(struct pool *p, uint32_t n)
{
	struct pool_chunk **chunks;

	if (n <= p->n_chunks)
		return 0;
	n += n / 2;
	chunks = reallocarray(p->chunks, n, sizeof(struct pool_chunk *));
	if (!chunks)
		return -ENOMEM;
	memset(chunks + p->n_chunks, 0, (n - p->n_chunks) * sizeof(struct pool_chunk *));
	p->chunks = chunks;
	p->n_chunks = n;
	return 0;
}

void *pool_take(struct pool *p, uint32_t number)
{
	uint32_t at = number >> p->shift;

	if (widen(p, at + 1) < 0)
		return NULL;
	if (!p->chunks[at]) {
		p->chunks[at] = malloc(sizeof(struct pool_chunk) + ((size_t)p->stride << p->shift));
		if (!p->chunks[at])
			return NULL;
		p->chunks[at]->n_taken = 0;
	}
	p->chunks[at]->n_taken++;
	return memset(pool_at(p, number), 0, p->stride);
}

void pool_give(struct pool *p, uint32_t number)
{
	struct pool_chunk **c = &p->chunks[number >> p->shift];

	if (--(*c)->n_taken > 0)
		return;
	free(*c);
	*c = NULL;
}

void pool_fini(struct pool *p)
{
	for (uint32_t i = 0; i < p->n_chunks; i++)
		free(p->chunks[i]);
	free(p->chunks);
}
