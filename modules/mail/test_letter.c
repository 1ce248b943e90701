/* SPDX-License-Identifier: Apache-2.0
 *
 * test_letter.c - addresses that are accepted, Mail_Points, letters as they are read.
 */
#include "letter.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static void test_addresses(void)
{
	static const char *const good[] = { "alice", "alice@n1", "a.b+c@mail.example.org", "_x", "9" };
	static const char *const bad[] = { "", "-oQ/tmp", "|/bin/sh", "/etc/passwd", "a b", "a@", "@n1",
					   "a@-x", "a@b@c", "a\nBcc: b", "a\r", "a,b", "<a>", ":include:x",
					   "a@b/c", "a;b", "\"a\"", "a@b\n" };
	char longest[256]; /* past modules/mail/letter.c ADDRESS_MAX */

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_TRUE(address_ok(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_FALSE(address_ok(bad[i]));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CU_ASSERT_FALSE(address_ok(longest));
	longest[254] = '\0';
	CU_ASSERT_TRUE(address_ok(longest));
}

static void test_lists(void)
{
	uint32_t bad;
	char **to = addresses("a@n1, b,,a@n1,-x,c d,e", 3, &bad);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	CU_ASSERT_STRING_EQUAL(to[0], "a@n1");
	CU_ASSERT_STRING_EQUAL(to[1], "b");
	CU_ASSERT_STRING_EQUAL(to[2], "c");
	CU_ASSERT_PTR_NULL(to[3]);
	CU_ASSERT_EQUAL(bad, 2); /* an option, and one too many */
	free(to);
}

static void test_points(void)
{
	CU_ASSERT_TRUE(points_want("abe", 'b', "1.svr"));
	CU_ASSERT_FALSE(points_want("a", 'b', "1.svr"));
	CU_ASSERT_FALSE(points_want("n", 'a', "1.svr"));
	CU_ASSERT_FALSE(points_want("", 'a', "1.svr"));
	CU_ASSERT_TRUE(points_want("be", 'b', "1[].svr"));
	CU_ASSERT_FALSE(points_want("be", 'b', "1[3].svr"));
	CU_ASSERT_TRUE(points_want("bej", 'b', "1[3].svr"));
}

static void test_letters(void)
{
	char *to[] = { (char *)"a@n1", (char *)"b", NULL };
	struct keel_text t;

	keel_text_init(&t);
	letter_begin(&t, "adm", to, "1.svr", "x\nBcc: y", 'a');
	letter_line(&t, "why\tnot\nat all");
	CU_ASSERT_STRING_EQUAL(t.data, "From: adm\nTo: a@n1,\n\tb\nSubject: PBS JOB 1.svr\n"
				       "Auto-Submitted: auto-generated\n\n"
				       "PBS Job Id: 1.svr\nJob Name:   x Bcc: y\n"
				       "Aborted by PBS Server \nwhy not\nat all\n");
	keel_text_fini(&t);
}

static void test_reasons(void)
{
	CU_ASSERT_STRING_EQUAL(reason_of_status(-29),
			       "Job exceeded resource walltime\nSee job standard error file");
	CU_ASSERT_PTR_NULL(reason_of_status(0));
	CU_ASSERT_PTR_NULL(reason_of_status(271));
}

TESTS_MAIN("letter", TEST(test_addresses), TEST(test_lists), TEST(test_points), TEST(test_letters),
	   TEST(test_reasons))
