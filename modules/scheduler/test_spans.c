/* SPDX-License-Identifier: Apache-2.0
 *
 * test_spans.c - what is promised of a vnode, what that leaves over a window, and jobs that keep off it.
 */
#include "spans.h"

#include "calendar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define VNODES 3
#define CPUS 4
#define NOW 1000

static const struct keel_resource ncpus = { "ncpus", KEEL_RES_LONG,
					    KEEL_RES_BUILTIN | KEEL_RES_HOST | KEEL_RES_EACH };
static const struct keel_resource *columns[] = { &ncpus };
static const char *const checked[] = { "ncpus", NULL };
static const char *const names[VNODES] = { "n0", "n1", "n2" };

static struct vnode nodes[VNODES];
static double amounts[VNODES][2];
static struct snapshot site;
static struct spans spans;
static uint32_t freed, made;

static void exec_gone(struct keel_exec *exec)
{
	freed++;
	free((void *)exec->part[0].v);
	free((void *)exec->part);
	free(exec);
}

static struct keel_exec *on(const char *vnode, double cpus)
{
	struct keel_exec *exec = calloc(1, sizeof(*exec));
	struct keel_exec_part *part = calloc(1, sizeof(*part));
	struct keel_res_value *v = calloc(1, sizeof(*v));

	v->res = &ncpus;
	v->n = cpus;
	*part = (struct keel_exec_part){ .vnode = vnode, .n = 1, .v = v };
	*exec = (struct keel_exec){ .n = 1, .chunks = 1, .part = part };
	made++;
	return exec;
}

/* ---- jobs that run ------------------------------------------------------------------------------------ */

static struct {
	struct keel_exec *exec;
	int64_t till;
	const char *queue;
	int32_t share;
} running[8];
static uint32_t n_running;

static void tenants(void *arg, const char *vnode, int64_t until, void (*fn)(void *to, const struct tenant *), void *to)
{
	uint32_t i;

	(void)arg;
	for (i = 0; i < n_running; i++) {
		uint32_t *sorted;
		struct tenant t = { running[i].exec, NULL, running[i].queue, running[i].till, running[i].share };

		if (strcmp(t.exec->part[0].vnode, vnode) != 0 || t.till > until)
			continue;
		t.by_name = sorted = exec_by_name(t.exec);
		fn(to, &t);
		free(sorted);
	}
}

static void runs(const char *vnode, double cpus, int64_t till, const char *queue)
{
	struct vnode *v = vnode_named(&site, vnode);

	running[n_running].exec = on(vnode, cpus);
	running[n_running].till = till;
	running[n_running].queue = queue;
	running[n_running++].share = KEEL_SHARE_UNSET;
	v->jobs++;
}

/* ---- the site ------------------------------------------------------------------------------------------- */

static void begin(void)
{
	uint32_t i;

	memset(nodes, 0, sizeof(nodes));
	memset(&site, 0, sizeof(site));
	site.node = nodes;
	site.n = site.n_hosts = VNODES;
	site.column = columns;
	site.n_column = 1;
	site.checked = checked;
	site.at = NOW;
	site.spans = &spans;
	site.tenants = tenants;
	for (i = 0; i < VNODES; i++) {
		nodes[i] = (struct vnode){ .name = names[i], .host = i, .usable = true, .total = amounts[i],
					   .free = amounts[i] + 1,
					   .share = { KEEL_SHARE_SHARED, KEEL_SHARE_SHARED, KEEL_SHARE_EXCL,
						      KEEL_SHARE_EXCLHOST } };
		amounts[i][0] = amounts[i][1] = CPUS;
	}
	snapshot_link(&site);
	snapshot_index(&site);
	freed = made = n_running = 0;
}

static struct block *promise(const char *id, uint32_t flags, int64_t from, int64_t till, const char *vnode, double cpus)
{
	struct keel_sched_block b = { .id = id, .flags = flags, .from = from, .till = till, .queue = id };
	struct block *made_of = block_make(&b, on(vnode, cpus), exec_gone);

