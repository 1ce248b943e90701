/* SPDX-License-Identifier: Apache-2.0
 *
 * test_awaited.c - who taps a point by its name waits for it.
 */
#include "harness.h"
#include "keel/mock.h"
#include "mock/host.h"

static void test_awaited(void)
{
	struct keel_mock *mock = keel_mock_new(KEEL_SERVER);
	struct keel_mod *publish;

	CU_ASSERT_PTR_NULL(keel_mock_awaited(mock, 0));
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load_file(mock, probe_path("listen"), NULL, NULL));
	CU_ASSERT_STRING_EQUAL(keel_mock_awaited(mock, 0), "ticket_used");
	CU_ASSERT_STRING_EQUAL(keel_mock_awaited(mock, 1), "ticket_wanted");
	CU_ASSERT_PTR_NULL(keel_mock_awaited(mock, 2));
	publish = keel_mock_load_file(mock, probe_path("publish"), NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(publish);
	CU_ASSERT_PTR_NULL(keel_mock_awaited(mock, 0));
	CU_ASSERT_EQUAL(keel_mock_unload(publish, NULL), 0);
	CU_ASSERT_STRING_EQUAL(keel_mock_awaited(mock, 0), "ticket_used");
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

TESTS_MAIN("mock: awaited points", TEST(test_awaited))
