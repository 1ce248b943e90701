/* SPDX-License-Identifier: Apache-2.0
 *
 * test_qstat.c - the command line of qstat: what conflicts and what does not.
 */
#include "capture.h"
#include "options.h"

/* Words of one line; answers what options_read() said. */
static int read_line(const char *line, struct options *o, int *first)
{
	static char copy[256];
	char *argv[32], *word;
	int argc = 0;

	snprintf(copy, sizeof(copy), "qstat %s", line);
	for (word = strtok(copy, " "); word && argc < 31; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	optind = 0; /* begin anew */
	return options_read(argc, argv, o, first);
}

static void test_accepted(void)
{
	static const char *const lines[] = {
		"", "-f", "-xf 1", "1 -f", "-Efx -Fjson", "-f -F JSON -x 1 2", "-f 1 -f 2 -F json -x",
		"-a", "-f -a", "-n -1", "-s1", "-u a,b", "-Q -a", "-Qw", "-q", "-B -f -F dsv",
		"-f -1 queue", "-f -F json -u me", "-f -w -F json", "-f -F json -a", "-W a", "-T",
		"-f -F dsv -D ;", "-p -t -J", "-G", "-M", "-f -F default",
	};
	struct options o;
	size_t i;
	int first;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CU_ASSERT_EQUAL(read_line(lines[i], &o, &first), 0);
}

static void test_refused(void)
{
	static const char *const lines[] = {
		"-1", "-Z", "-F json", "-F dsv 1", "-a -F json", "-a -i", "-r -H", "-q -a", "-G -M",
		"-f -F xml", "-u", "-W z", "-F default",
	};
	struct options o;
	size_t i;
	int first;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CU_ASSERT_EQUAL(read_line(lines[i], &o, &first), -1);
}

static void test_meaning(void)
{
	struct options o;
	int first;

	CU_ASSERT_EQUAL(read_line("12 -Efx -Fjson 13", &o, &first), 0);
	CU_ASSERT(o.express && o.full && o.history && o.format == FORMAT_JSON);
	CU_ASSERT_EQUAL(first, 3);
	CU_ASSERT_EQUAL(read_line("-f -F json -i -u me", &o, &first), 0);
	CU_ASSERT(!o.alternate);
	CU_ASSERT_STRING_EQUAL(o.states, "EHQTW");
	CU_ASSERT_STRING_EQUAL(o.users, "me");
	CU_ASSERT_EQUAL(read_line("-f -n", &o, &first), 0);
	CU_ASSERT(o.alternate && o.hosts);
	CU_ASSERT_EQUAL(read_line("-H", &o, &first), 0);
	CU_ASSERT(o.history && o.alternate);
	CU_ASSERT_STRING_EQUAL(o.states, "MFX");
	CU_ASSERT_EQUAL(read_line("-W rn", &o, &first), 0);
	CU_ASSERT(o.hosts);
	CU_ASSERT_STRING_EQUAL(o.states, "RS");
	CU_ASSERT_EQUAL(read_line("-q", &o, &first), 0);
	CU_ASSERT(o.mode == MODE_QUEUES && o.queue_limits && !o.alternate);
}

TESTS_MAIN("qstat", TEST(test_accepted), TEST(test_refused), TEST(test_meaning))
