/* SPDX-License-Identifier: Apache-2.0
 *
 * spans.c - the blocks, by whose they are and by vnode.
 */
#include "spans.h"

#include <stdlib.h>
#include <string.h>

/* ---- a block ----------------------------------------------------------------------------------------- */

struct block *block_make(const struct keel_sched_block *from, struct keel_exec *exec, void (*exec_free)(struct keel_exec *))
{
	struct block *b = calloc(1, sizeof(*b));

	if (!b) {
		exec_free(exec);
		return NULL;
	}
	*b = (struct block){ .id = strdup(from->id), .queue = from->queue ? strdup(from->queue) : NULL, .exec = exec,
			     .part = from->part, .flags = from->flags, .from = from->from, .till = from->till,
			     .refs = 1, .exec_free = exec_free };
	if (b->id && (b->queue || !from->queue))
		return b;
	block_put(b);
	return NULL;
}

void block_put(struct block *b)
{
	if (!b || --b->refs)
		return;
	if (b->exec)
		b->exec_free(b->exec);
	free(b->id);
	free(b->queue);
	free(b);
}

bool block_closes(const struct block *b)
{
	return (b->flags & (KEEL_BLOCK_ALONE | KEEL_BLOCK_WHATEVER)) != 0;
}

bool block_covers(const struct block *b, int64_t at)
{
	return b->from <= at && at < b->till;
}

static uint32_t parts_of(const struct block *b)
{
	return b->exec ? b->exec->n : 0;
}

/* ---- by vnode ------------------------------------------------------------------------------------------ */

const struct booked *spans_of(const struct spans *x, const char *vnode)
{
	struct booked *at = NULL;

	if (x && x->n)
		HASH_FIND_STR(x->by_vnode, vnode, at);
	return at;
}

static struct booked *booked_get(struct spans *x, const char *vnode)
{
	struct booked *at;

	HASH_FIND_STR(x->by_vnode, vnode, at);
	if (at)
		return at;
	at = calloc(1, sizeof(*at));
	if (!at || !(at->vnode = strdup(vnode))) {
		free(at);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, x->by_vnode, at->vnode, strlen(at->vnode), at);
	if (at->hh.tbl)
		return at;
	free(at->vnode);
	free(at);
	return NULL;
}

static bool book_one(struct booked *at, struct block *b, uint32_t part)
{
	uint32_t room = at->room ? 2 * at->room : 4, i;
	struct booking *bigger = at->n < at->room ? at->list : reallocarray(at->list, room, sizeof(*bigger));

	if (!bigger)
		return false;
	at->room = at->n < at->room ? at->room : room;
	at->list = bigger;
	for (i = at->n; i > 0 && at->list[i - 1].block->from > b->from; i--)
		at->list[i] = at->list[i - 1];
	at->list[i] = (struct booking){ b, part };
	at->n++;
	return true;
}

/* The first that begins then, or later. */
static uint32_t first_from(const struct booked *at, int64_t from)
{
	uint32_t low = 0, high = at->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (at->list[mid].block->from < from)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void unbook_one(struct booked *at, const struct block *b)
{
	uint32_t i = first_from(at, b->from), n = i;

	for (; i < at->n && at->list[i].block->from == b->from; i++)
		if (at->list[i].block != b)
			at->list[n++] = at->list[i];
	memmove(at->list + n, at->list + i, (at->n - i) * sizeof(at->list[0]));
	at->n -= i - n;
}

static void unbook(struct spans *x, const struct block *b)
{
	uint32_t i;

	for (i = 0; i < parts_of(b); i++) {
		struct booked *at;

		HASH_FIND_STR(x->by_vnode, b->exec->part[i].vnode, at);
		if (at && at->n)
			unbook_one(at, b);
	}
}

static bool book(struct spans *x, struct block *b)
{
	uint32_t i;

	for (i = 0; i < parts_of(b); i++) {
		struct booked *at = booked_get(x, b->exec->part[i].vnode);

		if (!at || !book_one(at, b, i)) {
			unbook(x, b);
			return false;
		}
	}
	return true;
}

/* ---- by id ------------------------------------------------------------------------------------------------ */

struct block *spans_get(const struct spans *x, const char *id, uint32_t part)
{
	struct promiser *p;
	struct block *b;

	HASH_FIND_STR(x->by_id, id, p);
	for (b = p ? p->first : NULL; b && b->part != part; b = b->next)
		;
	return b;
}

static struct promiser *promiser_get(struct spans *x, const char *id)
{
	struct promiser *p;

	HASH_FIND_STR(x->by_id, id, p);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p || !(p->id = strdup(id))) {
		free(p);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, x->by_id, p->id, strlen(p->id), p);
	if (p->hh.tbl)
		return p;
	free(p->id);
	free(p);
	return NULL;
}

static void promiser_idle(struct spans *x, struct promiser *p)
{
	if (p->first)
		return;
	HASH_DEL(x->by_id, p);
	free(p->id);
	free(p);
}

bool spans_put(struct spans *x, struct block *b)
{
	struct block *old = spans_get(x, b->id, b->part);
	struct promiser *p = promiser_get(x, b->id);

	if (!p)
		return false;
	if (!book(x, b)) {
		promiser_idle(x, p);
		return false;
	}
	b->next = p->first;
	p->first = b;
	x->n++;
	x->changes++;
	if (old)
		spans_drop(x, old);
	return true;
}

void spans_drop(struct spans *x, struct block *b)
{
	struct promiser *p;
	struct block **at;

	unbook(x, b);
	HASH_FIND_STR(x->by_id, b->id, p);
	for (at = &p->first; *at != b; at = &(*at)->next)
		;
	*at = b->next;
	x->n--;
	x->changes++;
	promiser_idle(x, p);
	block_put(b);
}

void spans_fini(struct spans *x)
{
	struct promiser *p, *next;
	struct booked *at, *more;

	HASH_ITER(hh, x->by_id, p, next)
		while (p->first) {
			struct block *b = p->first;

			p->first = b->next;
			block_put(b);
		}
	HASH_ITER(hh, x->by_id, p, next)
		promiser_idle(x, p);
	HASH_ITER(hh, x->by_vnode, at, more) {
		HASH_DEL(x->by_vnode, at);
		free(at->list);
		free(at->vnode);
		free(at);
	}
	x->n = 0;
}

bool spans_inside(const struct spans *x, const char *vnode, const char *queue)
{
	const struct booked *at = queue ? spans_of(x, vnode) : NULL;
	uint32_t i;

	for (i = 0; at && i < at->n; i++) {
		const struct block *b = at->list[i].block;

		if ((b->flags & KEEL_BLOCK_BEGAN) && b->queue && strcmp(b->queue, queue) == 0)
			return true;
	}
	return false;
}

struct block *spans_at_least(const struct spans *x, const char *id, uint32_t from_part)
{
	struct promiser *p;
	struct block *b;

	HASH_FIND_STR(x->by_id, id, p);
	for (b = p ? p->first : NULL; b && b->part < from_part; b = b->next)
		;
	return b;
}

int64_t spans_sooner(const struct block *b, int64_t after, int64_t than)
{
	if (b->from > after && b->from < than)
		return b->from;
	return b->till > after && b->till < than ? b->till : than;
}

int64_t spans_next(const struct spans *x, int64_t after)
{
	const struct promiser *p;
	const struct block *b;
	int64_t next = INT64_MAX;

	for (p = x->by_id; p; p = p->hh.next)
		for (b = p->first; b; b = b->next)
			next = spans_sooner(b, after, next);
	return next;
}
