/* SPDX-License-Identifier: Apache-2.0
 *
 * test_qsub.c - options, their precedence, directives, dates and the list of variables of qsub.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "directives.h"
#include "environment.h"
#include "harness.h"
#include "options.h"
#include "words.h"

static struct submission s;

static void end(void)
{
	submission_fini(&s);
}

static void begin(void)
{
	end();
	submission_init(&s);
}

/* The value of a resource of the request, or NULL. */
static const char *resource(const char *name)
{
	for (const struct attropl *a = submission_list(&s); a != NULL; a = a->next)
		if (a->resource != NULL && strcmp(a->resource, name) == 0)
			return a->value;
	return NULL;
}

static void is(const char *got, const char *expected)
{
	if (got == NULL || strcmp(got, expected) != 0)
		printf("\n  '%s', not '%s'", got == NULL ? "(null)" : got, expected);
	CU_ASSERT(got != NULL && strcmp(got, expected) == 0);
}

static int command_line(const char *text)
{
	struct words w;
	int operand = 0, ret;
	bool dashes;

	CU_ASSERT_EQUAL_FATAL(words_split(&w, text), 0);
	ret = options_read(&s, w.n, w.word, FROM_COMMAND_LINE, &operand, &dashes);
	words_fini(&w);
	return ret < 0 ? ret : operand + (dashes ? 100 : 0);
}

static void test_words(void)
{
	struct words w;

	CU_ASSERT_EQUAL_FATAL(words_split(&w, " -N  \"a b\" -v 'x=\"y\"' c\\ d e\"f\"g "), 0);
	CU_ASSERT_EQUAL_FATAL(w.n, 7);
	is(w.word[2], "a b");
	is(w.word[4], "x=\"y\"");
	is(w.word[5], "c d");
	is(w.word[6], "efg");
	CU_ASSERT_PTR_NULL(w.word[7]);
	words_fini(&w);
	CU_ASSERT_EQUAL(words_split(&w, "-N 'open"), -EINVAL);
	CU_ASSERT_EQUAL_FATAL(words_split(&w, " "), 0);
	CU_ASSERT_EQUAL(w.n, 1);
	words_fini(&w);
}

/* past sdk/commands/qsub/words.h WORDS_MAX */
static void test_too_many_words(void)
{
	char text[4 * WORDS_MAX];
	struct words w;

	for (int i = 0; i <= WORDS_MAX; i++)
		memcpy(text + 2 * i, "a ", 3);
	CU_ASSERT_EQUAL(words_split(&w, text), -E2BIG);
	text[2 * WORDS_MAX] = '\0';
	CU_ASSERT_EQUAL(words_split(&w, text), 0);
	CU_ASSERT_EQUAL(w.n, WORDS_MAX + 1);
	words_fini(&w);
}

static void test_command_line(void)
{
	begin();
	CU_ASSERT_EQUAL(command_line("-N a -N b -rn -l ncpus=1 -l mem=2gb,walltime=5 -h script"), 11);
	is(submission_get(&s, ATTR_N), "b");
	is(submission_get(&s, ATTR_r), "FALSE");
	is(submission_get(&s, ATTR_h), "u");
	is(resource("ncpus"), "1");
	is(resource("walltime"), "5");
	CU_ASSERT_EQUAL(command_line("-z -- prog -x"), 103);
	CU_ASSERT_TRUE(s.quiet);
	CU_ASSERT_EQUAL(command_line("-N --"), 3); /* the dashes are a name */
	CU_ASSERT(command_line("-r x") < 0);
	CU_ASSERT(command_line("-c u") < 0);
	CU_ASSERT(command_line("-Q") < 0);
	CU_ASSERT(command_line("-p") < 0);
}

static char *joined; /* the script after its directives were read */

/* The directives of a copy of `text`. */
static int directives_of(const char *text, const char *prefix)
{
	struct script script = { .text = strdup(text), .len = strlen(text), .fd = -1 };
	int ret = directives_read(&s, &script, prefix);

	CU_ASSERT_EQUAL(script.len, strlen(script.text));
	free(joined);
	joined = script.text;
	return ret;
}

