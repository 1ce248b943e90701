/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h - the store front: one durable transaction per loop turn, replies released after it.
 *
 * Dirty objects and blobs of a turn become one batch; while a batch is being written the next one
 * gathers. The callback of store_after() is called when all that is dirty now is durable; when nothing is, at
 * the end of the turn. A failed commit is retried with back-off and logged; replies wait meanwhile, and after
 * three errors new changes are refused.
 */
#ifndef KEELSON_STORE_H
#define KEELSON_STORE_H

#include "keel/api.h"
#include "util/owner.h"

struct store;

/* Offers the API group "blob". Nothing is written before store_use(). To be created before the objects (it is the `arg`
 * of objects_create()), and destroyed before them, when it is idle. Returns 0 or -errno. */
int store_create(struct parts *parts, struct store **ret_store);
void store_destroy(struct store *s);

void store_dirty(void *store, struct keel_obj *o); /* objects_create()'s callback */

/* The log record of a server without the service. */
#define STORE_NONE "no module offers the service 'store': what this server is told is forgotten when it ends; enable one " \
		   "that does"

/* Open the service "store" of the registry and load every row into the objects. Without such a service (a mom) nothing
 * is stored, and waiters do not wait. Returns 0, or an error with *err. */
int store_use(struct store *s, struct keel_err *err);

/* Returns whether `owner` is the module that offers the store: it stays loaded until the daemon ends. */
bool store_is_with(const struct store *s, const struct owner *owner);

/* Release the service before the module that offers it is unloaded: waits for the workers, and stores nothing
 * afterwards. The caller has run the loop until store_idle(). */
void store_close(struct store *s);

/* Call fn when all that changed up to now is durable. Returns 0 or -ENOMEM: fn is never called. */
int store_after(struct store *s, void (*fn)(void *arg), void *arg);
/* Returns the error (disk full ...) for which the store refuses changes, NULL: it does not. */
const char *store_trouble(const struct store *s);
/* Returns how long the transaction that is being written takes so far; 0: none is. */
int64_t store_writing_ns(const struct store *s);
/* Returns how many objects have become dirty since the start. */
uint64_t store_changes(const struct store *s);
/* Returns whether nothing waits to be written. */
bool store_idle(const struct store *s);

#endif
