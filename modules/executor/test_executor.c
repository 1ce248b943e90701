/* SPDX-License-Identifier: Apache-2.0
 *
 * test_executor.c - the whole path: service -> messages -> tasks -> the real shepherd -> reports.
 *
 * Runs as any user; as root the jobs run as user "daemon", so that privileges are really dropped.
 */
#include "test_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "shepherd/shepherd.h"

#define EXE(p) "<jsdl-hpcpa:Executable>" p "</jsdl-hpcpa:Executable>"
#define ARG(a) "<jsdl-hpcpa:Argument>" a "</jsdl-hpcpa:Argument>"

static void test_exit_codes(void)
{
	static const struct {
		const char *id, *script;
		int status;
	} rows[] = {
		{ "1.s", "exit 0\n", 0 },
		{ "2.s", "exit 7\n", 7 },
		{ "3.s", "exit 255\n", 255 },
		{ "4.s", "kill -9 $$\n", 137 },
		{ "5.s", "kill -15 $PPID; sleep 5\n", 271 },
		{ "6.s", "#!/bin/cat\nexit 3\n", 0 },
	};

	begin();
	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		run(script_job(rows[i].id, rows[i].script));
		CU_ASSERT_EQUAL(heard.ended, 1);
		CU_ASSERT_EQUAL(heard.status, rows[i].status);
	}
	CU_ASSERT_STRING_EQUAL(output("6.s.o"), "#!/bin/cat\nexit 3\n");
	end();
}

static void test_program(void)
{
	begin();
	run(program_job("10.s", EXE("/bin/echo"), ARG("a &lt;b&gt;") ARG("") ARG("c&amp;d")));
	CU_ASSERT_EQUAL(heard.status, 0);
	CU_ASSERT_STRING_EQUAL(output("10.s.o"), "a <b>  c&d\n");
	run(program_job("11.s", EXE("/no/such/program"), ""));
	CU_ASSERT_EQUAL(heard.ended, 1);
	CU_ASSERT_EQUAL(heard.status, 254);
	run(program_job("12.s", EXE("true"), "")); /* no PATH is searched */
	CU_ASSERT_EQUAL(heard.status, 254);
	run(program_job("13.s", "rubbish", ""));
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT_EQUAL(heard.status, -1);
	end();
}

static void test_environment(void)
{
	const char *text;

	begin();
	job_make("20[].s", "env; echo host $(cat $PBS_NODEFILE); id -u; umask; pwd; echo err >&2\n");
	run(script_job("20[3].s", NULL)); /* its script is its array's */
	CU_ASSERT_EQUAL(heard.status, 0);
	text = output("20[3].s.o");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "GREETING=hello, world\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "PBS_JOBID=20[3].s\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "PBS_ARRAY_INDEX=3\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "PBS_ARRAY_ID=20[].s\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "NCPUS=2\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "PBS_ENVIRONMENT=PBS_BATCH\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nENVIRONMENT=BATCH\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "host thishost\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "0022\n"));
	if (geteuid() == 0)
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n1\n"));
	CU_ASSERT_STRING_EQUAL(output("20[3].s.e"), "err\n");
	end();
}

/* The directory's name is taken by a stranger. */
static void test_tmpdir(void)
{
	const char *text;
	int fd = open("/tmp/pbs.21.s", O_WRONLY | O_CREAT, 0600);

	CU_ASSERT(fd >= 0);
	close(fd);
	begin();
	run(script_job("21.s", "cd $TMPDIR && touch x && pwd\n"));
	CU_ASSERT_EQUAL(heard.status, 0);
	text = output("21.s.o");
	CU_ASSERT(strncmp(text, "/tmp/pbs.21.s.", 14) == 0);
	CU_ASSERT_EQUAL(access("/tmp/pbs.21.s", F_OK), 0);
	unlink("/tmp/pbs.21.s");
	end();
}

