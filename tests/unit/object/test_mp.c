/* SPDX-License-Identifier: Apache-2.0
 *
 * test_mp.c - the reader of stored rows understands each leading byte as msgpack-c does.
 */
#include "harness.h"
#include "object/mp.h"

#include <msgpack.h>

#define LEN 64u

static enum mp_kind kind_of(const msgpack_object *o)
{
	switch (o->type) {
	case MSGPACK_OBJECT_NIL: return MP_NIL;
	case MSGPACK_OBJECT_BOOLEAN:
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: return MP_INT;
	case MSGPACK_OBJECT_STR:
	case MSGPACK_OBJECT_BIN: return MP_STR;
	case MSGPACK_OBJECT_MAP: return MP_MAP;
	case MSGPACK_OBJECT_ARRAY: return MP_ARRAY;
	default: return MP_OTHER;
	}
}

static int64_t integer_of(const msgpack_object *o)
{
	return o->type == MSGPACK_OBJECT_BOOLEAN ? o->via.boolean : (int64_t)o->via.u64;
}

/* A leading byte, then `fill`: lengths and counts are small or too large, numbers of either sign. */
static void compare(unsigned lead, unsigned char fill)
{
	unsigned char bytes[LEN];
	struct mp_reader r = { bytes, bytes + LEN, false };
	struct mp_value v;
	msgpack_unpacked theirs;
	size_t end = 0;
	bool good;

	memset(bytes, fill, LEN);
	bytes[0] = (unsigned char)lead;
	msgpack_unpacked_init(&theirs);
	good = msgpack_unpack_next(&theirs, (const char *)bytes, LEN, &end) == MSGPACK_UNPACK_SUCCESS;
	v = mp_next(&r);
	if (!r.bad)
		mp_skip(&r, &v);
	CU_ASSERT_EQUAL(!r.bad, good);
	if (good && !r.bad) {
		CU_ASSERT_EQUAL(v.kind, kind_of(&theirs.data));
		CU_ASSERT_PTR_EQUAL(r.at, bytes + end);
		CU_ASSERT(v.kind != MP_INT || v.i == integer_of(&theirs.data));
	}
	msgpack_unpacked_destroy(&theirs);
}

static void every_leading_byte_is_read_as_by_msgpack(void)
{
	static const unsigned char fills[] = { 0x00, 0x01, 0x7f, 0xff };

	for (unsigned lead = 0; lead < 256; lead++)
		for (size_t i = 0; i < sizeof(fills); i++)
			compare(lead, fills[i]);
}

/* past kernel/object/mp.c DEPTH_MAX: fifteen arrays within each other, not sixteen. */
static void too_deep_is_bad(void)
{
	unsigned char bytes[17];

	for (int deep = 15; deep <= 16; deep++) {
		struct mp_reader r = { bytes, bytes + deep + 1, false };
		struct mp_value v;

		memset(bytes, 0x91, sizeof(bytes));
		bytes[deep] = 0x01;
		v = mp_next(&r);
		mp_skip(&r, &v);
		CU_ASSERT_EQUAL(r.bad, deep == 16);
	}
}

/* What is cut short is bad, wherever. */
static void a_value_that_is_cut_is_bad(void)
{
	unsigned char bytes[LEN] = { 0 };

	for (unsigned lead = 0xc0; lead < 0xe0; lead++) {
		struct mp_reader whole = { bytes, bytes + LEN, false };

		bytes[0] = (unsigned char)lead;
		(void)mp_next(&whole);
		for (const unsigned char *end = bytes; !whole.bad && end < whole.at; end++) {
			struct mp_reader cut = { bytes, end, false };

			(void)mp_next(&cut);
			CU_ASSERT(cut.bad);
		}
	}
}

TESTS_MAIN("object/mp", TEST(every_leading_byte_is_read_as_by_msgpack), TEST(a_value_that_is_cut_is_bad), TEST(too_deep_is_bad))
