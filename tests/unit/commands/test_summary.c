/* SPDX-License-Identifier: Apache-2.0
 *
 * test_summary.c - -S and -Sj of pbsnodes.
 */
#include <unistd.h>

#include "capture.h"
#include "pbsnodes.h"

static const struct entry busy[] = {
	{ "state", NULL, "offline,job-busy" },
	{ "jobs", NULL, "59.HOST/0, 59.HOST/1, 60.other/2, 59.HOST/3" },
	{ "queue", NULL, "workq" },
	{ "resources_available", "host", "n1" },
	{ "resources_available", "mem", "24684084kb" },
	{ "resources_available", "ncpus", "4" },
	{ "resources_assigned", "mem", "102400kb" },
	{ "resources_assigned", "ncpus", "4" },
	{ "comment", NULL, "fan|noise" },
	{ NULL, NULL, NULL },
};

static void summary(struct options opt, const struct entry *rows, const char *expected)
{
	struct attrl list[16];
	struct batch_status node = { NULL, (char *)"a-node-with-a-long-name", entries(rows, list),
				     NULL };
	struct nodes l = { .opt = &opt, .default_server = "HOST" };
	struct capture c;

	opt.summary = true;
	opt.delimiter = "|";
	capture_begin(&c);
	l.out = c.out;
	names_init(&l.seen, false);
	if (opt.format == FORMAT_JSON)
		jout_begin(&l.json, &l.out);
	summary_node(&l, &node);
	if (opt.format == FORMAT_JSON)
		jout_end(&l.json);
	names_fini(&l.seen);
	c.out = l.out;
	capture_is(&c, expected);
}

static void test_tables(void)
{
	static const struct entry bare[] = { { NULL, NULL, NULL } };

	summary((struct options){ 0 }, busy,
		"a-node-with-a-l offline         --       --       n1              workq          24gb"
		"       4       0       0 fan|noise\n");
	summary((struct options){ .jobs = true }, busy,
		"a-node-with-a-l offline              2     2      0    23gb/24gb     0/4     0/0"
		"     0/0 59,60.other\n");
	summary((struct options){ .jobs = true, .untruncated = true }, busy,
		"a-node-with-a-long-name offline,job-busy      2     2      0    23gb/24gb     0/4"
		"     0/0     0/0 59,60.other\n");
	summary((struct options){ .jobs = true }, bare,
		"a-node-with-a-l --                   0     0      0      0 b/0 b     0/0     0/0"
		"     0/0 --\n");
}

static void test_documents(void)
{
	summary((struct options){ .format = FORMAT_DSV }, busy,
		"vnode=a-node-with-a-long-name|state=offline,job-busy|OS=--|hardware=--|host=n1|"
		"queue=workq|mem=24gb|ncpus=4|nmics=0|ngpus=0|comment=fan\\|noise\n");
	summary((struct options){ .format = FORMAT_DSV, .jobs = true }, busy,
		"vnode=a-node-with-a-long-name|state=offline,job-busy|njobs=2|run=2|susp=0|"
		"mem(f/t)=23gb/24gb|ncpus(f/t)=0/4|nmics(f/t)=0/0|ngpus(f/t)=0/0|"
		"jobs=59.HOST,60.other\n");
	summary((struct options){ .format = FORMAT_JSON, .jobs = true }, busy,
		"{\n\t\"a-node-with-a-long-name\":\t{\n\t\t\"State\":\t\"offline,job-busy\",\n"
		"\t\t\"state\":\t\"offline,job-busy\",\n\t\t\"Total Jobs\":\t2,\n"
		"\t\t\"Running Jobs\":\t2,\n\t\t\"Suspended Jobs\":\t0,\n"
		"\t\t\"mem f/t\":\t\"23gb/24gb\",\n\t\t\"ncpus f/t\":\t\"0/4\",\n"
		"\t\t\"nmics f/t\":\t\"0/0\",\n\t\t\"ngpus f/t\":\t\"0/0\",\n"
		"\t\t\"jobs\":\t[\"59.HOST\", \"60.other\"]\n\t}\n}\n");
}

static int read_line(const char *line, struct options *o)
{
	static char copy[256];
	char *argv[32], *word;
	int argc = 0, first;

	snprintf(copy, sizeof(copy), "pbsnodes %s", line);
	for (word = strtok(copy, " "); word && argc < 31; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	optind = 0;
	return options_read(argc, argv, o, &first);
}

static void test_options(void)
{
	static const char *const good[] = {
		"-a", "-av", "n1 n2", "-v n1", "-H n1", "-l", "-aSj", "-aSjL -F json", "-o n1",
		"-r -C x n1", "-C x n1", "-c n1", "-aSj -F dsv -D ;", "-n -l all n1", "-o -N x n1",
		"-S n1", "-s srv -a", "-q -a", "n1 -o",
	};
	static const char *const bad[] = {
		"", "-S", "-Sj", "-F json", "-lv", "-aSn", "-o", "-r", "-x", "-a -F xml", "-o -r n1",
		"-v", "-H", "-C x", "-a -D", "-l n1", "-aj",
	};
	struct options o;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_EQUAL(read_line(good[i], &o), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(read_line(bad[i], &o), -1);
	CU_ASSERT_EQUAL(read_line("-C text n1", &o), 0);
	CU_ASSERT_EQUAL(o.mark, MARK_COMMENT);
	CU_ASSERT_EQUAL(read_line("-l all", &o), 0);
	CU_ASSERT(o.torque_list);
}

TESTS_MAIN("summary", TEST(test_tables), TEST(test_documents), TEST(test_options))
