/* SPDX-License-Identifier: Apache-2.0
 *
 * test_shrink.c - a job with fewer vnodes: what stays keeps its slots, the rest is free, and nothing else is touched.
 */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mocked.h"
#include "with_resources.h"

#define JOB "1.svr"

extern const struct keel_module keel_module;
KEEL_USE_OPT(node);

static struct keel_obj *vnode[4]; /* n1 n2 of host n1, n3 n4 of host n3 */

static int32_t listen_not(struct keel_mod *mod, struct keel_mod *me, const struct keel_task_events *events)
{
	(void)mod, (void)me, (void)events;
	return 0;
}

static void no_hosts(struct keel_mod *mod, struct keel_mod *me, const char *(*host_of)(struct keel_mod *, const char *))
{
	(void)mod, (void)me, (void)host_of;
}

static void set_up(void)
{
	static const struct keel_task_api tasks = { .size = sizeof(tasks), .listen = listen_not, .set_host_of = no_hosts };
	struct keel_module alone = keel_module;
	struct keel_err err = { 0 };

	mock = mock_with_resources();
	keel_mock_service(mock, "task", &tasks);
	alone.requires_modules = NULL;
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &alone, NULL, &err));
	for (int i = 0; i < 4; i++) {
		char name[3] = { 'n', (char)('1' + i), 0 };

		vnode[i] = keel_mock_object(mock, "node", name);
		keel_mock_set(vnode[i], "Mom", NULL, i < 2 ? "n1" : "n3");
		keel_mock_set(vnode[i], "resources_available", "ncpus", "8");
	}
	keel_mock_advance(mock, 5000);
}

static uint32_t taken(int node)
{
	return keel_node_state(vnode[node]) & (KEEL_NODE_JOB_BUSY | KEEL_NODE_JOB_EXCLUSIVE);
}

static void place(const char *id, const char *vnodes, int32_t share)
{
	struct keel_err err = { 0 };
	char *hosts;

	CU_ASSERT_EQUAL_FATAL(keel_node_assign(id, vnodes, share, &hosts, &err), 0);
	free(hosts);
}

static void is(int node, const char *jobs, const char *ncpus, const char *mem)
{
	const char *has = keel_mock_text(vnode[node], "jobs", NULL);

	CU_ASSERT_STRING_EQUAL(has ? has : "", jobs);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(vnode[node], "resources_assigned", "ncpus"), ncpus);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(vnode[node], "resources_assigned", "mem"), mem);
}

static void shrinks(const char *before, const char *after, int32_t share)
{
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(keel_node_shrink(JOB, before, after, share, &err), 0);
	CU_ASSERT_STRING_EQUAL(err.text, "");
}

static void test_vnodes(void)
{
	static const char all[] = "(n1:ncpus=1+n2:ncpus=2:mem=1kb)+(n3:ncpus=2:mem=3kb)+(n3:ncpus=1)+(n4:ncpus=1)";

	place("0.svr", "(n3:ncpus=1)", KEEL_SHARE_SHARED);
	place(JOB, all, KEEL_SHARE_SHARED);
	is(2, "0.svr/0, 1.svr/1, 1.svr/2, 1.svr/3", "4", "3kb");
	/* a whole vnode, then the first of two parts of one, in another order */
	shrinks(all, "(n1:ncpus=1)+(n3:ncpus=2:mem=3kb)+(n3:ncpus=1)+(n4:ncpus=1)", KEEL_SHARE_SHARED);
	is(1, "", "0", "0kb");
	is(0, "1.svr/0", "1", "0kb");
	shrinks("(n1:ncpus=1)+(n3:ncpus=2:mem=3kb)+(n3:ncpus=1)+(n4:ncpus=1)", "(n1:ncpus=1)+(n4:ncpus=1)+(n3:ncpus=1)",
		KEEL_SHARE_SHARED);
	is(2, "0.svr/0, 1.svr/3", "2", "0kb");
	is(3, "1.svr/0", "1", "0kb");
	keel_node_release(JOB, "(n1:ncpus=1)+(n4:ncpus=1)+(n3:ncpus=1)", NULL, true);
	is(0, "", "0", "0kb");
	is(2, "0.svr/0", "1", "0kb");
	is(3, "", "0", "0kb");
}

/* Less of a vnode: its first slots stay. */
static void test_trim(void)
{
	place(JOB, "(n1:ncpus=8:mem=8kb)+(n2:ncpus=1)", KEEL_SHARE_SHARED);
	CU_ASSERT_EQUAL(taken(0), KEEL_NODE_JOB_BUSY);
	shrinks("(n1:ncpus=8:mem=8kb)+(n2:ncpus=1)", "(n1:ncpus=2:mem=3kb)+(n2:ncpus=1)", KEEL_SHARE_SHARED);
	is(0, "1.svr/0, 1.svr/1", "2", "3kb");
	CU_ASSERT_EQUAL(taken(0), 0);
	shrinks("(n1:ncpus=2:mem=3kb)+(n2:ncpus=1)", "(n1:ncpus=2)+(n2:ncpus=1)", KEEL_SHARE_SHARED);
	is(0, "1.svr/0, 1.svr/1", "2", "0kb");
}

