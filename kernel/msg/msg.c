/* SPDX-License-Identifier: Apache-2.0
 *
 * msg.c - message bodies that came in: typed reads over a bounded, decoded body.
 *
 * A string is terminated in place when it is read: the byte behind it is the head of the next value,
 * which has been decoded already (or the spare byte at the end). So a read neither copies nor
 * allocates. Lists are allocated in the decoder's zone and freed with the message.
 *
 * Invariant: `pack` refers to `bytes` only; no string with a NUL inside is ever returned.
 */
#include "msg/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "msg/out.h"
#include "wire/pack.h"

struct keel_msg {
	struct pack pack;
	char *taken; /* the memory of a body that is not in `bytes`; owned */
	size_t taken_len;
	struct keel_msg *prev, *next; /* in all_taken */
	uint32_t refs;
	char bytes[]; /* the body and one spare byte */
};

static struct keel_msg *all_taken; /* the loop's */

int msg_open(const char *bytes, size_t len, struct keel_msg **ret_msg)
{
	struct keel_msg *m;
	int ret;

	if (len > SIZE_MAX - sizeof(*m) - 1)
		return -ENOMEM;
	m = malloc(sizeof(*m) + len + 1);
	if (m == NULL)
		return -ENOMEM;
	m->taken = NULL;
	m->refs = 1;
	if (len > 0)
		memcpy(m->bytes, bytes, len);
	m->bytes[len] = '\0';
	ret = pack_open(&m->pack, m->bytes, len);
	if (ret < 0) {
		free(m);
		return ret;
	}
	*ret_msg = m;
	return 0;
}

int msg_take(char *memory, size_t at, size_t len, struct keel_msg **ret_msg)
{
	struct keel_msg *m = malloc(sizeof(*m));
	int ret = m == NULL ? -ENOMEM : pack_open(&m->pack, memory + at, len);

	if (ret < 0) {
		free(m);
		free(memory);
		return ret;
	}
	memory[at + len] = '\0';
	m->taken = memory;
	m->taken_len = at + len;
	m->refs = 1;
	DL_APPEND(all_taken, m);
	*ret_msg = m;
	return 0;
}

struct keel_msg *msg_hold(const void *bytes, size_t len)
{
	uintptr_t at = (uintptr_t)bytes;
	struct keel_msg *m;

	DL_FOREACH(all_taken, m) {
		uintptr_t begin = (uintptr_t)m->taken;

		if (at >= begin && at - begin <= m->taken_len && len <= m->taken_len - (at - begin)) {
			m->refs++;
			return m;
		}
	}
	return NULL;
}

void msg_destroy(struct keel_msg *m)
{
	if (m == NULL || --m->refs > 0)
		return;
	if (m->taken != NULL)
		DL_DELETE(all_taken, m);
	pack_fini(&m->pack);
	free(m->taken);
	free(m);
}

static int pack_add(void *out, const char *bytes, size_t len)
{
	buf_add(out, bytes, len);
	return 0;
}

void msg_pack(const struct keel_msg *m, struct buf *out)
{
	msgpack_packer pk = { .data = out, .callback = pack_add };

	msgpack_pack_object(&pk, m->pack.root);
}

static const msgpack_object *value_of(const struct keel_msg *m, const char *key)
{
	return pack_get(&m->pack.root, key);
}

/* Returns the string, or NULL: another type, or a NUL in it. The message owns the bytes, so it may write. */
static const char *terminated(const msgpack_object *value)
{
	uint32_t len;
	char *text;

	if (value->type != MSGPACK_OBJECT_STR)
		return NULL;
	len = value->via.str.size;
	if (len == 0)
		return "";
	text = (char *)value->via.str.ptr;
	if (memchr(text, '\0', len) != NULL)
		return NULL;
	text[len] = '\0';
	return text;
}

/* Returns memory that is freed with the message. NULL: no memory. */
static void *zone_array(const struct keel_msg *m, size_t n, size_t size)
{
	struct keel_msg *owner = (struct keel_msg *)m;

	return msgpack_zone_malloc(&owner->pack.zone, n == 0 ? size : n * size);
}

static const char *msg_str(const struct keel_msg *m, const char *key)
{
	const msgpack_object *value = value_of(m, key);

	return value == NULL ? NULL : terminated(value);
}

