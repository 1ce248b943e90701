/* SPDX-License-Identifier: Apache-2.0
 *
 * out.c - build one MessagePack map in a growing buffer.
 *
 *	| frame header 16 | map16 head 3 | key value key value ... |
 *
 * Room for the frame header is kept in front, so that a finished body is sent without a copy. Counts of the map and
 * of open lists are written when they are known.
 *
 * Invariant: `depth` lists are open, the innermost last. An error of the caller marks the buffer as failed, too.
 */
#include "msg/msg.h"

#include <stdlib.h>

#include "wire/pack.h"

#define MAP_HEAD 3u
#define BODY_AT WIRE_HEADER_SIZE

struct keel_out *out_create(void)
{
	static const char heads[BODY_AT + MAP_HEAD] = { [BODY_AT] = (char)0xde };
	struct keel_out *o = malloc(sizeof(*o));

	if (o == NULL)
		return NULL;
	o->keys = o->depth = 0;
	buf_init(&o->b);
	buf_add(&o->b, heads, sizeof(heads));
	if (!o->b.failed)
		return o;
	free(o);
	return NULL;
}

void out_drop(struct keel_out *o)
{
	if (o == NULL)
		return;
	buf_fini(&o->b);
	free(o);
}

static bool is_good(struct keel_out *o)
{
	if (o->b.len - BODY_AT > WIRE_BODY_MAX)
		o->b.failed = true;
	return !o->b.failed;
}

/* Begins a key of the map. Returns the buffer for its value; NULL inside an open array: an error of the caller. */
static struct buf *begin_key(struct keel_out *o, const char *key)
{
	if (o == NULL)
		return NULL;
	if (o->depth > 0 || o->keys == UINT16_MAX)
		o->b.failed = true;
	if (!is_good(o))
		return NULL;
	o->keys++;
	pack_str(&o->b, key);
	return &o->b;
}

struct buf *out_value(struct keel_out *o)
{
	if (o == NULL)
		return NULL;
	if (o->depth == 0)
		o->b.failed = true;
	if (!is_good(o))
		return NULL;
	o->open[o->depth - 1].count++;
	return &o->b;
}

static void open_here(struct keel_out *o)
{
	if (o->depth == WIRE_DEPTH_MAX - 1) {
		o->b.failed = true;
		return;
	}
	o->open[o->depth].count = 0;
	o->open[o->depth++].place = (uint32_t)pack_open_array(&o->b);
}

void out_put_str(struct keel_out *o, const char *key, const char *text)
{
	struct buf *b = begin_key(o, key);

	if (b != NULL)
		pack_str(b, text);
}

void out_put_int(struct keel_out *o, const char *key, int64_t n)
{
	struct buf *b = begin_key(o, key);

	if (b != NULL)
		pack_number(b, n);
}

void out_put_bytes(struct keel_out *o, const char *key, const void *bytes, uint32_t len)
{
	struct buf *b = begin_key(o, key);

	if (b != NULL && bytes == NULL)
		pack_nil(b);
	else if (b != NULL)
		pack_bin(b, bytes, len);
}

void out_put_strings(struct keel_out *o, const char *key, const char *const *strings, uint32_t n)
{
	struct buf *b = begin_key(o, key);

	if (b == NULL)
		return;
	pack_array(b, n);
	for (uint32_t i = 0; i < n; i++)
		pack_str(b, strings[i]);
}

void out_open_array(struct keel_out *o, const char *key)
{
	if (begin_key(o, key) != NULL)
		open_here(o);
}

void out_open_list(struct keel_out *o)
{
	if (out_value(o) != NULL)
		open_here(o);
}

void out_add_str(struct keel_out *o, const char *text)
{
	struct buf *b = out_value(o);

	if (b != NULL)
		pack_str(b, text);
}

void out_add_int(struct keel_out *o, int64_t n)
{
	struct buf *b = out_value(o);

	if (b != NULL)
		pack_number(b, n);
}

void out_close(struct keel_out *o)
{
	if (o == NULL || o->b.failed)
		return;
	if (o->depth == 0) {
		o->b.failed = true;
		return;
	}
	o->depth--;
	pack_close(&o->b, o->open[o->depth].place, o->open[o->depth].count);
}

uint32_t out_length(const struct keel_out *o)
{
	return o == NULL ? 0 : (uint32_t)(o->b.len - BODY_AT);
}

const char *out_bytes(struct keel_out *o, uint32_t *ret_len)
{
	if (o == NULL || o->depth > 0 || !is_good(o))
		return NULL;
	o->b.data[BODY_AT + 1] = (char)(o->keys >> 8);
	o->b.data[BODY_AT + 2] = (char)o->keys;
	*ret_len = out_length(o);
	return o->b.data + BODY_AT;
}

const char *out_frame(struct keel_out *o, uint16_t type, uint64_t corr, size_t *ret_len)
{
	uint32_t len;

	if (out_bytes(o, &len) == NULL)
		return NULL;
	frame_header(o->b.data, type, corr, len);
	*ret_len = o->b.len;
	return o->b.data;
}
