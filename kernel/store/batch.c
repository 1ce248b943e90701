/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - one transaction: a consistent copy of what changed, made on the loop thread.
 *
 * Rows refer to the batch's bytes by offset until they have stopped growing. Building does not touch the
 * dirty list before it has succeeded, so a failed attempt can mark the objects dirty again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "msg/msg.h"
#include "object/objects.h"
#include "store/inside.h"

#define BYTES_KEEP (8u << 20) /* more is given back after use */

void blob_free(void *blob)
{
	struct blob *one = blob;

	msg_destroy(one->held);
	free(one);
}

void blobs_drop(struct blob **list)
{
	struct blob *one, *next;

	DL_FOREACH_SAFE(*list, one, next)
		blob_free(one);
	*list = NULL;
}

/* Makes room for `more` rows, by doubling. Returns 0 or -ENOMEM. */
static int rows_room(struct batch *b, uint32_t more)
{
	uint32_t cap = b->n + more > b->cap * 2 ? b->n + more : b->cap * 2;
	struct keel_store_row *row;

	if (b->cap - b->n >= more)
		return 0;
	row = realloc(b->row, cap * sizeof(*row));
	if (!row)
		return -ENOMEM;
	b->row = row;
	b->cap = cap;
	return 0;
}

/* Copies to the batch's bytes and returns the offset there, in the pointer that later replaces it. */
static const void *bytes_copy(struct batch *b, const void *bytes, size_t len)
{
	const void *offset = (const void *)(uintptr_t)b->bytes.len;

	buf_add(&b->bytes, bytes, len);
	return offset;
}

/* Returns 0, -ENODATA (nothing to write) or -ENOMEM. */
static int object_row(struct batch *b, struct keel_obj *o)
{
	struct keel_store_row *row;
	int rc = rows_room(b, 1);

	if (rc < 0)
		return rc;
	row = &b->row[b->n];
	rc = objects_encode(o, row);
	if (rc < 0)
		return rc;
	b->n++;
	row->klass = bytes_copy(b, row->klass, strlen(row->klass) + 1);
	row->id = bytes_copy(b, row->id, strlen(row->id) + 1);
	if (row->bytes) { /* offset 0 is that of a class name, so NULL means no body */
		row->bytes = bytes_copy(b, row->bytes, row->len);
		(void)bytes_copy(b, "", 1);
	}
	return b->bytes.failed ? -ENOMEM : 0;
}

/* Cannot fail: room was made before. Blobs of drafts stay in the list, those of dead objects are freed. */
static void blob_rows(struct batch *b, struct blob **blobs)
{
	struct blob *one, *next;

	DL_FOREACH_SAFE(*blobs, one, next) {
		if (objects_is_draft(one->obj) && !objects_is_dead(one->obj))
			continue;
		DL_DELETE(*blobs, one);
		if (objects_is_dead(one->obj)) {
			blob_free(one);
			continue;
		}
		one->obj = NULL;
		b->row[b->n++] = (struct keel_store_row){ one->klass, one->id, one->name, one->bytes, one->len };
		DL_APPEND(b->blobs, one);
	}
}

/* Dead objects are freed after the commit, or at once when nothing of them is stored. */
static void sort_out(struct batch *b, struct keel_obj *first)
{
	struct keel_obj *o = first, *next;

	for (; o; o = next) {
		next = *objects_dirty_link(o);
		if (!objects_is_dead(o))
			continue;
		*objects_dirty_link(o) = b->dead;
		b->dead = o;
	}
}

int batch_build(struct batch *b, struct keel_obj **dirty, struct blob **blobs)
{
	const struct blob *one;
	struct keel_obj *o;
	uint32_t n_blobs;
	int rc = 0;

	for (o = *dirty; o && (rc == 0 || rc == -ENODATA); o = *objects_dirty_link(o))
		rc = object_row(b, o);
	DL_COUNT(*blobs, one, n_blobs);
	if ((rc < 0 && rc != -ENODATA) || rows_room(b, n_blobs) < 0) {
		for (o = *dirty; o; o = *objects_dirty_link(o))
			objects_redirty(o);
		b->n = 0;
		buf_reset(&b->bytes);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < b->n; i++) { /* the bytes have stopped growing */
		struct keel_store_row *row = &b->row[i];

		row->klass = b->bytes.data + (uintptr_t)row->klass;
		row->id = b->bytes.data + (uintptr_t)row->id;
		if (row->bytes)
			row->bytes = b->bytes.data + (uintptr_t)row->bytes;
	}
	blob_rows(b, blobs);
	sort_out(b, *dirty);
	*dirty = NULL;
	return 0;
}

void batch_reset(struct batch *b)
{
	while (b->dead) {
		struct keel_obj *o = b->dead;

		b->dead = *objects_dirty_link(o);
		objects_saved(o);
	}
	blobs_drop(&b->blobs);
	b->n = 0;
	buf_reset(&b->bytes);
	if (b->bytes.size > BYTES_KEEP)
		buf_fini(&b->bytes);
}

void batch_fini(struct batch *b)
{
	batch_reset(b);
	free(b->row);
	buf_fini(&b->bytes);
	*b = (struct batch){ 0 };
}