	CU_ASSERT_FATAL(made_of != NULL);
	made_of->part = spans.n;
	CU_ASSERT(spans_put(&spans, made_of));
	return made_of;
}

/* All vnodes are read again: what jobs have is gone from them, and what blocks have that began in truth. */
static void look(void)
{
	uint32_t i, k;

	for (i = 0; i < VNODES; i++) {
		const struct booked *b = spans_of(&spans, names[i]);

		nodes[i].free[0] = nodes[i].total[0];
		for (k = 0; k < n_running; k++)
			if (strcmp(running[k].exec->part[0].vnode, names[i]) == 0 &&
			    !spans_inside(&spans, names[i], running[k].queue))
				nodes[i].free[0] -= running[k].exec->part[0].v->n;
		for (k = 0; b && k < b->n; k++)
			if (b->list[k].block->flags & KEEL_BLOCK_BEGAN)
				nodes[i].free[0] -= b->list[k].block->exec->part[0].v->n;
		nodes[i].usable = true;
		spans_apply(&site, i);
	}
	order_make(&site);
}

static void end(void)
{
	uint32_t i;

	for (i = 0; i < n_running; i++)
		exec_gone(running[i].exec);
	for (i = 0; i < VNODES; i++)
		future_put(nodes[i].future);
	snapshot_unlink(&site);
	free(site.by_name);
	spans_fini(&spans);
	memset(&spans, 0, sizeof(spans));
	CU_ASSERT_EQUAL(freed, made);
}

static struct reason why;
/* Does a job of so many cpus until then have a place? */
static bool fits(struct snapshot *s, double cpus, int32_t share, int64_t till)
{
	struct keel_res_value v = { .res = &ncpus, .n = cpus };
	struct keel_chunk chunk = { .count = 1, .n = 1, .v = &v };
	struct keel_select select = { .n = 1, .chunks = 1, .chunk = &chunk };
	struct wish w = { .select = &select, .place.share = share, .till = till };

	return place_fits(s, &w, &why);
}

/* It is placed, and stays. */
static char *put(double cpus, int64_t till)
{
	struct keel_res_value v = { .res = &ncpus, .n = cpus };
	struct keel_chunk chunk = { .count = 1, .n = 1, .v = &v };
	struct keel_select select = { .n = 1, .chunks = 1, .chunk = &chunk };
	struct wish w = { .select = &select, .till = till };

	return place_job(&site, &w, &why);
}

static bool placed(double cpus, int64_t till, const char *where)
{
	char *text = put(cpus, till);
	bool there = text && strcmp(text, where) == 0;

	free(text);
	return there;
}

static void shut(uint32_t node)
{
	nodes[node].usable = false;
	nodes[node].down = true;
	snapshot_changed(&site, node);
}

/* n0 alone is open. */
static void look_alone(void)
{
	look();
	shut(1);
	shut(2);
}

/* What is left of n0 in a window that begins then. */
static double least(int64_t from, int64_t till, bool *closed)
{
	double left[1];
	struct span_ask ask = { .from = from, .till = till };
	struct span_least ret = { .free = left };

	CU_ASSERT(spans_least(&site, 0, &ask, &ret));
	if (closed)
		*closed = ret.closed;
	return left[0];
}

/* ---- cases -------------------------------------------------------------------------------------------------- */

static void a_window_ends_where_a_block_begins(void)
{
	begin();
	promise("R1", 0, 2000, 3000, "n0", 3);
	look_alone();
	CU_ASSERT(fits(&site, 4, 0, 2000));
	CU_ASSERT_FALSE(fits(&site, 4, 0, 2001));
	CU_ASSERT_EQUAL(why.code, KEEL_WHY_CONFLICT);
	CU_ASSERT_EQUAL(why.from, 2000);
	CU_ASSERT_STRING_EQUAL(why.what, "R1");
	CU_ASSERT(fits(&site, 1, 0, 9000));
	CU_ASSERT_FALSE(fits(&site, 2, 0, 9000));
	CU_ASSERT(fits(&site, 2, 0, 0)); /* without a window, whatever is promised */
	CU_ASSERT_FALSE(fits(&site, 5, 0, 9000));
	CU_ASSERT(why.never);
	end();
}

