/* SPDX-License-Identifier: Apache-2.0
 *
 * names.h - a set of names, to write each key of an object once.
 */
#ifndef KEELSON_COMMANDS_NAMES_H
#define KEELSON_COMMANDS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_slot {
	const char *name;
	size_t len;
	uint32_t round; /* of the set, when it was put in */
};

struct names {
	struct name_slot *slots; /* owned */
	size_t n, size; /* size: a power of two */
	uint32_t round;
	char **copies; /* owned; none in a set that borrows */
	size_t n_copies;
	bool copy;
};

/* `copy`: the set keeps copies, else it borrows until names_clear(). */
void names_init(struct names *s, bool copy);
void names_fini(struct names *s);

/* Clears the set; keeps its memory. */
void names_clear(struct names *s);

/* Returns 1: added; 0: there already; or -ENOMEM. */
int names_add(struct names *s, const char *name, size_t len);

#endif
