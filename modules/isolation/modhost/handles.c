/* SPDX-License-Identifier: Apache-2.0
 *
 * handles.c - what the module holds of objects: names, alive until its callback returns; and its private memory on objects,
 * kept here by class and id.
 *
 * A dead handle is overwritten and kept for a while, so that its use is seen and logged. The daemon does not notify when an
 * object is gone: memory of one that is not found any more goes when the table has grown to twice what was found last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "host.h"

#define ALIVE 0x4f424a31u
#define DEAD 0x64656164u
#define DEAD_KEPT 1024u
#define TRIM_FIRST 1024u

struct block {
	struct block *next;
	char bytes[];
};

struct keel_obj *handle_new(const char *klass, const char *id)
{
	size_t k = strlen(klass) + 1, i = strlen(id) + 1;
	struct keel_obj *o = own(malloc(sizeof(*o) + k + i));
	char *at = (char *)(o + 1);

	o->magic = ALIVE;
	o->klass = memcpy(at, klass, k);
	o->id = memcpy(at + k, id, i);
	LL_PREPEND(host.objs, o);
	return o;
}

struct keel_obj *handle_check(const struct keel_obj *o)
{
	if (o && o->magic == ALIVE)
		return (struct keel_obj *)(uintptr_t)o;
	if (o && o->magic == DEAD)
		host_log(KEEL_LOG_ERROR, "the handle of an object was used after its callback had returned; keep the id "
					 "and look it up again");
	return NULL;
}

static void dead_trim(void)
{
	struct keel_obj *o = host.dead, *next;

	for (uint32_t i = 1; i < DEAD_KEPT / 2; i++)
		o = o->next;
	next = o->next;
	o->next = NULL;
	host.n_dead = DEAD_KEPT / 2;
	while ((o = next) != NULL) {
		next = o->next;
		free(o);
	}
}

void handles_end(void)
{
	struct keel_obj *o;
	struct block *b;

	while ((o = host.objs) != NULL) {
		LL_DELETE(host.objs, o);
		o->magic = DEAD;
		LL_PREPEND(host.dead, o);
		if (++host.n_dead > DEAD_KEPT)
			dead_trim();
	}
	while ((b = host.borrowed) != NULL) {
		host.borrowed = b->next;
		free(b);
	}
}

void *borrow(const void *bytes, size_t len)
{
	struct block *b = own(malloc(sizeof(*b) + len));

	memcpy(b->bytes, bytes, len);
	LL_PREPEND(host.borrowed, b);
	return b->bytes;
}

const char *borrow_text(const char *text)
{
	return text ? borrow(text, strlen(text) + 1) : NULL;
}

/* ---- private memory ------------------------------------------------------------------------------------ */
struct slot {
	UT_hash_handle hh; /* of the class, by id */
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

static struct bind *bind_of(const char *klass)
{
	struct bind *b;

	LL_FOREACH(host.binds, b) {
		if (strcmp(b->klass, klass) == 0)
			break;
	}
	return b;
}

int32_t slot_bind(struct keel_mod *m, const char *klass, uint32_t size, void (*fini)(struct keel_mod *, void *slot))
{
	struct bind *b;

	(void)m;
	if (bind_of(klass))
		return -EEXIST;
	b = own(calloc(1, sizeof(*b)));
	*b = (struct bind){ .klass = own(strdup(klass)), .size = size, .fini = fini, .trim_at = TRIM_FIRST };
	LL_PREPEND(host.binds, b);
	return 0;
}

static void trim(struct bind *b)
{
	struct slot *s, *next;

	HASH_ITER(hh, b->slots, s, next) {
		if (ask_code(UP_find, b->klass, s->id) != 0)
			continue;
		HASH_DEL(b->slots, s);
		if (b->fini)
			b->fini(&host.mod, s->bytes);
		free(s->bytes);
		free(s);
	}
	b->trim_at = HASH_COUNT(b->slots) * 2 + TRIM_FIRST;
}

void *slot_get(struct keel_mod *m, struct keel_obj *obj)
{
	struct keel_obj *o = handle_check(obj);
	struct bind *b = o ? bind_of(o->klass) : NULL;
	struct slot *s;

	(void)m;
	if (!b)
		return NULL;
	HASH_FIND_STR(b->slots, o->id, s);
	if (s)
		return s->bytes;
	if (HASH_COUNT(b->slots) >= b->trim_at)
		trim(b);
	s = own(calloc(1, sizeof(*s) + strlen(o->id) + 1));
	s->bytes = own(calloc(1, b->size > 0 ? b->size : 1));
	strcpy(s->id, o->id);
	HASH_ADD_KEYPTR(hh, b->slots, s->id, strlen(s->id), s);
	own(s->hh.tbl);
	return s->bytes;
}
