/* SPDX-License-Identifier: Apache-2.0
 *
 * test_journal.c - lines reach the file of their day, in order, also when it cannot be written at
 * first.
 */
#include "accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "keel/mock.h"

static char *home;
static int64_t now = 86400 * 400;
static struct keel_mock *mock;
static struct keel_mod *mod; /* the test's own, with this state */
static struct state st;

static void set_up(void)
{
	char path[300];

	home = scratch_new();
	snprintf(path, sizeof(path), "%s/server_priv", home);
	CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
	st = (struct state){ 0 };
	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_home(mock, home);
	keel_mock_epoch(mock, now);
	keel_mock_attr_def(mock, &outbox_day);
	keel_mock_attr_def(mock, &outbox_lines);
	mod = keel_mock_self(mock);
	mod->state = &st;
	outbox_find(mod);
	CU_ASSERT_EQUAL(journal_open(mod, NULL), 0);
}

static void tear_down(void)
{
	journal_close(mod);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(home);
	free(home);
}

static void next_day(void)
{
	now += 86400;
	keel_mock_epoch(mock, now);
}

static void loop_run(void)
{
	keel_mock_advance(mock, 0);
}

/* What the file of the day holds, as the time of day is printed: only the part after the stamp. */
static void expect_file(int64_t day, const char *wanted)
{
	char path[300], name[16], buf[4096] = "", line[512];
	time_t t = (time_t)day;
	struct tm tm;
	FILE *f;

	localtime_r(&t, &tm);
	strftime(name, sizeof(name), "%Y%m%d", &tm);
	snprintf(path, sizeof(path), "%s/server_priv/accounting/%s", home, name);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		CU_ASSERT(strlen(line) > 20 && line[19] == ';');
		strcat(buf, line + 20);
	}
	if (f)
		fclose(f);
	CU_ASSERT_STRING_EQUAL(buf, wanted);
}

static void test_lines(void)
{
	struct stat sb;
	char path[300];

	snprintf(path, sizeof(path), "%s/server_priv/accounting", home);
	CU_ASSERT_EQUAL(stat(path, &sb), 0);
	CU_ASSERT_EQUAL(sb.st_mode & 07777, 0755);
	journal_add(mod, 'D', "1.svr", "requestor=a@b");
	journal_add(mod, 'r', "1.svr", "");
	expect_file(now, "");
	loop_run();
	expect_file(now, "D;1.svr;requestor=a@b\nr;1.svr;\n");
}

static void test_hostile(void)
{
	next_day();
	journal_add(mod, 'A', "2.svr", "bad\n01/01/2000 00:00:00;E;3.svr;fake");
	loop_run();
	expect_file(now, "A;2.svr;bad 01/01/2000 00:00:00;E;3.svr;fake\n");
}

static void test_midnight(void)
{
	next_day();
	journal_add(mod, 'D', "1.svr", "before");
	next_day();
	journal_add(mod, 'D', "1.svr", "after");
	loop_run();
	expect_file(now - 86400, "D;1.svr;before\n");
	expect_file(now, "D;1.svr;after\n");
	CU_ASSERT_EQUAL(st.journal.bytes, 0);
}

static void test_trouble(void)
{
	char path[300], away[300];

	next_day();
	snprintf(path, sizeof(path), "%s/server_priv/accounting", home);
	snprintf(away, sizeof(away), "%s/away", home);
	CU_ASSERT_EQUAL(rename(path, away), 0);
	keel_mock_log_clear(mock);
	journal_add(mod, 'D', "1.svr", "one");
	loop_run();
	CU_ASSERT_PTR_NOT_NULL(keel_mock_log(mock, 0));
	CU_ASSERT_PTR_NULL(keel_mock_log(mock, 1));
	journal_add(mod, 'D', "1.svr", "two");
	loop_run();
	CU_ASSERT_EQUAL(rename(away, path), 0);
	keel_mock_next(mock); /* it is tried again */
	loop_run();
	expect_file(now, "D;1.svr;one\nD;1.svr;two\n");
}

/* What is not durable yet has not happened: its line would be written again after a kill. */
static void test_full_disk(void)
{
	next_day();
	keel_mock_store(mock, false);
	journal_add(mod, 'Q', "1.svr", "one");
	keel_mock_advance(mock, 60000);
	journal_add(mod, 'E', "1.svr", "two");
	keel_mock_advance(mock, 60000);
	expect_file(now, "");
	keel_mock_store(mock, true);
	loop_run();
	expect_file(now, "Q;1.svr;one\nE;1.svr;two\n");
}

/* past modules/accounting/journal.c BYTES_MAX: the line that comes to it is kept, the next is counted. */
static void test_too_many_wait(void)
{
	const size_t most = 256u << 20;

	next_day();
	st.journal.bytes = most - 1;
	journal_add(mod, 'D', "1.svr", "one");
	CU_ASSERT_EQUAL(st.journal.lost, 0);
	journal_add(mod, 'D', "1.svr", "two");
	CU_ASSERT_EQUAL(st.journal.lost, 1);
	keel_mock_log_clear(mock);
	loop_run();
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "accounting records can be written again; 1 were lost"));
	CU_ASSERT_EQUAL(st.journal.bytes, most - 1);
	st.journal.bytes = 0;
	journal_add(mod, 'D', "1.svr", "three");
	loop_run();
	expect_file(now, "D;1.svr;one\nD;1.svr;three\n");
}

/* Given to a worker, which does not come to it. */
static void one_at_worker(void)
{
	next_day();
	journal_add(mod, 'D', "1.svr", "one");
	while (!st.journal.writing)
		CU_ASSERT_FATAL(keel_mock_next(mock));
}

static void test_stop_while_worker_is_late(void)
{
	one_at_worker();
	journal_add(mod, 'D', "1.svr", "two");
	journal_flush(mod);
	expect_file(now, "D;1.svr;one\nD;1.svr;two\n");
	journal_flush(mod);
	expect_file(now, "D;1.svr;one\nD;1.svr;two\n");
	loop_run();
	expect_file(now, "D;1.svr;one\nD;1.svr;two\n");
}

/* The module ends; its worker returns afterwards. */
static void test_gone_while_worker_is_late(void)
{
	one_at_worker();
	journal_flush(mod);
	journal_close(mod);
	loop_run();
	expect_file(now, "D;1.svr;one\n");
}

static void test_gone_before_it_is_durable(void)
{
	next_day();
	keel_mock_store(mock, false);
	journal_add(mod, 'D', "1.svr", "one");
	loop_run();
	journal_add(mod, 'D', "1.svr", "two");
	journal_flush(mod);
	journal_close(mod);
	keel_mock_store(mock, true);
	loop_run();
	expect_file(now, "D;1.svr;one\nD;1.svr;two\n");
}

TESTS_MAIN_BETWEEN("journal", set_up, tear_down, TEST(test_too_many_wait), TEST(test_lines), TEST(test_hostile), TEST(test_midnight),
		   TEST(test_trouble), TEST(test_full_disk), TEST(test_stop_while_worker_is_late),
		   TEST(test_gone_while_worker_is_late), TEST(test_gone_before_it_is_durable))
