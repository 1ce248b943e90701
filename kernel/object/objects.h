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

/* Registers the kinds CLASS, TYPE and ATTR and offers the API group "object". `dirty` is called when an object that is
 * not dirty changes or is destroyed. 0 or -errno. */
int objects_create(struct registry *r, void (*dirty)(void *arg, struct keel_obj *), void *arg,
		   struct objects **ret_objects);
void objects_destroy(struct objects *o);

/* For the store front: the row of a dirty object, whose bytes are valid until the next call. Clears the dirty mark; a
 * deleted object is freed by objects_saved(). Returns 0, -ENODATA (nothing is or was stored: only objects_saved() is due)
 * or -ENOMEM (the mark stays). */
int objects_encode(struct keel_obj *o, struct keel_store_row *ret);
void objects_saved(struct keel_obj *o);
/* The `arg` of objects_create(); class and id of an object. */
void *objects_store(const struct keel_obj *o);
const char *objects_class(const struct keel_obj *o);
const char *objects_id(const struct keel_obj *o);
/* Returns the published object, or NULL. */
struct keel_obj *objects_find(struct objects *o, const char *klass, const char *id);
/* Make an object from a stored row. Attributes that no row declares are kept verbatim and written back, and so is a
 * row of an undeclared class. Returns 0 or -errno with *err. */
int objects_decode(struct objects *o, const char *klass, const char *id, const void *bytes,
		   uint32_t len, struct keel_err *err);
/* The daemon's name, and the one that the store is to lose, or NULL; before rows are loaded. Borrowed. */
void objects_named(struct objects *o, const char *name, const char *from);
/* All rows are loaded: is the store this daemon's, or to be renamed? 0, or -errno with *err. What changes becomes dirty. */
int objects_own(struct objects *o, struct keel_err *err);
/* All rows are loaded: raw values are offered once more, for they may name objects that were loaded after them. */
void objects_loaded(struct objects *o);
/* Destroy the objects of a class that no module declares, and delete their rows with the next transaction. Returns how
 * many there were; 0 for a class that is declared. */
uint32_t objects_drop(struct objects *o, const char *klass);

/* Calls known() for each published object of each class whose known_point is wanted: classes in order of declaration,
 * objects in order of creation. */
struct objects_listener {
	uint32_t (*wants)(void *arg, uint32_t point); /* returns how many taps do */
	void (*known)(void *arg, uint32_t point, const char *id, struct keel_obj *);
	void *arg;
};
void objects_replay(struct objects *o, const struct objects_listener *to);

/* Frees the private memory of a module on all objects. To be called after its rows were withdrawn and before it is
 * unloaded. */
void objects_detach(struct owner *owner);
/* Returns -ENOENT with *err when an ATTR row waits for a class or a type that no module declares, else 0. */
int objects_waiting(struct objects *o, struct keel_err *err);

/* Change sets, for operations. */
void changes_commit(struct keel_changes *c);
void changes_discard(struct keel_changes *c);

#endif
