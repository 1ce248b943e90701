/* SPDX-License-Identifier: Apache-2.0
 *
 * clock_text.c - epoch seconds as the text ctime(3) would give, without its newline.
 */
#include "clock_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define QUARTER 900
#define FIRST_CACHED 63072000 /* 1972: offsets were odd before */
#define LAST_CACHED INT64_C(253370764799) /* end of year 9998 */

static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
				    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

static size_t convert(int64_t when, char *text, size_t size)
{
	time_t t = (time_t)when;
	struct tm tm;
	int n;

	if (!localtime_r(&t, &tm))
		return (size_t)snprintf(text, size, "%lld", (long long)when);
	n = snprintf(text, size, "%s %s %2d %02d:%02d:%02d %d", days[tm.tm_wday],
		     months[tm.tm_mon], tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		     tm.tm_year + 1900);
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static void two_digits(char *at, int n)
{
	at[0] = (char)('0' + n / 10);
	at[1] = (char)('0' + n % 10);
}

const char *clock_text(struct clock_text *c, int64_t when, size_t *ret_len)
{
	int64_t quarter = when / QUARTER + 1;
	size_t i = (size_t)(quarter % CLOCK_TEXT_SLOTS);
	int second, minute;

	if (when < FIRST_CACHED || when > LAST_CACHED) {
		*ret_len = convert(when, c->text, sizeof(c->text));
		return c->text;
	}
	if (c->slot[i].quarter != quarter) {
		convert((quarter - 1) * QUARTER, c->slot[i].text, sizeof(c->slot[i].text));
		c->slot[i].quarter = quarter;
	}
	memcpy(c->text, c->slot[i].text, CLOCK_TEXT_LEN + 1);
	second = (int)(when % QUARTER);
	minute = (c->text[14] - '0') * 10 + (c->text[15] - '0');
	if (minute % 15 != 0 || memcmp(c->text + 17, "00", 2) != 0) {
		/* a zone that counts leap seconds, or a custom one */
		*ret_len = convert(when, c->text, sizeof(c->text));
		return c->text;
	}
	minute += second / 60;
	two_digits(c->text + 14, minute);
	two_digits(c->text + 17, second % 60);
	*ret_len = CLOCK_TEXT_LEN;
	return c->text;
}
