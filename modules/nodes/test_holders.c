/* SPDX-License-Identifier: Apache-2.0
 *
 * test_holders.c - amounts that are held for the jobs inside a reservation, against a naive count after each step.
 */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "no_memory.h"
#include "with_resources.h"

extern const struct keel_module keel_module;
KEEL_USE_OPT(node);

enum { VNODES = 4, JOBS = 8, HOLDERS = 3, PARTS = 5 };
/* Of each vnode; of vnode n3 that n1 shares; of the first vnode of a job. */
enum res { NCPUS, MEM, LIC, SEAT, RESOURCES };
static const char *const names[RESOURCES] = { "ncpus", "mem", "lic", "seat" };
static const char *const holder_ids[HOLDERS + 1] = { "R1", "R2", "R3", NULL };

struct part {
	int vnode, n[RESOURCES];
};
struct things { /* what a job or a holder has */
	int n;
	struct part part[PARTS];
};
static struct job {
	bool there;
	const char *given_back; /* suspended */
	int answer, holder;     /* what on_holder() says now, and what was said when it came; HOLDERS: none */
	struct things has;
} jobs[JOBS];
static struct things held[HOLDERS];
static struct keel_mod *nodes;
static struct keel_obj *vnode[VNODES];
static uint32_t seed;

static int any(int below)
{
	seed = seed * 1664525u + 1013904223u;
	return (int)((seed >> 8) % (uint32_t)below);
}

static int32_t listen_never(struct keel_mod *mod, struct keel_mod *me, const struct keel_task_events *events)
{
	(void)mod, (void)me, (void)events;
	return 0;
}

static void no_hosts(struct keel_mod *mod, struct keel_mod *me, const char *(*host_of)(struct keel_mod *, const char *))
{
	(void)mod, (void)me, (void)host_of;
}

static const char *answer(struct keel_mod *me, const char *job_id)
{
	(void)me;
	return holder_ids[jobs[atoi(job_id)].answer];
}

static void resource(const char *name, const char *flag)
{
	struct keel_obj *obj = keel_mock_object(mock, "resource", name);

	keel_mock_set(obj, "type", NULL, "long");
	keel_mock_set(obj, "flag", NULL, flag);
}

static void set_up(void)
{
	static const struct keel_task_api tasks = { .size = sizeof(tasks), .listen = listen_never, .set_host_of = no_hosts };
	struct keel_module alone = keel_module;
	struct keel_err err = { 0 };

	mock = mock_with_resources();
	resource("lic", "nh");
	resource("seat", "fh");
	keel_mock_service(mock, "task", &tasks);
	alone.requires_modules = NULL;
	nodes = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(nodes);
	for (int i = 0; i < VNODES; i++) {
		char name[3] = { 'n', (char)('1' + i), 0 };

		vnode[i] = keel_mock_object(mock, "node", name);
		keel_mock_set(vnode[i], "Mom", NULL, i < 2 ? "n1" : "n3");
		keel_mock_set(vnode[i], "resources_available", "ncpus", "64");
	}
	keel_mock_set(vnode[0], "resources_available", "lic", "@n3");
	keel_mock_set(vnode[2], "resources_available", "lic", "100");
	for (int j = 0; j < JOBS; j++)
		jobs[j] = (struct job){ .answer = HOLDERS, .holder = HOLDERS };
	memset(held, 0, sizeof(held));
	keel_node_on_holder(keel_mock_self(mock), answer);
	keel_mock_advance(mock, 5000);
}

/* ---- texts ------------------------------------------------------------------------------------------------ */

static const char *text_of(const struct things *t)
{
	static char text[1024];
	size_t len = 0;

	text[0] = '\0';
	for (int i = 0; i < t->n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s(n%d:ncpus=%d:mem=%dkb:lic=%d:seat=%d)", i ? "+" : "",
					t->part[i].vnode + 1, t->part[i].n[NCPUS], t->part[i].n[MEM], t->part[i].n[LIC],
					t->part[i].n[SEAT]);
	return text;
}

static const char *job_text(int j)
{
	static char id[16];

	snprintf(id, sizeof(id), "%d.svr", j);
	return id;
}

static void things_any(struct things *t)
{
	t->n = 1 + any(PARTS);
	for (int i = 0; i < t->n; i++)
		t->part[i] = (struct part){ any(VNODES), { any(4), any(3), any(3), any(2) } };
}

/* ---- the naive count ------------------------------------------------------------------------------------------ */

static bool is_listed(const char *list, const char *name)
{
	const char *at = list ? strstr(list, name) : NULL;

	return at != NULL;
}

