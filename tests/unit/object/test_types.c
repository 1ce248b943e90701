/* SPDX-License-Identifier: Apache-2.0
 *
 * test_types.c - what the kernel's types read, print, add up and compare.
 */
#include "object/fixture.h"

static struct engine e;

static const struct {
	const char *attr, *in, *out; /* out NULL: refused */
} readings[] = {
	{ "flag", "True", "True" },	{ "flag", "y", "True" },
	{ "flag", "1", "True" },	{ "flag", "t", "True" },
	{ "flag", "FALSE", "False" },	{ "flag", "N", "False" },
	{ "flag", "0", "False" },	{ "flag", "yes", NULL },
	{ "flag", "2", NULL },		{ "flag", "maybe", NULL },
	{ "flag", "", NULL },		{ "count", "12", "12" },
	{ "count", "-5", "-5" },	{ "count", "+7", "7" },
	{ "count", "abc", NULL },	{ "count", "1x", NULL },
	{ "count", " 1", NULL },	{ "count", "", NULL },
	{ "count", "-", NULL },		{ "count", "9223372036854775807", "9223372036854775807" },
	{ "count", "9223372036854775808", NULL },
	{ "count", "-9223372036854775808", "-9223372036854775808" },
	{ "span", "90", "00:01:30" },	{ "span", "1:30", "00:01:30" },
	{ "span", "100:00:01", "100:00:01" }, { "span", "1:2:3:4", NULL },
	{ "span", "1.5", "00:00:02" },	{ "span", "1.49", "00:00:01" },
	{ "span", "1:", NULL },		{ "span", "-1", NULL },
	{ "span", "99999999999999999999", NULL },
	{ "mem", "4gb", "4gb" },	{ "mem", "512MB", "512mb" },
	{ "mem", "100", "100b" },	{ "mem", "2kw", "2kw" },
	{ "mem", "3w", "3w" },		{ "mem", "4g", NULL },
	{ "mem", "-4gb", NULL },	{ "mem", "4xb", NULL },
	{ "mem", "gb", NULL },		{ "mem", "4gbb", NULL },
	{ "mem", "9223372036854775807", NULL }, /* past sdk/types/size.c NUMBER_MAX */
	{ "mem", "576460752303423487", "576460752303423487b" }, { "mem", "576460752303423488", NULL },
	{ "ratio", "1.50", "1.5" },	{ "ratio", "2", "2" },
	{ "ratio", "-0.25", "-0.25" },	{ "ratio", "nan", NULL },
	{ "ratio", "0x10", NULL },	{ "ratio", "1e400", NULL },
	{ "ratio", "1.5x", NULL },	{ "Name", "a b,c", "a b,c" },
	{ "list", "a,b,c", "a,b,c" },
};

static void reading(void)
{
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "r");
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		int32_t code;

		e.api->unset(o, e.api->attr(e.mod, "thing", readings[i].attr), NULL);
		code = engine_set(&e, o, readings[i].attr, KEEL_SET, NULL, readings[i].in);
		if (strcmp(engine_text(&e, o, readings[i].attr),
			   readings[i].out ? readings[i].out : "-") != 0 ||
		    code != (readings[i].out ? 0 : 15014)) {
			printf("\n%s = '%s': %d, %s\n", readings[i].attr, readings[i].in, code,
			       engine_text(&e, o, readings[i].attr));
			CU_FAIL("read wrongly");
		}
	}
	engine_stop(&e);
}

