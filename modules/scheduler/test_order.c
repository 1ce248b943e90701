/* SPDX-License-Identifier: Apache-2.0
 *
 * test_order.c - the index finds what a look at every vnode would find, whatever changes meanwhile.
 */
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define N 1500
#define COLUMNS 3

static const struct keel_resource column_res[COLUMNS] = {
	{ "ncpus", KEEL_RES_LONG, KEEL_RES_BUILTIN | KEEL_RES_HOST | KEEL_RES_EACH },
	{ "mem", KEEL_RES_SIZE, KEEL_RES_BUILTIN | KEEL_RES_HOST | KEEL_RES_EACH },
	{ "lic", KEEL_RES_LONG, KEEL_RES_HOST | KEEL_RES_EACH },
};
static const struct keel_resource color = { "color", KEEL_RES_STRING, KEEL_RES_HOST };
static const char *const colors[] = { "red", "green", "blue" };
static const struct keel_resource *columns[COLUMNS];
static struct vnode nodes[N];
static char names[N][12];
static double amounts[N][2 * COLUMNS];
static struct keel_res_value values[N];
static struct snapshot site;

static uint32_t seed = 7;
/* Hosts of `per_host` vnodes. */
static void site_make(uint32_t n, uint32_t per_host)
{
	uint32_t i, k;

	snapshot_unlink(&site);
	memset(&site, 0, sizeof(site));
	memset(nodes, 0, sizeof(nodes));
	site.node = nodes;
	site.n = n;
	site.n_hosts = (n + per_host - 1) / per_host;
	site.column = columns;
	site.n_column = COLUMNS;
	for (k = 0; k < COLUMNS; k++)
		columns[k] = &column_res[k];
	for (i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "n%u", i);
		nodes[i].name = names[i];
		nodes[i].host = i / per_host;
		nodes[i].usable = pick(&seed, 8) > 0;
		nodes[i].share[0] = nodes[i].share[1] = KEEL_SHARE_SHARED;
		nodes[i].share[2] = KEEL_SHARE_EXCL;
		nodes[i].share[3] = KEEL_SHARE_EXCLHOST;
		nodes[i].priority = pick(&seed, 5);
		nodes[i].total = amounts[i];
		nodes[i].free = amounts[i] + COLUMNS;
		for (k = 0; k < COLUMNS; k++) {
			nodes[i].total[k] = pick(&seed, 16);
			nodes[i].free[k] = pick(&seed, (uint32_t)nodes[i].total[k] + 1);
		}
		values[i] = (struct keel_res_value){ .res = &color, .text = colors[pick(&seed, 3)] };
		nodes[i].other = &values[i];
		nodes[i].n_other = 1;
	}
}

static bool fits(uint32_t i, const struct need *need)
{
	uint32_t k;

	for (k = 0; k < COLUMNS; k++)
		if (nodes[i].free[k] < need[k].amount)
			return false;
	return nodes[i].usable;
}

/* By looking at all: the best by priority, or by unused cpus. */
static uint32_t best_of_all(const struct need *need, bool by_unused)
{
	uint32_t i, best = NO_NODE;

	for (i = 0; i < site.n; i++) {
		double x, y;

		if (!fits(i, need))
			continue;
		x = by_unused ? nodes[i].free[0] : (double)nodes[i].priority;
		y = best == NO_NODE ? -1 : by_unused ? nodes[best].free[0] : (double)nodes[best].priority;
		if (best == NO_NODE || x > y)
			best = i;
	}
	return best;
}

static void need_make(struct need *need)
{
	uint32_t k;

	for (k = 0; k < COLUMNS; k++)
		need[k] = (struct need){ k, pick(&seed, 14), &column_res[k] };
}

static uint32_t first_of_index(const struct need *need)
{
	struct probe p = { .klasses = UINT64_MAX, .need = need, .n_need = COLUMNS };
	struct cursor at = { 0, 0 };

	order_settle(&site);
	return order_next(&site, &p, &at);
}

