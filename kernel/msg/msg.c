/* SPDX-License-Identifier: Apache-2.0
 *
 * msg.c - message bodies: typed reads over a bounded, decoded one; and one being built in a growing buffer.
 *
 * A string is terminated in place when it is read: the byte behind it is the head of the next value,
 * which has been decoded already (or the spare byte at the end). So a read neither copies nor
 * allocates. Lists are freed with the message.
 *
 * Invariant: `pack` refers to `memory` only; no string with a NUL inside is ever returned.
 *
 *	| frame header 16 | map16 head 3 | key value key value ... |
 *
 * Room for the frame header is kept in front of a body that goes out, so that it is sent without a copy. Counts of the
 * map and of open lists are written when they are known.
 *
 * Invariant: `depth` lists are open, the innermost last. An error of the caller marks the buffer as failed, too; what
 * is written afterwards, or to no out at all, goes nowhere.
 */
#include "msg/msg.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "wire/pack.h"

#define MAP_HEAD 3u
#define BODY_AT WIRE_HEADER_SIZE

struct keel_msg {
	struct pack pack;
	char *memory; /* of the body; owned */
	size_t len;   /* from there to the end of the body, where a spare byte follows */
	struct list *lists;
	struct keel_msg *prev, *next; /* in all_messages */
	uint32_t refs;
};

/* What a read returned; freed with the message. */
struct list {
	struct list *next;
	_Alignas(max_align_t) char bytes[];
};

static struct keel_msg *all_messages; /* the loop's */

int msg_take(char *memory, size_t at, size_t len, struct keel_msg **ret_msg)
{
	struct keel_msg *m = calloc(1, sizeof(*m));
	int ret = m == NULL ? -ENOMEM : pack_open(&m->pack, memory + at, len);

	if (ret < 0) {
		free(m);
		free(memory);
		return ret;
	}
	memory[at + len] = '\0';
	m->memory = memory;
	m->len = at + len;
	m->refs = 1;
	DL_APPEND(all_messages, m);
	*ret_msg = m;
	return 0;
}

int msg_open(const char *bytes, size_t len, struct keel_msg **ret_msg)
{
	char *memory = malloc(len + 1);

	if (memory == NULL)
		return -ENOMEM;
	return msg_take(memcpy(memory, len > 0 ? bytes : "", len), 0, len, ret_msg);
}

struct keel_msg *msg_hold(const void *bytes, size_t len)
{
	uintptr_t at = (uintptr_t)bytes;
	struct keel_msg *m;

	DL_FOREACH(all_messages, m) {
		uintptr_t begin = (uintptr_t)m->memory;

		if (at >= begin && at - begin <= m->len && len <= m->len - (at - begin)) {
			m->refs++;
			return m;
		}
	}
	return NULL;
}

void msg_destroy(struct keel_msg *m)
{
	struct list *list, *next;

	if (m == NULL || --m->refs > 0)
		return;
	DL_DELETE(all_messages, m);
	LL_FOREACH_SAFE(m->lists, list, next)
		free(list);
	pack_fini(&m->pack);
	free(m->memory);
	free(m);
}

/* Returns the string, or NULL: another type, or a NUL in it. The message owns the bytes, so it may write. */
static const char *terminated(const struct pack_value *value)
{
	char *text = (char *)value->text;

	if (value->kind != PACK_STR || memchr(text, '\0', value->n) != NULL)
		return NULL;
	if (value->n == 0)
		return ""; /* the byte behind it may be the first of a text */
	text[value->n] = '\0';
	return text;
}

/* Returns room for n + 1 entries, freed with the message. NULL: no memory. */
static void *list_make(const struct keel_msg *m, size_t n, size_t size)
{
	struct list *list = malloc(sizeof(*list) + (n + 1) * size);

	if (list == NULL)
		return NULL;
	LL_PREPEND(((struct keel_msg *)m)->lists, list);
	return list->bytes;
}

static const char *msg_str(const struct keel_msg *m, const char *key)
{
	const struct pack_value *value = pack_get(&m->pack.root, key);

	return value == NULL ? NULL : terminated(value);
}