static void test_output(void)
{
	struct keel_obj *job;
	char path[400];

	begin();
	job = script_job("30.s", "echo a; echo b >&2\n");
	set(job, "Join_Path", "oe");
	run(job);
	CU_ASSERT_STRING_EQUAL(output("30.s.o"), "a\nb\n");
	job = script_job("31.s", "echo a; echo b >&2\n");
	set(job, "Remove_Files", "o");
	run(job);
	CU_ASSERT_STRING_EQUAL(output("31.s.o"), "");
	CU_ASSERT_STRING_EQUAL(output("31.s.e"), "b\n");
	job = script_job("32.s", "echo a\n");
	snprintf(path, sizeof(path), "thishost:%s", out_dir);
	set(job, "Output_Path", path);
	run(job);
	CU_ASSERT_STRING_EQUAL(output("32.s.OU"), "a\n");
	job = script_job("33.s", "echo lost\n");
	set(job, "Output_Path", "thishost:/proc/no/such/dir/file");
	run(job);
	CU_ASSERT_EQUAL(heard.status, 0);
	snprintf(path, sizeof(path), "%s/undelivered/33.s.OU", home);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "output could not be copied"));
	job = script_job("34.s", "echo direct\n");
	set(job, "Keep_Files", "od");
	run(job);
	CU_ASSERT_STRING_EQUAL(output("34.s.o"), "direct\n");
	job = script_job("35.s", "echo null\n");
	set(job, "Output_Path", "/dev/null");
	set(job, "Remove_Files", "o");
	run(job);
	CU_ASSERT_EQUAL(heard.ended, 1);
	CU_ASSERT_EQUAL(access("/dev/null", W_OK), 0);
	snprintf(path, sizeof(path), "%s/spool/35.s.OU", home);
	CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
	end();
}

static void test_refused(void)
{
	struct keel_obj *job;

	task_ends = 0;
	begin();
	job = script_job("40.s", "true\n");
	set(job, "euser", "no_such_user_here");
	run(job);
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT_EQUAL(heard.status, -10);
	job = script_job("41.s", "true\n");
	set(job, "egroup", "no_such_group");
	run(job);
	CU_ASSERT_EQUAL(heard.status, -10);
	refused_point = KEEL_POINT_task_launch;
	run(script_job("42.s", "true\n"));
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT_STRING_EQUAL(heard.why, "the test says no");
	CU_ASSERT(end_status < 0);
	CU_ASSERT_EQUAL(task_ends, 1); /* task_launch was raised once: the others had no account */
	refused_point = KEEL_POINT_task_begin;
	run(script_job("45.s", "true\n"));
	CU_ASSERT_EQUAL(task_ends, 1);
	refused_point = 0;
	if (geteuid() == 0) {
		job = script_job("44.s", "true\n");
		set(job, "euser", "nobody"); /* has no home directory */
		run(job);
		CU_ASSERT_EQUAL(heard.status, access("/nonexistent", F_OK) == 0 ? 0 : -2);
		CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Could not chdir to Home directory"));
	}
	job = script_job("43.s", "true\n");
	set(job, "exec_vnode", "(elsewhere:ncpus=1)");
	set(job, "exec_host", "elsewhere/0");
	CU_ASSERT_EQUAL(task_api.start(mod, job), -ENOTCONN);
	end();
}

static char state_of(pid_t pid)
{
	struct proc p;

	return proc_read(pid, &p) < 0 ? '-' : p.state;
}

/* A parent whose vfork child was stopped waits in the kernel: it cannot run either. */
static bool is_stopped(pid_t pid)
{
	char state = state_of(pid);

	if (state != 'T' && state != 'D')
		fprintf(stderr, "state %c\n", state);
	return state == 'T' || state == 'D';
}