static void test_precedence(void)
{
	begin();
	CU_ASSERT(command_line("-N mine -l ncpus=4 -q here") > 0);
	CU_ASSERT_EQUAL(directives_of("#!/bin/sh\n#PBS -N theirs -A acct\n#PBS -l ncpus=1,mem=1gb\n"
				      "#PBS -l mem=9gb -q there\n#PBS -p 1\n#PBS -p 2\n",
				      "#PBS"),
			0);
	is(submission_get(&s, ATTR_N), "mine");
	is(submission_get(&s, ATTR_A), "acct");
	is(resource("ncpus"), "4");
	is(resource("mem"), "1gb"); /* of directives the first value of a resource */
	is(submission_get(&s, ATTR_p), "2"); /* of anything else the last */
	is(s.destination.text, "here");
	CU_ASSERT_EQUAL(directive_read(&s, "-A other -P proj", FROM_SERVER_DEFAULT), 0);
	is(submission_get(&s, ATTR_A), "acct");
	is(submission_get(&s, ATTR_project), "proj");
}

static void test_order(void)
{
	const struct attropl *a;

	begin();
	CU_ASSERT(command_line("-j oe -N n -p 1") > 0);
	submission_move_first(&s, ATTR_N);
	submission_move_last(&s, ATTR_j);
	submission_move_last(&s, "not there");
	a = submission_list(&s);
	is(a->name, ATTR_N);
	is(a->next->name, ATTR_p);
	is(a->next->next->name, ATTR_j);
	CU_ASSERT_PTR_NULL(a->next->next->next);
}

static int scan(const char *text, const char *prefix)
{
	begin();
	return directives_of(text, prefix);
}

static void test_directives(void)
{
	CU_ASSERT_EQUAL(scan("#!/bin/sh\n\n# words\n:\n  #PBS -N indented\necho\n#PBS -N late\n",
			     "#PBS"),
			0);
	is(submission_get(&s, ATTR_N), "indented");
	CU_ASSERT_EQUAL(scan("#XX -N x\n#PBS -N y", "#XX"), 0);
	is(submission_get(&s, ATTR_N), "x");
	CU_ASSERT_EQUAL(scan("#PBS -Q\n", ""), 0); /* no prefix, no directives */
	CU_ASSERT_EQUAL(scan("#PBS -l ncpus=1 \\\n  -p 3\n#PBS\n", "#PBS"), 0);
	is(submission_get(&s, ATTR_p), "3");
	CU_ASSERT_EQUAL(scan("#PBS -N=\"x\"", "#PBS"), 0);
	is(submission_get(&s, ATTR_N), "x");
	is(joined, "#PBS -N=\"x\"");
	CU_ASSERT_EQUAL(scan("#PBS -p 1 \\\n#PBS -A b\\\nc\n# x \\\necho \\\n#PBS", "#PBS"), 0);
	is(joined, "#PBS -p 1  -A bc\n# x \\\necho \\\n#PBS"); /* mend D19 */
	is(submission_get(&s, ATTR_A), "bc");
	CU_ASSERT(scan("#PBS -Q\n", "#PBS") < 0);
	CU_ASSERT(scan("#PBS operand\n", "#PBS") < 0);
	CU_ASSERT(scan("#PBS -C x\n", "#PBS") < 0);
	CU_ASSERT(scan("#PBS -N 'open\n", "#PBS") < 0);
	CU_ASSERT_EQUAL(scan("#PBS -N a \\", "#PBS"), 0); /* nothing to go on with */
}

