/* SPDX-License-Identifier: Apache-2.0
 *
 * index.h - find a thing by its name: open addressing, 8 bytes per cell, at most two thirds full.
 *
 * An entry is any struct whose first member is a struct index_key; it stays owned by the caller.
 */
#ifndef KEELSON_INDEX_H
#define KEELSON_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct index_key {
	const char *text; /* owned by the entry; any bytes */
	uint32_t hash, len;
};
struct index {
	struct index_key **cell;
	uint32_t size, n; /* size: 0 or a power of two */
};

void index_key_init(struct index_key *key, const char *text, size_t len);
/* Returns the entry, or NULL. `text` need not be terminated. */
struct index_key *index_find(const struct index *x, const char *text, size_t len);
/* Returns 0, -EEXIST or -ENOMEM. */
int index_add(struct index *x, struct index_key *key);
void index_remove(struct index *x, struct index_key *key);
/* Returns one entry after the other, in no order; `*at` begins with 0. NULL: the end. One that is removed meanwhile:
 * step back with --*at, another may be in its place. */
struct index_key *index_next(const struct index *x, uint32_t *at);
void index_fini(struct index *x);

#endif
