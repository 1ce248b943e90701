/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - the store front's own structs: what gathers, the batch that is written, blob reads.
 */
#ifndef KEELSON_STORE_INSIDE_H
#define KEELSON_STORE_INSIDE_H

#include "keel/api.h"
#include "object/object.h"
#include "util/owner.h"
#include "wire/buf.h"

struct loop_timer;

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

struct store {
	struct parts *parts;
	const struct keel_store_api *api; /* NULL: nothing is kept */
	struct owner *offers;
	struct keel_obj *dirty, *dirty_last; /* threaded through dirty_next */
	uint64_t changes; /* objects that became dirty since the start */
	struct blob *blobs;
	struct waiter *waiters;
	struct batch batch;
	struct blob *spent; /* long ones, to be freed one by one */
	struct loop_timer *spent_timer;
	bool writing; /* the batch is being written, or waits for its next attempt */
	int64_t writing_ns; /* since then */
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

/* blob.c */
extern const struct keel_blob_api blob_api;
void blobs_drop(struct blob **list);
void reads_drop(struct store *s);

#endif
