/* SPDX-License-Identifier: Apache-2.0
 *
 * test_fixture.h - the module in a mock whose clock is the real one, a listener, jobs and short verbs for
 * test_executor.c, test_bounds.c and test_hostile.c. An embedded daemon: both halves in one process, real shepherds.
 */
#ifndef EXECUTOR_TEST_FIXTURE_H
#define EXECUTOR_TEST_FIXTURE_H

#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "keel/mock.h"
#include "shepherd/shepherd.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static char base[128], home[160], out_dir[160], shepherd[512];
static struct keel_mock *mock;
static struct keel_mod *mod;
static const char *user;
static uint32_t refused_point; /* a GATE that is closed, 0: none */
static uint32_t held_point;    /* a GATE that is held, 0: none */
static int32_t refused_code = 15041;
static int aborts;	       /* notes of task_abort */
static int suspended;	       /* notes of task_suspended */
static int task_ends;	       /* notes of task_end, and what the last one said */
static int64_t end_status;
static bool with_freezer;
static const char *start_limit = "2min";
static void (*listen_more)(void); /* of a test, as soon as the module is there */

/* The listener's last notifications, by kind. */
static struct heard {
	char id[64];
	int started, refused, ended, lost, used, host_up;
	int64_t session;
	int32_t status;
	char why[256], items[512];
} heard;
static struct answer { int n; int32_t code; } answered;
static bool keep_ended; /* do not acknowledge ends */

static void heard_started(struct keel_mod *m, struct keel_obj *job, int64_t session)
{
	(void)m, (void)job;
	heard.started++;
	heard.session = session;
}
static void heard_refused(struct keel_mod *m, struct keel_obj *job, int32_t status, const char *why)
{
	(void)m, (void)job;
	heard.refused++;
	heard.status = status;
	snprintf(heard.why, sizeof(heard.why), "%s", why);
}
static void items_take(const char *const *items, uint32_t n)
{
	heard.items[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		strcat(heard.items, items[i]);
		strcat(heard.items, " ");
	}
}
static void heard_used(struct keel_mod *m, struct keel_obj *job, const char *const *items, uint32_t n)
{
	(void)m, (void)job;
	heard.used++;
	items_take(items, n);
}
static void heard_ended(struct keel_mod *m, struct keel_obj *job, int32_t status, int64_t session,
		     const char *const *items, uint32_t n)
{
	(void)m;
	heard.ended++;
	heard.status = status;
	heard.session = session;
	items_take(items, n);
	if (!keep_ended)
		task_api.ended_done(mod, job);
}
static void on_lost(struct keel_mod *m, struct keel_obj *job)
{
	(void)m, (void)job;
	heard.lost++;
}
static void on_host_up(struct keel_mod *m, const char *host, const char *const *facts, uint32_t n)
{
	(void)m;
	CU_ASSERT_STRING_EQUAL(host, "thishost");
	CU_ASSERT(n >= 5);
	CU_ASSERT(strncmp(facts[0], "ncpus=", 6) == 0);
	heard.host_up++;
}
static const struct keel_task_events events = {
	.size = sizeof(struct keel_task_events), .started = heard_started, .refused = heard_refused,
	.used = heard_used, .ended = heard_ended, .lost = on_lost, .host_up = on_host_up,
};

static bool is_ended(void *arg) { (void)arg; return heard.ended || heard.refused; }
static bool is_started(void *arg) { (void)arg; return heard.started || heard.refused; }
static bool is_used(void *arg) { (void)arg; return heard.used > 0; }
static bool is_answered(void *arg) { (void)arg; return answered.n > 0; }
static bool is_lost(void *arg) { (void)arg; return heard.lost > 0; }
static bool is_up(void *arg) { (void)arg; return heard.host_up > 0; }
static bool no_tasks(void *arg) { (void)arg; return !((struct state *)mod->state)->mom.tasks; }

