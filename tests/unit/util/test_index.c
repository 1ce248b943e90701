/* SPDX-License-Identifier: Apache-2.0
 *
 * test_index.c - thousands of names in and out, in an order that makes holes.
 */
#include "object/fixture.h"
#include "util/index.h"

#define N 20000

struct entry {
	struct index_key key;
	char text[16];
};

static void all_there_and_all_gone(void)
{
	struct entry *e = calloc(N, sizeof(*e));
	struct index x = { 0 };
	int wrong = 0;

	for (int i = 0; i < N; i++) {
		snprintf(e[i].text, sizeof(e[i].text), "%d.svr", i);
		index_key_init(&e[i].key, e[i].text, strlen(e[i].text));
		wrong += index_add(&x, &e[i].key) != 0;
	}
	CU_ASSERT_EQUAL(x.n, N);
	CU_ASSERT_EQUAL(index_add(&x, &e[7].key), -EEXIST);
	for (int i = 0; i < N; i += 3)
		index_remove(&x, &e[i].key);
	for (int i = 0; i < N; i++) {
		struct index_key *found = index_find(&x, e[i].text, strlen(e[i].text));

		wrong += found != (i % 3 ? &e[i].key : NULL);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	index_remove(&x, &e[0].key); /* twice is harmless */
	for (int i = 0; i < N; i++)
		if (i % 3)
			index_remove(&x, &e[i].key);
	CU_ASSERT_EQUAL(x.n, 0);
	CU_ASSERT_PTR_NULL(index_find(&x, "1.svr", 5));
	index_fini(&x);
	free(e);
}

static void empty(void)
{
	struct index x = { 0 };

	CU_ASSERT_PTR_NULL(index_find(&x, "a", 1));
	index_fini(&x);
}

TESTS_MAIN("index", TEST(all_there_and_all_gone), TEST(empty))
