/* SPDX-License-Identifier: Apache-2.0
 *
 * mp.c - the few MessagePack words that stored rows and answers are made of.
 */
#include "object/mp.h"

#include <stdlib.h>

#define DEPTH_MAX 16
#define SIZE_MIN 512u

void mp_fini(struct mp *m)
{
	free(m->data);
	*m = (struct mp){ 0 };
}

bool mp_grow(struct mp *m, size_t more)
{
	size_t size = m->size ? m->size : SIZE_MIN;
	char *data;

	while (size - m->len < more)
		size *= 2;
	data = m->failed ? NULL : realloc(m->data, size);
	if (!data) {
		m->failed = true;
		return false;
	}
	m->data = data;
	m->size = size;
	return true;
}

/* A leading byte and a big-endian number of `width` bytes. */
static void put(struct mp *m, unsigned char lead, uint64_t n, unsigned width)
{
	unsigned char b[9] = { lead };

	for (unsigned i = 0; i < width; i++)
		b[width - i] = (unsigned char)(n >> (8 * i));
	mp_raw(m, b, width + 1);
}

void mp_str_long(struct mp *m, const char *text, size_t len)
{
	if (len <= 0xff)
		put(m, 0xd9, len, 1);
	else if (len <= 0xffff)
		put(m, 0xda, len, 2);
	else
		put(m, 0xdb, len, 4);
	mp_raw(m, text, len);
}

void mp_int(struct mp *m, int64_t n)
{
	if (n >= 0 && n < 128)
		mp_byte(m, (unsigned char)n);
	else if (n < 0 && n >= -32)
		mp_byte(m, (unsigned char)(256 + n));
	else if (n >= INT16_MIN && n <= INT16_MAX)
		put(m, 0xd1, (uint64_t)n, 2);
	else if (n >= INT32_MIN && n <= INT32_MAX)
		put(m, 0xd2, (uint64_t)n, 4);
	else
		put(m, 0xd3, (uint64_t)n, 8);
}

size_t mp_open_map(struct mp *m)
{
	size_t place = m->len;

	put(m, 0xdf, 0, 4);
	return place;
}

size_t mp_open_array(struct mp *m)
{
	size_t place = m->len;

	put(m, 0xdd, 0, 4);
	return place;
}

void mp_close(struct mp *m, size_t place, uint32_t count)
{
	if (m->failed)
		return;
	for (unsigned i = 0; i < 4; i++)
		m->data[place + 4 - i] = (char)(count >> (8 * i));
}

static uint64_t take(struct mp_reader *r, unsigned width)
{
	uint64_t n = 0;

	if ((size_t)(r->end - r->at) < width) {
		r->bad = true;
		return 0;
	}
	while (width--)
		n = n << 8 | *r->at++;
	return n;
}

static struct mp_value bytes(struct mp_reader *r, enum mp_kind kind, uint64_t n)
{
	struct mp_value v = { .kind = kind, .text = (const char *)r->at, .n = (uint32_t)n };

	if (r->bad || n > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		return (struct mp_value){ 0 };
	}
	r->at += n;
	return v;
}

static struct mp_value head(struct mp_reader *r, enum mp_kind kind, uint64_t n)
{
	/* Every value takes a byte at least: a count beyond the end is a lie. */
	if (r->bad || n > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		return (struct mp_value){ 0 };
	}
	return (struct mp_value){ .kind = kind, .n = (uint32_t)n };
}

static struct mp_value integer(struct mp_reader *r, uint64_t n)
{
	return (struct mp_value){ .kind = r->bad ? MP_BAD : MP_INT, .i = (int64_t)n };
}

/* Leading bytes 0xc0..0xdf. */
static struct mp_value long_form(struct mp_reader *r, unsigned lead)
{
	switch (lead) {
	case 0xc0:
		return (struct mp_value){ .kind = MP_NIL };
	case 0xc2:
	case 0xc3:
		return integer(r, lead & 1);
	case 0xc4:
	case 0xc5:
	case 0xc6:
		return bytes(r, MP_STR, take(r, 1u << (lead - 0xc4)));
	case 0xc7:
	case 0xc8:
	case 0xc9:
		return bytes(r, MP_OTHER, take(r, 1u << (lead - 0xc7)) + 1);
	case 0xca:
	case 0xcb:
		return bytes(r, MP_OTHER, 4u << (lead - 0xca));
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xcf:
		return integer(r, take(r, 1u << (lead - 0xcc)));
	case 0xd0:
		return integer(r, (uint64_t)(int64_t)(int8_t)take(r, 1));
	case 0xd1:
		return integer(r, (uint64_t)(int64_t)(int16_t)take(r, 2));
	case 0xd2:
		return integer(r, (uint64_t)(int64_t)(int32_t)take(r, 4));
	case 0xd3:
		return integer(r, take(r, 8));
	case 0xd4:
	case 0xd5:
	case 0xd6:
	case 0xd7:
	case 0xd8:
		return bytes(r, MP_OTHER, (1u << (lead - 0xd4)) + 1);
	case 0xd9:
	case 0xda:
	case 0xdb:
		return bytes(r, MP_STR, take(r, 1u << (lead - 0xd9)));
	case 0xdc:
	case 0xdd:
		return head(r, MP_ARRAY, take(r, 2u << (lead - 0xdc)));
	case 0xde:
	case 0xdf:
		return head(r, MP_MAP, take(r, 2u << (lead - 0xde)));
	default: /* 0xc1 is never used */
		r->bad = true;
		return (struct mp_value){ 0 };
	}
}

struct mp_value mp_next(struct mp_reader *r)
{
	unsigned lead = (unsigned)take(r, 1);

	if (r->bad)
		return (struct mp_value){ 0 };
	if (lead < 0x80)
		return integer(r, lead);
	if (lead >= 0xe0)
		return integer(r, (uint64_t)(int64_t)(int8_t)lead);
	if (lead >= 0xc0)
		return long_form(r, lead);
	if (lead >= 0xa0)
		return bytes(r, MP_STR, lead & 0x1f);
	return head(r, lead >= 0x90 ? MP_ARRAY : MP_MAP, lead & 0x0f);
}

void mp_skip(struct mp_reader *r, const struct mp_value *v)
{
	uint64_t left[DEPTH_MAX] = { 0 };
	unsigned depth = 0;
	struct mp_value inner = *v;

	for (;;) {
		if (inner.kind == MP_MAP || inner.kind == MP_ARRAY) {
			if (++depth == DEPTH_MAX) {
				r->bad = true;
				return;
			}
			left[depth] = inner.kind == MP_MAP ? 2ull * inner.n : inner.n;
		}
		while (depth > 0 && left[depth] == 0)
			depth--;
		if (depth == 0 || r->bad)
			return;
		left[depth]--;
		inner = mp_next(r);
	}
}
