/* SPDX-License-Identifier: Apache-2.0
 *
 * test_busy.c - a resource in use is not deleted, nor when the search runs out of memory.
 */
#include "resources.h"

#include <stdlib.h>
#include <string.h>

#include "mocked.h"

extern const struct keel_module keel_module;

static struct keel_obj *queue;
static struct keel_mock_outcome out;

static void set_up(void)
{
	struct keel_err err = { 0 };

	mock = keel_mock_new(KEEL_SERVER);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, NULL, &err));
	keel_mock_attr(mock, "queue", "resources_max", "resource_list");
	queue = keel_mock_object(mock, "queue", "workq");
	keel_mock_object(mock, "resource", "tickets");
	CU_ASSERT_EQUAL(keel_mock_set(queue, "resources_max", "tickets", "3"), 0);
}

static keel_verdict delete_raise(const char *name)
{
	return keel_mock_raise(mock, KEEL_POINT_resource_delete, KEEL_EVENT(resource_delete, .id = name), &out);
}

static struct keel_obj *job_of_tickets(void)
{
	struct keel_obj *job;

	keel_mock_attr(mock, "job", "Resource_List", "resource_list");
	job = keel_mock_object(mock, "job", "1.svr");
	CU_ASSERT_EQUAL(keel_mock_set(job, "Resource_List", "tickets", "1"), 0);
	return job;
}

/* Used by a job: not deleted, all values stay. Used by other objects only: their values are removed with it. */
static void test_used(void)
{
	struct keel_obj *job = job_of_tickets();

	CU_ASSERT_EQUAL(delete_raise("tickets"), KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, PBSE_RESCBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.text, "on job"));
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue, "resources_max", "tickets"), "3");
	CU_ASSERT_EQUAL(delete_raise("ncpus"), KEEL_REJECT); /* built in */
	CU_ASSERT_EQUAL(out.code, PBSE_IVALREQ);
	keel_mock_set(job, "Resource_List", "tickets", NULL);
	CU_ASSERT_EQUAL(delete_raise("tickets"), KEEL_NEXT);
	CU_ASSERT_PTR_NULL(keel_mock_text(queue, "resources_max", "tickets"));
}

/* Texts are not summed: only the select names them. */
static void test_used_in_a_select(void)
{
	struct keel_obj *res = keel_mock_object(mock, "resource", "colour"), *job;

	keel_mock_set(res, "type", NULL, "string");
	keel_mock_set(res, "flag", NULL, "h");
	keel_mock_attr(mock, "job", "Resource_List", "resource_list");
	job = keel_mock_object(mock, "job", "1.svr");
	CU_ASSERT_EQUAL(keel_mock_set(job, "Resource_List", "select", "2:ncpus=1+1:ncpus=1:colour=red"), 0);
	CU_ASSERT_EQUAL(delete_raise("colour"), KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, PBSE_RESCBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.text, "on job"));
	keel_mock_set(job, "Resource_List", "select", "1:ncpus=1:host=colour");
	CU_ASSERT_EQUAL(delete_raise("colour"), KEEL_NEXT);
}

/* Whichever call fails, the deletion is rejected. */
static void test_no_memory(void)
{
	uint32_t calls, n = 0;

	job_of_tickets();
	do {
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		CU_ASSERT_EQUAL(delete_raise("tickets"), KEEL_REJECT);
		calls = keel_mock_calls(mock) - calls;
	} while (calls >= n);
	CU_ASSERT(n > 1);
}

TESTS_MAIN_BETWEEN("busy resources", set_up, tear_down, TEST(test_used), TEST(test_used_in_a_select),
		   TEST(test_no_memory))
