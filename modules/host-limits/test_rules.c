/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rules.c - $enforce's words, shares of a host, and what is too much.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "rules.h"

static struct rules r;
static char why[RULES_WHY];

static void words(void)
{
	rules_init(&r);
	CU_ASSERT(!r.on[LIMIT_MEM] && !r.on[LIMIT_COMPLEXMEM] && !r.on[LIMIT_AVERAGE] && !r.on[LIMIT_BURST]);
	CU_ASSERT_EQUAL(rules_set(&r, "mem", why), 0);
	CU_ASSERT_EQUAL(rules_set(&r, "cpuburst", why), 0);
	CU_ASSERT_EQUAL(rules_set(&r, "delta_weightup \t 0.25", why), 0);
	CU_ASSERT(r.on[LIMIT_MEM] && r.on[LIMIT_BURST] && r.number[WEIGHT_UP] == 0.25);
	CU_ASSERT_EQUAL(rules_set(&r, "!mem", why), 0);
	CU_ASSERT(!r.on[LIMIT_MEM]);
}

static void wrong_words(void)
{
	static const char *const wrong[] = { "", "!", "mem 3", "!mem off", "memory", "me", "vmem", "average_trialperiod", "average_trialperiod x",
					     "average_trialperiod -1", "average_trialperiod 1e99", "average_trialperiod 5 6",
					     "!average_trialperiod 5", "delta_weightup 1.1", "delta_weightup nan", "delta_cpufactor inf" };

	rules_init(&r);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct rules before = r;

		why[0] = '\0';
		CU_ASSERT_EQUAL(rules_set(&r, wrong[i], why), -EINVAL);
		CU_ASSERT(why[0] && memcmp(&before, &r, sizeof(r)) == 0);
	}
}

static void shares(void)
{
	static const struct {
		const char *vnodes;
		int64_t kb;
	} known[] = {
		{ "", 0 }, { "(n1:ncpus=1)", 0 }, { "(n1:ncpus=1:mem=100kb)", 100 }, { "(n1:mem=1gb:ncpus=1+n2:mem=2mb)+(n1:mem=5)", 1048576 + 2048 + 1 },
		{ "(n1:vmem=1gb:hbmem=7kb:mem=0)", 0 }, { "(n1:mem=1kw)", 8 }, { "(n1:mem=-5gb)", 0 }, { "(n1:mem=junk)", 0 },
		{ "(n1:mem=9000000000tb)+(n1:mem=1kb)", INT64_MAX }, { "(n1:mem=99999999999999999999kb)", INT64_MAX },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		CU_ASSERT_EQUAL(share_mem_kb(known[i].vnodes), known[i].kb);
}

static void averages(void)
{
	double used = 0;

	rules_init(&r);
	CU_ASSERT(!over_average(&r, 1, 10000000, 120000, &used)); /* the trial period */
	CU_ASSERT(!over_average(&r, 1, 300000, 200000, &used));	  /* 1.5 of 1.525 */
	CU_ASSERT(over_average(&r, 1, 500000, 200000, &used));
	CU_ASSERT_DOUBLE_EQUAL(used, 2.5, 0.001);
	CU_ASSERT(!over_average(&r, 2, 500000, 200000, &used));
	r.number[TRIAL_PERIOD] = 0;
	CU_ASSERT(!over_average(&r, 1, 500000, 0, &used));
}

static void bursts(void)
{
	struct load l = { .begun = false };
	double used = 0;

	rules_init(&r);
	load_take(&l, &r, 900000, 1000, 120000); /* of what was before nothing is known */
	CU_ASSERT(!over_burst(&l, &r, 1, &used));
	load_take(&l, &r, 900000 + 480000, 121000, 120000); /* four processors for two minutes: 0.4 of that */
	CU_ASSERT(over_burst(&l, &r, 1, &used));
	CU_ASSERT_DOUBLE_EQUAL(used, 1.6, 0.001);
	CU_ASSERT(!over_burst(&l, &r, 2, &used));
	load_take(&l, &r, 900000 + 480000, 241000, 120000); /* nothing: 0.9 of what it was */
	CU_ASSERT(!over_burst(&l, &r, 1, &used));
	CU_ASSERT_DOUBLE_EQUAL(used, 1.44, 0.001);
	load_take(&l, &r, 900000 + 480000 + 6000, 242500, 120000); /* four again, for 1.5 s: an eightieth of the weight */
	over_burst(&l, &r, 1, &used);
	CU_ASSERT_DOUBLE_EQUAL(used, 1.44 + (4 - 1.44) * 0.4 / 80, 0.001);
	load_take(&l, &r, 999999999, 242500, 120000); /* it stood still */
	over_burst(&l, &r, 1, &used);
	CU_ASSERT(used < 1.5);
}

TESTS_MAIN("host-limits/rules", TEST(words), TEST(wrong_words), TEST(shares), TEST(averages), TEST(bursts))
