/* SPDX-License-Identifier: Apache-2.0
 *
 * test_items.c - lists of files, hosts and rules.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "items.h"

static void lists(void)
{
	static const char *const bad[] = {
		"a", "a@h", "a@h:", "@h:/b", "a@:/b", "a:b@c", "a@h:/b,", "", ",a@h:/b", "a@-oProxyCommand=x:/b", "a@h h:/b", "a@h:/b\nc",
		"a\tb@h:/c", "a@h;x:/b",
	};
	struct items l;

	CU_ASSERT_EQUAL_FATAL(items_parse(&l, "in/a@HOST:/src/a,b c@h.d-e_f:src/b:c@d"), 0);
	CU_ASSERT_EQUAL_FATAL(l.n, 2);
	CU_ASSERT_STRING_EQUAL(l.at[0].local, "in/a");
	CU_ASSERT_STRING_EQUAL(l.at[0].host, "HOST");
	CU_ASSERT_STRING_EQUAL(l.at[0].path, "/src/a");
	CU_ASSERT_STRING_EQUAL(l.at[1].local, "b c");
	CU_ASSERT_STRING_EQUAL(l.at[1].path, "src/b:c@d");
	items_free(&l);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(items_parse(&l, bad[i]), -EINVAL);
}

/* past modules/staging/items.h ITEMS_MAX */
static void too_many(void)
{
	char *text = malloc(7 * (ITEMS_MAX + 1) + 1), *at = text;
	struct items l;

	for (int i = 0; i <= ITEMS_MAX; i++)
		at += sprintf(at, "a@h:/b,");
	at[-1] = '\0';
	CU_ASSERT_EQUAL(items_parse(&l, text), -E2BIG);
	at[-8] = '\0';
	CU_ASSERT_EQUAL_FATAL(items_parse(&l, text), 0);
	CU_ASSERT_EQUAL(l.n, ITEMS_MAX);
	items_free(&l);
	free(text);
}

TESTS_MAIN("staging/items", TEST(lists), TEST(too_many))
