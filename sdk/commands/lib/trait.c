/* SPDX-License-Identifier: Apache-2.0
 *
 * trait.c - the table of known attributes behind a small hash.
 *
 * Searched once for each attribute of each object, so the hash reads only four bytes of a name.
 */
#include "trait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 16384

static const struct trait_row builtin[] = {
#define TRAIT(name, resource, kind) { name, resource, TRAIT_##kind },
#include "trait.def"
#undef TRAIT
};

#define N_BUILTIN (sizeof(builtin) / sizeof(builtin[0]))

static size_t hash(const char *text, size_t len, size_t seed)
{
	const unsigned char *p = (const unsigned char *)text;

	if (len == 0)
		return seed;
	return (seed * 31 + len) * 1048573 + p[0] * 8191u + p[len / 2] * 131071u +
	       p[len - 1] * 524287u + p[len / 3] * 2053u;
}

static size_t row_hash(const char *name, const char *resource)
{
	/* the hash of a resource is that of its own name: the attribute is compared afterwards */
	return resource ? hash(resource, strlen(resource), 7) : hash(name, strlen(name), 3);
}

static void insert(struct trait_index *t, size_t row)
{
	size_t i = row_hash(t->rows[row].name, t->rows[row].resource);

	i ^= i >> 15;
	while (t->slots[i & t->mask] != 0)
		i++;
	t->slots[i & t->mask] = (uint16_t)(row + 1);
}

static int rebuild(struct trait_index *t, size_t slots)
{
	uint16_t *fresh = calloc(slots, sizeof(*fresh));
	size_t i;

	if (!fresh)
		return -ENOMEM;
	free(t->slots);
	t->slots = fresh;
	t->mask = slots - 1;
	for (i = 0; i < t->n; i++)
		insert(t, i);
	return 0;
}

int trait_index_init(struct trait_index *t)
{
	int rc;

	*t = (struct trait_index){ .n = N_BUILTIN, .n_builtin = N_BUILTIN };
	t->rows = malloc(sizeof(builtin));
	if (!t->rows)
		return -ENOMEM;
	memcpy(t->rows, builtin, sizeof(builtin));
	rc = rebuild(t, 1024);
	if (rc < 0)
		trait_index_fini(t);
	return rc;
}

void trait_index_fini(struct trait_index *t)
{
	size_t i;

	for (i = t->n_builtin; i < t->n; i++)
		free((char *)t->rows[i].resource);
	free(t->rows);
	free(t->slots);
	*t = (struct trait_index){ 0 };
}

int trait_add_resource(struct trait_index *t, const char *resource, enum trait kind)
{
	struct trait_row *rows;
	char *copy;

	if (trait_find(t, "*", resource) != TRAIT_UNKNOWN)
		return 0;
	if (t->n >= ROWS_MAX)
		return -ENOSPC;
	rows = realloc(t->rows, (t->n + 1) * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	t->rows = rows;
	copy = strdup(resource);
	if (!copy)
		return -ENOMEM;
	rows[t->n++] = (struct trait_row){ "*", copy, kind };
	if (t->n * 4 > t->mask + 1)
		return rebuild(t, (t->mask + 1) * 4);
	insert(t, t->n - 1);
	return 0;
}

enum trait trait_find(const struct trait_index *t, const char *name, const char *resource)
{
	const struct trait_row *row;
	size_t i;

	if (resource && !*resource)
		resource = NULL;
	i = row_hash(name, resource);
	i ^= i >> 15;
	for (; t->slots[i & t->mask] != 0; i++) {
		row = &t->rows[t->slots[i & t->mask] - 1];
		if (!row->resource != !resource)
			continue;
		if (!resource) {
			if (strcmp(row->name, name) == 0)
				return row->kind;
			continue;
		}
		if (strcmp(row->resource, resource) == 0 &&
		    (row->name[0] == '*' || strcmp(row->name, name) == 0))
			return row->kind;
	}
	return TRAIT_UNKNOWN;
}
