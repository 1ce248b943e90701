/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h - the store front: one durable transaction per loop turn, replies released after it.
 *
 * Dirty objects and blobs of a turn become one batch; while a batch is being written the next one
 * gathers. store_after() puts a function behind everything that is dirty now: it runs at once (at
 * the end of the turn) when nothing is. A failed commit is retried with back-off and logged;
 * replies stay unreleased meanwhile, and after a limit new changes are refused (-ENOSPC ...).
 */
#ifndef KEELSON_STORE_H
#define KEELSON_STORE_H

#include "keel/api.h"
#include "util/owner.h"

struct store;

/* Offers the group "blob". Nothing is written before store_use(). Create it before the objects (it
 * is the `arg` of objects_create()), destroy it before them, when it is idle. */
int store_create(struct parts *parts, struct store **ret_store);
void store_destroy(struct store *s);

void store_dirty(void *store, struct keel_obj *o); /* objects_create()'s callback */

/* What a server's administrator is told when nobody offers the service. */
#define STORE_NONE "no module offers the service 'store': what this server is told is forgotten when it ends; enable one " \
		   "that does"

/* Take the service "store" of the registry, open it and load every row into the objects. Without
 * such a service (a mom) the front keeps nothing and releases at once. */
int store_use(struct store *s, struct keel_err *err);

/* Is it the module that keeps the rows? It stays as long as the daemon runs. */
bool store_is_with(const struct store *s, const struct owner *owner);

/* Let go of the service before the module that offers it is unloaded: waits for what is with a
 * worker now, starts nothing new, keeps nothing any more. Run the loop until store_idle() first. */
void store_close(struct store *s);

/* Run fn when all that changed up to now is durable. */
int store_after(struct store *s, void (*fn)(void *arg), void *arg);
/* Is the store refusing changes (disk full ...)? NULL: no, else a sentence. */
const char *store_trouble(const struct store *s);
/* Nothing is waiting to be written. */
bool store_idle(const struct store *s);

#endif
