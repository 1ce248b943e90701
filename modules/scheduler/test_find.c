/* SPDX-License-Identifier: Apache-2.0
 *
 * test_find.c - places in time: beside blocks and running jobs, soonest ones, what is given up and what is kept; and times
 * past modules/scheduler/find.c TIME_MAX.
 */
#include "test_world.h"

static char said[8][200]; /* "arg from place" */
static uint32_t n_said;

static void found(struct keel_mod *mod, void *arg, const struct keel_sched_place *place)
{
	(void)mod;
	snprintf(said[n_said++], sizeof(said[0]), "%s %lld %s", (const char *)arg, (long long)(place->from - now()),
		 place->exec_vnode ? place->exec_vnode : place->why);
	if (!place->exec_vnode)
		CU_ASSERT_NOT_EQUAL(place->code, 0);
}

static void set_up(void)
{
	n_said = 0;
	world_begin();
}

static struct keel_sched_wish wish(const char *select, int64_t from, int64_t till)
{
	return (struct keel_sched_wish){ .size = sizeof(struct keel_sched_wish), .select = select, .place = "free",
					 .from = now() + from, .till = now() + till };
}

static void ask(const struct keel_sched_wish *w, const char *arg)
{
	struct keel_err err = { 0 };
	uint32_t before = n_said;

	CU_ASSERT_EQUAL(keel_sched_find(w, keel_mock_self(mock), found, (void *)(uintptr_t)arg, &err), 0);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_EQUAL(n_said, before);
}

static void says(const struct keel_sched_wish *w, const char *wanted)
{
	int64_t began = now();

	n_said = 0;
	ask(w, "a");
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL_FATAL(n_said, 1);
	CU_ASSERT_EQUAL(now(), began);
	CU_ASSERT_STRING_EQUAL(said[0] + 2, wanted);
	if (strcmp(said[0] + 2, wanted) != 0)
		printf("\n%s, not %s\n", said[0] + 2, wanted);
}

static void test_window(void)
{
	struct keel_sched_wish w = wish("2:ncpus=3", 100, 200);

	says(&w, "100 (n0:ncpus=3)+(n1:ncpus=3)");
	blocks_part("R1.svr", 0, "R1", 150, 160, "(n0:ncpus=2)", 0);
	blocks_part("R2.svr", 0, NULL, 50, 100, "(n1:ncpus=4)", KEEL_BLOCK_ALONE);
	blocks_part("R3.svr", 0, NULL, 200, 300, "(n1:ncpus=4)", KEEL_BLOCK_ALONE);
	says(&w, "100 (n1:ncpus=3)+(n2:ncpus=3)");
	job_runs("workq", "(n1:ncpus=2)", 101);
	job_runs("workq", "(n2:ncpus=2)", 100);
	says(&w, "100 (n2:ncpus=3)+(n3:ncpus=3)");
	w = wish("100:ncpus=4", 100, 200);
	says(&w, "100 Insufficient amount of resource: ncpus (R: 400 A: 16 T: 16)");
	w = wish("4:ncpus=3", 100, 200);
	says(&w, "100 Job would conflict with reservation or top job");
}

static void test_now(void)
{
	struct keel_sched_wish w = wish("1:ncpus=4", 0, 50);

	job_runs("workq", "(n0:ncpus=1)", 0);
	says(&w, "0 (n1:ncpus=4)");
	node[1].down = node[1].closed_inside = true;
	node[2].down = true; /* to all but those inside a holder, who are no matter in times to come */
	nodes_changed();
	says(&w, "0 (n2:ncpus=4)");
	node[3].bits = KEEL_NODE_JOB_EXCLUSIVE;
	blocks_part("R1.svr", 0, "R1", -10, 10, "(n2:ncpus=1)", KEEL_BLOCK_BEGAN);
	nodes_changed();
	says(&w, "0 (n3:ncpus=4)");
	blocks_part("M1.svr", 0, "M1", 40, 60, "(n3:ncpus=1)", KEEL_BLOCK_WHATEVER);
	says(&w, "0 Insufficient amount of resource: ncpus (R: 4 A: 3 T: 4)");
}

/* What has one vnode of a host for itself may have all of it. */
static void test_host(void)
{
	struct keel_sched_wish w = wish("1:ncpus=1:vnode=n1", 5, 50);

	keel_mock_set(node[1].obj, "resources_available", "host", "n0");
	shape++;
	generation++;
	keel_mock_set(job_runs("workq", "(n0:ncpus=1)", 10), "Resource_List", "place", "exclhost");
	says(&w, "5 Insufficient amount of resource: vnode ");
	w.from = now() + 10;
	says(&w, "10 (n1:ncpus=1)");
	w.place = "exclhost";
	blocks_part("R1.svr", 0, "R1", 40, 60, "(n0:ncpus=1)", 0);
	says(&w, "10 Job would conflict with reservation or top job");
}

