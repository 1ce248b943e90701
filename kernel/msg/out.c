/* SPDX-License-Identifier: Apache-2.0
 *
 * out.c - build one MessagePack map in a growing buffer.
 *
 *	| frame header 16 | map16 head 3 | key value key value ... |
 *
 * Room for the frame header is kept in front, so that a finished body is sent without a copy. Counts of the map and
 * of open lists are written when they are known. Small bodies fit into the out itself.
 *
 * Invariant: data[0..len) is written; depth lists are open, the innermost last.
 */
#include "msg/out.h"

#include <stdlib.h>
#include <string.h>

#include "wire/frame.h"
#include "wire/pack.h"

#define MAP_HEAD 3u
#define ARRAY_HEAD 5u
#define BODY_AT WIRE_HEADER_SIZE
#define START_AT (BODY_AT + MAP_HEAD)
#define DEPTH_MAX (WIRE_DEPTH_MAX - 1) /* the map is the first level */
#define INLINE_SIZE 232u

struct keel_out {
	struct keel_out *next;
	char *data;
	size_t len, size;
	uint32_t keys;
	uint16_t depth;
	bool failed;
	struct {
		size_t at;
		uint32_t count;
	} open[DEPTH_MAX];
	char small[INLINE_SIZE];
};

struct keel_out *out_create(void)
{
	struct keel_out *o = malloc(sizeof(*o));

	if (o == NULL)
		return NULL;
	o->next = NULL;
	o->data = o->small;
	o->len = START_AT;
	o->size = sizeof(o->small);
	o->keys = 0;
	o->depth = 0;
	o->failed = false;
	return o;
}

void out_drop(struct keel_out *o)
{
	if (o == NULL)
		return;
	if (o->data != o->small)
		free(o->data);
	free(o);
}

static bool grow(struct keel_out *o, size_t more)
{
	size_t size = o->size;
	char *data;

	if (more > WIRE_BODY_MAX || o->len + more > (size_t)WIRE_BODY_MAX + BODY_AT)
		return false;
	while (size - o->len < more)
		size *= 2;
	data = realloc(o->data == o->small ? NULL : o->data, size);
	if (data == NULL)
		return false;
	if (o->data == o->small)
		memcpy(data, o->small, o->len);
	o->data = data;
	o->size = size;
	return true;
}

static int append(void *out, const char *bytes, size_t len)
{
	struct keel_out *o = out;

	if (o->failed)
		return -1;
	if (o->size - o->len < len && !grow(o, len)) {
		o->failed = true;
		return -1;
	}
	if (len > 0)
		memcpy(o->data + o->len, bytes, len);
	o->len += len;
	return 0;
}

static msgpack_packer packer(struct keel_out *o)
{
	return (msgpack_packer){ .data = o, .callback = append };
}

/* Begins a key of the map. Returns false inside an open array: an error of the caller. */
static bool begin_key(struct keel_out *o, const char *key)
{
	msgpack_packer pk;

	if (o == NULL)
		return false;
	if (o->depth > 0 || o->keys == UINT16_MAX)
		o->failed = true;
	if (o->failed)
		return false;
	o->keys++;
	pk = packer(o);
	pack_str(&pk, key);
	return true;
}

/* Begins a value of the innermost open array; returns false when none is open. */
static bool begin_value(struct keel_out *o)
{
	if (o == NULL)
		return false;
	if (o->depth == 0 || o->open[o->depth - 1].count == UINT32_MAX)
		o->failed = true;
	if (o->failed)
		return false;
	o->open[o->depth - 1].count++;
	return true;
}

static void put_count(char *at, unsigned n, uint32_t count)
{
	while (n > 0) {
		at[--n] = (char)(count & 0xff);
		count >>= 8;
	}
}

static void open_here(struct keel_out *o)
{
	static const char head[ARRAY_HEAD] = { (char)0xdd };

	if (o->depth == DEPTH_MAX) {
		o->failed = true;
		return;
	}
	o->open[o->depth].at = o->len;
	o->open[o->depth].count = 0;
	o->depth++;
	append(o, head, sizeof(head));
}

