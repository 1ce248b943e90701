/* SPDX-License-Identifier: Apache-2.0
 *
 * objects.h - the object engine as the rest of the kernel sees it; modules see keel_object_api.
 */
#ifndef KEELSON_OBJECTS_H
#define KEELSON_OBJECTS_H

#include "keel/api.h"
#include "util/owner.h"

struct objects;
struct registry;

/* Registers the kinds CLASS, TYPE and ATTR and offers the group "object". `dirty` is called once per
 * object and turn when it first changes, or is destroyed. */
int objects_create(struct registry *r, void (*dirty)(void *arg, struct keel_obj *), void *arg,
		   struct objects **ret_objects);
void objects_destroy(struct objects *o);

/* For the store front: what to write for a dirty object. *ret_deleted true: delete the row. The
 * bytes are valid until the next call. Clears the dirty mark; a deleted object is freed by
 * objects_saved(). */
int objects_encode(struct keel_obj *o, const char **ret_klass, const char **ret_id,
		   const void **ret_bytes, uint32_t *ret_len, bool *ret_deleted);
void objects_saved(struct keel_obj *o);
/* A row of the store. Attributes nobody knows are kept verbatim and written back. A row of a class
 * nobody declares is kept too. */
int objects_decode(struct objects *o, const char *klass, const char *id, const void *bytes,
		   uint32_t len, struct keel_err *err);

/* Tell of every published object of every class that has a known_point, class by class in order of
 * declaration, objects in order of creation. */
void objects_replay(struct objects *o,
		    void (*known)(void *arg, uint32_t point, const char *id, struct keel_obj *), void *arg);

/* Change sets, for operations. */
void changes_commit(struct keel_changes *c);
void changes_discard(struct keel_changes *c);

#endif
