/* SPDX-License-Identifier: Apache-2.0
 *
 * trait.h - what a listing knows about an attribute: is it a date, a number, always a string?
 *
 * The table is trait.def. Custom resources of the server can be added, so that their JSON type does
 * not depend on what a value happens to look like.
 */
#ifndef KEELSON_COMMANDS_TRAIT_H
#define KEELSON_COMMANDS_TRAIT_H

#include <stddef.h>
#include <stdint.h>

enum trait {
	TRAIT_UNKNOWN,
	TRAIT_TIME,
	TRAIT_NUMBER,
	TRAIT_STRING,
	TRAIT_WORDS,
	TRAIT_LIST,
};

struct trait_row {
	const char *name;
	const char *resource; /* NULL: the attribute itself */
	enum trait kind;
};

struct trait_index {
	struct trait_row *rows; /* owned; names of custom rows are owned too */
	size_t n, n_builtin;
	uint16_t *slots; /* row number + 1, 0 empty */
	size_t mask; /* number of slots - 1 */
};

/* Returns 0 or -ENOMEM. */
int trait_index_init(struct trait_index *t);
void trait_index_fini(struct trait_index *t);

/* Adds the kind of a resource of the server (name copied); a known one is unchanged. Returns 0, -ENOMEM, or
 * -ENOSPC if the table is full. */
int trait_add_resource(struct trait_index *t, const char *resource, enum trait kind);

/* Returns the kind of an attribute, TRAIT_UNKNOWN if there is no row. `resource` may be NULL or "". */
enum trait trait_find(const struct trait_index *t, const char *name, const char *resource);

#endif
