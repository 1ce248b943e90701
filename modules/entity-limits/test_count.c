/* SPDX-License-Identifier: Apache-2.0
 *
 * test_count.c - what is counted in the mock, with the real module resources: also when there was no memory to count a
 * job, others are held to their limit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "entity-limits.h"
#include "mocked.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static struct keel_obj *first, *second, *third;

/* So many counters find a place for amounts, those after them do not (negative: all do). The mock itself, which cannot
 * go on without memory, has all it wants. */
static long places = -1;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#pragma GCC visibility push(default) /* hidden as the rest of the program, libc would not see it */
void *__libc_realloc(void *old, size_t size);
void *realloc(void *old, size_t size);

void *realloc(void *old, size_t size)
{
	if (old == NULL && size == 4 * sizeof(struct amount) && places == 0)
		return NULL;
	places -= places > 0 && size == 4 * sizeof(struct amount);
	return __libc_realloc(old, size);
}
#pragma GCC visibility pop
#endif

static char runs(struct keel_mod *jobs, struct keel_obj *job)
{
	(void)jobs, (void)job;
	return 'R';
}

static uint32_t one(struct keel_mod *jobs, struct keel_obj *job)
{
	(void)jobs, (void)job;
	return 1;
}

static struct keel_obj *job_of_alice(const char *id)
{
	struct keel_obj *job = keel_mock_object(mock, "job", id);

	keel_mock_set(job, "queue", NULL, "workq");
	keel_mock_set(job, "euser", NULL, "alice");
	CU_ASSERT_EQUAL(keel_mock_set(job, "Resource_List", "tickets", "1"), 0);
	return job;
}

static void set_up(void)
{
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .state = runs, .members = one };
	static const char *const attrs[] = { "queue", "euser", "egroup", "project", "Resource_List" };
	struct keel_module alone = keel_module;
	struct keel_err err = { 0 };

	mock = mock_with_resources();
	keel_mock_service(mock, "job", &jobs);
	for (size_t i = 0; i < KEEL_COUNT(attrs); i++)
		keel_mock_attr(mock, "job", attrs[i], i < KEEL_COUNT(attrs) - 1 ? "string" : "resource_list");
	alone.requires_modules = NULL;
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &alone, NULL, &err));
	keel_mock_set(keel_mock_object(mock, "resource", "tickets"), "type", NULL, "long");
	keel_mock_set(keel_mock_object(mock, "queue", "workq"), "max_run_res", "tickets", "[u:PBS_GENERIC=1]");
	first = job_of_alice("1.svr");
	second = job_of_alice("2.svr");
	third = job_of_alice("3.svr");
}

static void placed(struct keel_obj *job, const char *id)
{
	keel_mock_raise(mock, KEEL_POINT_job_placed, KEEL_EVENT(job_placed, .id = id, .job = job), NULL);
}

static void gone(struct keel_obj *job, const char *id)
{
	keel_mock_raise(mock, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = id, .job = job), NULL);
}

static keel_verdict third_may_start(void)
{
	return keel_mock_raise(mock, KEEL_POINT_start_group,
			       KEEL_EVENT(start_group, .id = "3.svr", .job = third), NULL);
}

static void test_one_that_is_not_counted(void)
{
	for (long n = 0; n <= SCOPES * KINDS; n++) {
		places = n;
		placed(first, "1.svr");
		places = -1;
		placed(second, "2.svr");
		keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "3.svr", .job = third), NULL);
		CU_ASSERT_EQUAL(third_may_start(), KEEL_REJECT);
		gone(first, "1.svr");
		CU_ASSERT_EQUAL(third_may_start(), KEEL_REJECT);
		gone(second, "2.svr");
		CU_ASSERT_EQUAL(third_may_start(), KEEL_NEXT);
		gone(third, "3.svr");
	}
}

TESTS_MAIN_BETWEEN("count", set_up, tear_down, TEST(test_one_that_is_not_counted))
