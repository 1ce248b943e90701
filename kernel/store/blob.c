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
#include "object/objects.h"
#include "store/inside.h"
#include "store/store.h"
#include "util/crumb.h"

#define BLOB_MAX INT32_MAX

/* ---- writing ------------------------------------------------------------------------------- */

/* The bytes of a long request are held, not copied: copying would stop the loop. Returns 0 or -errno. */
static int32_t put(struct keel_obj *o, const char *name, const void *bytes, uint32_t len)
{
	struct store *s = objects_store(o);
	size_t klass_len = strlen(objects_class(o)) + 1, id_len = strlen(objects_id(o)) + 1;
	size_t name_len = name ? strlen(name) + 1 : 0;
	struct blob *one;
	struct keel_msg *held;
	char *at;

	if (name_len < 2 || len > BLOB_MAX || objects_is_dead(o))
		return -EINVAL;
	held = len ? msg_hold(bytes, len) : NULL;
	one = malloc(sizeof(*one) + klass_len + id_len + name_len + (held ? 0 : len) + 1);
	if (!one) {
		msg_destroy(held);
		return -ENOMEM;
	}
	*one = (struct blob){ .obj = o, .len = len, .held = held };
	at = one->memory;
	one->klass = memcpy(at, objects_class(o), klass_len);
	one->id = memcpy(at += klass_len, objects_id(o), id_len);
	one->name = memcpy(at += id_len, name, name_len);
	at += name_len;
	one->bytes = bytes && !held ? at : bytes;
	if (bytes && len && !held)
		memcpy(at, bytes, len);
	if (objects_is_draft(o))
		objects_keep(o);
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
	const char *klass, *id, *name;
	char memory[];
};

static void reads_go_on(struct store *s);

static void read_free(struct read *r)
{
	r->owner->live--;
	free(r->bytes);
	free(r);
}

static void read_deliver(void *arg)
{
	struct read *r = arg;
	CRUMB_CALL(r->owner, "callback of a read", r->id,
		   r->fn(&r->owner->pub, r->arg, r->bytes, r->rc < 0 ? (uint32_t)-r->rc : r->len));
	read_free(r);
}

static void read_work(void *arg)
{
	struct read *r = arg;
	struct store *s = r->store;
	CRUMB_CALL(s->offers, "worker", r->id,
		   r->rc = -abs(s->api->read_blob(&s->offers->pub, r->klass, r->id, r->name, &r->bytes, &r->len, &r->err)));
}

static void read_done(void *arg)
{
	struct read *r = arg;
	struct store *s = r->store;

	s->with_worker--;
	if (r->rc < 0) { /* logged, for the caller does not see it */
		log_add(s->parts->log, KEEL_LOG_ERROR, "Server", r->id, "the stored '%s' of %s %s cannot be read: %s",
			r->name, r->klass, r->id, r->err.text[0] ? r->err.text : strerror(-r->rc));
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

static struct read *read_create(struct store *s, struct owner *owner, const char *klass,
				const char *id, const char *name)
{
	size_t klass_len = strlen(klass) + 1, id_len = strlen(id) + 1, name_len = strlen(name) + 1;
	struct read *r = malloc(sizeof(*r) + klass_len + id_len + name_len);
	char *at;

	if (!r)
		return NULL;
	*r = (struct read){ .store = s, .owner = owner };
	at = r->memory;
	r->klass = memcpy(at, klass, klass_len);
	r->id = memcpy(at += klass_len, id, id_len);
	r->name = memcpy(at + id_len, name, name_len);
	owner->live++;
	return r;
}

static const struct blob *blob_newest(const struct blob *list, const struct read *r)
{
	const struct blob *found = NULL, *one;

	DL_FOREACH(list, one)
		if (strcmp(one->id, r->id) == 0 && strcmp(one->name, r->name) == 0 &&
		    strcmp(one->klass, r->klass) == 0 && !(one->obj && objects_is_dead(one->obj)))
			found = one;
	return found;
}

static int32_t get(struct keel_mod *m, const char *klass, const char *id, const char *name,
		   void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len),
		   void *arg)
{
	struct parts *parts = owner_of(m)->parts;
	struct store *s = parts->store;
	const struct blob *b;
	struct read *r;
	int rc = 0;

	if (!klass || !id || !name)
		return -EINVAL;
	r = read_create(s, owner_of(m), klass, id, name);
	if (!r)
		return -ENOMEM;
	r->fn = fn;
	r->arg = arg;
	b = blob_newest(s->blobs, r);
	if (!b && s->writing)
		b = blob_newest(s->batch.blobs, r);
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
