/* SPDX-License-Identifier: Apache-2.0
 *
 * test_clock-drift.c - what the server makes of hosts' times.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "keel/keel.h"
#include "keel/mock.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_obj *node;
static int64_t number;

static void begin(void)
{
	struct keel_err err = { 0 };

	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_attr(mock, "node", "comment", "string");
	node = keel_mock_object(mock, "node", "n1");
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, "", &err));
	number = 0;
	keel_mock_peer(mock, "n1", KEEL_MOM, true);
	keel_mock_advance(mock, 1000);
}

static void answer(int64_t off, int64_t after_ms)
{
	char text[128];

	keel_mock_advance(mock, after_ms);
	snprintf(text, sizeof(text), "number = %lldL; time = %lldL;", (long long)++number,
		 (long long)(keel_time(keel_mock_self(mock)) + off));
	keel_mock_deliver(mock, "n1", "clock.is", text);
	keel_mock_advance(mock, 60000 - after_ms);
}

static const char *comment(void)
{
	const char *text = keel_mock_text(node, "comment", NULL);

	return text ? text : "";
}

static void test_off_and_right_again(void)
{
	begin();
	answer(5, 0);
	CU_ASSERT_STRING_EQUAL(comment(), "");
	answer(60, 100);
	CU_ASSERT_STRING_EQUAL(comment(), "the clock of this host is 60 s ahead of the server's: set it, and run a time service (NTP) on both");
	answer(61, 0); /* as it was said */
	CU_ASSERT_PTR_NOT_NULL(strstr(comment(), " 60 s ahead"));
	answer(-3600, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(comment(), " 3600 s behind"));
	answer(5, 0); /* neither */
	CU_ASSERT_PTR_NOT_NULL(strstr(comment(), " 3600 s behind"));
	answer(0, 0);
	CU_ASSERT_STRING_EQUAL(comment(), "");
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static void test_slow_answers_say_nothing(void)
{
	begin();
	answer(60, 1001);
	CU_ASSERT_STRING_EQUAL(comment(), "");
	keel_mock_deliver(mock, "n1", "clock.is", "number = 77; time = 5;"); /* not asked */
	answer(-1000000000000000, 0);
	answer(INT64_C(1) << 60, 0);
	CU_ASSERT_STRING_EQUAL(comment(), "");
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static void test_a_comment_of_others_stays(void)
{
	begin();
	keel_mock_set(node, "comment", NULL, "ask Ann");
	answer(60, 0);
	CU_ASSERT_STRING_EQUAL(comment(), "ask Ann");
	answer(0, 0);
	CU_ASSERT_STRING_EQUAL(comment(), "ask Ann");
	answer(60, 0);
	keel_mock_set(node, "comment", NULL, NULL); /* once there is room it is said */
	answer(60, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(comment(), " 60 s ahead"));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

TESTS_MAIN("clock-drift", TEST(test_off_and_right_again), TEST(test_slow_answers_say_nothing), TEST(test_a_comment_of_others_stays))
