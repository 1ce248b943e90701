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
	/* Every value takes a byte at least: a count beyond the end is an error. */
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

/* Leading bytes 0xc0..0xdf: the form, and how many bytes of number or length follow (FIXED: of payload). */
enum form { NEVER, NIL, BOOL, UNSIGNED, SIGNED, TEXT, EXTENSION, FIXED, ARRAY, MAP };
static const struct {
	unsigned char form, width;
} forms[32] = {
	{ NIL, 0 },	 { NEVER, 0 },	  { BOOL, 0 },	   { BOOL, 0 },	    { TEXT, 1 },   { TEXT, 2 },
	{ TEXT, 4 },	 { EXTENSION, 1 }, { EXTENSION, 2 }, { EXTENSION, 4 }, { FIXED, 4 },  { FIXED, 8 },
	{ UNSIGNED, 1 }, { UNSIGNED, 2 }, { UNSIGNED, 4 }, { UNSIGNED, 8 }, { SIGNED, 1 }, { SIGNED, 2 },
	{ SIGNED, 4 },	 { SIGNED, 8 },	  { FIXED, 2 },	   { FIXED, 3 },    { FIXED, 5 },  { FIXED, 9 },
	{ FIXED, 17 },	 { TEXT, 1 },	  { TEXT, 2 },	   { TEXT, 4 },	    { ARRAY, 2 },  { ARRAY, 4 },
	{ MAP, 2 },	 { MAP, 4 },
};

static struct mp_value long_form(struct mp_reader *r, unsigned lead)
{
	enum form form = forms[lead - 0xc0].form;
	unsigned width = forms[lead - 0xc0].width, unused = 64 - 8 * width;
	uint64_t n = form == FIXED ? width : take(r, width);

	switch (form) {
	case NIL:
		return (struct mp_value){ .kind = MP_NIL };
	case BOOL:
		return integer(r, lead & 1);
	case UNSIGNED:
		return integer(r, n);
	case SIGNED:
		return integer(r, (uint64_t)((int64_t)(n << unused) >> unused));
	case TEXT:
		return bytes(r, MP_STR, n);
	case EXTENSION: /* a byte for its type */
		return bytes(r, MP_OTHER, n + 1);
	case FIXED:
		return bytes(r, MP_OTHER, n);
	case ARRAY:
		return head(r, MP_ARRAY, n);
	case MAP:
		return head(r, MP_MAP, n);
	default:
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