static int amount(const struct things *t, const char *given_back, int v, int res)
{
	int n = 0;

	for (int i = 0; i < t->n; i++) {
		const int at = res == LIC && t->part[i].vnode == 0 ? 2 : t->part[i].vnode;

		if (at == v && (res != SEAT || i == 0) && !is_listed(given_back, names[res]))
			n += t->part[i].n[res];
	}
	return n;
}

static int inside(int holder, int v, int res)
{
	int n = 0;

	for (int j = 0; j < JOBS; j++)
		if (jobs[j].there && jobs[j].holder == holder)
			n += amount(&jobs[j].has, jobs[j].given_back, v, res);
	return n;
}

static int number(const struct keel_reslist *list, int res)
{
	return (int)(keel_resource_list_number(list, names[res], 0) / (res == MEM ? 1024 : 1));
}

static void check_one(int v, int res)
{
	int used = inside(HOLDERS, v, res), assigned = used;

	for (int h = 0; h < HOLDERS; h++) {
		const int in = inside(h, v, res), has = amount(&held[h], NULL, v, res);
		const struct keel_reslist *list = keel_node_used_inside(vnode[v], holder_ids[h], NULL, NULL);

		CU_ASSERT_EQUAL(number(list, res), in);
		used += in;
		assigned += in > has ? in : has;
	}
	CU_ASSERT_EQUAL(number(keel_node_used(vnode[v]), res), used);
	CU_ASSERT_EQUAL(number(keel_node_assigned(vnode[v]), res), assigned);
}

static int jobs_inside(int holder, int v)
{
	int n = 0;

	for (int j = 0; j < JOBS; j++) {
		bool here = false;

		for (int i = 0; i < jobs[j].has.n; i++)
			here |= jobs[j].has.part[i].vnode == v;
		n += jobs[j].there && here && !jobs[j].given_back && jobs[j].holder == holder;
	}
	return n;
}

static void check_all(void)
{
	for (int v = 0; v < VNODES; v++) {
		uint32_t n;

		for (int res = 0; res < RESOURCES; res++)
			check_one(v, res);
		for (int h = 0; h < HOLDERS; h++) {
			keel_node_used_inside(vnode[v], holder_ids[h], &n, NULL);
			CU_ASSERT_EQUAL((int)n, jobs_inside(h, v));
		}
	}
}

/* ---- steps -------------------------------------------------------------------------------------------------------- */

static void comes(int j)
{
	struct keel_err err = { 0 };
	char *hosts = NULL;

	if (!jobs[j].there) {
		things_any(&jobs[j].has);
		jobs[j].holder = jobs[j].answer;
	} else if (!jobs[j].given_back) {
		return;
	}
	CU_ASSERT_EQUAL(keel_node_assign(job_text(j), text_of(&jobs[j].has), KEEL_SHARE_SHARED, &hosts, &err), 0);
	free(hosts);
	jobs[j].there = true;
	jobs[j].given_back = NULL;
}

static void leaves(int j)
{
	keel_node_release(job_text(j), text_of(&jobs[j].has), NULL, true);
	jobs[j].there = false;
	jobs[j].given_back = NULL;
}

static void is_suspended(int j)
{
	static const char *const lists[] = { "ncpus", "ncpus,lic", "mem,seat", "ncpus,mem,lic,seat" };

	if (!jobs[j].there || jobs[j].given_back)
		return;
	jobs[j].given_back = lists[any(4)];
	keel_node_release(job_text(j), text_of(&jobs[j].has), jobs[j].given_back, false);
}

static void shrinks(int j)
{
	struct things less = jobs[j].has;
	struct keel_err err = { 0 };
	char before[1024];

	if (!jobs[j].there || less.n < 2)
		return;
	if (any(2))
		less.n--;
	less.part[0].n[NCPUS] = any(less.part[0].n[NCPUS] + 1);
	snprintf(before, sizeof(before), "%s", text_of(&jobs[j].has));
	CU_ASSERT_EQUAL(keel_node_shrink(job_text(j), before, text_of(&less), KEEL_SHARE_SHARED, &err), 0);
	jobs[j].has = less;
}

static void is_lodged(int j)
{
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(keel_node_lodge(job_text(j), text_of(&jobs[j].has), &err), 0);
	jobs[j].holder = jobs[j].answer;
}

static void holds(int h)
{
	struct keel_err err = { 0 };

	if (any(4))
		things_any(&held[h]);
	else
		held[h].n = 0;
	CU_ASSERT_EQUAL(keel_node_hold(holder_ids[h], held[h].n ? text_of(&held[h]) : NULL, &err), 0);
}

