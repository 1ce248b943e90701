/* SPDX-License-Identifier: Apache-2.0
 *
 * calendar.c - the holidays file: when it is prime time.
 *
 *   YEAR 2026
 *   weekday  0600 1730      prime begins, non-prime begins: HHMM, all or none
 *   saturday none all
 *   sunday   none all
 *   359 Dec 25 Christmas    day of the year; or just: Dec 25. Never prime.
 *
 * A line that begins with * or # is a comment. A day without a line is prime; so is everything without
 * a file.
 */
#include "calendar.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>


void holidays_init(struct holidays *h)
{
	memset(h, 0, sizeof(*h));
	for (int i = 0; i < DAYS; i++)
		h->day[i] = (struct day){ DAY_ALL, DAY_NONE };
	h->day[NON_PRIME_DAY] = (struct day){ DAY_NONE, DAY_ALL };
}

/* ---- reading ------------------------------------------------------------------------------------- */

static const char *const day_words[] = { "sunday", "monday", "tuesday", "wednesday", "thursday",
					 "friday", "saturday" };
static const char *const month_words[] = { "jan", "feb", "mar", "apr", "may", "jun",
					   "jul", "aug", "sep", "oct", "nov", "dec" };

static bool read_time(const char *word, int32_t *ret)
{
	size_t len = strlen(word);
	int n;

	if (strcasecmp(word, "all") == 0 || strcasecmp(word, "none") == 0) {
		*ret = tolower((unsigned char)*word) == 'a' ? DAY_ALL : DAY_NONE;
		return true;
	}
	if (len == 0 || len > 4 || strspn(word, "0123456789") != len)
		return false;
	n = atoi(word);
	if (n / 100 > 23 || n % 100 > 59)
		return false;
	*ret = n / 100 * 60 + n % 100;
	return true;
}

static int day_of_year(const char *month, int day)
{
	static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int before = 0;

	for (int i = 0; i < 12; i++) {
		if (strncasecmp(month, month_words[i], 3) == 0)
			return day >= 1 && day <= days[i] ? before + day : 0;
		before += days[i];
	}
	return 0;
}

/* `359`, `359 Dec 25 words`, `Dec 25 words` */
static bool read_holiday(struct holidays *h, const char *line)
{
	char month[8] = "";
	int number = 0, day = 0, at = 0;
	uint8_t how = BY_DATE;

	if (sscanf(line, " %d %7s %d", &number, month, &day) == 3 && day_of_year(month, day))
		at = day_of_year(month, day);
	else if (sscanf(line, " %7s %d", month, &day) == 2 && day_of_year(month, day))
		at = day_of_year(month, day);
	else if (sscanf(line, " %d", &number) == 1 && number >= 1 && number <= 366) {
		at = number;
		how = BY_NUMBER;
	}
	h->holiday[at] |= how;
	h->any |= at > 0;
	return at > 0;
}

static bool read_day(struct holidays *h, const char *word, const char *prime, const char *nonprime,
		     bool *ret_is_day)
{
	struct day day = { DAY_ALL, DAY_NONE };
	int first = -1, last = -1;

	for (int i = 0; i < 7; i++)
		if (strcasecmp(word, day_words[i]) == 0)
			first = last = i;
	if (strcasecmp(word, "weekday") == 0) {
		first = 1;
		last = 5;
	}
	*ret_is_day = first >= 0;
	if (first < 0 || !read_time(prime, &day.prime) || !read_time(nonprime, &day.nonprime))
		return false;
	for (int i = first; i <= last; i++)
		h->day[i] = day;
	return true;
}

static const char *read_line(struct holidays *h, const char *line)
{
	char word[32] = "", prime[32] = "", nonprime[32] = "";
	bool is_day;

	if (sscanf(line, " %31s %31s %31s", word, prime, nonprime) < 1 || strchr("*#", word[0]))
		return NULL;
	if (strcasecmp(word, "year") == 0) {
		int year = atoi(prime);

		h->year = year > 1970 ? year : 0;
		return h->year ? NULL : "no year";
	}
	if (read_day(h, word, prime, nonprime, &is_day))
		return NULL;
	if (is_day)
		return "expected two of HHMM, all, none";
	return read_holiday(h, line) ? NULL : "neither a day nor a holiday";
}