static const struct {
	const char *attr, *first;
	int32_t op;
	const char *second, *result; /* "-": unset */
	int32_t code;
} sums[] = {
	{ "mem", "512mb", KEEL_INCR, "512mb", "1024mb", 0 },
	{ "mem", "1024mb", KEEL_INCR, "100mb", "1124mb", 0 },
	{ "mem", "1gb", KEEL_INCR, "512mb", "1536mb", 0 },
	{ "mem", "1024mb", KEEL_DECR, "1024mb", "0mb", 0 },
	{ "mem", "1gb", KEEL_DECR, "2gb", "1gb", 15014 },
	{ "mem", "1kw", KEEL_INCR, "1kb", "9kb", 0 },
	{ "mem", "2kw", KEEL_INCR, "3w", "2051w", 0 },
	{ "mem", "500000000000000pb", KEEL_INCR, "1b", "500000000000000pb", 15014 },
	{ "count", "5", KEEL_INCR, "-7", "-2", 0 },
	{ "count", "9223372036854775807", KEEL_INCR, "1", "9223372036854775807", 15014 },
	{ "count", "5", KEEL_DECR, "x", "5", 15014 },
	{ "span", "1:00", KEEL_INCR, "30", "00:01:30", 0 },
	{ "flag", "True", KEEL_INCR, "True", "True", 15014 },
	{ "ratio", "1.5", KEEL_DECR, "0.25", "1.25", 0 },
	{ "Name", "abc", KEEL_INCR, "def", "abcdef", 0 },
	{ "Name", "abcdefabc", KEEL_DECR, "abc", "abcdef", 0 },
	{ "Name", "abcdef", KEEL_DECR, "cd", "abef", 0 },
	{ "Name", "abc", KEEL_DECR, "xyz", "abc", 0 },
	{ "Name", "abc", KEEL_DECR, "abc", "-", 0 },
	{ "list", "a,b", KEEL_INCR, "b,c", "a,b,c", 0 },
	{ "list", "a,b,c", KEEL_DECR, "b", "a,c", 0 },
	{ "list", "a,b", KEEL_DECR, "b,a", "-", 0 },
	{ "list", "a\\,b,c", KEEL_DECR, "a\\,b", "c", 0 },
	{ "list", "a", KEEL_INCR, "b,b", "a,b", 0 },
	{ "list", "c,a", KEEL_INCR, "b, a,,b,aa", "c,a,b,aa", 0 },
	{ "list", "a,b,a,aa", KEEL_DECR, "c,a", "b,aa", 0 },
};

static void adding(void)
{
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "s");
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		int32_t code;

		engine_set(&e, o, sums[i].attr, KEEL_SET, NULL, sums[i].first);
		code = engine_set(&e, o, sums[i].attr, sums[i].op, NULL, sums[i].second);
		if (code != sums[i].code ||
		    strcmp(engine_text(&e, o, sums[i].attr), sums[i].result) != 0) {
			printf("\n%s: %s op %d %s: %d, %s\n", sums[i].attr, sums[i].first,
			       sums[i].op, sums[i].second, code, engine_text(&e, o, sums[i].attr));
			CU_FAIL("added wrongly");
		}
	}
	engine_stop(&e);
}

/* Each item of one is not compared with each one of the other, which would take minutes. */
static void long_lists(void)
{
	enum { MANY = 100000 };
	char *list = malloc(MANY * 8 + 1), *other = malloc(MANY * 8 + 1);
	struct keel_obj *o;
	size_t len = 0;

	CU_ASSERT_FATAL(list && other);
	for (int i = 0; i < MANY; i++) {
		sprintf(list + len, "a%06d,", i);
		len += (size_t)sprintf(other + len, "b%06d,", i);
	}
	list[len - 1] = other[len - 1] = '\0';
	engine_start(&e);
	o = engine_thing(&e, "l");
	CU_ASSERT_EQUAL(engine_set(&e, o, "list", KEEL_SET, NULL, list), 0);
	CU_ASSERT_EQUAL(engine_set(&e, o, "list", KEEL_INCR, NULL, other), 0);
	CU_ASSERT_EQUAL(e.api->match(o, e.api->attr(e.mod, "thing", "list"), KEEL_EQ, NULL, other, NULL), 1);
	CU_ASSERT_EQUAL(engine_set(&e, o, "list", KEEL_DECR, NULL, list), 0);
	CU_ASSERT_EQUAL(engine_set(&e, o, "list", KEEL_DECR, NULL, other), 0);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "list"), "-");
	engine_stop(&e);
	free(list);
	free(other);
}

