/* SPDX-License-Identifier: Apache-2.0
 *
 * test_staging.c - which copies are made, in which order, how often, and what the server hears of them. The programs are played.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "keel/keel.h"
#include "keel/mock.h"
#include "keel/service/facts.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/part.h"
#include "keel/service/supervise.h"

extern const struct keel_module keel_module;

/* ---- played services ------------------------------------------------------------------------------------------- */
static struct {
	const char *attr, *text;
} known[8];

static char *fact_text(struct keel_mod *m, const char *id, const char *attr)
{
	(void)m, (void)id;
	for (size_t i = 0; i < KEEL_COUNT(known) && known[i].attr; i++)
		if (strcmp(known[i].attr, attr) == 0)
			return strdup(known[i].text);
	return NULL;
}
static bool is_known = true;
static bool fact_known(struct keel_mod *m, const char *id)
{
	(void)m, (void)id;
	return is_known;
}
static const struct keel_facts_api facts = { .size = sizeof(facts), .text = fact_text, .known = fact_known };

static struct keel_part part = { .size = sizeof(part), .id = "7.svr", .user = "u1", .run = 3 };
static const struct keel_part *part_find(struct keel_mod *m, const char *id)
{
	(void)m;
	return strcmp(id, part.id) == 0 ? &part : NULL;
}
/* This host is "mockhost", and sees /src of the host far. */
static bool sees_far;
static char *part_path_here(struct keel_mod *m, const char *host, const char *path)
{
	char net[300];

	(void)m;
	if (strcmp(host, "mockhost") == 0)
		return strdup(path);
	if (!sees_far || strcmp(host, "far") != 0 || strncmp(path, "/src", 4) != 0)
		return NULL;
	snprintf(net, sizeof(net), "/net/far%s", path + 4);
	return strdup(net);
}
static const struct keel_part_api parts = { .size = sizeof(parts), .find = part_find, .path_here = part_path_here };

static struct {
	char words[4096], user[32];
	keel_run_fn *done;
	void *arg;
	struct keel_mod *mod;
	uint32_t n, output_max;
} ran;
static struct keel_run *run(struct keel_mod *self, struct keel_mod *mod, const struct keel_run_opts *o, keel_run_fn *done, void *arg,
			    struct keel_err *err)
{
	(void)self, (void)err;
	ran.words[0] = '\0';
	for (uint32_t i = 1; o->argv[i]; i++) /* behind the path of keelson-copy */
		snprintf(ran.words + strlen(ran.words), sizeof(ran.words) - strlen(ran.words), "%s%s", i > 1 ? "|" : "", o->argv[i]);
	snprintf(ran.user, sizeof(ran.user), "%s", o->user);
	ran.done = done;
	ran.arg = arg;
	ran.mod = mod;
	ran.output_max = o->output_max;
	ran.n++;
	return (struct keel_run *)&ran;
}
static void run_cancel(struct keel_run *r)
{
	if (r)
		ran.done = NULL;
}
static const struct keel_supervise_api supervise = { .size = sizeof(supervise), .run = run, .run_cancel = run_cancel };

/* The program that runs ends. */
static void ends(int32_t status, const char *output)
{
	keel_run_fn *done = ran.done;

	CU_ASSERT_PTR_NOT_NULL_FATAL(done);
	ran.done = NULL;
	done(ran.mod, ran.arg, NULL, status, output, (uint32_t)strlen(output));
}

static const char *host_is = "mockhost";
static const char *host_of(struct keel_mod *m, const char *vnode)
{
	(void)m;
	return strcmp(vnode, "n1") == 0 ? host_is : NULL;
}
static const struct keel_node_api nodes = { .size = sizeof(nodes), .host_of = host_of };

static char stages[128], letter[80000];
static void stage(struct keel_mod *m, struct keel_obj *job, int32_t what)
{
	(void)m, (void)job;
	snprintf(stages + strlen(stages), sizeof(stages) - strlen(stages), "%d ", (int)what);
}
static const struct keel_job_api jobs = { .size = sizeof(jobs), .stage = stage };

