/* SPDX-License-Identifier: Apache-2.0
 *
 * test_log.c - records, day files, what strangers write.
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "log/log.h"
#include "loop/loop.h"
#include "util/file.h"
#include "util/text.h"

static struct loop *loop;
static struct log *g;
static char *dir;

static void begin(uint32_t mask, bool microseconds)
{
	struct keel_err err = { 0 };

	dir = scratch_new();
	CU_ASSERT_EQUAL_FATAL(loop_create(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(log_open(loop, dir, "Server@svr", mask, microseconds, &g, &err), 0);
}

/* All day files together: a test may run at midnight. */
static char *written(void)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort);
	char *all = strdup("");

	for (int i = 0; i < n; i++) {
		char *path = path_join(dir, names[i]->d_name), *text = NULL, *more;

		if (names[i]->d_name[0] != '.') {
			CU_ASSERT_EQUAL(strlen(names[i]->d_name), 8);
			CU_ASSERT_EQUAL(strspn(names[i]->d_name, "0123456789"), 8);
			CU_ASSERT_EQUAL(file_read(path, 1 << 24, &text, NULL), 0);
			more = text_format("%s%s", all, text);
			free(all);
			all = more;
		}
		free(text);
		free(path);
		free(names[i]);
	}
	free(names);
	return all;
}

static void finish(void)
{
	log_close(g);
	loop_destroy(loop);
	scratch_remove(dir);
	free(dir);
}

/* The line that ends with `rest`, after its stamp; is there one? */
static bool has_line(const char *all, size_t stamp, const char *rest)
{
	for (const char *at = all; *at != '\0'; at = strchr(at, '\n') + 1) {
		size_t len = strcspn(at, "\n");

		if (len == stamp + strlen(rest) && strncmp(at + stamp, rest, strlen(rest)) == 0)
			return true;
		if (at[len] == '\0')
			break;
	}
	return false;
}

static void test_first_lines_and_format(void)
{
	char *all;

	begin(511, false);
	log_add(g, 0x8008, "Job", "12.svr", "Job Queued at request of %s", "a@b");
	log_add(g, 0x0086, NULL, NULL, "no object");
	all = written();
	CU_ASSERT(has_line(all, 19, ";0002;Server@svr;Svr;Log;Log opened"));
	CU_ASSERT_PTR_NOT_NULL(strstr(all, ";Svr;Server@svr;pbs_version=23.06.06"));
	CU_ASSERT_PTR_NOT_NULL(strstr(all, ";Svr;Server@svr;pbs_build="));
	CU_ASSERT_PTR_NOT_NULL(strstr(all, ";Svr;Server@svr;hostname="));
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;12.svr;Job Queued at request of a@b"));
	CU_ASSERT(has_line(all, 19, ";0086;Server@svr;n/a;;no object"));
	CU_ASSERT_EQUAL(all[2], '/');
	CU_ASSERT_EQUAL(all[5], '/');
	CU_ASSERT_EQUAL(all[10], ' ');
	free(all);
	finish();
}

static void test_mask(void)
{
	char *all;

	begin(KEEL_LOG_ERROR, false);
	log_add(g, KEEL_LOG_DEBUG, "Svr", "x", "dropped");
	log_add(g, KEEL_LOG_DEBUG | KEEL_LOG_FORCE, "Svr", "x", "forced");
	log_set_mask(g, KEEL_LOG_DEBUG, false);
	log_add(g, KEEL_LOG_DEBUG | KEEL_LOG_JOB, "Svr", "x", "one bit is enough");
	log_add(NULL, KEEL_LOG_FORCE, "Svr", "x", "nobody");
	all = written();
	CU_ASSERT_PTR_NULL(strstr(all, "dropped"));
	CU_ASSERT(has_line(all, 19, ";0080;Server@svr;Svr;x;forced"));
	CU_ASSERT(has_line(all, 19, ";0088;Server@svr;Svr;x;one bit is enough"));
	free(all);
	finish();
}

static void test_strangers_cannot_break_lines(void)
{
	char *all;

	begin(511, false);
	log_add(g, KEEL_LOG_JOB, "Job", "a\nb", "%s", "x\r\n01/01/2030 00:00:00;fake\033[31m");
	log_add(g, KEEL_LOG_JOB, "K\n01/01/2030", "a", "%s", "a module in a process of its own says the class");
	all = written();
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;K\\n01/01/2030;a;a module in a process of its own says the class"));
	CU_ASSERT(has_line(all, 19,
			   ";0008;Server@svr;Job;a\\nb;x\\x0d\\n01/01/2030 00:00:00;fake\\x1b[31m"));
	free(all);
	finish();
}

