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
	msgpack_sbuffer buf;
	msgpack_packer pk;
	struct pack p;
	size_t len;
	char *text;

	msgpack_sbuffer_init(&buf);
	msgpack_packer_init(&pk, &buf, msgpack_sbuffer_write);
	msgpack_pack_map(&pk, 6);
	pack_key_str(&pk, "text", "abc");
	pack_key_str(&pk, "none", NULL);
	pack_key_int(&pk, "n", -5);
	pack_str(&pk, "on");
	msgpack_pack_true(&pk);
	pack_str(&pk, "big");
	msgpack_pack_uint64(&pk, UINT64_MAX);
	pack_str(&pk, "nul");
	msgpack_pack_str_with_body(&pk, "a\0b", 3);
	CU_ASSERT_EQUAL_FATAL(pack_open(&p, buf.data, buf.size), 0);
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
	msgpack_sbuffer_destroy(&buf);
}

TESTS_MAIN("pack", TEST(test_check_single_values), TEST(test_check_refuses), TEST(test_cost),
	   TEST(test_depth), TEST(test_open_wants_a_map), TEST(test_reads_are_typed))
