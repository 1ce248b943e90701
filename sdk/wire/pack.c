/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.c - reads untrusted MessagePack bodies.
 *
 * pack_check() walks the bytes with a fixed stack. If it returns 0, every count is backed by
 * bytes, so the decoder allocates at most one object per byte of the body.
 */
#include "pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keel/wire.h"

/* A chunk of the decoder's memory: objects take about three times the bytes they are read from. One
 * chunk for most bodies also spares the page faults of giving memory back after each of them. */
#define ZONE_PER_BYTE 3u
#define ZONE_MIN 512u
#define ZONE_MOST (1024u * 1024u)

/* What one leading byte announces. */
struct token {
	uint64_t payload; /* bytes that follow the length */
	uint64_t children; /* values inside an array or map */
	bool container;
};

/* Leading bytes 0xc0..0xdf: how many bytes of length follow, how many of payload, what it is. */
enum kind { BAD, FIXED, SIZED, SIZED_EXT, ARRAY, MAP };
static const struct {
	unsigned char kind, length_bytes, payload;
} lead[32] = {
	[0x00] = { FIXED, 0, 0 },     [0x01] = { BAD, 0, 0 },	    [0x02] = { FIXED, 0, 0 },
	[0x03] = { FIXED, 0, 0 },     [0x04] = { SIZED, 1, 0 },	    [0x05] = { SIZED, 2, 0 },
	[0x06] = { SIZED, 4, 0 },     [0x07] = { SIZED_EXT, 1, 0 }, [0x08] = { SIZED_EXT, 2, 0 },
	[0x09] = { SIZED_EXT, 4, 0 }, [0x0a] = { FIXED, 0, 4 },	    [0x0b] = { FIXED, 0, 8 },
	[0x0c] = { FIXED, 0, 1 },     [0x0d] = { FIXED, 0, 2 },	    [0x0e] = { FIXED, 0, 4 },
	[0x0f] = { FIXED, 0, 8 },     [0x10] = { FIXED, 0, 1 },	    [0x11] = { FIXED, 0, 2 },
	[0x12] = { FIXED, 0, 4 },     [0x13] = { FIXED, 0, 8 },	    [0x14] = { FIXED, 0, 2 },
	[0x15] = { FIXED, 0, 3 },     [0x16] = { FIXED, 0, 5 },	    [0x17] = { FIXED, 0, 9 },
	[0x18] = { FIXED, 0, 17 },    [0x19] = { SIZED, 1, 0 },	    [0x1a] = { SIZED, 2, 0 },
	[0x1b] = { SIZED, 4, 0 },     [0x1c] = { ARRAY, 2, 0 },	    [0x1d] = { ARRAY, 4, 0 },
	[0x1e] = { MAP, 2, 0 },	      [0x1f] = { MAP, 4, 0 },
};

static int token_long_form(unsigned char byte, const unsigned char **at, size_t left,
			   struct token *ret)
{
	unsigned kind = lead[byte - 0xc0].kind, n = lead[byte - 0xc0].length_bytes;
	uint64_t count = 0;

	if (kind == BAD || left < n)
		return -EPROTO;
	for (unsigned i = 0; i < n; i++)
		count = count << 8 | *(*at)++;
	switch (kind) {
	case FIXED:
		ret->payload = lead[byte - 0xc0].payload;
		break;
	case SIZED:
		ret->payload = count;
		break;
	case SIZED_EXT:
		ret->payload = count + 1;
		break;
	default:
		ret->container = true;
		ret->children = kind == MAP ? count * 2 : count;
		break;
	}
	return 0;
}

/* Reads one token at *at and moves *at behind its length. */
static int token_read(const unsigned char **at, const unsigned char *end, struct token *ret)
{
	unsigned char byte;

	*ret = (struct token){ 0 };
	if (*at >= end)
		return -EPROTO;
	byte = *(*at)++;
	if (byte < 0x80 || byte >= 0xe0)
		return 0;
	if (byte >= 0xc0)
		return token_long_form(byte, at, (size_t)(end - *at), ret);
	if (byte >= 0xa0) {
		ret->payload = byte & 0x1f;
	} else {
		ret->container = true;
		ret->children = byte >= 0x90 ? byte & 0x0f : 2u * (byte & 0x0f);
	}
	return 0;
}

/* Leading bytes of binary values. */
static bool is_binary(unsigned char byte)
{
	return byte >= 0xc4 && byte <= 0xc6;
}

