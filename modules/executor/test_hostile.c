/* SPDX-License-Identifier: Apache-2.0
 *
 * test_hostile.c - what a user may do to the start and the end of a job.
 */
#pragma GCC diagnostic ignored "-Wunused-function" /* it needs some of the fixture */
#include "test_fixture.h"

#include <signal.h>

#include "proc.h"

#define EXE(p) "<jsdl-hpcpa:Executable>" p "</jsdl-hpcpa:Executable>"

/* A program that whoever opens waits for, up to /proc/sys/fs/lease-break-time. The descriptor of the lease. */
static int leased_program(char path[400])
{
	int fd;

	signal(SIGIO, SIG_IGN);
	snprintf(path, 400, "%s/leased", out_dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	CU_ASSERT_EQUAL_FATAL(fchmod(fd, 0755), 0);
	CU_ASSERT_EQUAL_FATAL(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
	return fd;
}

static struct keel_obj *late_job(const char *id, const char *path)
{
	char program[500];

	snprintf(program, sizeof(program), EXE("%s"), path);
	return program_job(id, program, "");
}

static bool has_child(void *arg)
{
	const struct task *t = task_find(mod->state, arg);
	pid_t *pids = NULL;
	size_t n = 0;

	if (t && t->shepherd && proc_descendants(t->shepherd, &pids, &n) < 0)
		n = 0;
	free(pids);
	return n > 0;
}

/* mend A5, B6: a first process that does not come to its program: it is killed when that was waited for long enough,
 * or when the job is to end, and is no lack of the host. */
static void test_late_start(void)
{
	struct keel_obj *job;
	char path[400];
	int fd = leased_program(path);

	start_limit = "1s";
	begin();
	run(late_job("67.s", path));
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT_EQUAL(heard.status, -2);
	CU_ASSERT_STRING_EQUAL(heard.why, "start (executor.start_limit): Timer expired");
	end();
	start_limit = "2min";
	begin();
	for (int64_t delay = 0; delay < 400; delay += 300) {
		char id[] = "68.s";

		id[1] += delay > 0;
		job = late_job(id, path);
		heard = (struct heard){ 0 };
		CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
		CU_ASSERT(keel_mock_run(mock, has_child, id, DEADLINE_MS));
		CU_ASSERT_EQUAL(task_api.kill(mod, job, delay), 0);
		CU_ASSERT(until(is_ended, DEADLINE_MS));
		CU_ASSERT_EQUAL(heard.ended, 1);
		CU_ASSERT_EQUAL(heard.status, 265);
	}
	end();
	close(fd);
}

TESTS_MAIN_BETWEEN("hostile", set_up, tear_down, TEST(test_late_start))
