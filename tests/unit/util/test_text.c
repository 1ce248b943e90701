/* SPDX-License-Identifier: Apache-2.0
 *
 * test_text.c - paths and comma lists; numbers with units.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "harness.h"
#include "util/text.h"
#include "rules/unit.h"

static void expect_path(const char *dir, const char *name, const char *joined)
{
	char *path = path_join(dir, name);

	CU_ASSERT_STRING_EQUAL(path, joined);
	free(path);
}

static void test_path_join(void)
{
	expect_path("/a", "b", "/a/b");
	expect_path("/a/", "b", "/a/b");
	expect_path("/a", "/b", "/b");
	expect_path("", "b", "b");
}

static void test_list_split(void)
{
	size_t n = 9;
	char **list = list_split(" a, b c ,,d,", &n);

	CU_ASSERT_EQUAL(n, 3);
	CU_ASSERT_STRING_EQUAL(list[0], "a");
	CU_ASSERT_STRING_EQUAL(list[1], "b c");
	CU_ASSERT_STRING_EQUAL(list[2], "d");
	CU_ASSERT_PTR_NULL(list[3]);
	free(list);
	list = list_split(" , ", &n);
	CU_ASSERT_EQUAL(n, 0);
	CU_ASSERT_PTR_NULL(list[0]);
	free(list);
}

static void test_list_has(void)
{
	CU_ASSERT_TRUE(list_has("a, bc ,d", "bc"));
	CU_ASSERT_FALSE(list_has("a, bc ,d", "b"));
	CU_ASSERT_FALSE(list_has("", ""));
}

static void test_durations(void)
{
	int64_t ms = -1;

	CU_ASSERT_EQUAL(duration_parse("250ms", &ms), 0);
	CU_ASSERT_EQUAL(ms, 250);
	CU_ASSERT_EQUAL(duration_parse("10", &ms), 0);
	CU_ASSERT_EQUAL(ms, 10000);
	CU_ASSERT_EQUAL(duration_parse("2h", &ms), 0);
	CU_ASSERT_EQUAL(ms, 7200000);
	CU_ASSERT_EQUAL(duration_parse("", &ms), -EINVAL);
	CU_ASSERT_EQUAL(duration_parse("-1s", &ms), -EINVAL);
	CU_ASSERT_EQUAL(duration_parse("1 s", &ms), -EINVAL);
	CU_ASSERT_EQUAL(duration_parse("1fortnight", &ms), -EINVAL);
	CU_ASSERT_EQUAL(duration_parse("99999999999999999999s", &ms), -ERANGE);
	CU_ASSERT_EQUAL(duration_parse("9223372036854775807h", &ms), -ERANGE);
	CU_ASSERT_EQUAL(ms, 7200000); /* untouched by failures */
}

static void test_sizes(void)
{
	int64_t bytes = -1;

	CU_ASSERT_EQUAL(size_parse("64kb", &bytes), 0);
	CU_ASSERT_EQUAL(bytes, 65536);
	CU_ASSERT_EQUAL(size_parse("1GB", &bytes), 0);
	CU_ASSERT_EQUAL(bytes, 1 << 30);
	CU_ASSERT_EQUAL(size_parse("2kw", &bytes), 0);
	CU_ASSERT_EQUAL(bytes, 16384);
	CU_ASSERT_EQUAL(size_parse("1kbb", &bytes), -EINVAL);
	CU_ASSERT_EQUAL(size_parse("9999999999tb", &bytes), -ERANGE);
}

static void test_integers(void)
{
	int64_t n = 0;

	CU_ASSERT_EQUAL(integer_parse("-12", &n), 0);
	CU_ASSERT_EQUAL(n, -12);
	CU_ASSERT_EQUAL(integer_parse("0x10", &n), 0);
	CU_ASSERT_EQUAL(n, 16);
	CU_ASSERT_EQUAL(integer_parse("010", &n), 0);
	CU_ASSERT_EQUAL(n, 10);
	CU_ASSERT_EQUAL(integer_parse("1e3", &n), -EINVAL);
	CU_ASSERT_EQUAL(integer_parse(" 1", &n), -EINVAL);
	CU_ASSERT_EQUAL(integer_parse("", &n), -EINVAL);
	CU_ASSERT_EQUAL(integer_parse("9223372036854775808", &n), -ERANGE);
}

TESTS_MAIN("util/text and util/unit", TEST(test_path_join), TEST(test_list_split), TEST(test_list_has),
	   TEST(test_durations), TEST(test_sizes), TEST(test_integers))
