/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - the store front's own structs: what gathers, the batch that is written, blob reads.
 */
#ifndef KEELSON_STORE_INSIDE_H
#define KEELSON_STORE_INSIDE_H

#include "keel/api.h"
#include "wire/buf.h"
#include "util/owner.h"

struct loop_timer;

/* Lists are those of utlist. */
struct waiter {
	struct waiter *prev, *next;
	void (*fn)(void *arg);
	void *arg;
};

/* A blob that is not durable yet; the batch's row points into it. */
struct blob {
	struct blob *prev, *next;
	struct keel_obj *obj; /* NULL once it is in a batch */
	const char *klass, *id, *name;
	const void *bytes; /* NULL: delete */
	uint32_t len;
	struct keel_msg *held; /* the request whose body has the bytes; NULL: they are in `memory` */
	char memory[]; /* the strings and the bytes */
};

/* One transaction. The worker thread uses only copies that the batch owns. */
struct batch {
	struct keel_store_row *row;
	uint32_t n, cap;
	struct buf bytes; /* klass, id and body of each object row, one after the other */
	struct keel_obj *dead; /* to be freed when their deletion is durable */
	struct blob *blobs;
	struct waiter *waiters;
};

/* Move what is dirty into an empty batch: objects in order, then the blobs of published objects. Returns 0, or -ENOMEM
 * and nothing has changed. */
int batch_build(struct batch *b, struct keel_obj **dirty, struct blob **blobs);
void batch_reset(struct batch *b); /* after the commit: frees the dead objects, keeps the memory */
void batch_fini(struct batch *b);
void blob_free(void *blob);
void blobs_drop(struct blob **list);

struct read;

struct store {
	struct parts *parts;
	const struct keel_store_api *api; /* NULL: nothing is kept */
	struct owner *offers;
	struct keel_obj *dirty, *dirty_last; /* threaded through objects_dirty_link() */
	uint64_t changes; /* objects that became dirty since the start */
	struct blob *blobs;
	struct waiter *waiters;
	struct batch batch;
	struct blob *spent; /* long ones, to be freed one by one */
	struct loop_timer *spent_timer;
	bool writing; /* the batch is being written, or waits for its next attempt */
	int commit_rc;
	struct keel_err commit_err;
	struct loop_timer *retry;
	bool retry_due;
	uint32_t failures;
	int64_t backoff_ms;
	struct keel_err trouble;
	uint32_t with_worker; /* commits and reads under way */
	bool closing;
	struct read *reads; /* the first one is on a worker */
};

extern const struct keel_blob_api blob_api;
void reads_drop(struct store *s);

#endif
