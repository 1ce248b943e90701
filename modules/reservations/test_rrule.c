/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rrule.c - recurrence rules: moments worked out by hand, a year of rules against libical alone, what is refused.
 */
#include <libical/ical.h>
#include <stdlib.h>

#include "harness.h"
#include "reservations.h"

#define LA "America/Los_Angeles"
#define BERLIN "Europe/Berlin"

enum { MAX = 10000 };

/* ---- Moments by hand --------------------------------------------------------------------------------- */
/* The n-th occurrence, from 1, of a rule that is given `start`. */
static const struct moment {
	const char *rule, *zone;
	int64_t start;
	uint32_t nth;
	int64_t is;
} moments[] = {
	/* Daily at 9 in Los Angeles from Saturday 2027-03-13 17:00 UTC: the clocks go forward in the night, so 23 hours later. */
	{"FREQ=DAILY;COUNT=3", LA, 1804957200, 1, 1804957200}, /* 2027-03-13 09:00 PST */
	{"FREQ=DAILY;COUNT=3", LA, 1804957200, 2, 1805040000}, /* 2027-03-14 09:00 PDT, 16:00 UTC */
	{"FREQ=DAILY;COUNT=3", LA, 1804957200, 3, 1805126400}, /* 2027-03-15 09:00 PDT */
	/* From 2027-11-06 09:00 PDT, 16:00 UTC: back, 25 hours. */
	{"FREQ=DAILY;COUNT=2", LA, 1825516800, 2, 1825606800}, /* 2027-11-07 09:00 PST, 17:00 UTC */
	/* The same in Berlin, on other days. */
	{"FREQ=DAILY;COUNT=2", BERLIN, 1806134400, 1, 1806134400}, /* 2027-03-27 09:00 CET, 08:00 UTC */
	{"FREQ=DAILY;COUNT=2", BERLIN, 1806134400, 2, 1806217200}, /* 2027-03-28 09:00 CEST, 07:00 UTC */
	{"FREQ=DAILY;COUNT=2", BERLIN, 1824879600, 2, 1824969600}, /* 2027-10-31 09:00 CET, 08:00 UTC */
	/* Half past each hour, in the night when 02:30 does not exist in Los Angeles: 01:30, then 03:30. */
	{"FREQ=HOURLY;COUNT=4", LA, 1805016600, 1, 1805016600}, /* 2027-03-14 01:30 PST, 09:30 UTC */
	{"FREQ=HOURLY;COUNT=4", LA, 1805016600, 2, 1805020200}, /* 2027-03-14 03:30 PDT, 10:30 UTC */
	/* And when 01:30 is there twice: the first one, then 02:30 PST two hours later. */
	{"FREQ=HOURLY;COUNT=2", LA, 1825576200, 1, 1825576200}, /* 2027-11-07 01:30 PDT, 08:30 UTC */
	{"FREQ=HOURLY;COUNT=2", LA, 1825576200, 2, 1825583400}, /* 2027-11-07 02:30 PST, 10:30 UTC */
	/* Leap days. */
	{"FREQ=DAILY;COUNT=3", BERLIN, 1835348400, 2, 1835434800},	/* 2028-02-29 12:00 CET, a day after the 28th */
	{"FREQ=DAILY;COUNT=3", BERLIN, 1835348400, 3, 1835521200},	/* 2028-03-01 12:00 CET */
	{"FREQ=YEARLY;COUNT=2", BERLIN, 1835434800, 2, 1961665200}, /* 2032-02-29 12:00 CET: no 29th between them */
	/* On the 31st: not in months without one. */
	{"FREQ=MONTHLY;COUNT=3", BERLIN, 1801378800, 2, 1806472800}, /* 2027-01-31, then 2027-03-31 08:00 CEST */
	{"FREQ=MONTHLY;COUNT=3", BERLIN, 1801378800, 3, 1811743200}, /* 2027-05-31 08:00 CEST */
	/* BYDAY and BYHOUR go before the start, Monday 2027-01-04 14:00 PST: 09:00 is past, Friday is next. */
	{"FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=9;COUNT=2", LA, 1799100000, 1, 1799427600}, /* 2027-01-08 09:00 PST, 17:00 UTC */
	{"FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=9;COUNT=2", LA, 1799100000, 2, 1799686800}, /* 2027-01-11 09:00 PST */
	{"FREQ=DAILY;BYHOUR=9;COUNT=1", LA, 1799100000, 1, 1799168400}, /* tomorrow: 2027-01-05 09:00 PST */
	/* The last Friday may be the fifth: 2027-01-29 14:00 PST, 22:00 UTC. */
	{"FREQ=MONTHLY;BYDAY=5FR;COUNT=1", LA, 1799100000, 1, 1801260000},
};