static const void *msg_bytes(const struct keel_msg *m, const char *key, uint32_t *ret_len)
{
	size_t len = 0;
	const char *bytes = pack_bytes(&m->pack.root, key, &len);

	if (ret_len != NULL)
		*ret_len = (uint32_t)len;
	return bytes;
}

static int64_t msg_integer(const struct keel_msg *m, const char *key, int64_t otherwise)
{
	const struct pack_value *value = pack_get(&m->pack.root, key);

	return value != NULL && (value->kind == PACK_INT || value->kind == PACK_BOOL) ? value->i : otherwise;
}

static const char *const *msg_strings(const struct keel_msg *m, const char *key, uint32_t *ret_n)
{
	const struct pack_value *value = pack_get(&m->pack.root, key);
	const char **strings;

	*ret_n = 0;
	if (value == NULL || value->kind == PACK_NIL)
		return NULL;
	*ret_n = UINT32_MAX;
	if (value->kind != PACK_ARRAY)
		return NULL;
	strings = list_make(m, value->n, sizeof(*strings));
	if (strings == NULL)
		return NULL;
	for (uint32_t i = 0; i < value->n; i++) {
		strings[i] = terminated(&value->at[i]);
		if (strings[i] == NULL)
			return NULL;
	}
	*ret_n = value->n;
	return strings;
}

/* Sets *ret to the string, NULL for nil. Returns 0, or an error for any other type or a NUL inside. */
static int string_or_nil(const struct pack_value *value, const char **ret)
{
	*ret = value->kind == PACK_NIL ? NULL : terminated(value);
	return value->kind == PACK_NIL || *ret != NULL ? 0 : -EPROTO;
}

/* Reads a row: [name, resource or nil, value or nil, op]; missing ones at the end are nil and SET. 0 or -errno. */
static int attrop_read(const struct pack_value *row, struct keel_attrop *ret)
{
	const struct pack_value *cell = row->at;

	*ret = (struct keel_attrop){ .op = KEEL_SET };
	if (row->kind != PACK_ARRAY || row->n < 1 || row->n > 4)
		return -EPROTO;
	ret->name = terminated(&cell[0]);
	if (ret->name == NULL)
		return -EPROTO;
	if (row->n > 1 && string_or_nil(&cell[1], &ret->key) < 0)
		return -EPROTO;
	if (row->n > 2 && string_or_nil(&cell[2], &ret->value) < 0)
		return -EPROTO;
	if (row->n > 3) {
		if (cell[3].kind != PACK_INT || cell[3].i < 0 || cell[3].i > KEEL_LT)
			return -EPROTO;
		ret->op = (int32_t)cell[3].i;
	}
	return 0;
}

static int32_t msg_attrs(const struct keel_msg *m, const char *key, const struct keel_attrop **ret,
			 uint32_t *ret_n)
{
	const struct pack_value *value = pack_get(&m->pack.root, key);
	struct keel_attrop *ops;

	if (value == NULL || value->kind == PACK_NIL)
		return -ENODATA;
	if (value->kind != PACK_ARRAY)
		return -EPROTO;
	ops = list_make(m, value->n, sizeof(*ops));
	if (ops == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < value->n; i++) {
		if (attrop_read(&value->at[i], &ops[i]) < 0)
			return -EPROTO;
	}
	*ret = ops;
	*ret_n = value->n;
	return 0;
}

/* ---- bodies that go out ------------------------------------------------------------------- */
struct keel_out *out_create(void)
{
	static const char heads[BODY_AT + MAP_HEAD] = { [BODY_AT] = (char)0xde };
	struct keel_out *o = malloc(sizeof(*o));

	if (o == NULL)
		return NULL;
	o->keys = o->depth = 0;
	o->raw = false;
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

/* Returns where the next value is to be written; `misplaced`: an error of the caller. */
static struct buf *out_place(struct keel_out *o, bool misplaced)
{
	static struct buf nowhere = { .failed = true };

