/* SPDX-License-Identifier: Apache-2.0
 *
 * duration.c - see duration.h. Overflow and rubbish are -1, never a small number.
 */
#include "duration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int64_t duration_parse(const char *text)
{
	int64_t total = 0;

	for (int parts = 0; parts < 3; parts++) {
		int64_t n = 0;

		if (*text < '0' || *text > '9')
			return -1;
		for (; *text >= '0' && *text <= '9'; text++) {
			n = n * 10 + (*text - '0');
			if (n > INT32_MAX)
				return -1;
		}
		total = total * 60 + n;
		if (*text == '.')
			text += 1 + strspn(text + 1, "0123456789");
		if (!*text)
			return total;
		if (*text++ != ':')
			return -1;
	}
	return -1;
}

int64_t size_parse(const char *text)
{
	static const char units[] = "kmgtp";
	char *end;
	long long n = strtoll(text, &end, 10);
	const char *unit;

	if (end == text || n < 0)
		return -1;
	if (*end && (unit = strchr(units, *end | 0x20))) {
		for (const char *u = units; u <= unit; u++)
			if (__builtin_mul_overflow(n, 1024LL, &n))
				return -1;
		end++;
	}
	if (*end == 'w' || *end == 'W') {
		if (__builtin_mul_overflow(n, 8LL, &n))
			return -1;
		end++;
	} else if (*end == 'b' || *end == 'B') {
		end++;
	}
	return *end ? -1 : n;
}

void duration_text(int64_t seconds, char *buf, size_t len)
{
	if (seconds < 0)
		seconds = 0;
	snprintf(buf, len, "%02lld:%02d:%02d", (long long)(seconds / 3600), (int)(seconds / 60 % 60),
		 (int)(seconds % 60));
}
