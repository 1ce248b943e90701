/* SPDX-License-Identifier: Apache-2.0
 *
 * test_template.c - the module in a host in memory (keel/mock.h): no daemon, and a clock of our own.
 */
#include <CUnit/Basic.h>
#include <stdio.h>

#include "keel/mock.h"
#include "pbs_error.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mod *module;
static struct keel_obj *job;
static struct keel_mock_outcome out;

/* Each test begins with a host that has loaded the module, and a job that is about to be submitted. */
static void set_up(void)
{
	struct keel_err err = { 0 };

	mock = keel_mock_new(KEEL_SERVER);
	module = keel_mock_load(mock, &keel_module, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	job = keel_mock_draft(mock, "job", "1.svr");
}

/* What a module must not do is counted, and written to stderr. */
static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static keel_verdict submit(struct keel_req *client, const char *id)
{
	keel_mock_set(job, "template_id", NULL, id);
	return keel_mock_raise_for(mock, client, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "1.svr", .job = job),
				   NULL, &out);
}

static void test_looks(void)
{
	CU_ASSERT_EQUAL(submit(NULL, NULL), KEEL_NEXT);
	CU_ASSERT_EQUAL(submit(NULL, "ABC-12"), KEEL_NEXT);
	CU_ASSERT_EQUAL(submit(NULL, "nonsense"), KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, PBSE_BADATVAL);
	CU_ASSERT_STRING_EQUAL(out.text, "template_id: expected KEY-NUMBER, got 'nonsense'");
}

/* Programs play tickets: one that the build needs, and one that does not exist. */
static void test_looked_up(void)
{
	CU_ASSERT_EQUAL(keel_mock_reconf(module, "tickets = \"/usr/bin\";", NULL), 0);
	CU_ASSERT_EQUAL(submit(NULL, "no-such-ticket"), KEEL_WAIT);
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 1);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(out.text, "template_id: there is no such ticket");
	CU_ASSERT_EQUAL(submit(NULL, "pkg-config"), KEEL_WAIT);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(out.verdict, KEEL_NEXT);
}

static void test_cancelled(void)
{
	struct keel_req *client = keel_mock_client(mock, NULL);

	CU_ASSERT_EQUAL(keel_mock_reconf(module, "tickets = \"/usr/bin\";", NULL), 0);
	CU_ASSERT_EQUAL(submit(client, "pkg-config"), KEEL_WAIT);
	keel_mock_client_gone(client);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(out.verdict, KEEL_FAIL);
	CU_ASSERT_EQUAL(keel_mock_live(module), 0); /* no worker is left */
}

static void test_no_hold(void)
{
	CU_ASSERT_EQUAL(keel_mock_reconf(module, "tickets = \"/usr/bin\";", NULL), 0);
	keel_mock_fail_call(mock, 1);
	CU_ASSERT_EQUAL(submit(NULL, "pkg-config"), KEEL_REJECT); /* a GATE is closed by a tap that fails */
}

int main(void)
{
	CU_pSuite s;
	unsigned failed;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	s = CU_add_suite_with_setup_and_teardown("template", NULL, NULL, set_up, tear_down);
	CU_add_test(s, "what a ticket looks like", test_looks);
	CU_add_test(s, "a ticket is looked up", test_looked_up);
	CU_add_test(s, "a requester that goes away takes the question along", test_cancelled);
	CU_add_test(s, "a hold that is refused", test_no_hold);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failed = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failed != 0;
}
