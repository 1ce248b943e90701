/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.h - many pieces of one size, each known by a number.
 */
#ifndef KEELSON_POOL_H
#define KEELSON_POOL_H

#include <stdint.h>

struct pool_chunk;
struct pool {
	uint32_t stride; /* from one piece to the next */
	uint32_t shift;	 /* a chunk has 1 << shift of them */
	struct pool_chunk **chunks;
	uint32_t n_chunks;
};

void pool_init(struct pool *p, uint32_t size);
/* Returns the piece of a number that is not taken, zeroed. NULL: no memory. */
void *pool_take(struct pool *p, uint32_t number);
/* For numbers that are taken. */
void *pool_at(const struct pool *p, uint32_t number);
void pool_give(struct pool *p, uint32_t number);
void pool_fini(struct pool *p); /* frees all pieces, taken or not */

#endif
