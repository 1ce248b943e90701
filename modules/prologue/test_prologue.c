/* SPDX-License-Identifier: Apache-2.0
 *
 * test_prologue.c - what the scripts' exit statuses do to a job, what they get and where their output goes.
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
#include "keel/service/part.h"
#include "script.h"

extern const struct keel_module keel_module;
static struct keel_mock *mock;
static struct keel_mod *mod;
static char *dir, wrote[3][4096];
static uint32_t wrote_len;
static const char *interactive;

static char *fact_text(struct keel_mod *m, const char *id, const char *attr)
{
	(void)m;
	if (strcmp(id, "7.svr") != 0)
		return NULL;
	if (strcmp(attr, "interactive") == 0)
		return interactive ? strdup(interactive) : NULL;
	return strcmp(attr, "Account_Name") == 0 ? NULL : strdup(attr);
}
static const struct keel_facts_api facts = { .size = sizeof(facts), .text = fact_text };

static struct keel_part part = { .size = sizeof(part), .id = "7.svr", .user = "u1", .run = 1, .session = 4711 };
static int32_t part_usage(struct keel_mod *m, const char *id, char *buf, uint32_t len)
{
	(void)m;
	snprintf(buf, len, "cput=00:00:01,mem=1kb");
	return strcmp(id, part.id) == 0 ? 0 : -ENOENT;
}
static const struct keel_part *part_find(struct keel_mod *m, const char *id)
{
	(void)m;
	return strcmp(id, part.id) == 0 ? &part : NULL;
}
static int64_t part_write(struct keel_mod *m, const char *id, int32_t stream, const void *bytes, uint32_t len)
{
	(void)m, (void)id;
	wrote_len = len;
	snprintf(wrote[stream] + strlen(wrote[stream]), sizeof(wrote[0]) - strlen(wrote[stream]), "%.*s", (int)len, (const char *)bytes);
	return len;
}
static const struct keel_part_api parts = { .size = sizeof(parts), .find = part_find, .write = part_write, .usage = part_usage };

static void set_up(void)
{
	struct keel_err err;
	char path[512];

	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/mom_priv", dir);
	mkdir(path, 0755);
	mock = keel_mock_new(KEEL_MOM);
	keel_mock_home(mock, dir);
	keel_mock_service(mock, "facts", &facts);
	keel_mock_service(mock, "part", &parts);
	mod = keel_mock_load(mock, &keel_module, "alarm = \"2s\";", &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	interactive = NULL;
	memset(wrote, 0, sizeof(wrote));
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

static void script(const char *name, const char *text, mode_t mode)
{
	char path[512];

	snprintf(path, sizeof(path), "mom_priv/%s", name);
	scratch_write(dir, path, text);
	snprintf(path, sizeof(path), "%s/mom_priv/%s", dir, name);
	chmod(path, mode);
}

static struct keel_mock_outcome out;
static bool is_over(void *arg)
{
	(void)arg;
	return out.told;
}

static int32_t prologue(int64_t index)
{
	out = (struct keel_mock_outcome){ .told = false };
	keel_mock_raise(mock, KEEL_POINT_task_prologue, KEEL_EVENT(task_prologue, .id = "7.svr", .user = "u1", .index = index), &out);
	CU_ASSERT_TRUE(keel_mock_run(mock, is_over, NULL, 20000));
	return out.verdict == KEEL_REJECT ? out.code : 0;
}

static int32_t epilogue(int64_t status)
{
	out = (struct keel_mock_outcome){ .told = false };
	keel_mock_raise(mock, KEEL_POINT_task_epilogue, KEEL_EVENT(task_epilogue, .id = "7.svr", .index = 0, .exit_status = status), &out);
	CU_ASSERT_TRUE(keel_mock_run(mock, is_over, NULL, 20000));
	return out.verdict == KEEL_REJECT ? out.code : 0;
}

static void exits_of_a_prologue(void)
{
	static const struct {
		const char *text;
		int32_t code, interactive;
	} rows[] = {
		{ "exit 0", 0, 0 },	 { "exit 1", -2, -2 },	     { "exit 2", -3, -2 },
		{ "exit 255", -3, -2 }, { "kill -9 $$", -3, -2 }, { "sleep 60", -3, -2 },
	};
	char text[128];

	CU_ASSERT_EQUAL(prologue(0), 0); /* there is no file */
	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", rows[i].text);
		script("prologue", text, 0755);
		interactive = NULL;
		CU_ASSERT_EQUAL(prologue(0), rows[i].code);
		interactive = "True";
		CU_ASSERT_EQUAL(prologue(0), rows[i].interactive);
		CU_ASSERT_EQUAL(prologue(1), 0); /* a sister runs none */
	}
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "completed prologue, exit=-4"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "/mom_priv/prologue, exit: -4, nonzero p/e exit status"));
}

