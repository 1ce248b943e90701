/* SPDX-License-Identifier: Apache-2.0
 *
 * date.h - a time of day as it is written on a command line.
 */
#ifndef KEELSON_COMMANDS_DATE_H
#define KEELSON_COMMANDS_DATE_H

/* Parses "[[[[CC]YY]MM]DD]hhmm[.SS]", after `now`, as epoch seconds. Returns 0 or -EINVAL. */
int date_parse(const char *text, long long now, long long *ret);

#endif
