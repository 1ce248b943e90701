/* SPDX-License-Identifier: Apache-2.0
 *
 * test_find_many.c - places in time among so many vnodes that some of them are tried before all have been looked at.
 */
#define NODES 1000
#define SLICE "slice = \"1ms\";"
#include "test_world.h"

static char said[20000];
static uint32_t n_said;

static void found(struct keel_mod *mod, void *arg, const struct keel_sched_place *place)
{
	(void)mod, (void)arg;
	n_said++;
	snprintf(said, sizeof(said), "%s", place->exec_vnode ? place->exec_vnode : place->why);
}

static void set_up(void)
{
	world_begin();
}

/* From `first` to `last` nothing is free in [from, till). */
static void taken(const char *id, int first, int last, int64_t from, int64_t till)
{
	static char text[40 * NODES];
	char *at = text;

	for (int i = first; i <= last; i++)
		at += sprintf(at, "%s(n%d:ncpus=4)", i > first ? "+" : "", i);
	blocks_part(id, 0, NULL, from, till, text, 0);
}

static void says(const char *select, const char *place, int64_t from, int64_t till, const char *wanted)
{
	struct keel_sched_wish w = { .size = sizeof(w), .select = select, .place = place, .from = now() + from,
				     .till = now() + till };

	n_said = 0;
	CU_ASSERT_EQUAL(keel_sched_find(&w, keel_mock_self(mock), found, NULL, NULL), 0);
	while (!n_said && keel_mock_next(mock))
		;
	CU_ASSERT_STRING_EQUAL(said, wanted);
	if (strcmp(said, wanted) != 0)
		printf("\n%.200s, not %s\n", said, wanted);
}

static void test_some(void)
{
	says("1:ncpus=4", "free", 100, 200, "(n0:ncpus=4)");
	taken("R1", 0, 199, 100, 200);
	says("1:ncpus=4", "free", 100, 200, "(n200:ncpus=4)");
	says("1:ncpus=4", "free", 200, 300, "(n0:ncpus=4)");
	says("1:ncpus=4", "excl", 150, 300, "(n200:ncpus=4)");
	taken("R2", 200, 998, 100, 200);
	says("1:ncpus=4", "free", 100, 200, "(n999:ncpus=4)");
	says("2:ncpus=4", "free", 199, 300, "Insufficient amount of resource: ncpus (R: 8 A: 4 T: 4000)");
	says("2:ncpus=4", "free", 200, 300, "(n0:ncpus=4)+(n1:ncpus=4)");
	says("1:vnode=n999:ncpus=4+1:vnode=n0:ncpus=4", "free", 200, 300, "(n999:ncpus=4)+(n0:ncpus=4)");
	says("1:ncpus=4:vnode=n999", "free", 100, 200, "(n999:ncpus=4)");
	says("1001:ncpus=1", "vscatter", 300, 400, "Not enough total nodes available");
}

/* Hosts of two vnodes each, which are far from each other in the order. */
static void test_hosts(void)
{
	for (int i = 0; i < NODES / 2; i++) {
		keel_mock_set(node[i + NODES / 2].obj, "resources_available", "host", node[i].name);
		keel_mock_set(node[i].obj, "Priority", NULL, "10");
	}
	shape++;
	generation++;
	taken("R1", 500, 700, 100, 200);
	says("1:ncpus=4", "free", 100, 200, "(n0:ncpus=4)");
	says("1:ncpus=4", "exclhost", 100, 200, "(n201:ncpus=4)");
	says("1:ncpus=8", "free", 100, 200, "(n201:ncpus=4+n701:ncpus=4)");
}

/* What one search has looked at is closed for the next. */
static void test_dropped(void)
{
	struct keel_sched_wish w = { .size = sizeof(w), .select = "900:ncpus=4", .from = now(), .till = now() + 100 };

	taken("R1", 0, 500, 0, 50);
	CU_ASSERT_EQUAL(keel_sched_find(&w, keel_mock_self(mock), found, NULL, NULL), 0);
	keel_mock_next(mock);
	keel_sched_find_drop(keel_mock_self(mock), NULL);
	says("2:ncpus=4", "free", 0, 50, "(n501:ncpus=4)+(n502:ncpus=4)");
	says("900:ncpus=4", "free", 0, 51, "Insufficient amount of resource: ncpus (R: 3600 A: 1996 T: 4000)");
	says("2:ncpus=4", "scatter", 50, 60, "(n0:ncpus=4)+(n1:ncpus=4)");
}

TESTS_MAIN_BETWEEN("find_many", set_up, tear_down, TEST(test_some), TEST(test_hosts), TEST(test_dropped))
