/* SPDX-License-Identifier: Apache-2.0
 *
 * test_threshold.c - the points between the setup of a part and its program, and between its last process and its end:
 * what a refusal or a hold does, and a daemon that is killed there.
 */
#include "test_part.h"

static bool is_held(void *arg) { (void)arg; return keel_mock_holds(mock) > 0; }

/* A code below 0 is the exit status; nothing of the user's has run. */
static void test_prologue_refuses(void)
{
	part_start();
	refused_point = KEEL_POINT_task_prologue;
	refused_code = -3;
	run(script_job("1.s", "echo ran\n"));
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT_EQUAL(heard.status, -3);
	CU_ASSERT_STRING_EQUAL(heard.why, "the test says no");
	CU_ASSERT_EQUAL(aborts, 1);
	CU_ASSERT_EQUAL(task_ends, 0); /* task_launch was not raised */
	refused_code = 15041;
	run(script_job("2.s", "echo ran\n"));
	CU_ASSERT_EQUAL(heard.status, -4);
	CU_ASSERT_STRING_EQUAL(output("2.s.o"), "");
	CU_ASSERT_NOT_EQUAL(access("/tmp/pbs.2.s", F_OK), 0);
	CU_ASSERT(!is_there("%s/spool/%s.OU", "2.s"));
	end();
}

/* While it is held the directories are there, and the part is READY: pruning may happen. Then its end is requested. */
static void test_prologue_held(void)
{
	struct keel_obj *job;

	part_start();
	held_point = KEEL_POINT_task_prologue;
	job = script_job("3.s", "echo ran\n");
	heard = (struct heard){ 0 };
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(until(is_held, DEADLINE_MS));
	CU_ASSERT_EQUAL(access("/tmp/pbs.3.s", F_OK), 0);
	CU_ASSERT_EQUAL(part_api.find(mod, "3.s")->state, KEEL_PART_READY);
	CU_ASSERT_EQUAL(part_api.find(mod, "3.s")->started, 0);
	CU_ASSERT_EQUAL(spawn_wait("3.s", 2, "true"), 15016); /* before the program */
	CU_ASSERT_EQUAL(task_api.kill(mod, job, 0), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.refused, 1);
	job = script_job("4.s", "exit 6\n");
	heard = (struct heard){ 0 };
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(until(is_held, DEADLINE_MS));
	held_point = 0;
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 6);
	/* The job cannot go on. */
	held_point = KEEL_POINT_task_prologue;
	job = script_job("5.s", "exit 6\n");
	heard = (struct heard){ 0 };
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(until(is_held, DEADLINE_MS));
	CU_ASSERT_EQUAL(part_api.fail(mod, "5.s", -30, "a host did not join"), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT_EQUAL(heard.status, -30);
	CU_ASSERT_STRING_EQUAL(heard.why, "a host did not join");
	end();
}

static bool is_passed(void *arg)
{
	(void)arg;
	return task_find(mod->state, "6.s")->passed;
}

/* The program is quicker with its first task than its shepherd with the word that it runs. */
static void test_task_before_the_word_of_its_program(void)
{
	struct keel_obj *job;

	part_start();
	held_point = KEEL_POINT_task_launch;
	job = script_job("6.s", "exec sleep 60\n");
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(until(is_held, DEADLINE_MS));
	held_point = 0;
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_passed, DEADLINE_MS));
	CU_ASSERT_EQUAL(task_find(mod->state, "6.s")->state, TASK_BEGIN);
	CU_ASSERT_EQUAL(spawn_wait("6.s", 2, "true"), 0);
	CU_ASSERT_EQUAL(task_find(mod->state, "6.s")->state, TASK_RUN);
	task_api.discard(mod, job);
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	end();
}

/* Killed behind the setup: the next daemon starts nothing whose points it has not raised. */
static void test_daemon_killed_before_the_program(void)
{
	struct keel_obj *job;

	part_start();
	held_point = KEEL_POINT_task_prologue;
	job = script_job("6.s", "echo ran\n");
	set(job, "job_state", "R");
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(until(is_held, DEADLINE_MS));
	stop();
	held_point = 0;
	part_start();
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT_EQUAL(heard.status, -3);
	CU_ASSERT_STRING_EQUAL(output("6.s.o"), "");
	end();
}

static void test_sister_prologue(void)
{
	part_start();
	part_api.admit(mod, "7.s", mod, on_done, NULL);
	CU_ASSERT_EQUAL(done.code, 17006);
	sister_start("7.s");
	memset(&done, 0, sizeof(done));
	part_api.admit(mod, "7.s", mod, on_done, NULL);
	CU_ASSERT_EQUAL(done.code, 0);
	CU_ASSERT_EQUAL(done.n, 1);
	refused_point = KEEL_POINT_task_prologue;
	refused_code = -3;
	part_api.admit(mod, "7.s", mod, on_done, NULL);
	CU_ASSERT_EQUAL(done.code, -3);
	CU_ASSERT_STRING_EQUAL(done.text, "the test says no");
	about("task.discard", "7.s", 1);
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	CU_ASSERT_EQUAL(aborts, 1); /* it had not begun */
	CU_ASSERT_EQUAL(task_ends, 0);
	end();
}