/* One that should have ended counts as long as it runs. */
static void test_late(void)
{
	struct keel_sched_wish w;

	job_runs("workq", "(n0:ncpus=1)", 10);
	keel_mock_advance(mock, 20000);
	w = wish("1:ncpus=4:vnode=n0", 0, 50);
	says(&w, "0 Insufficient amount of resource: ncpus ");
	w = wish("1:ncpus=4:vnode=n0", 1, 50);
	says(&w, "1 (n0:ncpus=4)");
}

/* Inside a block a job is there as the block is. */
static void test_inside(void)
{
	struct keel_sched_wish w = wish("1:ncpus=2:vnode=n0", 5, 50);

	blocks_part("R1.svr", 0, "R1", -10, 20, "(n0:ncpus=2)", KEEL_BLOCK_BEGAN);
	node[0].held = 2;
	job_runs("R1", "(n0:ncpus=2)", 1000);
	says(&w, "5 (n0:ncpus=2)");
}

static void test_soonest(void)
{
	struct keel_sched_wish w = wish("4:ncpus=3", 0, 0);

	w.duration = 100;
	says(&w, "0 (n0:ncpus=3)+(n1:ncpus=3)+(n2:ncpus=3)+(n3:ncpus=3)");
	job_runs("workq", "(n0:ncpus=2)", 50);
	says(&w, "50 (n0:ncpus=3)+(n1:ncpus=3)+(n2:ncpus=3)+(n3:ncpus=3)");
	job_runs("workq", "(n1:ncpus=2)", 70);
	blocks_part("R1.svr", 0, "R1", 160, 300, "(n0:ncpus=2)+(n1:ncpus=1)", 0);
	says(&w, "300 (n0:ncpus=3)+(n1:ncpus=3)+(n2:ncpus=3)+(n3:ncpus=3)");
	w.duration = 90;
	says(&w, "70 (n0:ncpus=3)+(n1:ncpus=3)+(n2:ncpus=3)+(n3:ncpus=3)");
	w.select = "1:ncpus=5";
	says(&w, "0 Insufficient amount of resource: ncpus (R: 5 A: 4 T: 4)");
	job_runs("workq", "(n3:ncpus=4)", 0); /* beyond a year */
	w.select = "4:ncpus=3";
	n_said = 0;
	ask(&w, "a");
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL_FATAL(n_said, 1);
	CU_ASSERT_STRING_EQUAL(said[0], "a 300 Job would conflict with reservation or top job");
}

static void test_gives_up_and_keeps(void)
{
	struct keel_sched_wish w = wish("1:ncpus=4:vnode=n0", 100, 200);

	blocks_part("R1.svr", 0, "R1", 100, 200, "(n0:ncpus=2)", KEEL_BLOCK_ALONE);
	w.except = "R1.svr";
	says(&w, "100 (n0:ncpus=4)");
	w.beside = "(n0:ncpus=1)";
	says(&w, "100 Insufficient amount of resource: ncpus ");
	w.select = "1:ncpus=3";
	says(&w, "100 (n0:ncpus=3)");
	w.place = "excl"; /* what is its own is no obstacle */
	says(&w, "100 (n0:ncpus=3)");
	w.place = "scatter";
	says(&w, "100 (n1:ncpus=3)");
	w.place = "vscatter";
	says(&w, "100 (n1:ncpus=3)");
	w.place = "pack";
	w.beside = "(n2:ncpus=1)";
	says(&w, "100 (n2:ncpus=3)");
}

static bool not_n0(struct keel_mod *mod, void *arg, struct keel_obj *obj)
{
	(void)mod, (void)arg;
	return strcmp(keel_id(obj), "n0") != 0;
}

static void test_usable(void)
{
	struct keel_sched_wish w = wish("1:ncpus=1", 100, 200);

	w.usable = not_n0;
	says(&w, "100 (n1:ncpus=1)");
	for (int i = 0; i < NODES; i++)
		keel_mock_set(node[i].obj, "partition", NULL, i == 3 ? "P" : NULL);
	w.partition = "P";
	shape++;
	generation++;
	says(&w, "100 (n3:ncpus=1)");
}

