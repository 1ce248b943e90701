/* SPDX-License-Identifier: Apache-2.0
 *
 * test_names.c - lists of names: how they are written, set, added to, taken from and compared.
 */
#include "release-restriction.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static union keel_slot slot;
static bool is_set;

/* Returns the value after `op text`, "" for none. */
static const char *after(int32_t op, const char *text)
{
	CU_ASSERT_EQUAL(names_type.parse(NULL, NULL, op, NULL, text, &slot, &is_set, NULL), 0);
	return is_set ? slot.p : "";
}

static void clear(void)
{
	after(KEEL_SET, "");
	CU_ASSERT_FALSE(is_set);
	CU_ASSERT_PTR_NULL(slot.p);
}

static void test_set(void)
{
	CU_ASSERT_STRING_EQUAL(after(KEEL_SET, "ncpus"), "ncpus");
	CU_ASSERT_STRING_EQUAL(after(KEEL_SET, " ncpus ,\tmem"), "ncpus,mem");
	CU_ASSERT_STRING_EQUAL(after(KEEL_SET, "ncpus,ncpus"), "ncpus,ncpus");
	CU_ASSERT_STRING_EQUAL(after(KEEL_SET, ",,NCPUS, ,"), "NCPUS");
	CU_ASSERT_STRING_EQUAL(after(KEEL_SET, " , "), "");
	clear();
}

static void test_add(void)
{
	CU_ASSERT_STRING_EQUAL(after(KEEL_INCR, "mem"), "mem");
	CU_ASSERT_STRING_EQUAL(after(KEEL_INCR, "ncpus, lic"), "mem,ncpus,lic");
	CU_ASSERT_STRING_EQUAL(after(KEEL_INCR, "mem"), "mem,ncpus,lic,mem");
	CU_ASSERT_STRING_EQUAL(after(KEEL_INCR, ""), "mem,ncpus,lic,mem");
	clear();
}

static void test_take(void)
{
	CU_ASSERT_STRING_EQUAL(after(KEEL_DECR, "mem"), "");
	after(KEEL_SET, "mem,ncpus,Mem,lic");
	CU_ASSERT_STRING_EQUAL(after(KEEL_DECR, "nothing"), "mem,ncpus,Mem,lic");
	CU_ASSERT_STRING_EQUAL(after(KEEL_DECR, "MEM , me"), "ncpus,lic");
	CU_ASSERT_STRING_EQUAL(after(KEEL_DECR, "lic,ncpus"), "");
	CU_ASSERT_FALSE(is_set);
}

static void too_long(int32_t op, const char *text)
{
	struct keel_err err = { 0 };
	size_t before = strlen(slot.p);

	CU_ASSERT_EQUAL(names_type.parse(NULL, NULL, op, NULL, text, &slot, &is_set, &err), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(err.code, PBSE_BADATVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "at most 20000 bytes"));
	CU_ASSERT_EQUAL(strlen(slot.p), before);
}

/* past modules/release-restriction/names.c NAMES_MAX: an accepted list can be parsed again. */
static void test_too_long(void)
{
	static char text[20002];

	memset(text, 'a', 20001);
	after(KEEL_SET, "mem");
	too_long(KEEL_SET, text);
	too_long(KEEL_INCR, text + 4);
	CU_ASSERT_EQUAL(strlen(after(KEEL_INCR, text + 5)), 20000);
	CU_ASSERT_EQUAL(strlen(after(KEEL_SET, text + 1)), 20000);
	too_long(KEEL_INCR, "a");
	CU_ASSERT_STRING_EQUAL(after(KEEL_DECR, text + 1), "");
	clear();
}

static void test_compare(void)
{
	CU_ASSERT_TRUE(names_have("ncpus, MEM", "mem"));
	CU_ASSERT_TRUE(names_have("ncpus, MEM", "nCPUs"));
	CU_ASSERT_FALSE(names_have("ncpus,memory", "mem"));
	CU_ASSERT_FALSE(names_have("mem", "memory"));
	CU_ASSERT_FALSE(names_have("", "mem"));
	CU_ASSERT_FALSE(names_have(" , ,", ""));
}

static void test_match(void)
{
	after(KEEL_SET, "ncpus,mem");
	CU_ASSERT_EQUAL(names_type.match(NULL, &slot, true, KEEL_EQ, NULL, "mem", NULL), 1);
	CU_ASSERT_EQUAL(names_type.match(NULL, &slot, true, KEEL_EQ, NULL, "lic", NULL), 0);
	CU_ASSERT_EQUAL(names_type.match(NULL, &slot, true, KEEL_NE, NULL, "lic", NULL), 1);
	CU_ASSERT_EQUAL(names_type.match(NULL, &slot, false, KEEL_NE, NULL, "lic", NULL), 1);
	clear();
}

static void test_copy(void)
{
	union keel_slot other;

	after(KEEL_SET, "ncpus,mem");
	CU_ASSERT_EQUAL(names_type.copy(NULL, &slot, &other), 0);
	CU_ASSERT_STRING_EQUAL(other.p, "ncpus,mem");
	CU_ASSERT_PTR_NOT_EQUAL(other.p, slot.p);
	names_type.fini(NULL, &other);
	clear();
}

TESTS_MAIN("names", TEST(test_set), TEST(test_add), TEST(test_take), TEST(test_too_long), TEST(test_compare),
	   TEST(test_match), TEST(test_copy))
