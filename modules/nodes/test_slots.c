/* SPDX-License-Identifier: Apache-2.0
 *
 * test_slots.c - a job is assigned all its vnodes or none.
 */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mocked.h"
#include "with_resources.h"

#define JOB "1.svr"
#define PLACES "(n1:ncpus=2)+(n1:ncpus=1)+(n2:ncpus=2)"
#define HOSTS "n1/0*2+n1/2+n2/0*2"

extern const struct keel_module keel_module;
KEEL_USE_OPT(node);

/* One strdup() or reallocarray() of the module fails: the mock has none. */
static long countdown = -1; /* until then; negative: never */
#pragma GCC visibility push(default)
char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = countdown > 0 && --countdown == 0 ? NULL : malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void *reallocarray(void *old, size_t n, size_t size)
{
	return countdown > 0 && --countdown == 0 ? NULL : realloc(old, n * size);
}
#pragma GCC visibility pop

static struct keel_obj *vnode[2];

static int32_t listen_to_nobody(struct keel_mod *mod, struct keel_mod *me, const struct keel_task_events *events)
{
	(void)mod, (void)me, (void)events;
	return 0;
}

static void no_hosts(struct keel_mod *mod, struct keel_mod *me,
		     const char *(*host_of)(struct keel_mod *me, const char *vnode))
{
	(void)mod, (void)me, (void)host_of;
}

static void set_up(void)
{
	static const struct keel_task_api tasks = {
		.size = sizeof(tasks), .listen = listen_to_nobody, .set_host_of = no_hosts,
	};
	struct keel_module alone = keel_module;
	struct keel_err err = { 0 };

	mock = mock_with_resources();
	keel_mock_service(mock, "task", &tasks);
	alone.requires_modules = NULL;
	CU_ASSERT_PTR_NOT_NULL(keel_mock_load(mock, &alone, NULL, &err));
	CU_ASSERT_STRING_EQUAL_FATAL(err.text, "");
	for (int i = 0; i < 2; i++) {
		const char *const names[] = { "n1", "n2" };

		vnode[i] = keel_mock_object(mock, "node", names[i]);
		keel_mock_set(vnode[i], "Mom", NULL, names[i]);
	}
}

static const char *ncpus_of(int node)
{
	const char *text = keel_mock_text(vnode[node], "resources_assigned", "ncpus");

	return text ? text : "0";
}

static void assigned(const char *hosts)
{
	struct keel_err err = { 0 };
	char *got = NULL;

	CU_ASSERT_EQUAL_FATAL(keel_node_assign(JOB, PLACES, KEEL_SHARE_SHARED, &got, &err), 0);
	CU_ASSERT_STRING_EQUAL(got, hosts);
	free(got);
}

static void keeps_its_slots(void)
{
	CU_ASSERT_STRING_EQUAL(keel_mock_text(vnode[0], "jobs", NULL), "1.svr/0, 1.svr/1, 1.svr/2");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(vnode[1], "jobs", NULL), "1.svr/0, 1.svr/1");
}

static void nowhere(void)
{
	CU_ASSERT_EQUAL(keel_node_jobs_on(vnode[0]), 0);
	CU_ASSERT_EQUAL(keel_node_jobs_on(vnode[1]), 0);
	CU_ASSERT_STRING_EQUAL(ncpus_of(0), "0");
	CU_ASSERT_STRING_EQUAL(ncpus_of(1), "0");
}

/* The second part requests more slots than a vnode can have, up to the largest number:
 * past modules/nodes/slots.c SLOTS_MAX. */
static void refused_it_is_nowhere(void)
{
	static const char *const many[] = { "1000001", "4294967294", "4294967295", "4294967296", "9007199254740992" };
	struct keel_err err = { 0 };
	char places[64], *got = NULL;

	for (size_t i = 0; i < KEEL_COUNT(many); i++) {
		snprintf(places, sizeof(places), "(n1:ncpus=2)+(n2:ncpus=%s)", many[i]);
		CU_ASSERT_EQUAL(keel_node_assign(JOB, places, KEEL_SHARE_SHARED, &got, &err), PBSE_BADATVAL);
		CU_ASSERT_PTR_NULL(got);
		nowhere();
	}
	CU_ASSERT_EQUAL(keel_node_assign(JOB, "(n2:ncpus=1000000)", KEEL_SHARE_SHARED, &got, &err), 0);
	CU_ASSERT_STRING_EQUAL(got, "n2/0*1000000");
	free(got);
	got = NULL;
	CU_ASSERT_EQUAL(keel_node_assign("2.svr", "(n2:ncpus=1)", KEEL_SHARE_SHARED, &got, &err),
			PBSE_BADATVAL);
	keel_node_release(JOB, "(n2:ncpus=1000000)", NULL, true);
	assigned(HOSTS);
}