void holidays_read(struct holidays *h, const char *text, calendar_complaint_fn *complain, void *arg)
{
	char line[256];
	const char *why;
	int number;

	holidays_init(h);
	for (number = 1; *text; number++) {
		size_t len = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1),
			 text);
		why = read_line(h, line);
		if (why)
			complain(arg, number, why);
		text += len + (text[len] == '\n');
	}
}

/* ---- queries -------------------------------------------------------------------------------------- */

static const struct day *day_of(const struct holidays *h, const struct tm *tm)
{
	int year = tm->tm_year + 1900, number = tm->tm_yday + 1;
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	int date = number + (number > 59 && !leap);

	if ((h->holiday[number] & BY_NUMBER || h->holiday[date] & BY_DATE) && (!h->year || h->year == year))
		return &h->day[NON_PRIME_DAY];
	return &h->day[tm->tm_wday];
}

static bool is_prime(const struct holidays *h, const struct tm *tm)
{
	const struct day *d = day_of(h, tm);
	int32_t minute = tm->tm_hour * 60 + tm->tm_min;

	if (d->prime == DAY_ALL || d->nonprime == DAY_ALL)
		return d->prime == DAY_ALL;
	if (d->prime == DAY_NONE)
		return d->nonprime >= 0 && minute < d->nonprime;
	if (d->nonprime == DAY_NONE)
		return minute >= d->prime;
	if (d->prime < d->nonprime)
		return minute >= d->prime && minute < d->nonprime;
	return minute >= d->prime || minute < d->nonprime;
}

bool holidays_is_prime(const struct holidays *h, int64_t when)
{
	time_t t = (time_t)when;
	struct tm tm;

	return !localtime_r(&t, &tm) || is_prime(h, &tm);
}

/* Returns whether prime time begins or ends at that minute of the day, after `when`; *ret: the time. */
static bool changes_at(const struct holidays *h, struct tm day, int32_t minute, int64_t when, bool now,
		       int64_t *ret)
{
	struct tm tm;
	time_t t;

	if (minute < 0)
		return false;
	day.tm_hour = minute / 60;
	day.tm_min = minute % 60;
	day.tm_sec = 0;
	day.tm_isdst = -1;
	t = mktime(&day);
	if (t == (time_t)-1 || t <= (time_t)when || !localtime_r(&t, &tm) || is_prime(h, &tm) == now)
		return false;
	*ret = (int64_t)t;
	return true;
}

int64_t holidays_next_change(const struct holidays *h, int64_t when)
{
	bool now = holidays_is_prime(h, when), constant = h->day[0].prime != DAY_ALL || !h->any;
	time_t t = (time_t)when, noon;
	struct tm tm, day;
	int64_t found;

	for (int i = 0; i < 7; i++)
		constant = constant && (h->day[i].prime == DAY_ALL || h->day[i].nonprime == DAY_ALL) &&
			   h->day[i].prime == h->day[0].prime;
	if (constant || !localtime_r(&t, &tm))
		return 0;
	for (int i = 0; i < 367; i++) {
		const struct day *d;
		bool prime_first;

		day = tm;
		day.tm_mday += i;
		day.tm_hour = 12;
		day.tm_isdst = -1;
		noon = mktime(&day);
		if (noon == (time_t)-1 || !localtime_r(&noon, &day))
			return 0;
		d = day_of(h, &day);
		prime_first = d->prime < d->nonprime;
		if (changes_at(h, day, 0, when, now, &found) ||
		    changes_at(h, day, prime_first ? d->prime : d->nonprime, when, now, &found) ||
		    changes_at(h, day, prime_first ? d->nonprime : d->prime, when, now, &found))
			return found;
	}
	return 0;
}
