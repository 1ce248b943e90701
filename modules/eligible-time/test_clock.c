/* SPDX-License-Identifier: Apache-2.0
 *
 * test_clock.c - durations that stand and run, and which reasons stop them.
 */
#include "eligible-time.h"

#include <stdio.h>

#include "harness.h"
#include "keel/mock.h"

extern const struct keel_module keel_module;

static void test_clock(void)
{
	int64_t c = 0;

	c = clock_run(c, 1000);
	CU_ASSERT_TRUE(c < 0);
	CU_ASSERT_EQUAL(clock_read(c, 1000), 0);
	CU_ASSERT_EQUAL(clock_read(c, 1060), 60);
	c = clock_stop(c, 1060);
	CU_ASSERT_EQUAL(c, 60);
	CU_ASSERT_EQUAL(clock_read(c, 9999), 60);
	c = clock_run(c, 2000);
	CU_ASSERT_EQUAL(clock_read(c, 2005), 65);
	CU_ASSERT_EQUAL(clock_run(c, 2005), c); /* it runs already */
	CU_ASSERT_EQUAL(clock_read(c, 100), 0); /* time was set back */
}

static void test_parse(void)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} rows[] = {
		{ "0", 0 },	   { "59", 59 },    { "1:30", 90 }, { "01:00:00", 3600 },
		{ "100:0:1", 360001 }, { "", -1 },  { ":1", -1 },   { "1:", -1 },
		{ "1:2:3:4", -1 }, { "-1", -1 },    { "1x", -1 },   { "99999999999", -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CU_ASSERT_EQUAL(clock_parse(rows[i].text), rows[i].seconds);
}

static void test_reasons(void)
{
	CU_ASSERT_TRUE(reason_is_own_limit("Not Running: User has reached server running job limit."));
	CU_ASSERT_TRUE(reason_is_own_limit("Not Running: Queue workq job limit reached for user ann"));
	CU_ASSERT_TRUE(reason_is_own_limit(
		"Not Running: would exceed group staff's limit on resource ncpus in queue a b"));
	CU_ASSERT_TRUE(reason_is_own_limit("Not Running: Project has reached server running limit."));
	CU_ASSERT_TRUE(reason_is_own_limit("Not Running: Queue workq job limit reached for project p"));
	CU_ASSERT_FALSE(reason_is_own_limit("Not Running: would exceed overall limit on resource ncpus in complex"));
	CU_ASSERT_FALSE(reason_is_own_limit("Not Running: Server job limit has been reached."));
	CU_ASSERT_FALSE(reason_is_own_limit("Not Running: Not enough free nodes available"));
	CU_ASSERT_FALSE(reason_is_own_limit("User has reached server running job limit."));
	CU_ASSERT_FALSE(reason_is_own_limit("Not Running: User has reached server running job limit.!"));
	CU_ASSERT_FALSE(reason_is_own_limit(""));
}

/* past modules/eligible-time/eligible-time.h CLOCK_MAX */
static void test_longest(void)
{
	struct keel_mock *mock = keel_mock_new(KEEL_SERVER);
	struct keel_mod *mod = keel_mock_self(mock);
	const struct keel_attr *attr;
	struct keel_err err = { 0 };
	union keel_slot slot = { 0 };
	bool is_set = false;

	keel_mock_attr(mock, "job", "eligible_time", "string");
	keel_mock_use(mock, &keel_module);
	attr = keel_attr_find(mod, "job", "eligible_time");
	CU_ASSERT_EQUAL(clock_type.parse(mod, attr, KEEL_SET, NULL, "1000000000", &slot, &is_set, &err), 0);
	CU_ASSERT_EQUAL(slot.i, 1000000000);
	CU_ASSERT_EQUAL(clock_type.parse(mod, attr, KEEL_INCR, NULL, "1", &slot, &is_set, &err), PBSE_BADATVAL);
	CU_ASSERT_STRING_EQUAL(err.text, "Illegal attribute or resource value eligible_time");
	CU_ASSERT_EQUAL(clock_type.parse(mod, attr, KEEL_SET, NULL, "277777:46:41", &slot, &is_set, &err), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(clock_type.parse(mod, attr, KEEL_SET, NULL, "277777:46:40", &slot, &is_set, &err), 0);
	CU_ASSERT_EQUAL(slot.i, 1000000000);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

TESTS_MAIN("clock", TEST(test_longest), TEST(test_clock), TEST(test_parse), TEST(test_reasons))
