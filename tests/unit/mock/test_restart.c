/* SPDX-License-Identifier: Apache-2.0
 *
 * test_restart.c - the daemon ends and begins again around a module: nobody asks it, its holds are cancelled.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "keel/mock.h"

static const char *fixture(const char *name)
{
	const char *build = getenv("KEELSON_BUILD");
	static char path[4096];

	snprintf(path, sizeof(path), "%s/tests/fixtures/%s.so", build != NULL ? build : ".", name);
	return path;
}

static void test_busy(void)
{
	struct keel_mock *mock = keel_mock_new(KEEL_SERVER);
	struct keel_mod *busy = keel_mock_load_file(mock, fixture("busy"), NULL, NULL);
	struct keel_err err;

	CU_ASSERT_PTR_NOT_NULL_FATAL(busy);
	CU_ASSERT_EQUAL(keel_mock_unload(busy, &err), -EBUSY);
	busy = keel_mock_restart(busy, &err);
	CU_ASSERT_PTR_NOT_NULL(busy);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static void test_holds(void)
{
	struct keel_mock *mock = keel_mock_new(KEEL_SERVER);
	struct keel_obj *job = keel_mock_object(mock, "job", "1.svr");
	struct keel_mock_outcome out = { 0 };
	struct keel_mod *hold = keel_mock_load_file(mock, fixture("hold"), NULL, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(hold);
	CU_ASSERT_EQUAL(keel_mock_raise(mock, KEEL_POINT_job_delete, KEEL_EVENT(job_delete, .id = "1.svr", .job = job), &out),
			KEEL_WAIT);
	hold = keel_mock_restart(hold, NULL);
	CU_ASSERT_PTR_NOT_NULL(hold);
	CU_ASSERT_TRUE(out.told);
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 0);
	CU_ASSERT_EQUAL(keel_mock_ended(mock, KEEL_CANCEL_STOPPING), 1);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

TESTS_MAIN("mock: restart", TEST(test_busy), TEST(test_holds))
