/* SPDX-License-Identifier: Apache-2.0
 *
 * test_place.c - what `-l nodes=` means in terms of select; what cannot be read is refused, not guessed.
 */
#include "resources.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static void test_nodes(void)
{
	static const struct {
		const char *nodes, *select; /* NULL: refused */
	} tries[] = {
		{ "2", "2:ncpus=1" },
		{ "2:ppn=3", "2:ncpus=3:mpiprocs=3" },
		{ "2:ppn=3:ncpus=4:fast", "2:ncpus=4:mpiprocs=3:fast=True" },
		{ "n1+2:ppn=1", "1:ncpus=1:host=n1+2:ncpus=1:mpiprocs=1" },
		{ "2:ppn=abc", NULL },
		{ "2:ppn=2x", NULL },
		{ "2:ppn=", NULL },
		{ "2:ppn=-1", NULL },
		{ "2:ppn=0", NULL },
		{ "2:ncpus=x", NULL },
		{ "2:ncpus=18446744073709551615", NULL },
		{ "0", NULL },
		{ "-1", NULL },
		{ "", NULL },
	};
	struct keel_err err;
	char *select, *place;

	for (size_t i = 0; i < KEEL_COUNT(tries); i++) {
		int32_t code = nodes_convert(tries[i].nodes, &select, &place, &err);

		if (code != (tries[i].select ? 0 : PBSE_BADATVAL))
			CU_FAIL_FATAL("a nodes specification");
		if (code)
			continue;
		CU_ASSERT_STRING_EQUAL(select, tries[i].select);
		CU_ASSERT_STRING_EQUAL(place, "scatter");
		free(select);
		free(place);
	}
}

/* A name that does not fit is not cut. */
static void test_long_names(void)
{
	char nodes[300] = "1:", *select, *place;
	struct keel_err err;

	memset(nodes + 2, 'a', 253);
	CU_ASSERT_EQUAL(nodes_convert(nodes, &select, &place, &err), PBSE_BADATVAL);
}

TESTS_MAIN("place", TEST(test_nodes), TEST(test_long_names))
