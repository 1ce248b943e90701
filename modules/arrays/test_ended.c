/* SPDX-License-Identifier: Apache-2.0
 *
 * test_ended.c - how each of many subjobs ended, as it is kept in memory and stored: as many ways as subjobs, up to a
 * bound; beyond it none is said to have failed.
 */
#include "ended.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"
#include "keel/service/job.h"

static uint32_t seed = 5;

/* Each of `count` is over, no two neighbours alike, in no order. */
static void all_over(struct runs *r, struct indices *x, uint32_t count)
{
	*x = (struct indices){ 1, 1, count };
	CU_ASSERT_EQUAL_FATAL(runs_init(r, count, WAITS), 0);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * 7919 % count); /* a prime: each once */
		int32_t status = (int32_t)(pick(&seed, 200) * 2 + at % 2);

		CU_ASSERT_EQUAL_FATAL(
			runs_set(r, at, over_value(status ? KEEL_SUB_FAILED : KEEL_SUB_FINISHED, status)), 0);
	}
	CU_ASSERT_EQUAL(r->n, count);
}

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* mend A2 */
static void test_each_end_is_kept_up_to_the_bound(void)
{
	struct runs r, loaded;
	struct indices x;
	double before, wrote;
	char *text;

	all_over(&r, &x, WAYS_MAX);
	CU_ASSERT_FALSE(ended_coarsen(&r));
	before = milliseconds();
	text = ended_text(&x, &r);
	wrote = milliseconds() - before;
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_EQUAL_FATAL(runs_init(&loaded, x.count, WAITS), 0);
	before = milliseconds();
	CU_ASSERT_EQUAL(ended_load(&x, &loaded, WAITS, text), 0);
	printf("%d runs: %zu bytes, written in %.2f ms, read in %.2f ms\n", WAYS_MAX, strlen(text), wrote,
	       milliseconds() - before);
	CU_ASSERT_EQUAL_FATAL(loaded.n, r.n);
	CU_ASSERT_EQUAL(memcmp(loaded.at, r.at, r.n * sizeof(r.at[0])), 0);
	free(text);
	runs_fini(&loaded);
	runs_fini(&r);
}

/* mend A2: past modules/arrays/ended.h WAYS_MAX */
static void test_beyond_the_bound_none_failed(void)
{
	struct runs r;
	struct indices x;

	all_over(&r, &x, WAYS_MAX + 1);
	CU_ASSERT_TRUE(ended_coarsen(&r));
	CU_ASSERT_EQUAL_FATAL(r.n, 1);
	CU_ASSERT_FALSE(over_failed(r.at[0].value));
	CU_ASSERT_EQUAL(kind_of(r.at[0].value), KIND_OVER);
	CU_ASSERT_EQUAL(over_substate(r.at[0].value), SUB_EXPIRED);
	runs_fini(&r);
}

static void test_who_waits_and_lives_stays(void)
{
	struct runs r;
	uint32_t i;

	CU_ASSERT_EQUAL_FATAL(runs_init(&r, 2 * WAYS_MAX, WAITS), 0);
	for (i = 0; i < 2 * WAYS_MAX; i += 2)
		CU_ASSERT_EQUAL_FATAL(runs_set(&r, i, i % 4 ? LIVES : over_value(KEEL_SUB_FAILED, 3)), 0);
	CU_ASSERT_TRUE(ended_coarsen(&r));
	for (i = 0; i < 2 * WAYS_MAX; i++)
		CU_ASSERT_EQUAL_FATAL(runs_get(&r, i, NULL), i % 2 ? WAITS : i % 4 ? LIVES : over_unknown());
	runs_fini(&r);
}

static void test_values(void)
{
	static const int32_t status[] = { 0, 1, 255, 271, -1, -29, 32767, -32768 };
	size_t i;

	for (i = 0; i < sizeof(status) / sizeof(status[0]); i++) {
		int32_t value = over_value(KEEL_SUB_FAILED, status[i]);

		CU_ASSERT_EQUAL(over_exit(value), status[i]);
		CU_ASSERT_EQUAL(over_substate(value), KEEL_SUB_FAILED);
		CU_ASSERT_TRUE(over_failed(value));
		CU_ASSERT_EQUAL(kind_of(value), KIND_OVER);
	}
	CU_ASSERT_EQUAL(over_exit(over_value(KEEL_SUB_FAILED, 70000)), 32767);
	CU_ASSERT_FALSE(over_failed(over_value(KEEL_SUB_FINISHED, 0)));
	CU_ASSERT_TRUE(over_failed(over_value(KEEL_SUB_TERMINATED, 0)));
}

static void test_what_is_no_such_text(void)
{
	static const char *const bad[] = { "", "x", "5:1-3", "524306", "524306:", "524306:x", "524306:1-;524306:2" };
	const struct indices x = { 1, 1, 10 };
	struct runs r;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL_FATAL(runs_init(&r, 10, WAITS), 0);
		CU_ASSERT_EQUAL(ended_load(&x, &r, WAITS, bad[i]), 0);
		CU_ASSERT_EQUAL(r.n, 1);
		runs_fini(&r);
	}
}

TESTS_MAIN("ended", TEST(test_each_end_is_kept_up_to_the_bound), TEST(test_beyond_the_bound_none_failed),
	   TEST(test_who_waits_and_lives_stays), TEST(test_values), TEST(test_what_is_no_such_text))
