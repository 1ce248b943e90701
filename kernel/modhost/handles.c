/* SPDX-License-Identifier: Apache-2.0
 *
 * handles.c - what the module holds of objects: names, alive until its callback returns.
 *
 * A dead handle is overwritten and kept for a while, so that using it is seen and told, not guessed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modhost/host.h"

#define ALIVE 0x4f424a31u
#define DEAD 0x64656164u
#define DEAD_MAX 1024u

struct block {
	struct block *next;
	char bytes[];
};

static struct keel_obj *fill(struct keel_obj *o, struct host *h, const char *klass, const char *id)
{
	size_t k = strlen(klass) + 1, i = strlen(id) + 1;
	char *at = (char *)(o + 1);

	o->magic = ALIVE;
	o->host = h;
	o->klass = memcpy(at, klass, k);
	o->id = memcpy(at + k, id, i);
	return o;
}

struct keel_obj *handle_new(struct host *h, const char *klass, const char *id)
{
	struct keel_obj *o = malloc(sizeof(*o) + strlen(klass) + strlen(id) + 2);

	if (o == NULL)
		return NULL;
	fill(o, h, klass, id);
	o->next = h->objs;
	h->objs = o;
	return o;
}

struct keel_obj *handle_named(void *host, const char *klass, const char *id)
{
	return handle_new(host, klass, id);
}

struct keel_obj *handle_check(const struct keel_obj *o)
{
	if (o == NULL)
		return NULL;
	if (o->magic == ALIVE)
		return (struct keel_obj *)(uintptr_t)o;
	if (o->magic == DEAD)
		host_log(o->host, KEEL_LOG_ERROR,
			 "the handle of an object was used after its callback had returned; keep the id "
			 "and look it up again");
	return NULL;
}

static void dead_trim(struct host *h)
{
	struct keel_obj *o = h->dead, *next;

	for (uint32_t i = 0; o != NULL && i < DEAD_MAX / 2; i++)
		o = o->next;
	if (o == NULL)
		return;
	next = o->next;
	o->next = NULL;
	h->n_dead = DEAD_MAX / 2 + 1;
	while ((o = next) != NULL) {
		next = o->next;
		free(o);
	}
}

void handles_end(struct host *h)
{
	struct block *b, *next;
	struct keel_obj *o;

	while ((o = h->objs) != NULL) {
		h->objs = o->next;
		o->magic = DEAD;
		o->klass = o->id = NULL;
		o->next = h->dead;
		h->dead = o;
		if (++h->n_dead > DEAD_MAX)
			dead_trim(h);
	}
	for (b = h->borrowed; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	h->borrowed = NULL;
}

void *borrow(struct host *h, const void *bytes, size_t len)
{
	struct block *b = malloc(sizeof(*b) + len);

	if (b == NULL)
		abort();
	memcpy(b->bytes, bytes, len);
	b->next = h->borrowed;
	h->borrowed = b;
	return b->bytes;
}
