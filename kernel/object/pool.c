/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.c - many pieces of one size, each known by a number.
 *
 * Neighbours in number are neighbours in memory: a walk through a hundred thousand pieces is fast, and freeing all of
 * them needs none. AddressSanitizer is notified of which ones are taken.
 */
#include "object/pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define BETWEEN 16u /* unused bytes between one piece and the next */
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define BETWEEN 0u
#endif

#define ALIGN 16u
#define CHUNK_BYTES 16384u
#define SHIFT_MIN 6u
#define SHIFT_MOST 10u
#define WORD_BITS 64u

struct pool_chunk {
	uint32_t n_taken;
	uint64_t taken[(1u << SHIFT_MOST) / WORD_BITS];
	_Alignas(ALIGN) char bytes[];
};

void pool_init(struct pool *p, uint32_t size)
{
	*p = (struct pool){ .size = size, .shift = SHIFT_MIN };
	p->stride = (size + BETWEEN + ALIGN - 1) / ALIGN * ALIGN;
	while (p->shift < SHIFT_MOST && p->stride << (p->shift + 1) <= CHUNK_BYTES)
		p->shift++;
}

static struct pool_chunk *chunk_of(const struct pool *p, uint32_t number)
{
	return number >> p->shift < p->n_chunks ? p->chunks[number >> p->shift] : NULL;
}

static uint32_t place(const struct pool *p, uint32_t number)
{
	return number & ((1u << p->shift) - 1);
}

static void *piece(const struct pool *p, struct pool_chunk *c, uint32_t number)
{
	return c->bytes + (size_t)place(p, number) * p->stride;
}

static bool is_taken(const struct pool *p, const struct pool_chunk *c, uint32_t number)
{
	return c->taken[place(p, number) / WORD_BITS] >> number % WORD_BITS & 1;
}

static void flip(const struct pool *p, struct pool_chunk *c, uint32_t number)
{
	c->taken[place(p, number) / WORD_BITS] ^= 1ull << number % WORD_BITS;
}

static size_t chunk_bytes(const struct pool *p)
{
	return (size_t)p->stride << p->shift;
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

static struct pool_chunk *chunk_make(struct pool *p, uint32_t number)
{
	struct pool_chunk *c;

	if (widen(p, (number >> p->shift) + 1) < 0)
		return NULL;
	c = malloc(sizeof(*c) + chunk_bytes(p));
	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	ASAN_POISON_MEMORY_REGION(c->bytes, chunk_bytes(p));
	return p->chunks[number >> p->shift] = c;
}

static void chunk_free(const struct pool *p, struct pool_chunk *c)
{
	if (c)
		ASAN_UNPOISON_MEMORY_REGION(c->bytes, chunk_bytes(p));
	free(c);
}

void *pool_at(const struct pool *p, uint32_t number)
{
	struct pool_chunk *c = chunk_of(p, number);

	return c && is_taken(p, c, number) ? piece(p, c, number) : NULL;
}

void *pool_take(struct pool *p, uint32_t number)
{
	struct pool_chunk *c = chunk_of(p, number);
	void *at;

	if (!c)
		c = chunk_make(p, number);
	if (!c)
		return NULL;
	at = piece(p, c, number);
	if (is_taken(p, c, number))
		return at;
	flip(p, c, number);
	c->n_taken++;
	ASAN_UNPOISON_MEMORY_REGION(at, p->size);
	return memset(at, 0, p->size);
}

void pool_give(struct pool *p, uint32_t number)
{
	struct pool_chunk *c = chunk_of(p, number);

	flip(p, c, number);
	ASAN_POISON_MEMORY_REGION(piece(p, c, number), p->stride);
	if (--c->n_taken > 0)
		return;
	chunk_free(p, c);
	p->chunks[number >> p->shift] = NULL;
}

uint32_t pool_end(const struct pool *p)
{
	return p->n_chunks << p->shift;
}

void pool_fini(struct pool *p)
{
	for (uint32_t i = 0; i < p->n_chunks; i++)
		chunk_free(p, p->chunks[i]);
	free(p->chunks);
	p->chunks = NULL;
	p->n_chunks = 0;
}
