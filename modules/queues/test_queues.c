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

TESTS_MAIN_BETWEEN("queues", set_up, tear_down, TEST(test_first_queue), TEST(test_no_memory_for_it),
		   TEST(test_incomplete), TEST(test_busy))