static void heard_answer(struct keel_mod *me, void *arg, int32_t code, const char *text)
{
	(void)me, (void)arg, (void)text;
	answered.n++;
	answered.code = code;
}

/* ---- the daemon --------------------------------------------------------------------------------- */
static bool until(bool (*done)(void *arg), int64_t deadline_ms)
{
	return keel_mock_run(mock, done, NULL, deadline_ms);
}

static keel_verdict hold_over(struct keel_call *c, void *arg)
{
	(void)c, (void)arg;
	return KEEL_NEXT;
}

static void hold_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c, (void)arg, (void)reason;
}

static keel_verdict on_gate(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)event, (void)arg;
	if (point == held_point && held_point)
		return keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = "the test",
							      .resume = hold_over, .cancel = hold_cancelled }, NULL);
	return point == refused_point ? keel_reject(c, refused_code, "the test says no") : KEEL_NEXT;
}

static keel_verdict on_abort(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)c, (void)point, (void)event, (void)arg;
	aborts++;
	return KEEL_NEXT;
}

/* Counts task_end, which follows task_launch once all modules have started. */
static keel_verdict on_task_end(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)c, (void)point, (void)arg;
	CU_ASSERT_PTR_NOT_NULL(mod);
	task_ends++;
	end_status = ((const struct keel_ev_task_end *)event)->exit_status;
	return KEEL_NEXT;
}

static keel_verdict on_suspended(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)c, (void)point, (void)event, (void)arg;
	suspended++;
	return KEEL_NEXT;
}

static void mock_make(void)
{
	static const char *const keyed = "Resource_List";

	mock = mock_with_resources_of(KEEL_SERVER | KEEL_MOM);
	keel_mock_home(mock, home);
	keel_mock_host(mock, "thishost");
	keel_mock_epoch(mock, (int64_t)time(NULL));
	keel_mock_loopback(mock, true);
	keel_mock_attr(mock, "job", keyed, "resource_list");
	keel_mock_tap(mock, KEEL_POINT_task_begin, "begin", 0, on_gate, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_launch, "launch", 0, on_gate, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_prologue, "prologue", 0, on_gate, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_epilogue, "epilogue", 0, on_gate, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_spawn, "spawn", 0, on_gate, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_attach, "attach", 0, on_gate, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_act, "act", 0, on_gate, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_resize, "resize", 0, on_gate, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_abort, "abort", 0, on_abort, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_resume, "resume", 0, on_gate, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_suspended, "suspended", 0, on_suspended, NULL);
	keel_mock_tap(mock, KEEL_POINT_task_end, "end", 0, on_task_end, NULL);
}

static void link_set(bool up)
{
	keel_mock_peer(mock, "thishost", KEEL_MOM, up);
	keel_mock_peer(mock, "server", KEEL_SERVER, up);
}

/* The daemon ends; tasks go on. */
static void stop(void)
{
	keel_mock_unload(mod, NULL);
	mod = NULL;
	link_set(false);
}

static void begin(void)
{
	struct keel_err err;
	char conf[1024];

	if (mock == NULL)
		mock_make();
	snprintf(conf, sizeof(conf),
		 "kill_delay = \"300ms\"; usage_interval = 1; start_limit = \"%s\"; shepherd = \"%s\"; tmpdir = \"/tmp\"; freezer = %s;",
		 start_limit, shepherd, with_freezer ? "true" : "false");
	mod = keel_mock_load(mock, &keel_module, conf, &err);
	if (mod == NULL)
		fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	heard = (struct heard){ 0 };
	task_api.listen(mod, mod, &events);
	if (listen_more)
		listen_more();
	link_set(true);
	CU_ASSERT(until(is_up, DEADLINE_MS));
}

static void end(void)
{
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	mock = NULL;
	keep_ended = false;
	refused_point = held_point = 0;
	refused_code = 15041;
	suspended = task_ends = aborts = 0;
}

