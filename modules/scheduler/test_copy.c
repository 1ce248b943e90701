/* SPDX-License-Identifier: Apache-2.0
 *
 * test_copy.c - a what-if never reaches the snapshot it was made from, and what is undone is undone.
 */
#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const struct keel_resource ncpus = { "ncpus", KEEL_RES_LONG,
					    KEEL_RES_BUILTIN | KEEL_RES_HOST | KEEL_RES_EACH };
static const struct keel_resource mem = { "mem", KEEL_RES_SIZE,
					  KEEL_RES_BUILTIN | KEEL_RES_HOST | KEEL_RES_EACH };
static const struct keel_resource *columns[] = { &ncpus, &mem };

static struct vnode nodes[3];
static double amounts[3][4];
static struct snapshot site;

/* Three vnodes of 4 cpus and 8 kb; the second and third are one host. */
static void site_make(void)
{
	static const char *const names[] = { "a", "b0", "b1" };
	uint32_t i;

	memset(nodes, 0, sizeof(nodes));
	snapshot_unlink(&site);
	memset(&site, 0, sizeof(site));
	site.node = nodes;
	site.n = 3;
	site.n_hosts = 2;
	site.column = columns;
	site.n_column = 2;
	for (i = 0; i < 3; i++) {
		nodes[i].name = names[i];
		nodes[i].host = i > 0;
		nodes[i].usable = true;
		nodes[i].share[0] = nodes[i].share[1] = KEEL_SHARE_SHARED;
		nodes[i].share[2] = KEEL_SHARE_EXCL;
		nodes[i].share[3] = KEEL_SHARE_EXCLHOST;
		nodes[i].total = amounts[i];
		nodes[i].free = amounts[i] + 2;
		nodes[i].total[0] = nodes[i].free[0] = 4;
		nodes[i].total[1] = nodes[i].free[1] = 8192;
	}
	snapshot_link(&site);
	snapshot_index(&site);
}

static struct keel_res_value two_cpus[] = { { .res = &ncpus, .n = 2 }, { .res = &mem, .n = 1024 } };
static struct keel_res_value all_cpus[] = { { .res = &ncpus, .n = 4 } };

static struct keel_exec_part on_a[] = { { "a", 0, 2, two_cpus }, { "a", 1, 2, two_cpus } };
static const struct keel_exec twice_on_a = { 2, 2, on_a };
static struct keel_exec_part on_b[] = { { "b0", 0, 1, all_cpus } };
static const struct keel_exec all_of_b0 = { 1, 1, on_b };

static void names_are_found(void)
{
	site_make();
	CU_ASSERT_PTR_EQUAL(vnode_named(&site, "b1"), &nodes[2]);
	CU_ASSERT_PTR_NULL(vnode_named(&site, "c"));
	free(site.by_name);
	site.by_name = NULL;
	CU_ASSERT_PTR_EQUAL(vnode_named(&site, "b1"), &nodes[2]);
}

static void a_copy_is_its_own(void)
{
	struct snapshot *copy;

	site_make();
	place_take(&site, &twice_on_a, false);
	CU_ASSERT_EQUAL(nodes[0].jobs, 1);
	CU_ASSERT_FALSE(nodes[0].usable);
	copy = snapshot_copy(&site);
	place_vacate(copy, &twice_on_a, KEEL_SHARE_UNSET, NULL, INT64_MAX);
	CU_ASSERT_EQUAL(copy->node[0].free[0], 4);
	CU_ASSERT_EQUAL(copy->node[0].free[1], 8192);
	CU_ASSERT_EQUAL(copy->node[0].jobs, 0);
	CU_ASSERT(copy->node[0].usable && !copy->node[0].in_use);
	CU_ASSERT_EQUAL(nodes[0].free[0], 0);
	CU_ASSERT(nodes[0].in_use && !nodes[0].usable);
	place_occupy(copy, &twice_on_a, KEEL_SHARE_UNSET, NULL, INT64_MAX);
	CU_ASSERT_EQUAL(copy->node[0].free[0], 0);
	CU_ASSERT(copy->node[0].in_use && !copy->node[0].usable);
	snapshot_copy_free(copy);
	free(site.by_name);
}

static void what_is_kept_stays(void)
{
	site_make();
	place_take(&site, &twice_on_a, false);
	place_vacate(&site, &twice_on_a, KEEL_SHARE_UNSET, "ncpus", INT64_MAX);
	CU_ASSERT_EQUAL(nodes[0].free[0], 4);
	CU_ASSERT_EQUAL(nodes[0].free[1], 8192 - 2048);
	CU_ASSERT(nodes[0].usable && !nodes[0].in_use); /* suspended, it is not in the way */
	free(site.by_name);
}

static void a_whole_host_comes_free(void)
{
	site_make();
	place_occupy(&site, &all_of_b0, KEEL_SHARE_EXCLHOST, NULL, INT64_MAX);
	CU_ASSERT(!nodes[1].usable && !nodes[2].usable && nodes[0].usable);
	place_vacate(&site, &all_of_b0, KEEL_SHARE_EXCLHOST, NULL, INT64_MAX);
	CU_ASSERT(nodes[1].usable && nodes[2].usable);
	nodes[2].down = true;
	place_occupy(&site, &all_of_b0, KEEL_SHARE_EXCLHOST, NULL, INT64_MAX);
	place_vacate(&site, &all_of_b0, KEEL_SHARE_EXCLHOST, NULL, INT64_MAX);
	CU_ASSERT(nodes[1].usable && !nodes[2].usable);
	free(site.by_name);
}

static uint32_t jobs_of(const struct vnode *v, const char *name)
{
	for (uint32_t i = 0; i < v->limits->n_head; i++)
		if (strcmp(v->limits->head[i].name, name) == 0)
			return v->limits->head[i].n;
	return 0;
}

/* Two chunks on a vnode are one job there. */
static void who_leaves_counts_no_more(void)
{
	static struct vnode_limits limits;
	struct snapshot *copy;

	site_make();
	limits = (struct vnode_limits){ .of_user = 1, .of_group = 1 };
	nodes[0].limits = &limits;
	site.counts_people = true;
	limits_move(&site, &twice_on_a, "al", "staff", 1);
	CU_ASSERT_EQUAL(jobs_of(&nodes[0], "u:al"), 1);
	CU_ASSERT_EQUAL(jobs_of(&nodes[0], "g:staff"), 1);
	copy = snapshot_copy(&site);
	limits_move(copy, &twice_on_a, "al", "staff", -1);
	CU_ASSERT_EQUAL(jobs_of(&copy->node[0], "u:al"), 0);
	CU_ASSERT_EQUAL(jobs_of(&copy->node[0], "g:staff"), 0);
	CU_ASSERT_EQUAL(jobs_of(&nodes[0], "u:al"), 1);
	limits_move(copy, &twice_on_a, "al", "staff", 1);
	CU_ASSERT_EQUAL(jobs_of(&copy->node[0], "u:al"), 1);
	snapshot_copy_free(copy);
	for (uint32_t i = 0; i < limits.n_head; i++)
		free(limits.head[i].name);
	free(limits.head);
	free(site.by_name);
}

TESTS_MAIN("copy", TEST(names_are_found), TEST(a_copy_is_its_own), TEST(what_is_kept_stays),
	   TEST(a_whole_host_comes_free), TEST(who_leaves_counts_no_more))
