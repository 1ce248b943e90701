/* SPDX-License-Identifier: Apache-2.0
 *
 * test_order.c - what is a preempt_order, and which letters are for whom.
 */
#include "order.h"

#include <string.h>

#include "harness.h"

static bool offered(void *arg, char letter)
{
	return strchr(arg, letter) != NULL;
}

static bool is_order(const char *text, const char *letters)
{
	struct order o;

	return order_parse(text, offered, (void *)letters, &o);
}

static void test_accepted(void)
{
	static const char *const good[] = {
		"S", "C", "R", "D", "RD", "SCRD", "DSCR", "DRCS", "SRD", "R 10 S", "SCR 80 SC 50 S",
		"SCRD 50 R", "SCR  50  D", "\tSCR\t50\tD", " S", "SCR 150 S", "SCRD 0 D",
		"SCR 50 SC 60 S", "SCRD 80 RD 50 D", "D 50 S 20 R", "SCR 20 S 50 R",
		"S 99999999999999999999 R",
	};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_TRUE(is_order(good[i], "SCRD"));
}

static void test_rejected(void)
{
	static const char *const bad[] = {
		"", " ", "s", "d", "sr", "scr", "SS", "DD", "X", "SCRR", "SCRDX", "SC,R", "50", "80 SC",
		"SCR R", "SCR 50", "SCR 50 X", "SCR 80 70", "PQR", "123abc", "abc123", "SCR50 S",
		"SCR -5 S", "SCR 50.5 S", "SCR 50 S 20",
		("S 1 S 1 S 1 S 1 S 1 S 1 S 1 S 1 S 1 S 1 S 1 S "
		 "1 S 1 S 1 S 1 S 1 S 1 S 1 S 1 S 1 S"),
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_FALSE(is_order(bad[i], "SCRD"));
}

/* Letters are what modules offer, nothing else. */
static void test_letters_of_modules(void)
{
	CU_ASSERT_FALSE(is_order("SCRD", "SCR"));
	CU_ASSERT_FALSE(is_order("SCR 50 D", "SCR"));
	CU_ASSERT_TRUE(is_order("SX", "SCRX"));
}

static void test_ranges(void)
{
	struct order o;

	CU_ASSERT_TRUE(order_parse("SCR 80 SC 50 S", NULL, NULL, &o));
	CU_ASSERT_STRING_EQUAL(order_letters(&o, 100), "SCR");
	CU_ASSERT_STRING_EQUAL(order_letters(&o, 81), "SCR");
	CU_ASSERT_STRING_EQUAL(order_letters(&o, 80), "SC");
	CU_ASSERT_STRING_EQUAL(order_letters(&o, 51), "SC");
	CU_ASSERT_STRING_EQUAL(order_letters(&o, 50), "S");
	CU_ASSERT_STRING_EQUAL(order_letters(&o, 0), "S");
	CU_ASSERT_STRING_EQUAL(order_letters(&o, -1), "SCR");
	/* a later, shorter value leaves nothing of the earlier one */
	CU_ASSERT_TRUE(order_parse("D", NULL, NULL, &o));
	CU_ASSERT_EQUAL(o.n, 1);
	CU_ASSERT_STRING_EQUAL(order_letters(&o, 10), "D");
	CU_ASSERT_STRING_EQUAL(o.range[1].letters, "");
}

static void test_percent(void)
{
	CU_ASSERT_EQUAL(percent_left(0, 40), 100);
	CU_ASSERT_EQUAL(percent_left(15, 40), 63);
	CU_ASSERT_EQUAL(percent_left(20, 40), 50);
	CU_ASSERT_EQUAL(percent_left(39, 40), 3);
	CU_ASSERT_EQUAL(percent_left(40, 40), 0);
	CU_ASSERT_EQUAL(percent_left(41, 40), 1);
	CU_ASSERT_EQUAL(percent_left(4000, 40), 1);
	CU_ASSERT_EQUAL(percent_left(-5, 40), 100);
	CU_ASSERT_EQUAL(percent_left(INT64_MAX, 40), 1);
	CU_ASSERT_EQUAL(percent_left(0, 0), 1);
}

TESTS_MAIN("order", TEST(test_accepted), TEST(test_rejected), TEST(test_letters_of_modules),
	   TEST(test_ranges), TEST(test_percent))
