/* SPDX-License-Identifier: Apache-2.0
 *
 * test_scope.c - patterns: which jobs they match, and which patterns are errors.
 */
#include "scope.h"

#include <string.h>

#include "harness.h"

static bool is_meant(const char *queue, const char *user, const char *host)
{
	const char *bad;
	size_t at;
	struct scope *s = scope_create(queue, user, host, &bad, &at);
	bool meant = s && scope_has(s, "workq", "alice", "n1/0*4+n12/1");

	CU_ASSERT_PTR_NOT_NULL(s);
	scope_destroy(s);
	return meant;
}

static void test_meant(void)
{
	CU_ASSERT_TRUE(is_meant(NULL, NULL, NULL));
	CU_ASSERT_TRUE(is_meant("", "", ""));
	CU_ASSERT_TRUE(is_meant("^work", "^(alice|bob)$", "^n12$"));
	CU_ASSERT_FALSE(is_meant("^ork", NULL, NULL));
	CU_ASSERT_FALSE(is_meant(NULL, "^bob$", NULL));
	CU_ASSERT_FALSE(is_meant(NULL, NULL, "^n2$"));
	CU_ASSERT_FALSE(is_meant(NULL, NULL, "0\\*4"));
	CU_ASSERT_FALSE(is_meant("^work", "^alice$", "^n3"));
}

static void test_wrong(void)
{
	const char *bad;
	size_t at;

	CU_ASSERT_PTR_NULL(scope_create("^work", "(", NULL, &bad, &at));
	CU_ASSERT_PTR_NOT_NULL_FATAL(bad);
	CU_ASSERT_STRING_EQUAL(bad, "(");
	scope_destroy(NULL);
}

TESTS_MAIN("scope", TEST(test_meant), TEST(test_wrong))
