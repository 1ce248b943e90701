/* SPDX-License-Identifier: Apache-2.0
 *
 * date.h - a time of day as it is written on a command line.
 */
#ifndef KEELSON_COMMANDS_DATE_H
#define KEELSON_COMMANDS_DATE_H

/* Parses "[[[[CC]YY]MM]DD]hhmm[.SS]", after `now`, as epoch seconds. Returns 0 or -EINVAL. */
int date_parse(const char *text, long long now, long long *ret);

/* The same for a reservation: a time without a date is tomorrow's when it is in the minute of `now`, whatever its
 * seconds. */
int date_parse_minute(const char *text, long long now, long long *ret);

/* The times of -R and -E; each may be NULL. When -R has no date, an end before the start is 24 hours later. Returns 0,
 * or the letter of the one that is malformed. */
struct date_span {
	long long start, end; /* 0: not given */
};
int date_span_parse(const char *start, const char *end, long long now, struct date_span *ret);

#endif