static keel_verdict on_notice(struct keel_call *c, uint32_t point, const void *ev, void *arg)
{
	const struct keel_ev_job_notice *e = ev;

	(void)c, (void)point, (void)arg;
	snprintf(letter, sizeof(letter), "%s%s", e->letter, e->text);
	return KEEL_NEXT;
}

/* ---- the world --------------------------------------------------------------------------------------------------- */
static struct keel_mock *mock;
static char *dir;
static struct keel_obj *job;
static struct keel_mock_outcome out;

static void set_up(void)
{
	struct keel_err err;
	char path[512];

	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/spool", dir);
	mkdir(path, 0755);
	mock = keel_mock_new(KEEL_SERVER | KEEL_MOM);
	keel_mock_home(mock, dir);
	keel_mock_loopback(mock, true);
	keel_mock_attr(mock, "job", "run_version", "long");
	keel_mock_attr(mock, "job", "exec_vnode", "string");
	keel_mock_service(mock, "facts", &facts);
	keel_mock_service(mock, "part", &parts);
	keel_mock_service(mock, "supervise", &supervise);
	keel_mock_service(mock, "node", &nodes);
	keel_mock_service(mock, "job", &jobs);
	keel_mock_tap(mock, KEEL_POINT_job_notice, "notice", 0, on_notice, NULL);
	stages[0] = letter[0] = '\0';
	host_is = "mockhost";
	part.run = 3;
	setenv("PBS_CONF_FILE", "/nowhere", 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, NULL, &err));
	job = keel_mock_object(mock, "job", "7.svr");
	keel_mock_set(job, "exec_vnode", NULL, "(n1:ncpus=1)+(n2:ncpus=1)");
	keel_mock_set(job, "run_version", NULL, "3");
	memset(known, 0, sizeof(known));
	memset(&ran, 0, sizeof(ran));
	is_known = true;
	sees_far = false;
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

static keel_verdict prologue(int64_t index)
{
	out = (struct keel_mock_outcome){ .told = false };
	return keel_mock_raise(mock, KEEL_POINT_task_prologue, KEEL_EVENT(task_prologue, .id = "7.svr", .user = "u1", .index = index), &out);
}

static keel_verdict epilogue(int64_t status)
{
	out = (struct keel_mock_outcome){ .told = false };
	return keel_mock_raise(mock, KEEL_POINT_task_epilogue, KEEL_EVENT(task_epilogue, .id = "7.svr", .exit_status = status), &out);
}

static void say(size_t i, const char *attr, const char *text)
{
	known[i].attr = attr;
	known[i].text = text;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */
static void jobs_without_files_do_not_wait(void)
{
	CU_ASSERT_EQUAL(prologue(0), KEEL_NEXT);
	CU_ASSERT_EQUAL(epilogue(0), KEEL_NEXT);
	say(0, "stagein", "a@far:/a");
	CU_ASSERT_EQUAL(prologue(1), KEEL_NEXT); /* a sister stages nothing */
	CU_ASSERT_EQUAL(ran.n, 0);
	known[0].attr = NULL;
	is_known = false;
	CU_ASSERT_EQUAL(prologue(0), KEEL_NEXT); /* the server has no such module, so no job has files */
	keel_mock_peer(mock, "mockhost", KEEL_MOM, true);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(prologue(0), KEEL_REJECT); /* it has: the message was lost */
	CU_ASSERT_EQUAL(out.code, -3);
	keel_mock_peer(mock, "server", KEEL_SERVER, true);
	CU_ASSERT_EQUAL(prologue(0), KEEL_NEXT);
}

static void one_after_the_other_and_then_the_start(void)
{
	say(0, "stagein", "a@far:/src/a,in/b@mockhost:src/b");
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(ran.words, "in|.|a|far|/src/a|scp|-Brp");
	CU_ASSERT_STRING_EQUAL(ran.user, "u1");
	CU_ASSERT_EQUAL(ran.output_max, 4096); /* past modules/staging/mom.c WORDS_MAX nothing is kept: supervise's own test */
	ends(0, "");
	CU_ASSERT_STRING_EQUAL(ran.words, "in|.|in/b||src/b|cp|-rp|--");
	CU_ASSERT_FALSE(out.told);
	ends(0, "");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict != KEEL_REJECT);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Staged 2/2 items in over 0:00:00"));
}

