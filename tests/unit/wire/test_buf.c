/* SPDX-License-Identifier: Apache-2.0
 *
 * test_buf.c - a growing byte buffer.
 */
#include <stdint.h>
#include <string.h>

#include "harness.h"
#include "wire/buf.h"

static void test_grows(void)
{
	struct buf b;

	buf_init(&b);
	for (int i = 0; i < 10000; i++)
		buf_printf(&b, "%d,", i % 10);
	CU_ASSERT_FALSE(b.failed);
	CU_ASSERT_EQUAL(b.len, 20000);
	CU_ASSERT_EQUAL(b.data[b.len], '\0');
	CU_ASSERT_NSTRING_EQUAL(b.data, "0,1,2,3,", 8);
	buf_fini(&b);
}

static void test_long_format(void)
{
	struct buf b;
	char words[5000];

	memset(words, 'w', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	buf_init(&b);
	buf_str(&b, "<");
	buf_printf(&b, "%s>", words);
	CU_ASSERT_EQUAL(b.len, sizeof(words) + 1);
	CU_ASSERT_EQUAL(b.data[b.len - 1], '>');
	buf_fini(&b);
}

static void test_bytes_with_nul(void)
{
	struct buf b;

	buf_init(&b);
	buf_add(&b, "a\0b", 3);
	buf_add(&b, NULL, 0);
	CU_ASSERT_EQUAL(b.len, 3);
	CU_ASSERT_EQUAL(memcmp(b.data, "a\0b", 4), 0);
	buf_fini(&b);
}

static void test_take(void)
{
	struct buf b;
	size_t len = 9;
	char *text;

	buf_init(&b);
	text = buf_take(&b, &len);
	CU_ASSERT_STRING_EQUAL(text, "");
	CU_ASSERT_EQUAL(len, 0);
	free(text);
	buf_str(&b, "word");
	text = buf_take(&b, &len);
	CU_ASSERT_STRING_EQUAL(text, "word");
	CU_ASSERT_EQUAL(len, 4);
	CU_ASSERT_PTR_NULL(b.data);
	free(text);
}

static void test_failure_is_kept(void)
{
	struct buf b;

	buf_init(&b);
	buf_str(&b, "before");
	CU_ASSERT_PTR_NULL(buf_room(&b, SIZE_MAX / 2)); /* cannot be had */
	CU_ASSERT_TRUE(b.failed);
	buf_str(&b, "after");
	CU_ASSERT_STRING_EQUAL(b.data, "before");
	CU_ASSERT_PTR_NULL(buf_take(&b, NULL));
	CU_ASSERT_FALSE(b.failed);
}

static void test_reset_keeps_memory(void)
{
	struct buf b;
	const char *data;

	buf_init(&b);
	buf_reset(&b);
	buf_str(&b, "word");
	data = b.data;
	buf_reset(&b);
	CU_ASSERT_EQUAL(b.len, 0);
	CU_ASSERT_STRING_EQUAL(b.data, "");
	buf_str(&b, "other");
	CU_ASSERT_PTR_EQUAL(b.data, data);
	buf_fini(&b);
	buf_fini(NULL);
}

TESTS_MAIN("wire/buf", TEST(test_grows), TEST(test_long_format), TEST(test_bytes_with_nul),
	   TEST(test_take), TEST(test_failure_is_kept), TEST(test_reset_keeps_memory))
