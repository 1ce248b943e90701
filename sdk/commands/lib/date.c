/* SPDX-License-Identifier: Apache-2.0
 *
 * date.c - "[[[[CC]YY]MM]DD]hhmm[.SS]" as epoch seconds, local time.
 *
 * Units missing on the left are those of now; if that is past, the smallest missing one is incremented: a past hour is
 * tomorrow's, a past day next month's, a past month next year's.
 */
#include "date.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DIGITS "0123456789"

static int two(const char *at)
{
	return (at[0] - '0') * 10 + (at[1] - '0');
}

/* Digits -> fields; returns how many pairs there were, or -EINVAL. */
static int fields_read(const char *text, size_t digits, struct tm *tm)
{
	const char *at = text;

	if (digits == 12)
		tm->tm_year = two(at) * 100 + two(at + 2) - 1900, at += 4;
	else if (digits == 10)
		tm->tm_year = two(at) + (two(at) < 69 ? 100 : 0), at += 2;
	if (digits >= 8)
		tm->tm_mon = two(at) - 1, at += 2;
	if (digits >= 6)
		tm->tm_mday = two(at), at += 2;
	tm->tm_hour = two(at);
	tm->tm_min = two(at + 2);
	tm->tm_sec = 0;
	at += 4;
	if (*at == '.') {
		if (strspn(at + 1, DIGITS) != 2 || at[3] != '\0')
			return -EINVAL;
		tm->tm_sec = two(at + 1);
	} else if (*at != '\0') {
		return -EINVAL;
	}
	return (int)(digits / 2);
}

static void roll(struct tm *tm, int pairs)
{
	if (pairs == 2) {
		struct tm next = *tm;

		next.tm_mday++;
		next.tm_isdst = -1;
		mktime(&next);
		tm->tm_mday = next.tm_mday;
		tm->tm_mon = next.tm_mon;
		tm->tm_year = next.tm_year;
	} else if (pairs == 3) {
		tm->tm_mon++;
		tm->tm_year += tm->tm_mon / 12;
		tm->tm_mon %= 12;
	} else if (pairs == 4) {
		tm->tm_year++;
	}
}

/* "EST5EDT" is first a file of the zone database, then a rule; musl does not search there first, so TZ is set to the
 * file. Returns the old TZ, for the caller to restore; NULL: unchanged. */
static char *zone_as_file(void)
{
	const char *zone = getenv("TZ");
	char path[256], *kept;

	if (zone == NULL || strchr(":/", *zone) != NULL)
		return NULL;
	snprintf(path, sizeof(path), ":/usr/share/zoneinfo/%s", zone);
	kept = access(path + 1, R_OK) == 0 ? strdup(zone) : NULL;
	if (kept != NULL)
		setenv("TZ", path, 1);
	return kept;
}

/* `late`: what is up to here is past, for a time without a date. */
static int parse(const char *text, long long now, long long late, long long *ret)
{
	size_t digits = strspn(text, DIGITS);
	time_t start = (time_t)now;
	struct tm tm;
	int pairs;

	if (digits < 4 || digits > 12 || digits % 2 != 0 || localtime_r(&start, &tm) == NULL)
		return -EINVAL;
	pairs = fields_read(text, digits, &tm);
	if (pairs < 0 || tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
	    tm.tm_min > 59 || tm.tm_sec > 59)
		return -EINVAL;
	/* A day that the next month lacks is that of the month after it. */
	for (int tries = 0; tries < 3; tries++) {
		struct tm day = tm;
		time_t when;
		bool bad;

		day.tm_isdst = -1;
		when = mktime(&day);
		*ret = (long long)when;
		bad = when == (time_t)-1 || day.tm_mday != tm.tm_mday; /* 30 February is moved on */
		if (!bad && (*ret > (pairs == 2 ? late : now) || pairs > 4))
			return 0;
		if (bad && pairs != 3)
			return -EINVAL;
		roll(&tm, pairs);
	}
	return -EINVAL;
}

static int parse_in_zone(const char *text, long long now, long long late, long long *ret)
{
	char *zone = zone_as_file();
	int result = parse(text, now, late, ret);

	if (zone != NULL)
		setenv("TZ", zone, 1);
	free(zone);
	return result;
}

int date_parse(const char *text, long long now, long long *ret)
{
	return parse_in_zone(text, now, now, ret);
}

int date_parse_minute(const char *text, long long now, long long *ret)
{
	return parse_in_zone(text, now, now - now % 60 + 59, ret);
}

int date_span_parse(const char *start, const char *end, long long now, struct date_span *ret)
{
	*ret = (struct date_span){ 0 };
	if (start != NULL && date_parse_minute(start, now, &ret->start) < 0)
		return 'R';
	if (end != NULL && date_parse_minute(end, now, &ret->end) < 0)
		return 'E';
	if (start != NULL && end != NULL && strspn(start, DIGITS) == 4 && ret->end < ret->start)
		ret->end += 24 * 60 * 60;
	return 0;
}
