/* SPDX-License-Identifier: Apache-2.0
 *
 * test_suspend.c - the restriction as the module's taps see it, in the mock with the real module resources.
 */
#include "release-restriction.h"

#define RESTRICTION "restrict_res_to_release_on_suspend"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"

extern const struct keel_module keel_module;

static struct keel_mod *module;
static struct keel_obj *job, *server;
static struct keel_mock_outcome out;
static const struct keel_session *manager, *somebody;
static const char *released; /* the names the job released; NULL: it is not suspended */

static const char *released_by(struct keel_mod *m, struct keel_obj *o)
{
	(void)m, (void)o;
	return released;
}

static void set_up(void)
{
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .released = released_by };
	const char *build = getenv("KEELSON_BUILD");
	struct keel_err err = { 0 };
	char path[4096];

	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_service(mock, "job", &jobs);
	snprintf(path, sizeof(path), "%s/modules/resources.so", build != NULL ? build : ".");
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load_file(mock, path, NULL, &err));
	keel_mock_attr(mock, "job", "exec_vnode", "string");
	keel_mock_attr(mock, "job", "Resource_List", "resource_list");
	module = keel_mock_load(mock, &keel_module, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	server = keel_mock_object(mock, "server", "svr");
	job = keel_mock_object(mock, "job", "1.svr");
	keel_mock_set(job, "exec_vnode", NULL, "(n1:ncpus=8:mem=2048kb)+(n2:ncpus=6)");
	keel_mock_set(job, "Resource_List", "ncpus", "14");
	keel_mock_set(job, "Resource_List", "walltime", "60");
	manager = keel_mock_session(mock, "root", KEEL_MANAGERS);
	somebody = keel_mock_session(mock, "bob", KEEL_OPERATOR);
	released = NULL;
}

static int32_t restrict_to(const char *names, int32_t op)
{
	struct keel_err err = { 0 };

	return keel_mock_change(server, manager, RESTRICTION, NULL, names, op, &err);
}

static keel_verdict names_query(void)
{
	return keel_mock_raise(mock, KEEL_POINT_suspend_release,
			       KEEL_EVENT(suspend_release, .id = "1.svr", .job = job), &out);
}

/* No answer: everything is released. */
static void test_unset(void)
{
	CU_ASSERT_EQUAL(names_query(), KEEL_NEXT);
	CU_ASSERT_STRING_EQUAL(out.text, "");
}

static void test_names(void)
{
	CU_ASSERT_EQUAL(restrict_to("ncpus,mem", KEEL_SET), 0);
	CU_ASSERT_EQUAL(names_query(), KEEL_DONE);
	CU_ASSERT_STRING_EQUAL(out.text, "ncpus,mem");
	CU_ASSERT_STRING_EQUAL(out.by, "release-restriction.on_release");
	CU_ASSERT_EQUAL(restrict_to("mem", KEEL_DECR), 0);
	CU_ASSERT_EQUAL(names_query(), KEEL_DONE);
	CU_ASSERT_STRING_EQUAL(out.text, "ncpus");
	CU_ASSERT_EQUAL(restrict_to("NCPUS,walltime,arch", KEEL_SET), 0); /* walltime and arch are not consumable */
	CU_ASSERT_EQUAL(names_query(), KEEL_DONE);
	CU_ASSERT_STRING_EQUAL(out.text, "ncpus");
	CU_ASSERT_EQUAL(restrict_to(NULL, KEEL_UNSET), 0);
	CU_ASSERT_EQUAL(names_query(), KEEL_NEXT);
}

static void test_check(void)
{
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(restrict_to("ncpus,nothing", KEEL_SET), PBSE_UNKRESC);
	CU_ASSERT_PTR_NULL(keel_mock_text(server, RESTRICTION, NULL));
	CU_ASSERT_EQUAL(keel_mock_change(server, somebody, RESTRICTION, NULL, "ncpus", KEEL_SET, &err), 15003);
	CU_ASSERT_EQUAL(names_query(), KEEL_NEXT);
}

static void test_resource_is_busy(void)
{
	CU_ASSERT_EQUAL(restrict_to("ncpus", KEEL_SET), 0);
	keel_mock_raise(mock, KEEL_POINT_resource_delete,
			KEEL_EVENT(resource_delete, .id = "ncpus", .who = "root@svr"), &out);
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT);
	keel_mock_object(mock, "resource", "lic");
	CU_ASSERT_PTR_NOT_NULL(strstr(keel_mock_chain(mock, KEEL_POINT_resource_delete),
				      "release-restriction.on_resource_delete"));
}

static void test_record(void)
{
	struct keel_mock_outcome record;

	keel_mock_raise(mock, KEEL_POINT_acct_record,
			KEEL_EVENT(acct_record, .id = "1.svr", .job = job, .letter = "z"), &record);
	CU_ASSERT_STRING_EQUAL(record.text, "");
	released = "ncpus";
	keel_mock_raise(mock, KEEL_POINT_acct_record,
			KEEL_EVENT(acct_record, .id = "1.svr", .job = job, .letter = "E"), &record);
	CU_ASSERT_STRING_EQUAL(record.text, "");
	keel_mock_raise(mock, KEEL_POINT_acct_record,
			KEEL_EVENT(acct_record, .id = "1.svr", .job = job, .letter = "z"), &record);
	CU_ASSERT_STRING_EQUAL(record.text, "resources_released=(n1:ncpus=8)+(n2:ncpus=6)");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "resources_released", NULL), "(n1:ncpus=8)+(n2:ncpus=6)");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "resource_released_list", "ncpus"), "14");
	released = NULL;
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "resources_released", NULL));
}

/* The list stays set while the module is reloaded. */
static void test_reload(void)
{
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(restrict_to("ncpus", KEEL_SET), 0);
	CU_ASSERT_EQUAL(keel_mock_unload(module, &err), 0);
	CU_ASSERT_EQUAL(names_query(), KEEL_NEXT);
	module = keel_mock_load(mock, &keel_module, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	CU_ASSERT_EQUAL(names_query(), KEEL_DONE);
	CU_ASSERT_STRING_EQUAL(out.text, "ncpus");
}

TESTS_MAIN_BETWEEN("suspend", set_up, tear_down, TEST(test_unset), TEST(test_names), TEST(test_check),
		   TEST(test_resource_is_busy), TEST(test_record), TEST(test_reload))
