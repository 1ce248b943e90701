/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.c - MessagePack, written and read.
 *
 * A body is walked before it is decoded: every count is backed by bytes then, so decoding takes one allocation of at most
 * a struct pack_value per byte, and cannot fail on the way.
 */
#include "wire/pack.h"

#include <errno.h>
#include <stdlib.h>

#include "keel/wire.h"

/* ---- one value after the other ------------------------------------------------------------- */

/* Leading bytes 0xc0..0xdf: the form, and how many bytes of number or length follow (FIXED: of payload). */
enum form { NEVER, NIL, BOOL, UNSIGNED, SIGNED, TEXT, BINARY, EXTENSION, FIXED, ARRAY, MAP };
static const struct {
	unsigned char form, width;
} forms[32] = {
	{ NIL, 0 },	 { NEVER, 0 },	   { BOOL, 0 },	     { BOOL, 0 },      { BINARY, 1 }, { BINARY, 2 },
	{ BINARY, 4 },	 { EXTENSION, 1 }, { EXTENSION, 2 }, { EXTENSION, 4 }, { FIXED, 4 },  { FIXED, 8 },
	{ UNSIGNED, 1 }, { UNSIGNED, 2 },  { UNSIGNED, 4 },  { UNSIGNED, 8 },  { SIGNED, 1 }, { SIGNED, 2 },
	{ SIGNED, 4 },	 { SIGNED, 8 },	   { FIXED, 2 },     { FIXED, 3 },     { FIXED, 5 },  { FIXED, 9 },
	{ FIXED, 17 },	 { TEXT, 1 },	   { TEXT, 2 },	     { TEXT, 4 },      { ARRAY, 2 },  { ARRAY, 4 },
	{ MAP, 2 },	 { MAP, 4 },
};

static struct pack_value bad(struct pack_reader *r)
{
	r->bad = true;
	return (struct pack_value){ .kind = PACK_BAD };
}

static struct pack_value bytes(struct pack_reader *r, enum pack_kind kind, uint64_t n)
{
	struct pack_value v = { .kind = kind, .n = (uint32_t)n, .text = (const char *)r->at };

	if (n > (uint64_t)(r->end - r->at))
		return bad(r);
	r->at += n;
	return v;
}

/* Every value takes a byte at least: a count beyond the end is an error. */
static struct pack_value head(struct pack_reader *r, enum pack_kind kind, uint64_t n)
{
	if ((kind == PACK_MAP ? 2 * n : n) > (uint64_t)(r->end - r->at))
		return bad(r);
	return (struct pack_value){ .kind = kind, .n = (uint32_t)n };
}

static struct pack_value number(enum pack_kind kind, int64_t i)
{
	return (struct pack_value){ .kind = kind, .i = i };
}

static struct pack_value long_form(struct pack_reader *r, unsigned lead)
{
	enum form form = forms[lead - 0xc0].form;
	unsigned width = forms[lead - 0xc0].width, unused = 64 - 8 * width;
	uint64_t n = 0;

	if ((size_t)(r->end - r->at) < width)
		return bad(r);
	if (form == FIXED)
		return bytes(r, PACK_OTHER, width);
	for (unsigned i = 0; i < width; i++)
		n = n << 8 | *r->at++;
	switch (form) {
	case NIL:
		return number(PACK_NIL, 0);
	case BOOL:
		return number(PACK_BOOL, lead & 1);
	case UNSIGNED:
		return number(n > INT64_MAX ? PACK_OTHER : PACK_INT, (int64_t)n);
	case SIGNED:
		return number(PACK_INT, (int64_t)(n << unused) >> unused);
	case TEXT:
		return bytes(r, PACK_STR, n);
	case BINARY:
		return bytes(r, PACK_BIN, n);
	case EXTENSION: /* a byte for its type */
		return bytes(r, PACK_OTHER, n + 1);
	case ARRAY:
		return head(r, PACK_ARRAY, n);
	case MAP:
		return head(r, PACK_MAP, n);
	default:
		return bad(r);
	}
}

struct pack_value pack_next(struct pack_reader *r)
{
	unsigned lead;