static void test_resources(void)
{
	begin();
	CU_ASSERT_EQUAL(option_resources(&s, "select=1:a=\"x,y\":b=2,walltime=1:00, place=free,n",
					 FROM_COMMAND_LINE),
			0);
	is(resource("select"), "1:a=\"x,y\":b=2");
	is(resource("walltime"), "1:00");
	is(resource("place"), "free");
	is(resource("n"), "");
	CU_ASSERT(option_resources(&s, "", FROM_COMMAND_LINE) < 0);
	CU_ASSERT(option_resources(&s, "1a=2", FROM_COMMAND_LINE) < 0);
	CU_ASSERT(option_resources(&s, "a=1,", FROM_COMMAND_LINE) < 0);
	CU_ASSERT(option_resources(&s, "a=\"x", FROM_COMMAND_LINE) < 0);
	CU_ASSERT(option_resources(&s, "a b=1", FROM_COMMAND_LINE) < 0);
}

static void test_others(void)
{
	begin();
	CU_ASSERT_EQUAL(option_others(&s,
				      "depend=afterok:1:2,afterany:3,umask=022,block=TRUE,"
				      "stagein=\"a@h:b,c@h:d\", group_list=g,h,x_y=z=1",
				      FROM_COMMAND_LINE),
			0);
	is(submission_get(&s, ATTR_depend), "afterok:1:2,afterany:3");
	is(submission_get(&s, ATTR_umask), "022");
	is(submission_get(&s, ATTR_stagein), "a@h:b,c@h:d");
	is(submission_get(&s, ATTR_g), "g,h");
	is(submission_get(&s, "x_y"), "z=1");
	CU_ASSERT_TRUE(s.block);
	CU_ASSERT_EQUAL(option_others(&s, "block=false", FROM_COMMAND_LINE), 0);
	CU_ASSERT_FALSE(s.block);
	CU_ASSERT_EQUAL(option_others(&s, "block=1", FROM_COMMAND_LINE), -EINVAL);
	CU_ASSERT_EQUAL(option_others(&s, "umask=999", FROM_COMMAND_LINE), -EINVAL);
	CU_ASSERT_EQUAL(option_others(&s, "umask=7777", FROM_COMMAND_LINE), -EINVAL);
	CU_ASSERT_EQUAL(option_others(&s, "", FROM_COMMAND_LINE), -EINVAL);
	CU_ASSERT_EQUAL(option_others(&s, "nothing", FROM_COMMAND_LINE), -EINVAL);
	CU_ASSERT_EQUAL(option_others(&s, "a=", FROM_COMMAND_LINE), -EINVAL);
	CU_ASSERT_EQUAL(option_others(&s, "a=\"x", FROM_COMMAND_LINE), -EINVAL);
	CU_ASSERT_EQUAL(option_others(&s, "=x", FROM_COMMAND_LINE), -EINVAL);
}

static void test_array(void)
{
	begin();
	CU_ASSERT(command_line("-J 1-10:2%3") > 0);
	CU_ASSERT_TRUE(s.is_array);
	is(submission_get(&s, ATTR_J), "1-10:2");
	is(submission_get(&s, ATTR_max_run_subjobs), "3");
	CU_ASSERT(command_line("-J 1-10%3 -W max_run_subjobs=2") < 0);
	CU_ASSERT(command_line("-J 1-10% ") < 0);
	CU_ASSERT(command_line("-J 5") < 0);
	CU_ASSERT(command_line("-J 5-4") < 0);
	CU_ASSERT(command_line("-J 1-4:0") < 0);
	CU_ASSERT(command_line("-J 1-4x") < 0);
}

/* 2026-11-21 12:30:00 UTC */
#define NOW 1795264200ll

static void date_is(const char *text, long long expected)
{
	long long got = 0;

	CU_ASSERT_EQUAL(date_parse(text, NOW, &got), 0);
	if (got != expected)
		printf("\n  %s: %lld, not %lld", text, got, expected);
	CU_ASSERT_EQUAL(got, expected);
}

