/* SPDX-License-Identifier: Apache-2.0
 *
 * heap.h - an intrusive pairing heap: the first in O(1), removal of any member.
 */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>

/* Zeroed while in no heap, but for the owner's own fields around it. */
struct heap_node {
	struct heap_node *child, *next;
	struct heap_node *prev; /* left neighbour, or the parent of a first child */
	bool in;
};
typedef bool heap_before(const struct heap_node *a, const struct heap_node *b);

struct heap {
	struct heap_node *root;
	heap_before *before;
};

void heap_push(struct heap *h, struct heap_node *n); /* the node stays the caller's, and must be in no heap */
struct heap_node *heap_pop(struct heap *h); /* NULL: empty */
void heap_remove(struct heap *h, struct heap_node *n); /* nothing when it is in no heap */

#endif
