/* SPDX-License-Identifier: Apache-2.0
 *
 * mp.h - the few MessagePack words that stored rows and answers are made of, without a tree.
 *
 * Writing goes to a growing buffer; after a failed allocation `failed` stays set, and the caller checks once. Reading
 * checks every length against the end; after an error a reader stays `bad`.
 */
#ifndef KEELSON_MP_H
#define KEELSON_MP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mp {
	char *data;
	size_t len, size;
	bool failed;
};

void mp_fini(struct mp *m);
bool mp_grow(struct mp *m, size_t more); /* false: no memory, and `failed` is set */

/* Returns room for `n` more bytes at the end; NULL: no memory. */
static inline char *mp_room(struct mp *m, size_t n)
{
	if (m->size - m->len < n && !mp_grow(m, n))
		return NULL;
	return m->data + m->len;
}

static inline void mp_raw(struct mp *m, const void *bytes, size_t n)
{
	char *at = mp_room(m, n);

	if (!at)
		return;
	memcpy(at, bytes, n);
	m->len += n;
}

void mp_str_long(struct mp *m, const char *text, size_t len);
static inline void mp_str(struct mp *m, const char *text, size_t len)
{
	char *at;

	if (len > 31) {
		mp_str_long(m, text, len);
		return;
	}
	at = mp_room(m, len + 1);
	if (!at)
		return;
	*at = (char)(0xa0u | len);
	memcpy(at + 1, text, len);
	m->len += len + 1;
}

static inline void mp_byte(struct mp *m, unsigned char byte)
{
	mp_raw(m, &byte, 1);
}
#define mp_nil(m) mp_byte((m), 0xc0)

void mp_int(struct mp *m, int64_t n);
/* For a count that is known later: mp_open_*() returns its place for mp_close(). */
size_t mp_open_map(struct mp *m);
size_t mp_open_array(struct mp *m);
void mp_close(struct mp *m, size_t place, uint32_t count);

struct mp_reader {
	const unsigned char *at, *end;
	bool bad;
};
enum mp_kind { MP_BAD, MP_NIL, MP_INT, MP_STR, MP_MAP, MP_ARRAY, MP_OTHER };
struct mp_value {
	enum mp_kind kind;
	int64_t i;        /* INT; BOOL comes as INT */
	const char *text; /* STR, BIN: not terminated */
	uint32_t n;       /* STR, BIN: bytes; MAP: pairs; ARRAY: values */
};
/* Returns the next value; of a MAP or ARRAY only the head. On an error r->bad is set. */
struct mp_value mp_next(struct mp_reader *r);
/* Skip what belongs to `v`, which mp_next() returned. */
void mp_skip(struct mp_reader *r, const struct mp_value *v);

#endif