	if (o == NULL)
		return &nowhere;
	if (misplaced || o->b.len - BODY_AT > WIRE_BODY_MAX)
		o->b.failed = true;
	return o->b.failed ? &nowhere : &o->b;
}

/* Begins a key of the map. Returns the buffer for its value. */
static struct buf *begin_key(struct keel_out *o, const char *key)
{
	struct buf *b = out_place(o, o != NULL && (o->depth > 0 || o->keys == UINT16_MAX));

	if (b->failed)
		return b;
	o->keys++;
	pack_str(b, key);
	return b;
}

struct buf *out_value(struct keel_out *o)
{
	struct buf *b = out_place(o, o != NULL && o->depth == 0);

	if (!b->failed)
		o->open[o->depth - 1].count++;
	return b;
}

static void open_array(struct keel_out *o, struct buf *b)
{
	if (b->failed)
		return;
	b->failed = o->depth == WIRE_DEPTH_MAX - 1;
	if (b->failed)
		return;
	o->open[o->depth].count = 0;
	o->open[o->depth++].place = (uint32_t)pack_open_array(b);
}

void out_put_str(struct keel_out *o, const char *key, const char *text)
{
	pack_str(begin_key(o, key), text);
}

void out_put_int(struct keel_out *o, const char *key, int64_t n)
{
	pack_number(begin_key(o, key), n);
}

static void out_put_bytes(struct keel_out *o, const char *key, const void *bytes, uint32_t len)
{
	struct buf *b = begin_key(o, key);

	if (bytes == NULL)
		pack_nil(b);
	else
		pack_bin(b, bytes, len);
}

static void out_put_strings(struct keel_out *o, const char *key, const char *const *strings, uint32_t n)
{
	struct buf *b = begin_key(o, key);

	pack_array(b, n);
	for (uint32_t i = 0; i < n; i++)
		pack_str(b, strings[i]);
}

static void out_open_array(struct keel_out *o, const char *key)
{
	open_array(o, begin_key(o, key));
}

static void out_open_list(struct keel_out *o)
{
	open_array(o, out_value(o));
}

static void out_add_str(struct keel_out *o, const char *text)
{
	pack_str(out_value(o), text);
}

static void out_add_int(struct keel_out *o, int64_t n)
{
	pack_number(out_value(o), n);
}

static void out_close(struct keel_out *o)
{
	struct buf *b = out_place(o, o != NULL && o->depth == 0);

	if (b->failed)
		return;
	o->depth--;
	pack_close(b, o->open[o->depth].place, o->open[o->depth].count);
}

static uint32_t out_length(const struct keel_out *o)
{
	return o == NULL ? 0 : (uint32_t)(o->b.len - BODY_AT);
}

struct keel_out *out_raw(const void *bytes, uint32_t len)
{
	struct keel_out *o = out_create();

	if (o == NULL)
		return NULL;
	o->raw = true;
	o->b.len = BODY_AT;
	buf_add(&o->b, bytes, len);
	return o;
}

const char *out_bytes(struct keel_out *o, uint32_t *ret_len)
{
	if (o == NULL || o->depth > 0 || o->b.failed || o->b.len - BODY_AT > WIRE_BODY_MAX)
		return NULL;
	if (!o->raw) {
		o->b.data[BODY_AT + 1] = (char)(o->keys >> 8);
		o->b.data[BODY_AT + 2] = (char)o->keys;
	}
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

/* ---- the group ----------------------------------------------------------------------------- */
static struct keel_out *msg_out(struct keel_mod *mod)
{
	(void)mod;
	return out_create();
}

const struct keel_msg_api msg_api = {
	.size = sizeof(msg_api),
	.version = 0,
	.str = msg_str,
	.bytes = msg_bytes,
	.integer = msg_integer,
	.strings = msg_strings,
	.attrs = msg_attrs,
	.out = msg_out,
	.put_str = out_put_str,
	.put_int = out_put_int,
	.put_bytes = out_put_bytes,
	.put_strings = out_put_strings,
	.open_array = out_open_array,
	.add_str = out_add_str,
	.add_int = out_add_int,
	.open_list = out_open_list,
	.close = out_close,
	.length = out_length,
	.drop = out_drop,
};