static void step(void)
{
	const int j = any(JOBS);

	switch (any(8)) {
	case 0:
	case 1: comes(j); break;
	case 2: leaves(j); break;
	case 3: is_suspended(j); break;
	case 4: shrinks(j); break;
	case 5: jobs[j].answer = any(HOLDERS + 1); break;
	case 6:
		if (jobs[j].there)
			is_lodged(j);
		break;
	default: holds(any(HOLDERS));
	}
}

static void all_leave(void)
{
	struct keel_err err = { 0 };

	for (int j = 0; j < JOBS; j++)
		leaves(j);
	for (int h = 0; h < HOLDERS; h++) {
		held[h].n = 0;
		CU_ASSERT_EQUAL(keel_node_hold(holder_ids[h], "", &err), 0);
	}
	check_all();
	for (int v = 0; v < VNODES; v++) /* one list again */
		CU_ASSERT_PTR_EQUAL(keel_node_used(vnode[v]), keel_node_assigned(vnode[v]));
}

static void test_any_order(void)
{
	for (uint32_t run = 1; run <= 40; run++) {
		seed = run;
		for (int i = 0; i < 100; i++) {
			step();
			check_all();
		}
		all_leave();
	}
}

/* ---- one by one ------------------------------------------------------------------------------------------------------- */

static uint32_t n_touched;

static void touched(void *arg, struct keel_obj *node)
{
	(void)arg, (void)node;
	n_touched++;
}

