/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.h - MessagePack, written and read: messages, answers, stored rows.
 *
 * Writing goes to a growing buffer, which remembers a failed allocation. Reading trusts nothing: each length is checked
 * against the end of the bytes.
 */
#ifndef KEELSON_PACK_H
#define KEELSON_PACK_H

#include <stdint.h>

#include "wire/buf.h"

enum pack_kind { PACK_BAD, PACK_NIL, PACK_BOOL, PACK_INT, PACK_STR, PACK_BIN, PACK_ARRAY, PACK_MAP, PACK_OTHER };

struct pack_value {
	enum pack_kind kind;
	uint32_t n; /* STR, BIN: bytes; ARRAY: values; MAP: pairs */
	union {
		int64_t i;                   /* INT, BOOL; a number above INT64_MAX is OTHER */
		const char *text;            /* STR, BIN: not terminated, inside the bytes that were read */
		const struct pack_value *at; /* ARRAY; MAP: key, value, key ... Only in a decoded body. */
	};
};

/* ---- one value after the other ---- */
struct pack_reader {
	const unsigned char *at, *end;
	bool bad;
};
/* Returns the next value; of a MAP or ARRAY only the head. On an error it is BAD, and so is the reader. */
struct pack_value pack_next(struct pack_reader *r);
/* Skip what belongs to `v`, which pack_next() returned. */
void pack_skip(struct pack_reader *r, const struct pack_value *v);

/* Checks that one value fills the `len` bytes exactly, depth <= WIRE_DEPTH_MAX, every count fits the bytes left.
 * Returns 0 or -EPROTO. Never allocates. */
int pack_check(const char *bytes, size_t len);

/* Returns the cost of decoding: the bytes outside of binary values, and PACK_VALUE_COST for each value. Stops above
 * `most`. 0: pack_check() fails. */
#define PACK_VALUE_COST 16u
size_t pack_cost(const char *bytes, size_t len, size_t most);

/* ---- a decoded body: strings point into the bytes, which must outlive it ---- */
struct pack {
	struct pack_value root; /* a MAP */
	struct pack_value *values;
};

/* Checks and decodes a map. Returns 0, -EPROTO or -ENOMEM; the caller calls pack_fini() only after 0. */
int pack_open(struct pack *p, const char *bytes, size_t len);
void pack_fini(struct pack *p);

/* Returns the value of `key` in a map, NULL if absent (or `map` is no map). */
const struct pack_value *pack_get(const struct pack_value *map, const char *key);

/* Typed reads: return the default if absent or of another type. */
int64_t pack_int(const struct pack_value *map, const char *key, int64_t otherwise);
/* STR or BIN, not terminated; `ret_len` may be NULL. Returns NULL if absent or of another type. */
const char *pack_bytes(const struct pack_value *map, const char *key, size_t *ret_len);
/* Returns a terminated copy of a STR, which the caller frees; NULL: absent, no STR, a NUL inside, or out of memory. */
char *pack_strdup(const struct pack_value *value);

/* ---- writing ---- */
void pack_text_long(struct buf *b, const char *text, size_t len);
/* Short texts and nil are inline: a listing writes millions of them. */
static inline void pack_byte(struct buf *b, unsigned char byte)
{
	char *at = buf_room(b, 1);

	if (!at)
		return;
	*at = (char)byte;
	b->len++;
}
static inline void pack_nil(struct buf *b)
{
	pack_byte(b, 0xc0);
}
static inline void pack_text(struct buf *b, const char *text, size_t len)
{
	char *at;

	if (len > 31) {
		pack_text_long(b, text, len);
		return;
	}
	at = buf_room(b, len + 1);
	if (!at)
		return;
	*at = (char)(0xa0u | len);
	memcpy(at + 1, text, len);
	b->len += len + 1;
}

void pack_str(struct buf *b, const char *text); /* NULL writes nil */
void pack_bin(struct buf *b, const void *bytes, size_t len);
void pack_number(struct buf *b, int64_t n);
void pack_bool(struct buf *b, bool truth);
/* Heads; as many values, or pairs, have to follow. */
void pack_array(struct buf *b, size_t n);
void pack_map(struct buf *b, size_t n);
void pack_key_str(struct buf *b, const char *key, const char *text);
void pack_key_int(struct buf *b, const char *key, int64_t n);
/* Heads whose count is known later: return their place, for pack_close(). */
size_t pack_open_array(struct buf *b);
size_t pack_open_map(struct buf *b);
void pack_close(struct buf *b, size_t place, uint32_t count);

#endif
