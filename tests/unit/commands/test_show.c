/* SPDX-License-Identifier: Apache-2.0
 *
 * test_show.c - full format, plain lines and dsv of literal attribute lists.
 */
#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#include "capture.h"
#include "show.h"

static void full(const struct entry *rows, bool wrapped, const char *expected)
{
	struct attrl list[32];
	struct capture c;
	struct show s;

	capture_begin(&c);
	CU_ASSERT_EQUAL(show_init(&s, &c.out, true), 0);
	show_attributes(&s, entries(rows, list), wrapped);
	show_fini(&s);
	capture_is(&c, expected);
}

static void test_commas(void)
{
	static const struct entry rows[] = {
		{ "Variable_List", NULL,
		  "PBS_O_HOME=/home/pbsuser,PBS_O_LANG=C.UTF-8,PBS_O_LOGNAME=pbsuser,"
		  "PBS_O_PATH=/opt/pbs/bin:/opt/pbs/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:"
		  "/usr/bin:/sbin:/bin,PBS_O_MAIL=/var/mail/pbsuser,PBS_O_SHELL=/bin/bash,A=1" },
		{ NULL, NULL, NULL },
	};

	full(rows, true,
	     "    Variable_List = PBS_O_HOME=/home/pbsuser,PBS_O_LANG=C.UTF-8,\n"
	     "\tPBS_O_LOGNAME=pbsuser,\n"
	     "\tPBS_O_PATH=/opt/pbs/bin:/opt/pbs/sbin:/usr/local/sbin:/usr/local/bin:/\n"
	     "\tusr/sbin:/usr/bin:/sbin:/bin,PBS_O_MAIL=/var/mail/pbsuser,\n"
	     "\tPBS_O_SHELL=/bin/bash,A=1\n");
}

static void test_hard_breaks(void)
{
	static const struct entry rows[] = {
		{ "state_count", NULL,
		  "Transit:0 Queued:1 Held:1 Waiting:1 Running:2 Exiting:0 Begun:0 " },
		{ "Submit_arguments", NULL,
		  "<jsdl-hpcpa:Argument>-N</jsdl-hpcpa:Argument>"
		  "<jsdl-hpcpa:Argument>two</jsdl-hpcpa:Argument>"
		  "<jsdl-hpcpa:Argument>-l</jsdl-hpcpa:Argument>"
		  "<jsdl-hpcpa:Argument>select=2:ncpus=2:mem=512mb:lic=1</jsdl-hpcpa:Argument>"
		  "<jsdl-hpcpa:Argument>--</jsdl-hpcpa:Argument>"
		  "<jsdl-hpcpa:Argument>/bin/sleep</jsdl-hpcpa:Argument>"
		  "<jsdl-hpcpa:Argument>500</jsdl-hpcpa:Argument>" },
		{ NULL, NULL, NULL },
	};

	full(rows, true,
	     "    state_count = Transit:0 Queued:1 Held:1 Waiting:1 Running:2 Exiting:0 Begun\n"
	     "\t:0 \n"
	     "    Submit_arguments = -N two -l select=2:ncpus=2:mem=512mb:lic=1 -- /bin/sleep\n"
	     "\t 500\n");
}

/* Whatever is in a value: no line is longer than 80 and joining gives the value back. */
static void test_join(void)
{
	char value[3000], *text, *at;
	struct attrl a = { NULL, (char *)"exec_vnode", NULL, value, SET };
	struct capture c;
	struct show s;
	size_t i, column = 0;
	unsigned seed;

	for (seed = 1; seed < 200; seed++) {
		for (i = 0; i + 1 < sizeof(value) - seed; i++)
			value[i] = (i * seed) % 31 == 3 && i > 0 ? ',' : (char)('a' + i % 26);
		value[i] = '\0';
		capture_begin(&c);
		show_init(&s, &c.out, true);
		show_attributes(&s, &a, true);
		show_fini(&s);
		text = capture_end(&c);
		for (at = text, i = 0, column = 0; *at; at++) {
			if (at[0] == '\n' && at[1] == '\t')
				at++, column = 8;
			else
				text[i++] = *at, column++;
			CU_ASSERT(column <= 81 || *at == '\n');
		}
		text[i] = '\0';
		CU_ASSERT_STRING_EQUAL(text + i - 1, "\n");
		text[i - 1] = '\0';
		CU_ASSERT_STRING_EQUAL(text + strlen("    exec_vnode = "), value);
		free(text);
	}
}

static void test_comma_runs(void)
{
	static const struct entry rows[] = { { "a", NULL, "x,,,y," }, { "b", "r", "" },
					     { NULL, NULL, NULL } };

	full(rows, true, "    a = x,y,\n    b.r = \n");
}

