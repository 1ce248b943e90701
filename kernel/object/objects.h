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

/* Registers the kinds CLASS, TYPE and ATTR and offers the group "object". `dirty` is called once
 * per object and turn when it first changes, or is destroyed. */
int objects_create(struct registry *r, void (*dirty)(void *arg, struct keel_obj *), void *arg,
		   struct objects **ret_objects);
void objects_destroy(struct objects *o);

/* For the store front: what to write for a dirty object. *ret_deleted true: delete the row. The
 * bytes are valid until the next call. Clears the dirty mark; a deleted object is freed by
 * objects_saved(). */
int objects_encode(struct keel_obj *o, const char **ret_klass, const char **ret_id,
		   const void **ret_bytes, uint32_t *ret_len, bool *ret_deleted);
void objects_saved(struct keel_obj *o);
/* objects_encode() also returns -ENODATA (nothing of it is or was stored: only objects_saved() is
 * due) and -ENOMEM (the mark stays). objects_redirty() takes the mark back when the batch could not
 * be built. */
void objects_redirty(struct keel_obj *o);
/* The list of dirty objects is threaded through the objects; the link is the store front's. */
struct keel_obj **objects_dirty_link(struct keel_obj *o);
/* The `arg` of objects_create(), and what an object is called. */
void *objects_store(const struct keel_obj *o);
const char *objects_class(const struct keel_obj *o);
const char *objects_id(const struct keel_obj *o);
bool objects_is_draft(const struct keel_obj *o);
bool objects_is_dead(const struct keel_obj *o);
/* The store front holds something for a draft: tell of its destruction through `dirty` too. */
void objects_keep(struct keel_obj *o);
/* Blobs need a find that does not start from a module. NULL: no such published object. */
struct keel_obj *objects_find(struct objects *o, const char *klass, const char *id);
/* A row of the store. Attributes nobody knows are kept verbatim and written back. A row of a class
 * nobody declares is kept too. */
int objects_decode(struct objects *o, const char *klass, const char *id, const void *bytes,
		   uint32_t len, struct keel_err *err);
/* All rows are there: what nobody took is offered once more, for it may name what came after it. */
void objects_loaded(struct objects *o);
/* The objects of a class that no module declares are destroyed, and their rows with the next transaction. Returns
 * how many there were; 0 for a class that is declared. */
uint32_t objects_drop(struct objects *o, const char *klass);

/* Tell of every published object of every class that has a known_point somebody wants, class by class in
 * order of declaration, objects in order of creation. */
struct objects_listener {
	uint32_t (*wants)(void *arg, uint32_t point); /* how many do */
	void (*known)(void *arg, uint32_t point, const char *id, struct keel_obj *);
	void *arg;
};
void objects_replay(struct objects *o, const struct objects_listener *to);

/* How many published objects there are; NULL: none. */
uint32_t objects_total(const struct objects *o);
/* Told of each object, published or draft, that is about to be destroyed: its values are still there. */
struct objects_end {
	void (*fn)(void *arg, struct keel_obj *);
	void *arg;
	struct objects_end *prev, *next;
};
void objects_end_tell(struct objects *o, struct objects_end *);
void objects_end_forget(struct objects *o, struct objects_end *);
/* A draft with the values it has, of which only the caller knows. NULL: no memory. */
struct keel_obj *objects_copy(struct keel_obj *o);

/* A module is going: its private memory on every object is freed. After its rows were withdrawn, before its
 * code goes. */
void objects_detach(struct owner *owner);
/* Has `user` private memory on objects of a class that `of` declares? It goes with that class. */
bool objects_bound(const struct owner *user, const struct owner *of);
/* -ENOENT with a sentence when an ATTR row waits for a class or a type that nobody declares. */
int objects_waiting(struct objects *o, struct keel_err *err);

/* Change sets, for operations. */
void changes_commit(struct keel_changes *c);
void changes_discard(struct keel_changes *c);

#endif
