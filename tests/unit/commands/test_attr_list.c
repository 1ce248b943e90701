/* SPDX-License-Identifier: Apache-2.0
 *
 * test_attr_list.c - lists of attributes on a command line.
 */
#include <errno.h>

#include "attr_list.h"
#include "capture.h"

static void has(const struct attr_list *l, const char *name, const char *resource,
		const char *value)
{
	const struct attropl *a;

	for (a = l->first; a; a = a->next)
		if (strcmp(a->name, name) == 0 &&
		    strcmp(a->resource ? a->resource : "", resource) == 0)
			break;
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_STRING_EQUAL(a->value, value);
}

static void test_resources(void)
{
	struct attr_list l = { NULL };

	CU_ASSERT_EQUAL(attr_list_items(&l, ATTR_l, "ncpus=1, x=\"a,b\",y,walltime=1:0:0"), 0);
	CU_ASSERT_EQUAL(attr_list_items(&l, ATTR_l, "ncpus=2"), 0);
	has(&l, ATTR_l, "ncpus", "2");
	has(&l, ATTR_l, "x", "a,b");
	has(&l, ATTR_l, "y", "");
	has(&l, ATTR_l, "walltime", "1:0:0");
	attr_list_fini(&l);
	CU_ASSERT_PTR_NULL(l.first);
}

static void test_words(void)
{
	struct attr_list l = { NULL };

	CU_ASSERT_EQUAL(attr_list_items(&l, NULL, "depend=afterok:1,afterany:2,comment='a, b',x="), 0);
	has(&l, "depend", "", "afterok:1,afterany:2");
	has(&l, "comment", "", "a, b");
	has(&l, "x", "", "");
	attr_list_fini(&l);
}

static void test_malformed(void)
{
	static const char *const bad[] = { "", "=1", "1=2", "a=\"", "a b=1", "a=1,", ",a=1" };
	struct attr_list l = { NULL };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(attr_list_items(&l, ATTR_l, bad[i]), -EINVAL);
	CU_ASSERT_EQUAL(attr_list_items(&l, NULL, "comment"), -EINVAL);
	attr_list_fini(&l);
}

TESTS_MAIN("attr_list", TEST(test_resources), TEST(test_words), TEST(test_malformed))
