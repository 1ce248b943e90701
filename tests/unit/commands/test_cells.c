/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cells.c - texts of table cells.
 */
#include "capture.h"
#include "cells.h"

static void test_cut(void)
{
	char cell[CELL_SIZE];

	cell_cut(cell, "abcdef", 6, 6);
	CU_ASSERT_STRING_EQUAL(cell, "abcdef");
	cell_cut(cell, "abcdefg", 7, 6);
	CU_ASSERT_STRING_EQUAL(cell, "abcde*");
	cell_cut(cell, "", 0, 0);
	CU_ASSERT_STRING_EQUAL(cell, "");
	cell_count(cell, "99999");
	CU_ASSERT_STRING_EQUAL(cell, "99999");
	cell_count(cell, "123456");
	CU_ASSERT_STRING_EQUAL(cell, "1234*");
	CU_ASSERT_EQUAL(cell_id_length("12.svr.dom.org"), 6);
	CU_ASSERT_EQUAL(cell_id_length("12.svr"), 6);
	CU_ASSERT_EQUAL(cell_id_length("12"), 2);
}

static void test_memory(void)
{
	static const struct {
		const char *size, *given, *gigabytes, *megawords;
	} rows[] = {
		{ "200mb", "200mb", "1gb", "25mw" }, { "4gb", "4gb", "4gb", "512mw" },
		{ "3500mb", "3500m", "4gb", "438mw" }, { "10240kb", "10mb", "1gb", "2mw" },
		{ "24684084kb", "24gb", "24gb", "3014m" }, { "0", "0b", "0gb", "0mw" },
		{ "512mw", "512mw", "4gb", "512mw" }, { "100", "100b", "1gb", "1mw" },
		{ NULL, " -- ", " -- ", " -- " }, { "x", " -- ", " -- ", " -- " },
		{ "99999999999999999999pb", "16384", "18446", "18446" },
	};
	char cell[CELL_SIZE];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]) - 1; i++) {
		cell_memory(cell, rows[i].size, CELL_AS_GIVEN);
		CU_ASSERT_STRING_EQUAL(cell, rows[i].given);
		cell_memory(cell, rows[i].size, CELL_GIGABYTES);
		CU_ASSERT_STRING_EQUAL(cell, rows[i].gigabytes);
		cell_memory(cell, rows[i].size, CELL_MEGAWORDS);
		CU_ASSERT_STRING_EQUAL(cell, rows[i].megawords);
	}
	cell_memory(cell, rows[i].size, CELL_MEGAWORDS); /* no overflow */
	CU_ASSERT_EQUAL(strlen(cell), 5);
}

static void test_seconds(void)
{
	CU_ASSERT_EQUAL(cell_seconds("01:00:00"), 3600);
	CU_ASSERT_EQUAL(cell_seconds("100:00:01"), 360001);
	CU_ASSERT_EQUAL(cell_seconds("90"), 90);
	CU_ASSERT_EQUAL(cell_seconds("1:30"), 90);
	CU_ASSERT_EQUAL(cell_seconds("1:30.5"), 90);
	CU_ASSERT_EQUAL(cell_seconds(""), -1);
	CU_ASSERT_EQUAL(cell_seconds("1:"), -1);
	CU_ASSERT_EQUAL(cell_seconds("x"), -1);
	CU_ASSERT_EQUAL(cell_seconds("99999999999999999999"), -1);
}

static void percent_is(struct cell_progress p, const char *expected)
{
	char cell[CELL_SIZE];

	cell_percent(cell, &p);
	CU_ASSERT_STRING_EQUAL(cell, expected);
}

static void test_percent(void)
{
	percent_is((struct cell_progress){ .state = 'R', .walltime_asked = "01:00:00",
					   .walltime_used = "00:30:00" }, " 50 ");
	percent_is((struct cell_progress){ .state = 'R', .walltime_asked = "01:00:00",
					   .walltime_used = "00:30:00", .cput_asked = "100",
					   .cput_used = "75" }, " 75 ");
	percent_is((struct cell_progress){ .state = 'Q', .walltime_asked = "1",
					   .walltime_used = "1" }, " -- ");
	percent_is((struct cell_progress){ .state = 'R', .walltime_used = "1" }, " -- ");
	percent_is((struct cell_progress){ .state = 'R', .walltime_asked = "0",
					   .walltime_used = "1" }, " -- ");
	percent_is((struct cell_progress){ .state = 'X' }, "100 ");
	percent_is((struct cell_progress){ .state = 'B', .array_counts =
			"Queued:2 Running:1 Exiting:0 Expired:1" }, " 25 ");
	percent_is((struct cell_progress){ .state = 'B', .array_counts = "" }, " -- ");
	percent_is((struct cell_progress){ 0 }, " -- ");
}

static void estimate_is(const char *start, const char *expected)
{
	char cell[CELL_SIZE];

	cell_estimate(cell, start, 1709287200); /* Fri Mar 1 10:00:00 2024 */
	CU_ASSERT_STRING_EQUAL(cell, expected);
}

static void test_estimate(void)
{
	estimate_is(NULL, "   --");
	estimate_is("1709287199", "   --");
	estimate_is("0", "    ?");
	estimate_is("soon", "    ?");
	estimate_is("1709290860", "11:01");
	estimate_is("1709557200", "Mo 13");
	estimate_is("1714557200", "  May");
	estimate_is("1804557200", " 2027");
	estimate_is("1904557200", ">5yrs");
}

static void test_counts(void)
{
	static const char counts[] = "Transit:0 Queued:1 Held:2 Waiting:3 Running:4 Exiting:5 ";

	CU_ASSERT_EQUAL(cell_counted(counts, "Transit"), 0);
	CU_ASSERT_EQUAL(cell_counted(counts, "Queued"), 1);
	CU_ASSERT_EQUAL(cell_counted(counts, "Exiting"), 5);
	CU_ASSERT_EQUAL(cell_counted(counts, "ued"), 0);
	CU_ASSERT_EQUAL(cell_counted("", "Queued"), 0);
}

TESTS_MAIN_BETWEEN("cells", in_utc, NULL, TEST(test_cut), TEST(test_memory), TEST(test_seconds),
		   TEST(test_percent), TEST(test_estimate), TEST(test_counts))
