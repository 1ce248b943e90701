/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pool.c - pieces by number: zeroed, stable, given back one by one or all at once.
 */
#include "object/pool.h"

#include "object/fixture.h"

static void pieces(void)
{
	struct pool p;
	char *one, *far;

	pool_init(&p, 24);
	one = pool_take(&p, 0);
	far = pool_take(&p, 5000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(one);
	CU_ASSERT_PTR_NOT_NULL_FATAL(far);
	memset(one, 'x', 24);
	CU_ASSERT_EQUAL(far[23], 0);
	CU_ASSERT_PTR_EQUAL(pool_at(&p, 0), one);
	CU_ASSERT_PTR_EQUAL(pool_at(&p, 5000), far);
	pool_give(&p, 0);
	one = pool_take(&p, 0);
	CU_ASSERT_EQUAL(one[0], 0);
	pool_fini(&p);
}

/* As many as a chunk has, and one more; of small ones and of large. */
static void full(void)
{
	static const uint32_t sizes[] = { 1, 16, 200, 5000 };

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct pool p;

		pool_init(&p, sizes[s]);
		for (uint32_t i = 0; i < 1025; i++)
			*(unsigned char *)pool_take(&p, i) = (unsigned char)i;
		for (uint32_t i = 0; i < 1025; i += 2)
			pool_give(&p, i);
		for (uint32_t i = 1; i < 1025; i += 2)
			CU_ASSERT_EQUAL(*(unsigned char *)pool_at(&p, i), (unsigned char)i);
		pool_fini(&p);
	}
}

TESTS_MAIN("pool", TEST(pieces), TEST(full))