/* Whichever allocation fails: the job has all or nothing there, and can be resumed and released. */
static void without_memory(void)
{
	struct keel_err err = { 0 };
	char *got = NULL;
	long n;

	for (n = 1; n <= 4; n++) { /* first vnode, first again, second, exec_host */
		countdown = n;
		CU_ASSERT_EQUAL(keel_node_assign(JOB, PLACES, KEEL_SHARE_SHARED, &got, &err), PBSE_SYSTEM);
		nowhere();
	}
	assigned(HOSTS);
	for (n = 1; n <= 2; n++) {
		countdown = n;
		keel_node_release(JOB, PLACES, "ncpus", false);
		CU_ASSERT_EQUAL(countdown, 0);
		CU_ASSERT_EQUAL(keel_node_jobs_on(vnode[0]), 1);
		CU_ASSERT_EQUAL(keel_node_jobs_on(vnode[1]), 1);
		CU_ASSERT_STRING_EQUAL(ncpus_of(0), "3");
		keeps_its_slots();
	}
	keel_node_release(JOB, PLACES, "ncpus", false);
	nowhere();
	countdown = 1; /* the first allocation of the resumption fails */
	CU_ASSERT_EQUAL(keel_node_assign(JOB, PLACES, KEEL_SHARE_SHARED, &got, &err), PBSE_SYSTEM);
	nowhere();
	assigned(HOSTS);
	keel_node_release(JOB, PLACES, "ncpus", false);
	keel_node_release(JOB, PLACES, NULL, true);
	nowhere();
}

/* Assigned again after a restart: each job has the slot that its exec_host names, and a job that got that slot
 * because it was free moves to another; an exec_host without slots, or of unknown hosts, is no error. */
static void its_slots_again(void)
{
	static const struct {
		const char *id, *places, *host, *jobs;
	} row[] = {
		{ "1.svr", "(n1:ncpus=1)", "n1/1", "1.svr/1" },
		{ "2.svr", "(n1:ncpus=3)", "n1/0*3", "1.svr/1, 2.svr/0, 2.svr/2, 2.svr/3" },
		{ "3.svr", "(n1:ncpus=1)", "n1/3", "1.svr/1, 2.svr/0, 2.svr/2, 2.svr/4, 3.svr/3" },
		{ "4.svr", "(n1:ncpus=0)", "n1/3*0", NULL },
		{ "5.svr", "(n1:ncpus=1)", NULL, NULL },
		{ "6.svr", "(n1:ncpus=1)", "n1", NULL },
		{ "7.svr", "(n1:ncpus=1)+(n1:ncpus=1)", "n1/99999999999+", "1.svr/1, 2.svr/0, 2.svr/2, 2.svr/4, 3.svr/3, "
								  "5.svr/5, 6.svr/6, 7.svr/7, 7.svr/8" },
	};
	struct keel_err err = { 0 };

	for (size_t i = 0; i < KEEL_COUNT(row); i++) {
		CU_ASSERT_EQUAL(keel_node_assign_again(row[i].id, row[i].places, KEEL_SHARE_SHARED,
						       row[i].host, &err), 0);
		if (row[i].jobs)
			CU_ASSERT_STRING_EQUAL(keel_mock_text(vnode[0], "jobs", NULL), row[i].jobs);
	}
	for (size_t i = 0; i < KEEL_COUNT(row); i++)
		keel_node_release(row[i].id, row[i].places, NULL, true);
	nowhere();
}

/* Parts alternate between two vnodes: each vnode is charged with its own. */
static void by_turns(void)
{
	static const char places[] = "(n2:ncpus=1)+(n1:ncpus=2+n2:ncpus=4)+(n1:ncpus=8)+(n2:ncpus=16)";
	struct keel_err err = { 0 };
	char *got = NULL;

	CU_ASSERT_EQUAL(keel_node_assign(JOB, places, KEEL_SHARE_EXCLHOST, &got, &err), 0);
	CU_ASSERT_STRING_EQUAL(got, "n2/0+n1/0*0+n1/2*8+n2/5*16");
	CU_ASSERT_STRING_EQUAL(ncpus_of(0), "10");
	CU_ASSERT_STRING_EQUAL(ncpus_of(1), "21");
	keel_node_release(JOB, places, NULL, true);
	nowhere();
	free(got);
}

/* The time for an assignment grows with the chunks, not with their square. */
static void many_chunks(void)
{
	enum { CHUNKS = 30000 };
	static char places[CHUNKS * 16];
	struct keel_err err = { 0 };
	char *got = NULL;
	clock_t before;
	size_t len = 0;

	for (int i = 0; i < CHUNKS; i++)
		len += (size_t)snprintf(places + len, sizeof(places) - len, "%s(n1:ncpus=%d)", i ? "+" : "", i % 2);
	before = clock();
	CU_ASSERT_EQUAL_FATAL(keel_node_assign(JOB, places, KEEL_SHARE_SHARED, &got, &err), 0);
	CU_ASSERT(clock() - before < 4 * CLOCKS_PER_SEC); /* with sanitizers, too */
	free(got);
}

TESTS_MAIN_BETWEEN("slots", set_up, tear_down, TEST(refused_it_is_nowhere),
		   TEST(its_slots_again), TEST(by_turns),
		   TEST(without_memory), TEST(many_chunks))