static int64_t nth(const struct moment *m)
{
	int64_t *at = NULL, found = 0;
	uint32_t n = 0;

	if (!occurrences_of(m->rule, m->zone, m->start, 60 * (strstr(m->rule, "HOURLY") != NULL), MAX, &at, &n) &&
	    m->nth <= n)
		found = at[m->nth - 1];
	free(at);
	return found;
}

static void test_by_hand(void)
{
	for (uint32_t i = 0; i < KEEL_COUNT(moments); i++) {
		int64_t is = nth(&moments[i]);

		if (is != moments[i].is)
			fprintf(stderr, "%s, %u: %lld\n", moments[i].rule, moments[i].nth, (long long)is);
		CU_ASSERT_EQUAL(is, moments[i].is);
	}
}

/* ---- Against libical alone --------------------------------------------------------------------------- */
static uint32_t by_libical(const char *rule, const char *zone, int64_t start, int64_t *at)
{
	icaltimezone *z = icaltimezone_get_builtin_timezone(zone);
	struct icaltimetype t = icaltime_from_timet_with_zone(start, 0, z);
	icalrecur_iterator *it = icalrecur_iterator_new(icalrecurrencetype_from_string(rule), t);
	uint32_t n = 0;

	while (!icaltime_is_null_time(t = icalrecur_iterator_next(it))) {
		int64_t moment = icaltime_as_timet_with_zone(t, z);

		if (!n || moment > at[n - 1]) /* an hour that is not there is the one before */
			at[n++] = moment;
	}
	icalrecur_iterator_free(it);
	return n;
}

static void compare(const char *rule, const char *zone, int64_t start)
{
	static int64_t expected[MAX];
	int64_t *at = NULL;
	uint32_t n = 0, n_expected = by_libical(rule, zone, start, expected);

	CU_ASSERT_EQUAL(occurrences_of(rule, zone, start, 1, MAX, &at, &n), 0);
	CU_ASSERT_EQUAL(n, n_expected);
	CU_ASSERT(n > 2);
	if (n != n_expected || memcmp(at, expected, n * sizeof(*at)))
		fprintf(stderr, "%s in %s differs\n", rule, zone);
	CU_ASSERT(n == n_expected && !memcmp(at, expected, n * sizeof(*at)));
	free(at);
}

static void test_a_year(void)
{
	static const char *const rules[] = {
		"FREQ=HOURLY;COUNT=8784",
		"FREQ=HOURLY;INTERVAL=5;UNTIL=20281231T235959",
		"FREQ=HOURLY;BYHOUR=1,2,3,23;BYDAY=SU,MO;UNTIL=20281231",
		"FREQ=DAILY;UNTIL=20281231T120000",
		"FREQ=DAILY;BYHOUR=1,2,3;INTERVAL=3;COUNT=300",
		"FREQ=WEEKLY;COUNT=53",
		"FREQ=WEEKLY;BYDAY=SU,WE;BYHOUR=2;UNTIL=20281231",
		"FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH;COUNT=60",
		"FREQ=MONTHLY;COUNT=12",
		"FREQ=MONTHLY;BYDAY=2SU;BYHOUR=2,14;COUNT=24",
		"FREQ=YEARLY;COUNT=5",
		"FREQ=MINUTELY;INTERVAL=37;COUNT=9000",
	};
	static const int64_t starts[] = {
		1830330000, /* 2028-01-01 13:00 UTC, of a leap year */
		1835434800, /* 2028-02-29 */
		1805009400, /* 2027-03-14 before the clocks of Los Angeles change */
		1824942600, /* 2027-10-31 in the hour that Berlin has twice */
	};

	for (uint32_t i = 0; i < KEEL_COUNT(rules); i++)
		for (uint32_t j = 0; j < KEEL_COUNT(starts); j++) {
			compare(rules[i], LA, starts[j]);
			compare(rules[i], BERLIN, starts[j]);
		}
}

/* ---- Refused --------------------------------------------------------------------------------------------- */
static int32_t refused(const char *rule, const char *zone, int64_t duration)
{
	int64_t *at = NULL;
	uint32_t n = 0;
	int32_t rc = occurrences_of(rule, zone, 1799100000, duration, MAX, &at, &n);

	CU_ASSERT(rc ? !at && (!n || n == MAX) : at && n);
	free(at);
	return rc;
}

