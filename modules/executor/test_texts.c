/* SPDX-License-Identifier: Apache-2.0
 *
 * test_texts.c - what is read from strangers: spec files, /proc, words, amounts.
 */
#include "executor.h"

#include <errno.h>
#include <stdlib.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "duration.h"
#include "harness.h"
#include "keel/place.h"
#include "proc.h"
#include "spec.h"

static void spec_fill(struct spec_out *out)
{
	static const char *const rows[][2] = {
		{ "id", "1.s" }, { "run", "1" }, { "jobs_dir", "/j" }, { "undelivered", "/u" },
		{ "user", "a" }, { "home", "/h" }, { "shell", "/bin/sh" }, { "script", "/s" },
		{ "out.run", "/o" }, { "out.keep", "0" }, { "env", "A=b\nc" }, { "env", "D=" },
		{ "group", "7" }, { "group", "8" }, { "limit", "0:60" }, { "arg", "" },
	};

	for (size_t i = 0; i < KEEL_COUNT(rows); i++)
		spec_put(out, rows[i][0], rows[i][1]);
	spec_put_number(out, "uid", 4294967294u);
}

static void test_spec(void)
{
	struct spec_out out = { 0 };
	struct spec s;

	spec_fill(&out);
	CU_ASSERT_EQUAL(spec_end(&out), 0);
	CU_ASSERT_EQUAL_FATAL(spec_decode(out.bytes, out.len, &s), 0);
	CU_ASSERT_STRING_EQUAL(s.id, "1.s");
	CU_ASSERT_EQUAL(s.n_env, 2);
	CU_ASSERT_STRING_EQUAL(s.env[0], "A=b\nc");
	CU_ASSERT_PTR_NULL(s.env[2]);
	CU_ASSERT_EQUAL(s.n_groups, 2);
	CU_ASSERT_EQUAL(s.groups[1], 8);
	CU_ASSERT_EQUAL(s.uid, 4294967294u);
	CU_ASSERT_EQUAL(s.n_limits, 1);
	CU_ASSERT_EQUAL(s.limits[0].value, 60);
	CU_ASSERT_EQUAL(s.n_args, 1);
	spec_fini(&s);
	spec_out_fini(&out);
}

/* 0, or what record_read() says of a diary with this behind its beginning. */
static int diary_of(const char *more, struct diary *ret)
{
	char dir[] = "/tmp/diary.XXXXXX", path[64];
	FILE *f;
	int r;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/1.s.TK", dir);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fprintf(f, "run 3\nshepherd 77 1234\nstarted 78\n%s", more);
	fclose(f);
	r = record_read(dir, "1.s", ret);
	unlink(path);
	rmdir(dir);
	return r;
}

/* A host that lost its power in the middle of the last line has not seen the end. */
static void test_diary(void)
{
	static const char last[] = "ended 271 session 78 cpu_us 5000 max_rss_kb 900 at 1700000000 done\n";
	struct diary d;
	char torn[sizeof(last)];

	CU_ASSERT_EQUAL(diary_of(last, &d), 0);
	CU_ASSERT(d.run == 3 && d.shepherd == 77 && d.session == 78);
	CU_ASSERT(d.ended && d.status == 271 && d.cpu_us == 5000);
	for (size_t n = 0; n < sizeof(last) - 2; n++) {
		snprintf(torn, sizeof(torn), "%.*s", (int)n, last);
		CU_ASSERT_EQUAL(diary_of(torn, &d), 0);
		CU_ASSERT(!d.ended && d.session == 78);
	}
}

static void test_spec_refused(void)
{
	static const char *const rows[][2] = {
		{ "id", "../x" }, { "id", "a/b" }, { "id", "" }, { "uid", "-1" }, { "uid", "4294967295" },
		{ "uid", "x" }, { "drop", "2" }, { "unknown", "1" }, { "limit", "99:1" },
		{ "limit", "1" }, { "limit", ":1" }, { "group", " 1" },
	};

	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		struct spec_out out = { 0 };
		struct spec s;

		spec_fill(&out);
		spec_put(&out, rows[i][0], rows[i][1]);
		spec_end(&out);
		CU_ASSERT_EQUAL(spec_decode(out.bytes, out.len, &s), -EPROTO);
		spec_out_fini(&out);
	}
}

/* Cut at every length, and with bytes changed: never more than an error. */
static void test_spec_fuzz(void)
{
	struct spec_out out = { 0 };
	unsigned seed = 1;

	spec_fill(&out);
	spec_end(&out);
	for (size_t len = 0; len < out.len; len++) {
		char *copy = malloc(len + 1);
		struct spec s;

		memcpy(copy, out.bytes, len);
		CU_ASSERT(spec_decode(copy, len, &s) < 0);
		free(copy);
	}
	for (int round = 0; round < 20000; round++) {
		char *copy = malloc(out.len);
		struct spec s;

		memcpy(copy, out.bytes, out.len);
		for (int i = 0; i < 3; i++)
			copy[(size_t)rand_r(&seed) % out.len] = (char)rand_r(&seed);
		if (spec_decode(copy, out.len, &s) == 0)
			spec_fini(&s);
		free(copy);
	}
	spec_out_fini(&out);
}

