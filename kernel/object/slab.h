/* SPDX-License-Identifier: Apache-2.0
 *
 * slab.h - many zeroed pieces of one size.
 */
#ifndef KEELSON_OBJECT_SLAB_H
#define KEELSON_OBJECT_SLAB_H

#include <stdint.h>

struct chunk;
struct slab {
	uint32_t size;		  /* bytes of a piece */
	uint32_t per_chunk, used; /* pieces of a chunk; those of the first one that were taken */
	void *free; /* pieces that were given back */
	struct chunk *chunks;
};

void slab_init(struct slab *s, uint32_t size);
void *slab_take(struct slab *s); /* NULL: no memory */
void slab_give(struct slab *s, void *piece);
void slab_fini(struct slab *s); /* every piece must have been given back, or be forgotten by then */

#endif