void out_put_str(struct keel_out *o, const char *key, const char *text)
{
	msgpack_packer pk;

	if (!begin_key(o, key))
		return;
	pk = packer(o);
	pack_str(&pk, text);
}

void out_put_int(struct keel_out *o, const char *key, int64_t n)
{
	msgpack_packer pk;

	if (!begin_key(o, key))
		return;
	pk = packer(o);
	msgpack_pack_int64(&pk, n);
}

void out_put_bytes(struct keel_out *o, const char *key, const void *bytes, uint32_t len)
{
	msgpack_packer pk;

	if (!begin_key(o, key))
		return;
	pk = packer(o);
	if (bytes == NULL)
		msgpack_pack_nil(&pk);
	else
		msgpack_pack_bin_with_body(&pk, bytes, len);
}

void out_put_strings(struct keel_out *o, const char *key, const char *const *strings, uint32_t n)
{
	msgpack_packer pk;

	if (!begin_key(o, key))
		return;
	pk = packer(o);
	msgpack_pack_array(&pk, n);
	for (uint32_t i = 0; i < n; i++)
		pack_str(&pk, strings[i]);
}

void out_open_array(struct keel_out *o, const char *key)
{
	if (begin_key(o, key))
		open_here(o);
}

void out_open_list(struct keel_out *o)
{
	if (begin_value(o))
		open_here(o);
}

void out_add_str(struct keel_out *o, const char *text)
{
	msgpack_packer pk;

	if (!begin_value(o))
		return;
	pk = packer(o);
	pack_str(&pk, text);
}

void out_add_int(struct keel_out *o, int64_t n)
{
	msgpack_packer pk;

	if (!begin_value(o))
		return;
	pk = packer(o);
	msgpack_pack_int64(&pk, n);
}

void out_raw(struct keel_out *o, const void *bytes, uint32_t len)
{
	if (begin_value(o))
		append(o, bytes, len);
}

void out_close(struct keel_out *o)
{
	if (o == NULL || o->failed)
		return;
	if (o->depth == 0) {
		o->failed = true;
		return;
	}
	o->depth--;
	put_count(o->data + o->open[o->depth].at + 1, 4, o->open[o->depth].count);
}

bool out_adopt(struct keel_out *o, const void *bytes, uint32_t len)
{
	const unsigned char *at = bytes;

	if (len < MAP_HEAD || at[0] != 0xde || pack_check(bytes, len) < 0)
		return false;
	o->keys = (uint32_t)at[1] << 8 | at[2];
	return append(o, (const char *)bytes + MAP_HEAD, len - MAP_HEAD) == 0;
}

uint32_t out_length(const struct keel_out *o)
{
	return o == NULL ? 0 : (uint32_t)(o->len - BODY_AT);
}

const char *out_bytes(struct keel_out *o, uint32_t *ret_len)
{
	if (o == NULL || o->failed || o->depth > 0)
		return NULL;
	o->data[BODY_AT] = (char)0xde;
	put_count(o->data + BODY_AT + 1, 2, o->keys);
	*ret_len = (uint32_t)(o->len - BODY_AT);
	return o->data + BODY_AT;
}

const char *out_frame(struct keel_out *o, uint16_t type, uint64_t corr, size_t *ret_len)
{
	uint32_t len;

	if (out_bytes(o, &len) == NULL || len > WIRE_BODY_MAX)
		return NULL;
	frame_header(o->data, type, corr, len);
	*ret_len = o->len;
	return o->data;
}

const char *out_data(const struct keel_out *o, size_t *ret_len)
{
	*ret_len = o->len;
	return o->data;
}

size_t out_weight(const struct keel_out *o)
{
	return sizeof(*o) + o->len;
}

struct keel_out *out_next(const struct keel_out *o)
{
	return o->next;
}

void out_link(struct keel_out *o, struct keel_out *next)
{
	o->next = next;
}