static void change_one(void)
{
	uint32_t i = pick(&seed, site.n), k;

	for (k = 0; k < COLUMNS; k++)
		nodes[i].free[k] = pick(&seed, (uint32_t)nodes[i].total[k] + 1);
	nodes[i].usable = pick(&seed, 8) > 0;
	snapshot_changed(&site, i);
}

static void compare(bool by_unused)
{
	struct need need[COLUMNS];
	uint32_t round;

	for (round = 0; round < 4000; round++) {
		need_make(need);
		CU_ASSERT_EQUAL(first_of_index(need), best_of_all(need, by_unused));
		change_one();
	}
}

static void test_by_priority(void)
{
	site_make(N, 1);
	site.sort[site.n_sort++] = (struct sort_key){ .by = SORT_PRIORITY };
	snapshot_link(&site);
	compare(false);
}

/* Every change moves the vnode. */
static void test_by_unused(void)
{
	site_make(N, 1);
	site.sort[site.n_sort++] = (struct sort_key){ .by = SORT_UNUSED, .res = &column_res[0] };
	snapshot_link(&site);
	compare(true);
}

static void test_hosts(void)
{
	struct probe p = { .klasses = UINT64_MAX, .whole_host = true };
	struct need need = { 0, 25, &column_res[0] };
	uint32_t round, i, node, host, seen;

	site_make(300, 4);
	snapshot_link(&site);
	p.need = &need;
	p.n_need = 1;
	for (round = 0; round < 300; round++) {
		struct cursor at = { 0, 0 };
		uint32_t last = UINT32_MAX;

		order_settle(&site);
		for (seen = 0; (node = order_next(&site, &p, &at)) != NO_NODE; cursor_step(&at)) {
			double sum = 0;

			host = nodes[node].host;
			for (i = host * 4; i < host * 4 + 4; i++)
				sum += nodes[i].usable ? nodes[i].free[0] : 0;
			CU_ASSERT_TRUE(sum >= 25 && nodes[node].usable);
			seen += host != last;
			last = host;
		}
		for (host = 0; host < site.n_hosts; host++) {
			double sum = 0;

			for (i = host * 4; i < host * 4 + 4; i++)
				sum += nodes[i].usable ? nodes[i].free[0] : 0;
			seen -= sum >= 25;
		}
		CU_ASSERT_EQUAL(seen, 0);
		change_one();
	}
}

/* Of an infinite amount nothing is assigned (resource_unset_infinite). */
static void test_by_assigned(void)
{
	static const uint32_t order[] = { 2, 0, 1 };
	struct probe p = { .klasses = UINT64_MAX };
	struct cursor at = { 0, 0 };

	site_make(3, 1);
	for (uint32_t i = 0; i < 3; i++) {
		nodes[i].usable = true;
		nodes[i].total[0] = i == 1 ? HUGE_VAL : 8;
		nodes[i].free[0] = i == 1 ? HUGE_VAL : i ? 2 : 5;
	}
	site.sort[0] = (struct sort_key){ .by = SORT_ASSIGNED, .res = columns[0] };
	site.n_sort = 1;
	snapshot_link(&site);
	for (uint32_t i = 0; i < 3; i++, cursor_step(&at))
		CU_ASSERT_EQUAL(order_next(&site, &p, &at), order[i]);
}

static void test_classes(void)
{
	uint32_t i, k;

	site_make(N, 1);
	snapshot_link(&site);
	CU_ASSERT_EQUAL(klasses_count(&site), 3);
	for (i = 0; i < site.n; i++) {
		k = nodes[i].klass;
		CU_ASSERT_STRING_EQUAL(klass_like(&site, k)->other[0].text, nodes[i].other[0].text);
	}
	nodes[5].queue = "special";
	snapshot_link(&site);
	CU_ASSERT_EQUAL(klasses_count(&site), 4);
}

static void tear_down(void)
{
	snapshot_unlink(&site);
}

TESTS_MAIN_BETWEEN("order", NULL, tear_down, TEST(test_by_priority), TEST(test_by_unused), TEST(test_by_assigned), TEST(test_hosts),
		   TEST(test_classes))
