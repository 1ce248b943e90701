/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pack.c - bodies that are maps, and bodies that lie about their size or depth.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "keel/wire.h"
#include "pack.h"

#define CHECK(bytes) pack_check(bytes, sizeof(bytes) - 1)

static void test_check_single_values(void)
{
	CU_ASSERT_EQUAL(CHECK("\x80"), 0);
	CU_ASSERT_EQUAL(CHECK("\xc0"), 0);
	CU_ASSERT_EQUAL(CHECK("\x7f"), 0);
	CU_ASSERT_EQUAL(CHECK("\xff"), 0);
	CU_ASSERT_EQUAL(CHECK("\xa3" "abc"), 0);
	CU_ASSERT_EQUAL(CHECK("\xd9\x03" "abc"), 0);
	CU_ASSERT_EQUAL(CHECK("\xcb" "12345678"), 0);
	CU_ASSERT_EQUAL(CHECK("\xd8" "t1234567890123456"), 0);
	CU_ASSERT_EQUAL(CHECK("\xc7\x02" "t12"), 0);
	CU_ASSERT_EQUAL(CHECK("\x92\x01\x81\xa1k\xc3"), 0);
}

static void test_check_refuses(void)
{
	CU_ASSERT_EQUAL(pack_check("", 0), -EPROTO);
	CU_ASSERT_EQUAL(CHECK("\xc1"), -EPROTO); /* never used */
	CU_ASSERT_EQUAL(CHECK("\x80\x80"), -EPROTO); /* two values */
	CU_ASSERT_EQUAL(CHECK("\xa3" "ab"), -EPROTO);
	CU_ASSERT_EQUAL(CHECK("\xd9"), -EPROTO);
	CU_ASSERT_EQUAL(CHECK("\xdb\xff\xff\xff\xff" "a"), -EPROTO);
	CU_ASSERT_EQUAL(CHECK("\xdd\xff\xff\xff\xff"), -EPROTO);
	CU_ASSERT_EQUAL(CHECK("\xdf\x80\x00\x00\x01\x01"), -EPROTO);
	CU_ASSERT_EQUAL(CHECK("\x82\x01\x02\x03"), -EPROTO);
	CU_ASSERT_EQUAL(CHECK("\xc9\xff\xff\xff\xff"), -EPROTO);
	CU_ASSERT_EQUAL(CHECK("\xcb" "1234567"), -EPROTO);
}

static void test_cost(void)
{
	static const char text[] = "\x92\xa3" "abc" "\xc4\x02\xc4\xc4", marked[] = "\x92\xd9\x01\xc4\xc5\0\1x";

	CU_ASSERT_EQUAL(pack_cost("\x80", 1, 100), 1 + PACK_VALUE_COST);
	CU_ASSERT_EQUAL(pack_cost(text, 9, 100), 7 + 3 * PACK_VALUE_COST);
	CU_ASSERT_EQUAL(pack_cost(marked, 8, 100), 7 + 3 * PACK_VALUE_COST); /* text of such a byte is none */
	CU_ASSERT_EQUAL(pack_cost("\xc4\x02x", 3, 100), 0);
	CU_ASSERT_EQUAL(pack_cost("\x92\x01\xc1", 3, 20), 2 * (1 + PACK_VALUE_COST)); /* not walked to its end */
}

/* past sdk/include/keel/wire.h WIRE_DEPTH_MAX */
static void test_depth(void)
{
	char bytes[WIRE_DEPTH_MAX + 2];

	memset(bytes, 0x91, sizeof(bytes));
	bytes[WIRE_DEPTH_MAX] = 1;
	CU_ASSERT_EQUAL(pack_check(bytes, WIRE_DEPTH_MAX + 1), 0);
	bytes[WIRE_DEPTH_MAX] = (char)0x91;
	bytes[WIRE_DEPTH_MAX + 1] = 1;
	CU_ASSERT_EQUAL(pack_check(bytes, WIRE_DEPTH_MAX + 2), -EPROTO);
}

static void test_open_wants_a_map(void)
{
	struct pack p;

	CU_ASSERT_EQUAL(pack_open(&p, "\x90", 1), -EPROTO);
	CU_ASSERT_EQUAL(pack_open(&p, "", 0), -EPROTO);
	CU_ASSERT_EQUAL(pack_open(&p, "\xde\xff\xff", 3), -EPROTO);
	CU_ASSERT_EQUAL_FATAL(pack_open(&p, "\x80", 1), 0);
	CU_ASSERT_PTR_NULL(pack_get(&p.root, "any"));
	pack_fini(&p);
}