static const struct {
	const char *attr, *value;
	int32_t op;
	const char *text;
	int32_t truth;
} matches[] = {
	{ "count", "9", KEEL_LT, "10", 1 },	{ "count", "9", KEEL_GE, "10", 0 },
	{ "count", "9", KEEL_EQ, "x", -15014 }, { "count", "9", KEEL_SET, "9", 1 },
	{ "mem", "1gb", KEEL_EQ, "1024mb", 1 }, { "mem", "1gb", KEEL_GT, "1000mb", 1 },
	{ "mem", "1gb", KEEL_GT, "zz", -15014 }, { "span", "90", KEEL_EQ, "1:30", 1 },
	{ "flag", "True", KEEL_EQ, "t", 1 },	{ "flag", "True", KEEL_NE, "t", 0 },
	{ "ratio", "1.5", KEEL_GT, "1.25", 1 }, { "Name", "abc", KEEL_EQ, "abc", 1 },
	{ "Name", "abc", KEEL_LT, "abd", 1 },	{ "list", "a,b", KEEL_EQ, "b", 1 },
	{ "list", "a,b", KEEL_EQ, "c,b", 1 },	{ "list", "a,b", KEEL_EQ, "c,aa", 0 },
	{ "list", "a,b", KEEL_EQ, "c", 0 },	{ "list", "a,b", KEEL_NE, "c", 1 },
	{ "Name", NULL, KEEL_EQ, "abc", 0 },	{ "Name", NULL, KEEL_NE, "abc", 1 },
	{ "count", NULL, KEEL_LT, "3", 0 },	{ "count", "1", 77, "3", -15014 },
};

static void comparing(void)
{
	struct keel_obj *o;
	const struct keel_attr *twice;

	engine_start(&e);
	twice = e.api->attr(e.mod, "thing", "twice");
	o = engine_thing(&e, "m");
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
		const struct keel_attr *a = e.api->attr(e.mod, "thing", matches[i].attr);
		int32_t truth;

		e.api->unset(o, a, NULL);
		if (matches[i].value)
			engine_set(&e, o, matches[i].attr, KEEL_SET, NULL, matches[i].value);
		truth = e.api->match(o, a, matches[i].op, NULL, matches[i].text, NULL);
		if (truth != matches[i].truth)
			printf("\n%s %s op %d %s: %d\n", matches[i].attr, matches[i].value,
			       matches[i].op, matches[i].text, truth);
		CU_ASSERT_EQUAL(truth, matches[i].truth);
	}
	CU_ASSERT_EQUAL(e.api->match(o, twice, KEEL_GT, NULL, "5", NULL), 1);
	CU_ASSERT_EQUAL(e.api->match(o, twice, KEEL_EQ, NULL, "042", NULL), 1);
	CU_ASSERT_EQUAL(e.api->match(o, twice, KEEL_EQ, NULL, "x", NULL), 0);
	engine_stop(&e);
}

static void bytes_as_kilobytes(void)
{
	struct keel_obj *o;
	const struct keel_attr *mem;

	engine_start(&e);
	mem = e.api->attr(e.mod, "thing", "mem");
	o = engine_thing(&e, "k");
	engine_set(&e, o, "mem", KEEL_SET, NULL, "1025");
	CU_ASSERT_EQUAL(e.api->get_int(o, mem), 2);
	CU_ASSERT_PTR_NULL(e.api->get_ptr(o, mem));
	CU_ASSERT_PTR_NULL(e.api->get_str(o, mem));
	engine_stop(&e);
}

TESTS_MAIN("types", TEST(reading), TEST(adding), TEST(long_lists), TEST(comparing), TEST(bytes_as_kilobytes))
