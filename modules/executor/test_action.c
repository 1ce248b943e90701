/* SPDX-License-Identifier: Apache-2.0
 *
 * test_action.c - lines of actions, and what becomes of their programs.
 */
#include "action.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const struct action_word words[] = { { "sid", "12" }, { "jobid", "7.svr" }, { NULL, NULL } };

static void test_lines(void)
{
	static const char *const bad[] = { "", "10", "!/bin/true", "0 !/bin/true", "-3 !/bin/true",
					   "10!/bin/true", "10 /bin/true", "10 !true", "10 !",
					   "100000 !/bin/true", "x !/bin/true" };
	int64_t ms = 0;
	char **argv = action_parse("30 !/site/save  %sid %jobid %else x", words, &ms);
	size_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(argv);
	CU_ASSERT_EQUAL(ms, 30000);
	CU_ASSERT_STRING_EQUAL(argv[0], "/site/save");
	CU_ASSERT_STRING_EQUAL(argv[1], "12");
	CU_ASSERT_STRING_EQUAL(argv[2], "7.svr");
	CU_ASSERT_STRING_EQUAL(argv[3], "%else");
	CU_ASSERT_STRING_EQUAL(argv[4], "x");
	CU_ASSERT_PTR_NULL(argv[5]);
	free(argv);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_PTR_NULL(action_parse(bad[i], words, &ms));
}

/* The last of two hundred words arrives. */
static void test_many_words(void)
{
	char line[500] = "30 !/site/save";
	char **argv;

	for (int i = 1; i < 200; i++)
		strcat(line, i == 199 ? " z" : " a");
	argv = action_parse(line, words, &(int64_t){ 0 });
	CU_ASSERT_PTR_NOT_NULL_FATAL(argv);
	CU_ASSERT_STRING_EQUAL(argv[199], "z");
	CU_ASSERT_PTR_NULL(argv[200]);
	free(argv);
}

TESTS_MAIN("action", TEST(test_lines), TEST(test_many_words))