static void nested_and_back_to_back(void)
{
	bool closed;

	begin();
	promise("R1", 0, 2000, 3000, "n0", 2);
	promise("R2", 0, 3000, 4000, "n0", 2); /* one after the other: never more than two */
	promise("R3", 0, 3500, 3600, "n0", 1);
	look_alone();
	CU_ASSERT(fits(&site, 2, 0, 3500));
	CU_ASSERT_FALSE(fits(&site, 2, 0, 3501));
	CU_ASSERT(fits(&site, 1, 0, 99999));
	CU_ASSERT_EQUAL(least(2000, 3000, &closed), 2);
	CU_ASSERT_FALSE(closed);
	CU_ASSERT_EQUAL(least(3000, 4000, NULL), 1);
	CU_ASSERT_EQUAL(least(3600, 4000, NULL), 2);
	CU_ASSERT_EQUAL(least(4000, 5000, NULL), 4);
	CU_ASSERT_EQUAL(least(1000, 2000, NULL), 4);
	CU_ASSERT_EQUAL(least(2999, 3001, NULL), 2);
	end();
}

static void what_ends_before_makes_room(void)
{
	begin();
	promise("R1", 0, 2000, 3000, "n0", 2);
	runs("n0", 2, 2000, "workq");
	look_alone();
	CU_ASSERT(fits(&site, 2, 0, 9000)); /* the two that run are gone when the block begins */
	CU_ASSERT_EQUAL(least(1500, 2500, NULL), 2);
	CU_ASSERT_EQUAL(least(2000, 2500, NULL), 2);
	running[0].till = 2001;
	look_alone();
	CU_ASSERT_FALSE(fits(&site, 1, 0, 9000));
	CU_ASSERT_EQUAL(least(2000, 2500, NULL), 0);
	end();
}

static void what_is_placed_counts_until_it_ends(void)
{
	begin();
	promise("R1", 0, 2000, 3000, "n0", 2);
	look_alone();
	CU_ASSERT(placed(2, 1500, "(n0:ncpus=2)"));
	CU_ASSERT(placed(2, 9000, "(n0:ncpus=2)")); /* the first one has gone by then */
	CU_ASSERT_EQUAL(nodes[0].free[0], 0);
	look_alone();
	CU_ASSERT(placed(2, 2001, "(n0:ncpus=2)"));
	CU_ASSERT_FALSE(placed(1, 9000, "(n0:ncpus=1)"));
	CU_ASSERT(placed(2, 2000, "(n0:ncpus=2)"));
	end();
}

static void exclusive_jobs_keep_off(void)
{
	bool closed;

	begin();
	promise("R1", 0, 2000, 3000, "n0", 1);
	runs("n0", 1, 1900, "workq");
	running[0].share = KEEL_SHARE_EXCL;
	look_alone();
	least(1800, 1950, &closed);
	CU_ASSERT(closed);
	least(1900, 1950, &closed);
	CU_ASSERT_FALSE(closed);
	exec_gone(running[--n_running].exec);
	nodes[0].jobs = 0;
	look_alone();
	CU_ASSERT(fits(&site, 1, KEEL_SHARE_EXCL, 2000));
	CU_ASSERT_FALSE(fits(&site, 1, KEEL_SHARE_EXCL, 2001));
	CU_ASSERT_EQUAL(why.from, 2000);
	CU_ASSERT_FALSE(fits(&site, 1, KEEL_SHARE_EXCLHOST, 2001));
	CU_ASSERT(fits(&site, 1, KEEL_SHARE_SHARED, 2001));
	end();
}

