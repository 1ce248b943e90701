/* SPDX-License-Identifier: Apache-2.0
 *
 * test_table.c - lines of the job tables, and which jobs they show.
 */
#include "capture.h"
#include "table.h"

static const struct row running = {
	.id = "0.HOST", .name = "a_rather_long_job_name_here", .owner = "pbsuser@host.dom",
	.state = "R", .queue = "workq@HOST", .session = "983", .hosts = "HOST/1+HOST/2",
	.comment = "Job run at Fri Nov 20 at 15:13 on (HOST:ncpus=1)", .nodect = "2",
	.ncpus = "2", .mem = "200mb", .walltime = "01:00:00", .used_walltime = "00:05:00",
	.used_cput = "00:00:03",
};

static const struct row queued = {
	.id = "3.HOST", .name = "STDIN", .owner = "pbsuser1@HOST", .state = "Q", .queue = "workq",
	.nodect = "64", .ncpus = "64", .walltime = "100:00:00",
};

static const struct row empty = { .id = "9999999999.very-long-server-name.dom" };

static void table(struct options opt, bool long_ids, const char *expected)
{
	struct capture c;

	capture_begin(&c);
	table_head(&c.out, &opt, long_ids);
	table_line(&c.out, &opt, long_ids, &running);
	table_line(&c.out, &opt, long_ids, &queued);
	table_line(&c.out, &opt, long_ids, &empty);
	capture_is(&c, expected);
}

static void test_default(void)
{
	table((struct options){ 0 }, false,
	      "Job id            Name             User              Time Use S Queue\n"
	      "----------------  ---------------- ----------------  -------- - -----\n"
	      "0.HOST            a_rather_long_j* pbsuser           00:00:03 R workq           \n"
	      "3.HOST            STDIN            pbsuser1                 0 Q workq           \n"
	      "9999999999.very-*                                           0                   \n");
}

static void test_wide(void)
{
	table((struct options){ .wide = true }, false,
	      "Job id                         Name            User             Time Use S Queue\n"
	      "-----------------------------  --------------- ---------------  -------- - "
	      "---------------\n"
	      "0.HOST                         a_rather_long_* pbsuser          00:00:03 R "
	      "workq          \n"
	      "3.HOST                         STDIN           pbsuser1                0 Q "
	      "workq          \n"
	      "9999999999.very-long-server-name.dom                                         0   "
	      "               \n");
}

static void test_long_ids(void)
{
	table((struct options){ .percent = true }, true,
	      "Job id                 Name             User               % done  S Queue\n"
	      "---------------------  ---------------- ----------------  -------- - -----\n"
	      "0.HOST                 a_rather_long_j* pbsuser                 8  R "
	      "workq           \n"
	      "3.HOST                 STDIN            pbsuser1               --  Q "
	      "workq           \n"
	      "9999999999.very-long-*                                         --    "
	      "                \n");
}

static void alternate(struct options opt, bool long_ids, const char *expected)
{
	struct capture c;

	capture_begin(&c);
	alternate_head(&c.out, &opt, long_ids, "HOST", "down at noon");
	alternate_line(&c.out, &opt, long_ids, &running, 0);
	alternate_line(&c.out, &opt, long_ids, &queued, 0);
	capture_is(&c, expected);
}

#define HEAD                                                                                \
	"\nHOST: down at noon\n"                                                            \
	"                                                            Req'd  Req'd   Elap\n" \
	"Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time\n" \
	"--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----\n"

static void test_alternate(void)
{
	alternate((struct options){ 0 }, false,
		  HEAD
		  "0.HOST          pbsuser  workq    a_rather_*    983   2   2  200mb 01:00 R 00:05\n"
		  "3.HOST          pbsuser1 workq    STDIN         --   64  64    --  100:0 Q   -- \n");
	alternate((struct options){ .hosts = true, .comments = true }, false,
		  HEAD
		  "0.HOST          pbsuser  workq    a_rather_*    983   2   2  200mb 01:00 R 00:05\n"
		  "   HOST/1+HOST/2\n"
		  "   Job run at Fri Nov 20 at 15:13 on (HOST:ncpus=1)\n"
		  "3.HOST          pbsuser1 workq    STDIN         --   64  64    --  100:0 Q   -- \n"
		  "    -- \n    -- \n");
	alternate((struct options){ .hosts = true, .one_line = true }, false,
		  HEAD
		  "0.HOST          pbsuser  workq    a_rather_*    983   2   2  200mb 01:00 R 00:05 "
		  "HOST/1+HOST/2\n"
		  "3.HOST          pbsuser1 workq    STDIN         --   64  64    --  100:0 Q   --  "
		  " -- \n");
}

static void test_alternate_heads(void)
{
	struct options opt = { .estimate = true };
	struct capture c;

	capture_begin(&c);
	alternate_head(&c.out, &opt, true, "S", NULL);
	alternate_line(&c.out, &opt, true, &queued, 0);
	capture_is(&c,
		"\nS: \n"
		"                                                                                "
		"Est\n"
		"                                                                 "
		"Req'd  Req'd   Start\n"
		"Job ID               Username Queue    Jobname    SessID NDS TSK Memory Time  S Time\n"
		"-------------------- -------- -------- ---------- ------ --- --- ------ ----- - -----"
		"\n"
		"3.HOST               pbsuser1 workq    STDIN         --   64  64    --  100:0 Q    --"
		"\n");
}

