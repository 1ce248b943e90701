/* SPDX-License-Identifier: Apache-2.0
 *
 * test_trace.c - records of a job out of log lines.
 */
#include "capture.h"
#include "trace.h"

static int take(struct trace *t, enum trace_source source, const char *text)
{
	char line[512];

	snprintf(line, sizeof(line), "%s", text);
	return trace_take_line(t, source, line);
}

static void trace_fini(struct trace *t)
{
	size_t i;

	for (i = 0; i < t->jobs[0].n; i++)
		free(t->jobs[0].records[i].date);
	free(t->jobs[0].records);
}

static void test_lines(void)
{
	struct job job = { .id = (char *)"1.svr" };
	struct trace t = { .jobs = &job, .n_jobs = 1, .dropped_events = 0x400 };

	take(&t, SOURCE_SERVER, "03/01/2024 10:00:00;0008;Server@svr;Job;1.svr;a; b\n");
	take(&t, SOURCE_SERVER, "03/01/2024 10:00:00;0400;Server@svr;Job;1.svr;dropped\n");
	take(&t, SOURCE_SERVER, "03/01/2024 10:00:00;0008;Server@svr;Job;11.svr;other\n");
	take(&t, SOURCE_SERVER, "03/01/2024 10:00:00;0008;Server@svr;Job;1.svr\n");
	take(&t, SOURCE_SERVER, "1.svr\n");
	take(&t, SOURCE_SERVER, "");
	take(&t, SOURCE_SERVER, "1.svr;1.svr;1.svr;1.svr;1.sv;1.svr;1.svr");
	take(&t, SOURCE_ACCOUNTING, "03/01/2024 10:00:01;Q;1.svr;user=u queue=q\n");
	CU_ASSERT_EQUAL_FATAL(job.n, 2);
	CU_ASSERT_STRING_EQUAL(job.records[0].date, "03/01/2024 10:00:00");
	CU_ASSERT_STRING_EQUAL(job.records[0].text, "a; b");
	CU_ASSERT_EQUAL(job.records[0].source, 'S');
	CU_ASSERT_STRING_EQUAL(job.records[1].text, "user=u queue=q");
	CU_ASSERT_EQUAL(job.records[1].source, 'A');
	trace_fini(&t);
}

static void print_is(struct trace *t, const char *expected)
{
	char text[4096] = "";
	int saved = dup(STDOUT_FILENO), fd = memfd_create("stdout", 0);

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	trace_print(t, &t->jobs[0]);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	CU_ASSERT(pread(fd, text, sizeof(text) - 1, 0) > 0);
	close(fd);
	CU_ASSERT_STRING_EQUAL(text, expected);
}

static void test_order(void)
{
	struct job job = { .id = (char *)"1.svr" };
	struct trace t = { .jobs = &job, .n_jobs = 1, .columns = 46 };

	take(&t, SOURCE_SERVER, "01/01/2025 00:00:00;0008;Server@svr;Job;1.svr;next year\n");
	take(&t, SOURCE_SERVER, "03/01/2024 10:00:00;0008;Server@svr;Job;1.svr;first\n");
	take(&t, SOURCE_MOM, "03/01/2024 10:00:00;0008;pbs_mom;Job;1.svr;second\n");
	take(&t, SOURCE_SCHED, "03/01/2024 10:00:00.000001;0080;pbs_sched;Job;1.svr;third\n");
	take(&t, SOURCE_ACCOUNTING, "02/01/2024 10:00:00;Q;1.svr;words that do not fit the line\n");
	print_is(&t, "\nJob: 1.svr\n\n"
		     "02/01/2024 10:00:00  A    words that do not\n"
		     "                          fit the line\n"
		     "03/01/2024 10:00:00  S    first\n"
		     "03/01/2024 10:00:00  M    second\n"
		     "03/01/2024 10:00:00.000001  L    third\n"
		     "01/01/2025 00:00:00  S    next year\n");
	trace_fini(&t);
}

static void test_repeats(void)
{
	struct job job = { .id = (char *)"1.svr" };
	struct trace t = { .jobs = &job, .n_jobs = 1, .limit_repeats = true, .repeats_max = 2 };
	int i;

	for (i = 0; i < 5; i++)
		take(&t, SOURCE_SCHED, "03/01/2024 10:00:00;0080;pbs_sched;Job;1.svr;again\n");
	take(&t, SOURCE_SCHED, "03/01/2024 10:00:00;0080;pbs_sched;Job;1.svr;once\n");
	print_is(&t, "\nJob: 1.svr\n\n"
		     "03/01/2024 10:00:00  L    again\n"
		     "03/01/2024 10:00:00  L    again\n"
		     "03/01/2024 10:00:00  L    once\n");
	trace_fini(&t);
}

TESTS_MAIN("trace", TEST(test_lines), TEST(test_order), TEST(test_repeats))
