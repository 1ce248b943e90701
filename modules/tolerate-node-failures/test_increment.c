/* SPDX-License-Identifier: Apache-2.0
 *
 * test_increment.c - selects with more chunks: every form of a rule, quotes, what is no rule.
 */
#include "increment.h"

#include <errno.h>
#include <string.h>

#include "harness.h"

static struct keel_text text;
static int32_t code;

static const char *by(const char *select, const char *rule)
{
	keel_text_fini(&text);
	keel_text_init(&text);
	code = increment_chunks(select, rule, &text);
	return code ? "" : text.data;
}

static const char three[] = "ncpus=3:mem=1gb+1:ncpus=2:mem=2gb+2:ncpus=1:mem=3gb";

static void test_numbers(void)
{
	CU_ASSERT_STRING_EQUAL(by(three, "2"), "1:ncpus=3:mem=1gb+3:ncpus=2:mem=2gb+4:ncpus=1:mem=3gb");
	CU_ASSERT_STRING_EQUAL(by(three, "3"), "1:ncpus=3:mem=1gb+4:ncpus=2:mem=2gb+5:ncpus=1:mem=3gb");
	CU_ASSERT_STRING_EQUAL(by(three, "+1"), "1:ncpus=3:mem=1gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb");
	CU_ASSERT_STRING_EQUAL(by("3:ncpus=2+2:ncpus=1", "-1"), "2:ncpus=2+1:ncpus=1");
	CU_ASSERT_STRING_EQUAL(by("ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb", "1"),
			       "1:ncpus=3:mem=2gb+2:ncpus=3:mem=2gb+2:ncpus=2:mem=2gb");
	CU_ASSERT_STRING_EQUAL(by("4", "2"), "6");
}

static void test_nothing_is_no_change(void)
{
	CU_ASSERT_STRING_EQUAL(by("2:ncpus=3+ncpus=1", "0"), "2:ncpus=3+1:ncpus=1");
	CU_ASSERT_STRING_EQUAL(by("ncpus=3", "7"), "1:ncpus=3");
	CU_ASSERT_STRING_EQUAL(by("0:ncpus=3+0:ncpus=1", "7"), "0:ncpus=3+0:ncpus=1");
	CU_ASSERT_STRING_EQUAL(by("2:ncpus=3+3:ncpus=1", "-100%"), "1:ncpus=3+0:ncpus=1");
}

static void test_percentages(void)
{
	CU_ASSERT_STRING_EQUAL(by(three, "23.5%"), "1:ncpus=3:mem=1gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb");
	CU_ASSERT_STRING_EQUAL(by("5:ncpus=3:mem=1gb+1:ncpus=2:mem=2gb+2:ncpus=1:mem=3gb", "50%"),
			       "7:ncpus=3:mem=1gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb");
	CU_ASSERT_STRING_EQUAL(by("3:ncpus=2", "50%"), "4:ncpus=2");
	CU_ASSERT_STRING_EQUAL(by("11:ncpus=2", "10%"), "12:ncpus=2");
}

static const char *each(void *arg, uint32_t item)
{
	const char *const *rules = arg;

	return rules[item];
}

static void test_a_rule_for_each(void)
{
	static const char *const rules[] = { "0", "4", "50%" }, *const holes[] = { NULL, "4", NULL };

	keel_text_fini(&text);
	keel_text_init(&text);
	CU_ASSERT_EQUAL(increment_select(three, each, (void *)(uintptr_t)rules, &text), 0);
	CU_ASSERT_STRING_EQUAL(text.data, "1:ncpus=3:mem=1gb+5:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb");
	CU_ASSERT_EQUAL(increment_select(three, each, (void *)(uintptr_t)holes, &text), -EINVAL);
	keel_text_fini(&text);
	keel_text_init(&text);
	CU_ASSERT_EQUAL(increment_select("ncpus=1+ncpus=2+0:ncpus=3", each, (void *)(uintptr_t)holes, &text), 0);
	CU_ASSERT_STRING_EQUAL(text.data, "1:ncpus=1+5:ncpus=2+0:ncpus=3");
}

static void test_quotes(void)
{
	CU_ASSERT_STRING_EQUAL(by("2:ncpus=1:tag=\"a+b:c\"+2:tag='x+\"'", "1"),
			       "3:ncpus=1:tag=\"a+b:c\"+3:tag='x+\"'");
	CU_ASSERT_STRING_EQUAL(by("2:tag=\"open+2:ncpus=1", "1"), "3:tag=\"open+2:ncpus=1");
}

static void test_what_is_no_rule(void)
{
	static const char *const none[] = { "", " ", "x", "1x", "%", "1.5", "1e3", "50%%", "0x10", "inf", "nan%", " 1", "1 2" };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		by("2:ncpus=1", none[i]);
		CU_ASSERT_EQUAL(code, -EINVAL);
	}
	by("2:ncpus=1", NULL);
	CU_ASSERT_EQUAL(code, -EINVAL);
}

/* past modules/tolerate-node-failures/increment.h INCREMENT_COUNT_MAX */
static void test_bounds(void)
{
	CU_ASSERT_STRING_EQUAL(by("2:ncpus=1", "65534"), "65536:ncpus=1");
	by("2:ncpus=1", "65535");
	CU_ASSERT_EQUAL(code, -ERANGE);
	by("1:ncpus=1+2:ncpus=1", "-3");
	CU_ASSERT_EQUAL(code, -ERANGE);
	by("2:ncpus=1", "1e300%");
	CU_ASSERT_EQUAL(code, -ERANGE);
}

static void test_counts_of(void)
{
	keel_text_fini(&text);
	keel_text_init(&text);
	CU_ASSERT_EQUAL(increment_counts_of("1:ncpus=3:mem=2gb+2:ncpus=3+4:ncpus=2:tag='+'", "ncpus=3+1:ncpus=3+2:ncpus=2", &text), 0);
	CU_ASSERT_STRING_EQUAL(text.data, "1:ncpus=3:mem=2gb+1:ncpus=3+2:ncpus=2:tag='+'");
	CU_ASSERT_EQUAL(increment_counts_of("1:ncpus=3+1:ncpus=1", "ncpus=3", &text), -EINVAL);
	CU_ASSERT_EQUAL(increment_counts_of("1:ncpus=3", "ncpus=3+ncpus=2", &text), -EINVAL);
	keel_text_fini(&text);
}

TESTS_MAIN("increment", TEST(test_numbers), TEST(test_nothing_is_no_change), TEST(test_percentages), TEST(test_a_rule_for_each),
	   TEST(test_quotes), TEST(test_what_is_no_rule), TEST(test_bounds), TEST(test_counts_of))