static void a_copy_is_tried_four_times(void)
{
	static const int64_t pauses[] = { 1000, 11000, 11000 };

	say(0, "stagein", "a@far:/src/a,b@far:/b");
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	for (uint32_t i = 0; i < KEEL_COUNT(pauses); i++) {
		ends(1, "lost connection");
		CU_ASSERT_EQUAL(ran.n, i + 1);
		keel_mock_advance(mock, pauses[i] - 1);
		CU_ASSERT_EQUAL(ran.n, i + 1);
		keel_mock_advance(mock, 1);
		CU_ASSERT_EQUAL(ran.n, i + 2);
	}
	ends(1, "lost connection");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict == KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, -3);
	CU_ASSERT_EQUAL(ran.n, 4); /* the second file is of no use then */
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Unable to copy file a from far:/src/a"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Staged 0/2 items in over 0:00:23"));
}

static void a_missing_file_is_not_tried_again(void)
{
	say(0, "stagein", "a@far:/src/a");
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	ends(1, "scp: /src/a: No such file or directory\n");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict == KEEL_REJECT);
	CU_ASSERT_EQUAL(ran.n, 1);
}

static void stage_out_goes_on_and_removes_when_all_is_there(void)
{
	say(0, "stageout", "res@far:/out/res,dir@far:/out");
	say(1, "stagein", "in@far:/in");
	part.started = 1;
	CU_ASSERT_EQUAL(epilogue(271), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(ran.words, "out|.|res|far|/out/res|scp|-Brp");
	ends(0, "");
	ends(0, "");
	CU_ASSERT_STRING_EQUAL(ran.words, "remove|.|res|dir");
	ends(0, "");
	CU_ASSERT_STRING_EQUAL(ran.words, "remove-files|.|in");
	ends(1, "rm: cannot remove 'in': Is a directory");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict != KEEL_REJECT);
	CU_ASSERT_EQUAL(epilogue(0), KEEL_WAIT);
	ends(1, "No such file or directory");
	CU_ASSERT_STRING_EQUAL(ran.words, "out|.|dir|far|/out|scp|-Brp");
	ends(0, "");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict != KEEL_REJECT); /* the job ends all the same, and nothing is removed */
	CU_ASSERT_EQUAL(ran.n, 6);
}

static void what_was_staged_in_goes_after_a_program_that_ran(void)
{
	say(0, "stagein", "in@far:/in,more@far:/more");
	part.started = 0;
	CU_ASSERT_EQUAL(epilogue(-2), KEEL_NEXT); /* perhaps it was not staged in, and is the user's */
	part.started = 1;
	CU_ASSERT_EQUAL(epilogue(-14), KEEL_NEXT); /* it runs again */
	CU_ASSERT_EQUAL(epilogue(1), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(ran.words, "remove-files|.|in|more");
	ends(0, "");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict != KEEL_REJECT);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "delete file request received"));
	CU_ASSERT_STRING_EQUAL(stages, "");
}

static void a_private_directory_is_kept_when_a_copy_failed(void)
{
	say(0, "stageout", "res@far:/out/res");
	say(1, "sandbox", "PRIVATE");
	CU_ASSERT_EQUAL(epilogue(0), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(ran.words, "out|pbs.7.svr.x8z|res|far|/out/res|scp|-Brp");
	ends(3, "res: No such file or directory");
	CU_ASSERT_STRING_EQUAL(ran.words, "keep|pbs.7.svr.x8z");
	ends(0, "");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told);
}

static void runs_that_are_queued_again_are_not_staged_out(void)
{
	static const int64_t again[] = { -3, -11, -12, -14, -15, -20 };

	say(0, "stageout", "res@far:/out/res");
	for (size_t i = 0; i < KEEL_COUNT(again); i++)
		CU_ASSERT_EQUAL(epilogue(again[i]), KEEL_NEXT);
	CU_ASSERT_EQUAL(epilogue(-29), KEEL_WAIT);
	ends(0, "");
	ends(0, "");
	keel_mock_advance(mock, 0);
}

