/* SPDX-License-Identifier: Apache-2.0
 *
 * changes.h - entries of a change set, for changes.c (the set) and change.c (filling it).
 */
#ifndef KEELSON_CHANGES_H
#define KEELSON_CHANGES_H

#include "object/object.h"

struct change {
	struct keel_obj *obj; /* NULL: the entry was dropped */
	const struct keel_attr *attr;
	union keel_slot slot; /* owned while is_set */
	bool is_set;
};

struct keel_changes {
	struct objects *objects;
	struct keel_changes *prev, *next;
	struct change *entry;
	uint32_t n, cap;
	uint32_t *cell, size; /* entry number + 1 by (object, attribute), when there are many */
};

struct change *change_find(const struct keel_changes *c, const struct keel_obj *o,
			   const struct keel_attr *a);
/* Returns a new entry, unset; NULL: no memory. Pointers to other entries become invalid. */
struct change *change_add(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a);

#endif
