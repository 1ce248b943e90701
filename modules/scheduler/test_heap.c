/* SPDX-License-Identifier: Apache-2.0
 *
 * test_heap.c - the order of what comes out, with removals in the middle.
 */
#include "heap.h"

#include <stdint.h>
#include <stdlib.h>

#include "harness.h"

struct item {
	struct heap_node node;
	uint32_t key;
};

static bool before(const struct heap_node *a, const struct heap_node *b)
{
	return ((const struct item *)(const void *)a)->key <
	       ((const struct item *)(const void *)b)->key;
}

#define N 2000
static struct item items[N];
static uint32_t seed = 7;

static void test_order(void)
{
	struct heap h = { NULL, before };
	struct item *i;
	uint32_t k, last = 0, left = 0, out = 0;

	CU_ASSERT_PTR_NULL(heap_pop(&h));
	for (k = 0; k < N; k++) {
		items[k].key = pick(&seed, 500);
		heap_push(&h, &items[k].node);
	}
	for (k = 0; k < N; k++) {
		if (pick(&seed, 3) == 0)
			heap_remove(&h, &items[k].node);
		heap_remove(&h, &items[k].node); /* twice does nothing, once does */
		if (pick(&seed, 2) == 0) {
			heap_push(&h, &items[k].node);
			left++;
		}
	}
	while ((i = (struct item *)(void *)heap_pop(&h))) {
		CU_ASSERT_TRUE(i->key >= last);
		CU_ASSERT_FALSE(i->node.in);
		last = i->key;
		out++;
	}
	CU_ASSERT_EQUAL(out, left);
}

static void test_first_come(void)
{
	struct heap h = { NULL, before };
	uint32_t k;

	for (k = 0; k < N; k++) {
		items[k].key = k;
		heap_push(&h, &items[k].node);
	}
	for (k = 0; k < N; k++)
		CU_ASSERT_EQUAL(((struct item *)(void *)heap_pop(&h))->key, k);
}

TESTS_MAIN("heap", TEST(test_order), TEST(test_first_come))
