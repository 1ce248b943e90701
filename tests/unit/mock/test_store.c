/* SPDX-License-Identifier: Apache-2.0
 *
 * test_store.c - a store that cannot write: who waits for what is durable goes on waiting.
 */
#include "harness.h"
#include "keel/mock.h"

static char told[8];
static unsigned n_told;

static void tell(struct keel_mod *m, void *arg)
{
	(void)m;
	told[n_told++] = *(const char *)arg;
}

static void ask(struct keel_mock *mock, const char *letter)
{
	const struct keel_core_api *core = keel_mock_group(mock, "core");

	CU_ASSERT_EQUAL(core->when_durable(keel_mock_self(mock), tell, (void *)(uintptr_t)letter), 0);
}

static void test_waits(void)
{
	struct keel_mock *mock = keel_mock_new(KEEL_SERVER);

	n_told = 0;
	ask(mock, "a");
	keel_mock_store(mock, false);
	ask(mock, "b");
	ask(mock, "c");
	keel_mock_advance(mock, 1000000);
	CU_ASSERT_NSTRING_EQUAL(told, "a", n_told);
	CU_ASSERT_EQUAL(n_told, 1);
	CU_ASSERT_FALSE(keel_mock_next(mock));
	CU_ASSERT_EQUAL(keel_mock_live(keel_mock_self(mock)), 2);
	keel_mock_store(mock, true);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(n_told, 3);
	CU_ASSERT_NSTRING_EQUAL(told, "abc", 3);
	keel_mock_free(mock);
}

/* The host goes, and it never could write. */
static void test_never(void)
{
	struct keel_mock *mock = keel_mock_new(KEEL_SERVER);

	n_told = 0;
	keel_mock_store(mock, false);
	ask(mock, "a");
	keel_mock_free(mock);
	CU_ASSERT_EQUAL(n_told, 0);
}

TESTS_MAIN("mock: store", TEST(test_waits), TEST(test_never))
