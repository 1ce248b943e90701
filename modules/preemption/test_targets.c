/* SPDX-License-Identifier: Apache-2.0
 *
 * test_targets.c - what is a preempt_targets, and its parts.
 */
#include "targets.h"

#include <string.h>

#include "harness.h"

static void test_grammar(void)
{
	static const char *const good[] = { "None", "NONE", "none", "queue=workq", "QUEUE=workq",
					    "Resource_List.ncpus=2", "queue=a,queue=b",
					    "queue=a, Resource_List.app=x=y" };
	static const char *const bad[] = { "", "abc", "queue=", "queue", "None,queue=a", "queue=a,None",
					   "resource_list.ncpus=2", "Resource_List.=2",
					   "Resource_List.ncpus=", "Resource_List.ncpus", "queue=a,",
					   "queue=\"a\"", "'queue=a'", ",queue=a" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_FALSE(targets_are_wrong(good[i]));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_TRUE(targets_are_wrong(bad[i]));
}

static bool is(const char *at, size_t len, const char *word)
{
	return strlen(word) == len && strncmp(at, word, len) == 0;
}

static void test_parts(void)
{
	const char *at = "queue=q2,Resource_List.app=a b";
	struct target t;

	CU_ASSERT_EQUAL(target_next(&at, &t), 1);
	CU_ASSERT_EQUAL(t.kind, TARGET_QUEUE);
	CU_ASSERT_TRUE(is(t.name, t.name_len, "q2"));
	CU_ASSERT_EQUAL(target_next(&at, &t), 1);
	CU_ASSERT_EQUAL(t.kind, TARGET_RESOURCE);
	CU_ASSERT_TRUE(is(t.name, t.name_len, "app"));
	CU_ASSERT_TRUE(is(t.value, t.value_len, "a b"));
	CU_ASSERT_EQUAL(target_next(&at, &t), 0);
}

static void test_quotes(void)
{
	char whole[] = "\"queue=a,queue=b\"", single[] = "'None'", inner[] = "queue=\"a\"", one[] = "\"";

	targets_unquote(whole);
	CU_ASSERT_STRING_EQUAL(whole, "queue=a,queue=b");
	targets_unquote(single);
	CU_ASSERT_STRING_EQUAL(single, "None");
	targets_unquote(inner);
	CU_ASSERT_STRING_EQUAL(inner, "queue=\"a\"");
	targets_unquote(one);
	CU_ASSERT_STRING_EQUAL(one, "\"");
}

TESTS_MAIN("targets", TEST(test_grammar), TEST(test_parts), TEST(test_quotes))
