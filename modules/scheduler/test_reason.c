/* SPDX-License-Identifier: Apache-2.0
 *
 * test_reason.c - texts, codes and the missing thing's name.
 */
#include "place.h"

#include <string.h>

#include "harness.h"

static const struct keel_resource ncpus = { "ncpus", KEEL_RES_LONG, KEEL_RES_EACH };
static const struct keel_resource mem = { "mem", KEEL_RES_SIZE, KEEL_RES_EACH };
static const struct keel_resource walltime = { "walltime", KEEL_RES_TIME, 0 };
static const struct keel_resource arch = { "arch", KEEL_RES_STRING, 0 };
static const struct keel_resource rb = { "rb", KEEL_RES_BOOL, 0 };
static struct reason r;

static void says(int32_t code, const char *what, const char *text)
{
	CU_ASSERT_EQUAL(r.code, code);
	CU_ASSERT_STRING_EQUAL(r.what, what);
	CU_ASSERT_STRING_EQUAL(r.text, text);
}

static void test_table(void)
{
	reason_why(&r, KEEL_WHY_QUEUE_USER_RES, "al", "ncpus", "workq");
	says(16355, "", "would exceed user al's limit on resource ncpus in queue workq");
	reason_why(&r, KEEL_WHY_FEW_FREE);
	says(16368, "", "Not enough free nodes available");
	reason_why(&r, 1);
	says(1, "", "unknown reason");
	CU_ASSERT_PTR_NULL(keel_why_text(16364));
	reason_set(&r, "no %s", "luck");
	says(0, "", "no luck");
}

static void test_amounts(void)
{
	reason_amount(&r, KEEL_WHY_RESOURCE, &ncpus, 8, 4, 4);
	says(16339, "ncpus", "Insufficient amount of resource: ncpus (R: 8 A: 4 T: 4)");
	reason_amount(&r, KEEL_WHY_SERVER_RESOURCE, &ncpus, 1.5, -1, 2.25);
	says(16347, "ncpus", "Insufficient amount of server resource: ncpus (R: 1.5 A: 0 T: 2.25)");
	reason_amount(&r, KEEL_WHY_RESOURCE, &mem, 5.0 * (1 << 30), 2.0 * (1 << 30), 1);
	says(16339, "mem", "Insufficient amount of resource: mem (R: 5gb A: 2gb T: 1kb)");
	reason_amount(&r, KEEL_WHY_QUEUE_RESOURCE, &walltime, 3661, 60, 0);
	says(16346, "walltime",
	     "Insufficient amount of queue resource: walltime (R: 01:01:01 A: 00:01:00 T: "
	     "00:00:00)");
}

static void test_words(void)
{
	struct keel_res_value sun = { .res = &arch, .text = "sun" };
	struct keel_res_value linux_ = { .res = &arch, .text = "linux" };
	struct keel_res_value yes = { .res = &rb, .n = 1 };

	reason_differs(&r, KEEL_WHY_RESOURCE, &sun, &linux_);
	says(16339, "arch", "Insufficient amount of resource: arch (sun != linux)");
	reason_differs(&r, KEEL_WHY_QUEUE_RESOURCE, &yes, NULL);
	says(16346, "rb", "Insufficient amount of queue resource: rb (True != False)");
	reason_short(&r, KEEL_WHY_RESOURCE, &arch);
	says(16339, "arch", "Insufficient amount of resource: arch ");
}

/* past modules/scheduler/place.h REASON_MAX: what is cut off shows */
static void test_longest(void)
{
	char text[401];

	memset(text, 'x', sizeof(text));
	text[399] = '\0';
	reason_set(&r, "%s", text);
	CU_ASSERT_STRING_EQUAL(r.text, text);
	text[399] = 'x';
	text[400] = '\0';
	reason_set(&r, "%s", text);
	memcpy(text + 396, "...", 4);
	CU_ASSERT_STRING_EQUAL(r.text, text);
}

TESTS_MAIN("reason", TEST(test_table), TEST(test_amounts), TEST(test_words), TEST(test_longest))