static void test_refused(void)
{
	static const char all[] = "(n1:ncpus=1)+(n2:ncpus=2)";
	static const char *const bad[] = { "(n1:ncpus=2)", "(n3:ncpus=1)", "(n1:ncpus=1)+(n1:ncpus=1)", "(n1:ncpus=1:mem=1kb)" };
	struct keel_err err = { 0 };

	place(JOB, all, KEEL_SHARE_SHARED);
	for (size_t i = 0; i < KEEL_COUNT(bad); i++)
		CU_ASSERT_EQUAL(keel_node_shrink(JOB, all, bad[i], KEEL_SHARE_SHARED, &err), PBSE_IVALREQ);
	CU_ASSERT_NOT_EQUAL(keel_node_shrink(JOB, all, "(n1", KEEL_SHARE_SHARED, &err), 0);
	is(0, "1.svr/0", "1", "0kb");
	is(1, "1.svr/0, 1.svr/1", "2", "0kb");
}

/* Suspended: what it gave back of the part that goes is not given back twice. */
static void test_suspended(void)
{
	static const char all[] = "(n1:ncpus=1:mem=1kb)+(n3:ncpus=2:mem=2kb)";

	place(JOB, all, KEEL_SHARE_SHARED);
	keel_node_release(JOB, all, "ncpus", false);
	place("2.svr", "(n3:ncpus=4)", KEEL_SHARE_SHARED);
	is(2, "2.svr/0, 2.svr/1, 2.svr/2, 2.svr/3", "4", "2kb");
	shrinks(all, "(n1:ncpus=1:mem=1kb)", KEEL_SHARE_SHARED);
	is(0, "", "0", "1kb");
	is(2, "2.svr/0, 2.svr/1, 2.svr/2, 2.svr/3", "4", "0kb");
	place(JOB, "(n1:ncpus=1:mem=1kb)", KEEL_SHARE_SHARED);
	is(0, "1.svr/0", "1", "1kb");
}

/* Hosts that a job has for itself: one that it keeps stays closed, one that it leaves opens. */
static void test_exclusive_hosts(void)
{
	place(JOB, "(n1:ncpus=1)+(n2:ncpus=1)+(n3:ncpus=1)", KEEL_SHARE_EXCLHOST);
	CU_ASSERT_EQUAL(taken(3), KEEL_NODE_JOB_EXCLUSIVE);
	shrinks("(n1:ncpus=1)+(n2:ncpus=1)+(n3:ncpus=1)", "(n1:ncpus=1)+(n3:ncpus=1)", KEEL_SHARE_EXCLHOST);
	CU_ASSERT_EQUAL(taken(1), KEEL_NODE_JOB_EXCLUSIVE);
	CU_ASSERT_EQUAL(keel_node_jobs_on(vnode[1]), 0);
	shrinks("(n1:ncpus=1)+(n3:ncpus=1)", "(n1:ncpus=1)", KEEL_SHARE_EXCLHOST);
	CU_ASSERT_EQUAL(taken(2), 0);
	CU_ASSERT_EQUAL(taken(3), 0);
	CU_ASSERT_EQUAL(taken(1), KEEL_NODE_JOB_EXCLUSIVE);
	keel_node_release(JOB, "(n1:ncpus=1)", NULL, true);
	for (int i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(taken(i), 0);
}

/* The time grows with the chunks, not with their square, in either order. */
static void test_many(void)
{
	enum { CHUNKS = 20000 };
	static char all[CHUNKS * 16], half[CHUNKS * 16], back[CHUNKS * 16];
	size_t len = 0, half_len = 0, back_len = 0;
	clock_t before;

	for (int i = 0; i < CHUNKS; i++) {
		int down = CHUNKS - 1 - i;

		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s(n%d:ncpus=%d)", i ? "+" : "", 1 + i % 4, i % 2);
		if (i % 2 == 0)
			half_len += (size_t)snprintf(half + half_len, sizeof(half) - half_len, "%s(n%d:ncpus=0)", i ? "+" : "",
						     1 + i % 4);
		if (down % 2 == 0)
			back_len += (size_t)snprintf(back + back_len, sizeof(back) - back_len, "%s(n%d:ncpus=0)",
						     back_len ? "+" : "", 1 + down % 4);
	}
	before = clock();
	place(JOB, all, KEEL_SHARE_SHARED);
	shrinks(all, half, KEEL_SHARE_SHARED);
	shrinks(half, back, KEEL_SHARE_SHARED);
	CU_ASSERT(clock() - before < 8 * CLOCKS_PER_SEC); /* with sanitizers, too */
	CU_ASSERT_STRING_EQUAL(keel_mock_text(vnode[1], "resources_assigned", "ncpus"), "0");
}

TESTS_MAIN_BETWEEN("shrink", set_up, tear_down, TEST(test_vnodes), TEST(test_trim), TEST(test_refused), TEST(test_suspended),
		   TEST(test_exclusive_hosts), TEST(test_many))
