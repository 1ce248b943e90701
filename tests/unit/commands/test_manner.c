/* SPDX-License-Identifier: Apache-2.0
 *
 * test_manner.c - how jobs are to be deleted.
 */
#include "capture.h"
#include "manner.h"

static void extend_is(const struct manner *m, int n, const char *want)
{
	char extend[MANNER_EXTEND_SIZE];

	manner_extend(m, n, extend);
	CU_ASSERT_STRING_EQUAL(extend, want);
}

static void test_manner(void)
{
	struct manner m = MANNER_INIT;

	extend_is(&m, 1, "");
	extend_is(&m, 1001, "nomail");
	m.history = true;
	CU_ASSERT_TRUE(manner_word(&m, "suppress_email=2"));
	extend_is(&m, 2, "deletehist");
	extend_is(&m, 3, "nomaildeletehist");
	CU_ASSERT_TRUE(manner_word(&m, "suppress_email=-1"));
	extend_is(&m, 1, "nomaildeletehist");
	CU_ASSERT_TRUE(manner_word(&m, "force"));
	CU_ASSERT_TRUE(manner_word(&m, "5"));
	extend_is(&m, 1, "forcenomaildeletehist");
	CU_ASSERT_FALSE(manner_word(&m, "suppress_email=x"));
	CU_ASSERT_FALSE(manner_word(&m, "suppress_email="));
	CU_ASSERT_FALSE(manner_word(&m, "foo=1"));
	CU_ASSERT_FALSE(manner_word(&m, ""));
}

TESTS_MAIN("manner", TEST(test_manner))
