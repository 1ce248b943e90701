/* SPDX-License-Identifier: Apache-2.0
 *
 * test_destinations.c - the text of route_destinations.
 */
#include "routing.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"

static void test_fine(void)
{
	static const char *const fine[] = { "a", "workq,night", "q@host", "q@h.dom:15001,b",
					    "a_b-c@x-y_z", "123456789012345" };
	static const char *const bad[] = { "", ",", "a,", ",a", "a,,b", "a b", "-a", "@host",
					   "q@", "q@h:", "q@h:x", "q@:1", "q@h@i",
					   "1234567890123456", /* past modules/routing/destinations.c QUEUE_MAX */
					   "q\n" };
	char host[300] = "q@";

	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		CU_ASSERT_TRUE(destinations_fine(fine[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_FALSE(destinations_fine(bad[i]));
	memset(host + 2, 'h', 255);
	CU_ASSERT_TRUE(destinations_fine(host));
	host[257] = 'h';
	CU_ASSERT_FALSE(destinations_fine(host));
}

static void test_at(void)
{
	const char *list = "one,two@h,three";
	char buf[8];

	CU_ASSERT_TRUE(destinations_at(list, 0, buf, sizeof(buf)));
	CU_ASSERT_STRING_EQUAL(buf, "one");
	CU_ASSERT_TRUE(destinations_at(list, 1, buf, sizeof(buf)));
	CU_ASSERT_STRING_EQUAL(buf, "two@h");
	CU_ASSERT_TRUE(destinations_at(list, 2, buf, sizeof(buf)));
	CU_ASSERT_STRING_EQUAL(buf, "three");
	CU_ASSERT_FALSE(destinations_at(list, 3, buf, sizeof(buf)));
	CU_ASSERT_FALSE(destinations_at(list, 30, buf, sizeof(buf)));
	CU_ASSERT_FALSE(destinations_at(list, 2, buf, 5)); /* no room */
	CU_ASSERT_FALSE(destinations_at("", 0, buf, sizeof(buf)));
}

TESTS_MAIN("destinations", TEST(test_fine), TEST(test_at))
