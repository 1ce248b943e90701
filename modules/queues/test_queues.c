/* SPDX-License-Identifier: Apache-2.0
 *
 * test_queues.c - queues in the mock: requests of managers that fail, and a first queue that cannot be created.
 */
#include "queues.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "pbs_error.h"

extern const struct keel_module keel_module;
enum { CREATE, DELETE, SET };

static struct keel_module alone; /* without the required module resources */
static struct keel_mock_outcome out;
static struct keel_err err;

static void set_up(void)
{
	alone = keel_module;
	alone.requires_modules = NULL;
	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_attr(mock, "queue", "state_count", "string");
}

static struct keel_obj *queue_find(const char *name)
{
	return keel_find(keel_mock_self(mock), "queue", name);
}

/* A manager's request with one change, or none (attr NULL). Returns 0 or the PBSE code it was refused with. */
static int32_t manage(int64_t cmd, struct keel_obj *queue, const char *attr, const char *text)
{
	const struct keel_session *root = keel_mock_session(mock, "root", KEEL_MANAGERS);
	struct keel_changes *set = keel_changes(keel_mock_self(mock));
	const struct keel_attrop op = { attr, NULL, text, KEEL_SET };
	int32_t code = attr != NULL ? keel_change(set, root, queue, &op, &err) : 0;

	if (code != 0) {
		keel_discard(set);
		return code;
	}
	return keel_mock_raise_for(mock, NULL, KEEL_POINT_management,
				   KEEL_EVENT(management, .klass = "queue", .obj = queue, .cmd = cmd), set,
				   &out) == KEEL_REJECT ? out.code : 0;
}

static void test_first_queue(void)
{
	CU_ASSERT_PTR_NOT_NULL(keel_mock_load(mock, &alone, "first_queue = \"batch\";", &err));
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue_find("batch"), "queue_type", NULL), "Execution");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue_find("batch"), "started", NULL), "True");
}

/* Whichever call fails: start() creates a complete first queue, or returns an error with its text. */
static void test_no_memory_for_it(void)
{
	uint32_t calls, n = 0;

	do {
		struct keel_mod *mod;

		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		mod = keel_mock_load(mock, &alone, NULL, &err);
		calls = keel_mock_calls(mock) - calls;
		if (mod == NULL) {
			CU_ASSERT_STRING_NOT_EQUAL(err.text, "");
			CU_ASSERT_PTR_NULL(strstr(err.text, "no reason"));
			CU_ASSERT_PTR_NULL(queue_find("workq"));
		} else {
			CU_ASSERT_STRING_EQUAL(keel_mock_text(queue_find("workq"), "queue_type", NULL), "Execution");
		}
		tear_down();
		set_up();
	} while (calls >= n);
	CU_ASSERT(n > 2);
}

static void test_incomplete(void)
{
	struct keel_obj *queue;

	keel_mock_load(mock, &alone, NULL, &err);
	queue = keel_mock_object(mock, "queue", "new");
	CU_ASSERT_EQUAL(manage(SET, queue, "enabled", "True"), PBSE_QUENOEN);
	CU_ASSERT_EQUAL(manage(SET, queue, "started", "True"), PBSE_NEEDQUET);
	CU_ASSERT_EQUAL(manage(SET, queue, "queue_type", "nonsense"), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(manage(SET, queue, "Priority", "4000"), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(manage(SET, queue, "kill_delay", "-5"), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(manage(SET, queue, "kill_delay", "2147483648"), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(manage(SET, queue, "kill_delay", "2147483647"), 0);
	CU_ASSERT_EQUAL(manage(SET, queue, "kill_delay", "0"), 0);
	CU_ASSERT_PTR_NULL(keel_mock_text(queue, "enabled", NULL));
	CU_ASSERT_EQUAL(manage(SET, queue, "queue_type", "e"), 0);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue, "queue_type", NULL), "Execution");
	CU_ASSERT_EQUAL(manage(SET, queue, "enabled", "True"), 0);
}

static void test_busy(void)
{
	keel_mock_load(mock, &alone, NULL, &err);
	keel_mock_set(queue_find("workq"), "state_count", NULL, "Queued:0 Running:2");
	CU_ASSERT_EQUAL(manage(DELETE, queue_find("workq"), NULL, NULL), PBSE_OBJBUSY);
	keel_mock_set(queue_find("workq"), "state_count", NULL, "Queued:0 Running:0");
	CU_ASSERT_EQUAL(manage(DELETE, queue_find("workq"), NULL, NULL), 0);
}

/* ---- queues of modules ------------------------------------------------------------------------------------------ */

static const struct keel_queue_set of_12[] = {
	{ "queue_type", NULL, "exec" },
	{ "enabled", NULL, "False" },
	{ "acl_users", NULL, "bob,pia" },
};

static const struct keel_queue_api *api(void)
{
	return keel_mock_group(mock, "queue");
}

static int32_t create(const char *name, const struct keel_queue_set *set, uint32_t n)
{
	err = (struct keel_err){ 0 };
	return api()->create(api()->self, name, set, n, "pbs_server@svr", &err);
}

static void check_logged(const char *line)
{
	const char *have = keel_mock_logged(mock, line);

	CU_ASSERT_PTR_NOT_NULL(have);
	CU_ASSERT_TRUE(have && strncmp(have, "Que;R12;", 8) == 0 && strcmp(have + 8, line) == 0);
}

/* The name is one too long: past modules/queues/make.c QUEUE_NAME_MAX. */
static void test_created(void)
{
	keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_EQUAL(create("R12", of_12, 3), 0);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue_find("R12"), "queue_type", NULL), "Execution");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue_find("R12"), "acl_users", NULL), "bob,pia");
	check_logged("created at request of pbs_server@svr");
	check_logged("attributes set: queue_type = exec");
	check_logged("attributes set: acl_users = bob,pia");
	CU_ASSERT_EQUAL(create("R12", of_12, 3), PBSE_QUEEXIST);
	CU_ASSERT_STRING_NOT_EQUAL(err.text, "");
	CU_ASSERT_EQUAL(create("R12345678901234", NULL, 0), 0);
	CU_ASSERT_EQUAL(create("R123456789012345", NULL, 0), PBSE_QUENBIG);
	CU_ASSERT_EQUAL(create("R\n1", NULL, 0), PBSE_IVAL_OBJ_NAME);
	CU_ASSERT_EQUAL(create("", NULL, 0), PBSE_IVAL_OBJ_NAME);
}

