/* SPDX-License-Identifier: Apache-2.0
 *
 * test_part.c - service part: a sister's part and a primary's, tasks in them, with real shepherds and a daemon that goes.
 */
#include "test_part.h"

#include <dirent.h>

/* ---- a sister ------------------------------------------------------------------------------------------ */

static void test_sister(void)
{
	const struct keel_part *p;
	const char *text;

	part_start();
	sister_start("1.s");
	CU_ASSERT_EQUAL(noted.index, 1);
	p = part_api.find(mod, "1.s");
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT_EQUAL(p->n_hosts, 3);
	CU_ASSERT_EQUAL(p->n_nodes, 4);
	CU_ASSERT_EQUAL(p->nodes[3], 2);
	CU_ASSERT_STRING_EQUAL(p->hosts[2].vnodes, "(third:ncpus=2)+(third:ncpus=1)");
	CU_ASSERT_STRING_EQUAL(p->hosts[0].address, "10.0.0.1:15003");
	CU_ASSERT_PTR_NULL(p->hosts[1].key);
	CU_ASSERT_STRING_EQUAL(p->tolerate, "job_start");
	CU_ASSERT_EQUAL(access("/tmp/pbs.1.s", F_OK), 0);
	CU_ASSERT(is_there("%s/aux/%s", "1.s"));
	CU_ASSERT_EQUAL(spawn_wait("1.s", 0x100002, "env; cat $PBS_NODEFILE; id -u; echo bad >&2; exit 7"), 0);
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.number, 0x100002);
	CU_ASSERT_EQUAL(noted.status, 7);
	text = written("1.s", 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "PBS_TASKNUM=00100002\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "PBS_NODENUM=1\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "GREETING=other\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "OWN=1\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nNCPUS=2\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "OMP_NUM_THREADS=2\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "PBS_JOBCOOKIE=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "thishost\nthird\nthird\n"));
	CU_ASSERT_STRING_EQUAL(written("1.s", 2), "bad\n");
	CU_ASSERT_EQUAL(heard.started + heard.refused + heard.ended, 0); /* the server gets nothing of it */
	CU_ASSERT_EQUAL(part_api.forget(mod, "1.s", 1), -EBUSY);
	CU_ASSERT_EQUAL(part_api.end(mod, "1.s", 2 * DEADLINE_MS), 0); /* nothing is left that TERM has to end */
	CU_ASSERT(until(is_part_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.ended, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(noted.items, "cput="));
	CU_ASSERT_NOT_EQUAL(access("/tmp/pbs.1.s", F_OK), 0);
	CU_ASSERT_STRING_EQUAL(written("1.s", 2), "bad\n"); /* until it is forgotten */
	CU_ASSERT_EQUAL(part_api.forget(mod, "1.s", 2), -ENOENT);
	CU_ASSERT_EQUAL(part_api.forget(mod, "1.s", 1), 0);
	CU_ASSERT_EQUAL(noted.gone, 1);
	CU_ASSERT(!noted.discarded);
	CU_ASSERT(!is_there("%s/spool/%s.OU", "1.s"));
	CU_ASSERT(!is_there("%s/aux/%s", "1.s"));
	end();
}