static void test_proc(void)
{
	static const char *const bad[] = { "", "1", "1 (x", "1 x) R 1", "x (a) R 1 1 1", "1 (a) R 1 2",
					   ")(", "-5 (a) R 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" };
	struct proc p;

	CU_ASSERT_EQUAL(proc_parse("12 (a) R 9) S 3 4 5 0 -1 4 0 0 0 0 10 20 30 40 20 0 1 0 777 4096 6",
				   &p), 0);
	CU_ASSERT_EQUAL(p.pid, 12);
	CU_ASSERT_EQUAL(p.state, 'S');
	CU_ASSERT_EQUAL(p.parent, 3);
	CU_ASSERT_EQUAL(p.session, 5);
	CU_ASSERT_EQUAL(p.ticks, 30);
	CU_ASSERT_EQUAL(p.child_ticks, 70);
	CU_ASSERT_EQUAL(p.start, 777);
	CU_ASSERT_EQUAL(p.vmem, 4096);
	CU_ASSERT_EQUAL(p.rss, 6);
	for (size_t i = 0; i < KEEL_COUNT(bad); i++)
		CU_ASSERT_EQUAL(proc_parse(bad[i], &p), -EPROTO);
	CU_ASSERT_EQUAL(proc_read(getpid(), &p), 0);
	CU_ASSERT_EQUAL(p.parent, getppid());
	CU_ASSERT_EQUAL(proc_read(0x3fffffff, &p), -ESRCH);
}

static void test_words(void)
{
	char **w = words_decode("<T>a</T><T></T><T>&lt;b&gt; &amp;amp; &x;</T>", "T");

	CU_ASSERT_STRING_EQUAL(w[0], "a");
	CU_ASSERT_STRING_EQUAL(w[1], "");
	CU_ASSERT_STRING_EQUAL(w[2], "<b> &amp; &x;");
	CU_ASSERT_PTR_NULL(w[3]);
	free(w);
	for (const char *const *bad = (const char *const[]){ "", "<", "<T", "<T>", "<T>a", "<T>a<", "x",
							     "<U>a</U>", NULL }; *bad; bad++) {
		w = words_decode(*bad, "T");
		CU_ASSERT_PTR_NULL(w[0]);
		free(w);
	}
	w = words_decode(NULL, "T");
	CU_ASSERT_PTR_NULL(w[0]);
	free(w);
}

static void test_amounts(void)
{
	char text[32];

	CU_ASSERT_EQUAL(duration_parse("01:00:05"), 3605);
	CU_ASSERT_EQUAL(duration_parse("90"), 90);
	CU_ASSERT_EQUAL(duration_parse("1:30"), 90);
	CU_ASSERT_EQUAL(duration_parse("5.5"), 5);
	CU_ASSERT_EQUAL(duration_parse(""), -1);
	CU_ASSERT_EQUAL(duration_parse("1:"), -1);
	CU_ASSERT_EQUAL(duration_parse("1:2:3:4"), -1);
	CU_ASSERT_EQUAL(duration_parse("99999999999"), -1);
	CU_ASSERT_EQUAL(duration_parse("-1"), -1);
	duration_text(360005, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "100:00:05");
	CU_ASSERT_EQUAL(size_parse("64kb"), 65536);
	CU_ASSERT_EQUAL(size_parse("2gb"), 2147483648);
	CU_ASSERT_EQUAL(size_parse("1kw"), 8192);
	CU_ASSERT_EQUAL(size_parse("7"), 7);
	CU_ASSERT_EQUAL(size_parse("9999999tb"), -1);
	CU_ASSERT_EQUAL(size_parse("kb"), -1);
	CU_ASSERT_EQUAL(size_parse("1kbx"), -1);
}

/* past modules/executor/spec.h SPEC_MAX: written and read */
static void test_spec_largest(void)
{
	struct spec_out out = { 0 }, more = { 0 };
	const size_t end = strlen("end=") + 1, env = strlen("env=") + 1;
	struct spec s;
	char *value;

	spec_fill(&out);
	spec_fill(&more);
	value = malloc(SPEC_MAX);
	CU_ASSERT_PTR_NOT_NULL_FATAL(value);
	memset(value, 'v', SPEC_MAX);
	value[SPEC_MAX - 1] = '\0';
	value[SPEC_MAX - out.len - end - env] = '\0';
	spec_put(&out, "env", value);
	CU_ASSERT_EQUAL(spec_end(&out), 0);
	CU_ASSERT_EQUAL(out.len, SPEC_MAX);
	CU_ASSERT_EQUAL_FATAL(spec_decode(out.bytes, out.len, &s), 0);
	CU_ASSERT_STRING_EQUAL(s.env[2], value);
	spec_fini(&s);
	CU_ASSERT_EQUAL(spec_decode(out.bytes, (size_t)SPEC_MAX + 1, &s), -EPROTO);
	spec_out_fini(&out);
	value[strlen(value)] = 'v';
	spec_put(&more, "env", value);
	CU_ASSERT_EQUAL(spec_end(&more), -E2BIG);
	spec_out_fini(&more);
	free(value);
}