/* It holds everything: no slots, no jobs, and the vnode stays free; schedulers read it again. */
static void test_held(void)
{
	const uint64_t before = keel_node_generation();
	struct keel_err err = { 0 };
	bool alone = true;
	uint32_t n = 7;

	CU_ASSERT_EQUAL(keel_node_hold("R1", "(n1:ncpus=64)+(n2:ncpus=64)", &err), 0);
	n_touched = 0;
	keel_node_changed_since(before, touched, NULL);
	CU_ASSERT_EQUAL(n_touched, 2);
	CU_ASSERT_EQUAL(keel_node_state(vnode[0]) & (KEEL_NODE_JOB_BUSY | KEEL_NODE_JOB_EXCLUSIVE), 0);
	CU_ASSERT_PTR_NULL(keel_mock_text(vnode[0], "jobs", NULL));
	CU_ASSERT_FALSE(keel_node_in_use(vnode[0]));
	CU_ASSERT_PTR_NULL(keel_node_used_inside(vnode[3], "R1", &n, &alone));
	CU_ASSERT_EQUAL(n, 0);
	CU_ASSERT_FALSE(alone);
	CU_ASSERT_EQUAL(keel_node_hold("R1", "(n1:ncpus=", &err), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(number(keel_node_assigned(vnode[1]), NCPUS), 64);
	CU_ASSERT_EQUAL(keel_node_hold("R1", "(gone:ncpus=1)+(n2:ncpus=3)", &err), 0);
	CU_ASSERT_EQUAL(number(keel_node_assigned(vnode[0]), NCPUS), 0);
	CU_ASSERT_EQUAL(number(keel_node_assigned(vnode[1]), NCPUS), 3);
	keel_mock_destroy(vnode[1]);
	CU_ASSERT_EQUAL(keel_node_hold("R1", NULL, &err), 0);
}

/* A job that has the hosts of a holder alone; it follows its queue into another holder. */
static void test_alone(void)
{
	struct keel_err err = { 0 };
	char *hosts = NULL;
	bool alone = false;
	uint32_t n = 0;

	jobs[1].answer = 0;
	CU_ASSERT_EQUAL(keel_node_hold("R1", "(n1:ncpus=4)+(n2:ncpus=4)", &err), 0);
	CU_ASSERT_EQUAL(keel_node_assign("1.svr", "(n1:ncpus=1)", KEEL_SHARE_EXCLHOST, &hosts, &err), 0);
	free(hosts);
	CU_ASSERT_EQUAL(number(keel_node_used_inside(vnode[0], "R1", &n, &alone), NCPUS), 1);
	CU_ASSERT_EQUAL(n, 1);
	CU_ASSERT_TRUE(alone);
	keel_node_used_inside(vnode[1], "R1", &n, &alone);
	CU_ASSERT_EQUAL(n, 0);
	CU_ASSERT_TRUE(alone);
	jobs[1].answer = 1;
	CU_ASSERT_EQUAL(keel_node_lodge("1.svr", "(n1:ncpus=1)", &err), 0);
	keel_node_used_inside(vnode[1], "R1", &n, &alone);
	CU_ASSERT_FALSE(alone);
	keel_node_used_inside(vnode[1], "R2", &n, &alone);
	CU_ASSERT_TRUE(alone);
	CU_ASSERT_EQUAL(number(keel_node_assigned(vnode[0]), NCPUS), 5);
	keel_node_release("1.svr", "(n1:ncpus=1)", NULL, true);
	CU_ASSERT_EQUAL(number(keel_node_assigned(vnode[0]), NCPUS), 4);
}

/* A state that closes a vnode to jobs outside holders alone. */
static void test_outside(void)
{
	static const struct keel_node_state_def rows[] = {
		{ sizeof(rows[0]), 0x2000, 200, KEEL_NODE_STATE_OUTSIDE, "test-outside", "a test" },
		{ sizeof(rows[0]), 0x80000, 210, KEEL_NODE_STATE_CLOSED, "test-closed", "a test" },
	};
	static const struct {
		uint32_t bits;
		bool unavailable, closed;
	} cases[] = {
		{ 0, false, false }, { 0x2000, true, false }, { 0x80000, true, true }, { 0x82000, true, true },
		{ KEEL_NODE_OFFLINE, true, true }, { 0x2000 | KEEL_NODE_JOB_BUSY, true, false },
	};
	struct keel_err err = { 0 };

	for (size_t i = 0; i < KEEL_COUNT(rows); i++)
		CU_ASSERT_EQUAL_FATAL(node_state_kind.add(nodes, keel_mock_self(mock), &rows[i], &err), 0);
	for (size_t i = 0; i < KEEL_COUNT(cases); i++) {
		keel_node_set_state(vnode[0], UINT32_MAX, false);
		keel_node_set_state(vnode[0], cases[i].bits, true);
		CU_ASSERT_EQUAL(keel_node_unavailable(vnode[0]), cases[i].unavailable);
		CU_ASSERT_EQUAL(keel_node_closed_inside(vnode[0]), cases[i].closed);
	}
}

/* Whichever allocation fails: it holds all or what it had, a job is there or not, and is charged to the one or the other. */
static void test_no_memory(void)
{
	struct keel_err err = { 0 };
	bool failed = true;
	char *hosts = NULL;

	seed = 7;
	for (long n = 1; failed; n++) {
		struct things *has = &jobs[n % JOBS].has;
		const int j = (int)(n % JOBS), h = (int)(n % HOLDERS);
		struct things next;

		things_any(&next);
		countdown = n;
		if (keel_node_hold(holder_ids[h], text_of(&next), &err) == 0)
			held[h] = next;
		failed = countdown < 0;
		countdown = -1;
		leaves(j);
		things_any(has);
		jobs[j].answer = h;
		countdown = n;
		jobs[j].there = keel_node_assign(job_text(j), text_of(has), KEEL_SHARE_SHARED, &hosts, &err) == 0;
		failed |= countdown < 0;
		countdown = -1;
		if (jobs[j].there)
			free(hosts);
		jobs[j].holder = h;
		jobs[j].answer = (h + 1) % HOLDERS;
		countdown = n;
		if (keel_node_lodge(job_text(j), text_of(has), &err) == 0)
			jobs[j].holder = jobs[j].answer;
		failed |= countdown < 0;
		countdown = -1;
		failed &= INJECTING;
		/* resources_assigned itself may lag, it follows at the next change; amounts that vnodes share need memory at each */
		for (int v = 0; v < VNODES; v++)
			for (int res = 0; res < RESOURCES; res += res == MEM ? 2 : 1) {
				const char *id = holder_ids[jobs[j].holder];

				CU_ASSERT_EQUAL(number(keel_node_used_inside(vnode[v], id, NULL, NULL), res),
						inside(jobs[j].holder, v, res));
			}
	}
	for (int j = 0; j < JOBS; j++)
		leaves(j);
	for (int h = 0; h < HOLDERS; h++)
		CU_ASSERT_EQUAL(keel_node_hold(holder_ids[h], NULL, &err), 0);
	for (int v = 0; v < VNODES; v++)
		for (int res = 0; res < RESOURCES; res += res == MEM ? 2 : 1)
			CU_ASSERT_EQUAL(number(keel_node_used(vnode[v]), res), 0);
}

TESTS_MAIN_BETWEEN("holders", set_up, tear_down, TEST(test_any_order), TEST(test_held), TEST(test_alone), TEST(test_outside),
		   TEST(test_no_memory))