static void test_dates(void)
{
	static const char *const bad[] = { "",	   "99",     "1",      "2460",	  "123",
					   "12345", "1200.", "1200.1", "1200.60", "02301200",
					   "202613011200", "x200", "1200 " };
	long long got;

	setenv("TZ", "UTC", 1);
	tzset();
	date_is("1231", NOW + 60);
	date_is("1230", NOW + 86400); /* not later than now: tomorrow */
	date_is("1230.05", NOW + 5);
	date_is("0000", NOW + 41400);
	date_is("221230", NOW + 86400);
	date_is("201230", NOW + 29 * 86400ll); /* of December */
	date_is("311230", NOW + 40 * 86400ll); /* November has none */
	date_is("11201230", NOW + 364 * 86400ll); /* next year */
	date_is("2611211230", NOW);
	date_is("202611211230.30", NOW + 30);
	date_is("7001010000", 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int ret = date_parse(bad[i], NOW, &got);

		if (ret == 0)
			printf("\n  %s passed", bad[i]);
		CU_ASSERT_EQUAL(ret, -EINVAL);
	}
}

static void test_environment(void)
{
	static const char *const plain[] = { "HOME",  "LANG", "LOGNAME",      "PATH",
					     "MAIL",  "TZ",   "PBS_O_SECRET", "PBS_JOBCOOKIE" };
	char *list, *all, expected[8192], cwd[4096];

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		unsetenv(plain[i]);
	setenv("SHELL", "/bin/a,b", 1);
	setenv("PBS_CONF_FILE", "/nonexistent", 1);
	unsetenv("PWD");
	CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(cwd, sizeof(cwd)));
	snprintf(expected, sizeof(expected),
		 "PBS_O_HOME=/,PBS_O_SHELL=/bin/a\\,b,PBS_O_INTERACTIVE_AUTH_METHOD=resvport,"
		 "PBS_O_INTERACTIVE_ENCRYPT_METHOD=,PBS_O_WORKDIR=%s,PBS_O_SYSTEM=Linux", cwd);
	CU_ASSERT_EQUAL_FATAL(environment_list(NULL, false, &list), 0);
	is(list, expected);
	free(list);
	setenv("FROM_HERE", "it's", 1);
	strcat(expected, ",A=1\\,2,B=x y,C=,FROM_HERE=it\\'s");
	CU_ASSERT_EQUAL_FATAL(environment_list("A=1\\,2,PBS_O_X=no,B='x y',C=,FROM_HERE", false,
					       &list),
			      0);
	is(list, expected);
	free(list);
	setenv("PBS_O_SECRET", "1", 1);
	setenv("PBS_JOBCOOKIE", "2", 1);
	CU_ASSERT_EQUAL_FATAL(environment_list(NULL, true, &all), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(all, ",FROM_HERE=it\\'s"));
	CU_ASSERT_PTR_NULL(strstr(all, "PBS_O_SECRET"));
	CU_ASSERT_PTR_NULL(strstr(all, "PBS_JOBCOOKIE"));
	free(all);
	CU_ASSERT_EQUAL(environment_list("NOT_SET_ANYWHERE", false, &list), -ENOENT);
	CU_ASSERT_EQUAL(environment_list("A=1,,B=2", false, &list), -EINVAL);
	CU_ASSERT_EQUAL(environment_list("=1", false, &list), -EINVAL);
	CU_ASSERT_EQUAL(environment_list("A='open", false, &list), -EINVAL);
}

static void test_arguments(void)
{
	char one[] = "-N", two[] = "a<&>", *words[] = { one, two }, *text;

	text = arguments_encode("Argument", words, 2);
	is(text, "<jsdl-hpcpa:Argument>-N</jsdl-hpcpa:Argument>"
		 "<jsdl-hpcpa:Argument>a&lt;&amp;&gt;</jsdl-hpcpa:Argument>");
	free(text);
	CU_ASSERT_EQUAL(options_letter_of(ATTR_M), 'M');
	CU_ASSERT_EQUAL(options_letter_of(ATTR_depend), 'W');
}

TESTS_MAIN_BETWEEN("qsub", NULL, end, TEST(test_words), TEST(test_too_many_words), TEST(test_command_line),
		   TEST(test_precedence), TEST(test_order), TEST(test_directives), TEST(test_resources),
		   TEST(test_others), TEST(test_array), TEST(test_dates), TEST(test_environment),
		   TEST(test_arguments))
