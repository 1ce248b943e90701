/* SPDX-License-Identifier: Apache-2.0
 *
 * when.c - "[[[[CC]YY]MM]DD]hhmm[.SS]" as epoch seconds, local time.
 */
#include "when.h"

#include <errno.h>
#include <string.h>

static int pair(const char *at)
{
	return (at[0] - '0') * 10 + (at[1] - '0');
}

static int seconds_part(const char *text, int *ret)
{
	*ret = 0;
	if (*text == '\0')
		return 0;
	if (*text != '.' || strspn(text + 1, "0123456789") != 2 || text[3] != '\0')
		return -EINVAL;
	*ret = pair(text + 1);
	return 0;
}

int when_parse(const char *text, time_t now, time_t *ret)
{
	size_t digits = strspn(text, "0123456789");
	const char *end = text + digits;
	struct tm tm, check;
	int second;
	time_t t;

	if (digits < 4 || digits > 12 || digits % 2 != 0 || seconds_part(end, &second) < 0 ||
	    !localtime_r(&now, &tm))
		return -EINVAL;
	if (digits >= 6)
		tm.tm_mday = pair(end - 6);
	if (digits >= 8)
		tm.tm_mon = pair(end - 8) - 1;
	if (digits >= 10)
		tm.tm_year = pair(end - 10) + (pair(end - 10) < 69 ? 100 : 0);
	if (digits == 12)
		tm.tm_year = pair(text) * 100 + pair(text + 2) - 1900;
	tm.tm_hour = pair(end - 4);
	tm.tm_min = pair(end - 2);
	tm.tm_sec = second;
	if (tm.tm_hour > 23 || tm.tm_min > 59 || second > 59 || tm.tm_mon < 0 || tm.tm_mon > 11 ||
	    tm.tm_mday < 1 || tm.tm_mday > 31)
		return -EINVAL;
	tm.tm_isdst = -1;
	check = tm;
	t = mktime(&check);
	if (t < now && digits < 10) { /* the unit in front of the first one that was given */
		tm.tm_mday += digits == 4;
		tm.tm_mon += digits == 6;
		tm.tm_year += digits == 8;
		check = tm;
		t = mktime(&check);
	} else if (check.tm_mday != tm.tm_mday) {
		return -EINVAL; /* no such day */
	}
	if (t == (time_t)-1)
		return -EINVAL;
	*ret = t;
	return 0;
}
