/* SPDX-License-Identifier: Apache-2.0
 *
 * test_prio.c - what is a preempt_prio, and which level a job has.
 */
#include "prio.h"

#include "harness.h"

static void test_grammar(void)
{
	static const char *const good[] = { "", "express_queue", "express_queue, normal_jobs",
					    "express_queue+fairshare, normal_jobs",
					    " queue_softlimits , server_softlimits + fairshare " };
	static const char *const bad[] = { "abc", "starving_jobs", "express_queue,", ",", "+",
					   "express_queue normal_jobs", "express_queue+", "Express_queue",
					   "express_queue,,fairshare" };
	struct prio p;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_TRUE(prio_parse(good[i], &p));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_FALSE(prio_parse(bad[i], &p));
}

static void test_default(void)
{
	struct prio p;

	CU_ASSERT_TRUE(prio_parse("express_queue, normal_jobs", &p));
	CU_ASSERT_EQUAL(prio_level(&p, PRIO_EXPRESS), 99000);
	CU_ASSERT_EQUAL(prio_level(&p, 0), 98000);
	CU_ASSERT_EQUAL(prio_level(&p, PRIO_SHARE | PRIO_SERVER_SOFT), 98000);
	CU_ASSERT_EQUAL(p.normal, 98000);
}

/* More conditions are tried first, whatever their place. */
static void test_joined(void)
{
	struct prio p;

	CU_ASSERT_TRUE(prio_parse("express_queue, normal_jobs, express_queue+fairshare", &p));
	CU_ASSERT_EQUAL(prio_level(&p, PRIO_EXPRESS), 99000);
	CU_ASSERT_EQUAL(prio_level(&p, PRIO_EXPRESS | PRIO_SHARE), 97000);
	CU_ASSERT_EQUAL(prio_level(&p, PRIO_SHARE), 98000);
}

static void test_below_normal(void)
{
	struct prio p;

	CU_ASSERT_TRUE(prio_parse("normal_jobs, fairshare, server_softlimits", &p));
	CU_ASSERT_EQUAL(prio_level(&p, 0), 99000);
	CU_ASSERT_EQUAL(prio_level(&p, PRIO_SHARE | PRIO_SERVER_SOFT), 98000);
	CU_ASSERT_EQUAL(prio_level(&p, PRIO_SERVER_SOFT), 97000);
	CU_ASSERT_EQUAL(prio_level(&p, PRIO_EXPRESS), 99000);
	CU_ASSERT_TRUE(prio_parse("", &p));
	CU_ASSERT_EQUAL(prio_level(&p, PRIO_EXPRESS), p.normal);
}

TESTS_MAIN("prio", TEST(test_grammar), TEST(test_default), TEST(test_joined), TEST(test_below_normal))