/* ---- jobs ------------------------------------------------------------------------------------------ */
static void set(struct keel_obj *job, const char *attr, const char *value)
{
	if (keel_attr_find(keel_mock_self(mock), "job", attr) == NULL)
		keel_mock_attr(mock, "job", attr, "string");
	keel_mock_set(job, attr, NULL, value);
}

static struct keel_obj *job_make(const char *id, const char *script)
{
	struct keel_obj *job = keel_mock_object(mock, "job", id);

	if (script != NULL)
		keel_blob_put(job, "script", script, (uint32_t)strlen(script));
	return job;
}

static void set_all(struct keel_obj *job, const char *id)
{
	char path[400];

	set(job, "Job_Name", "name");
	set(job, "euser", user);
	set(job, "queue", "workq");
	set(job, "exec_host", "thishost/0");
	set(job, "exec_vnode", "(thishost:ncpus=2)");
	set(job, "run_version", "1");
	set(job, "umask", "22");
	set(job, "Variable_List", "PBS_O_HOME=/x,GREETING=hello\\, world,PBS_O_WORKDIR=/tmp");
	snprintf(path, sizeof(path), "thishost:%s/%s.o", out_dir, id);
	set(job, "Output_Path", path);
	snprintf(path, sizeof(path), "thishost:%s/%s.e", out_dir, id);
	set(job, "Error_Path", path);
}

static struct keel_obj *script_job(const char *id, const char *script)
{
	struct keel_obj *job = job_make(id, script);

	set_all(job, id);
	set(job, "Shell_Path_List", "/bin/sh");
	return job;
}

static struct keel_obj *program_job(const char *id, const char *program, const char *args)
{
	struct keel_obj *job = job_make(id, NULL);

	set_all(job, id);
	set(job, "executable", program);
	set(job, "argument_list", args);
	return job;
}

/* File of the output directory, "" when there is none. */
static const char *output(const char *name)
{
	static char text[8192];
	char path[400];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", out_dir, name);
	fd = open(path, O_RDONLY);
	if (fd >= 0)
		n = read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void run(struct keel_obj *job)
{
	heard = (struct heard){ 0 };
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(until(is_ended, DEADLINE_MS));
}

static void launch(struct keel_obj *job)
{
	heard = (struct heard){ 0 };
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(until(is_started, DEADLINE_MS));
	CU_ASSERT_EQUAL(heard.refused, 0);
}

static int32_t ask(struct keel_obj *job, const char *name)
{
	answered = (struct answer){ 0 };
	task_api.signal(mod, job, name, NULL, mod, heard_answer, NULL);
	CU_ASSERT(until(is_answered, DEADLINE_MS));
	return answered.code;
}

/* ---- around all tests --------------------------------------------------------------------------------- */
static void set_up(void)
{
	const char *build = getenv("KEELSON_BUILD"), *given = getenv("KEELSON_SHEPHERD");
	static char name[64];
	struct passwd *me = getpwuid(geteuid());

	umask(022);
	snprintf(name, sizeof(name), "%s", geteuid() == 0 ? "daemon" : me ? me->pw_name : "nobody");
	user = name;
	snprintf(shepherd, sizeof(shepherd), "%s%s", given ? given : build ? build : ".",
		 given ? "" : "/libexec/keelson/keelson-shepherd");
	CU_ASSERT_EQUAL_FATAL(access(shepherd, X_OK), 0);
	snprintf(base, sizeof(base), "/tmp/executor-test.XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(base) != NULL && chmod(base, 0755) == 0);
	snprintf(home, sizeof(home), "%s/home", base);
	snprintf(out_dir, sizeof(out_dir), "%s/out", base);
	CU_ASSERT_FATAL(mkdir(out_dir, 0777) == 0 && chmod(out_dir, 0777) == 0);
}

static void tear_down(void)
{
	tree_remove(base);
}

#endif