static void output_for_another_host(void)
{
	char expected[600], path[600];

	scratch_write(dir, "spool/7.svr.OU", "x");
	scratch_write(dir, "spool/7.svr.ER", "x");
	say(0, "Output_Path", "far:out.$PBS_JOBID");
	sees_far = true;
	say(1, "Error_Path", "far:/src/err"); /* the shepherd places it */
	say(2, "Join_Path", "n");
	CU_ASSERT_EQUAL(epilogue(1), KEEL_WAIT);
	snprintf(expected, sizeof(expected), "out|.|%s/spool/7.svr.OU|far|out.7.svr|scp|-Brp", dir);
	CU_ASSERT_STRING_EQUAL(ran.words, expected);
	ends(0, "");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told);
	snprintf(path, sizeof(path), "%s/spool/7.svr.OU", dir);
	CU_ASSERT_TRUE(access(path, F_OK) < 0);
	CU_ASSERT_EQUAL(ran.n, 1);
	scratch_write(dir, "spool/7.svr.OU", "x");
	say(3, "Remove_Files", "o");
	CU_ASSERT_EQUAL(epilogue(0), KEEL_NEXT);
	say(3, "Keep_Files", "oe");
	CU_ASSERT_EQUAL(epilogue(1), KEEL_NEXT);
	say(3, "Keep_Files", "doe"); /* written directly, if that were possible from here */
	CU_ASSERT_EQUAL(epilogue(1), KEEL_WAIT);
	ends(0, "");
	keel_mock_advance(mock, 0);
	scratch_write(dir, "spool/7.svr.OU", "x");
	say(3, "Join_Path", "n");
	say(2, "Join_Path", "eo");
	CU_ASSERT_EQUAL(epilogue(1), KEEL_NEXT);
	say(2, "Join_Path", "oe");
	CU_ASSERT_EQUAL(epilogue(1), KEEL_WAIT);
	ends(4, "No such file or directory");
	keel_mock_advance(mock, 0);
	snprintf(expected, sizeof(expected), "Output retained on that host in: %s/undelivered/7.svr.OU", dir);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, expected));
}

static void files_that_are_seen_here_are_not_sent(void)
{
	const char *root = "/jobs shared";
	struct keel_mod *owner;
	const struct keel_mom_directive_def *jobdir = keel_mock_row(mock, "MOM_DIRECTIVE", 0, &owner);

	sees_far = true;
	jobdir->apply(owner, &root, 1);
	say(0, "stagein", "a@far:/src/a");
	say(1, "sandbox", "private");
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(ran.words, "in|/jobs/pbs.7.svr.x8z|a||/net/far/a|cp|-rp|--");
	ends(0, "");
	keel_mock_advance(mock, 0);
}

static void an_operation_that_ends_kills_the_copy(void)
{
	say(0, "stagein", "a@far:/src/a");
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	keel_mock_expire(mock, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NULL(ran.done);
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	ends(1, "lost connection");
	keel_mock_expire(mock, 0); /* during a pause */
	keel_mock_advance(mock, 60000);
	CU_ASSERT_EQUAL(ran.n, 2);
}

static void the_server_hears_of_it(void)
{
	say(0, "stagein", "a@far:/src/a");
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(stages, "15 ");
	ends(1, "scp: No such file or directory");
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(stages, "15 37 ");
	CU_ASSERT_STRING_EQUAL(letter, "fFile stage in failed, see below.\nJob will be retried later, please investigate and correct problem.\n"
				       "Unable to copy file a from far:/src/a\n>>> error from copy\nscp: No such file or directory\n"
				       ">>> end error output\n");
	say(0, "stageout", "a@far:/src/a");
	CU_ASSERT_EQUAL(epilogue(0), KEEL_WAIT);
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(stages, "15 37 51 ");
	ends(1, "scp: No such file or directory");
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(stages, "15 37 51 -51 ");
	CU_ASSERT_STRING_EQUAL(letter, "fPost job file processing error; job 7.svr on host mockhost\n\nUnable to copy file a to far:/src/a\n"
				       ">>> error from copy\nscp: No such file or directory\n>>> end error output\n");
}

static void late_and_foreign_reports_are_ignored(void)
{
	say(0, "stagein", "a@far:/src/a");
	part.run = 2;
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	ends(1, "scp: No such file or directory");
	keel_mock_advance(mock, 0);
	part.run = 3;
	host_is = "another";
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	ends(1, "scp: No such file or directory");
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(stages, "");
	CU_ASSERT_STRING_EQUAL(letter, "");
}

static void lists_are_checked(void)
{
	const struct keel_session *user = keel_mock_session(mock, "u1", KEEL_USER);
	static char list[16000];
	struct keel_err err;

	CU_ASSERT_EQUAL(keel_mock_change(job, user, "stagein", NULL, "a@h:/b,c@h:d", KEEL_SET, &err), 0);
	CU_ASSERT_EQUAL(keel_mock_change(job, user, "stageout", NULL, "a@-h:/b", KEEL_SET, &err), 15014);
	for (int i = 0; i < 1001; i++)
		strcat(list, i ? ",a@h:/b" : "a@h:/b");
	CU_ASSERT_EQUAL(keel_mock_change(job, user, "stagein", NULL, list, KEEL_SET, &err), 15014);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "more than 1000 files"));
	CU_ASSERT_EQUAL(keel_mock_change(job, user, "stagein", NULL, "", KEEL_SET, &err), 0);
}

