/* SPDX-License-Identifier: Apache-2.0
 *
 * test_journal.c - lines reach the file of their day, in order, also when it cannot be written at
 * first. The loop is a list of things to do.
 */
#include "accounting.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char home[] = "/tmp/test_journal.XXXXXX";
static int64_t now = 86400 * 400;
static struct {
	keel_fn *fn;
	void *arg;
} todo[16];
static uint32_t n_todo, n_logged;
static keel_fn *timer_fn;

static void fake_log(struct keel_mod *mod, uint32_t event, const char *klass, const char *object,
		     const char *fmt, ...)
{
	(void)mod; (void)event; (void)klass; (void)object; (void)fmt;
	n_logged++;
}

static int32_t fake_error(struct keel_err *err, int32_t code, const char *fmt, ...)
{
	(void)err; (void)fmt;
	return code;
}

static const char *fake_home(struct keel_mod *mod)
{
	(void)mod;
	return home;
}

static int64_t fake_time(struct keel_mod *mod)
{
	(void)mod;
	return now;
}

static int32_t fake_defer(struct keel_mod *mod, keel_fn *fn, void *arg)
{
	(void)mod;
	todo[n_todo].fn = fn;
	todo[n_todo++].arg = arg;
	return 0;
}

static bool worker_runs = true;
static int32_t fake_work(struct keel_mod *mod, void (*work)(void *), keel_fn *done, void *arg)
{
	if (worker_runs)
		work(arg);
	return fake_defer(mod, done, arg);
}

static struct keel_timer *fake_timer(struct keel_mod *mod, int64_t ms, keel_fn *fn, void *arg)
{
	(void)mod; (void)ms; (void)arg;
	timer_fn = fn;
	return (struct keel_timer *)&timer_fn;
}

static void fake_cancel(struct keel_timer *t)
{
	(void)t;
}

static const struct keel_core_api core = { .log = fake_log, .error = fake_error,
	.home = fake_home, .time = fake_time, .defer = fake_defer, .work = fake_work,
	.timer = fake_timer, .timer_cancel = fake_cancel };
static struct state st = { .core = &core };
static struct keel_mod mod = { .state = &st, .name = "accounting" };

static void loop_run(void)
{
	uint32_t i;

	for (i = 0; i < n_todo; i++)
		todo[i].fn(&mod, todo[i].arg);
	n_todo = 0;
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

	CU_ASSERT_EQUAL(journal_open(&mod, NULL), 0);
	snprintf(path, sizeof(path), "%s/server_priv/accounting", home);
	CU_ASSERT_EQUAL(stat(path, &sb), 0);
	CU_ASSERT_EQUAL(sb.st_mode & 07777, 0755);
	journal_add(&mod, 'D', "1.svr", "requestor=a@b");
	journal_add(&mod, 'r', "1.svr", "");
	expect_file(now, "");
	loop_run();
	expect_file(now, "D;1.svr;requestor=a@b\nr;1.svr;\n");
}

static void test_hostile(void)
{
	now += 86400;
	journal_add(&mod, 'A', "2.svr", "bad\n01/01/2000 00:00:00;E;3.svr;fake");
	loop_run();
	expect_file(now, "A;2.svr;bad 01/01/2000 00:00:00;E;3.svr;fake\n");
}

static void test_midnight(void)
{
	now += 86400;
	journal_add(&mod, 'D', "1.svr", "before");
	now += 86400;
	journal_add(&mod, 'D', "1.svr", "after");
	loop_run();
	expect_file(now - 86400, "D;1.svr;before\n");
	expect_file(now, "D;1.svr;after\n");
	CU_ASSERT_EQUAL(st.journal.bytes, 0);
}

static void test_trouble(void)
{
	char path[300], away[300];

	now += 86400;
	snprintf(path, sizeof(path), "%s/server_priv/accounting", home);
	snprintf(away, sizeof(away), "%s/away", home);
	CU_ASSERT_EQUAL(rename(path, away), 0);
	n_logged = 0;
	journal_add(&mod, 'D', "1.svr", "one");
	loop_run();
	CU_ASSERT_EQUAL(n_logged, 1);
	CU_ASSERT_PTR_NOT_NULL(timer_fn);
	journal_add(&mod, 'D', "1.svr", "two");
	loop_run();
	CU_ASSERT_EQUAL(rename(away, path), 0);
	timer_fn(&mod, NULL);
	loop_run();
	expect_file(now, "D;1.svr;one\nD;1.svr;two\n");
}

static void test_stop_while_worker_is_late(void)
{
	now += 86400;
	worker_runs = false;
	journal_add(&mod, 'D', "1.svr", "one");
	todo[0].fn(&mod, todo[0].arg); /* given to a worker, which does not come to it */
	journal_add(&mod, 'D', "1.svr", "two");
	journal_flush(&mod);
	expect_file(now, "D;1.svr;one\nD;1.svr;two\n");
	journal_flush(&mod);
	expect_file(now, "D;1.svr;one\nD;1.svr;two\n");
	worker_runs = true;
	loop_run();
	expect_file(now, "D;1.svr;one\nD;1.svr;two\n");
	journal_close(&mod);
}

int main(void)
{
	char path[300], command[400];
	CU_pSuite s;
	unsigned failed;

	if (!mkdtemp(home))
		return 1;
	snprintf(path, sizeof(path), "%s/server_priv", home);
	if (mkdir(path, 0755))
		return 1;
	CU_initialize_registry();
	s = CU_add_suite("journal", NULL, NULL);
	CU_add_test(s, "lines", test_lines);
	CU_add_test(s, "hostile", test_hostile);
	CU_add_test(s, "midnight", test_midnight);
	CU_add_test(s, "trouble", test_trouble);
	CU_add_test(s, "stop while a worker is late", test_stop_while_worker_is_late);
	CU_basic_run_tests();
	failed = CU_get_number_of_failures();
	CU_cleanup_registry();
	snprintf(command, sizeof(command), "rm -rf '%s'", home);
	return system(command) || failed ? 1 : 0;
}
