/* SPDX-License-Identifier: Apache-2.0
 *
 * test_request.c - how many jobs one request may name: past modules/preemption/request.c IDS_MAX.
 */
#include "preemption.h"

#include <string.h>

#include "harness.h"
#include "keel/mock.h"
#include "keel/text.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static struct keel_mock_reply reply;

static char letter_of(struct keel_mod *m, const char *operand)
{
	(void)m, (void)operand;
	return '\0';
}

static struct keel_mock *begin(void)
{
	static const char *const texts[] = { "queue", "resources_used", "stime", "Checkpoint", "euser", "egroup", "project",
					     "Account_Name", "exec_vnode", "schedselect" };
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .letter = letter_of };
	static const struct keel_sched_api scheduler = { .size = sizeof(scheduler) };
	static const struct keel_node_api nodes = { .size = sizeof(nodes) };
	struct keel_mock *mock = mock_with_resources();
	struct keel_module alone = keel_module;
	struct keel_err err = { 0 };

	keel_mock_service(mock, "job", &jobs);
	keel_mock_service(mock, "sched", &scheduler);
	keel_mock_service(mock, "node", &nodes);
	for (size_t i = 0; i < KEEL_COUNT(texts); i++)
		keel_mock_attr(mock, "job", texts[i], "string");
	keel_mock_attr(mock, "job", "Resource_List", "resource_list");
	keel_mock_attr(mock, "queue", "Priority", "long");
	keel_mock_attr(mock, "queue", "kill_delay", "long");
	keel_mock_attr(mock, "queue", "resources_default", "resource_list");
	keel_mock_attr(mock, "server", "resources_default", "resource_list");
	keel_mock_attr(mock, "sched", "scheduling", "bool");
	keel_mock_object(mock, "sched", "default");
	alone.requires_modules = NULL;
	keel_mock_load(mock, &alone, "scheduler_users = [ \"maui\" ];", &err);
	CU_ASSERT_STRING_EQUAL_FATAL(err.text, "");
	return mock;
}

static void test_most(void)
{
	struct keel_mock *mock = begin();
	struct keel_text body;

	keel_text_init(&body);
	keel_text_str(&body, "ids = [\"1.svr\"");
	for (int i = 1; i < 100000; i++)
		keel_text_printf(&body, ",\"%d.svr\"", i + 1);
	for (int more = 0; more <= 1; more++) {
		keel_text_str(&body, more ? ",\"9.svr\"];" : "];");
		reply = (struct keel_mock_reply){ 0 };
		keel_mock_request(mock, keel_mock_session(mock, "maui", KEEL_USER), "preempt_jobs", body.data, &reply);
		keel_mock_advance(mock, 0);
		CU_ASSERT_EQUAL(reply.code, more ? PBSE_INTERNAL : 0);
		CU_ASSERT_EQUAL(reply.json && strstr(reply.json, "\"100000.svr\""), !more);
		body.len -= more ? 0 : 2;
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.text, "at most 100000 jobs give way by one request"));
	keel_text_fini(&body);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

TESTS_MAIN("request", TEST(test_most))