/* past modules/staging/mom.c REPORT_MAX */
static void a_report_has_a_bound(void)
{
	static char list[40000], words[4096];
	size_t len = 0;

	for (int i = 0; i < 40; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%sf%d@far:/x", i ? "," : "", i);
	memset(words, 'w', sizeof(words) - 1);
	memcpy(words, "No such file or directory", 25);
	say(0, "stageout", list);
	CU_ASSERT_EQUAL(epilogue(0), KEEL_WAIT);
	for (int i = 0; i < 40; i++)
		ends(1, words);
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told);
	CU_ASSERT_TRUE(strlen(letter) > 65536 && strlen(letter) < 65536 + 9200);
}

/* past modules/staging/staging.c COPY_LIMIT_MAX, past modules/staging/where.c PBS_CONF_MAX */
static void settings_have_bounds(void)
{
	static char text[65537 + 64];
	struct keel_err err;
	char path[512];

	CU_ASSERT_TRUE(keel_mock_check(mock, &keel_module, "copy_limit = \"604801s\";", &err) < 0);
	CU_ASSERT_EQUAL(keel_mock_check(mock, &keel_module, "copy_limit = \"604800s\";", &err), 0);
	snprintf(path, sizeof(path), "%s/pbs.conf", dir);
	setenv("PBS_CONF_FILE", path, 1);
	scratch_write(dir, "pbs.conf", "PBS_SCP=/bin/mine\nPBS_SCP_ARGS=-a  -b\n");
	say(0, "stagein", "a@far:/a");
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
		mock = keel_mock_new(KEEL_MOM);
		keel_mock_home(mock, dir);
		keel_mock_service(mock, "facts", &facts);
		keel_mock_service(mock, "supervise", &supervise);
		CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, NULL, &err));
		CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
		CU_ASSERT_STRING_EQUAL(ran.words, i == 0 ? "in|.|a|far|/a|/bin/mine|-a|-b" : "in|.|a|far|/a|scp|-Brp");
		ends(0, "");
		keel_mock_advance(mock, 0);
		memset(text, '#', 65537);
		memcpy(text, "PBS_SCP=/bin/mine\n", 18);
		scratch_write(dir, "pbs.conf", text);
	}
}

TESTS_MAIN_BETWEEN("staging", set_up, tear_down, TEST(jobs_without_files_do_not_wait), TEST(one_after_the_other_and_then_the_start),
		   TEST(a_copy_is_tried_four_times), TEST(a_missing_file_is_not_tried_again),
		   TEST(stage_out_goes_on_and_removes_when_all_is_there), TEST(a_private_directory_is_kept_when_a_copy_failed), TEST(what_was_staged_in_goes_after_a_program_that_ran),
		   TEST(runs_that_are_queued_again_are_not_staged_out), TEST(output_for_another_host),
		   TEST(files_that_are_seen_here_are_not_sent), TEST(an_operation_that_ends_kills_the_copy), TEST(the_server_hears_of_it), TEST(late_and_foreign_reports_are_ignored), TEST(lists_are_checked),
		   TEST(a_report_has_a_bound),
		   TEST(settings_have_bounds))
