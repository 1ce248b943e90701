/* SPDX-License-Identifier: Apache-2.0
 *
 * test_calendar.c - days, holidays and dedicated times: valid and wrong lines, when prime time changes.
 */
#include "calendar.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"

static struct holidays holidays;
static struct dedicated dedicated;
static int complaints, last_line;

static void complain(void *arg, int line, const char *why)
{
	(void)arg, (void)why;
	complaints++;
	last_line = line;
}

static void read_holidays(const char *text)
{
	complaints = 0;
	holidays_read(&holidays, text, complain, NULL);
}

static void read_dedicated(const char *text)
{
	complaints = 0;
	dedicated_read(&dedicated, text, complain, NULL);
}

/* 2026: the 16th of November is a Monday. */
static int64_t at(int month, int day, int hour, int minute)
{
	struct tm tm = { .tm_year = 126, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour,
			 .tm_min = minute, .tm_isdst = -1 };

	return mktime(&tm);
}

static const char week[] = "* an ordinary week\n"
			   "YEAR 2026\n"
			   "  weekday 0600 1730\n"
			   "saturday none all\n"
			   "sunday NONE All\n"
			   "# holidays\n"
			   "359 Dec 25 Christmas Day\n"
			   "Nov 17 a Tuesday\n"
			   "1\n";

static void test_days(void)
{
	read_holidays(week);
	CU_ASSERT_EQUAL(complaints, 0);
	CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(11, 16, 5, 59)));
	CU_ASSERT_TRUE(holidays_is_prime(&holidays, at(11, 16, 6, 0)));
	CU_ASSERT_TRUE(holidays_is_prime(&holidays, at(11, 16, 17, 29)));
	CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(11, 16, 17, 30)));
	CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(11, 21, 12, 0))); /* Saturday */
	CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(11, 17, 12, 0))); /* holidays */
	CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(12, 25, 12, 0)));
	CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(1, 1, 12, 0)));
	CU_ASSERT_TRUE(holidays_is_prime(&holidays, at(1, 2, 12, 0)));
}

static void test_change(void)
{
	read_holidays(week);
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 16, 12, 0)), at(11, 16, 17, 30));
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 16, 18, 0)), at(11, 18, 6, 0));
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 20, 17, 30)), at(11, 23, 6, 0));
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 20, 17, 29)), at(11, 20, 17, 30));
}

static void test_night(void)
{
	read_holidays("weekday 1800 0600\nsaturday 1800 0600\nsunday 1800 0600\n");
	CU_ASSERT_TRUE(holidays_is_prime(&holidays, at(11, 16, 23, 0)));
	CU_ASSERT_TRUE(holidays_is_prime(&holidays, at(11, 16, 1, 0)));
	CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(11, 16, 12, 0)));
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 16, 23, 0)), at(11, 17, 6, 0));
}

static void test_constant(void)
{
	read_holidays("");
	CU_ASSERT_TRUE(holidays_is_prime(&holidays, at(11, 16, 3, 0)));
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 16, 3, 0)), 0);
	read_holidays("weekday none all\nsaturday none all\nsunday none all\nDec 25\n");
	CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(11, 16, 12, 0)));
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 16, 3, 0)), 0);
	read_holidays("Nov 18\n");
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 16, 3, 0)), at(11, 18, 0, 0));
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 18, 3, 0)), at(11, 19, 0, 0));
	read_holidays("YEAR 2025\nNov 18\n"); /* of another year */
	CU_ASSERT_TRUE(holidays_is_prime(&holidays, at(11, 18, 3, 0)));
	CU_ASSERT_EQUAL(holidays_next_change(&holidays, at(11, 16, 3, 0)), 0);
}

/* The 60th day is the 1st of March, wherever YEAR stands in the file, or without it. */
static void test_numbers_of_days(void)
{
	static const char *const texts[] = { "YEAR 2026\n60\n", "60\nYEAR 2026\n", "60\n", "60 Mar 1\n", "60\nYEAR 1970\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_holidays(texts[i]);
		CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(3, 1, 12, 0)));
		CU_ASSERT_TRUE(holidays_is_prime(&holidays, at(2, 28, 12, 0)));
		CU_ASSERT_TRUE(holidays_is_prime(&holidays, at(3, 2, 12, 0)));
	}
}