static void a_failed_prologue_is_named_in_the_jobs_errors(void)
{
	char expected[600];

	script("prologue", "#!/bin/sh\necho to stdout; echo to stderr >&2; pwd; exit 1\n", 0700);
	CU_ASSERT_EQUAL(prologue(0), -2);
	snprintf(expected, sizeof(expected), "to stderr\nCould not run prolog: pro/epilogue failed, file: %s/mom_priv/prologue, "
		 "exit: 1, nonzero p/e exit status\n", dir);
	CU_ASSERT_STRING_EQUAL(wrote[2], expected);
	snprintf(expected, sizeof(expected), "to stdout\n%s/mom_priv\n", dir);
	CU_ASSERT_STRING_EQUAL(wrote[1], expected);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Job;7.svr;running prologue"));
}

static void arguments(void)
{
	script("prologue", "#!/bin/sh\necho $# \"$@\"\n", 0755);
	CU_ASSERT_EQUAL(prologue(0), 0);
	CU_ASSERT_STRING_EQUAL(wrote[1], "3 7.svr u1 egroup\n");
	wrote[1][0] = '\0';
	script("epilogue", "#!/bin/sh\necho $# \"$@\"\n", 0755);
	CU_ASSERT_EQUAL(epilogue(271), 0);
	CU_ASSERT_STRING_EQUAL(wrote[1], "10 7.svr u1 egroup Job_Name 4711 Resource_List cput=00:00:01,mem=1kb queue null 271\n");
}

static void exits_of_an_epilogue(void)
{
	script("epilogue", "#!/bin/sh\nexit 1\n", 0755);
	CU_ASSERT_EQUAL(epilogue(4), 0);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "/mom_priv/epilogue, exit: 1, nonzero p/e exit status"));
	script("epilogue", "#!/bin/sh\nexit 2\n", 0755);
	CU_ASSERT_EQUAL(epilogue(4), 0);
	CU_ASSERT_EQUAL(epilogue(-12), -15);
	CU_ASSERT_STRING_EQUAL(wrote[2], "");
}

static void files_that_others_may_write_are_not_run(void)
{
	static const struct {
		mode_t mode;
		bool runs;
	} rows[] = { { 0775, false }, { 0757, false }, { 0300, false }, { 0600, false }, { 0711, true }, { 0500, true } };
	char path[512];

	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		keel_mock_log_clear(mock);
		script("prologue", "#!/bin/sh\nexit 0\n", rows[i].mode);
		CU_ASSERT_EQUAL(prologue(0), rows[i].runs ? 0 : -3);
		CU_ASSERT_EQUAL(keel_mock_logged(mock, "exit: -1, Permission Error") == NULL, rows[i].runs);
		CU_ASSERT_EQUAL(keel_mock_logged(mock, "running prologue") != NULL, rows[i].runs);
		snprintf(path, sizeof(path), "%s/mom_priv/prologue", dir);
		unlink(path);
	}
	mkdir(path, 0755);
	CU_ASSERT_EQUAL(prologue(0), -3);
	rmdir(path);
	if (symlink("/bin/true", path) == 0)
		CU_ASSERT_EQUAL(prologue(0), -3);
}

/* The deadline of the mock's clock, and the end of the daemon, kill what runs. */
static void a_daemon_that_ends_kills_it(void)
{
	script("prologue", "#!/bin/sh\nexec sleep 600\n", 0755);
	out = (struct keel_mock_outcome){ .told = false };
	CU_ASSERT_EQUAL(keel_mock_raise(mock, KEEL_POINT_task_prologue, KEEL_EVENT(task_prologue, .id = "7.svr", .user = "u1"), &out),
			KEEL_WAIT);
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 1);
	keel_mock_shutdown(mock);
	CU_ASSERT_TRUE(out.told);
}

/* past modules/prologue/script.h OUTPUT_MAX */
static void output_has_a_bound(void)
{
	char text[128];

	snprintf(text, sizeof(text), "#!/bin/sh\nhead -c %d /dev/zero\n", OUTPUT_MAX + 1);
	script("prologue", text, 0755);
	CU_ASSERT_EQUAL(prologue(0), 0);
	CU_ASSERT_EQUAL(wrote_len, OUTPUT_MAX);
}

/* past modules/prologue/prologue.c ALARM_MAX */
static void alarms(void)
{
	struct keel_mod *owner;
	const struct keel_mom_directive_def *row = keel_mock_row(mock, "MOM_DIRECTIVE", 0, &owner);
	const char *one = "1";
	struct keel_err err;

	CU_ASSERT_PTR_NOT_NULL_FATAL(row);
	CU_ASSERT_TRUE(row->check(owner, "0", &err) < 0);
	CU_ASSERT_TRUE(row->check(owner, "86401", &err) < 0);
	CU_ASSERT_EQUAL(row->check(owner, "86400", &err), 0);
	row->apply(owner, &one, 1);
	script("prologue", "#!/bin/sh\nsleep 60\n", 0755);
	CU_ASSERT_EQUAL(prologue(0), -3);
	row->apply(owner, NULL, 0);
}

TESTS_MAIN_BETWEEN("prologue", set_up, tear_down, TEST(exits_of_a_prologue), TEST(a_failed_prologue_is_named_in_the_jobs_errors),
		   TEST(arguments), TEST(exits_of_an_epilogue), TEST(files_that_others_may_write_are_not_run),
		   TEST(a_daemon_that_ends_kills_it), TEST(output_has_a_bound), TEST(alarms))
