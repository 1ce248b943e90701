/* SPDX-License-Identifier: Apache-2.0
 *
 * test_calendar.c - when a job will fit, and what may start before it.
 */
#include "calendar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define VNODES 4
#define CPUS 4

static const struct keel_resource ncpus = { "ncpus", KEEL_RES_LONG,
					    KEEL_RES_BUILTIN | KEEL_RES_HOST | KEEL_RES_EACH };
static const struct keel_resource *columns[] = { &ncpus };
static const char *const checked[] = { "ncpus", NULL };

static struct vnode nodes[VNODES];
static double amounts[VNODES][2];
static uint32_t via[VNODES][1];
static struct snapshot site;
static struct calendar calendar;
static uint32_t freed, made;

static void site_make(uint32_t n)
{
	static const char *const names[VNODES] = { "n0", "n1", "n2", "n3" };
	uint32_t i;

	memset(nodes, 0, sizeof(nodes));
	memset(&site, 0, sizeof(site));
	memset(via, 0, sizeof(via));
	site.node = nodes;
	site.n = site.n_hosts = n;
	site.column = columns;
	site.n_column = 1;
	site.checked = checked;
	for (i = 0; i < n; i++) {
		nodes[i].name = names[i];
		nodes[i].host = i;
		nodes[i].usable = true;
		nodes[i].share[0] = nodes[i].share[1] = KEEL_SHARE_SHARED;
		nodes[i].share[2] = KEEL_SHARE_EXCL;
		nodes[i].share[3] = KEEL_SHARE_EXCLHOST;
		nodes[i].total = amounts[i];
		nodes[i].free = amounts[i] + 1;
		nodes[i].total[0] = nodes[i].free[0] = CPUS;
	}
	snapshot_link(&site);
	snapshot_index(&site);
}

static void site_gone(void)
{
	snapshot_unlink(&site);
	free(site.by_name);
}

static void exec_gone(struct keel_exec *exec)
{
	freed++;
	free((void *)exec->part[0].v);
	free((void *)exec->part);
	free(exec);
}

/* `cpus` on one vnode. */
static struct keel_exec *on(const char *vnode, double cpus)
{
	struct keel_exec *exec = calloc(1, sizeof(*exec));
	struct keel_exec_part *part = calloc(1, sizeof(*part));
	struct keel_res_value *v = calloc(1, sizeof(*v));

	v->res = &ncpus;
	v->n = cpus;
	part->vnode = vnode;
	part->n = 1;
	part->v = v;
	exec->n = exec->chunks = 1;
	exec->part = part;
	made++;
	return exec;
}

/* It runs already, and ends then. */
static void running(const char *vnode, double cpus, int64_t end)
{
	struct keel_exec *exec = on(vnode, cpus);

	place_take(&site, exec, false);
	calendar_end(&calendar, end, end, exec, KEEL_SHARE_UNSET, "running");
}

struct job {
	struct keel_res_value v;
	struct keel_chunk chunk;
	struct keel_select select;
	struct wish wish;
};

static struct job *job(double cpus, uint32_t chunks, int32_t share)
{
	static struct job j;

	memset(&j, 0, sizeof(j));
	j.v = (struct keel_res_value){ .res = &ncpus, .n = cpus };
	j.chunk = (struct keel_chunk){ .count = chunks, .n = 1, .v = &j.v };
	j.select = (struct keel_select){ .n = 1, .chunks = chunks, .chunk = &j.chunk };
	j.wish.select = &j.select;
	j.wish.place.share = share;
	return &j;
}

static bool fits(void *arg, struct snapshot *s)
{
	struct job *j = arg;
	struct reason unused;

	return place_fits(s, &j->wish, &unused);
}

/* When it would start, and where; planned when `keep`. 0: never. */
static int64_t plan(struct job *j, int64_t duration, int64_t not_before, bool keep)
{
	struct search *s = search_begin(&calendar, &site, duration, duration, not_before, fits, j);
	enum found found;
	int64_t at = 0;
	uint32_t steps = 0;

	do
		found = search_step(s);
	while (found == FOUND_MORE && steps++ < 10000);
	if (found == FOUND_IT) {
		struct reason unused;
		char *where = place_job(search_snapshot(s), &j->wish, &unused), name[8] = "";

		CU_ASSERT_PTR_NOT_NULL_FATAL(where);
		at = search_at(s);
		strncpy(name, where + 1, 2);
		free(where);
		search_unhold(s);
		if (keep)
			calendar_plan(&calendar, at, at + duration, duration,
				      on(vnode_named(&site, name)->name, j->v.n), j->wish.place.share,
				      "top", search_snapshot(s));
	}
	search_free(s);
	return at;
}

static void begin(uint32_t vnodes, int64_t grain)
{
	freed = made = 0;
	calendar_init(&calendar, 1000, grain, exec_gone);
	site_make(vnodes);
}

static void end(void)
{
	calendar_fini(&calendar);
	CU_ASSERT_EQUAL(freed, made);
	site_gone();
}

/* May this start now, for so long, beside what is planned? */
static bool filler(struct job *j, int64_t duration)
{
	struct holds *h = calendar_hold(&calendar, &site, 1000, 1000 + duration);
	bool may = fits(j, &site);

	calendar_unhold(&site, h);
	return may;
}

static void the_end_of_a_job(void)
{
	begin(1, 0);
	running("n0", 3, 4600);
	CU_ASSERT_EQUAL(plan(job(2, 1, 0), 100, 1000, false), 4600);
	CU_ASSERT_EQUAL(plan(job(9, 1, 0), 100, 1000, false), 0);
	end();
}