/* What spec_decode() says of n strings more. */
static int spec_of_many(const char *key, const char *value, unsigned n, struct spec *ret,
			struct spec_out *out)
{
	*out = (struct spec_out){ 0 };
	spec_fill(out);
	for (unsigned i = 0; i < n; i++)
		spec_put(out, key, value);
	CU_ASSERT_EQUAL(spec_end(out), 0);
	return spec_decode(out->bytes, out->len, ret);
}

/* past modules/executor/spec.h SPEC_GROUPS_MAX, past modules/executor/spec.h SPEC_LIMITS_MAX */
static void test_spec_lists(void)
{
	struct spec_out out;
	struct spec s;

	CU_ASSERT_EQUAL_FATAL(spec_of_many("group", "9", 65536 - 2, &s, &out), 0);
	CU_ASSERT_EQUAL(s.n_groups, 65536);
	CU_ASSERT_EQUAL(s.groups[65535], 9);
	spec_fini(&s);
	spec_out_fini(&out);
	CU_ASSERT_EQUAL(spec_of_many("group", "9", 65536 - 1, &s, &out), -EPROTO);
	spec_out_fini(&out);
	CU_ASSERT_EQUAL_FATAL(spec_of_many("limit", "7:5", 16 - 1, &s, &out), 0);
	CU_ASSERT_EQUAL(s.n_limits, 16);
	CU_ASSERT_EQUAL(s.limits[15].value, 5);
	spec_fini(&s);
	spec_out_fini(&out);
	CU_ASSERT_EQUAL(spec_of_many("limit", "7:5", 16, &s, &out), -EPROTO);
	spec_out_fini(&out);
}

static void test_signal_names(void)
{
	CU_ASSERT_EQUAL(signal_number("TERM"), 15);
	CU_ASSERT_EQUAL(signal_number("SIGTERM"), 15);
	CU_ASSERT_EQUAL(signal_number("NULL"), 0);
	CU_ASSERT_EQUAL(signal_number("0"), 0);
	CU_ASSERT_EQUAL(signal_number("999"), 999);
	CU_ASSERT(signal_number("99999999999999999999") > 0);
	CU_ASSERT_EQUAL(signal_number(""), -1);
	CU_ASSERT_EQUAL(signal_number("SIG"), -1);
	CU_ASSERT_EQUAL(signal_number("term"), -1);
	CU_ASSERT_EQUAL(signal_number("-1"), -1);
	CU_ASSERT_EQUAL(signal_number("suspend"), -1);
}

/* mend B10: a session's number may be another's by now. */
static void test_strays_are_of_the_user(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		setsid();
		for (;;)
			pause();
	}
	while (getsid(pid) != pid)
		sched_yield();
	proc_kill_strays(pid, NULL, NULL, 0, getuid() + 1);
	CU_ASSERT_EQUAL(waitpid(pid, &status, WNOHANG), 0);
	proc_kill_strays(pid, NULL, NULL, 0, getuid());
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
}

static bool is(char *text, const char *expected)
{
	bool ret = expected ? text && strcmp(text, expected) == 0 : text == NULL;

	free(text);
	return ret;
}

static void test_places(void)
{
	static const char *const rules[] = { "bad", "*.far:/home /net/home", NULL };

	CU_ASSERT_TRUE(keel_host_same("n1", "N1.example.org"));
	CU_ASSERT_TRUE(keel_host_same("n1.a", "n1.a"));
	CU_ASSERT_FALSE(keel_host_same("n1.a", "n1.b"));
	CU_ASSERT_FALSE(keel_host_same("n1", "n10"));
	CU_ASSERT_TRUE(is(path_here(rules, "own", "A.far", "/home/u1/x"), "/net/home/u1/x"));
	CU_ASSERT_TRUE(is(path_here(rules, "own", "a.near", "/home/u1/x"), NULL));
	CU_ASSERT_TRUE(is(path_here(rules, "own", "a.far", "/tmp/x"), NULL));
	CU_ASSERT_TRUE(is(path_here(rules, "bad", "bad.a", "/tmp/x"), "/tmp/x"));
	CU_ASSERT_TRUE(is(path_here(NULL, "own", "localhost", "/tmp/x"), "/tmp/x"));
	CU_ASSERT_TRUE(is(keel_marks_fill("7[3].svr", "o.^array_index^.$PBS_JOBID.${PBS_JOBID}"), "o.3.7[3].svr.7[3].svr"));
	CU_ASSERT_TRUE(is(keel_marks_fill("7.svr", "o.^array_index^"), "o.^array_index^"));
}

TESTS_MAIN("texts", TEST(test_places), TEST(test_spec), TEST(test_diary), TEST(test_spec_refused), TEST(test_spec_fuzz),
	   TEST(test_proc), TEST(test_words), TEST(test_amounts), TEST(test_spec_largest), TEST(test_spec_lists), TEST(test_signal_names), TEST(test_strays_are_of_the_user))