/* Tasks are ended with the part, whatever they do. */
static void test_sister_ends_tasks(void)
{
	int two = 2;

	part_start();
	sister_start("2.s");
	CU_ASSERT_EQUAL(spawn_wait("2.s", 2, "trap '' TERM; setsid sleep 60 & sleep 60"), 0);
	CU_ASSERT_EQUAL(spawn_wait("2.s", 3, "sleep 60"), 0);
	CU_ASSERT_EQUAL(part_api.end(mod, "2.s", 200), 0);
	CU_ASSERT_EQUAL(spawn_wait("2.s", 4, "true"), 15016); /* it is ending */
	CU_ASSERT(keel_mock_run(mock, is_over_now, &two, DEADLINE_MS));
	CU_ASSERT(until(is_part_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.over, 2);
	CU_ASSERT_EQUAL(part_api.forget(mod, "2.s", 1), 0);
	end();
}

static void test_sister_refused(void)
{
	part_start();
	refused_point = KEEL_POINT_task_begin;
	send("task.start", start_begin("3.s", 1, 1));
	CU_ASSERT(until(is_ready, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.refused, 1);
	CU_ASSERT_EQUAL(noted.code, 15041);
	CU_ASSERT_STRING_EQUAL(noted.why, "the test says no");
	refused_point = 0;
	CU_ASSERT_EQUAL(part_api.forget(mod, "3.s", 1), 0);
	/* No host has this index. */
	noted = (struct noted){ 0 };
	send("task.start", start_begin("4.s", 1, 3));
	CU_ASSERT(until(is_refused, DEADLINE_MS));
	about("task.forget", "4.s", 1);
	end();
}

/* The daemon is killed: what runs goes on, what ended meanwhile is reported by the next, and it can go on with both. */
static void test_sister_daemon_restarts(void)
{
	struct keel_obj *job;

	part_start();
	job = script_job("6.s", "true\n");
	set(job, "job_state", "R");
	sister_start("6.s");
	CU_ASSERT_EQUAL(spawn_wait("6.s", 2, "sleep 60"), 0);
	CU_ASSERT_EQUAL(spawn_wait("6.s", 3, "read line < /dev/null; sleep 0.2; exit 9"), 0);
	stop();
	for (int i = 0; i < 1000 && !strstr(output("../home/mom_priv/jobs/6.s.TK"), "\ndone 3 9\n"); i++)
		usleep(10000);
	part_start();
	CU_ASSERT(until(is_ready, DEADLINE_MS));
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.number, 3);
	CU_ASSERT_EQUAL(noted.status, 9);
	CU_ASSERT_EQUAL(part_api.find(mod, "6.s")->n_hosts, 3);
	CU_ASSERT_STRING_EQUAL(part_api.find(mod, "6.s")->hosts[2].key, "key3");
	noted.over = 0;
	while (spawn_wait("6.s", 4, "exit 3") == 15016) /* until its shepherd has found that the daemon was gone */
		keel_mock_run(mock, is_gone, NULL, 20);
	CU_ASSERT_EQUAL(done.code, 0);
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.number, 4);
	CU_ASSERT_EQUAL(spawn_wait("6.s", 2, "true"), 15016); /* that one runs */
	stop();
	part_start(); /* what was reported is not reported again */
	CU_ASSERT(until(is_ready, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.over, 0);
	about("task.discard", "6.s", 1);
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	CU_ASSERT(noted.discarded);
	CU_ASSERT_NOT_EQUAL(access("/tmp/pbs.6.s", F_OK), 0);
	keel_mock_destroy(job);
	end();
}

static void test_suspended(void)
{
	part_start();
	sister_start("7.s");
	CU_ASSERT_EQUAL(spawn_wait("7.s", 2, "while :; do sleep 0.01; done"), 0);
	memset(&done, 0, sizeof(done));
	part_api.signal(mod, "7.s", 0, "suspend", mod, on_done, NULL);
	CU_ASSERT(until(is_done, DEADLINE_MS));
	CU_ASSERT_EQUAL(done.code, 0);
	CU_ASSERT_EQUAL(part_api.find(mod, "7.s")->state, KEEL_PART_STOPPED);
	CU_ASSERT_EQUAL(spawn_wait("7.s", 3, "true"), 15016);
	memset(&done, 0, sizeof(done));
	part_api.signal(mod, "7.s", 2, "TERM", mod, on_done, NULL);
	CU_ASSERT_EQUAL(done.code, 15016);
	part_api.signal(mod, "7.s", 0, "resume", mod, on_done, NULL);
	CU_ASSERT_EQUAL(done.code, 0);
	CU_ASSERT_EQUAL(spawn_wait("7.s", 3, "exit 0"), 0);
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.number, 3);
	noted.over = 0;
	memset(&done, 0, sizeof(done));
	part_api.signal(mod, "7.s", 2, "USR1", mod, on_done, NULL);
	CU_ASSERT_EQUAL(done.code, 0);
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.status, 256 + SIGUSR1);
	part_api.signal(mod, "7.s", 2, "USR1", mod, on_done, NULL);
	CU_ASSERT_EQUAL(done.code, 17006);
	about("task.forget", "7.s", 1); /* the job is over, whatever is left of it */
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	end();
}

