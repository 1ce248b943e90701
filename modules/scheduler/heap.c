/* SPDX-License-Identifier: Apache-2.0
 *
 * heap.c - a pairing heap. No recursion: a heap of 100,000 equal jobs may be a list of that length.
 */
#include "heap.h"

#include <stddef.h>

static struct heap_node *meld(const struct heap *h, struct heap_node *a, struct heap_node *b)
{
	if (!a || !b)
		return a ? a : b;
	if (h->before(b, a)) {
		struct heap_node *t = a;

		a = b;
		b = t;
	}
	b->prev = a;
	b->next = a->child;
	if (a->child)
		a->child->prev = b;
	a->child = b;
	return a;
}

/* Meld a chain of siblings: in pairs, then the pairs from the last to the first. */
static struct heap_node *combine(const struct heap *h, struct heap_node *n)
{
	struct heap_node *pairs = NULL, *all = NULL;

	while (n) {
		struct heap_node *a = n, *b = n->next;

		n = b ? b->next : NULL;
		a->next = a->prev = NULL;
		if (b)
			b->next = b->prev = NULL;
		a = meld(h, a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct heap_node *a = pairs;

		pairs = a->next;
		a->next = NULL;
		all = meld(h, all, a);
	}
	return all;
}

void heap_push(struct heap *h, struct heap_node *n)
{
	n->child = n->next = n->prev = NULL;
	n->in = true;
	h->root = meld(h, h->root, n);
}

struct heap_node *heap_pop(struct heap *h)
{
	struct heap_node *n = h->root;

	if (n)
		heap_remove(h, n);
	return n;
}

void heap_remove(struct heap *h, struct heap_node *n)
{
	struct heap_node *rest;

	if (!n->in)
		return;
	rest = combine(h, n->child);
	if (n == h->root) {
		h->root = rest;
	} else {
		if (n->prev->child == n)
			n->prev->child = n->next;
		else
			n->prev->next = n->next;
		if (n->next)
			n->next->prev = n->prev;
		h->root = meld(h, h->root, rest);
	}
	n->child = n->next = n->prev = NULL;
	n->in = false;
}
