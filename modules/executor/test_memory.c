/* SPDX-License-Identifier: Apache-2.0
 *
 * test_memory.c - readings for modules, memory that is weighed, and memory that the kernel bounds, as far as this machine lets
 * this program make cgroups for that.
 */
#include "test_part.h"

#include "group.h"

static int64_t bound_kb, reading_kb, weighed_kb, starved_kb;
static int failing;

static void on_measured(struct keel_mod *m, const struct keel_part *p, const struct keel_part_reading *r)
{
	(void)m, (void)p;
	reading_kb = r->mem_kb;
	CU_ASSERT(r->walltime_ms > 0 && r->cput_ms >= 0);
}
static void on_weighed(struct keel_mod *m, const struct keel_part *p, int64_t kb)
{
	(void)m, (void)p;
	weighed_kb = kb;
}
static void on_starved(struct keel_mod *m, const struct keel_part *p, int64_t kb)
{
	(void)m;
	starved_kb = kb;
	CU_ASSERT_EQUAL(part_api.fail(mod, p->id, -27, "mem 2kb exceeded limit 1kb"), 0);
}
static void on_failing(struct keel_mod *m, const struct keel_part *p, int32_t status, const char *line)
{
	(void)m, (void)p;
	failing++;
	CU_ASSERT_EQUAL(status, -27);
	CU_ASSERT_STRING_EQUAL(line, "mem 2kb exceeded limit 1kb");
}
static const struct keel_part_events memory_events = {
	.size = sizeof(struct keel_part_events), .ready = on_ready, .started = on_part_started, .task_over = on_over, .gone = on_gone,
	.ended = on_part_ended, .measured = on_measured, .weighed = on_weighed, .starved = on_starved, .failing = on_failing,
};

static keel_verdict on_task_begin(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)c, (void)point, (void)arg;
	CU_ASSERT_EQUAL(part_api.bound(mod, ((const struct keel_ev_task_begin *)event)->id, bound_kb), 0);
	return KEEL_NEXT;
}

static void listen_memory(void)
{
	noted = (struct noted){ 0 };
	CU_ASSERT_EQUAL(part_api.listen(mod, mod, &memory_events), 0);
}

static void memory_start(int64_t kb)
{
	bound_kb = kb;
	reading_kb = weighed_kb = starved_kb = failing = 0;
	mock_make();
	keel_mock_tap(mock, KEEL_POINT_task_begin, "bound", 0, on_task_begin, NULL);
	listen_more = listen_memory;
	begin();
}

static bool can_bound(void)
{
	char *dir = group_memory_home(), *group = dir ? group_make(dir, "test") : NULL;
	bool can = group && group_bound(group, 1 << 20) == 0;

	if (group)
		group_remove(group);
	free(group);
	free(dir);
	return can;
}

static bool is_measured(void *arg) { (void)arg; return reading_kb > 0; }
static bool is_weighed(void *arg) { (void)arg; return weighed_kb > 0; }
static bool is_failing(void *arg) { (void)arg; return failing > 0; }

static void test_readings(void)
{
	struct keel_obj *job;

	memory_start(-1);
	job = script_job("1.s", "exec sleep 60\n");
	launch(job);
	CU_ASSERT(until(is_measured, DEADLINE_MS));
	CU_ASSERT_EQUAL(part_api.weigh(mod, "1.s"), 0);
	CU_ASSERT_EQUAL(part_api.weigh(mod, "1.s"), -EBUSY);
	CU_ASSERT_EQUAL(part_api.weigh(mod, "2.s"), -ENOENT);
	CU_ASSERT(until(is_weighed, DEADLINE_MS));
	CU_ASSERT(weighed_kb <= reading_kb);
	CU_ASSERT_EQUAL(part_api.bound(mod, "1.s", 1024), -ENOTSUP);
	CU_ASSERT_EQUAL(part_api.fail(mod, "1.s", -27, "mem 2kb exceeded limit 1kb"), 0);
	CU_ASSERT_EQUAL(part_api.weigh(mod, "1.s"), -ENOENT);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, -27);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Job;1.s;mem 2kb exceeded limit 1kb"));
	CU_ASSERT_STRING_EQUAL(output("1.s.e"), "=>> PBS: job killed: mem 2kb exceeded limit 1kb\n");
	CU_ASSERT_EQUAL(failing, 0);
	end();
}

/* A sister cannot end the job; who listens carries it to the primary. */
static void test_failing(void)
{
	memory_start(-1);
	sister_start("2.s");
	CU_ASSERT_EQUAL(part_api.fail(mod, "2.s", -27, "mem 2kb exceeded limit 1kb"), 0);
	CU_ASSERT_EQUAL(part_api.fail(mod, "2.s", -27, "mem 2kb exceeded limit 1kb"), 0);
	CU_ASSERT_EQUAL(failing, 2);
	about("task.forget", "2.s", 1);
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	end();
}

static void test_bound(void)
{
	if (!can_bound())
		return;
	memory_start(30 << 10);
	launch(script_job("3.s", "head -c 200000000 /dev/zero | tail > /dev/null\nexit 3\n"));
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, -27);
	CU_ASSERT(starved_kb > 0 && starved_kb <= 30 << 10);
	CU_ASSERT_STRING_EQUAL(output("3.s.e") + strcspn(output("3.s.e"), "="), "=>> PBS: job killed: mem 2kb exceeded limit 1kb\n");
	end();
	/* A bound that is lifted while it runs; one task of a sister. */
	memory_start(30 << 10);
	sister_start("4.s");
	CU_ASSERT_EQUAL(part_api.bound(mod, "4.s", -1), 0);
	CU_ASSERT_EQUAL(spawn_wait("4.s", 2, "head -c 60000000 /dev/zero | tail > /dev/null"), 0);
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.status, 0);
	CU_ASSERT_EQUAL(part_api.bound(mod, "4.s", 30 << 10), 0);
	CU_ASSERT_EQUAL(failing, 0);
	CU_ASSERT_EQUAL(spawn_wait("4.s", 3, "head -c 60000000 /dev/zero | tail > /dev/null"), 0);
	CU_ASSERT(until(is_failing, DEADLINE_MS));
	about("task.forget", "4.s", 1);
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	end();
}

TESTS_MAIN_BETWEEN("executor/memory", set_up, tear_down, TEST(test_readings), TEST(test_failing), TEST(test_bound))