/* ---- a primary -------------------------------------------------------------------------------------------- */

static void test_primary(void)
{
	struct keel_obj *job;

	part_start();
	job = script_job("10.s", "echo program; while ! test -e $TMPDIR/go; do sleep 0.01; done; exit 4\n");
	set(job, "Output_Path", "");
	launch(job);
	CU_ASSERT(until(is_begun, DEADLINE_MS));
	CU_ASSERT_EQUAL(part_api.end(mod, "10.s", 0), -ENOENT); /* the server's business */
	CU_ASSERT_EQUAL(spawn_wait("10.s", 2, "echo task $PBS_TASKNUM; exec sleep 60"), 0);
	CU_ASSERT_EQUAL(part_api.add(mod, "10.s", "other", (const char *[]){ "cput=01:00:00", "mem=100gb", "junk" }, 3), 0);
	CU_ASSERT_EQUAL(spawn_wait("10.s", 3, "touch $TMPDIR/go"), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, 4);
	CU_ASSERT(noted.over >= 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.items, "cput=01:00:0"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "other cput=01:00:00 mem=104857600kb"));
	end();
}

/* A host has left the job, at once, and the daemon is killed: what was used there counts. */
static void test_left(void)
{
	const char *items[] = { "cput=01:00:00", "mem=100gb" };
	struct keel_obj *job;
	struct keel_out *out;

	part_start();
	job = script_job("14.s", "while ! test -e $TMPDIR/go; do sleep 0.01; done\n");
	set(job, "job_state", "R");
	launch(job);
	CU_ASSERT(until(is_begun, DEADLINE_MS));
	out = keel_out(mod);
	keel_put_str(out, "id", "14.s");
	keel_put_int(out, "run", part_api.find(mod, "14.s")->run);
	keel_put_str(out, "host", "other");
	keel_put_strings(out, "items", items, 2);
	send("task.left", out);
	keel_mock_run(mock, is_gone, NULL, 20);
	stop();
	part_start();
	CU_ASSERT(until(is_begun, DEADLINE_MS));
	while (spawn_wait("14.s", 2, "touch $TMPDIR/go") == 15016)
		keel_mock_run(mock, is_gone, NULL, 20);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.items, "cput=01:00:0"));
	end();
}

