/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bounds.c - programs of a job that want more than they may have, and those that read slowly, or never.
 */
#include "test_program.h"

/* Who is no user of a job writes no megabytes into the log. */
static void test_long_id(void)
{
	char *body = calloc(1, 1 << 20), id[NAME_LENGTH_MAX + 2];

	memset(id, 'i', sizeof(id));
	id[NAME_LENGTH_MAX + 1] = '\0';
	begin(true);
	snprintf(body, 1 << 20, "job = \"%s\"; cookie = \"C00KIE\"; task = 1;", id);
	CU_ASSERT_EQUAL(ask_as(&other, "tm_init", body), TM_ENOTCONNECTED);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "no such job here"));
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "iiii"));
	end();
	free(body);
}

static void publish(const char *name, size_t len)
{
	char *body = malloc(len + 600);
	size_t at = (size_t)sprintf(body, OWN "event = 6; name = \"%s\"; value = \"", name);

	memset(body + at, 'x', len);
	strcpy(body + at + len, "\";");
	CU_ASSERT_EQUAL(ask("tm_publish", body), 0);
	free(body);
}

/* past modules/task-manager/task-manager.h PUBLISHED_MAX, past modules/task-manager/task-manager.h NAME_LENGTH_MAX */
static void test_values(void)
{
	char name[NAME_LENGTH_MAX + 2];

	begin(true);
	enter();
	publish("data", 5);
	got("\"code\": 0");
	CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 1; name = \"data\";"), 0);
	got("\"value\"");
	CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 1; name = \"none\";"), 0);
	got("\"code\": 17006");
	CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 2; name = \"data\";"), 0);
	got("\"code\": 17006");
	memset(name, 'n', sizeof(name));
	name[NAME_LENGTH_MAX + 1] = '\0';
	publish(name, 5);
	got("\"code\": 17000");
	name[NAME_LENGTH_MAX] = '\0';
	publish(name, 5);
	got("\"code\": 0");
	for (int i = 0; i < 4; i++) {
		name[0] = (char)('a' + i);
		publish(name, PUBLISHED_MAX / 4 - 1000);
		got("\"code\": 0");
	}
	publish("more", 4000);
	got("\"code\": 17000");
	publish("data", 3);
	got("\"code\": 0");
	for (int i = 0; i < 100; i++) { /* what is kept beside the bytes counts */
		snprintf(name, sizeof(name), "small %d", i);
		publish(name, 0);
	}
	got("\"code\": 17000");
	end();
}

/* past modules/task-manager/task-manager.h EVENTS_MAX */
static void test_too_many_events(void)
{
	char body[100];

	begin(true);
	enter();
	spawn(0);
	answered(0);
	for (int i = 0; i < EVENTS_MAX; i++) {
		snprintf(body, sizeof(body), OWN "event = %d; task = 2; node = 0;", i + 10);
		CU_ASSERT_EQUAL_FATAL(ask("tm_obit", body), 0);
	}
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 9; task = 2; node = 0;"), TM_ESYSTEM);
	part_events->task_over(listener, &part, 2, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(stream.parts, EVENTS_MAX + 2);
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 9; task = 2; node = 0;"), 0);
	end();
}

/* past modules/task-manager/task-manager.h CLIENTS_MAX */
static void test_too_many_clients(void)
{
	static struct keel_mock_reply streams[CLIENTS_MAX];

	begin(true);
	for (int i = 0; i < CLIENTS_MAX; i++)
		keel_mock_request(mock, &user, "tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;", &streams[i]);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;"), TM_ESYSTEM);
	part_events->gone(listener, "7.svr", 1, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(streams[0].told);
	CU_ASSERT_EQUAL(streams[0].code, TM_ENOTCONNECTED);
	enter();
	end();
}

/* past modules/task-manager/task-manager.h TASKS_MAX */
static void test_too_many_tasks(void)
{
	struct job *j;

	begin(true);
	enter();
	j = job_find(mod->state, "7.svr", 1);
	for (uint32_t i = 0; i < TASKS_MAX; i++)
		CU_ASSERT_PTR_NOT_NULL_FATAL(task_add(j, i + 100, "a"));
	spawn(0);
	got("\"code\": 17000");
	part_events->task_over(listener, &part, 100, 0);
	spawn(0);
	answered(0);
	got("\"task\": ");
	CU_ASSERT_EQUAL(HASH_COUNT(j->tasks), TASKS_MAX);
	end();
}

/* A client that reads too slowly gets its events later. */
static void test_slow_client(void)
{
	uint32_t n;

	begin(true);
	enter();
	keel_mock_client_slow(program, true);
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 6; node = 0;"), 0); /* taken all the same */
	n = stream.parts;
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 7; node = 0;"), 0);
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 8; node = 0;"), 0);
	CU_ASSERT_EQUAL(stream.parts, n);
	keel_mock_client_slow(program, false);
	keel_mock_advance(mock, 1);
	got("\"event\": 8");
	end();
}

/* past modules/task-manager/task-manager.h UNREAD_MAX */
static void test_client_that_never_reads(void)
{
	const struct job *j;

	begin(true);
	enter();
	publish("data", PUBLISHED_MAX / 4 * 3);
	j = job_find(mod->state, "7.svr", 1);
	keel_mock_client_slow(program, true);
	for (int i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 1; name = \"data\";"), 0);
	CU_ASSERT(j->n_unread > UNREAD_MAX / 2);
	CU_ASSERT(j->n_unread < UNREAD_MAX + 20 * 100); /* errors are short */
	CU_ASSERT_EQUAL(j->n_events, 19); /* the first was taken */
	keel_mock_client_slow(program, false);
	keel_mock_advance(mock, 1);
	got("\"code\": 17000");
	CU_ASSERT_EQUAL(j->n_unread, 0);
	CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 1; name = \"data\";"), 0);
	got("\"code\": 0");
	end();
}

TESTS_MAIN("task-manager/bounds", TEST(test_long_id), TEST(test_values), TEST(test_too_many_events), TEST(test_too_many_clients),
	   TEST(test_too_many_tasks), TEST(test_slow_client), TEST(test_client_that_never_reads))