	if (r->bad || r->at == r->end)
		return bad(r);
	lead = *r->at++;
	if (lead < 0x80)
		return number(PACK_INT, lead);
	if (lead >= 0xe0)
		return number(PACK_INT, (int8_t)lead);
	if (lead >= 0xc0)
		return long_form(r, lead);
	if (lead >= 0xa0)
		return bytes(r, PACK_STR, lead & 0x1f);
	return head(r, lead >= 0x90 ? PACK_ARRAY : PACK_MAP, lead & 0x0f);
}

static uint64_t children(const struct pack_value *v)
{
	return v->kind == PACK_MAP ? 2ull * v->n : v->kind == PACK_ARRAY ? v->n : 0;
}

struct count {
	size_t values;
	size_t cost, most; /* see pack_cost() */
};

/* Walks `n` values that are `depth` containers deep, and all that is in them; until the cost is above the most. */
static void walk(struct pack_reader *r, uint64_t n, unsigned depth, struct count *c)
{
	uint64_t left[WIRE_DEPTH_MAX + 1]; /* values still to come, per open container */
	unsigned outermost = depth;

	left[depth] = n;
	while (!r->bad && c->cost <= c->most) {
		const unsigned char *from = r->at;
		struct pack_value v;

		while (left[depth] == 0) {
			if (depth-- == outermost)
				return;
		}
		left[depth]--;
		v = pack_next(r);
		c->values++;
		c->cost += (size_t)(r->at - from) - (v.kind == PACK_BIN ? v.n : 0) + PACK_VALUE_COST;
		if (v.kind != PACK_MAP && v.kind != PACK_ARRAY)
			continue;
		if (depth == WIRE_DEPTH_MAX)
			r->bad = true;
		else
			left[++depth] = children(&v);
	}
}

void pack_skip(struct pack_reader *r, const struct pack_value *v)
{
	struct count c = { .most = SIZE_MAX };

	if (children(v) > 0)
		walk(r, children(v), 1, &c);
}

static int check(const char *bytes, size_t len, struct count *c)
{
	struct pack_reader r = { (const unsigned char *)bytes, (const unsigned char *)bytes + len, false };

	walk(&r, 1, 0, c);
	return r.bad || (r.at != r.end && c->cost <= c->most) ? -EPROTO : 0;
}

int pack_check(const char *bytes, size_t len)
{
	return check(bytes, len, &(struct count){ .most = SIZE_MAX });
}

size_t pack_cost(const char *bytes, size_t len, size_t most)
{
	struct count c = { .most = most };

	return check(bytes, len, &c) < 0 ? 0 : c.cost;
}

/* ---- a decoded body ------------------------------------------------------------------------ */

/* Reads a value, and what is in it to *spare. As deep as pack_check() lets it be. */
static void decode(struct pack_reader *r, struct pack_value *v, struct pack_value **spare)
{
	struct pack_value *inner = *spare;
	uint64_t n;

	*v = pack_next(r);
	n = children(v);
	if (n == 0)
		return;
	v->at = inner;
	*spare += n;
	for (uint64_t i = 0; i < n; i++)
		decode(r, &inner[i], spare);
}

int pack_open(struct pack *p, const char *bytes, size_t len)
{
	struct pack_reader r = { (const unsigned char *)bytes, (const unsigned char *)bytes + len, false };
	struct count c = { .most = SIZE_MAX };
	struct pack_value *spare;

	if (check(bytes, len, &c) < 0)
		return -EPROTO;
	p->values = spare = malloc(c.values * sizeof(*p->values));
	if (p->values == NULL)
		return -ENOMEM;
	decode(&r, &p->root, &spare);
	if (p->root.kind == PACK_MAP)
		return 0;
	pack_fini(p);
	return -EPROTO;
}

void pack_fini(struct pack *p)
{
	free(p->values);
}

