/* SPDX-License-Identifier: Apache-2.0
 *
 * blob.c - the group "blob": long byte strings of objects, written with the turn's transaction, read on request.
 *
 * A read searches the writes that are not durable yet, the newest first, and then calls the store, on a worker, one
 * read at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "log/log.h"
#include "loop/loop.h"
#include "msg/msg.h"
#include "store/inside.h"
#include "store/store.h"
#include "util/crumb.h"

#define BLOB_MAX INT32_MAX

void blobs_drop(struct blob **list)
{
	struct blob *one, *next;

	DL_FOREACH_SAFE(*list, one, next) {
		msg_destroy(one->held);
		free(one);
	}
	*list = NULL;
}

/* Returns one with room for `len` bytes; NULL: no memory. */
static struct blob *blob_create(const char *klass, const char *id, const char *name, size_t len)
{
	size_t klass_size = strlen(klass) + 1, id_size = strlen(id) + 1, name_size = strlen(name) + 1;
	struct blob *one = malloc(sizeof(*one) + klass_size + id_size + name_size + len + 1);

	if (!one)
		return NULL;
	*one = (struct blob){ .klass = one->memory };
	one->id = memcpy(mempcpy(one->memory, klass, klass_size), id, id_size);
	one->name = memcpy(one->memory + klass_size + id_size, name, name_size);
	one->bytes = one->name + name_size;
	return one;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* The bytes of a long request are held, not copied: copying would stop the loop. Returns 0 or -errno. */
static int32_t put(struct keel_obj *o, const char *name, const void *bytes, uint32_t len)
{
	struct store *s = objects_store(o);
	struct keel_msg *held;
	struct blob *one;

	if (!name || !*name || len > BLOB_MAX || o->flags & OBJ_DEAD)
		return -EINVAL;
	held = len ? msg_hold(bytes, len) : NULL;
	one = blob_create(objects_class(o), objects_id(o), name, held ? 0 : len);
	if (!one) {
		msg_destroy(held);
		return -ENOMEM;
	}
	one->obj = o;
	one->len = len;
	one->held = held;
	one->bytes = bytes && !held ? memcpy((char *)(uintptr_t)one->bytes, bytes, len) : bytes;
	if (o->flags & OBJ_DRAFT)
		o->flags |= OBJ_KEEP;
	DL_APPEND(s->blobs, one);
	loop_turn_due(s->parts->loop);
	return 0;
}

/* ---- reading ------------------------------------------------------------------------------- */

struct read {
	struct read *prev, *next;
	struct store *store;
	struct owner *owner; /* not unloaded meanwhile */
	void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len);
	void *arg;
	void *bytes; /* owned; NULL: none */
	uint32_t len;
	int rc;
	struct keel_err err;
	struct blob *what; /* owned; without bytes */
};

static void reads_go_on(struct store *s);

static void read_free(struct read *r)
{
	r->owner->live--;
	free(r->bytes);
	free(r->what);
	free(r);
}

static void read_deliver(void *arg)
{
	struct read *r = arg;
	CRUMB_CALL(r->owner, "callback of a read", r->what->id,
		   r->fn(&r->owner->pub, r->arg, r->bytes, r->rc < 0 ? (uint32_t)-r->rc : r->len));
	read_free(r);
}

static void read_work(void *arg)
{
	struct read *r = arg;
	struct store *s = r->store;
	CRUMB_CALL(s->offers, "worker", r->what->id,
		   r->rc = -abs(s->api->read_blob(&s->offers->pub, r->what->klass, r->what->id, r->what->name, &r->bytes, &r->len, &r->err)));
}

static void read_done(void *arg)
{
	struct read *r = arg;
	struct store *s = r->store;

	s->with_worker--;
	if (r->rc < 0) { /* logged, for the caller does not see it */
		log_add(s->parts->log, KEEL_LOG_ERROR, "Server", r->what->id, "the stored '%s' of %s %s cannot be read: %s",
			r->what->name, r->what->klass, r->what->id, r->err.text[0] ? r->err.text : strerror(-r->rc));
		free(r->bytes);
		r->bytes = NULL;
	}
	DL_DELETE(s->reads, r);
	reads_go_on(s);
	read_deliver(r);
}

/* Start the first read on a worker; an error of that fails the read. */
static void reads_go_on(struct store *s)
{
	struct read *r = s->reads;

	if (!r || s->closing)
		return;
	s->with_worker++;
	if (loop_work(s->parts->loop, read_work, read_done, r) == 0)
		return;
	r->rc = -ENOMEM;
	if (loop_post(s->parts->loop, read_done, r) < 0)
		read_done(r);
}

void reads_drop(struct store *s)
{
	struct read *r, *next;

	DL_FOREACH_SAFE(s->reads, r, next)
		read_free(r);
	s->reads = NULL;
}

static const struct blob *blob_newest(const struct blob *list, const struct blob *what)
{
	const struct blob *found = NULL, *one;

	DL_FOREACH(list, one)
		if (strcmp(one->id, what->id) == 0 && strcmp(one->name, what->name) == 0 &&
		    strcmp(one->klass, what->klass) == 0 && !(one->obj && one->obj->flags & OBJ_DEAD))
			found = one;
	return found;
}

static int32_t get(struct keel_mod *m, const char *klass, const char *id, const char *name,
		   void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len), void *arg)
{
	struct parts *parts = owner_of(m)->parts;
	struct store *s = parts->store;
	struct blob *what = klass && id && name ? blob_create(klass, id, name, 0) : NULL;
	struct read *r = what ? malloc(sizeof(*r)) : NULL;
	const struct blob *b;
	int rc = 0;

	if (!r) {
		free(what);
		return klass && id && name ? -ENOMEM : -EINVAL;
	}
	*r = (struct read){ .store = s, .owner = owner_of(m), .fn = fn, .arg = arg, .what = what };
	r->owner->live++;
	b = blob_newest(s->blobs, what);
	if (!b && s->writing)
		b = blob_newest(s->batch.blobs, what);
	if (b && b->bytes) {
		r->bytes = malloc(b->len + 1u);
		rc = r->bytes ? 0 : -ENOMEM;
		if (rc == 0)
			memcpy(r->bytes, b->bytes, b->len);
		r->len = b->len;
	}
	if (rc == 0 && !b && s->api && objects_find(parts->objects, klass, id)) {
		DL_APPEND(s->reads, r);
		if (s->reads == r)
			reads_go_on(s);
	} else if (rc == 0) {
		rc = loop_defer(parts->loop, read_deliver, r);
	}
	if (rc < 0)
		read_free(r);
	return rc;
}

const struct keel_blob_api blob_api = {
	.size = sizeof(struct keel_blob_api),
	.put = put,
	.get = get,
};