static void hosts(const char *exec_host, bool broken, const char *expected)
{
	struct capture c;

	capture_begin(&c);
	alternate_hosts(&c.out, exec_host, broken);
	capture_is(&c, expected);
}

static void test_hosts(void)
{
	static const char item[] = "node0001.cluster.org/0*16";
	char long_list[60 * sizeof(item)] = "", *text, *line;
	struct capture c;
	size_t i;

	hosts("n1.dom.org/0*2+10.0.0.1/1+n2/3", true, "n1/0*2+10.0.0.1/1+n2/3");
	hosts("n1.dom.org", true, "n1");
	hosts("", true, "");
	for (i = 0; i < 50; i++)
		strcat(strcat(long_list, i ? "+" : ""), item);
	capture_begin(&c);
	alternate_hosts(&c.out, long_list, true);
	text = capture_end(&c);
	for (line = strtok(text, "\n"), i = 0; line; line = strtok(NULL, "\n"), i++) {
		/* the first line has its blanks from the caller */
		CU_ASSERT(strlen(line) <= (i ? 78 : 75));
		CU_ASSERT(i == 0 || strncmp(line, "   node0001/", 12) == 0);
	}
	CU_ASSERT_EQUAL(i, 10);
	free(text);
}

static void test_comment_is_cut(void)
{
	struct options opt = { .comments = true };
	struct row r = queued;
	struct capture c;
	char comment[121], *text;

	memset(comment, 'x', sizeof(comment) - 1);
	comment[75] = '\0';
	comment[3] = '\n';
	r.comment = comment;
	capture_begin(&c);
	alternate_line(&c.out, &opt, false, &r, 0);
	text = capture_end(&c);
	CU_ASSERT_STRING_EQUAL(strchr(text, '\n') + 71, "xxx...\n");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "   xxx xxx"));
	free(text);
	comment[74] = '\0';
	capture_begin(&c);
	alternate_line(&c.out, &opt, false, &r, 0);
	text = capture_end(&c);
	CU_ASSERT_PTR_NULL(strstr(text, "..."));
	free(text);
}

static void test_chosen(void)
{
	struct row array = { .id = "1[].s", .array = "True", .state = "B", .owner = "u@h" };
	struct row subjob = { .id = "1[2].s", .array_id = "1[].s", .state = "R", .owner = "u@h" };
	struct row odd = { .id = "1.s" };

	CU_ASSERT(row_chosen(&running, &(struct options){ 0 }, false));
	CU_ASSERT(row_chosen(&running, &(struct options){ .states = "RS" }, false));
	CU_ASSERT(!row_chosen(&queued, &(struct options){ .states = "RS" }, false));
	CU_ASSERT(row_chosen(&running, &(struct options){ .users = "bob,pbsuser" }, false));
	CU_ASSERT(row_chosen(&running, &(struct options){ .users = "pbsuser@host.dom" }, false));
	CU_ASSERT(!row_chosen(&running, &(struct options){ .users = "pbsuser@other,pbsuse" }, false));
	CU_ASSERT(!row_chosen(&running, &(struct options){ .users = "" }, false));
	CU_ASSERT(!row_chosen(&running, &(struct options){ .arrays = true }, false));
	CU_ASSERT(row_chosen(&array, &(struct options){ .arrays = true }, false));
	CU_ASSERT(!row_chosen(&array, &(struct options){ .arrays = true, .subjobs = true }, false));
	CU_ASSERT(row_chosen(&array, &(struct options){ .arrays = true, .subjobs = true }, true)); /* mend D28 */
	CU_ASSERT(!row_chosen(&running, &(struct options){ .arrays = true, .subjobs = true }, true));
	CU_ASSERT(row_chosen(&subjob, &(struct options){ .arrays = true, .subjobs = true }, false));
	CU_ASSERT(!row_chosen(&odd, &(struct options){ .users = "u" }, false));
	CU_ASSERT(!row_chosen(&odd, &(struct options){ .states = "Q" }, false));
}

static void test_row_read(void)
{
	static const struct entry rows[] = {
		{ "Job_Name", NULL, "n" },	   { "Resource_List", "mem", "1gb" },
		{ "resources_used", "cput", "5" }, { "queue", "", "q" },
		{ "estimated", "start_time", "7" }, { "mem", NULL, "no" },
		{ NULL, NULL, NULL },
	};
	struct attrl list[8], want[ROW_WANTED], *a;
	struct batch_status one = { NULL, (char *)"1.s", entries(rows, list), NULL };
	struct row r;
	int n = 0;

	row_read(&r, &one);
	CU_ASSERT_STRING_EQUAL(r.id, "1.s");
	CU_ASSERT_STRING_EQUAL(r.name, "n");
	CU_ASSERT_STRING_EQUAL(r.mem, "1gb");
	CU_ASSERT_STRING_EQUAL(r.used_cput, "5");
	CU_ASSERT_STRING_EQUAL(r.queue, "q");
	CU_ASSERT_STRING_EQUAL(r.start, "7");
	CU_ASSERT_PTR_NULL(r.comment);
	for (a = row_want(want); a; a = a->next)
		n++;
	CU_ASSERT_EQUAL(n, 18);
}

TESTS_MAIN_BETWEEN("table", in_utc, NULL, TEST(test_default), TEST(test_wide), TEST(test_long_ids),
		   TEST(test_alternate), TEST(test_alternate_heads), TEST(test_hosts),
		   TEST(test_comment_is_cut), TEST(test_chosen), TEST(test_row_read))
