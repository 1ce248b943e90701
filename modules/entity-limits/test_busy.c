/* SPDX-License-Identifier: Apache-2.0
 *
 * test_busy.c - limits in the mock, with the real module resources: a resource that is limited stays, and limits of
 * both styles do not go together, also when there is no memory to look.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mocked.h"
#include "keel/service/job.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static struct keel_obj *queue, *other;

static void set_up(void)
{
	static const struct keel_job_api jobs = { .size = sizeof(jobs) }; /* there are none */
	static const char *const attrs[] = { "queue", "euser", "egroup", "project", "Resource_List" };
	struct keel_module alone = keel_module;
	struct keel_err err = { 0 };

	mock = mock_with_resources();
	keel_mock_service(mock, "job", &jobs);
	for (size_t i = 0; i < KEEL_COUNT(attrs); i++)
		keel_mock_attr(mock, "job", attrs[i], i < KEEL_COUNT(attrs) - 1 ? "string" : "resource_list");
	alone.requires_modules = NULL;
	CU_ASSERT_PTR_NOT_NULL(keel_mock_load(mock, &alone, NULL, &err));
	CU_ASSERT_STRING_EQUAL_FATAL(err.text, "");
	queue = keel_mock_object(mock, "queue", "workq");
	other = keel_mock_object(mock, "queue", "other");
	keel_mock_set(keel_mock_object(mock, "resource", "tickets"), "type", NULL, "long");
}

static keel_verdict delete_tickets(void)
{
	return keel_mock_raise(mock, KEEL_POINT_resource_delete, KEEL_EVENT(resource_delete, .id = "tickets"), NULL);
}

/* The other queue gets a limit of the old style. */
static keel_verdict old_style(void)
{
	struct keel_changes *set = keel_changes(keel_mock_self(mock));

	keel_change_text(set, other, keel_attr_find(keel_mock_self(mock), "queue", "max_user_run"), KEEL_SET, NULL, "2",
			 NULL);
	return keel_mock_raise_for(mock, NULL, KEEL_POINT_management,
				   KEEL_EVENT(management, .klass = "queue", .obj = other, .cmd = 2), set, NULL);
}

/* Whichever call fails it is refused. */
static void stays_refused(keel_verdict (*ask)(void))
{
	uint32_t calls, n = 0;

	do {
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		CU_ASSERT_EQUAL(ask(), KEEL_REJECT);
		calls = keel_mock_calls(mock) - calls;
	} while (calls >= n);
	CU_ASSERT(n > 1);
}

/* The limit goes with the resource, whichever call failed before: both, or none. */
static void test_limited(void)
{
	uint32_t calls, n = 0;
	keel_verdict verdict;

	CU_ASSERT_EQUAL(delete_tickets(), KEEL_NEXT);
	CU_ASSERT_EQUAL(keel_mock_set(queue, "max_run_res", "tickets", "[u:PBS_GENERIC=3]"), 0);
	do {
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		verdict = delete_tickets();
		CU_ASSERT_EQUAL(verdict == KEEL_REJECT, keel_mock_text(queue, "max_run_res", "tickets") != NULL);
		calls = keel_mock_calls(mock) - calls;
	} while (calls >= n && verdict == KEEL_REJECT);
	CU_ASSERT_EQUAL(verdict, KEEL_NEXT);
	CU_ASSERT(n > 1);
}

static void test_styles(void)
{
	CU_ASSERT_EQUAL(old_style(), KEEL_NEXT);
	CU_ASSERT_EQUAL(keel_mock_set(queue, "max_run", NULL, "[u:PBS_GENERIC=3]"), 0);
	stays_refused(old_style);
}

TESTS_MAIN_BETWEEN("entity limits", set_up, tear_down, TEST(test_limited), TEST(test_styles))