static void test_output_of_others(void)
{
	struct keel_obj *job;

	part_start();
	job = script_job("11.s", "echo program; while ! test -e $TMPDIR/go; do sleep 0.01; done\n");
	launch(job);
	CU_ASSERT(until(is_begun, DEADLINE_MS));
	CU_ASSERT_EQUAL(part_api.write(mod, "11.s", 1, "elsewhere\n", 10), 10);
	CU_ASSERT_EQUAL(part_api.write(mod, "11.s", 3, "elsewhere\n", 10), -ENOENT);
	CU_ASSERT_EQUAL(spawn_wait("11.s", 2, "echo task; touch $TMPDIR/go"), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(strlen(output("11.s.o")), strlen("program\nelsewhere\ntask\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(output("11.s.o"), "elsewhere\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(output("11.s.o"), "task\n"));
	end();
}

/* The job cannot go on: its program is killed with a code, and a line. */
static void test_fail(void)
{
	part_start();
	launch(script_job("12.s", "exec sleep 60\n"));
	CU_ASSERT(until(is_begun, DEADLINE_MS));
	CU_ASSERT_EQUAL(part_api.fail(mod, "12.s", -14, "a host is lost"), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.status, -14);
	CU_ASSERT_STRING_EQUAL(output("12.s.e"), "=>> PBS: job killed: a host is lost\n");
	CU_ASSERT_EQUAL(part_api.fail(mod, "12.s", -14, NULL), -ENOENT);
	end();
}

/* ---- edges --------------------------------------------------------------------------------------------------- */

static void test_hostile_spawns(void)
{
	const char *none[] = { NULL }, *missing[] = { "/no/such/program", NULL };
	char *large = malloc(TALK_SPAWN_MAX + 1), text[64];
	const char *long_argv[] = { "true", large, NULL };
	struct keel_part_task what = { .size = sizeof(what), .number = 9, .argv = none };
	struct task *t;

	part_start();
	CU_ASSERT_EQUAL(spawn_wait("20.s", 2, "true"), 17006); /* no such job */
	sister_start("20.s");
	CU_ASSERT_EQUAL(spawn_wait("20.s", 1, "true"), 15016); /* the program's number */
	part_api.spawn(mod, "20.s", &what, mod, on_done, NULL);
	CU_ASSERT_EQUAL(done.code, 15016);
	memset(&done, 0, sizeof(done));
	what.argv = missing;
	part_api.spawn(mod, "20.s", &what, mod, on_done, NULL);
	CU_ASSERT(until(is_done, DEADLINE_MS));
	CU_ASSERT_EQUAL(done.code, 0); /* as with a shell: it is started, and ends */
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.status, 254);
	/* past modules/executor/talk.h TALK_SPAWN_MAX */
	memset(large, 'x', TALK_SPAWN_MAX);
	large[TALK_SPAWN_MAX] = '\0';
	what.argv = long_argv;
	memset(&done, 0, sizeof(done));
	part_api.spawn(mod, "20.s", &what, mod, on_done, NULL);
	CU_ASSERT(until(is_done, DEADLINE_MS));
	CU_ASSERT_EQUAL(done.code, 17000);
	/* past modules/executor/talk.h TALK_TASKS_MAX */
	t = task_find(mod->state, "20.s");
	for (uint32_t i = 0; i < TALK_TASKS_MAX; i++) {
		snprintf(text, sizeof(text), "%u %d 1", 1000 + i, (int)getpid());
		member_begun(mod, t, text);
	}
	CU_ASSERT_EQUAL(spawn_wait("20.s", 3, "true"), 15016);
	member_done(mod, t, "1000 0");
	CU_ASSERT_EQUAL(spawn_wait("20.s", 3, "true"), 0);
	about("task.discard", "20.s", 2); /* another run */
	about("task.discard", "20.s", 1);
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	free(large);
	end();
}

static int files_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* A burst takes few descriptors and little memory of the daemon, however slow its shepherd is; each task gets its turn. */
static void test_burst(void)
{
	char *large = malloc(TALK_SPAWN_MAX);
	const char *argv[] = { "true", NULL }, *env[] = { large, NULL };
	struct keel_part_task what = { .size = sizeof(what), .number = 1, .argv = argv };
	int files, n = 600;

	part_start();
	sister_start("23.s");
	files = files_open();
	memset(&done, 0, sizeof(done));
	for (int i = 0; i < n - 4; i++) {
		what.number++;
		part_api.spawn(mod, "23.s", &what, mod, on_done, NULL);
	}
	CU_ASSERT(files_open() <= files + 70);
	/* past modules/executor/talk.h SPAWNS_BYTES_MAX */
	memset(large, 'x', TALK_SPAWN_MAX);
	memcpy(large, "A=", 2);
	large[TALK_SPAWN_MAX - 20000] = '\0';
	what.env = env;
	for (int i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(done.n, 0);
		what.number++;
		part_api.spawn(mod, "23.s", &what, mod, on_done, NULL);
	}
	CU_ASSERT(done.n == 1 && done.code == 17000);
	CU_ASSERT_PTR_NOT_NULL(strstr(done.text, "No buffer space"));
	n++;
	CU_ASSERT(keel_mock_run(mock, is_done, &n, DEADLINE_MS));
	CU_ASSERT_EQUAL(task_find(mod->state, "23.s")->spawn_bytes, 0);
	about("task.discard", "23.s", 1);
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	end();
	free(large);
}

/* However many variables a task brings, its shepherd has time for others; of several of a name the last counts. */
static void test_many_variables(void)
{
	enum { MANY = 300000 };
	const char *argv[] = { "sh", "-c", "echo $A $B $PBS_JOBID $PBS_TASKNUM", NULL };
	const char *few[] = { "A=1", "B=b", "A=2", "AA=3", "PBS_JOBID=x", "PBS_TASKNUM=9", "A=4", "=", "C", NULL };
	const char **env = calloc(MANY + 1, sizeof(*env));
	char *texts = malloc(MANY * 12), *at = texts;
	struct keel_part_task what = { .size = sizeof(what), .number = 2, .argv = argv, .env = env };

	for (int i = 0; i < MANY; i++) {
		env[i] = at;
		at += sprintf(at, "A%d=1", i) + 1;
	}
	part_start();
	sister_start("24.s");
	memset(&done, 0, sizeof(done));
	part_api.spawn(mod, "24.s", &what, mod, on_done, NULL);
	CU_ASSERT(until(is_done, DEADLINE_MS));
	CU_ASSERT(until(is_over_now, DEADLINE_MS)); /* it is too long for a program */
	CU_ASSERT_EQUAL(noted.status, 254);
	noted.over = 0;
	what.env = few;
	what.number = 3;
	part_api.spawn(mod, "24.s", &what, mod, on_done, NULL);
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_PTR_NOT_NULL(strstr(written("24.s", 1), "4 b 24.s 00000003\n"));
	about("task.discard", "24.s", 1);
	CU_ASSERT(until(is_gone, DEADLINE_MS));
	end();
	free(texts);
	free(env);
}

static void test_fast(void)
{
	struct timespec from, to;
	int n = 200;
	int64_t us;

	part_start();
	sister_start("21.s");
	memset(&done, 0, sizeof(done));
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < n; i++)
		part_api.spawn(mod, "21.s", &(struct keel_part_task){ .size = sizeof(struct keel_part_task),
			.number = (uint32_t)i + 2, .argv = (const char *[]){ "true", NULL } }, mod, on_done, NULL);
	CU_ASSERT(keel_mock_run(mock, is_done, &n, DEADLINE_MS));
	CU_ASSERT(keel_mock_run(mock, is_over_now, &n, DEADLINE_MS));
	clock_gettime(CLOCK_MONOTONIC, &to);
	us = (to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000;
	printf("%d tasks: %lld us each\n", n, (long long)us / n);
	CU_ASSERT_EQUAL(noted.over, n);
	CU_ASSERT_EQUAL(part_api.end(mod, "21.s", 0), 0);
	CU_ASSERT(until(is_part_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(part_api.forget(mod, "21.s", 1), 0);
	end();
}

/* ---- processes from outside ------------------------------------------------------------------------------ */

/* As the job's user, or as root; in a session of its own. */
static pid_t outsider(bool as_user)
{
	const struct passwd *p = getpwnam(user);
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		if (as_user && geteuid() == 0 && p && (setgid(p->pw_gid) < 0 || setuid(p->pw_uid) < 0))
			_exit(1);
		execl("/bin/sleep", "sleep", "60", (char *)NULL);
		_exit(1);
	}
	for (int i = 0; i < 1000; i++) { /* until it has become its program */
		char text[64] = "", path[64];
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
		f = fopen(path, "r");
		if (f && fgets(text, sizeof(text), f) && strcmp(text, "sleep\n") == 0)
			i = 1000;
		if (f)
			fclose(f);
		usleep(1000);
	}
	return pid;
}

static int32_t attach_wait(const char *id, uint32_t number, pid_t pid)
{
	memset(&done, 0, sizeof(done));
	part_api.attach(mod, id, number, pid, mod, on_done, NULL);
	CU_ASSERT(until(is_done, DEADLINE_MS));
	return done.code;
}

static int ended_by(pid_t pid)
{
	int raw = 0;

	while (waitpid(pid, &raw, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(raw) ? WTERMSIG(raw) : 0;
}

static void attached(bool freezer)
{
	pid_t own = outsider(true), other = outsider(false), ends = outsider(true);

	with_freezer = freezer;
	part_start();
	sister_start("30.s");
	CU_ASSERT_EQUAL(attach_wait("31.s", 2, own), 17006);
	CU_ASSERT_EQUAL(attach_wait("30.s", 1, own), 15016);
	CU_ASSERT_EQUAL(attach_wait("30.s", 2, 1), 17011);
	CU_ASSERT_EQUAL(attach_wait("30.s", 2, 2147483647), 17011);
	if (geteuid() == 0)
		CU_ASSERT_EQUAL(attach_wait("30.s", 2, other), 17010);
	refused_point = KEEL_POINT_task_attach;
	CU_ASSERT_EQUAL(attach_wait("30.s", 2, own), 17012);
	refused_point = 0;
	CU_ASSERT_EQUAL(attach_wait("30.s", 2, own), 0);
	CU_ASSERT_EQUAL(attach_wait("30.s", 3, own), 17008); /* it is in a job */
	CU_ASSERT_EQUAL(attach_wait("30.s", 3, ends), 0);
	memset(&done, 0, sizeof(done));
	part_api.signal(mod, "30.s", 3, "SIGUSR1", mod, on_done, NULL);
	CU_ASSERT_EQUAL(done.code, 0);
	CU_ASSERT_EQUAL(ended_by(ends), SIGUSR1);
	CU_ASSERT(until(is_over_now, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.number, 3);
	CU_ASSERT_EQUAL(part_api.end(mod, "30.s", 0), 0);
	CU_ASSERT(until(is_part_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(ended_by(own), SIGKILL);
	CU_ASSERT_EQUAL(part_api.forget(mod, "30.s", 1), 0);
	kill(other, SIGKILL);
	ended_by(other);
	with_freezer = false;
	end();
}

static void test_attach(void)
{
	attached(true);
	attached(false);
}

/* Its shepherd is killed: another one ends what is left, and the end is reported. */
static void test_shepherd_killed(void)
{
	int two = 2;

	part_start();
	sister_start("32.s");
	CU_ASSERT_EQUAL(spawn_wait("32.s", 2, "exec setsid sleep 60"), 0);
	CU_ASSERT_EQUAL(spawn_wait("32.s", 3, "sleep 60"), 0);
	kill(task_find(mod->state, "32.s")->shepherd, SIGKILL);
	CU_ASSERT(keel_mock_run(mock, is_over_now, &two, DEADLINE_MS));
	CU_ASSERT(until(is_part_ended, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.ended, 1);
	CU_ASSERT_NOT_EQUAL(access("/tmp/pbs.32.s", F_OK), 0);
	CU_ASSERT_EQUAL(part_api.forget(mod, "32.s", 1), 0);
	end();
}

TESTS_MAIN_BETWEEN("part", set_up, tear_down, TEST(test_sister), TEST(test_sister_ends_tasks), TEST(test_sister_refused),
		   TEST(test_sister_daemon_restarts), TEST(test_suspended), TEST(test_primary), TEST(test_left), TEST(test_output_of_others),
		   TEST(test_fail), TEST(test_hostile_spawns), TEST(test_burst), TEST(test_many_variables), TEST(test_fast), TEST(test_attach),
		   TEST(test_shepherd_killed))
