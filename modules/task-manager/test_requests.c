/* SPDX-License-Identifier: Apache-2.0
 *
 * test_requests.c - a program of a job and what it gets: who is refused, where tasks go, events, processes from outside.
 */
#include "test_program.h"

/* ---- tests -------------------------------------------------------------------------------------------------------- */
static void test_who_is_refused(void)
{
	begin(true);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"8.svr\"; cookie = \"C00KIE\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIF\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask_as(&other, "tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "another user's job"));
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 153;"), TM_ENOTFOUND);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 0;"), TM_ENOTFOUND);
	part.cookie = "";
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"\"; task = 1;"), TM_ENOTCONNECTED);
	part.cookie = "C00KIE";
	part.state = KEEL_PART_BEGIN;
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;"), TM_ESYSTEM);
	part.state = KEEL_PART_READY;
	enter();
	CU_ASSERT_EQUAL(ask_as(&other, "tm_spawn", OWN "event = 1; node = 0; argv = [ \"p\" ];"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask("tm_spawn", "job = \"7.svr\"; client = 2; event = 1; node = 0; argv = [ \"p\" ];"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(asked.n, 0);
	end();
}

static void test_greeting(void)
{
	begin(true);
	enter();
	CU_ASSERT_PTR_NOT_NULL(strstr(stream.part[0], "\"client\": 1"));
	CU_ASSERT_PTR_NOT_NULL(strstr(stream.part[0], "\"nodes\": 4"));
	CU_ASSERT_PTR_NOT_NULL(strstr(stream.part[0], "\"node\": 0"));
	end();
}

static void test_life_of_a_task(void)
{
	begin(true);
	enter();
	CU_ASSERT_EQUAL(spawn(1), 2);
	CU_ASSERT_STRING_EQUAL(asked.argv0, "prog");
	CU_ASSERT_STRING_EQUAL(asked.env[0], "A=1");
	CU_ASSERT_STRING_EQUAL(asked.env[1], "KEELSON_TASK_PARENT=00000001");
	CU_ASSERT_EQUAL(stream.parts, 1);
	answered(0);
	got("\"task\": 2");
	CU_ASSERT_EQUAL(ask("tm_kill", OWN "event = 6; task = 2; node = 1; signal = 15;"), 0);
	CU_ASSERT_STRING_EQUAL(asked.signal, "15");
	answered(0);
	got("\"event\": 6");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 2; node = 1;"), 0);
	CU_ASSERT_EQUAL(stream.parts, 3);
	part_events->task_over(listener, &part, 2, 271);
	got("\"status\": 271");
	got("\"event\": 7");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 8; task = 2; node = 1;"), 0); /* it is over: at once */
	got("\"event\": 8");
	CU_ASSERT_EQUAL(ask("tm_kill", OWN "event = 9; task = 2; node = 1; signal = 15;"), 0);
	got("\"code\": 0");
	CU_ASSERT_EQUAL(asked.n, 2);
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 10; task = 99; node = 1;"), 0);
	got("\"code\": 17006");
	end();
}

static void test_elsewhere(void)
{
	begin(true);
	enter();
	spawn(2);
	CU_ASSERT_EQUAL(asked.host, 1);
	answered(0);
	spawn(3);
	CU_ASSERT_EQUAL(asked.host, 2);
	answered(TM_ESYSTEM);
	got("\"code\": 17000");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 2; node = 2;"), 0);
	CU_ASSERT_EQUAL(ask("tm_kill", OWN "event = 8; task = 2; node = 2; signal = 9;"), 0);
	CU_ASSERT_EQUAL(asked.host, 1);
	answered(0);
	sister_events->task_over(elsewhere, "7.svr", 2, 2, 0); /* of another run */
	sister_events->task_over(elsewhere, "7.svr", 1, 2, -1);
	got("\"event\": 7");
	got("\"code\": 17000");
	CU_ASSERT_EQUAL(ask("tm_spawn", OWN "event = 5; node = 4; argv = [ \"p\" ];"), 0);
	got("\"code\": 17006");
	part.n_hosts = 2; /* one was released: the program's numbers stay */
	spawn(3);
	got("\"code\": 17006");
	end();
}

/* Numbers of tasks are the run's: of other hosts before this one some were released. */
static void test_slots(void)
{
	begin(true);
	part.index = 1;
	part.slots = (const uint32_t[]){ 0, 2, 3 };
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 0x200005;"), TM_ENOTFOUND);
	enter();
	CU_ASSERT_EQUAL(spawn(0), 2 << NUMBER_BITS | 2);
	end();
}

static void test_without_sisters(void)
{
	begin(false);
	enter();
	spawn(0);
	answered(0);
	got("\"task\": 2");
	CU_ASSERT_EQUAL(ask("tm_spawn", OWN "event = 6; node = 2; argv = [ \"p\" ];"), 0);
	got("\"code\": 17000");
	end();
}

static void test_listings(void)
{
	begin(true);
	enter();
	spawn(0);
	answered(0);
	spawn(2);
	answered(0);
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 6; node = 1;"), 0);
	got("\"tasks\": [1, 2]");
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 6; node = 2;"), 0);
	got("\"tasks\": [3]");
	CU_ASSERT_EQUAL(ask("tm_rescinfo", OWN "event = 6; node = 0;"), 0);
	got(":ncpus=4,mem=15kb\"");
	CU_ASSERT_EQUAL(ask("tm_rescinfo", OWN "event = 6; node = 3;"), 0);
	got("Linux c:ncpus=4");
	CU_ASSERT_EQUAL(ask("tm_rescinfo", OWN "event = 6; node = 9;"), 0);
	got("\"code\": 17006");
	end();
}

/* What it waits for goes with it; what a service works on ends later. */
static void test_client_gone(void)
{
	struct job *j;

	begin(true);
	enter();
	spawn(0);
	answered(0);
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 2; node = 0;"), 0);
	spawn(0);
	j = job_find(mod->state, "7.svr", 1);
	CU_ASSERT_EQUAL(j->n_events, 2);
	keel_mock_client_gone(program);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(j->n_events, 1);
	CU_ASSERT_EQUAL(j->n_clients, 0);
	answered(0);
	CU_ASSERT_EQUAL(j->n_events, 0);
	part_events->task_over(listener, &part, 2, 0);
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 2; node = 0;"), TM_ENOTCONNECTED);
	end();
}

/* The job is over while a service works on an event. */
static void test_job_gone(void)
{
	begin(true);
	enter();
	spawn(0);
	part_events->gone(listener, "7.svr", 2, false); /* another run */
	keel_mock_advance(mock, 0);
	CU_ASSERT_FALSE(stream.told);
	part_events->gone(listener, "7.svr", 1, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(stream.told);
	CU_ASSERT_EQUAL(stream.code, TM_ENOTCONNECTED);
	answered(0);
	end();
}

/* Tasks of before the daemon's start are not known: their ends are waited for, or remembered, and numbers stay unique. */
static void test_found_at_start(void)
{
	struct job *j;

	begin(true);
	mod = keel_mock_restart(mod, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	j = job_find(mod->state, "7.svr", 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(j);
	part_events->task_over(listener, &part, 17, 3);
	enter();
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 6; task = 17; node = 0;"), 0);
	got("\"status\": 3");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 18; node = 0;"), 0);
	part_events->task_over(listener, &part, 18, 4);
	got("\"status\": 4");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 8; task = 19; node = 4;"), 0); /* its host has another number now */
	part_events->task_over(listener, &part, 19, 5);
	got("\"status\": 5");
	CU_ASSERT(spawn(0) >= 2);
	answered(0);
	end();
}

static void test_attach(void)
{
	char body[100];

	begin(true);
	snprintf(body, sizeof(body), "job = \"7.svr\"; pid = %d;", (int)getpid());
	CU_ASSERT_EQUAL(ask("tm_attach", body), TM_EOWNER); /* this process is not of the job's user */
	CU_ASSERT_EQUAL(ask_as(&other, "tm_attach", body), TM_EUSER);
	part.uid = user.uid = geteuid();
	CU_ASSERT_EQUAL(ask("tm_attach", "job = \"8.svr\"; pid = 77;"), TM_ENOTFOUND);
	CU_ASSERT_EQUAL(ask("tm_attach", "job = \"7.svr\"; pid = 1;"), TM_ENOPROC);
	CU_ASSERT_EQUAL(ask("tm_attach", "job = \"7.svr\"; pid = -4;"), TM_ENOPROC);
	CU_ASSERT_EQUAL(ask("tm_attach", "job = \"7.svr\"; cookie = \"no\"; pid = 77;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(asked.n, 0);
	CU_ASSERT_EQUAL(ask("tm_attach", body), -1);
	CU_ASSERT_EQUAL(asked.pid, getpid());
	answered(TM_ESESSION);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, TM_ESESSION);
	snprintf(body, sizeof(body), "pid = %d;", (int)getpid()); /* the user's only job */
	CU_ASSERT_EQUAL(ask("tm_attach", body), -1);
	answered(0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "\"task\""));
	CU_ASSERT_EQUAL(ask("tm_attach", body), -1);
	answered(PBSE_HOOK_REJECT);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, TM_EHOOK);
	CU_ASSERT_EQUAL(keel_mock_reconf(mod, "attach = false;", NULL), 0);
	CU_ASSERT_EQUAL(ask("tm_attach", body), TM_ENOTIMPLEMENTED);
	end();
}

TESTS_MAIN("task-manager", TEST(test_who_is_refused), TEST(test_greeting), TEST(test_life_of_a_task), TEST(test_elsewhere), TEST(test_slots),
	   TEST(test_without_sisters), TEST(test_listings), TEST(test_client_gone), TEST(test_job_gone), TEST(test_found_at_start),
	   TEST(test_attach))