/* The start of the job failed elsewhere. */
static void test_sister_aborts(void)
{
	part_start();
	sister_start("8.s");
	held_point = KEEL_POINT_task_epilogue; /* which is not raised */
	CU_ASSERT_EQUAL(part_api.abort(mod, "9.s"), -ENOENT);
	CU_ASSERT_EQUAL(part_api.abort(mod, "8.s"), 0);
	CU_ASSERT(until(is_part_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.ended, 1);
	CU_ASSERT_EQUAL(aborts, 1);
	CU_ASSERT_EQUAL(task_ends, 0);
	CU_ASSERT_EQUAL(part_api.forget(mod, "8.s", 1), 0);
	end();
}

/* ---- the end -------------------------------------------------------------------------------------------- */

/* Held: its processes are gone, its output may still grow, its end is not reported. */
static void test_epilogue_held(void)
{
	part_start();
	held_point = KEEL_POINT_task_epilogue;
	launch(script_job("10.s", "echo program; exit 3\n"));
	CU_ASSERT(until(is_held, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.ended, 0);
	CU_ASSERT_STRING_EQUAL(output("10.s.o"), "");
	CU_ASSERT_EQUAL(part_api.write(mod, "10.s", 1, "elsewhere\n", 10), 10);
	CU_ASSERT_EQUAL(spawn_wait("10.s", 2, "true"), 15016);
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 3);
	CU_ASSERT_STRING_EQUAL(output("10.s.o"), "program\nelsewhere\n");
	/* One that is discarded is not waited for. */
	launch(script_job("11.s", "true\n"));
	CU_ASSERT(until(is_held, DEADLINE_MS));
	about("task.discard", "11.s", 1);
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	end();
}

static void test_epilogue_requeues(void)
{
	part_start();
	refused_point = KEEL_POINT_task_epilogue;
	run(script_job("12.s", "exit 1\n"));
	CU_ASSERT_EQUAL(heard.status, 1); /* logged */
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "the test says no"));
	refused_code = -15;
	run(script_job("13.s", "exit 1\n"));
	CU_ASSERT_EQUAL(heard.status, -15);
	end();
}

/* Its program ended without a daemon: the point is raised by the next one, before the end is reported. */
static void test_epilogue_of_the_next_daemon(void)
{
	struct keel_obj *job;
	pid_t pid;

	part_start();
	job = script_job("14.s", "exec sleep 60\n");
	set(job, "job_state", "R");
	launch(job);
	pid = task_find(mod->state, "14.s")->session;
	stop();
	kill(pid, SIGUSR1);
	for (int i = 0; i < 1000 && !strstr(output("../home/mom_priv/jobs/14.s.TK"), "\nplaced "); i++)
		usleep(10000);
	held_point = KEEL_POINT_task_epilogue;
	part_start();
	CU_ASSERT(until(is_held, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.ended, 0);
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 256 + SIGUSR1);
	end();
}

/* The output of a job over several hosts waits for the other ones, whatever becomes of this daemon. */
static void test_output_waits_for_hosts(void)
{
	struct keel_out *out;
	struct keel_obj *job;

	part_start();
	job = script_job("15.s", "true\n");
	set(job, "job_state", "R");
	held_point = KEEL_POINT_task_epilogue;
	out = start_begin("15.s", 1, 0);
	keel_put_str(out, "shell", "/bin/sh");
	keel_put_str(out, "output", keel_mock_text(job, "Output_Path", NULL));
	keel_put_str(out, "error", keel_mock_text(job, "Error_Path", NULL));
	keel_put_bytes(out, "script", "echo program\n", 13);
	send("task.start", out);
	CU_ASSERT(until(is_held, DEADLINE_MS));
	stop();
	CU_ASSERT_STRING_EQUAL(output("15.s.o"), "");
	part_start();
	CU_ASSERT(until(is_held, DEADLINE_MS));
	CU_ASSERT_EQUAL(part_api.write(mod, "15.s", 1, "elsewhere\n", 10), 10);
	held_point = 0;
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_STRING_EQUAL(output("15.s.o"), "program\nelsewhere\n");
	end();
}

/* ---- orders ---------------------------------------------------------------------------------------------- */

static void test_act(void)
{
	struct keel_obj *job;

	part_start();
	job = script_job("20.s", "exec sleep 60\n");
	launch(job);
	refused_point = KEEL_POINT_task_act;
	CU_ASSERT_EQUAL(ask(job, "suspend"), 15041);
	CU_ASSERT_EQUAL(task_find(mod->state, "20.s")->state, TASK_RUN);
	refused_point = 0;
	held_point = KEEL_POINT_task_act;
	answered = (struct answer){ 0 };
	task_api.signal(mod, job, "suspend", NULL, mod, heard_answer, NULL);
	CU_ASSERT(until(is_held, DEADLINE_MS));
	CU_ASSERT_EQUAL(task_find(mod->state, "20.s")->state, TASK_RUN);
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_answered, DEADLINE_MS));
	CU_ASSERT_EQUAL(answered.code, 0);
	CU_ASSERT_EQUAL(task_find(mod->state, "20.s")->state, TASK_STOPPED);
	held_point = 0;
	task_api.discard(mod, job);
	end();
}

TESTS_MAIN_BETWEEN("threshold", set_up, tear_down, TEST(test_prologue_refuses), TEST(test_prologue_held),
		   TEST(test_task_before_the_word_of_its_program),
		   TEST(test_daemon_killed_before_the_program), TEST(test_sister_prologue), TEST(test_sister_aborts), TEST(test_epilogue_held),
		   TEST(test_epilogue_requeues), TEST(test_epilogue_of_the_next_daemon), TEST(test_output_waits_for_hosts),
		   TEST(test_act))
