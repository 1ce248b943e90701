/* SPDX-License-Identifier: Apache-2.0
 *
 * test_times.c - a dedicated time in the mock: it begins, ends, its file changes and is removed, and reading it runs
 * out of memory.
 */
#include "prime-time.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "keel/mock.h"
#include "module_memory.h"

#define DAY 1700006400 /* 2023-11-15 00:00 */
#define FROM_8_TO_18 "11/15/2023 08:00 11/15/2023 18:00\n"

static struct keel_module alone;
static struct keel_mock *mock;
static struct keel_mod *module;
static struct keel_obj *job;
static struct keel_err err;
static struct keel_mock_outcome out;
static char *home;
static double walltime;

static double list_number(const struct keel_reslist *list, const char *name, double fallback)
{
	(void)list, (void)name, (void)fallback;
	return walltime;
}

static bool is_suspended(struct keel_mod *m, struct keel_obj *o)
{
	(void)m, (void)o;
	return false;
}

static void set_up_at(int64_t seconds)
{
	static const struct keel_resource_api resources = { .size = sizeof(resources), .list_number = list_number };
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .is_suspended = is_suspended };
	char path[256];

	in_utc();
	home = scratch_new();
	snprintf(path, sizeof(path), "%s/sched_priv", home);
	CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
	scratch_write(home, "sched_priv/dedicated_time", FROM_8_TO_18);
	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_home(mock, home);
	keel_mock_epoch(mock, DAY + seconds);
	keel_mock_service(mock, "resource", &resources);
	keel_mock_service(mock, "job", &jobs);
	keel_mock_attr(mock, "job", "queue", "string");
	keel_mock_attr(mock, "job", "Resource_List", "string");
	keel_mock_attr(mock, "job", "resources_used", "string");
	job = keel_mock_object(mock, "job", "1.svr");
	keel_mock_set(job, "queue", NULL, "workq");
	walltime = 3600;
	alone = module_alone("prime-time");
}

static void load(void)
{
	module = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
}

static void set_up(void)
{
	set_up_at(6 * 3600);
	load();
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(home);
	free(home);
}

/* Returns the verdict of a cycle on the job; KEEL_NEXT: it may start. */
static keel_verdict cycle(void)
{
	keel_mock_raise(mock, KEEL_POINT_cycle_begin, KEEL_EVENT(cycle_begin, .cycle = 1), NULL);
	if (keel_mock_raise(mock, KEEL_POINT_start_group, KEEL_EVENT(start_group, .id = "1.svr", .job = job),
			    &out) == KEEL_REJECT)
		return KEEL_REJECT;
	return keel_mock_raise(mock, KEEL_POINT_start_job, KEEL_EVENT(start_job, .id = "1.svr", .job = job),
			       &out);
}

static void test_a_day(void)
{
	CU_ASSERT_EQUAL(cycle(), KEEL_NEXT);
	walltime = 3 * 3600; /* still running when it begins */
	CU_ASSERT_EQUAL(cycle(), KEEL_REJECT);
	keel_mock_set(job, "queue", NULL, "ded1");
	CU_ASSERT_EQUAL(cycle(), KEEL_REJECT);
	keel_mock_advance(mock, 2 * 3600 * 1000);
	CU_ASSERT_EQUAL(cycle(), KEEL_NEXT);
	keel_mock_set(job, "queue", NULL, "workq");
	CU_ASSERT_EQUAL(cycle(), KEEL_REJECT);
	keel_mock_advance(mock, 10 * 3600 * 1000);
	CU_ASSERT_EQUAL(cycle(), KEEL_NEXT);
}

static void test_the_file_goes(void)
{
	char path[256];

	keel_mock_advance(mock, 3 * 3600 * 1000);
	CU_ASSERT_EQUAL(cycle(), KEEL_REJECT);
	snprintf(path, sizeof(path), "%s/sched_priv/dedicated_time", home);
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(cycle(), KEEL_NEXT);
	scratch_write(home, "sched_priv/dedicated_time", FROM_8_TO_18);
	CU_ASSERT_EQUAL(cycle(), KEEL_REJECT);
	CU_ASSERT_EQUAL(keel_mock_reconf(module, "dedicated_time = \"sched_priv/other\";", &err), 0);
	CU_ASSERT_EQUAL(cycle(), KEEL_NEXT);
}

/* past modules/prime-time/file.c FILE_MAX: a longer file is logged as an error and counts as empty. */
static void test_long_file(void)
{
	static char text[1024 * 1024 + 2];
	const size_t most = 1024 * 1024;

	keel_mock_advance(mock, 3 * 3600 * 1000);
	memset(text, '\n', most + 1);
	memcpy(text, FROM_8_TO_18, strlen(FROM_8_TO_18));
	scratch_write(home, "sched_priv/dedicated_time", text);
	CU_ASSERT_EQUAL(cycle(), KEEL_NEXT);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "longer than 1048576 bytes; it counts as empty"));
	text[most] = '\0';
	scratch_write(home, "sched_priv/dedicated_time", text);
	CU_ASSERT_EQUAL(cycle(), KEEL_REJECT);
}

/* Whatever fails when the file is read, the next cycle reads it again. */
static void test_no_memory(void)
{
	uint32_t calls, k = 0;
	long n = 0;

	do {
		tear_down();
		set_up_at(9 * 3600);
		countdown = ++n;
		load();
		cycle();
		calls = memory_failed();
		CU_ASSERT_EQUAL(cycle(), KEEL_REJECT);
	} while (calls);
	CU_ASSERT(n > 1 || !INJECTING);
	do {
		tear_down();
		set_up();
		walltime = 3 * 3600;
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++k);
		cycle();
		calls = keel_mock_calls(mock) - calls;
		keel_mock_fail_call(mock, 0);
		CU_ASSERT_EQUAL(cycle(), KEEL_REJECT);
	} while (calls >= k);
	CU_ASSERT(k > 1);
}

TESTS_MAIN_BETWEEN("times", set_up, tear_down, TEST(test_a_day), TEST(test_the_file_goes), TEST(test_long_file),
		   TEST(test_no_memory))
