/* SPDX-License-Identifier: Apache-2.0
 *
 * test_err.c - sentences of errors, and the table of batch errors.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "util/err.h"

static void test_sentence(void)
{
	struct keel_err err = { .code = 7 };

	CU_ASSERT_EQUAL(err_set(&err, -EINVAL, "key '%s' is %d", "a", 3), -EINVAL);
	CU_ASSERT_STRING_EQUAL(err.text, "key 'a' is 3");
	CU_ASSERT_EQUAL(err.code, 0);
}

static void test_code_of_batch_errors(void)
{
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(err_set(&err, 15001, "no"), 15001);
	CU_ASSERT_EQUAL(err.code, 15001);
	CU_ASSERT_EQUAL(err_set(&err, -15014, "no"), -15014);
	CU_ASSERT_EQUAL(err.code, 15014);
	CU_ASSERT_EQUAL(err_set(&err, INT32_MIN, "no"), INT32_MIN);
	CU_ASSERT_EQUAL(err.code, 0);
}

static void test_nobody_wants_it(void)
{
	CU_ASSERT_EQUAL(err_set(NULL, -ENOENT, "x %s", "y"), -ENOENT);
}

static void test_own_text_as_argument(void)
{
	struct keel_err err = { 0 };

	err_set(&err, -EIO, "disk");
	err_set(&err, -EIO, "store: %s", err.text);
	CU_ASSERT_STRING_EQUAL(err.text, "store: disk");
}

static void test_long_text_is_cut(void)
{
	struct keel_err err = { 0 };
	char words[2000];

	memset(words, 'w', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	err_set(&err, -EIO, "%s", words);
	CU_ASSERT_EQUAL(strlen(err.text), sizeof(err.text) - 1);
}

static void test_table_is_sorted_and_found(void)
{
	static const struct {
		int number;
		const char *text;
	} rows[] = {
#define PBSE(number, name, text) { number, text },
#include "keel/pbse.def"
#undef PBSE
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CU_ASSERT(i == 0 || rows[i].number > rows[i - 1].number);
		CU_ASSERT_STRING_EQUAL(pbse_text(rows[i].number), rows[i].text ? rows[i].text : "");
	}
}

static void test_unknown_codes(void)
{
	CU_ASSERT_STRING_EQUAL(pbse_text(-1), "");
	CU_ASSERT_STRING_EQUAL(pbse_text(14999), "");
	CU_ASSERT_STRING_EQUAL(pbse_text(99999), "");
}

TESTS_MAIN("util/err", TEST(test_sentence), TEST(test_code_of_batch_errors), TEST(test_nobody_wants_it),
	   TEST(test_own_text_as_argument), TEST(test_long_text_is_cut),
	   TEST(test_table_is_sorted_and_found), TEST(test_unknown_codes))
