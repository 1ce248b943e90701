/* SPDX-License-Identifier: Apache-2.0
 *
 * slots.c - private memory of the module on objects: kept here, by class and id.
 *
 * The daemon does not tell when an object is gone; so memory of one that is not found any more goes when
 * the table has grown to twice what was found the last time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modhost/host.h"
#include "util/hash.h"

#define TRIM_FIRST 1024u

struct slot {
	UT_hash_handle hh; /* by id */
	void *bytes;
	char id[];
};

struct bind {
	struct bind *next;
	char *klass;
	uint32_t size;
	void (*fini)(struct keel_mod *, void *slot);
	struct slot *slots;
	uint32_t trim_at;
};

static struct bind *bind_of(const struct host *h, const char *klass)
{
	struct bind *b = h->binds;

	while (b != NULL && strcmp(b->klass, klass) != 0)
		b = b->next;
	return b;
}

int32_t slot_bind(struct keel_mod *m, const char *klass, uint32_t size,
		  void (*fini)(struct keel_mod *, void *slot))
{
	struct host *h = host_of(m);
	struct bind *b;

	if (bind_of(h, klass) != NULL)
		return -EEXIST;
	b = calloc(1, sizeof(*b));
	if (b == NULL || (b->klass = strdup(klass)) == NULL) {
		free(b);
		return -ENOMEM;
	}
	b->size = size;
	b->fini = fini;
	b->trim_at = TRIM_FIRST;
	b->next = h->binds;
	h->binds = b;
	return 0;
}

static bool exists(struct host *h, const char *klass, const char *id)
{
	ask_begin(h, ASK_FIND);
	talk_put_str(&h->out, klass);
	talk_put_str(&h->out, id);
	return ask_code(h) != 0;
}

static void trim(struct host *h, struct bind *b)
{
	struct slot *s, *next;

	HASH_ITER(hh, b->slots, s, next) {
		if (exists(h, b->klass, s->id))
			continue;
		HASH_DEL(b->slots, s);
		if (b->fini != NULL)
			b->fini(&h->owner.pub, s->bytes);
		free(s->bytes);
		free(s);
	}
	b->trim_at = HASH_COUNT(b->slots) * 2 + TRIM_FIRST;
}

static void *slot_add(struct bind *b, const char *id)
{
	struct slot *s = calloc(1, sizeof(*s) + strlen(id) + 1);

	if (s != NULL)
		s->bytes = calloc(1, b->size > 0 ? b->size : 1);
	if (s == NULL || s->bytes == NULL) {
		free(s);
		return NULL;
	}
	strcpy(s->id, id);
	HASH_ADD_STR(b->slots, id, s);
	if (hash_holds(s))
		return s->bytes;
	free(s->bytes);
	free(s);
	return NULL;
}

void *slot_get(struct keel_mod *m, struct keel_obj *obj)
{
	struct keel_obj *o = handle_check(obj);
	struct bind *b = o != NULL ? bind_of(host_of(m), o->klass) : NULL;
	struct slot *s;

	if (b == NULL)
		return NULL;
	HASH_FIND_STR(b->slots, o->id, s);
	if (s != NULL)
		return s->bytes;
	if (HASH_COUNT(b->slots) >= b->trim_at)
		trim(host_of(m), b);
	return slot_add(b, o->id);
}
