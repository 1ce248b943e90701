/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_python.c - what a script costs at a submission: from raise() to its outcome, microseconds, nothing else being done.
 *
 *   bench_python BUILD [CALLS [REST]]		REST: microseconds between two of them
 *
 * The script reads ten attributes of the job and sets one; the job has what qsub gives one. Prints the median and the 99th
 * percentile as JSON lines; and what both sides of one call take of a processor, which does not depend on who else uses the machine.
 * Then the first call, for which a process is started, and the memory of that process that is not shared with others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "keel/mock.h"
#include "python-hooks/pool.h"
#include "python-hooks/run.h"
#include "util/owner.h"

#define CALLS 5000
#define REST_US 1000

extern const struct keel_module keel_module;

static const char ten[] = "import pbs\n"
			     "e = pbs.event()\n"
			     "j = e.job\n"
			     "seen = (j.Job_Name, j.queue, j.Priority, j.Account_Name, j.Hold_Types, j.Join_Path, j.Rerunable,\n"
			     "        j.Resource_List['ncpus'], j.Resource_List['walltime'], j.Variable_List['PBS_O_HOME'])\n"
			     "j.project = 'measured'\n";

static struct keel_mock *mock;
static struct state st;
static struct conf conf = { .processes = 1, .memory = 1 << 30, .idle = 60000, .user = "nobody" };
static struct keel_mock_outcome out;

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_python: %s: %s\n", what, why);
	exit(1);
}

static void modules_load(const char *build)
{
	static const char *const names[] = { "supervise", "resources", "manager", "queues", "link-tcp", "executor", "nodes", "accounting", "jobs" };
	char path[4096];
	struct keel_err err;

	for (size_t i = 0; i < KEEL_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/modules/%s.so", build, names[i]);
		if (!keel_mock_load_file(mock, path, NULL, &err))
			die(path, err.text);
	}
}

static struct keel_obj *job_make(void)
{
	static const char *const attrs[][3] = {
		{ "Job_Name", NULL, "bench" }, { "queue", NULL, "workq" }, { "Priority", NULL, "0" }, { "Account_Name", NULL, "a" },
		{ "Hold_Types", NULL, "n" }, { "Join_Path", NULL, "n" }, { "Keep_Files", NULL, "n" }, { "Mail_Points", NULL, "a" },
		{ "Rerunable", NULL, "True" }, { "Checkpoint", NULL, "u" }, { "Resource_List", "ncpus", "1" },
		{ "Resource_List", "walltime", "01:00:00" }, { "Resource_List", "select", "1:ncpus=1" },
		{ "Variable_List", NULL, "PBS_O_HOME=/home/bench,PBS_O_LANG=C,PBS_O_LOGNAME=bench,PBS_O_PATH=/usr/local/bin:/usr/bin:/bin,"
					 "PBS_O_SHELL=/bin/sh,PBS_O_WORKDIR=/tmp,PBS_O_SYSTEM=Linux" },
		{ "Output_Path", NULL, "host:/home/bench/out" }, { "Error_Path", NULL, "host:/home/bench/err" },
	};
	struct keel_obj *job = keel_mock_draft(mock, "job", "1.svr");

	for (size_t i = 0; i < KEEL_COUNT(attrs); i++)
		if (keel_mock_set(job, attrs[i][0], attrs[i][1], attrs[i][2]) != 0)
			die("cannot set", attrs[i][0]);
	return job;
}

static void hooks_begin(void)
{
	struct keel_mod *self = keel_mock_self(mock);
	struct keel_err err;
	struct hook *h = NULL;

	keel_mock_use(mock, &keel_module);
	self->state = &st;
	self->conf = &conf;
	st.mod = self;
	st.started = true;
	if (pools_start(&st, &err) < 0 || runs_start(&st, &err) < 0 || server_start(&st, &err) < 0 || (h = hook_new(&st, "bench")) == NULL)
		die("cannot start", err.text);
	h->script = strdup(ten);
	h->script_len = sizeof(ten) - 1;
	h->events = UINT32_C(1) << EVENT_queuejob;
	taps_follow(&st, h);
}

static bool is_told(void *arg)
{
	(void)arg;
	return out.told;
}