static void test_reads_are_typed(void)
{
	struct buf b = { 0 };
	struct pack p;
	size_t len;
	char *text;

	pack_map(&b, 6);
	pack_key_str(&b, "text", "abc");
	pack_key_str(&b, "none", NULL);
	pack_key_int(&b, "n", -5);
	pack_str(&b, "on");
	pack_bool(&b, true);
	pack_str(&b, "big");
	buf_add(&b, "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9); /* UINT64_MAX */
	pack_str(&b, "nul");
	pack_text(&b, "a\0b", 3);
	CU_ASSERT_EQUAL_FATAL(pack_open(&p, b.data, b.len), 0);
	CU_ASSERT_EQUAL(pack_int(&p.root, "n", 9), -5);
	CU_ASSERT_EQUAL(pack_int(&p.root, "text", 9), 9);
	CU_ASSERT_EQUAL(pack_int(&p.root, "big", 9), 9);
	CU_ASSERT_EQUAL(pack_int(&p.root, "on", 9), 9);
	CU_ASSERT_PTR_NOT_NULL(pack_bytes(&p.root, "nul", &len));
	CU_ASSERT_EQUAL(len, 3);
	CU_ASSERT_PTR_NULL(pack_bytes(&p.root, "none", NULL));
	CU_ASSERT_PTR_NULL(pack_strdup(pack_get(&p.root, "nul")));
	CU_ASSERT_PTR_NULL(pack_strdup(pack_get(&p.root, "n")));
	CU_ASSERT_PTR_NULL(pack_strdup(NULL));
	text = pack_strdup(pack_get(&p.root, "text"));
	CU_ASSERT_STRING_EQUAL(text, "abc");
	free(text);
	CU_ASSERT_PTR_NULL(pack_get(pack_get(&p.root, "n"), "x"));
	pack_fini(&p);
	buf_fini(&b);
}

/* By the specification of MessagePack: each leading byte of 0xc0..0xdf, and what follows it. */
#define FORM(bytes, kind, n) { bytes, sizeof(bytes) - 1, kind, n }
static const struct form {
	const char *bytes;
	size_t len; /* of the head, and of what is not read alone */
	enum pack_kind kind;
	int64_t n; /* the number, or the length */
} forms[] = {
	FORM("\x00", PACK_INT, 0), FORM("\x7f", PACK_INT, 127), FORM("\xe0", PACK_INT, -32),
	FORM("\xff", PACK_INT, -1), FORM("\x80", PACK_MAP, 0), FORM("\x90", PACK_ARRAY, 0), FORM("\xa0", PACK_STR, 0),
	FORM("\xc0", PACK_NIL, 0), FORM("\xc2", PACK_BOOL, 0), FORM("\xc3", PACK_BOOL, 1),
	FORM("\xc4\x01" "a", PACK_BIN, 1), FORM("\xc5\x00\x01" "a", PACK_BIN, 1), FORM("\xc6\x00\x00\x00\x01" "a", PACK_BIN, 1),
	FORM("\xc7\x01" "ta", PACK_OTHER, 2), FORM("\xc8\x00\x01" "ta", PACK_OTHER, 2),
	FORM("\xc9\x00\x00\x00\x01" "ta", PACK_OTHER, 2),
	FORM("\xca" "1234", PACK_OTHER, 4), FORM("\xcb" "12345678", PACK_OTHER, 8),
	FORM("\xcc\xff", PACK_INT, 255), FORM("\xcd\xff\xff", PACK_INT, 65535),
	FORM("\xce\xff\xff\xff\xff", PACK_INT, UINT32_MAX),
	FORM("\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", PACK_INT, INT64_MAX), FORM("\xcf\x80\0\0\0\0\0\0\0", PACK_OTHER, 0),
	FORM("\xd0\x80", PACK_INT, INT8_MIN), FORM("\xd1\x80\x00", PACK_INT, INT16_MIN),
	FORM("\xd2\x80\x00\x00\x00", PACK_INT, INT32_MIN), FORM("\xd3\x80\0\0\0\0\0\0\0", PACK_INT, INT64_MIN),
	FORM("\xd4" "ta", PACK_OTHER, 2), FORM("\xd5" "tab", PACK_OTHER, 3), FORM("\xd6" "tabcd", PACK_OTHER, 5),
	FORM("\xd7" "t12345678", PACK_OTHER, 9), FORM("\xd8" "t1234567890123456", PACK_OTHER, 17),
	FORM("\xd9\x01" "a", PACK_STR, 1), FORM("\xda\x00\x01" "a", PACK_STR, 1), FORM("\xdb\x00\x00\x00\x01" "a", PACK_STR, 1),
	FORM("\xdc\x00\x00", PACK_ARRAY, 0), FORM("\xdd\x00\x00\x00\x00", PACK_ARRAY, 0),
	FORM("\xde\x00\x00", PACK_MAP, 0), FORM("\xdf\x00\x00\x00\x00", PACK_MAP, 0),
};

static void test_each_form(void)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct form *f = &forms[i];
		const unsigned char *at = (const unsigned char *)f->bytes;
		struct pack_reader r = { at, at + f->len, false };
		struct pack_value v = pack_next(&r);

		CU_ASSERT_EQUAL(v.kind, f->kind);
		CU_ASSERT_EQUAL(v.kind == PACK_INT || v.kind == PACK_BOOL ? v.i : v.n, f->n);
		CU_ASSERT(!r.bad && r.at == r.end);
		for (size_t cut = 0; cut < f->len; cut++) {
			r = (struct pack_reader){ at, at + cut, false };
			CU_ASSERT_EQUAL(pack_next(&r).kind, PACK_BAD);
			CU_ASSERT_TRUE(r.bad);
		}
	}
}