static void test_signals(void)
{
	struct keel_obj *job;

	begin();
	job = script_job("50.s", "sleep 60 & sleep 60\n");
	launch(job);
	CU_ASSERT_EQUAL(ask(job, "NOSUCH"), 15013);
	CU_ASSERT_EQUAL(ask(job, ""), 15013);
	CU_ASSERT_EQUAL(ask(job, "SUSPEND"), 15013);
	CU_ASSERT_EQUAL(ask(job, "NULL"), 0);
	CU_ASSERT_EQUAL(ask(job, "SIGCONT"), 0);
	CU_ASSERT_EQUAL(ask(job, "999"), 0);
	CU_ASSERT_EQUAL(ask(job, "resume"), 15016);
	CU_ASSERT_EQUAL(ask(job, "suspend"), 0);
	CU_ASSERT(is_stopped((pid_t)heard.session));
	CU_ASSERT_EQUAL(ask(job, "suspend"), 15016);
	CU_ASSERT_EQUAL(ask(job, "TERM"), 15016);
	refused_point = KEEL_POINT_task_resume;
	CU_ASSERT_EQUAL(ask(job, "resume"), 15041);
	refused_point = 0;
	CU_ASSERT_EQUAL(ask(job, "resume"), 0);
	CU_ASSERT_NOT_EQUAL(state_of((pid_t)heard.session), 'T');
	CU_ASSERT_EQUAL(ask(job, "suspend"), 0);
	CU_ASSERT_EQUAL(ask(job, "KILL"), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 265);
	CU_ASSERT_EQUAL(suspended, 2);
	end();
}

static void test_kill(void)
{
	struct keel_obj *job;

	begin();
	job = program_job("60.s", EXE("/bin/sleep"), ARG("60"));
	launch(job);
	CU_ASSERT_EQUAL(task_api.kill(mod, job, 2 * DEADLINE_MS), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 271);
	/* Ignores TERM; leaves a process in a session of its own. */
	job = script_job("61.s", "trap '' TERM; setsid sleep 61 & while :; do sleep 1; done\n");
	launch(job);
	CU_ASSERT_EQUAL(task_api.kill(mod, job, 300), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	/* Stopped: it is continued, so that TERM reaches it. */
	job = program_job("62.s", EXE("/bin/sleep"), ARG("60"));
	launch(job);
	CU_ASSERT_EQUAL(ask(job, "suspend"), 0);
	CU_ASSERT_EQUAL(task_api.kill(mod, job, 300), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 271);
	/* Before it has begun; a queue may have had a negative kill_delay. */
	job = program_job("66.s", EXE("/bin/sleep"), ARG("60"));
	heard = (struct heard){ 0 };
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT_EQUAL(task_api.kill(mod, job, -5000), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 265);
	job = program_job("63.s", EXE("/bin/sleep"), ARG("60"));
	launch(job);
	task_api.discard(mod, job);
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.ended, 0);
	end();
}

/* With the freezer where this machine has one, else the same by SIGSTOP. */
static void test_freezer(void)
{
	struct keel_obj *job;
	char text[64];
	struct task *t;

	with_freezer = true;
	begin();
	job = script_job("64.s", "sleep 60 & while :; do echo >> $TMPDIR/ticks; sleep 0.01; done\n");
	launch(job);
	CU_ASSERT_EQUAL(ask(job, "suspend"), 0);
	t = task_find(mod->state, "64.s");
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	snprintf(text, sizeof(text), "freezer: %s", t->freezer ? "cgroup" : "none");
	puts(text);
	stop(); /* stopped tasks are found again, too */
	set(job, "job_state", "R");
	set(job, "substate", "43");
	begin();
	t = task_find(mod->state, "64.s");
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL(t->state, TASK_STOPPED);
	CU_ASSERT_EQUAL(ask(job, "resume"), 0);
	CU_ASSERT_EQUAL(ask(job, "suspend"), 0);
	CU_ASSERT_EQUAL(task_api.kill(mod, job, 0), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 265);
	end();
	with_freezer = false;
}

/* The job's end takes along what it has started. */
static void test_leftovers(void)
{
	pid_t pid;

	begin();
	run(script_job("65.s", "(setsid sleep 600 >/dev/null 2>&1 & echo $!)\n"));
	pid = (pid_t)atoi(output("65.s.o"));
	CU_ASSERT(pid > 1);
	CU_ASSERT_EQUAL(state_of(pid), '-');
	end();
}