/* *ret_cost: see pack_cost(). */
static int walk(const char *bytes, size_t len, size_t most, size_t *ret_cost)
{
	const unsigned char *at = (const unsigned char *)bytes, *end = at + len;
	uint64_t left[WIRE_DEPTH_MAX + 1] = { 1 }; /* values still to come, per open container */
	unsigned depth = 0;
	const unsigned char *value;
	struct token token;

	*ret_cost = 0;
	for (;;) {
		while (left[depth] == 0) {
			if (depth == 0)
				return at == end ? 0 : -EPROTO;
			depth--;
		}
		left[depth]--;
		value = at;
		if (token_read(&at, end, &token) < 0)
			return -EPROTO;
		if (token.payload > (uint64_t)(end - at) || token.children > (uint64_t)(end - at))
			return -EPROTO;
		*ret_cost += (size_t)(at - value) + (is_binary(*value) ? 0 : token.payload) + PACK_VALUE_COST;
		at += token.payload;
		if (*ret_cost > most)
			return 0;
		if (token.container) {
			if (depth == WIRE_DEPTH_MAX)
				return -EPROTO;
			left[++depth] = token.children;
		}
	}
}

int pack_check(const char *bytes, size_t len)
{
	size_t cost;

	return walk(bytes, len, SIZE_MAX, &cost);
}

size_t pack_cost(const char *bytes, size_t len, size_t most)
{
	size_t cost;

	return walk(bytes, len, most, &cost) < 0 ? 0 : cost;
}

static size_t zone_chunk(size_t len)
{
	if (len > ZONE_MOST / ZONE_PER_BYTE)
		return ZONE_MOST;
	return len * ZONE_PER_BYTE < ZONE_MIN ? ZONE_MIN : len * ZONE_PER_BYTE;
}

int pack_open(struct pack *p, const char *bytes, size_t len)
{
	msgpack_unpack_return ret;
	size_t off = 0;

	if (len == 0 || pack_check(bytes, len) < 0)
		return -EPROTO;
	if (!msgpack_zone_init(&p->zone, zone_chunk(len)))
		return -ENOMEM;
	ret = msgpack_unpack(bytes, len, &off, &p->zone, &p->root);
	if (ret == MSGPACK_UNPACK_SUCCESS && off == len && p->root.type == MSGPACK_OBJECT_MAP)
		return 0;
	msgpack_zone_destroy(&p->zone);
	return ret == MSGPACK_UNPACK_NOMEM_ERROR ? -ENOMEM : -EPROTO;
}

void pack_fini(struct pack *p)
{
	msgpack_zone_destroy(&p->zone);
}

const msgpack_object *pack_get(const msgpack_object *map, const char *key)
{
	size_t len = strlen(key);

	if (map == NULL || map->type != MSGPACK_OBJECT_MAP)
		return NULL;
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *kv = &map->via.map.ptr[i];

		if (kv->key.type == MSGPACK_OBJECT_STR && kv->key.via.str.size == len &&
		    (len == 0 || memcmp(kv->key.via.str.ptr, key, len) == 0))
			return &kv->val;
	}
	return NULL;
}

int64_t pack_int(const msgpack_object *map, const char *key, int64_t otherwise)
{
	const msgpack_object *value = pack_get(map, key);

	if (value == NULL)
		return otherwise;
	if (value->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
		return value->via.i64;
	if (value->type == MSGPACK_OBJECT_POSITIVE_INTEGER && value->via.u64 <= INT64_MAX)
		return (int64_t)value->via.u64;
	return otherwise;
}

const char *pack_bytes(const msgpack_object *map, const char *key, size_t *ret_len)
{
	const msgpack_object *value = pack_get(map, key);

	if (value == NULL ||
	    (value->type != MSGPACK_OBJECT_STR && value->type != MSGPACK_OBJECT_BIN))
		return NULL;
	if (ret_len != NULL)
		*ret_len = value->type == MSGPACK_OBJECT_STR ? value->via.str.size
							     : value->via.bin.size;
	return value->type == MSGPACK_OBJECT_STR ? value->via.str.ptr : value->via.bin.ptr;
}

char *pack_strdup(const msgpack_object *value)
{
	uint32_t len;
	char *text;

	if (value == NULL || value->type != MSGPACK_OBJECT_STR)
		return NULL;
	len = value->via.str.size;
	if (len > 0 && memchr(value->via.str.ptr, '\0', len) != NULL)
		return NULL;
	text = malloc((size_t)len + 1);
	if (text == NULL)
		return NULL;
	if (len > 0)
		memcpy(text, value->via.str.ptr, len);
	text[len] = '\0';
	return text;
}

void pack_str(msgpack_packer *pk, const char *text)
{
	if (text == NULL)
		msgpack_pack_nil(pk);
	else
		msgpack_pack_str_with_body(pk, text, strlen(text));
}

void pack_key_str(msgpack_packer *pk, const char *key, const char *text)
{
	pack_str(pk, key);
	pack_str(pk, text);
}

void pack_key_int(msgpack_packer *pk, const char *key, int64_t n)
{
	pack_str(pk, key);
	msgpack_pack_int64(pk, n);
}