static void test_refused(void)
{
	static const char *const bad[] = { "weekday 2500 0600", "weekday 0600", "weekday 060000 1200",
					   "Feb 30",		"doomsday all none", "367", "-1", "YEAR x",
					   "weekday 6:00 17:00" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		read_holidays(bad[i]);
		CU_ASSERT_EQUAL(complaints, 1);
	}
	read_holidays("weekday none all\nnonsense\nsaturday none all\nsunday none all");
	CU_ASSERT_EQUAL(last_line, 2);
	CU_ASSERT_FALSE(holidays_is_prime(&holidays, at(11, 21, 12, 0)));
}

static void test_dedicated(void)
{
	read_dedicated("# maintenance\n"
		       "11/20/2026 08:00 11/20/2026 18:00\n"
		       "\n"
		       "11/16/2026 08:00 11/16/2026 12:00 # first\n"
		       "11/16/2026 11:00 11/16/2026 14:00\n");
	CU_ASSERT_EQUAL(complaints, 0);
	CU_ASSERT_EQUAL_FATAL(dedicated.n, 2);
	CU_ASSERT_EQUAL(dedicated.v[0].end, at(11, 16, 14, 0));
	CU_ASSERT_PTR_NULL(dedicated_at(&dedicated, at(11, 16, 7, 59)));
	CU_ASSERT_PTR_EQUAL(dedicated_at(&dedicated, at(11, 16, 8, 0)), &dedicated.v[0]);
	CU_ASSERT_PTR_NULL(dedicated_at(&dedicated, at(11, 16, 14, 0)));
	CU_ASSERT_PTR_EQUAL(dedicated_after(&dedicated, at(11, 16, 14, 0)), &dedicated.v[1]);
	CU_ASSERT_PTR_NULL(dedicated_after(&dedicated, at(11, 20, 8, 0)));
	dedicated_fini(&dedicated);
}

static void test_dedicated_refused(void)
{
	static const char *const bad[] = {
		"11/16/2026 08:00",			 "11/16/2026 08:00 11/16/2026 08:00",
		"11/16/2026 09:00 11/16/2026 08:00",	 "13/16/2026 08:00 11/16/2026 09:00",
		"02/30/2026 08:00 03/16/2026 09:00",	 "11/16/2026 25:00 11/17/2026 09:00",
		"11/16/2026 08:00 11/16/2026 09:00 more",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		read_dedicated(bad[i]);
		CU_ASSERT_EQUAL(complaints, 1);
		CU_ASSERT_EQUAL(dedicated.n, 0);
	}
	dedicated_fini(&dedicated);
}

/* past modules/prime-time/dedicated.c PERIODS_MAX: each line above the bound is an error. */
static void test_too_many_periods(void)
{
	static char text[10002 * 40];
	size_t len = 0;

	for (int i = 0; i < 10001; i++) {
		len += (size_t)sprintf(text + len, "01/01/%d 0%d:00 01/01/%d 0%d:30\n", 1971 + i / 10, i % 10, 1971 + i / 10,
				       i % 10);
		if (i < 9999)
			continue;
		read_dedicated(text);
		CU_ASSERT_EQUAL(complaints, i - 9999);
		CU_ASSERT_EQUAL(dedicated.n, 10000);
	}
	CU_ASSERT_EQUAL(last_line, 10001);
	dedicated_fini(&dedicated);
}

TESTS_MAIN_BETWEEN("calendar", in_utc, NULL, TEST(test_too_many_periods), TEST(test_days), TEST(test_change), TEST(test_night),
		   TEST(test_constant), TEST(test_numbers_of_days), TEST(test_refused), TEST(test_dedicated),
		   TEST(test_dedicated_refused))
