/* SPDX-License-Identifier: Apache-2.0
 *
 * index.c - find a thing by its name.
 *
 * Linear probing. Removal shifts the followers back, so there are no tombstones and a lookup ends
 * at the first empty cell.
 */
#include "util/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

#define SIZE_MIN 16u

static uint32_t hash_of(const char *text, size_t len)
{
	uint64_t h = bytes_hash(text, len) * UINT64_C(0x9e3779b97f4a7c15); /* ids differ in few characters */

	return (uint32_t)(h >> 32);
}

void index_key_init(struct index_key *key, const char *text, size_t len)
{
	key->text = text;
	key->len = (uint32_t)len;
	key->hash = hash_of(text, len);
}

static uint32_t place_of(const struct index *x, uint32_t hash, const char *text, size_t len)
{
	uint32_t i = hash & (x->size - 1);

	while (x->cell[i]) {
		const struct index_key *k = x->cell[i];

		if (k->hash == hash && k->len == len && memcmp(k->text, text, len) == 0)
			break;
		i = (i + 1) & (x->size - 1);
	}
	return i;
}

struct index_key *index_find(const struct index *x, const char *text, size_t len)
{
	if (x->n == 0)
		return NULL;
	return x->cell[place_of(x, hash_of(text, len), text, len)];
}

static int grow(struct index *x)
{
	struct index bigger = { .size = x->size ? x->size * 2 : SIZE_MIN, .n = x->n };

	bigger.cell = calloc(bigger.size, sizeof(*bigger.cell));
	if (!bigger.cell)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->size; i++) {
		struct index_key *k = x->cell[i];

		if (k)
			bigger.cell[place_of(&bigger, k->hash, k->text, k->len)] = k;
	}
	free(x->cell);
	*x = bigger;
	return 0;
}

int index_add(struct index *x, struct index_key *key)
{
	uint32_t i;

	if ((x->n + 1) * 3ull > x->size * 2ull && grow(x) < 0)
		return -ENOMEM;
	i = place_of(x, key->hash, key->text, key->len);
	if (x->cell[i])
		return -EEXIST;
	x->cell[i] = key;
	x->n++;
	return 0;
}

void index_remove(struct index *x, struct index_key *key)
{
	uint32_t mask = x->size - 1, hole, i;

	if (x->n == 0)
		return;
	hole = place_of(x, key->hash, key->text, key->len);
	if (x->cell[hole] != key)
		return;
	for (i = (hole + 1) & mask; x->cell[i]; i = (i + 1) & mask) {
		uint32_t home = x->cell[i]->hash & mask;

		/* Cell i may move into the hole only if its home is not between the two. */
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		x->cell[hole] = x->cell[i];
		hole = i;
	}
	x->cell[hole] = NULL;
	x->n--;
}

struct index_key *index_next(const struct index *x, uint32_t *at)
{
	while (*at < x->size) {
		struct index_key *k = x->cell[(*at)++];

		if (k)
			return k;
	}
	return NULL;
}

void index_fini(struct index *x)
{
	free(x->cell);
	*x = (struct index){ 0 };
}
