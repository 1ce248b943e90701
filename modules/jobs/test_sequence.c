/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sequence.c - the numbers of jobs: in blocks, again from 0, and at the end of what a number can be.
 */
#include "jobs.h"

#include "harness.h"

static void test_numbers(void)
{
	static const struct {
		int64_t next, last, number;
	} rows[] = {
		{ 0, 0, 0 },
		{ 9999999, 0, 9999999 },
		{ 10000000, 0, 0 },
		{ 5, 4, 0 },
		{ INT64_MAX - 1000, INT64_MAX, INT64_MAX - 1000 },
		{ INT64_MAX - 999, INT64_MAX, 0 },
		{ INT64_MAX, INT64_MAX, 0 },
	};

	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		struct state st = { .next_sequence = rows[i].next, .reserved_sequence = rows[i].next };
		int64_t number = -1;

		CU_ASSERT_TRUE(sequence_take(&st, rows[i].last, &number));
		CU_ASSERT_EQUAL(number, rows[i].number);
		CU_ASSERT_EQUAL(st.next_sequence, number + 1);
		CU_ASSERT_EQUAL(st.reserved_sequence, number + 1000);
	}
}

static void test_a_block(void)
{
	struct state st = { 0 };
	int64_t number;

	CU_ASSERT_TRUE(sequence_take(&st, 0, &number));
	for (int i = 1; i < 1000; i++) {
		CU_ASSERT_FALSE(sequence_take(&st, 0, &number));
		CU_ASSERT_EQUAL(number, i);
	}
	CU_ASSERT_TRUE(sequence_take(&st, 0, &number));
	CU_ASSERT_EQUAL(number, 1000);
}

TESTS_MAIN("numbers of jobs", TEST(test_numbers), TEST(test_a_block))