/* mend B9: C1 as well, in both formats; letters of UTF-8 that have such bytes stay. */
static void test_c1_never_reaches_logs(void)
{
	char *all;

	begin(511, false);
	log_add(g, KEEL_LOG_JOB, "Job", "a", "%s", "\302\2332J \2332J \303\233 \342\202\254 x\302");
	log_set_json(g, true);
	log_add(g, KEEL_LOG_JOB, "Job", "a", "%s", "\302\2332J \303\233");
	all = written();
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;a;\\xc2\\x9b2J \\x9b2J \303\233 \342\202\254 x\302"));
	CU_ASSERT_PTR_NOT_NULL(strstr(all, "\"text\":\"\\u009b2J \303\233\""));
	free(all);
	finish();
}

static void test_microseconds(void)
{
	char *all;

	begin(511, true);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "first");
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "second");
	all = written();
	CU_ASSERT(has_line(all, 26, ";0008;Server@svr;Job;1.svr;first"));
	CU_ASSERT(has_line(all, 26, ";0008;Server@svr;Job;1.svr;second"));
	CU_ASSERT_EQUAL(all[19], '.');
	CU_ASSERT_EQUAL(strspn(all + 20, "0123456789"), 6);
	free(all);
	finish();
}

static void test_long_record(void)
{
	char *words = text_format("%0200000d", 7), *all;

	begin(511, false);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "%s", words);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "next");
	all = written();
	CU_ASSERT_PTR_NOT_NULL(strstr(all, words));
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;1.svr;next"));
	free(all);
	free(words);
	finish();
}

static void expect_json(const char *text, const char *back)
{
	char *all, *last;
	json_t *line;

	begin(511, false);
	log_set_json(g, true);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "%s", text);
	all = written();
	all[strlen(all) - 1] = '\0';
	last = strrchr(all, '\n') + 1;
	line = json_loads(last, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(line, "text")), back);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(line, "object")), "1.svr");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(line, "event")), 8);
	json_decref(line);
	free(all);
	finish();
}

static void test_json(void)
{
	expect_json("plain", "plain");
	expect_json("a \"quoted\" \\ and\n\ttab \001", "a \"quoted\" \\ and\n\ttab \001");
	expect_json("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	expect_json("bad \xff", "bad \xc3\xbf");               /* as if Latin-1 */
	expect_json("cut \xe2\x82", "cut \xc3\xa2\xc2\x82");   /* not the end of a sequence */
	expect_json("\xed\xa0\x80", "\xc3\xad\xc2\xa0\xc2\x80"); /* a surrogate */
}

static void test_append_and_close(void)
{
	struct keel_err err;
	char *all;

	begin(511, false);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "before");
	log_close(g);
	CU_ASSERT_EQUAL(log_open(loop, dir, "Server@svr", 511, false, &g, &err), 0);
	all = written();
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;1.svr;before"));
	CU_ASSERT(has_line(all, 19, ";0002;Server@svr;Svr;Log;Log closed"));
	free(all);
	finish();
	log_close(NULL);
}

static void test_refused(void)
{
	struct keel_err err = { 0 };
	struct log *other = NULL;
	char *file;

	begin(511, false);
	scratch_write(dir, "plain", "");
	file = path_join(dir, "plain/logs");
	CU_ASSERT(log_open(loop, file, "x", 511, false, &other, &err) < 0);
	CU_ASSERT_PTR_NULL(other);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, file));
	free(file);
	log_close(g);
	loop_destroy(loop);
	scratch_remove(dir);
	free(dir);
}

/* A file that may not grow is a full disk: records are lost, counted, and told of. */
static void test_full_disk(void)
{
	struct rlimit full = { 0 }, before;
	char *all;

	begin(511, false);
	signal(SIGXFSZ, SIG_IGN);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
	full = before;
	full.rlim_cur = 1;
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &full), 0);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "lost");
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "lost");
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "again");
	all = written();
	CU_ASSERT_PTR_NULL(strstr(all, ";lost"));
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;1.svr;again"));
	CU_ASSERT(has_line(all, 19, ";0001;Server@svr;Svr;Log;2 records were lost: File too large"));
	free(all);
	finish();
}

/* The disk is full in the middle of a record: what comes afterwards begins a line of its own. */
static void test_cut_record(void)
{
	struct rlimit full, before;
	char *all, *cut;

	begin(511, false);
	signal(SIGXFSZ, SIG_IGN);
	all = written();
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
	full = before;
	full.rlim_cur = strlen(all) + 30;
	free(all);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &full), 0);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "cut in two");
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "lost");
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "again");
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "and again");
	all = written();
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;1.svr;again"));
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;1.svr;and again"));
	CU_ASSERT(has_line(all, 19, ";0001;Server@svr;Svr;Log;2 records were lost: File too large"));
	CU_ASSERT_PTR_NULL(strstr(all, "\n\n"));
	cut = strstr(all, ";0008;Serve\n"); /* what there was room for */
	CU_ASSERT_PTR_NOT_NULL(cut);
	free(all);
	finish();
}