static double one(struct keel_obj *job)
{
	double began = now_us();

	out.told = false;
	keel_mock_raise(mock, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "1.svr", .job = job, .who = "user@host"), &out);
	if (!out.told && !keel_mock_run(mock, is_told, NULL, 30000))
		die("no outcome", "within 30 s");
	if (out.verdict != KEEL_NEXT)
		die(out.text, keel_mock_logged(mock, "Error evaluating") ? keel_mock_logged(mock, "Error evaluating") : "");
	return now_us() - began;
}

/* ---- processor time -------------------------------------------------------------------------------------- */
static double own_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The file of the process of the script in /proc. */
static FILE *script_file(const char *name)
{
	char text[128], path[64];
	long long pid;
	FILE *f;

	keel_supervise_text(st.pools->all->processes->program, text, sizeof(text));
	if (sscanf(text, "process %lld", &pid) != 1)
		die("no process", text);
	snprintf(path, sizeof(path), "/proc/%lld/%s", pid, name);
	f = fopen(path, "r");
	if (!f)
		die("cannot read", path);
	return f;
}

static double script_us(void)
{
	FILE *f = script_file("schedstat");
	long long ns = 0;

	if (fscanf(f, "%lld", &ns) != 1)
		die("cannot read", "schedstat");
	fclose(f);
	return (double)ns / 1e3;
}

/* Pages that it shares with nothing else, KiB. */
static long script_memory(void)
{
	FILE *f = script_file("smaps_rollup");
	long kib, sum = 0;
	char line[256];

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Clean: %ld", &kib) == 1 || sscanf(line, "Private_Dirty: %ld", &kib) == 1)
			sum += kib;
	fclose(f);
	return sum;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long calls = argc > 2 ? atol(argv[2]) : CALLS, rest = argc > 3 ? atol(argv[3]) : REST_US;
	double *took = calls > 0 ? calloc((size_t)calls, sizeof(*took)) : NULL;
	char home[] = "/tmp/keelson-bench.XXXXXX", priv[64], remove[64];
	struct keel_obj *job;
	double own, script, start, first;
	long memory;

	if (argc < 2 || !took || !mkdtemp(home))
		return 2;
	snprintf(priv, sizeof(priv), "%s/server_priv", home);
	mkdir(priv, 0700);
	chmod(home, 0755);
	mock = keel_mock_new(KEEL_SERVER);
	owner_of(keel_mock_self(mock))->parts->exec_dir = argv[1]; /* where its programs are */
	keel_mock_home(mock, home);
	modules_load(argv[1]);
	hooks_begin();
	job = job_make();
	first = one(job); /* its process is started */
	own = own_us(), script = start = script_us();
	for (long i = 0; i < calls; i++) {
		if (rest > 0)
			usleep((useconds_t)rest);
		took[i] = one(job);
	}
	own = own_us() - own, script = script_us() - script;
	memory = script_memory();
	qsort(took, (size_t)calls, sizeof(*took), by_size);
	printf("{\"name\": \"python_hook\", \"value\": %.1f, \"unit\": \"us\"}\n", took[calls / 2]);
	printf("{\"name\": \"python_hook_p99\", \"value\": %.1f, \"unit\": \"us\"}\n", took[calls * 99 / 100]);
	printf("{\"name\": \"python_hook_script_cpu\", \"value\": %.1f, \"unit\": \"us\"}\n", script / (double)calls);
	printf("{\"name\": \"python_hook_daemon_cpu\", \"value\": %.1f, \"unit\": \"us\"}\n", own / (double)calls);
	printf("{\"name\": \"python_hook_first\", \"value\": %.1f, \"unit\": \"ms\"}\n", first / 1e3);
	printf("{\"name\": \"python_hook_first_cpu\", \"value\": %.1f, \"unit\": \"ms\"}\n", start / 1e3);
	printf("{\"name\": \"python_hook_memory\", \"value\": %.1f, \"unit\": \"MiB\"}\n", (double)memory / 1024);
	runs_stop(&st);
	pools_stop(&st);
	server_stop(&st);
	keel_mock_advance(mock, 10);
	keel_mock_free(mock);
	snprintf(remove, sizeof(remove), "rm -rf %s", home);
	free(took);
	return system(remove) == 0 ? 0 : 1;
}
