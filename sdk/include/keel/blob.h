/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/blob.h - long byte strings of an object, kept in the store and not in memory.
 *
 * A module says KEEL_USE(blob).
 */
#ifndef KEEL_BLOB_H
#define KEEL_BLOB_H

#include "keel/api.h"
#include "keel/use.h"

KEEL_SERVICE(blob);

/* Keeps bytes with an object, under a name; NULL: takes them away. Part of this turn's transaction. Copied. Gone
 * with the object. Fails with -ENOMEM. */
static inline int32_t keel_blob_put(struct keel_obj *obj, const char *name, const void *bytes, uint32_t len)
{
	return KEEL_USE_blob->put(obj, name, bytes, len);
}

/* fn gets the bytes, borrowed; later, on the loop. NULL and 0: there are none; NULL and an errno: they cannot be
 * read (now), the log has the error. */
static inline int32_t keel_blob_get(struct keel_mod *mod, const char *klass, const char *id, const char *name,
				    void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len),
				    void *arg)
{
	return KEEL_USE_blob->get(mod, klass, id, name, fn, arg);
}

#endif
