/* SPDX-License-Identifier: Apache-2.0
 *
 * test_conf.c - pbs.conf, the environment above it, and the server they name; the error numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "error_text.h"
#include "harness.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

static char *dir, path[256];

static void set_up(void)
{
	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/pbs.conf", dir);
	scratch_write(dir, "pbs.conf", "");
	setenv("PBS_CONF_FILE", path, 1);
	unsetenv("PBS_SERVER");
	unsetenv("PBS_DEFAULT");
}

static void tear_down(void)
{
	scratch_remove(dir);
	free(dir);
}

static void load(const char *text)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	CU_ASSERT_EQUAL(pbs_loadconf(1), 1);
}

static void is(enum conf_key key, const char *expected)
{
	char *value = conf_get(key);

	if (expected == NULL)
		CU_ASSERT_PTR_NULL(value)
	else {
		CU_ASSERT_PTR_NOT_NULL_FATAL(value);
		CU_ASSERT_STRING_EQUAL(value, expected);
	}
	free(value);
}

static void test_lines(void)
{
	load("# PBS_SERVER=comment\n\n  PBS_SERVER = a \r\nPBS_HOME=/x\nNO_SUCH_KEY=1\nno equals\n"
	     "=\nPBS_TMPDIR=\nPBS_SCP=last line");
	is(CONF_PBS_SERVER, "a");
	is(CONF_PBS_HOME, "/x");
	is(CONF_PBS_TMPDIR, "/var/tmp"); /* an empty value says nothing */
	is(CONF_PBS_SCP, "last line");
	is(CONF_PBS_PRIMARY, NULL);
	load("PBS_SERVER=a\nPBS_SERVER=b\n");
	is(CONF_PBS_SERVER, "b");
	is(CONF_PBS_HOME, "/var/spool/pbs"); /* the first file is forgotten */
}

static void test_environment_wins(void)
{
	load("PBS_SERVER=file\nPBS_ENVIRONMENT=/etc/job_env\n");
	setenv("PBS_DEFAULT", "old name", 1);
	is(CONF_PBS_SERVER, "old name");
	setenv("PBS_SERVER", "new name", 1);
	is(CONF_PBS_SERVER, "new name");
	CU_ASSERT_STRING_EQUAL(pbs_default(), "new name");
	setenv("PBS_SERVER", "", 1);
	is(CONF_PBS_SERVER, "old name");
	unsetenv("PBS_SERVER");
	unsetenv("PBS_DEFAULT");
	setenv("PBS_ENVIRONMENT", "PBS_BATCH", 1); /* what a job finds there */
	is(CONF_PBS_ENVIRONMENT, "/etc/job_env");
	unsetenv("PBS_ENVIRONMENT");
}

static void test_choice_of_server(void)
{
	load("PBS_SERVER=s\n");
	CU_ASSERT_STRING_EQUAL(pbs_default(), "s");
	load("PBS_SERVER=s\nPBS_PRIMARY=p\n");
	CU_ASSERT_STRING_EQUAL(pbs_default(), "s");
	load("PBS_SERVER=s\nPBS_SERVER_HOST_NAME=h\nPBS_SECONDARY=t\n");
	CU_ASSERT_STRING_EQUAL(pbs_default(), "h");
	setenv("PBS_DEFAULT", "env", 1);
	CU_ASSERT_STRING_EQUAL(pbs_default(), "h");
	unsetenv("PBS_DEFAULT");
	load("PBS_SERVER=s\nPBS_PRIMARY=p\nPBS_SECONDARY=t\nPBS_SERVER_HOST_NAME=h\n");
	CU_ASSERT_STRING_EQUAL(pbs_default(), "p");
	load("PBS_HOME=/x\n");
	CU_ASSERT_PTR_NULL(pbs_default());
	CU_ASSERT_EQUAL(pbs_errno, PBSE_NOSERVER);
	CU_ASSERT(pbs_connect(NULL) < 0);
	CU_ASSERT_EQUAL(pbs_errno, PBSE_NOSERVER);
}

static void test_no_file(void)
{
	setenv("PBS_CONF_FILE", "/nonexistent/pbs.conf", 1);
	CU_ASSERT_EQUAL(pbs_loadconf(1), 0);
	CU_ASSERT_PTR_NULL(pbs_default());
	setenv("PBS_SERVER", "only here", 1);
	CU_ASSERT_EQUAL(pbs_loadconf(1), 1);
	CU_ASSERT_STRING_EQUAL(pbs_default(), "only here");
	unsetenv("PBS_SERVER");
	setenv("PBS_CONF_FILE", path, 1);
}

static void test_value_by_name(void)
{
	char *value;

	load("PBS_OUTPUT_HOST_NAME=out\n");
	value = pbs_conf_value("PBS_OUTPUT_HOST_NAME");
	CU_ASSERT_STRING_EQUAL(value, "out");
	free(value);
	CU_ASSERT_PTR_NULL(pbs_conf_value("PBS_NO_SUCH"));
	CU_ASSERT_PTR_NULL(pbs_conf_value(NULL));
}

static void test_error_numbers(void)
{
	static const int numbers[][2] = {
#define PBSE(number, name, text) { number, PBSE_##name },
#include "keel/pbse.def"
#undef PBSE
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		CU_ASSERT_EQUAL(numbers[i][0], numbers[i][1]);
		CU_ASSERT(i == 0 || numbers[i - 1][0] < numbers[i][0]); /* the search relies on it */
	}
	CU_ASSERT_STRING_EQUAL(error_text(PBSE_UNKJOBID), "Unknown Job Id");
	CU_ASSERT_STRING_EQUAL(error_text(PBSE_PERM), "Unauthorized Request ");
	CU_ASSERT_STRING_EQUAL(error_text(PBSE_NOTARRAY_ATTR),
			       "Attribute has to be set on an array job");
	CU_ASSERT_PTR_NULL(error_text(PBSE_NONE));
	CU_ASSERT_PTR_NULL(error_text(PBSE_ENTLIMCT));
	CU_ASSERT_PTR_NULL(error_text(15017)); /* a gap */
	CU_ASSERT_PTR_NULL(error_text(-1));
}

TESTS_MAIN_BETWEEN("conf", set_up, tear_down, TEST(test_lines), TEST(test_environment_wins),
		   TEST(test_choice_of_server), TEST(test_no_file), TEST(test_value_by_name),
		   TEST(test_error_numbers))
