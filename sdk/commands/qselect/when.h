/* SPDX-License-Identifier: Apache-2.0
 *
 * when.h - "[[[[CC]YY]MM]DD]hhmm[.SS]" as epoch seconds.
 */
#ifndef KEELSON_QSELECT_WHEN_H
#define KEELSON_QSELECT_WHEN_H

#include <time.h>

/* What is left out is now's; a time that has gone by then is the next day's, month's or year's.
 * 0 or -EINVAL. */
int when_parse(const char *text, time_t now, time_t *ret);

#endif