static void the_first_end_that_helps(void)
{
	uint32_t i;

	begin(4, 0);
	for (i = 0; i < 4; i++) {
		running(nodes[i].name, 2, 2000 + i * 10);
		running(nodes[i].name, 2, 1500 + i);
	}
	CU_ASSERT_EQUAL(plan(job(2, 1, 0), 100, 1000, false), 1500);
	CU_ASSERT_EQUAL(plan(job(2, 3, 0), 100, 1000, false), 1502);
	CU_ASSERT_EQUAL(plan(job(4, 1, 0), 100, 1000, false), 2000);
	CU_ASSERT_EQUAL(plan(job(4, 4, 0), 100, 1000, false), 2030);
	CU_ASSERT_EQUAL(plan(job(2, 1, 0), 100, 1800, false), 1800);
	CU_ASSERT_EQUAL(plan(job(4, 1, 0), 100, 2005, false), 2005);
	end();
}

static void ends_within_the_grain_are_one(void)
{
	begin(1, 60);
	running("n0", 1, 2000);
	running("n0", 1, 2030);
	running("n0", 2, 2500);
	CU_ASSERT_EQUAL(plan(job(1, 1, 0), 100, 1000, false), 2030);
	CU_ASSERT_EQUAL(plan(job(3, 1, 0), 100, 1000, false), 2500);
	end();
}

static void fillers_delay_nobody(void)
{
	begin(1, 0);
	running("n0", 3, 4600);
	CU_ASSERT_EQUAL(plan(job(2, 1, 0), 3600, 1000, true), 4600);
	CU_ASSERT(filler(job(1, 1, 0), 1800)); /* over before it */
	CU_ASSERT(filler(job(1, 1, 0), 7200)); /* beside it */
	CU_ASSERT_FALSE(filler(job(2, 1, 0), 1800)); /* there is no place now */
	CU_ASSERT_FALSE(filler(job(1, 1, KEEL_SHARE_EXCL), 7200));
	end();
	begin(1, 0);
	running("n0", 3, 4600);
	CU_ASSERT_EQUAL(plan(job(4, 1, 0), 3600, 1000, true), 4600);
	CU_ASSERT(filler(job(1, 1, 0), 3600));
	CU_ASSERT_FALSE(filler(job(1, 1, 0), 3601));
	CU_ASSERT(fits(job(1, 1, 0), &site)); /* nothing stays held */
	CU_ASSERT_EQUAL(nodes[0].free[0], 1);
	end();
}

static void what_begins_takes_of_the_slack(void)
{
	struct keel_exec *one;

	begin(1, 0);
	running("n0", 2, 2000);
	CU_ASSERT_EQUAL(plan(job(3, 1, 0), 3600, 1000, true), 2000);
	CU_ASSERT(filler(job(1, 1, 0), 7200));
	one = on("n0", 1);
	place_take(&site, one, false);
	calendar_begun(&calendar, &site, one, calendar.now, 8200, "filler");
	calendar_end(&calendar, 8200, 8200, one, KEEL_SHARE_UNSET, "filler");
	CU_ASSERT_FALSE(filler(job(1, 1, 0), 7200));
	CU_ASSERT(filler(job(1, 1, 0), 900));
	end();
}

static void one_after_the_other(void)
{
	begin(1, 0);
	running("n0", 3, 2000);
	CU_ASSERT_EQUAL(plan(job(4, 1, 0), 100, 1000, true), 2000);
	CU_ASSERT_EQUAL(plan(job(4, 1, 0), 100, 1000, true), 2100);
	CU_ASSERT_EQUAL(plan(job(4, 1, 0), 100, 1000, true), 2200);
	CU_ASSERT_EQUAL(plan(job(1, 1, 0), 5000, 1000, false), 2300); /* it would delay all of them */
	CU_ASSERT_EQUAL(plan(job(1, 1, 0), 1000, 1000, false), 1000);
	end();
}

static void one_that_wants_to_be_alone(void)
{
	begin(2, 0);
	running("n0", 1, 2000);
	running("n1", 4, 9000);
	CU_ASSERT_EQUAL(plan(job(1, 1, KEEL_SHARE_EXCL), 500, 1000, true), 2000);
	CU_ASSERT_FALSE(filler(job(1, 1, 0), 1100));
	CU_ASSERT(filler(job(1, 1, 0), 1000));
	CU_ASSERT_EQUAL(plan(job(1, 1, 0), 1100, 1000, false), 2500);
	end();
}

/* resource_unset_infinite */
static void what_is_endless_stays(void)
{
	begin(1, 0);
	nodes[0].total[0] = nodes[0].free[0] = HUGE_VAL;
	snapshot_link(&site);
	CU_ASSERT(calendar_plan(&calendar, 2000, 3000, 1000, on("n0", 4), 0, "top", &site));
	CU_ASSERT(filler(job(100, 1, 0), 5000));
	CU_ASSERT(nodes[0].free[0] >= HUGE_VAL);
	CU_ASSERT(fits(job(100, 1, 0), &site));
	end();
}

static void nothing_ends(void)
{
	begin(1, 0);
	nodes[0].free[0] = 0;
	snapshot_link(&site);
	CU_ASSERT_EQUAL(plan(job(1, 1, 0), 100, 1000, false), 0);
	end();
}

TESTS_MAIN("calendar", TEST(the_end_of_a_job), TEST(the_first_end_that_helps),
	   TEST(ends_within_the_grain_are_one), TEST(fillers_delay_nobody),
	   TEST(what_begins_takes_of_the_slack), TEST(one_after_the_other), TEST(one_that_wants_to_be_alone),
	   TEST(nothing_ends), TEST(what_is_endless_stays))
