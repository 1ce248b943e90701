/* SPDX-License-Identifier: Apache-2.0
 *
 * test_hostile.c - what a user may do to the start and the end of a job.
 */
#pragma GCC diagnostic ignored "-Wunused-function" /* it needs some of the fixture */
#include "test_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "proc.h"

#define EXE(p) "<jsdl-hpcpa:Executable>" p "</jsdl-hpcpa:Executable>"

/* Creates a program whose open() blocks up to /proc/sys/fs/lease-break-time. Returns the descriptor of the lease. */
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

/* The diary of 70.s: once it is open its lines can be read, also when it has no name any more. */
static FILE *diary_file;
static bool is_refused(void *arg)
{
	char path[400];

	(void)arg;
	snprintf(path, sizeof(path), "%s/mom_priv/jobs/70.s.TK", home);
	if (!diary_file)
		diary_file = fopen(path, "r");
	return heard.refused > 0;
}

/* mend B9: a path adds no lines to the diary of its task, nor to the report to the server. */
static void test_diary_lines(void)
{
	static const char lines[] = "x\nended 0 session 1 cpu_us 0 max_rss_kb 0 at 0 done\nplaced 0\n/y";
	char path[400], diary[8192] = "";
	struct keel_obj *job;

	begin();
	job = script_job("70.s", "exit 3\n");
	set(job, "Keep_Files", "oed");
	snprintf(path, sizeof(path), "thishost:%s/%s", out_dir, lines);
	set(job, "Output_Path", path);
	heard = (struct heard){ 0 };
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(until(is_refused, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, -2);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.why, "/x?ended 0 session 1"));
	if (diary_file) { /* it may have come and gone between two looks */
		CU_ASSERT_TRUE(fread(diary, 1, sizeof(diary) - 1, diary_file) > 0);
		fclose(diary_file);
		CU_ASSERT_PTR_NOT_NULL(strstr(diary, "\nrefused -2 "));
		CU_ASSERT_PTR_NULL(strstr(diary, "\nended 0"));
		CU_ASSERT_PTR_NULL(strstr(diary, "\n/y"));
	}
	end();
}

/* mend B10: a TMPDIR is removed whole, whatever its modes and depth; the target of a link is unchanged. */
static void test_locked_tmpdir(void)
{
	const struct passwd *pw = getpwnam(user);
	char path[700], other[400];
	struct stat st;

	snprintf(other, sizeof(other), "%s/other", out_dir);
	CU_ASSERT_EQUAL_FATAL(mkdir(other, 0777), 0);
	CU_ASSERT_FATAL(pw && chown(other, pw->pw_uid, (gid_t)-1) == 0 && chmod(other, 0555) == 0);
	snprintf(path, sizeof(path), "ln -s %s $TMPDIR/link; cd $TMPDIR; touch f; for i in $(seq 250); do mkdir -m 700 d; cd d; touch f; done\n"
		 "cd $TMPDIR; find . -depth -type d -exec chmod 0 {} +\n[ ! -x $TMPDIR ]", other);
	begin();
	run(script_job("71.s", path));
	CU_ASSERT_EQUAL(heard.status, 0);
	CU_ASSERT_NOT_EQUAL(access("/tmp/pbs.71.s", F_OK), 0);
	CU_ASSERT_EQUAL(stat(other, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 0777, 0555);
	end();
}

/* mend B1: who makes a folder of the name again and again keeps no file from it, and so fails no start of another's. */
static void test_taken_name(void)
{
	char from[400], to[400];
	pid_t strangers[8];

	snprintf(from, sizeof(from), "%s/from", out_dir);
	snprintf(to, sizeof(to), "%s/to", out_dir);
	for (size_t i = 0; i < KEEL_COUNT(strangers); i++) {
		strangers[i] = fork();
		while (strangers[i] == 0)
			mkdir(to, 0777);
	}
	for (int i = 0; i < 1000; i++) {
		struct stat st;

		CU_ASSERT_EQUAL_FATAL(close(open(from, O_WRONLY | O_CREAT | O_EXCL, 0600)), 0);
		CU_ASSERT_EQUAL(spool_move(from, to), 0);
		CU_ASSERT(lstat(to, &st) == 0 && S_ISREG(st.st_mode));
		unlink(to);
		if (unlink(from) < 0)
			rmdir(from);
	}
	for (size_t i = 0; i < KEEL_COUNT(strangers); i++)
		if (strangers[i] > 0) {
			kill(strangers[i], SIGKILL);
			waitpid(strangers[i], NULL, 0);
		}
}

TESTS_MAIN_BETWEEN("hostile", set_up, tear_down, TEST(test_late_start), TEST(test_diary_lines),
		   TEST(test_locked_tmpdir), TEST(test_taken_name))
