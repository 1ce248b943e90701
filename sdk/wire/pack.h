/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.h - reads untrusted MessagePack bodies.
 *
 * Everything is decoded by msgpack-c, after pack_check() has bounded what it may allocate.
 */
#ifndef KEELSON_PACK_H
#define KEELSON_PACK_H

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Checks that one value fills the `len` bytes exactly, depth <= WIRE_DEPTH_MAX, every count fits the bytes left.
 * Returns 0 or -EPROTO. Never allocates. */
int pack_check(const char *bytes, size_t len);

/* Returns the cost of decoding: the bytes outside of binary values, and PACK_VALUE_COST for each value. Stops above
 * `most`. 0: pack_check() fails. */
#define PACK_VALUE_COST 16u
size_t pack_cost(const char *bytes, size_t len, size_t most);

/* A decoded body. Strings point into the bytes, which must outlive it. */
struct pack {
	msgpack_zone zone;
	msgpack_object root; /* a MAP */
};

/* Checks and decodes a map. Returns 0, -EPROTO or -ENOMEM; the caller calls pack_fini() only after 0. */
int pack_open(struct pack *p, const char *bytes, size_t len);
void pack_fini(struct pack *p);

/* Returns the value of `key` in a map, NULL if absent (or `map` is no map). */
const msgpack_object *pack_get(const msgpack_object *map, const char *key);

/* Typed reads: return the default if absent or of another type. */
int64_t pack_int(const msgpack_object *map, const char *key, int64_t otherwise);
/* STR or BIN, not terminated; `ret_len` may be NULL. Returns NULL if absent or of another type. */
const char *pack_bytes(const msgpack_object *map, const char *key, size_t *ret_len);
/* Returns a terminated copy of a STR, which the caller frees; NULL: absent, no STR, a NUL inside, or out of memory. */
char *pack_strdup(const msgpack_object *value);

/* Writing: short forms over msgpack_packer. */
void pack_str(msgpack_packer *pk, const char *text); /* NULL writes nil */
void pack_key_str(msgpack_packer *pk, const char *key, const char *text);
void pack_key_int(msgpack_packer *pk, const char *key, int64_t n);

#endif
