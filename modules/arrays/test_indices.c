/* SPDX-License-Identifier: Apache-2.0
 *
 * test_indices.c - ranges as users write them, against marking each index; hostile texts.
 */
#include "indices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"

static uint32_t seed = 11;

static void grammar(void)
{
	static const char *const bad[] = { "", "1", "5-1", "3-3", "1-", "-3", "x-y", "1-5:", "1-5:0", "1-5 ",
					   " 1-5", "1-5%2", "1--5", "1-99999999999", "1-5:2:2", "1-5,7" };
	struct indices x;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_FALSE(indices_parse(bad[i], &x));
	CU_ASSERT_TRUE(indices_parse("1-6:2", &x));
	CU_ASSERT(x.first == 1 && x.step == 2 && x.count == 3);
	CU_ASSERT_TRUE(indices_parse("1-2:2", &x));
	CU_ASSERT_EQUAL(x.count, 1);
	CU_ASSERT_TRUE(indices_parse("0-1999999999", &x));
	CU_ASSERT_EQUAL(x.count, 2000000000u);
	CU_ASSERT_TRUE(indices_parse("1-2000000000", &x));
	CU_ASSERT_FALSE(indices_parse("1-2000000001", &x)); /* past modules/arrays/indices.h INDEX_MAX */
}

static void ordinals(void)
{
	const struct indices x = { 10, 5, 4 }; /* 10 15 20 25 */
	uint32_t i;

	CU_ASSERT_TRUE(indices_ordinal(&x, 20, &i));
	CU_ASSERT_EQUAL(i, 2);
	CU_ASSERT_EQUAL(indices_index(&x, 3), 25);
	CU_ASSERT_FALSE(indices_ordinal(&x, 9, &i));
	CU_ASSERT_FALSE(indices_ordinal(&x, 12, &i));
	CU_ASSERT_FALSE(indices_ordinal(&x, 30, &i));
}

/* Which of an array's ordinals does `first-last:step` name? Each one is computed by itself. */
static void selections_at_random(void)
{
	int round;

	for (round = 0; round < 20000; round++) {
		struct indices x = { pick(&seed, 30), 1 + pick(&seed, 6), 1 + pick(&seed, 40) };
		uint32_t first = pick(&seed, 80), last = first + pick(&seed, 120), step = 1 + pick(&seed, 7), i, k;
		struct selection s;
		char text[64];

		snprintf(text, sizeof(text), "%u-%u:%u", first, last, step);
		CU_ASSERT_EQUAL_FATAL(selection_parse(&x, text, strlen(text), &s), 0);
		for (i = 0; i < x.count; i++) {
			uint32_t index = indices_index(&x, i);
			bool named = index >= first && index <= last && (index - first) % step == 0;
			bool is = false;

			for (k = 0; k < s.n; k++)
				is |= i >= s.at[k].first && i <= s.at[k].last &&
				      (i - s.at[k].first) % s.at[k].step == 0;
			CU_ASSERT_EQUAL_FATAL(is, named);
		}
		for (k = 0; k < s.n; k++)
			CU_ASSERT_FATAL(s.at[k].last < x.count && s.at[k].first <= s.at[k].last);
		selection_fini(&s);
	}
}

/* However far apart they are: found, not searched for. */
static void far_apart(void)
{
	const struct indices x = { 0, 1999999998, 2 };
	struct selection s;
	clock_t before = clock();

	CU_ASSERT_EQUAL_FATAL(selection_parse(&x, "1-1999999997", 12, &s), 0);
	CU_ASSERT_TRUE(s.n == 0 && s.outside);
	CU_ASSERT_EQUAL_FATAL(selection_parse(&x, "1-1999999999", 12, &s), 0);
	CU_ASSERT_TRUE(s.n == 1 && s.at[0].first == 1 && s.at[0].last == 1);
	selection_fini(&s);
	CU_ASSERT_EQUAL_FATAL(selection_parse(&x, "48-1999999999:1999999950", 24, &s), 0);
	CU_ASSERT_TRUE(s.n == 1 && s.at[0].first == 1);
	selection_fini(&s);
	CU_ASSERT(clock() - before < CLOCKS_PER_SEC);
}

static void lists(void)
{
	const struct indices x = { 1, 1, 20 };
	struct selection s;

	CU_ASSERT_EQUAL_FATAL(selection_parse(&x, "1-3,7,30", 8, &s), 0);
	CU_ASSERT_EQUAL(s.n, 2);
	CU_ASSERT_TRUE(s.outside);
	selection_fini(&s);
	CU_ASSERT_EQUAL(selection_parse(&x, "1-3,", 4, &s), -EINVAL);
	CU_ASSERT_EQUAL(selection_parse(&x, "3-1", 3, &s), -EINVAL);
	CU_ASSERT_EQUAL(selection_parse(&x, "1;2", 3, &s), -EINVAL);
	CU_ASSERT_EQUAL(selection_parse(&x, "", 0, &s), -EINVAL);
	CU_ASSERT_EQUAL(selection_parse(&x, "1-3:0", 5, &s), -EINVAL);
}

/* Written and read again it is the same set. */
static void texts_at_random(void)
{
	int round;

	for (round = 0; round < 3000; round++) {
		struct indices x = { pick(&seed, 50), 1 + pick(&seed, 4), 1 + pick(&seed, 60) };
		struct selection s = { 0 };
		struct runs r, again;
		uint32_t i, k, density = 1 + pick(&seed, 6);
		char *text;

		CU_ASSERT_EQUAL_FATAL(runs_init(&r, x.count, 0), 0);
		CU_ASSERT_EQUAL_FATAL(runs_init(&again, x.count, 0), 0);
		for (i = 0; i < x.count; i++)
			runs_set(&r, i, pick(&seed, density) == 0);
		text = indices_text(&x, &r, 1);
		CU_ASSERT_PTR_NOT_NULL_FATAL(text);
		if (*text)
			CU_ASSERT_EQUAL_FATAL(selection_parse(&x, text, strlen(text), &s), 0);
		CU_ASSERT_FALSE(s.outside);
		for (k = 0; k < s.n; k++)
			runs_replace(&again, s.at[k].first, s.at[k].last, s.at[k].step, 0, 1, NULL);
		for (i = 0; i < x.count; i++)
			CU_ASSERT_EQUAL_FATAL(runs_get(&r, i, NULL), runs_get(&again, i, NULL));
		selection_fini(&s);
		free(text);
		runs_fini(&again);
		runs_fini(&r);
	}
}

static void texts(void)
{
	const struct indices x = { 1, 2, 1000 };
	struct runs r;
	char *text;

	CU_ASSERT_EQUAL_FATAL(runs_init(&r, x.count, 0), 0);
	text = indices_text(&x, &r, 0);
	CU_ASSERT_STRING_EQUAL(text, "1-1999:2");
	free(text);
	text = indices_text(&x, &r, 1);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	runs_replace(&r, 0, 999, 2, 0, 1, NULL); /* every second one: short all the same */
	text = indices_text(&x, &r, 0);
	CU_ASSERT_STRING_EQUAL(text, "3-1999:4");
	free(text);
	runs_fini(&r);
}

TESTS_MAIN("indices", TEST(grammar), TEST(ordinals), TEST(selections_at_random),
	   TEST(far_apart), TEST(lists), TEST(texts_at_random), TEST(texts))
