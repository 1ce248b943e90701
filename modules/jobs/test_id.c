/* SPDX-License-Identifier: Apache-2.0
 *
 * test_id.c - what an id of a job says (keel/jobid.h).
 */
#include "keel/jobid.h"

#include "harness.h"

static const struct {
	const char *id, *index, *whole; /* NULL: it is no part */
	bool is_whole;
	size_t number; /* as an operand */
} rows[] = {
	{ "7.svr", NULL, NULL, false, 1 },	{ "7[].svr", NULL, NULL, true, 3 },
	{ "70[31].svr", "31", "70[].svr", false, 6 }, { "7[3]", "3", "7[]", false, 4 },
	{ "7[3", NULL, NULL, false, 0 },	{ "7[1-3].svr", "1-3", "7[].svr", false, 0 },
	{ "", NULL, NULL, false, 0 },		{ "svr", NULL, NULL, false, 0 },
};

static void test_ids(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char whole[32] = "";
		size_t len = 0;
		const char *index = keel_id_index(rows[i].id, &len);

		CU_ASSERT_EQUAL(index != NULL, rows[i].index != NULL);
		CU_ASSERT_EQUAL(keel_id_is_part(rows[i].id), rows[i].index != NULL);
		if (index && rows[i].index)
			CU_ASSERT_TRUE(len == strlen(rows[i].index) && strncmp(index, rows[i].index, len) == 0);
		CU_ASSERT_EQUAL(keel_id_whole(rows[i].id, whole, sizeof(whole)), rows[i].whole != NULL);
		if (rows[i].whole)
			CU_ASSERT_STRING_EQUAL(whole, rows[i].whole);
		CU_ASSERT_EQUAL(keel_id_is_whole(rows[i].id), rows[i].is_whole);
		CU_ASSERT_EQUAL(keel_id_number(rows[i].id), rows[i].number);
	}
}

static void test_room(void)
{
	char whole[9];

	CU_ASSERT_TRUE(keel_id_whole("70[3].svr", whole, sizeof(whole)));
	CU_ASSERT_FALSE(keel_id_whole("70[3].svr", whole, sizeof(whole) - 1));
}

static void test_kin(void)
{
	CU_ASSERT_TRUE(keel_id_is_kin("7[].svr", "7[3].svr"));
	CU_ASSERT_TRUE(keel_id_is_kin("7[4].svr", "7[3].svr"));
	CU_ASSERT_TRUE(keel_id_is_kin("7.svr", "7.svr"));
	CU_ASSERT_FALSE(keel_id_is_kin("7[].svr", "70[3].svr"));
	CU_ASSERT_FALSE(keel_id_is_kin("7.svr", "7[3].svr"));
	CU_ASSERT_FALSE(keel_id_is_kin("7.svr", "70.svr"));
}

TESTS_MAIN("ids of jobs", TEST(test_ids), TEST(test_room), TEST(test_kin))
