/* SPDX-License-Identifier: Apache-2.0
 *
 * test_promises.c - by lot: whatever is placed beside whichever blocks, no vnode is ever given twice, and none that is closed.
 */
#include "spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define VNODES 6
#define NOW 100
#define END 400
#define JOBS 40

static const struct keel_resource ncpus = { "ncpus", KEEL_RES_LONG, KEEL_RES_BUILTIN | KEEL_RES_HOST | KEEL_RES_EACH };
static const struct keel_resource *columns[] = { &ncpus };
static const char *const checked[] = { "ncpus", NULL };
static const char *const names[VNODES] = { "n0", "n1", "n2", "n3", "n4", "n5" };

static struct vnode nodes[VNODES];
static double amounts[VNODES][2];
static struct snapshot site;
static struct spans spans;
static uint32_t seed = 3;

/* What is known of each second of each vnode. */
static struct second {
	double used;
	uint32_t jobs, blocks;
	bool closed, alone;
} plan[VNODES][END];

static void exec_gone(struct keel_exec *exec)
{
	for (uint32_t i = 0; i < exec->n; i++)
		free((void *)exec->part[i].v);
	free((void *)exec->part);
	free(exec);
}

/* As many cpus of each of `n` vnodes from `first` on. */
static struct keel_exec *on(uint32_t first, uint32_t n, double cpus)
{
	struct keel_exec *exec = calloc(1, sizeof(*exec));
	struct keel_exec_part *part = calloc(n, sizeof(*part));

	for (uint32_t i = 0; i < n; i++) {
		struct keel_res_value *v = calloc(1, sizeof(*v));

		*v = (struct keel_res_value){ .res = &ncpus, .n = cpus };
		part[i] = (struct keel_exec_part){ .vnode = names[(first + i) % VNODES], .chunk = i, .n = 1, .v = v };
	}
	*exec = (struct keel_exec){ .n = n, .chunks = n, .part = part };
	return exec;
}

static void block_by_lot(uint32_t part)
{
	uint32_t first = pick(&seed, VNODES), n = 1 + pick(&seed, 3);
	double cpus = 1 + pick(&seed, 3);
	struct keel_sched_block b = { .id = "R", .part = part, .flags = pick(&seed, 4) ? 0 : KEEL_BLOCK_ALONE };

	b.from = NOW - 20 + pick(&seed, 150);
	b.till = b.from + 1 + pick(&seed, 60);
	CU_ASSERT(spans_put(&spans, block_make(&b, on(first, n, cpus), exec_gone)));
	for (uint32_t i = 0; i < n; i++)
		for (int64_t t = b.from; t < b.till; t++) {
			struct second *s = &plan[(first + i) % VNODES][t];

			s->used += cpus;
			s->blocks++;
			s->closed |= (b.flags & KEEL_BLOCK_ALONE) != 0;
		}
}

static void site_by_lot(void)
{
	uint32_t i, n = pick(&seed, 8);

	memset(plan, 0, sizeof(plan));
	site = (struct snapshot){ .node = nodes, .n = VNODES, .n_hosts = 3, .column = columns, .n_column = 1,
				  .checked = checked, .at = NOW, .spans = &spans };
	for (i = 0; i < VNODES; i++) {
		nodes[i] = (struct vnode){ .name = names[i], .host = i / 2, .usable = true, .total = amounts[i],
					   .free = amounts[i] + 1,
					   .share = { KEEL_SHARE_SHARED, KEEL_SHARE_SHARED, KEEL_SHARE_EXCL,
						      KEEL_SHARE_EXCLHOST } };
		amounts[i][0] = amounts[i][1] = 12;
	}
	for (i = 0; i < n; i++)
		block_by_lot(i);
	for (i = 0; i < VNODES; i++)
		spans_apply(&site, i);
	snapshot_link(&site);
	snapshot_index(&site);
}

/* It has so many cpus of this vnode from now until `till`. */
static void note(uint32_t node, double cpus, int64_t till, bool alone)
{
	for (int64_t t = NOW; t < till; t++) {
		struct second *s = &plan[node][t];

		CU_ASSERT_FALSE(s->closed);
		CU_ASSERT_FALSE(s->alone);
		CU_ASSERT_FALSE(alone && (s->blocks || s->jobs));
		s->used += cpus;
		CU_ASSERT(s->used <= 12);
	}
}

/* `(n0:ncpus=2+n1:ncpus=1)+(n2:ncpus=3)` */
static void note_all(const char *exec, int64_t till, bool alone)
{
	const char *p;
	double cpus;
	uint32_t i;
	int node;

	for (p = strchr(exec, 'n'); p; p = strstr(p + 1, "n")) {
		cpus = 0;
		if (sscanf(p, "n%d:ncpus=%lf", &node, &cpus) >= 1 && node >= 0 && node < VNODES)
			note((uint32_t)node, cpus, till, alone);
	}
	for (i = 0; i < VNODES; i++)
		for (int64_t t = NOW; strstr(exec, names[i]) && t < till; t++) {
			plan[i][t].jobs++;
			plan[i][t].alone |= alone;
		}
}

static bool job_by_lot(void)
{
	static const int arrange[] = { KEEL_PLACE_FREE, KEEL_PLACE_PACK, KEEL_PLACE_SCATTER, KEEL_PLACE_VSCATTER };
	static const int share[] = { KEEL_SHARE_UNSET, KEEL_SHARE_UNSET, KEEL_SHARE_SHARED, KEEL_SHARE_EXCL };
	struct keel_res_value v = { .res = &ncpus, .n = 1 + pick(&seed, 6) };
	struct keel_chunk chunk = { .count = 1 + pick(&seed, 3), .n = 1, .v = &v };
	struct keel_select select = { .n = 1, .chunks = chunk.count, .chunk = &chunk };
	struct wish w = { .select = &select, .till = NOW + 1 + pick(&seed, 150) };
	struct reason why;
	char *exec;

	w.place.arrange = arrange[pick(&seed, 4)];
	w.place.share = share[pick(&seed, 4)];
	exec = place_job(&site, &w, &why);
	if (exec)
		note_all(exec, w.till, w.place.share == KEEL_SHARE_EXCL);
	free(exec);
	return exec != NULL;
}

static void nothing_is_given_twice(void)
{
	uint32_t round, i, placed = 0;

	for (round = 0; round < 1000; round++) {
		site_by_lot();
		for (i = 0; i < JOBS; i++)
			placed += job_by_lot();
		for (i = 0; i < VNODES; i++)
			future_put(nodes[i].future);
		snapshot_unlink(&site);
		free(site.by_name);
		spans_fini(&spans);
		memset(&spans, 0, sizeof(spans));
	}
	CU_ASSERT(placed > 4000);
}

TESTS_MAIN("promises", TEST(nothing_is_given_twice))