static void test_refused(void)
{
	struct keel_sched_wish w = wish("1:ncpus=1", 100, 100);
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(keel_sched_find(&w, keel_mock_self(mock), found, NULL, &err), PBSE_BADTSPEC);
	w.till = INT64_MAX / 4 + 1;
	CU_ASSERT_EQUAL(keel_sched_find(&w, keel_mock_self(mock), found, NULL, &err), PBSE_BADTSPEC);
	w.till = INT64_MAX;
	CU_ASSERT_EQUAL(keel_sched_find(&w, keel_mock_self(mock), found, NULL, &err), PBSE_BADTSPEC);
	w = wish("1:nosuch=1", 100, 200);
	CU_ASSERT_NOT_EQUAL(keel_sched_find(&w, keel_mock_self(mock), found, NULL, &err), 0);
	CU_ASSERT_STRING_NOT_EQUAL(err.text, "");
	w = wish("1:ncpus=1", 100, 200);
	w.place = "nowhere";
	CU_ASSERT_NOT_EQUAL(keel_sched_find(&w, keel_mock_self(mock), found, NULL, &err), 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(n_said, 0);
}

static void test_order_and_drop(void)
{
	struct keel_sched_wish w = wish("1:ncpus=1", 100, 200);
	static const char a[] = "a", b[] = "b", c[] = "c";

	ask(&w, a);
	ask(&w, b);
	ask(&w, c);
	keel_sched_find_drop(keel_mock_self(mock), (void *)(uintptr_t)b);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL_FATAL(n_said, 2);
	CU_ASSERT_EQUAL(said[0][0], 'a');
	CU_ASSERT_EQUAL(said[1][0], 'c');
	ask(&w, a);
	keel_mock_unload(me, NULL); /* all are dropped */
	CU_ASSERT_EQUAL(n_said, 2);
}

/* ---- in a cycle --------------------------------------------------------------------------------------------- */

static uint32_t cycles;

static void again(struct keel_mod *mod, void *arg, const struct keel_sched_place *place)
{
	struct keel_sched_wish w = wish("1:ncpus=4", 0, 1000);

	blocks_part(arg, 0, NULL, 0, 1000, place->exec_vnode, 0);
	if (++n_said < 3)
		CU_ASSERT_EQUAL(keel_sched_find(&w, mod, again, (void *)(uintptr_t)(n_said == 1 ? "R2" : "R3"), NULL), 0);
	CU_ASSERT_EQUAL(n_ran, 0);
}

static void on_cycle(struct keel_mod *mod)
{
	struct keel_sched_wish w = wish("1:ncpus=4", 0, 1000);

	if (cycles++ == 0)
		CU_ASSERT_EQUAL(keel_sched_find(&w, mod, again, (void *)(uintptr_t) "R1", NULL), 0);
}

/* Jobs are looked at when all searches are over, and see what was found. */
static void test_cycle(void)
{
	cycles = 0;
	keel_sched_on_cycle(keel_mock_self(mock), on_cycle);
	job_waits_in("workq", "1:ncpus=2", "free");
	keel_mock_advance(mock, 5000);
	CU_ASSERT_EQUAL(n_said, 3);
	CU_ASSERT(cycles >= 1);
	CU_ASSERT_EQUAL_FATAL(n_ran, 1);
	CU_ASSERT_STRING_EQUAL(ran[0], "0 (n3:ncpus=2)");
	keel_sched_on_cycle(NULL, NULL);
	cycles = 0;
	job_waits_in("workq", "1:ncpus=2", "free");
	keel_mock_advance(mock, 5000);
	CU_ASSERT_EQUAL(cycles, 0);
	CU_ASSERT_EQUAL(n_ran, 2);
}

static void answered(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	(void)mod, (void)arg, (void)text;
	CU_ASSERT_EQUAL(code, 0);
	n_said++;
}

/* A cycle that serves a qrun is for that alone. */
static void test_qrun(void)
{
	cycles = 0;
	keel_sched_on_cycle(keel_mock_self(mock), on_cycle);
	request_run(me, job_make("workq", "1:ncpus=1", "free", 0), "root", keel_mock_self(mock), answered, NULL);
	keel_mock_advance(mock, 1000);
	CU_ASSERT_EQUAL(n_said, 1);
	CU_ASSERT_EQUAL(n_ran, 1);
	CU_ASSERT_EQUAL(cycles, 0);
}

static void test_no_memory(void)
{
	long left = INJECTING ? 3 : 0;

	job_runs("workq", "(n0:ncpus=2)", 50);
	blocks_part("R1.svr", 0, "R1", 60, 300, "(n1:ncpus=2)", 0);
	for (; left < 600; left++) {
		struct keel_sched_wish w = wish("4:ncpus=3", 0, 0);
		struct keel_err err = { 0 };

		w.duration = 10;
		w.beside = "(n0:ncpus=1)";
		n_said = 0;
		CU_ASSERT_EQUAL_FATAL(keel_sched_find(&w, keel_mock_self(mock), found, (void *)(uintptr_t) "a", &err), 0);
		countdown = left;
		while (me && !n_said && ((struct state *)me->state)->finds)
			keel_mock_next(mock);
		countdown = -1;
		CU_ASSERT_EQUAL(n_said, 1);
		if (!INJECTING)
			break;
	}
}

TESTS_MAIN_BETWEEN("find", set_up, tear_down, TEST(test_window), TEST(test_now), TEST(test_host), TEST(test_late),
		   TEST(test_inside), TEST(test_soonest),
		   TEST(test_gives_up_and_keeps), TEST(test_usable), TEST(test_refused), TEST(test_order_and_drop),
		   TEST(test_cycle), TEST(test_qrun), TEST(test_no_memory))