static void test_controls(void)
{
	static const struct entry rows[] = { { "comment", NULL, "a\nb\tc\fd\x7f\xc3\xa9" },
					     { NULL, NULL, NULL } };

	full(rows, true, "    comment = a^Jb^Ic^Ld^?\xc3\xa9\n");
	full(rows, false, "    comment = a\\nb^Ic\\fd^?\xc3\xa9\n");
}

static void test_dates(void)
{
	static const struct entry rows[] = {
		{ "ctime", NULL, "1795187612" },
		{ "ctime", NULL, "0" },
		{ "qtime", NULL, "yesterday" },
		{ "estimated", "start_time", "0" },
		{ "estimated", "start_time", "1709287200" },
		{ "history_timestamp", NULL, "1795187635" },
		{ NULL, NULL, NULL },
	};

	full(rows, true,
	     "    ctime = Fri Nov 20 15:13:32 2026\n"
	     "    ctime = Thu Jan  1 00:00:00 1970\n"
	     "    qtime = yesterday\n"
	     "    estimated.start_time = UNKNOWN\n"
	     "    estimated.start_time = Fri Mar  1 10:00:00 2024\n"
	     "    history_timestamp = 1795187635\n");
}

static void test_clock(void)
{
	struct clock_text *c = calloc(1, sizeof(*c));
	char expected[64];
	time_t when;
	struct tm tm;
	size_t len;

	for (when = 63072000; when < 4000000000; when += 86399 * 7 + 13) {
		localtime_r(&when, &tm);
		asctime_r(&tm, expected);
		expected[24] = '\0';
		CU_ASSERT_STRING_EQUAL(clock_text(c, when, &len), expected);
		CU_ASSERT_EQUAL(len, 24);
	}
	free(c);
}

/* Zones whose offset is no whole quarter of an hour: leap seconds, and what people make up. */
static void test_clock_in_odd_zones(void)
{
	static const char *const zones[] = { "LMT-0:53:28", "X0:07:30", "<+01>-1:00:27", "N2:30" };
	char *old = getenv("TZ") ? strdup(getenv("TZ")) : NULL;

	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		setenv("TZ", zones[i], 1);
		tzset();
		test_clock();
	}
	if (old)
		setenv("TZ", old, 1);
	else
		unsetenv("TZ");
	tzset();
	free(old);
}

struct slow_reader {
	int fd;
	size_t got;
};

static void *read_slowly(void *arg)
{
	struct slow_reader *r = arg;
	char some[4096];
	ssize_t n;

	while ((n = read(r->fd, some, sizeof(some))) > 0)
		r->got += (size_t)n;
	return NULL;
}

/* A stream that does not block is waited for: nothing is lost, nothing fails. */
static void test_out_waits_for_room(void)
{
	struct slow_reader reader = { 0 };
	pthread_t thread;
	struct out out;
	int ends[2];

	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_NONBLOCK), 0);
	fcntl(ends[0], F_SETFL, 0);
	reader.fd = ends[0];
	CU_ASSERT_EQUAL_FATAL(out_init(&out, ends[1]), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, read_slowly, &reader), 0);
	out_repeat(&out, 'x', 3000000);
	CU_ASSERT_EQUAL(out_fini(&out), 0);
	close(ends[1]);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(reader.got, 3000000);
	close(ends[0]);
}

static void test_words(void)
{
	static const struct entry rows[] = {
		{ "Submit_arguments", NULL, "<a>x &amp; y</a><a>&lt;z&gt;</a>" },
		{ "Submit_arguments", NULL, "<a>open" },
		{ "Submit_arguments", NULL, "<" },
		{ "Submit_arguments", NULL, "plain words" },
		{ "executable", NULL, "<jsdl-hpcpa:Executable>/bin/x</jsdl-hpcpa:Executable>" },
		{ NULL, NULL, NULL },
	};

	full(rows, true,
	     "    Submit_arguments = x & y <z>\n"
	     "    Submit_arguments = <a>open\n"
	     "    Submit_arguments = <\n"
	     "    Submit_arguments = plain words\n"
	     "    executable = <jsdl-hpcpa:Executable>/bin/x</jsdl-hpcpa:Executable>\n");
}

static void dsv(const char *delim, const char *expected)
{
	static const struct entry rows[] = {
		{ "Job_Name", NULL, "a|b" },	    { "comment", NULL, "x\ny; z::w" },
		{ "Resource_List", "ncpus", "2" },  { "jobs", NULL, "1.s/0, 1.s/1" },
		{ NULL, NULL, NULL },
	};
	struct attrl list[8];
	struct capture c;
	struct show s;

	capture_begin(&c);
	show_init(&s, &c.out, true);
	show_dsv(&s, entries(rows, list), delim, "jobs");
	show_fini(&s);
	capture_is(&c, expected);
}