static void test_usage_and_limits(void)
{
	struct keel_obj *job;
	int used = 0, limit = 0;

	begin();
	job = script_job("70.s", "while :; do :; done\n");
	keel_mock_set(job, "Resource_List", "walltime", "00:00:02");
	keel_mock_set(job, "Resource_List", "ncpus", "2");
	launch(job);
	CU_ASSERT(until(is_used, DEADLINE_MS));
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.items, "ncpus=2 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.items, "walltime=00:00:0"));
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, -29);
	CU_ASSERT_PTR_NULL(strstr(heard.items, "mem=0kb"));
	CU_ASSERT_EQUAL(sscanf(output("70.s.e"), "=>> PBS: job killed: walltime %d exceeded limit %d",
			       &used, &limit), 2);
	CU_ASSERT(used > 2 && limit == 2);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "exceeded limit 2"));
	job = script_job("71.s", "while :; do :; done\n");
	keel_mock_set(job, "Resource_List", "cput", "1");
	run(job);
	CU_ASSERT_EQUAL(heard.status, -28);
	end();
}

static void test_restart(void)
{
	struct keel_obj *job, *gone;
	pid_t session;

	begin();
	job = script_job("80.s", "sleep 1; echo after; exit 9\n");
	set(job, "job_state", "R");
	launch(job);
	session = (pid_t)heard.session;
	stop(); /* the daemon is gone, the task runs */
	CU_ASSERT_NOT_EQUAL(state_of(session), '-');
	begin();
	CU_ASSERT_EQUAL(heard.lost, 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 9);
	CU_ASSERT_EQUAL(heard.session, session);
	CU_ASSERT_STRING_EQUAL(output("80.s.o"), "after\n");
	/* Ends while no daemon is running. */
	job = script_job("81.s", "exit 4\n");
	set(job, "job_state", "R");
	keep_ended = true;
	run(job);
	stop();
	keep_ended = false;
	task_ends = 0;
	begin();
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 4);
	CU_ASSERT_EQUAL(task_ends, 1);
	CU_ASSERT_EQUAL(end_status, 4);
	/* The server believes in a task that is not there; and the other way round. */
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	stop();
	gone = script_job("82.s", "true\n");
	set(gone, "job_state", "R");
	begin();
	CU_ASSERT(until(is_lost, DEADLINE_MS));
	end();
}

/* The error the kernel reports for a disk that does not respond. */
static int32_t get_fails(struct keel_mod *m, const char *klass, const char *id, const char *name,
			 void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len), void *arg)
{
	(void)klass, (void)id, (void)name;
	fn(m, arg, NULL, EIO);
	return 0;
}

/* A script that cannot be read from the disk does not become an empty job. */
static void test_script_unread(void)
{
	static struct keel_blob_api failing;

	begin();
	failing = *KEEL_USE_blob;
	failing.get = get_fails;
	KEEL_USE_blob = &failing;
	run(script_job("90.s", "exit 3\n"));
	CU_ASSERT_EQUAL(heard.ended, 0);
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT_EQUAL(heard.status, -3);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.why, "its script cannot be read"));
	end();
}

/* Everybody may write into the spool: what a stranger has put there is out of the way. */
static void test_stranger_in_spool(void)
{
	char path[400];

	begin();
	snprintf(path, sizeof(path), "%s/spool/36.s.OU", home);
	CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
	strcat(path, "/full");
	CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
	run(script_job("36.s", "echo mine\n"));
	CU_ASSERT_EQUAL(heard.ended, 1);
	CU_ASSERT_EQUAL(heard.status, 0);
	CU_ASSERT_STRING_EQUAL(output("36.s.o"), "mine\n");
	end();
}

/* A task replaced its spool file by a FIFO or the like: opening it must not block. */
static void test_output_is_fifo(void)
{
	static const char script[] = "rm $1; mkfifo $1\n";
	char text[700], path[400];
	int fd;

	begin();
	snprintf(path, sizeof(path), "%s/37.s.o", out_dir);
	fd = open(path, O_WRONLY | O_CREAT, 0666);
	CU_ASSERT(fd >= 0 && fchmod(fd, 0666) == 0 && close(fd) == 0);
	snprintf(text, sizeof(text), "set -- %s/spool/37.s.OU\n%s", home, script);
	run(script_job("37.s", text));
	CU_ASSERT_EQUAL(heard.ended, 1);
	CU_ASSERT_EQUAL(heard.status, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.items, "Stageout_status=0"));
	end();
}

