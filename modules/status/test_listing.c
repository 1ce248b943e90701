/* SPDX-License-Identifier: Apache-2.0
 *
 * test_listing.c - listings in the mock: what is requested and nothing else, also without memory, for a client that
 * reads slowly, and when the daemon ends meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "keel/text.h"
#include "module_memory.h"
#include "pbs_error.h"

static struct keel_module alone;
static struct keel_mod *module;
static struct keel_mock_reply reply;
static struct keel_err err;

static void set_up(void)
{
	static const char *const texts[] = { "job_state", "Job_Owner", "euser", "queue", "comment" };
	struct keel_obj *server;

	mock = keel_mock_new(KEEL_SERVER);
	for (size_t i = 0; i < KEEL_COUNT(texts); i++)
		keel_mock_attr(mock, "job", texts[i], "string");
	keel_mock_attr(mock, "server", "query_other_jobs", "bool");
	keel_mock_attr(mock, "server", "job_history_enable", "bool");
	server = keel_mock_object(mock, "server", "svr");
	keel_mock_set(server, "query_other_jobs", NULL, "True");
	for (int i = 1; i <= 3; i++) {
		char id[16];
		struct keel_obj *job;

		snprintf(id, sizeof(id), "%d.svr", i);
		job = keel_mock_object(mock, "job", id);
		keel_mock_set(job, "euser", NULL, i == 3 ? "bob" : "ann");
		keel_mock_set(job, "queue", NULL, "workq");
	}
	keel_mock_object(mock, "queue", "workq");
	alone = module_alone("status");
	module = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
}

/* A request of a plain user; returns how many of the three jobs the answer names. */
static int listed(const char *name, const char *body)
{
	int n = 0;

	reply = (struct keel_mock_reply){ 0 };
	keel_mock_request(mock, keel_mock_session(mock, "ann", KEEL_USER), name, body, &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT(reply.told);
	for (uint32_t i = 0; i < reply.parts; i++)
		for (const char *at = reply.part[i]; (at = strstr(at, ".svr\"")) != NULL; at++)
			n++;
	return n;
}

static void test_what_is_asked_for(void)
{
	CU_ASSERT_EQUAL(listed("status", "class = \"job\";"), 3);
	CU_ASSERT_EQUAL(listed("status", "class = \"job\"; id = \"2.svr\";"), 1);
	CU_ASSERT_EQUAL(listed("status", "class = \"job\"; id = \"2,1,9\";"), 2);
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_EQUAL(listed("status", "class = \"job\"; id = \"9.svr\";"), 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_UNKJOBID);
	CU_ASSERT_EQUAL(listed("status", "class = \"job\"; id = \"nosuch\";"), 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_UNKQUE);
	CU_ASSERT_EQUAL(listed("status", "class = \"job\"; select = ( (\"nosuch\", \"\", \"1\", 1) );"), 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_NOATTR);
	CU_ASSERT_EQUAL(listed("status", "class = \"nosuch\";"), 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_IVALREQ);
	CU_ASSERT_EQUAL(listed("status", "class = \"job\"; extend = \"x\";"), 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_JOBHISTNOTSET);
	CU_ASSERT_EQUAL(listed("select", ""), 3);
}

/* Whichever allocation or call fails: it is all of the answer, or an error. */
static void complete(const char *name, const char *body, int wanted)
{
	uint32_t calls, k = 0;
	long n = 0;
	int got;

	do {
		countdown = ++n;
		got = listed(name, body);
		CU_ASSERT_EQUAL(got, reply.code == 0 ? wanted : 0);
	} while (memory_failed());
	CU_ASSERT(n > 1 || !INJECTING);
	do {
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++k);
		got = listed(name, body);
		CU_ASSERT_EQUAL(got, reply.code == 0 ? wanted : 0);
		calls = keel_mock_calls(mock) - calls;
	} while (calls >= k);
	keel_mock_fail_call(mock, 0);
	CU_ASSERT(k > 1);
}

static void test_no_memory(void)
{
	complete("status", "class = \"job\";", 3);
	complete("status", "class = \"job\"; id = \"2.svr\";", 1);
	complete("status", "class = \"job\"; id = \"1,2\"; want = ( (\"queue\", \"\", \"\", 0) );", 2);
	complete("status", "class = \"job\"; id = \"workq\";", 3);
	complete("select", "select = ( (\"euser\", \"\", \"ann\", 1) );", 2);
}

/* More of them than are listed in a turn. */
static void many(void)
{
	char text[1001] = "";

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 10; i < 1500; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d.svr", i);
		keel_mock_set(keel_mock_object(mock, "job", id), "comment", NULL, text);
	}
}

static struct keel_req *ask_slowly(void)
{
	struct keel_req *client;

	reply = (struct keel_mock_reply){ 0 };
	client = keel_mock_request(mock, NULL, "status", "class = \"job\";", &reply);
	CU_ASSERT_PTR_NOT_NULL_FATAL(client);
	keel_mock_client_slow(client, true);
	keel_mock_advance(mock, 60000);
	CU_ASSERT(!reply.told);
	return client;
}

static void test_who_reads_slowly(void)
{
	struct keel_req *client;

	many();
	client = ask_slowly();
	keel_mock_destroy(keel_find(keel_mock_self(mock), "job", "1499.svr"));
	keel_mock_client_slow(client, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT(reply.told && reply.code == 0);
	CU_ASSERT(reply.parts > 1);
	keel_mock_client_gone(ask_slowly());
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(keel_mock_live(module), 0);
}

/* A filter of millions of bytes is not applied to hundreds of jobs in a turn. */
static void test_a_long_filter(void)
{
	enum { CONDITIONS = 3 << 10, LONG = 1 << 10 };
	struct keel_text body;

	keel_text_init(&body);
	for (int i = 0; i < CONDITIONS; i++)
		keel_text_printf(&body, "%s (\"euser\", \"\", \"%0*d\", 5)", i == 0 ? "select = (" : ",", LONG, 0);
	keel_text_printf(&body, " );");
	CU_ASSERT_FALSE_FATAL(body.failed);
	reply = (struct keel_mock_reply){ 0 };
	keel_mock_request(mock, keel_mock_session(mock, "ann", KEEL_USER), "select", body.data, &reply);
	CU_ASSERT(!reply.told);
	CU_ASSERT_EQUAL(listed("select", body.data), 3);
	keel_text_fini(&body);
}

/* Who reads on when the daemon ends. */
static void test_the_daemon_ends(void)
{
	many();
	ask_slowly();
	keel_mock_shutdown(mock);
}

TESTS_MAIN_BETWEEN("listing", set_up, tear_down, TEST(test_what_is_asked_for), TEST(test_no_memory),
		   TEST(test_who_reads_slowly), TEST(test_a_long_filter),
		   TEST(test_the_daemon_ends))