/* Values that fail leave nothing. */
static void test_not_created(void)
{
	static const struct keel_queue_set bad[][2] = {
		{ { "enabled", NULL, "True" }, { "queue_type", NULL, "nonsense" } },
		{ { "queue_type", NULL, "Execution" }, { "no_such", NULL, "1" } },
		{ { "queue_type", NULL, "Execution" }, { "Priority", NULL, "5000" } },
	};

	keel_mock_load(mock, &alone, NULL, &err);
	for (size_t i = 0; i < KEEL_COUNT(bad); i++) {
		CU_ASSERT_NOT_EQUAL(create("R12", bad[i], 2), 0);
		CU_ASSERT_STRING_NOT_EQUAL(err.text, "");
		CU_ASSERT_PTR_NULL(queue_find("R12"));
	}
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "created at request"));
}

static void test_changed(void)
{
	static const struct keel_queue_set on[] = { { "enabled", NULL, "True" }, { "acl_users", NULL, NULL } };
	static const struct keel_queue_set bad[] = { { "enabled", NULL, "False" }, { "enabled", NULL, "perhaps" } };

	keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_EQUAL(create("R12", of_12, 3), 0);
	CU_ASSERT_EQUAL(api()->change(api()->self, queue_find("R12"), on, 2, "pbs_server@svr", &err), 0);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue_find("R12"), "enabled", NULL), "True");
	CU_ASSERT_PTR_NULL(keel_mock_text(queue_find("R12"), "acl_users", NULL));
	check_logged("attributes set:  at request of pbs_server@svr");
	check_logged("attributes set: enabled = True");
	check_logged("attributes unset: acl_users");
	CU_ASSERT_NOT_EQUAL(api()->change(api()->self, queue_find("R12"), bad, 2, "pbs_server@svr", &err), 0);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue_find("R12"), "enabled", NULL), "True");
}

static void test_removed(void)
{
	keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_EQUAL(create("R12", of_12, 3), 0);
	keel_mock_set(queue_find("R12"), "state_count", NULL, "Queued:1");
	CU_ASSERT_EQUAL(api()->remove(api()->self, queue_find("R12"), "pbs_server@svr"), PBSE_OBJBUSY);
	keel_mock_set(queue_find("R12"), "state_count", NULL, "Queued:0");
	CU_ASSERT_EQUAL(api()->remove(api()->self, queue_find("R12"), "pbs_server@svr"), 0);
	check_logged("deleted at request of pbs_server@svr");
	CU_ASSERT_PTR_NULL(queue_find("R12"));
}

/* Whichever call fails: there is a complete queue, or none and an error with its text. */
static void test_no_memory_for_one(void)
{
	uint32_t calls, n = 0;

	do {
		int32_t code;

		keel_mock_load(mock, &alone, NULL, &err);
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		code = create("R12", of_12, 3);
		calls = keel_mock_calls(mock) - calls;
		keel_mock_fail_call(mock, 0);
		CU_ASSERT_EQUAL(code == 0, queue_find("R12") != NULL);
		CU_ASSERT_TRUE(code == 0 || err.text[0]);
		tear_down();
		set_up();
	} while (calls >= n);
	CU_ASSERT(n > 2);
}

TESTS_MAIN_BETWEEN("queues", set_up, tear_down, TEST(test_first_queue), TEST(test_no_memory_for_it),
		   TEST(test_incomplete), TEST(test_busy), TEST(test_created), TEST(test_not_created), TEST(test_changed),
		   TEST(test_removed), TEST(test_no_memory_for_one))
