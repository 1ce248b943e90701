/* SPDX-License-Identifier: Apache-2.0
 *
 * test_program.c - what modules see and change of what is about to be started; a task that waits for its taps, and goes.
 */
#include "test_part.h"

#include "order.h"

static bool is_held(void *arg) { (void)arg; return keel_mock_holds(mock) > 0; }

static bool has(const char *const *words, const char *word)
{
	for (; words && *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

static void sister_gone(const char *id)
{
	about("task.discard", id, 1);
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	end();
}

static void test_task_is_seen_and_changed(void)
{
	const char *argv[] = { "sh", "-c", "echo \"$MINE ${GREETING-none} $PBS_TASKNUM\"; exit 5", NULL };
	const char *env[] = { "MINE=1", "PBS_TASKNUM=00000002", NULL };
	const struct keel_part_task *p;

	part_start();
	sister_start("100.s");
	held_point = KEEL_POINT_task_spawn;
	spawn_ask("100.s", 2, "echo as it was");
	CU_ASSERT(until(is_held, DEADLINE_MS));
	p = part_api.program(mod, "100.s", 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT_STRING_EQUAL(p->argv[2], "echo as it was");
	CU_ASSERT(has(p->env, "GREETING=other"));
	CU_ASSERT(has(p->env, "PBS_TASKNUM=00000002"));
	CU_ASSERT(has(p->env, "PBS_NODENUM=1")); /* not what its requester said */
	CU_ASSERT(has(p->env, "PBS_JOBID=100.s"));
	CU_ASSERT_PTR_NULL(part_api.program(mod, "100.s", 3));
	CU_ASSERT_PTR_NULL(part_api.program(mod, "100.s", 1)); /* a sister has none */
	CU_ASSERT_PTR_NULL(part_api.program(mod, "102.s", 2));
	CU_ASSERT_EQUAL(part_api.set_program(mod, "100.s", 3, &(struct keel_part_task){ .size = sizeof(*p), .argv = argv }), -ENOENT);
	CU_ASSERT_EQUAL(part_api.set_program(mod, "100.s", 2,
		&(struct keel_part_task){ .size = sizeof(*p), .argv = argv, .env = env, .dir = "/usr" }), 0);
	p = part_api.program(mod, "100.s", 2);
	CU_ASSERT_FALSE(has(p->env, "GREETING=other"));
	CU_ASSERT_STRING_EQUAL(p->dir, "/usr");
	held_point = 0;
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.status, 5);
	CU_ASSERT_STRING_EQUAL(written("100.s", 1), "1 none 00000002\n");
	CU_ASSERT_PTR_NULL(part_api.program(mod, "100.s", 2)); /* it has been started */
	sister_gone("100.s");
}

/* past modules/executor/order.h ORDER_STRING_MAX */
static void test_what_cannot_be_executed(void)
{
	char *large = malloc(ORDER_STRING_MAX + 1);
	const char *argv[60] = { "true", large }, *none[] = { NULL }, *empty[] = { "", NULL }, *nameless[] = { "=x", NULL };
	struct keel_part_task what = { .size = sizeof(what), .argv = none };

	part_start();
	sister_start("100.s");
	held_point = KEEL_POINT_task_spawn;
	spawn_ask("100.s", 2, "exit 4");
	CU_ASSERT(until(is_held, DEADLINE_MS));
	CU_ASSERT_EQUAL(part_api.set_program(mod, "100.s", 2, &what), -EINVAL);
	what.argv = empty;
	CU_ASSERT_EQUAL(part_api.set_program(mod, "100.s", 2, &what), -EINVAL);
	what.argv = argv;
	what.env = nameless;
	CU_ASSERT_EQUAL(part_api.set_program(mod, "100.s", 2, &what), -EINVAL);
	what.env = NULL;
	memset(large, 'x', ORDER_STRING_MAX);
	large[ORDER_STRING_MAX] = '\0';
	CU_ASSERT_EQUAL(part_api.set_program(mod, "100.s", 2, &what), -E2BIG);
	large[ORDER_STRING_MAX - 1] = '\0';
	CU_ASSERT_EQUAL(part_api.set_program(mod, "100.s", 2, &what), 0);
	for (int i = 1; i < 59; i++) /* each is small enough */
		argv[i] = large;
	CU_ASSERT_EQUAL(part_api.set_program(mod, "100.s", 2, &what), -E2BIG);
	argv[0] = "false";
	argv[1] = NULL;
	CU_ASSERT_EQUAL(part_api.set_program(mod, "100.s", 2, &what), 0);
	held_point = 0;
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.status, 1);
	sister_gone("100.s");
	free(large);
}

static void test_task_that_is_refused(void)
{
	part_start();
	sister_start("100.s");
	refused_point = KEEL_POINT_task_spawn;
	CU_ASSERT_EQUAL(spawn_wait("100.s", 2, "true"), TM_EHOOK);
	CU_ASSERT_STRING_EQUAL(done.text, "the test says no");
	refused_point = 0;
	CU_ASSERT_EQUAL(spawn_wait("100.s", 2, "true"), 0); /* its number is free again */
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	sister_gone("100.s");
}

/* Others do not wait for it; when its part ends it is answered, once, and its taps have nothing to wait for. */
static void test_task_that_waits(void)
{
	part_start();
	sister_start("100.s");
	held_point = KEEL_POINT_task_spawn;
	spawn_ask("100.s", 2, "true");
	CU_ASSERT(until(is_held, DEADLINE_MS));
	held_point = 0;
	CU_ASSERT_EQUAL(spawn_wait("100.s", 3, "true"), 0);
	CU_ASSERT_EQUAL(done.n, 1);
	CU_ASSERT_EQUAL(spawn_wait("100.s", 2, "true"), 15016); /* there already */
	memset(&done, 0, sizeof(done));
	CU_ASSERT_EQUAL(part_api.end(mod, "100.s", 0), 0);
	CU_ASSERT(until(is_part_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(done.n, 1);
	CU_ASSERT_EQUAL(done.code, 15016);
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 0);
	CU_ASSERT_EQUAL(part_api.forget(mod, "100.s", 1), 0);
	end();
}

/* The daemon ends meanwhile: the task was never started. */
static void test_task_that_waits_when_the_daemon_ends(void)
{
	part_start();
	sister_start("100.s");
	held_point = KEEL_POINT_task_spawn;
	spawn_ask("100.s", 2, "true");
	CU_ASSERT(until(is_held, DEADLINE_MS));
	stop();
	held_point = 0;
	part_start();
	CU_ASSERT(until(is_ready, DEADLINE_MS));
	CU_ASSERT_PTR_NULL(part_api.program(mod, "100.s", 2));
	about("task.discard", "100.s", 1);
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	end();
}

static void test_program_of_a_job(void)
{
	const char *argv[] = { "sh", "-c", "echo changed $X; exit 7", NULL }, *env[] = { "X=1", "PATH=/bin:/usr/bin", NULL };
	const struct keel_part_task *p;
	struct keel_obj *job;

	part_start();
	held_point = KEEL_POINT_task_launch;
	job = script_job("106.s", "echo ran\n");
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(until(is_held, DEADLINE_MS));
	p = part_api.program(mod, "106.s", 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p->argv[1]);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->argv[1], "/mom_priv/jobs/106.s.SC"));
	CU_ASSERT(has(p->env, "PBS_TASKNUM=1"));
	CU_ASSERT_EQUAL(part_api.set_program(mod, "106.s", 1, &(struct keel_part_task){ .size = sizeof(*p), .argv = argv, .env = env }), 0);
	held_point = 0;
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 7);
	CU_ASSERT_STRING_EQUAL(output("106.s.o"), "changed 1\n");
	end();
}

TESTS_MAIN_BETWEEN("program", set_up, tear_down, TEST(test_task_is_seen_and_changed), TEST(test_what_cannot_be_executed),
		   TEST(test_task_that_is_refused), TEST(test_task_that_waits), TEST(test_task_that_waits_when_the_daemon_ends),
		   TEST(test_program_of_a_job))