const struct pack_value *pack_get(const struct pack_value *map, const char *key)
{
	size_t len = strlen(key);

	if (map == NULL || map->kind != PACK_MAP)
		return NULL;
	for (uint32_t i = 0; i < map->n; i++) {
		const struct pack_value *k = &map->at[2 * i];

		if (k->kind == PACK_STR && k->n == len && memcmp(k->text, key, len) == 0)
			return k + 1;
	}
	return NULL;
}

int64_t pack_int(const struct pack_value *map, const char *key, int64_t otherwise)
{
	const struct pack_value *value = pack_get(map, key);

	return value != NULL && value->kind == PACK_INT ? value->i : otherwise;
}

const char *pack_bytes(const struct pack_value *map, const char *key, size_t *ret_len)
{
	const struct pack_value *value = pack_get(map, key);

	if (value == NULL || (value->kind != PACK_STR && value->kind != PACK_BIN))
		return NULL;
	if (ret_len != NULL)
		*ret_len = value->n;
	return value->text;
}

char *pack_strdup(const struct pack_value *value)
{
	if (value == NULL || value->kind != PACK_STR || memchr(value->text, '\0', value->n) != NULL)
		return NULL;
	return strndup(value->text, value->n);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* A leading byte and a big-endian number of `width` bytes. */
static void put(struct buf *b, unsigned char lead, uint64_t n, unsigned width)
{
	unsigned char bytes[9] = { lead };

	for (unsigned i = 0; i < width; i++)
		bytes[width - i] = (unsigned char)(n >> (8 * i));
	buf_add(b, bytes, width + 1);
}

/* The head of a text, binary, array or map, whose leading bytes of 2 and 4 bytes of length follow each other. */
static void put_head(struct buf *b, unsigned char lead_2, size_t n)
{
	if (n <= 0xffff)
		put(b, lead_2, n, 2);
	else
		put(b, lead_2 + 1, n, 4);
}

void pack_text_long(struct buf *b, const char *text, size_t len)
{
	if (len <= 0xff)
		put(b, 0xd9, len, 1);
	else
		put_head(b, 0xda, len);
	buf_add(b, text, len);
}

void pack_str(struct buf *b, const char *text)
{
	if (text == NULL)
		pack_nil(b);
	else
		pack_text(b, text, strlen(text));
}

void pack_bin(struct buf *b, const void *bytes, size_t len)
{
	if (len <= 0xff)
		put(b, 0xc4, len, 1);
	else
		put_head(b, 0xc5, len);
	buf_add(b, bytes, len);
}

void pack_number(struct buf *b, int64_t n)
{
	if (n >= -32 && n < 128)
		pack_byte(b, (unsigned char)n);
	else if (n >= INT16_MIN && n <= INT16_MAX)
		put(b, 0xd1, (uint64_t)n, 2);
	else if (n >= INT32_MIN && n <= INT32_MAX)
		put(b, 0xd2, (uint64_t)n, 4);
	else
		put(b, 0xd3, (uint64_t)n, 8);
}

void pack_bool(struct buf *b, bool truth)
{
	pack_byte(b, truth ? 0xc3 : 0xc2);
}

void pack_array(struct buf *b, size_t n)
{
	if (n <= 15)
		pack_byte(b, (unsigned char)(0x90 | n));
	else
		put_head(b, 0xdc, n);
}

void pack_map(struct buf *b, size_t n)
{
	if (n <= 15)
		pack_byte(b, (unsigned char)(0x80 | n));
	else
		put_head(b, 0xde, n);
}

void pack_key_str(struct buf *b, const char *key, const char *text)
{
	pack_str(b, key);
	pack_str(b, text);
}

void pack_key_int(struct buf *b, const char *key, int64_t n)
{
	pack_str(b, key);
	pack_number(b, n);
}

size_t pack_open_array(struct buf *b)
{
	put(b, 0xdd, 0, 4);
	return b->len - 5;
}

size_t pack_open_map(struct buf *b)
{
	put(b, 0xdf, 0, 4);
	return b->len - 5;
}

void pack_close(struct buf *b, size_t place, uint32_t count)
{
	if (b->failed)
		return;
	for (unsigned i = 0; i < 4; i++)
		b->data[place + 4 - i] = (char)(count >> (8 * i));
}