static void wait_for_next_second(void)
{
	int64_t now = loop_time(loop), deadline = now + 5;

	while (loop_time(loop) == now && loop_time(loop) < deadline)
		usleep(2000);
}

/* Two zones that never have the same day: the record of the next second meets another day. */
static void test_midnight(void)
{
	struct dirent **names;
	char *all, *before = getenv("TZ") == NULL ? NULL : strdup(getenv("TZ"));
	int n, fd;

	setenv("TZ", "WEST+12", 1);
	tzset();
	begin(511, false);
	fd = log_fd(g);
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "yesterday");
	setenv("TZ", "EAST-14", 1);
	tzset();
	wait_for_next_second();
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "today");
	CU_ASSERT_EQUAL(log_fd(g), fd);
	all = written();
	CU_ASSERT_PTR_NOT_NULL(strstr(all, "yesterday"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(strstr(all, "Log closed"));
	CU_ASSERT_PTR_NOT_NULL(strstr(strstr(all, "Log closed"), "Log opened"));
	CU_ASSERT_PTR_NOT_NULL(strstr(strstr(all, "Log closed"), "today"));
	n = scandir(dir, &names, NULL, alphasort);
	CU_ASSERT_EQUAL(n, 4); /* . and .. too */
	while (n > 0)
		free(names[--n]);
	free(names);
	free(all);
	finish();
	(void)(before == NULL ? unsetenv("TZ") : setenv("TZ", before, 1));
	tzset();
	free(before);
}

/* Moved or replaced: the next second has a new file, and nothing is lost but what a removed one had. */
static void test_moved_away(void)
{
	char *all, *moved, *day;

	begin(511, false);
	all = written();
	day = text_format("%s/%.4s%.2s%.2s", dir, all + 6, all, all + 3);
	moved = text_format("%s/00000000", dir); /* where written() finds it */
	CU_ASSERT_EQUAL(rename(day, moved), 0);
	log_look(g); /* SIGHUP */
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "after HUP");
	free(all);
	CU_ASSERT_EQUAL(file_read(day, 1 << 20, &all, NULL), 0);
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;1.svr;after HUP"));
	CU_ASSERT_PTR_NOT_NULL(strstr(all, "pbs_version="));
	free(all);
	CU_ASSERT_EQUAL(file_read(moved, 1 << 20, &all, NULL), 0);
	CU_ASSERT(has_line(all, 19, ";0002;Server@svr;Svr;Log;Log closed"));
	free(all);
	CU_ASSERT_EQUAL(unlink(day), 0);
	scratch_write(dir, strrchr(day, '/') + 1, "replaced\n");
	wait_for_next_second();
	log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "another file");
	all = written();
	CU_ASSERT_PTR_NOT_NULL(strstr(all, "replaced\n"));
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;1.svr;another file"));
	free(all);
	free(day);
	free(moved);
	finish();
}

/* What stands in its place cannot be opened: that is said once, in the file that is used on. */
static void test_cannot_be_opened_again(void)
{
	char *all, *day, *moved;

	begin(511, false);
	all = written();
	day = text_format("%s/%.4s%.2s%.2s", dir, all + 6, all, all + 3);
	free(all);
	moved = text_format("%s/00000000", dir);
	CU_ASSERT_EQUAL(rename(day, moved), 0);
	CU_ASSERT_EQUAL(symlink("00000000", day), 0);
	for (int i = 0; i < 2; i++) {
		wait_for_next_second();
		log_add(g, KEEL_LOG_JOB, "Job", "1.svr", "%d", i);
	}
	CU_ASSERT_EQUAL(file_read(moved, 1 << 20, &all, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(all, ": Too many levels of symbolic links; records go to the file before it\n"));
	CU_ASSERT_PTR_NULL(strstr(strstr(all, "cannot open") + 1, "cannot open"));
	CU_ASSERT(has_line(all, 19, ";0008;Server@svr;Job;1.svr;1"));
	free(all);
	CU_ASSERT_EQUAL(unlink(day), 0);
	log_look(g);
	CU_ASSERT_EQUAL(access(day, F_OK), 0);
	free(day);
	free(moved);
	finish();
}

TESTS_MAIN("log", TEST(test_moved_away), TEST(test_cannot_be_opened_again), TEST(test_midnight), TEST(test_first_lines_and_format), TEST(test_mask),
	   TEST(test_strangers_cannot_break_lines), TEST(test_c1_never_reaches_logs), TEST(test_microseconds), TEST(test_long_record),
	   TEST(test_json), TEST(test_append_and_close), TEST(test_refused), TEST(test_full_disk), TEST(test_cut_record))
