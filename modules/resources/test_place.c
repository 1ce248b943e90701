/* SPDX-License-Identifier: Apache-2.0
 *
 * test_place.c - `-l nodes=` converted into select and place; what cannot be parsed is an error.
 */
#include "resources.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const struct keel_resource ncpus_res = { "ncpus", KEEL_RES_LONG, KEEL_RES_HOST };
static const struct keel_resource mem_res = { "mem", KEEL_RES_SIZE, KEEL_RES_HOST };

struct try {
	const char *nodes, *select; /* NULL: refused */
	double ncpus, mem; /* the job's -l ncpus= and -l mem=; 0: none */
	const char *place;
	int32_t code;
};

static struct keel_reslist *wide_make(const struct try *t)
{
	struct keel_reslist *wide = NULL;

	if (t->ncpus > 0)
		list_put(&wide, &(struct keel_res_value){ .res = &ncpus_res, .n = t->ncpus });
	if (t->mem > 0)
		list_put(&wide, &(struct keel_res_value){ .res = &mem_res, .n = t->mem });
	return wide;
}

static void convert_all(const struct try *tries, size_t n)
{
	struct keel_err err;
	char *select, *place;

	for (size_t i = 0; i < n; i++) {
		const struct try *t = &tries[i];
		struct keel_reslist *wide = wide_make(t);
		int32_t code = nodes_convert(t->nodes, wide, &select, &place, &err);

		list_free(wide);
		if (code != (t->select ? 0 : t->code ? t->code : PBSE_BADATVAL))
			CU_FAIL_FATAL("a nodes specification");
		if (code)
			continue;
		CU_ASSERT_STRING_EQUAL(select, t->select);
		CU_ASSERT_STRING_EQUAL(place, t->place ? t->place : "scatter");
		free(select);
		free(place);
	}
}

static void test_nodes(void)
{
	static const struct try tries[] = {
		{ .nodes = "2", .select = "2:ncpus=1" },
		{ .nodes = "2:ppn=3", .select = "2:ncpus=3:mpiprocs=3" },
		{ .nodes = "2:ppn=3:ncpus=4:fast", .select = "2:ncpus=4:mpiprocs=3:fast=True" },
		{ .nodes = "n1+2:ppn=2", .select = "1:ncpus=1:host=n1+2:ncpus=2:mpiprocs=2" },
		{ .nodes = "2#excl", .select = "2:ncpus=1", .place = "scatter:excl" },
		{ .nodes = "2:ppn=abc" },
		{ .nodes = "2:ppn=2x" },
		{ .nodes = "2:ppn=" },
		{ .nodes = "2:ppn=-1" },
		{ .nodes = "2:ppn=0" },
		{ .nodes = "2:ncpus=x" },
		{ .nodes = "2:ncpus=18446744073709551615" },
		{ .nodes = "0" },
		{ .nodes = "-1" },
		{ .nodes = "" },
		{ .nodes = "2#often" },
	};

	convert_all(tries, KEEL_COUNT(tries));
}

/* mend A7: the job's -l ncpus= and -l mem= are divided among the nodes. */
static void test_nodes_and_amounts(void)
{
	static const struct try tries[] = {
		{ .nodes = "1:ppn=2", .mem = 104857600, .select = "1:ncpus=2:mem=102400KB:mpiprocs=2" },
		{ .nodes = "4", .mem = 4294967296, .select = "4:ncpus=1:mem=1048576KB" },
		{ .nodes = "2", .ncpus = 4, .select = "2:ncpus=2" },
		{ .nodes = "2:ppn=2", .ncpus = 8, .select = "2:ncpus=4:mpiprocs=2" },
		{ .nodes = "n1+1", .ncpus = 4, .select = "1:ncpus=2:host=n1+1:ncpus=2" },
		{ .nodes = "2:ncpus=3", .ncpus = 6, .select = "2:ncpus=3" },
		{ .nodes = "2", .ncpus = 3 },
		{ .nodes = "2:ncpus=3", .ncpus = 4 },
		{ .nodes = "2:ppn=1:cpp=2", .select = "2:ncpus=2" },
		{ .nodes = "2:ppn=3:cpp=2", .select = "2:ncpus=6:mpiprocs=3" },
		{ .nodes = "2:cpp=0" },
		{ .nodes = "2#shared", .select = "2:ncpus=1", .place = "free" },
		{ .nodes = "2:ppn=2:#excl", .code = PBSE_ATTRRO },
	};

	convert_all(tries, KEEL_COUNT(tries));
}

/* A name that is too long is an error, not truncated. */
static void test_long_names(void)
{
	char nodes[300] = "1:", *select, *place;
	struct keel_err err;

	memset(nodes + 2, 'a', 253);
	CU_ASSERT_EQUAL(nodes_convert(nodes, NULL, &select, &place, &err), PBSE_BADATVAL);
}

/* mend C2: the bound is checked before a long list is parsed. */
static void test_too_many(void)
{
	char *select, *place;
	struct keel_err err;

	CU_ASSERT_EQUAL(nodes_convert("65536:ppn=2+1", NULL, &select, &place, &err), PBSE_BADATVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a job has at most 65536 chunks"));
}

TESTS_MAIN("place", TEST(test_nodes), TEST(test_nodes_and_amounts), TEST(test_long_names), TEST(test_too_many))