static void closed_is_closed(void)
{
	bool closed;

	begin();
	promise("M1", KEEL_BLOCK_WHATEVER, 2000, 3000, "n0", 4);
	runs("n0", 3, 90000, "workq"); /* may run into it */
	look_alone();
	CU_ASSERT(fits(&site, 1, 0, 2000));
	CU_ASSERT_FALSE(fits(&site, 1, 0, 2001));
	CU_ASSERT_FALSE(fits(&site, 0, 0, 2001));
	least(2500, 2600, &closed);
	CU_ASSERT(closed);
	least(3000, 3600, &closed);
	CU_ASSERT_FALSE(closed);
	CU_ASSERT_EQUAL(least(3000, 3600, NULL), 1);
	site.at = 2500;
	look();
	CU_ASSERT_FALSE(nodes[0].usable);
	site.at = 3000;
	look();
	CU_ASSERT(nodes[0].usable);
	CU_ASSERT_EQUAL(nodes[0].free[0], 1);
	end();
}

static void a_block_that_began_is_charged_once(void)
{
	begin();
	promise("R1", KEEL_BLOCK_BEGAN, 500, 3000, "n0", 3);
	promise("R2", 0, 2000, 2500, "n0", 1);
	promise("R3", 0, 3000, 4000, "n0", 3);
	runs("n0", 2, 9000, "R1"); /* inside it */
	look_alone();
	CU_ASSERT_EQUAL(nodes[0].free[0], 1);
	CU_ASSERT(fits(&site, 1, 0, 2000));
	CU_ASSERT_FALSE(fits(&site, 1, 0, 2001));
	CU_ASSERT_STRING_EQUAL(why.what, "R2");
	CU_ASSERT_EQUAL(least(2500, 9000, NULL), 1);
	CU_ASSERT_EQUAL(least(4000, 9000, NULL), 4); /* what is inside ends with it */
	end();
}

static void one_that_should_have_begun_is_taken(void)
{
	begin();
	promise("R1", 0, 900, 3000, "n0", 3);
	look_alone();
	CU_ASSERT_EQUAL(nodes[0].free[0], 1);
	CU_ASSERT(nodes[0].in_use);
	CU_ASSERT(fits(&site, 1, 0, 9000));
	CU_ASSERT_FALSE(fits(&site, 1, KEEL_SHARE_EXCL, 9000));
	end();
}

static void copies_have_their_own_time(void)
{
	struct snapshot *copy;

	begin();
	promise("R1", 0, 2000, 3000, "n0", 2);
	runs("n0", 3, 9000, "workq");
	look_alone();
	CU_ASSERT_FALSE(fits(&site, 1, 0, 9000));
	copy = snapshot_copy(&site);
	place_vacate(copy, running[0].exec, 0, NULL, 9000);
	CU_ASSERT(fits(copy, 2, 0, 9000)); /* later, too */
	CU_ASSERT_FALSE(fits(copy, 3, 0, 9000));
	place_occupy(copy, running[0].exec, 0, NULL, 9000);
	CU_ASSERT_FALSE(fits(copy, 1, 0, 9000));
	place_vacate(copy, running[0].exec, 0, NULL, 1500); /* it would not have been there by then */
	CU_ASSERT(fits(copy, 4, 0, 2000));
	CU_ASSERT_FALSE(fits(copy, 1, 0, 2001));
	CU_ASSERT_FALSE(fits(&site, 1, 0, 9000));
	CU_ASSERT(fits(&site, 1, 0, 2000));
	snapshot_copy_free(copy);
	end();
}

static void a_job_goes_on_beside_blocks(void)
{
	struct keel_exec *exec;

	begin();
	promise("R1", 0, 2000, 3000, "n0", 3);
	look();
	exec = on("n0", 2);
	CU_ASSERT_FALSE(place_again(&site, exec, 0, 2001, &why));
	CU_ASSERT_STRING_EQUAL(why.what, "R1");
	CU_ASSERT_EQUAL(nodes[0].free[0], 4);
	CU_ASSERT(place_again(&site, exec, 0, 2000, &why));
	CU_ASSERT_EQUAL(nodes[0].free[0], 2);
	CU_ASSERT(fits(&site, 2, 0, 2000));
	exec_gone(exec);
	end();
}