/* mend B9: no control character, C1 neither, reaches a terminal. */
static void test_dsv_moves_no_terminal(void)
{
	static const struct entry rows[] = {
		{ "comment", NULL, "a\033[2J\302\2332J\2332J \303\233\177" }, { NULL, NULL, NULL },
	};
	struct attrl list[2];
	struct capture c;
	struct show s;

	capture_begin(&c);
	show_init(&s, &c.out, true);
	show_dsv(&s, entries(rows, list), "|", NULL);
	show_fini(&s);
	capture_is(&c, "|comment=a^[[2JM-^[2JM-^[2J \303\233^?");
}

static void test_dsv(void)
{
	dsv("|", "|Job_Name=a\\|b|comment=x\\ny; z::w|Resource_List.ncpus=2|jobs=1.s/0,1.s/1");
	dsv(";", ";Job_Name=a|b;comment=x\\ny\\; z::w;Resource_List.ncpus=2;jobs=1.s/0,1.s/1");
	dsv("::", "::Job_Name=a|b::comment=x\\ny; z\\::w::Resource_List.ncpus=2::jobs=1.s/0,1.s/1");
	dsv("", "Job_Name=a|bcomment=x\\ny; z::wResource_List.ncpus=2jobs=1.s/0,1.s/1");
}

/* A value larger than the buffer, and a reader that is gone. */
static void test_out(void)
{
	size_t size = OUT_SIZE * 3 + 5;
	char *big = malloc(size + 1), *text;
	struct capture c;
	struct out o;

	memset(big, 'x', size);
	big[size] = '\0';
	capture_begin(&c);
	out_char(&c.out, '<');
	out_str(&c.out, big);
	out_printf(&c.out, "%s>", big);
	text = capture_end(&c);
	CU_ASSERT_EQUAL(strlen(text), 2 * size + 2);
	free(text);
	free(big);

	CU_ASSERT_EQUAL(out_init(&o, -1), 0);
	out_str(&o, "lost");
	CU_ASSERT(out_fini(&o) < 0);
}

static void test_traits(void)
{
	struct trait_index t;
	char name[32];
	int i;

	CU_ASSERT_EQUAL(trait_index_init(&t), 0);
	CU_ASSERT_EQUAL(trait_find(&t, "Job_Name", NULL), TRAIT_STRING);
	CU_ASSERT_EQUAL(trait_find(&t, "Job_Name", ""), TRAIT_STRING);
	CU_ASSERT_EQUAL(trait_find(&t, "Resource_List", "ncpus"), TRAIT_NUMBER);
	CU_ASSERT_EQUAL(trait_find(&t, "ncpus", NULL), TRAIT_UNKNOWN);
	CU_ASSERT_EQUAL(trait_find(&t, "", ""), TRAIT_UNKNOWN);
	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "res%d", i);
		CU_ASSERT_EQUAL(trait_add_resource(&t, name, TRAIT_NUMBER), 0);
	}
	CU_ASSERT_EQUAL(trait_add_resource(&t, "mem", TRAIT_NUMBER), 0);
	CU_ASSERT_EQUAL(trait_find(&t, "x", "mem"), TRAIT_STRING);
	CU_ASSERT_EQUAL(trait_find(&t, "x", "res2999"), TRAIT_NUMBER);
	CU_ASSERT_EQUAL(trait_find(&t, "estimated", "start_time"), TRAIT_TIME);
	CU_ASSERT_EQUAL(trait_find(&t, "Resource_List", "start_time"), TRAIT_UNKNOWN);
	for (; t.n < 16384; i++) { /* past sdk/commands/lib/trait.c ROWS_MAX */
		snprintf(name, sizeof(name), "res%d", i);
		CU_ASSERT_EQUAL_FATAL(trait_add_resource(&t, name, TRAIT_NUMBER), 0);
	}
	CU_ASSERT_EQUAL(trait_add_resource(&t, "one_more", TRAIT_NUMBER), -ENOSPC);
	trait_index_fini(&t);
}

TESTS_MAIN_BETWEEN("show", in_utc, NULL, TEST(test_commas), TEST(test_hard_breaks), TEST(test_join),
		   TEST(test_comma_runs), TEST(test_controls), TEST(test_dates), TEST(test_clock),
		   TEST(test_clock_in_odd_zones), TEST(test_words), TEST(test_dsv), TEST(test_dsv_moves_no_terminal), TEST(test_out),
		   TEST(test_out_waits_for_room), TEST(test_traits))