/* What is written is read again: numbers and lengths around those at which the form changes. */
static void test_written_and_read(void)
{
	static const int64_t edges[] = { 0, 15, 16, 31, 32, 127, 128, 255, 256, INT16_MAX, 65535, 65536, INT32_MAX, INT64_MAX - 2 };
	static char text[70000];

	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		size_t len = edges[i] < 65537 ? (size_t)edges[i] : 65537;
		struct buf b = { 0 };
		struct pack_reader r;

		for (int64_t n = edges[i] - 1; n <= edges[i] + 1; n++)
			pack_number(&b, n), pack_number(&b, -n - 1);
		pack_text(&b, text, len);
		pack_bin(&b, text, len);
		r = (struct pack_reader){ (unsigned char *)b.data, (unsigned char *)b.data + b.len, false };
		for (int64_t n = edges[i] - 1; n <= edges[i] + 1; n++) {
			CU_ASSERT_EQUAL(pack_next(&r).i, n);
			CU_ASSERT_EQUAL(pack_next(&r).i, -n - 1);
		}
		CU_ASSERT_EQUAL(pack_next(&r).n, len);
		CU_ASSERT_EQUAL(pack_next(&r).n, len);
		CU_ASSERT(!r.bad && r.at == r.end);
		buf_reset(&b);
		pack_array(&b, len);
		for (size_t n = 0; n < len; n++)
			pack_map(&b, 0);
		CU_ASSERT_EQUAL(pack_check(b.data, b.len), 0);
		buf_fini(&b);
	}
}

/* pack_skip() passes over what is inside, as deep as pack_check() lets it be. */
static void test_skip(void)
{
	unsigned char bytes[WIRE_DEPTH_MAX + 2];

	for (int deep = WIRE_DEPTH_MAX; deep <= WIRE_DEPTH_MAX + 1; deep++) {
		struct pack_reader r = { bytes, bytes + deep + 1, false };
		struct pack_value v;

		memset(bytes, 0x91, sizeof(bytes));
		bytes[deep] = 0x01;
		v = pack_next(&r);
		pack_skip(&r, &v);
		CU_ASSERT_EQUAL(r.bad, deep > WIRE_DEPTH_MAX);
		CU_ASSERT(r.bad || r.at == r.end);
	}
}

TESTS_MAIN("pack", TEST(test_check_single_values), TEST(test_check_refuses), TEST(test_cost),
	   TEST(test_depth), TEST(test_open_wants_a_map), TEST(test_reads_are_typed), TEST(test_each_form),
	   TEST(test_written_and_read), TEST(test_skip))