/* An acknowledged order survives a host that was down and a restart of the server. */
static void test_end_is_remembered(void)
{
	static const struct {
		const char *id, *attr, *value;
	} rows[] = {
		{ "85.s", "ending", "somebody@here" },
		{ "86.s", "substate", "60" },
	};

	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		struct keel_obj *job;

		begin();
		job = program_job(rows[i].id, EXE("/bin/sleep"), ARG("60"));
		set(job, "job_state", "R");
		launch(job);
		stop();
		set(job, rows[i].attr, rows[i].value);
		begin();
		CU_ASSERT(until(is_ended, DEADLINE_MS));
		CU_ASSERT_EQUAL(heard.status, 271);
		end();
	}
}

/* The diary of a task whose shepherd is gone, of this start of the machine or of another. */
static void diary_make(const char *world, pid_t session)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/mom_priv/jobs/87.s.TK", home);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fprintf(f, "world %s\nrun 1\nshepherd 2 1\nbegan 1\nuid %d\nstarted %d\n", world, (int)getuid(), (int)session);
	fclose(f);
}

static void test_session_of_another_world(void)
{
	char world[PROC_WORLD_SIZE];
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		for (;;)
			pause();
	}
	CU_ASSERT_FATAL(pid > 0);
	while (getsid(pid) != pid)
		usleep(1000);
	begin();
	stop();
	diary_make("another", pid);
	begin();
	CU_ASSERT_EQUAL(waitpid(pid, NULL, WNOHANG), 0);
	stop();
	proc_world(world);
	diary_make(world, pid);
	begin();
	CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
	end();
}

static void test_link_loss(void)
{
	struct keel_obj *job;

	begin();
	job = program_job("90.s", EXE("/bin/sleep"), ARG("60"));
	launch(job);
	link_set(false);
	CU_ASSERT_EQUAL(ask(job, "TERM"), 15070);
	CU_ASSERT_EQUAL(task_api.start(mod, job), -ENOTCONN);
	CU_ASSERT(task_api.kill(mod, job, 100) < 0);
	link_set(true);
	CU_ASSERT(until(is_ended, DEADLINE_MS)); /* reported again */
	CU_ASSERT_EQUAL(heard.status, 271);
	CU_ASSERT_EQUAL(heard.started, 1);
	job = program_job("91.s", EXE("/bin/sleep"), ARG("60"));
	launch(job);
	link_set(false);
	task_api.discard(mod, job);
	link_set(true);
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.ended, 0);
	end();
}

/* A later run of a job whose earlier one is still here. */
static void test_rerun(void)
{
	struct keel_obj *job;

	begin();
	job = script_job("95.s", "echo $PBS_JOBNAME; test $PBS_JOBNAME = two || sleep 60\n");
	launch(job);
	task_api.discard(mod, job);
	set(job, "run_version", "2");
	set(job, "Job_Name", "two");
	run(job);
	CU_ASSERT_EQUAL(heard.ended, 1);
	CU_ASSERT_EQUAL(heard.status, 0);
	CU_ASSERT_STRING_EQUAL(output("95.s.o"), "two\n");
	end();
}

TESTS_MAIN_BETWEEN("executor", set_up, tear_down, TEST(test_exit_codes), TEST(test_program),
		   TEST(test_environment), TEST(test_tmpdir), TEST(test_output), TEST(test_refused),
		   TEST(test_signals), TEST(test_kill), TEST(test_freezer), TEST(test_leftovers),
		   TEST(test_usage_and_limits), TEST(test_restart),
		   TEST(test_end_is_remembered), TEST(test_session_of_another_world),
		   TEST(test_script_unread), TEST(test_stranger_in_spool), TEST(test_output_is_fifo), TEST(test_link_loss), TEST(test_rerun))
