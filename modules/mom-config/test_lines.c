/* SPDX-License-Identifier: Apache-2.0
 *
 * test_lines.c - names and values of mom_priv/config.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "lines.h"

static void names_and_values(void)
{
	struct lines l;

	CU_ASSERT_EQUAL_FATAL(lines_split(&l, "# first\n\n$usecp  *:/a /b \t\n  $logevent 0x1ff\r\n$flag\n $last # 1"), 0);
	CU_ASSERT_EQUAL_FATAL(l.n, 4);
	CU_ASSERT_EQUAL(l.at[0].number, 3);
	CU_ASSERT_STRING_EQUAL(l.at[0].name, "$usecp");
	CU_ASSERT_STRING_EQUAL(l.at[0].value, "*:/a /b");
	CU_ASSERT_STRING_EQUAL(l.at[0].whole, "$usecp  *:/a /b");
	CU_ASSERT_STRING_EQUAL(l.at[1].value, "0x1ff");
	CU_ASSERT_STRING_EQUAL(l.at[2].value, "");
	CU_ASSERT_EQUAL(l.at[2].number, 5);
	CU_ASSERT_STRING_EQUAL(l.at[3].value, "# 1");
	lines_free(&l);
	CU_ASSERT_EQUAL_FATAL(lines_split(&l, ""), 0);
	CU_ASSERT_EQUAL(l.n, 0);
	lines_free(&l);
}

/* past modules/mom-config/lines.h LINES_MAX */
static void too_many_are_refused(void)
{
	char *text = malloc(4 * (LINES_MAX + 1) + 1), *at = text;
	struct lines l;

	for (int i = 0; i <= LINES_MAX; i++)
		at += sprintf(at, "$a \n");
	CU_ASSERT_EQUAL(lines_split(&l, text), -E2BIG);
	at[-4] = '\0';
	CU_ASSERT_EQUAL_FATAL(lines_split(&l, text), 0);
	CU_ASSERT_EQUAL(l.n, LINES_MAX);
	lines_free(&l);
	free(text);
}

TESTS_MAIN("mom-config/lines", TEST(names_and_values), TEST(too_many_are_refused))
