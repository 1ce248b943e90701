/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pool.c - amounts of queues and of the server: never, not now, and what jobs take.
 */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const struct keel_resource foo = { "foo", KEEL_RES_LONG, KEEL_RES_SUM };
static const struct keel_resource words = { "words", KEEL_RES_STRINGS, 0 };
static const struct keel_resource flagged = { "flagged", KEEL_RES_BOOL, 0 };
static const struct keel_resource other = { "other", KEEL_RES_LONG, KEEL_RES_BUILTIN };

static struct pool_amount of_queue[] = { { &foo, 50, 5, NULL, true } };
static struct pool_amount of_server[2];
static struct pool pools[2];
static struct snapshot site;
static struct reason r;

static struct keel_res_value value;
static const struct keel_res_value *whole[] = { &value };

static void site_make(void)
{
	of_queue[0].free = 5;
	of_server[0] = (struct pool_amount){ &foo, 100, 40, NULL, true };
	of_server[1] = (struct pool_amount){ &words, 0, 0, (char *)"a,b", false };
	pools[0] = (struct pool){ "workq", of_queue, 1 };
	pools[1] = (struct pool){ NULL, of_server, 2 };
	site = (struct snapshot){ .pool = pools, .n_pool = 2 };
}

static bool fits(const char *queue, struct keel_res_value v, bool ever)
{
	struct wish w = { .queue = queue, .whole = whole, .n_whole = 1 };

	value = v;
	memset(&r, 0, sizeof(r));
	return ever ? pools_possible(&site, &w, &r) : pools_fit(&site, &w, &r);
}

static void says(int32_t code, const char *text)
{
	CU_ASSERT_EQUAL(r.code, code);
	CU_ASSERT_STRING_EQUAL(r.text, text);
}

static void test_amounts(void)
{
	struct keel_res_value v = { .res = &foo, .n = 10 };

	site_make();
	CU_ASSERT_FALSE(fits("workq", v, false));
	says(16346, "Insufficient amount of queue resource: foo (R: 10 A: 5 T: 50)");
	CU_ASSERT_TRUE(fits("workq", v, true));
	CU_ASSERT_TRUE(fits("night", v, false));
	v.n = 60;
	CU_ASSERT_FALSE(fits("night", v, false));
	says(16347, "Insufficient amount of server resource: foo (R: 60 A: 40 T: 100)");
	v.n = 200;
	CU_ASSERT_FALSE(fits("night", v, true));
	says(16347, "Insufficient amount of server resource: foo (R: 200 A: 100 T: 100)");
	CU_ASSERT_TRUE(r.never);
	v = (struct keel_res_value){ .res = &other, .n = 1000 };
	CU_ASSERT_TRUE(fits("workq", v, false)); /* set nowhere */
}

static void test_words(void)
{
	site_make();
	CU_ASSERT_TRUE(fits(NULL, (struct keel_res_value){ .res = &words, .text = "b" }, false));
	CU_ASSERT_FALSE(fits(NULL, (struct keel_res_value){ .res = &words, .text = "c" }, false));
	says(16347, "Insufficient amount of server resource: words (c != a,b)");
	CU_ASSERT_TRUE(fits("workq", (struct keel_res_value){ .res = &flagged, .n = 0 }, false));
	CU_ASSERT_TRUE(fits("workq", (struct keel_res_value){ .res = &flagged, .n = 1 }, false)); /* likewise */
}

static void test_take(void)
{
	struct snapshot copy;
	uint32_t before;

	site_make();
	before = pools_sum(&site);
	value = (struct keel_res_value){ .res = &foo, .n = 3 };
	pools_move(&site, "workq", whole, 1, NULL, 1);
	CU_ASSERT_EQUAL(of_queue[0].free, 2);
	CU_ASSERT_EQUAL(of_server[0].free, 37);
	pools_move(&site, "night", whole, 1, NULL, 1);
	CU_ASSERT_EQUAL(of_queue[0].free, 2);
	pools_move(&site, "workq", whole, 1, "ncpus,mem", -1);
	CU_ASSERT_EQUAL(of_queue[0].free, 2);
	CU_ASSERT_EQUAL(pools_sum(&site), before); /* totals are the same */
	copy = site;
	copy.pool = pools_copy(&site);
	pools_move(&copy, "workq", whole, 1, "ncpus, foo", -1);
	CU_ASSERT_EQUAL(copy.pool[0].amount[0].free, 5);
	CU_ASSERT_EQUAL(of_queue[0].free, 2);
	pools_free(copy.pool, copy.n_pool);
}

TESTS_MAIN("pool", TEST(test_amounts), TEST(test_words), TEST(test_take))
