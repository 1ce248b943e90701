/* SPDX-License-Identifier: Apache-2.0
 *
 * times.c - when a reservation begins and ends: what is given decides the rest (spec 11 section 2.5). Pure.
 */
#include "reservations.h"

#include <stdio.h>
#include <time.h>

static bool is_moment(int64_t t)
{
	return t >= 0 && t <= TIME_LIMIT;
}

int32_t times_complete(struct times *t, int64_t now)
{
	struct times full = *t;
	int given = (t->start != 0) + (t->end != 0) + (t->duration != 0);

	if (given < 2 || !is_moment(t->start) || !is_moment(t->end) || !is_moment(t->duration))
		return PBSE_BADTSPEC;
	if (!full.start)
		full.start = full.end - full.duration;
	if (!full.end)
		full.end = full.start + full.duration;
	if (!full.duration)
		full.duration = full.end - full.start;
	if (full.start < now || full.duration <= 0 || full.end > TIME_LIMIT || full.end - full.start != full.duration)
		return PBSE_BADTSPEC;
	*t = full;
	return 0;
}

void time_text(int64_t when, char buf[32])
{
	time_t at = (time_t)when;
	struct tm tm;

	if (!localtime_r(&at, &tm) || !strftime(buf, 32, "%a %b %d %H:%M:%S %Y", &tm))
		snprintf(buf, 32, "%lld", (long long)when);
}
