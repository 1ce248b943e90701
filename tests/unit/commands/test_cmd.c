/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cmd.c - commands about jobs: each operand, lines for failures, exit statuses.
 */
#include "capture.h"
#include "cmd.h"
#include "few_pbs.h"
#include "pbs_error.h"
#include "streams.h"

static int connect_error;
static const char *located; /* where pbs_locjob() says a job is */
static char last_server[64];

int pbs_connect(const char *server)
{
	snprintf(last_server, sizeof(last_server), "%s", server ? server : "");
	error = connect_error;
	return error ? -1 : 7;
}

char *pbs_locjob(int c, const char *id, const char *extend)
{
	(void)c, (void)id, (void)extend;
	error = located ? 0 : PBSE_UNKJOBID;
	return located ? strdup(located) : NULL;
}

static const struct cmd plain = { .name = "qx", .usage = "usage: qx\n", .usage_exit = 2 };
static const struct cmd with_id = { .name = "qdel", .unreached = CMD_NO_CLUSTER,
				    .finished_id = true };
static const struct cmd admin = { .name = "qrun", .unreached = CMD_COULD_NOT_CONNECT,
				  .unreached_exit = 2, .failed_exit = 2 };

/* Refuses ids that begin with 9 as unknown (but not where they were located), 8 as finished, 7
 * without words. */
static int ask(int c, const char *id, void *arg)
{
	(void)c;
	++*(int *)arg;
	said = NULL;
	error = 0;
	if (*id == '9' && (!located || strcmp(last_server, located) != 0)) {
		said = "Unknown Job Id";
		error = PBSE_UNKJOBID;
	} else if (*id == '8') {
		said = "Job has finished";
		error = PBSE_HISTJOBID;
	} else if (*id == '7') {
		error = 15200;
	}
	return error;
}

static void run(const struct cmd *cmd, int n, char **texts, int status, const char *err)
{
	struct streams s;
	int asked = 0, got;

	streams_begin(&s);
	got = cmd_each_job(cmd, n, texts, ask, &asked);
	streams_end(&s);
	CU_ASSERT_EQUAL(got, status);
	CU_ASSERT_TRUE(streams_are(&s, "", err));
}

static void test_operands(void)
{
	char *texts[] = { "abc", "9", "1", "8", "7" };

	run(&plain, 1, texts, 1, "qx: illegally formed job identifier: abc\n");
	run(&plain, 3, texts, 153,
	    "qx: illegally formed job identifier: abc\nqx: Unknown Job Id 9.HOST\n");
	run(&plain, 4, texts, 35,
	    "qx: illegally formed job identifier: abc\nqx: Unknown Job Id 9.HOST\n"
	    "qx: Job has finished\n");
	run(&plain, 1, texts + 4, 15200 & 255,
	    "qx: Server returned error 15200 for job 7.HOST\n");
	run(&with_id, 1, texts + 3, 35, "qdel: Job has finished 8.HOST\n");
	run(&admin, 2, texts, 2,
	    "qrun: illegally formed job identifier: abc\nqrun: Unknown Job Id 9.HOST\n");
	run(&plain, 1, texts + 2, 0, "");
}

static void test_located(void)
{
	char *texts[] = { "9@here" };

	located = "there";
	run(&plain, 1, texts, 0, "");
	CU_ASSERT_STRING_EQUAL(last_server, "there");
	located = NULL;
	run(&plain, 1, texts, 153, "qx: Unknown Job Id 9.HOST\n");
}

static void test_unreached(void)
{
	char *texts[] = { "1", "2@other" };

	connect_error = PBSE_BADHOST;
	run(&plain, 1, texts + 1, 160,
	    "Unknown Host.\nqx: cannot connect to server HOST (errno=15008)\n");
	run(&with_id, 1, texts, 160, "Unknown Host.\nCouldn't connect to cluster: HOST\n");
	run(&admin, 2, texts, 2,
	    "Unknown Host.\nqrun: could not connect to server  (15008)\n"
	    "Unknown Host.\nqrun: could not connect to server other (15008)\n");
	connect_error = 0;
}

static void test_holds(void)
{
	CU_ASSERT_TRUE(cmd_holds_ok("uos"));
	CU_ASSERT_TRUE(cmd_holds_ok("n"));
	CU_ASSERT_FALSE(cmd_holds_ok(""));
	CU_ASSERT_FALSE(cmd_holds_ok("x"));
	CU_ASSERT_FALSE(cmd_holds_ok("un"));
}

TESTS_MAIN("cmd", TEST(test_operands), TEST(test_located), TEST(test_unreached), TEST(test_holds))
