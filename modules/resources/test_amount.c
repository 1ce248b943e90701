/* SPDX-License-Identifier: Apache-2.0
 *
 * test_amount.c - an accepted amount is parsed again from its text with the same value: else a restart would lose it.
 */
#include "resources.h"

#include <string.h>

#include "mocked.h"

extern const struct keel_module keel_module;

static struct keel_obj *queue;
static const struct keel_session *who;

static void set_up(void)
{
	static const char *const types[] = { "long", "float", "size", "boolean" };
	struct keel_err err = { 0 };

	mock = keel_mock_new(KEEL_SERVER);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, NULL, &err));
	keel_mock_attr(mock, "queue", "resources_max", "resource_list");
	queue = keel_mock_object(mock, "queue", "workq");
	who = keel_mock_session(mock, "root", KEEL_MANAGERS);
	for (size_t i = 0; i < KEEL_COUNT(types); i++)
		keel_mock_set(keel_mock_object(mock, "resource", types[i]), "type", NULL, types[i]);
}

static void accepted_comes_back(void)
{
	static const struct {
		const char *res, *first, *then;
		int32_t op, code;
	} tries[] = { /* past modules/resources/amount.c EXACT_MAX */
		{ "long", "9007199254740992", NULL, KEEL_SET, 0 },
		{ "long", "9007199254740993", NULL, KEEL_SET, PBSE_BADATVAL },
		{ "long", "-9007199254740993", NULL, KEEL_SET, PBSE_BADATVAL },
		{ "long", "9007199254740992", "2", KEEL_INCR, PBSE_BADATVAL },
		{ "long", "9007199254740991", "1", KEEL_INCR, 0 },
		{ "long", "-9007199254740992", "2", KEEL_DECR, PBSE_BADATVAL },
		{ "long", "1", "2", KEEL_DECR, 0 },
		{ "float", "1e300", NULL, KEEL_SET, PBSE_BADATVAL },
		{ "float", "9e15", "9e15", KEEL_INCR, PBSE_BADATVAL },
		{ "float", "-0.5", "0.25", KEEL_DECR, 0 },
		{ "size", "4gb", "10gb", KEEL_DECR, PBSE_BADATVAL },
		{ "size", "4gb", "4gb", KEEL_DECR, 0 },
		{ "size", "1024pb", "1b", KEEL_INCR, 0 }, /* lost in the rounding */
		{ "size", "1024pb", "1pb", KEEL_INCR, PBSE_BADATVAL },
		{ "walltime", "10", "20", KEEL_DECR, PBSE_BADATVAL },
		{ "walltime", "10", "20", KEEL_INCR, 0 },
		{ "boolean", "True", "True", KEEL_INCR, PBSE_BADATVAL },
		{ "boolean", "False", "True", KEEL_DECR, PBSE_BADATVAL },
	};
	struct keel_err err;

	for (size_t i = 0; i < KEEL_COUNT(tries); i++) {
		const char *res = tries[i].res, *text;
		char kept[256] = "";
		int32_t code = keel_mock_change(queue, who, "resources_max", res, tries[i].first, KEEL_SET, &err);

		if (tries[i].then) {
			CU_ASSERT_EQUAL(code, 0);
			code = keel_mock_change(queue, who, "resources_max", res, tries[i].then, tries[i].op, &err);
		}
		CU_ASSERT_EQUAL(code, tries[i].code);
		text = keel_mock_text(queue, "resources_max", res);
		snprintf(kept, sizeof(kept), "%s", text ? text : "");
		if (text)
			CU_ASSERT_EQUAL(keel_mock_set(queue, "resources_max", res, kept), 0);
		text = keel_mock_text(queue, "resources_max", res);
		CU_ASSERT_STRING_EQUAL(text ? text : "", kept);
	}
}

TESTS_MAIN_BETWEEN("amounts", set_up, tear_down, TEST(accepted_comes_back))
