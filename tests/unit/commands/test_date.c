/* SPDX-License-Identifier: Apache-2.0
 *
 * test_date.c - times of reservations on a command line.
 */
#include <errno.h>

#include "date.h"
#include "harness.h"

#define HOUR 3600ll
#define DAY (24 * HOUR)

static void zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

/* "2026-11-20 15:26:33", local time. */
static long long at(const char *text)
{
	struct tm tm = { .tm_isdst = -1 };

	CU_ASSERT_EQUAL_FATAL(sscanf(text, "%d-%d-%d %d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
				     &tm.tm_sec), 6);
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (long long)mktime(&tm);
}

static void is(const char *text, const char *now, const char *expected)
{
	long long got = 0;

	CU_ASSERT_EQUAL(date_parse_minute(text, at(now), &got), 0);
	if (got != at(expected))
		printf("\n  %s at %s: %lld, not %s", text, now, got, expected);
	CU_ASSERT_EQUAL(got, at(expected));
}

static void test_minutes(void)
{
	zone("UTC");
	is("1526.53", "2026-11-20 15:26:33", "2026-11-21 15:26:53");
	is("1526", "2026-11-20 15:26:00", "2026-11-21 15:26:00");
	is("1527", "2026-11-20 15:26:59", "2026-11-20 15:27:00");
	is("1525.59", "2026-11-20 15:26:33", "2026-11-21 15:25:59");
	is("202611201526.53", "2026-11-20 15:26:33", "2026-11-20 15:26:53");
	is("201526.53", "2026-11-20 15:26:33", "2026-11-20 15:26:53");
	is("202001010000", "2026-11-20 15:26:33", "2020-01-01 00:00:00");
}

static void test_edges(void)
{
	zone("UTC");
	is("0000", "2026-11-30 23:59:59", "2026-12-01 00:00:00");
	is("0000", "2026-12-31 23:59:59", "2027-01-01 00:00:00");
	is("010000", "2026-12-31 23:59:59", "2027-01-01 00:00:00");
	is("01010000", "2026-12-31 23:59:59", "2027-01-01 00:00:00");
	is("311200", "2026-11-20 00:00:00", "2026-12-31 12:00:00"); /* November has none */
	is("291200", "2028-02-20 00:00:00", "2028-02-29 12:00:00");
	is("291200", "2027-02-20 00:00:00", "2027-03-29 12:00:00");
	is("02291200", "2028-02-20 00:00:00", "2028-02-29 12:00:00");
	is("1200", "2028-02-28 13:00:00", "2028-02-29 12:00:00");
	is("1200", "2027-02-28 13:00:00", "2027-03-01 12:00:00");
}

static void test_summer(void)
{
	zone("Europe/Berlin");
	/* the clock goes from 2 to 3 on 28 March 2027, and from 3 to 2 on 31 October */
	is("0100", "2027-03-27 12:00:00", "2027-03-28 01:00:00");
	is("0400", "2027-03-27 12:00:00", "2027-03-28 04:00:00");
	is("0400", "2027-10-30 12:00:00", "2027-10-31 04:00:00");
	CU_ASSERT_EQUAL(at("2027-03-28 04:00:00") - at("2027-03-27 04:00:00"), 23 * HOUR);
	CU_ASSERT_EQUAL(at("2027-10-31 04:00:00") - at("2027-10-30 04:00:00"), 25 * HOUR);
	zone("UTC");
}

static void test_span(void)
{
	long long now;
	struct date_span s;

	zone("UTC");
	now = at("2026-11-20 12:00:00");
	CU_ASSERT_EQUAL(date_span_parse("1000", "1400", now, &s), 0); /* both tomorrow */
	CU_ASSERT_EQUAL(s.start, at("2026-11-21 10:00:00"));
	CU_ASSERT_EQUAL(s.end, at("2026-11-21 14:00:00"));
	CU_ASSERT_EQUAL(date_span_parse("2300.30", "0100", now, &s), 0);
	CU_ASSERT_EQUAL(s.start, at("2026-11-20 23:00:30"));
	CU_ASSERT_EQUAL(s.end, at("2026-11-21 01:00:00"));
	/* a start with a date has its end where it is written */
	CU_ASSERT_EQUAL(date_span_parse("211000", "1400", now, &s), 0);
	CU_ASSERT(s.end < s.start);
	CU_ASSERT_EQUAL(date_span_parse(NULL, "1400", now, &s), 0);
	CU_ASSERT_EQUAL(s.start, 0);
	CU_ASSERT_EQUAL(s.end, now + 2 * HOUR);
	CU_ASSERT_EQUAL(date_span_parse("1400", "1400", now, &s), 0);
	CU_ASSERT_EQUAL(s.end - s.start, 0); /* not before it: not DAY */
	CU_ASSERT_EQUAL(date_span_parse("1400.30", "1400", now, &s), 0);
	CU_ASSERT_EQUAL(s.end - s.start, DAY - 30);
	CU_ASSERT_EQUAL(date_span_parse(NULL, NULL, now, &s), 0);
	CU_ASSERT_EQUAL(date_span_parse("9999", "x", now, &s), 'R');
	CU_ASSERT_EQUAL(date_span_parse("1200", "", now, &s), 'E');
}

TESTS_MAIN("date", TEST(test_minutes), TEST(test_edges), TEST(test_summer), TEST(test_span))
