/* SPDX-License-Identifier: Apache-2.0
 *
 * test_crash.c - what a daemon or a shepherd that was killed leaves behind, and messages that cross.
 */
#pragma GCC diagnostic ignored "-Wunused-function" /* it needs some of the fixture */
#include "test_fixture.h"

#include <signal.h>

#include "proc.h"

/* A daemon was killed while it wrote down a task, or removed one: no diary speaks of these. */
static void test_strays(void)
{
	static const char *const names[] = {
		"mom_priv/jobs/88.s.SC", "mom_priv/jobs/88.s.JB", "aux/88.s", "mom_priv/jobs/89.s.US", "mom_priv/jobs/90.s.TK",
		"aux/91.s",
	};
	char path[400];

	begin();
	stop();
	for (size_t i = 0; i < KEEL_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", home, names[i]);
		close(open(path, O_WRONLY | O_CREAT, 0600));
	}
	begin();
	for (size_t i = 0; i < KEEL_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", home, names[i]);
		CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
	}
	end();
}

/* The diary as it was before this line. */
static void diary_cut(const char *id, const char *word)
{
	char path[400], text[4096], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/mom_priv/jobs/%s.TK", home, id);
	fd = open(path, O_RDWR);
	n = read(fd, text, sizeof(text) - 1);
	CU_ASSERT_FATAL(n > 0);
	text[n] = '\0';
	at = strstr(text, word);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	CU_ASSERT_EQUAL(ftruncate(fd, at - text), 0);
	close(fd);
}

static bool lives(pid_t pid)
{
	struct proc p;

	return proc_read(pid, &p) == 0 && !strchr("ZX", p.state);
}

/* Its shepherd was killed when the task's directory was there, and its first process was not yet. */
static void test_killed_at_start(void)
{
	struct keel_obj *job;
	pid_t shepherd_pid;

	begin();
	job = script_job("83.s", "sleep 60\n");
	launch(job);
	CU_ASSERT_EQUAL(access("/tmp/pbs.83.s", F_OK), 0);
	shepherd_pid = task_find(mod->state, "83.s")->shepherd;
	stop();
	proc_kill(shepherd_pid, SIGKILL);
	kill(shepherd_pid, SIGKILL);
	while (lives(shepherd_pid))
		usleep(1000);
	diary_cut("83.s", "\nstarted ");
	set(job, "job_state", "R");
	begin();
	CU_ASSERT(until(is_lost, DEADLINE_MS));
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	CU_ASSERT_NOT_EQUAL(access("/tmp/pbs.83.s", F_OK), 0);
	CU_ASSERT_STRING_EQUAL(output("83.s.o"), "");
	end();
}

/* The daemon missed that the task began: its rounds of KILL run while the shepherd cleans up. */
static void test_discarded_at_start(void)
{
	struct keel_obj *job;

	begin();
	job = script_job("84.s", "cd $TMPDIR; seq 20000 | xargs touch; sleep 60\n");
	launch(job);
	for (int i = 0; i < 1000 && access("/tmp/pbs.84.s/20000", F_OK) < 0; i++)
		usleep(10000);
	stop();
	diary_cut("84.s", "started ");
	begin(); /* jobs do not know it: discarded */
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	CU_ASSERT_NOT_EQUAL(access("/tmp/pbs.84.s", F_OK), 0);
	end();
}

/* The daemon was killed before it could say so. */
static void test_refusal_is_remembered(void)
{
	struct keel_obj *job;
	char path[400];
	FILE *f;

	begin();
	stop();
	job = script_job("85.s", "true\n");
	set(job, "job_state", "R");
	snprintf(path, sizeof(path), "%s/mom_priv/jobs/85.s.TK", home);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fprintf(f, "world another\nrun 1\nshepherd 2 1\nbegan 1\nrefused -3 the spool: No space left on device\nover 1\n"
		   "ended -3 session 4 cpu_us 0 max_rss_kb 0 at 1 done\nplaced 0\n");
	fclose(f);
	begin();
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT_EQUAL(heard.status, -3);
	CU_ASSERT_STRING_EQUAL(heard.why, "the spool: No space left on device");
	CU_ASSERT_EQUAL(heard.ended, 0);
	end();
}

/* A start follows a question who is there: the answer cannot list it. */
static void test_start_behind_question(void)
{
	begin();
	keel_link_send(mod, "thishost", "task.who", keel_out(mod));
	launch(script_job("92.s", "exit 0\n"));
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.ended, 1);
	CU_ASSERT_EQUAL(heard.lost, 0);
	end();
}

TESTS_MAIN_BETWEEN("crash", set_up, tear_down, TEST(test_strays), TEST(test_killed_at_start),
		   TEST(test_discarded_at_start), TEST(test_refusal_is_remembered),
		   TEST(test_start_behind_question))
