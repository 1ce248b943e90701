/* SPDX-License-Identifier: Apache-2.0
 *
 * test_recent.c - what was told about an object since a moment, while somebody wants to know.
 */
#include "hook/engine.h"

static void what_was_told_since_is_known(void)
{
	uint64_t first, second;

	engine_start();
	NOTE(job_purged, .id = "1.svr", .job = &job1); /* nobody wants to know */
	first = hooks_recall(e.parts.hooks);
	CU_ASSERT_FALSE(hooks_told(e.parts.hooks, first, KEEL_POINT_job_purged, "1.svr"));
	NOTE(job_purged, .id = "1.svr", .job = &job1);
	second = hooks_recall(e.parts.hooks);
	NOTE(job_obit, .id = "2.svr", .job = &job2);
	CU_ASSERT_TRUE(hooks_told(e.parts.hooks, first, KEEL_POINT_job_purged, "1.svr"));
	CU_ASSERT_TRUE(hooks_told(e.parts.hooks, first, KEEL_POINT_job_obit, "2.svr"));
	CU_ASSERT_FALSE(hooks_told(e.parts.hooks, first, KEEL_POINT_job_obit, "1.svr"));
	CU_ASSERT_FALSE(hooks_told(e.parts.hooks, second, KEEL_POINT_job_purged, "1.svr"));
	CU_ASSERT_TRUE(hooks_told(e.parts.hooks, second, KEEL_POINT_job_obit, "2.svr"));
	hooks_forget(e.parts.hooks, first);
	hooks_forget(e.parts.hooks, second);
	engine_stop();
}

static void only_the_last_ones_are_kept(void)
{
	uint64_t since;

	engine_start();
	since = hooks_recall(e.parts.hooks);
	NOTE(job_purged, .id = "1.svr", .job = &job1);
	for (int i = 0; i < 4096; i++)
		NOTE(job_obit, .id = "2.svr", .job = &job2);
	CU_ASSERT_FALSE(hooks_told(e.parts.hooks, since, KEEL_POINT_job_purged, "1.svr"));
	CU_ASSERT_TRUE(hooks_told(e.parts.hooks, since, KEEL_POINT_job_obit, "2.svr"));
	hooks_forget(e.parts.hooks, since);
	engine_stop();
}

/* Who looks whether somebody listens, before he makes an event, sees listeners only as long as that. */
static void nobody_listens_afterwards(void)
{
	uint64_t since;

	engine_start();
	CU_ASSERT_FALSE(hooks_tapped(e.parts.hooks, KEEL_POINT_job_obit));
	since = hooks_recall(e.parts.hooks);
	CU_ASSERT_TRUE(hooks_tapped(e.parts.hooks, KEEL_POINT_job_obit));
	CU_ASSERT_FALSE(hooks_tapped(e.parts.hooks, KEEL_POINT_job_submit));
	hooks_forget(e.parts.hooks, since);
	CU_ASSERT_FALSE(hooks_tapped(e.parts.hooks, KEEL_POINT_job_obit));
	engine_stop();
}

TESTS_MAIN("recent", TEST(what_was_told_since_is_known), TEST(only_the_last_ones_are_kept),
	   TEST(nobody_listens_afterwards))