static void longer_jobs_after_shorter_ones(void)
{
	begin();
	promise("R1", 0, 2000, 3000, "n0", 4);
	promise("R2", 0, 4000, 5000, "n1", 4);
	look();
	shut(2);
	CU_ASSERT(placed(1, 9000, "") == false);
	CU_ASSERT_STRING_EQUAL(why.what, "R1");
	CU_ASSERT(placed(1, 3500, "(n1:ncpus=1)"));
	CU_ASSERT(placed(1, 1500, "(n0:ncpus=1)")); /* bounds for longer ones are no bounds for it */
	CU_ASSERT(placed(1, 3500, "(n1:ncpus=1)"));
	end();
}

static void blocks_go_and_are_replaced(void)
{
	struct block *b;

	begin();
	promise("R1", 0, 2000, 3000, "n0", 3);
	promise("R1", 0, 4000, 5000, "n0", 3);
	promise("R1", 0, 6000, 7000, "n0", 3);
	CU_ASSERT_EQUAL(spans_next(&spans, 1000), 2000);
	CU_ASSERT_EQUAL(spans_next(&spans, 3000), 4000);
	CU_ASSERT_EQUAL(spans_next(&spans, 7000), INT64_MAX);
	while ((b = spans_at_least(&spans, "R1", 1)))
		spans_drop(&spans, b);
	CU_ASSERT_EQUAL(spans.n, 1);
	CU_ASSERT_PTR_NOT_NULL(spans_get(&spans, "R1", 0));
	CU_ASSERT_EQUAL(spans_of(&spans, "n0")->n, 1);
	b = block_make(&(struct keel_sched_block){ .id = "R1", .from = 2000, .till = 2500 }, on("n1", 2), exec_gone);
	CU_ASSERT(spans_put(&spans, b));
	CU_ASSERT_EQUAL(spans.n, 1);
	CU_ASSERT_EQUAL(spans_of(&spans, "n0")->n, 0);
	CU_ASSERT_EQUAL(spans_of(&spans, "n1")->n, 1);
	look();
	CU_ASSERT_PTR_NULL(nodes[0].future);
	CU_ASSERT_PTR_NOT_NULL(nodes[1].future);
	end();
}

static bool four_fit(void *arg, struct snapshot *s)
{
	const int64_t *longest = arg;

	return fits(s, 4, 0, s->at + *longest);
}

/* The first moment at which four cpus are free for so long; -1: never. */
static int64_t first_moment(struct calendar *c, int64_t duration)
{
	struct search *s = search_begin(c, &site, duration, duration, NOW, four_fit, &duration);
	enum found found;
	int64_t at;

	while ((found = search_step(s)) == FOUND_MORE)
		;
	at = found == FOUND_IT ? search_at(s) : -1;
	search_free(s);
	return at;
}

static void plans_keep_off(void)
{
	struct calendar c;
	struct promiser *p;

	begin();
	promise("R1", 0, 2000, 3000, "n0", 3);
	promise("R2", 0, 5000, 6000, "n0", 1);
	runs("n0", 2, 1400, "workq");
	look_alone();
	calendar_init(&c, NOW, 0, exec_gone);
	calendar_end(&c, 1400, 1400, on("n0", 2), 0, "running");
	for (p = spans.by_id; p; p = p->hh.next)
		CU_ASSERT(calendar_block(&c, p->first));
	CU_ASSERT_EQUAL(first_moment(&c, 600), 1400);
	CU_ASSERT_EQUAL(first_moment(&c, 601), 3000);
	CU_ASSERT_EQUAL(first_moment(&c, 2000), 3000);
	CU_ASSERT_EQUAL(first_moment(&c, 2001), 6000);
	calendar_fini(&c);
	end();
}

