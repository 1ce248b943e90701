/* SPDX-License-Identifier: Apache-2.0
 *
 * test_fixture.h - a listener, jobs and short verbs for test_executor.c, its only user.
 */
#ifndef EXECUTOR_TEST_FIXTURE_H
#define EXECUTOR_TEST_FIXTURE_H

#include "mock.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONG_MS 15000

static char base[128], home[160], out_dir[160], shepherd[512];
static struct keel_mod *mod;
static const char *user;

/* What the listener heard last, by kind. */
static struct heard {
	char id[64];
	int started, refused, ended, lost, used, host_up;
	int64_t session;
	int32_t status;
	char why[256], items[512];
} heard;
static struct answer { int n; int32_t code; } answered;
static bool keep_ended; /* do not acknowledge ends */

static void on_started(struct keel_mod *m, struct keel_obj *job, int64_t session)
{
	(void)m, (void)job;
	heard.started++;
	heard.session = session;
}
static void on_refused(struct keel_mod *m, struct keel_obj *job, int32_t status, const char *why)
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
static void on_used(struct keel_mod *m, struct keel_obj *job, const char *const *items, uint32_t n)
{
	(void)m, (void)job;
	heard.used++;
	items_take(items, n);
}
static void on_ended(struct keel_mod *m, struct keel_obj *job, int32_t status, int64_t session,
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
	.size = sizeof(struct keel_task_events), .started = on_started, .refused = on_refused,
	.used = on_used, .ended = on_ended, .lost = on_lost, .host_up = on_host_up,
};

static bool is_ended(void *arg) { (void)arg; return heard.ended || heard.refused; }
static bool is_started(void *arg) { (void)arg; return heard.started || heard.refused; }
static bool is_used(void *arg) { (void)arg; return heard.used > 0; }
static bool is_answered(void *arg) { (void)arg; return answered.n > 0; }
static bool is_lost(void *arg) { (void)arg; return heard.lost > 0; }
static bool is_up(void *arg) { (void)arg; return heard.host_up > 0; }
static bool no_tasks(void *arg) { (void)arg; return !((struct state *)mod->state)->mom.tasks; }

static void on_answer(struct keel_mod *me, void *arg, int32_t code, const char *text)
{
	(void)me, (void)arg, (void)text;
	answered.n++;
	answered.code = code;
}

static void begin(void)
{
	mod = mock_start(home, shepherd);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	heard = (struct heard){ 0 };
	task_api.listen(mod, mod, &events);
	CU_ASSERT(mock_until(is_up, NULL, LONG_MS));
}

static void end(void)
{
	CU_ASSERT(mock_until(no_tasks, NULL, LONG_MS));
	mock_stop();
	mock_jobs_free();
	keep_ended = false;
	mock_reject_point = 0;
}

static void set_all(struct keel_obj *job, const char *id)
{
	char path[400];

	mock_set(job, "Job_Name", "name");
	mock_set(job, "euser", user);
	mock_set(job, "queue", "workq");
	mock_set(job, "exec_host", "thishost/0");
	mock_set(job, "exec_vnode", "(thishost:ncpus=2)");
	mock_set(job, "run_version", "1");
	mock_set(job, "umask", "22");
	mock_set(job, "Variable_List", "PBS_O_HOME=/x,GREETING=hello\\, world,PBS_O_WORKDIR=/tmp");
	snprintf(path, sizeof(path), "thishost:%s/%s.o", out_dir, id);
	mock_set(job, "Output_Path", path);
	snprintf(path, sizeof(path), "thishost:%s/%s.e", out_dir, id);
	mock_set(job, "Error_Path", path);
}

static struct keel_obj *script_job(const char *id, const char *script)
{
	struct keel_obj *job = mock_job(id, script);

	set_all(job, id);
	mock_set(job, "Shell_Path_List", "/bin/sh");
	return job;
}

static struct keel_obj *program_job(const char *id, const char *program, const char *args)
{
	struct keel_obj *job = mock_job(id, NULL);

	set_all(job, id);
	mock_set(job, "executable", program);
	mock_set(job, "argument_list", args);
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
	CU_ASSERT(mock_until(is_ended, NULL, LONG_MS));
}

static void launch(struct keel_obj *job)
{
	heard = (struct heard){ 0 };
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT(mock_until(is_started, NULL, LONG_MS));
	CU_ASSERT_EQUAL(heard.refused, 0);
}

static int32_t ask(struct keel_obj *job, const char *name)
{
	answered = (struct answer){ 0 };
	task_api.signal(mod, job, name, NULL, mod, on_answer, NULL);
	CU_ASSERT(mock_until(is_answered, NULL, LONG_MS));
	return answered.code;
}

#endif