static void test_syntax(void)
{
	static const struct {
		const char *rule;
		int32_t code;
	} rules[] = {
		{"freq=daily;count=2", 0},
		{"COUNT=2;FREQ=DAILY;INTERVAL=3", 0},
		{"FREQ=DAILY;UNTIL=20271231T235959Z", 0},
		{"FREQ=YEARLY;BYDAY=53MO;COUNT=1", 0},
		{NULL, PBSE_BAD_RRULE_SYNTAX},
		{"", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=FOO;COUNT=2", PBSE_BAD_RRULE_SYNTAX},
		{"COUNT=2", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY;COUNT=2;", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY; COUNT=2", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY;COUNT=2;COUNT=3", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY;COUNT=2;BYSECOND=1", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY;COUNT=2;BYMINUTE=1", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=MONTHLY;COUNT=2;BYMONTHDAY=1", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=YEARLY;COUNT=2;BYYEARDAY=1", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=YEARLY;COUNT=2;BYWEEKNO=1", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=MONTHLY;COUNT=2;BYDAY=MO;BYSETPOS=1", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=MONTHLY;COUNT=2;BYDAY=-1MO", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=MONTHLY;COUNT=2;BYDAY=6MO", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=WEEKLY;COUNT=2;BYDAY=2MO", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=WEEKLY;COUNT=2;BYDAY=MO,", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=WEEKLY;COUNT=2;BYDAY=", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY;COUNT=2;BYHOUR=24", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY;COUNT=2;BYHOUR=-1", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY;COUNT=2;INTERVAL=0", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY;COUNT=2;INTERVAL=32768", PBSE_BAD_RRULE_SYNTAX},
		{"FREQ=DAILY;COUNT=2\nX", PBSE_BAD_RRULE_SYNTAX2},
		{"FREQ=DAILY", PBSE_BAD_RRULE_SYNTAX2},
		{"FREQ=DAILY;COUNT=0", PBSE_BAD_RRULE_SYNTAX2},
		{"FREQ=DAILY;COUNT=-2", PBSE_BAD_RRULE_SYNTAX2},
		{"FREQ=DAILY;COUNT=99999999999999999999", PBSE_BAD_RRULE_SYNTAX2},
		{"FREQ=DAILY;UNTIL=tomorrow", PBSE_BAD_RRULE_SYNTAX2},
		{"FREQ=DAILY;UNTIL=20270230", PBSE_BAD_RRULE_SYNTAX2},
		{"FREQ=DAILY;UNTIL=20270101T2500", PBSE_BAD_RRULE_SYNTAX2},
		{"FREQ=DAILY;UNTIL=20260101", PBSE_BAD_RRULE_SYNTAX2}, /* before it begins */
		{"FREQ=DAILY;UNTIL=20280101;COUNT=2", PBSE_BAD_RRULE_SYNTAX2},
		{"FREQ=DAILY;COUNT=2;BYHOUR=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,00,00", PBSE_BAD_RRULE_SYNTAX}, /* 67 */
	};

	for (uint32_t i = 0; i < KEEL_COUNT(rules); i++) {
		int32_t code = refused(rules[i].rule, "UTC", 1);

		if (code != rules[i].code)
			fprintf(stderr, "%s: %d\n", rules[i].rule, code);
		CU_ASSERT_EQUAL(code, rules[i].code);
	}
}

/* No rule makes a long loop: these are answered at once, or this test does not end. */
static void test_bounds(void)
{
	static const char *const rules[] = {
		"FREQ=SECONDLY;UNTIL=99991231",
		"FREQ=SECONDLY;COUNT=10001",
		"FREQ=DAILY;UNTIL=99991231T235959",
		"FREQ=DAILY;INTERVAL=7;BYDAY=TU;COUNT=2",	 /* the start is a Monday */
		"FREQ=HOURLY;INTERVAL=24;BYHOUR=5;COUNT=2",	 /* never */
		"FREQ=SECONDLY;INTERVAL=7200;BYHOUR=5;COUNT=2", /* never */
		"FREQ=YEARLY;INTERVAL=32767;UNTIL=20280101;BYDAY=53SA;BYHOUR=1",
	};
	int64_t *at = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < KEEL_COUNT(rules); i++) {
		int32_t code = refused(rules[i], LA, 1);

		if (code != PBSE_BAD_RRULE_SYNTAX2)
			fprintf(stderr, "%s: %d\n", rules[i], code);
		CU_ASSERT_EQUAL(code, PBSE_BAD_RRULE_SYNTAX2);
	}
	CU_ASSERT_EQUAL(occurrences_of("FREQ=DAILY;COUNT=2", LA, INT64_MAX, 1, MAX, &at, &n), PBSE_BAD_RRULE_SYNTAX2);
	CU_ASSERT_EQUAL(occurrences_of("FREQ=DAILY;COUNT=2", LA, INT64_MIN, 1, MAX, &at, &n), PBSE_BAD_RRULE_SYNTAX2);
	CU_ASSERT_EQUAL(occurrences_of("FREQ=DAILY;COUNT=3", LA, 1, 1, 2, &at, &n), PBSE_BAD_RRULE_SYNTAX2);
}