static const void *msg_bytes(const struct keel_msg *m, const char *key, uint32_t *ret_len)
{
	size_t len = 0;
	const char *bytes = pack_bytes(&m->pack.root, key, &len);

	if (bytes == NULL && value_of(m, key) != NULL && len == 0) {
		const msgpack_object *value = value_of(m, key);

		if (value->type == MSGPACK_OBJECT_BIN || value->type == MSGPACK_OBJECT_STR)
			bytes = "";
	}
	if (ret_len != NULL)
		*ret_len = bytes == NULL ? 0 : (uint32_t)len;
	return bytes;
}

static int64_t msg_integer(const struct keel_msg *m, const char *key, int64_t otherwise)
{
	const msgpack_object *value = value_of(m, key);

	if (value != NULL && value->type == MSGPACK_OBJECT_BOOLEAN)
		return value->via.boolean;
	return pack_int(&m->pack.root, key, otherwise);
}

static const char *const *msg_strings(const struct keel_msg *m, const char *key, uint32_t *ret_n)
{
	const msgpack_object *value = value_of(m, key);
	const msgpack_object_array *array;
	const char **strings;

	*ret_n = 0;
	if (value == NULL || value->type == MSGPACK_OBJECT_NIL)
		return NULL;
	*ret_n = UINT32_MAX;
	if (value->type != MSGPACK_OBJECT_ARRAY)
		return NULL;
	array = &value->via.array;
	strings = zone_array(m, array->size, sizeof(*strings));
	if (strings == NULL)
		return NULL;
	for (uint32_t i = 0; i < array->size; i++) {
		strings[i] = terminated(&array->ptr[i]);
		if (strings[i] == NULL)
			return NULL;
	}
	*ret_n = array->size;
	return strings;
}

/* Sets *ret to the string, NULL for nil. Returns 0, or an error for any other type or a NUL inside. */
static int string_or_nil(const msgpack_object *value, const char **ret)
{
	if (value->type == MSGPACK_OBJECT_NIL) {
		*ret = NULL;
		return 0;
	}
	*ret = terminated(value);
	return *ret == NULL ? -EPROTO : 0;
}

/* Reads a row: [name, resource or nil, value or nil, op]; missing ones at the end are nil and SET. 0 or -errno. */
static int attrop_read(const msgpack_object *row, struct keel_attrop *ret)
{
	const msgpack_object *cell = row->via.array.ptr;
	uint32_t n = row->via.array.size;

	*ret = (struct keel_attrop){ .op = KEEL_SET };
	if (row->type != MSGPACK_OBJECT_ARRAY || n < 1 || n > 4)
		return -EPROTO;
	ret->name = terminated(&cell[0]);
	if (ret->name == NULL)
		return -EPROTO;
	if (n > 1 && string_or_nil(&cell[1], &ret->key) < 0)
		return -EPROTO;
	if (n > 2 && string_or_nil(&cell[2], &ret->value) < 0)
		return -EPROTO;
	if (n > 3) {
		if (cell[3].type != MSGPACK_OBJECT_POSITIVE_INTEGER || cell[3].via.u64 > KEEL_LT)
			return -EPROTO;
		ret->op = (int32_t)cell[3].via.u64;
	}
	return 0;
}

static int32_t msg_attrs(const struct keel_msg *m, const char *key, const struct keel_attrop **ret,
			 uint32_t *ret_n)
{
	const msgpack_object *value = value_of(m, key);
	struct keel_attrop *ops;

	if (value == NULL || value->type == MSGPACK_OBJECT_NIL)
		return -ENODATA;
	if (value->type != MSGPACK_OBJECT_ARRAY)
		return -EPROTO;
	ops = zone_array(m, value->via.array.size, sizeof(*ops));
	if (ops == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < value->via.array.size; i++) {
		if (attrop_read(&value->via.array.ptr[i], &ops[i]) < 0)
			return -EPROTO;
	}
	*ret = ops;
	*ret_n = value->via.array.size;
	return 0;
}

static struct keel_out *msg_out(struct keel_mod *mod)
{
	(void)mod;
	return out_create();
}

static const struct keel_msg_api api = {
	.size = sizeof(api),
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

const struct keel_msg_api *msg_api(void)
{
	return &api;
}