/* ---- by lot -------------------------------------------------------------------------------------------------- */

static uint32_t seed = 7;

static bool agree(struct snapshot *s)
{
	int64_t till = s->at + 1 + pick(&seed, 1500);
	double by_gap = s->node[0].free[0] - spans_gap(s, 0, 0, till), other = least(s->at, till, NULL);

	if (by_gap != other)
		printf("\n%lld to %lld: %g, not %g\n", (long long)s->at, (long long)till, by_gap, other);
	return by_gap == other;
}

static void site_by_lot(void)
{
	static const char *const ids[] = { "A", "B", "C", "D", "E" };
	uint32_t i, n = 1 + pick(&seed, 5);

	begin();
	amounts[0][0] = 100;
	for (i = 0; i < n; i++) {
		int64_t from = 800 + pick(&seed, 1000);
		bool began = from <= NOW && pick(&seed, 2);

		promise(ids[i], began ? KEEL_BLOCK_BEGAN : 0, from, (from > NOW ? from : NOW) + 1 + pick(&seed, 900), "n0", 1 + pick(&seed, 9));
	}
	for (i = pick(&seed, 5); i > 0; i--)
		runs("n0", 1 + pick(&seed, 9), NOW + 1 + pick(&seed, 1500), pick(&seed, 3) ? "workq" : ids[0]);
	look_alone();
}

/* Blocks begin and end and jobs end, up to `at`. */
static void time_goes_on(struct snapshot *s, int64_t at)
{
	const struct promiser *p;
	uint32_t i;

	for (; s->at < at; s->at++) {
		int64_t now = s->at + 1;

		for (i = 0; i < n_running; i++)
			if (running[i].till == now && !spans_inside(&spans, "n0", running[i].queue))
				place_vacate(s, running[i].exec, 0, NULL, running[i].till);
		for (p = spans.by_id; p; p = p->hh.next)
			if (p->first->till == now && p->first->till > NOW)
				spans_begin(s, p->first, false);
		for (p = spans.by_id; p; p = p->hh.next)
			if (p->first->from == now)
				spans_begin(s, p->first, true);
	}
}

/* What is known by gaps is what is found by looking at every block and job. */
static void gaps_agree_with_a_look(void)
{
	struct snapshot *copy;
	uint32_t round, k;
	int64_t ends;

	for (round = 0; round < 400; round++) {
		site_by_lot();
		for (k = 0; k < 10; k++)
			CU_ASSERT(agree(&site));
		ends = NOW + 1 + pick(&seed, 1500);
		if (placed(3, ends, "(n0:ncpus=3)"))
			runs("n0", 3, ends, "workq");
		for (k = 0; k < 10; k++)
			CU_ASSERT(agree(&site));
		copy = snapshot_copy(&site);
		CU_ASSERT_FATAL(copy != NULL);
		for (k = 0; k < 5; k++) {
			time_goes_on(copy, copy->at + 1 + pick(&seed, 300));
			CU_ASSERT(agree(copy));
		}
		snapshot_copy_free(copy);
		CU_ASSERT(agree(&site));
		end();
	}
}

TESTS_MAIN("spans", TEST(gaps_agree_with_a_look), TEST(a_window_ends_where_a_block_begins), TEST(nested_and_back_to_back),
	   TEST(what_ends_before_makes_room), TEST(what_is_placed_counts_until_it_ends), TEST(exclusive_jobs_keep_off),
	   TEST(closed_is_closed), TEST(a_block_that_began_is_charged_once), TEST(one_that_should_have_begun_is_taken),
	   TEST(copies_have_their_own_time), TEST(a_job_goes_on_beside_blocks), TEST(longer_jobs_after_shorter_ones),
	   TEST(blocks_go_and_are_replaced), TEST(plans_keep_off))
