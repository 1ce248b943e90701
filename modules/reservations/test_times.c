/* SPDX-License-Identifier: Apache-2.0
 *
 * test_times.c - what two of start, end and duration say about the third.
 */
#include "reservations.h"

#include <string.h>

#include "harness.h"

#define NOW INT64_C(1700000000)
#define LONG INT64_C(3000000000) /* above 2^31 */

static const struct {
	struct times given;
	int32_t code;
	struct times full;
} rows[] = {
	{ { NOW + 10, NOW + 70, 0 }, 0, { NOW + 10, NOW + 70, 60 } },
	{ { NOW + 10, 0, 60 }, 0, { NOW + 10, NOW + 70, 60 } },
	{ { 0, NOW + 70, 60 }, 0, { NOW + 10, NOW + 70, 60 } },
	{ { 0, NOW + 30, 5 }, 0, { NOW + 25, NOW + 30, 5 } },
	{ { NOW + 10, NOW + 70, 60 }, 0, { NOW + 10, NOW + 70, 60 } },
	{ { NOW, NOW + 1, 0 }, 0, { NOW, NOW + 1, 1 } },
	{ { NOW + 10, 0, LONG }, 0, { NOW + 10, NOW + 10 + LONG, LONG } },
	{ { NOW + 10, NOW + 70, 61 }, PBSE_BADTSPEC, { 0 } },
	{ { NOW + 10, NOW + 10, 0 }, PBSE_BADTSPEC, { 0 } },
	{ { NOW + 10, NOW + 5, 0 }, PBSE_BADTSPEC, { 0 } },
	{ { NOW - 1, NOW + 5, 0 }, PBSE_BADTSPEC, { 0 } },
	{ { NOW - 1, 0, 60 }, PBSE_BADTSPEC, { 0 } },
	{ { 0, NOW + 5, 60 }, PBSE_BADTSPEC, { 0 } },
	{ { NOW + 10, 0, 0 }, PBSE_BADTSPEC, { 0 } },
	{ { 0, NOW + 10, 0 }, PBSE_BADTSPEC, { 0 } },
	{ { 0, 0, 60 }, PBSE_BADTSPEC, { 0 } },
	{ { 0, 0, 0 }, PBSE_BADTSPEC, { 0 } },
	{ { NOW + 10, 0, -60 }, PBSE_BADTSPEC, { 0 } },
	{ { -NOW, NOW + 10, 0 }, PBSE_BADTSPEC, { 0 } },
	{ { NOW + 10, 0, TIME_LIMIT }, PBSE_BADTSPEC, { 0 } },
	{ { NOW + 10, TIME_LIMIT + 1, 0 }, PBSE_BADTSPEC, { 0 } },
	{ { NOW + 10, 0, INT64_MAX }, PBSE_BADTSPEC, { 0 } },
	{ { INT64_MAX, 0, INT64_MAX }, PBSE_BADTSPEC, { 0 } },
	{ { INT64_MIN, INT64_MAX, INT64_MIN }, PBSE_BADTSPEC, { 0 } },
	{ { 0, INT64_MIN, INT64_MAX }, PBSE_BADTSPEC, { 0 } },
};

static void are_completed(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct times t = rows[i].given;

		CU_ASSERT_EQUAL(times_complete(&t, NOW), rows[i].code);
		CU_ASSERT(memcmp(&t, rows[i].code ? &rows[i].given : &rows[i].full, sizeof(t)) == 0);
	}
}

static void are_shown(void)
{
	char text[32];

	setenv("TZ", "UTC", 1);
	tzset();
	time_text(1795188420, text);
	CU_ASSERT_STRING_EQUAL(text, "Fri Nov 20 15:27:00 2026");
	time_text(INT64_MAX, text);
	CU_ASSERT_STRING_EQUAL(text, "9223372036854775807");
}

TESTS_MAIN("times of reservations", TEST(are_completed), TEST(are_shown))
