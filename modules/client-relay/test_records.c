/* SPDX-License-Identifier: Apache-2.0
 *
 * test_records.c - records in batches, and what is no record.
 */
#include <string.h>

#include "client-relay.h"
#include "harness.h"
#include "keel/mock.h"

static int read_all(const unsigned char *bytes, size_t len, bool *ret_bad)
{
	const unsigned char *at = bytes;
	struct record r;
	int n = 0;

	while (record_next(&at, bytes + len, &r, ret_bad))
		n++;
	return n;
}

static void records_are_read_to_the_last_byte(void)
{
	static const unsigned char two[] = { OP_END, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0,
					     OP_TAKEN, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 1, 0, 0 };
	const unsigned char *at = two;
	struct record r;
	bool bad;

	CU_ASSERT_TRUE(record_next(&at, two + sizeof(two), &r, &bad));
	CU_ASSERT_EQUAL(r.op, OP_END);
	CU_ASSERT_EQUAL(r.id, 7);
	CU_ASSERT_TRUE(record_next(&at, two + sizeof(two), &r, &bad));
	CU_ASSERT_EQUAL(r.id, (uint64_t)1 << 32 | 2);
	CU_ASSERT_EQUAL(r.len, 4);
	CU_ASSERT_EQUAL(number_read(r.data), 65536);
	CU_ASSERT_FALSE(record_next(&at, two + sizeof(two), &r, &bad));
	CU_ASSERT_FALSE(bad);
	for (size_t len = 0; len < sizeof(two); len++) {
		int n = read_all(two, len, &bad);

		CU_ASSERT_EQUAL(n, len >= 13 ? 1 : 0);
		CU_ASSERT_EQUAL(bad, len != 0 && len != 13);
	}
}

static bool opens(const char *text, size_t len)
{
	unsigned char bytes[400] = { 0, 0, 0, 9 };
	struct record r = { .op = OP_OPEN, .data = bytes, .len = (uint32_t)(4 + len) };
	struct opening o;

	memcpy(bytes + 4, text, len);
	return opening_read(&r, &o) == 0 && o.length == 9;
}

static void names_are_names(void)
{
	char longest[300];

	CU_ASSERT_TRUE(opens("ann\0staff\0staff,lab\0", 20));
	CU_ASSERT_TRUE(opens("ann\0\0\0", 6));
	CU_ASSERT_FALSE(opens("\0\0\0", 3));
	CU_ASSERT_FALSE(opens("ann@n9\0\0\0", 9));
	CU_ASSERT_FALSE(opens("ann b\0\0\0", 8));
	CU_ASSERT_FALSE(opens("ann\n\0\0\0", 7));
	CU_ASSERT_FALSE(opens("ann\0a,b\0\0", 9));
	CU_ASSERT_FALSE(opens("ann\0g\0", 6));
	CU_ASSERT_FALSE(opens("ann\0\0\0x", 7));
	CU_ASSERT_FALSE(opens("ann\0\0", 5));
	memset(longest, 'u', sizeof(longest));
	memset(longest + NAME_MOST, '\0', 3);
	CU_ASSERT_TRUE(opens(longest, NAME_MOST + 3));
	memset(longest, 'u', sizeof(longest));
	memset(longest + NAME_MOST + 1, '\0', 3); /* one more than a name may have */
	CU_ASSERT_FALSE(opens(longest, NAME_MOST + 4));
}

static void groups_have_a_bound(void)
{
	static unsigned char bytes[GROUPS_MOST + 20] = { 0, 0, 0, 9, 'u', 0, 'g', 0 };
	struct record r = { .op = OP_OPEN, .data = bytes, .len = 8 + GROUPS_MOST + 1 };
	struct opening o;

	memset(bytes + 8, 'x', GROUPS_MOST + 1);
	bytes[8 + GROUPS_MOST] = '\0';
	CU_ASSERT_EQUAL(opening_read(&r, &o), 0);
	bytes[8 + GROUPS_MOST] = 'x';
	bytes[8 + GROUPS_MOST + 1] = '\0';
	r.len++;
	CU_ASSERT(opening_read(&r, &o) < 0);
}

TESTS_MAIN("client-relay/records", TEST(records_are_read_to_the_last_byte), TEST(names_are_names), TEST(groups_have_a_bound))