/* The hour that is not there is no occurrence of its own, and the rule can be read again for as many as there were. */
static void test_again(void)
{
	int64_t *at = NULL;
	uint32_t n = 0, again = 0;

	CU_ASSERT_EQUAL_FATAL(occurrences_of("FREQ=HOURLY;COUNT=24", LA, 1805009400, 60, MAX, &at, &n), 0);
	CU_ASSERT_EQUAL(n, 23);
	free(at);
	CU_ASSERT_EQUAL(occurrences_of("FREQ=HOURLY;COUNT=24", LA, 1805009400, 60, n, &at, &again), 0);
	CU_ASSERT_EQUAL(again, n);
	free(at);
}

static void test_too_long(void)
{
	CU_ASSERT_EQUAL(refused("FREQ=YEARLY;COUNT=2", LA, 367 * 86400), PBSE_BAD_RRULE_YEARLY);
	CU_ASSERT_EQUAL(refused("FREQ=MONTHLY;COUNT=2", LA, 32 * 86400), PBSE_BAD_RRULE_MONTHLY);
	CU_ASSERT_EQUAL(refused("FREQ=WEEKLY;COUNT=2", LA, 7 * 86400 + 1), PBSE_BAD_RRULE_WEEKLY);
	CU_ASSERT_EQUAL(refused("FREQ=DAILY;COUNT=2", LA, 86401), PBSE_BAD_RRULE_DAILY);
	CU_ASSERT_EQUAL(refused("FREQ=HOURLY;COUNT=2", LA, 7200), PBSE_BAD_RRULE_HOURLY);
	CU_ASSERT_EQUAL(refused("FREQ=MINUTELY;COUNT=2", LA, 61), PBSE_BAD_RRULE_MINUTELY);
	CU_ASSERT_EQUAL(refused("FREQ=SECONDLY;COUNT=2", LA, 2), PBSE_BAD_RRULE_SECONDLY);
	CU_ASSERT_EQUAL(refused("FREQ=DAILY;COUNT=2", LA, 86400), 0);
	CU_ASSERT_EQUAL(refused("FREQ=DAILY;COUNT=2", LA, INT64_MAX), PBSE_BAD_RRULE_DAILY);
}

static void test_zones(void)
{
	static const char *const good[] = {"UTC", "Etc/UTC", "Etc/GMT+5", "US/Pacific", "Asia/Kolkata"};
	static const char *const bad[] = {"", "Foo/Bar", "../../etc/passwd", "America/../UTC", "/etc/localtime", "America",
					  "America/", "Europe//Berlin", ".", "UTC\n", "tzdata.zi"};
	char name[100];

	memset(name, 'A', sizeof(name));
	name[99] = '\0';
	for (uint32_t i = 0; i < KEEL_COUNT(good); i++)
		CU_ASSERT_EQUAL(refused("FREQ=DAILY;COUNT=2", good[i], 1), 0);
	for (uint32_t i = 0; i < KEEL_COUNT(bad); i++)
		CU_ASSERT_EQUAL(refused("FREQ=DAILY;COUNT=2", bad[i], 1), PBSE_BAD_ICAL_TZ);
	CU_ASSERT_EQUAL(refused("FREQ=DAILY;COUNT=2", NULL, 1), PBSE_BAD_ICAL_TZ);
	CU_ASSERT_EQUAL(refused("FREQ=DAILY;COUNT=2", name, 1), PBSE_BAD_ICAL_TZ);
}

TESTS_MAIN("rrule", TEST(test_by_hand), TEST(test_a_year), TEST(test_syntax), TEST(test_bounds), TEST(test_again), TEST(test_too_long),
	   TEST(test_zones))
