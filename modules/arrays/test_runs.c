/* SPDX-License-Identifier: Apache-2.0
 *
 * test_runs.c - runs against a plain array of values, at random; and that they stay few.
 */
#include "runs.h"

#include <stdlib.h>

#include "harness.h"

#define COUNT 200

static uint32_t seed;

static void check(const struct runs *r, const int32_t *model)
{
	uint32_t i, last, k;

	for (k = 1; k < r->n; k++) {
		CU_ASSERT_FATAL(r->at[k - 1].first < r->at[k].first);
		CU_ASSERT_FATAL(r->at[k - 1].value != r->at[k].value);
	}
	CU_ASSERT_EQUAL_FATAL(r->at[0].first, 0);
	for (i = 0; i < r->count; i++) {
		CU_ASSERT_EQUAL_FATAL(runs_get(r, i, &last), model[i]);
		CU_ASSERT_FATAL(last >= i && last < r->count);
		CU_ASSERT_EQUAL_FATAL(model[last], model[i]);
		CU_ASSERT_FATAL(last + 1 == r->count || model[last + 1] != model[i]);
	}
}

static void find_checked(const struct runs *r, const int32_t *model)
{
	uint32_t from = pick(&seed, COUNT + 5), i, found = 0;
	int32_t value = (int32_t)pick(&seed, 4);
	bool is = runs_find(r, from, value, &found);

	for (i = from; i < COUNT && model[i] != value; i++)
		;
	CU_ASSERT_EQUAL_FATAL(is, i < COUNT);
	if (is)
		CU_ASSERT_EQUAL_FATAL(found, i);
}

static void replace_checked(struct runs *r, int32_t *model)
{
	uint32_t first = pick(&seed, COUNT), last = first + pick(&seed, COUNT), step = 1 + pick(&seed, 5), n = 0, got, i;
	int32_t from = (int32_t)pick(&seed, 4), to = (int32_t)pick(&seed, 4);

	for (i = first; i <= last && i < COUNT && from != to; i += step)
		if (model[i] == from) {
			model[i] = to;
			n++;
		}
	CU_ASSERT_EQUAL_FATAL(runs_replace(r, first, last, step, from, to, &got), 0);
	CU_ASSERT_EQUAL_FATAL(got, n);
}

static int32_t fewer(int32_t value)
{
	return value > 1 ? 2 : value;
}

static void at_random(void)
{
	struct runs r;
	int32_t model[COUNT];
	uint32_t round, i, start;

	for (start = 1; start < 40; start++) {
		seed = start;
		CU_ASSERT_EQUAL_FATAL(runs_init(&r, COUNT, 0), 0);
		for (i = 0; i < COUNT; i++)
			model[i] = 0;
		for (round = 0; round < 400; round++) {
			uint32_t one = pick(&seed, COUNT);
			int32_t value = (int32_t)pick(&seed, 4);

			if (pick(&seed, 8) == 0) {
				replace_checked(&r, model);
			} else {
				CU_ASSERT_EQUAL_FATAL(runs_set(&r, one, value), 0);
				model[one] = value;
			}
			if (pick(&seed, 100) == 0) {
				runs_map(&r, fewer);
				for (i = 0; i < COUNT; i++)
					model[i] = fewer(model[i]);
			}
			find_checked(&r, model);
			if (round % 16 == 0)
				check(&r, model);
		}
		check(&r, model);
		runs_fini(&r);
	}
}

/* What an array does: begin at the front, end a little behind. */
static void a_million_in_order(void)
{
	struct runs r;
	uint32_t i, most = 0;

	CU_ASSERT_EQUAL_FATAL(runs_init(&r, 1000000, 0), 0);
	for (i = 0; i < 1000000; i++) {
		CU_ASSERT_EQUAL_FATAL(runs_set(&r, i, 1), 0);
		if (i >= 10)
			CU_ASSERT_EQUAL_FATAL(runs_set(&r, i - 10, 2), 0);
		most = r.n > most ? r.n : most;
	}
	CU_ASSERT(most <= 3);
	CU_ASSERT(r.cap <= 16);
	runs_fini(&r);
}

static void every_second_of_a_million(void)
{
	struct runs r;
	uint32_t n;

	CU_ASSERT_EQUAL_FATAL(runs_init(&r, 1000000, 0), 0);
	CU_ASSERT_EQUAL_FATAL(runs_replace(&r, 1, 999999, 2, 0, 5, &n), 0);
	CU_ASSERT_EQUAL(n, 500000);
	CU_ASSERT_EQUAL(r.n, 1000000);
	CU_ASSERT_EQUAL_FATAL(runs_replace(&r, 0, UINT32_MAX, 1, 0, 5, &n), 0);
	CU_ASSERT_EQUAL(n, 500000);
	CU_ASSERT_EQUAL(r.n, 1);
	runs_fini(&r);
}

/* As it is loaded: hundred thousands of ranges, in order, must not take minutes. */
static void many_ranges_in_order(void)
{
	struct runs r;
	uint32_t i, n;

	CU_ASSERT_EQUAL_FATAL(runs_init(&r, 1000000, 0), 0);
	for (i = 0; i < 999990; i += 4)
		CU_ASSERT_EQUAL_FATAL(runs_replace(&r, i, i + 1, 1, 0, 5, &n) || n != 2, 0);
	CU_ASSERT_EQUAL(r.n, 2 * 249998);
	runs_fini(&r);
}

static void one_alone(void)
{
	struct runs r;
	uint32_t i;

	CU_ASSERT_EQUAL_FATAL(runs_init(&r, 1, 7), 0);
	CU_ASSERT_EQUAL(runs_set(&r, 0, 8), 0);
	CU_ASSERT_EQUAL(runs_get(&r, 0, NULL), 8);
	CU_ASSERT_FALSE(runs_find(&r, 0, 7, &i));
	CU_ASSERT_FALSE(runs_find(&r, 1, 8, &i));
	runs_fini(&r);
}

TESTS_MAIN("runs", TEST(at_random), TEST(a_million_in_order), TEST(every_second_of_a_million),
	   TEST(many_ranges_in_order), TEST(one_alone))
