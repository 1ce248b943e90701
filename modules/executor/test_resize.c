/* SPDX-License-Identifier: Apache-2.0
 *
 * test_resize.c - a job that runs has fewer hosts: who is sent what, and who has left.
 */
#include "test_hosts.h"

/* The job as it is after a release: what went, and what is not free yet. */
static void shrink(struct keel_obj *job, const char *vnodes, const char *hosts, const char *select, const char *given_up)
{
	set(job, "exec_vnode", vnodes);
	set(job, "exec_host", hosts);
	set(job, "schedselect", select);
	set(job, "exec_vnode_deallocated", given_up);
	set(job, "exec_vnode_orig", "(A1:ncpus=1)");
	task_api.resize(mod, job);
	keel_mock_advance(mock, 0);
}

/* A host that is out gets its order until it says that it has left; others get to know who is left. */
static void test_resize(void)
{
	struct keel_obj *job;

	load("", true);
	job = started("1.s");
	/* one vnode of B: it has another */
	set(job, "exec_vnode", "(A1:ncpus=1)+(B1:ncpus=1+B2:ncpus=1)+(C1:ncpus=1)");
	shrink(job, "(A1:ncpus=1)+(B2:ncpus=1)+(C1:ncpus=1)", "A/0+B/0+C/0", "1:ncpus=1+1:ncpus=1+1:ncpus=1", "(B1:ncpus=1)");
	has(sent("B task.resize"), "\"index\": 1,");
	has(sent("B task.resize"), "KEY 1 (B2:ncpus=1)\"");
	was_sent("task.resize", "task.resize", "task.resize");
	CU_ASSERT_STRING_EQUAL(heard.released, "");
	shrink(job, "(A1:ncpus=1)+(C1:ncpus=1)", "A/0+C/0", "1:ncpus=1+1:ncpus=1", "(B1:ncpus=1)+(B2:ncpus=1)");
	has(sent("B task.release"), "\"run\": 7");
	has(sent("C task.resize"), "\"nodes\": \"A\\u000aC\\u000a\"");
	was_sent("task.resize", "task.release", "task.resize");
	/* those that stay may have been away: behind each hello they get to know it again, alone */
	hello("A", "\"1.s 7 R 5\"", true, 0);
	has(sent("A task.resize"), "\"nodes\": \"A\\u000aC\\u000a\"");
	keel_mock_sent_clear(mock);
	hello("C", "\"1.s 7 R 0\"", true, 0);
	was_sent(NULL, NULL, "task.resize");
	/* its link broke: it comes back with the run, then without */
	keel_mock_peer(mock, "B", KEEL_MOM, true);
	hello("B", "\"1.s 7 R 0\"", true, 0);
	was_sent(NULL, "task.release", NULL);
	keel_mock_deliver(mock, "C", "task.released", "id = \"1.s\"; run = 7;");
	keel_mock_deliver(mock, "B", "task.released", "id = \"1.s\"; run = 6;");
	CU_ASSERT_STRING_EQUAL(heard.released, "");
	keel_mock_deliver(mock, "B", "task.released", "id = \"1.s\"; run = 7; items = [\"cput=00:00:01\"];");
	CU_ASSERT_STRING_EQUAL(heard.released, "B");
	has(sent("A task.left"), "\"host\": \"B\"");
	was_sent("task.left", NULL, NULL);
	keel_mock_deliver(mock, "A", "task.ended", "id = \"1.s\"; run = 7; status = 0;");
	was_sent("task.forget", "task.forget", "task.discard");
	end();
}

/* Hosts that a server that was restarted finds in what is not free yet, and that never had a part. */
static void test_leaving_hosts_known(void)
{
	struct keel_obj *job;

	load("first_host_only = true", true);
	job = started("1.s");
	shrink(job, "(A1:ncpus=1)", "A/0", "1:ncpus=1", "(B1:ncpus=2)+(C1:ncpus=1)");
	CU_ASSERT_STRING_EQUAL(heard.released, "BC");
	was_sent("task.resize", NULL, NULL);
	end();
	load("", true);
	job = job_make("1.s", true);
	set(job, "exec_vnode", "(A1:ncpus=1)");
	set(job, "exec_host", "A/0");
	set(job, "exec_vnode_deallocated", "(B1:ncpus=2)+(C1:ncpus=1)");
	set(job, "job_state", "R");
	keel_mock_raise(mock, KEEL_POINT_job_known, KEEL_EVENT(job_known, .id = "1.s", .job = job), NULL);
	hello("B", "\"1.s 7 R 0\"", true, 0);
	hello("C", "", true, 0);
	has(sent("B task.release"), "\"id\": \"1.s\"");
	was_sent(NULL, "task.release", NULL);
	CU_ASSERT_STRING_EQUAL(heard.released, "C");
	end();
}

/* The primary goes on without a host: the listener gets to know it, the primary that it did. */
static void test_pruned(void)
{
	load("", true);
	started("1.s");
	keel_mock_deliver(mock, "B", "task.pruned", "id = \"1.s\"; run = 7; vnodes = \"(B1:ncpus=2)\"; select = \"1:ncpus=2\";");
	keel_mock_deliver(mock, "A", "task.pruned", "id = \"1.s\"; run = 6; vnodes = \"(A1:ncpus=1)\"; select = \"1:ncpus=1\";");
	CU_ASSERT_STRING_EQUAL(heard.pruned, "");
	keel_mock_deliver(mock, "A", "task.pruned", "id = \"1.s\"; run = 7; vnodes = \"(A1:ncpus=1)\"; select = \"1:ncpus=1\";");
	CU_ASSERT_STRING_EQUAL(heard.pruned, "(A1:ncpus=1) 1:ncpus=1");
	was_sent("task.prune_done", NULL, NULL);
	end();
}

TESTS_MAIN("resize", TEST(test_resize), TEST(test_leaving_hosts_known), TEST(test_pruned))
