/* SPDX-License-Identifier: Apache-2.0
 *
 * test_choice.c - which chunks stay: by vnodes that go, and by a select.
 */
#include "choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "with_resources.h"


extern const struct keel_module keel_module;

#define EXEC "(a1:ncpus=1:mem=1024kb+a2:ncpus=1)+(b1:ncpus=2:mem=2048kb)+(c1:mem=10kb:ncpus=1+c2:ncpus=3:mem=5kb)"
#define SELECT "1:ncpus=2:mem=1mb:mpiprocs=2+1:ncpus=2:mem=2mb+1:ncpus=4:mem=15kb:arch=\"a:b\""

static struct keel_exec *exec;
static struct keel_select *chunks;
static struct keel_text to_exec, to_select;

static void set_up(void)
{
	mock = mock_with_resources();
	keel_mock_use(mock, &keel_module);
}

static void begin(const char *vnodes, const char *select)
{
	CU_ASSERT_EQUAL_FATAL(keel_resource_exec_parse(vnodes, &exec, NULL), 0);
	chunks = NULL;
	if (select)
		CU_ASSERT_EQUAL_FATAL(keel_resource_select_parse(select, &chunks, NULL), 0);
	keel_text_init(&to_exec);
	keel_text_init(&to_select);
}

static void end(void)
{
	keel_resource_exec_free(exec);
	keel_resource_select_free(chunks);
	keel_text_fini(&to_exec);
	keel_text_fini(&to_select);
}

/* gone: a letter for each part, x those that go */
static void without(const char *vnodes, const char *select, const char *gone, const char *stays, const char *asks)
{
	bool marks[8] = { false };

	begin(vnodes, select);
	for (size_t i = 0; gone[i]; i++)
		marks[i] = gone[i] == 'x';
	choice_without(&(struct choice){ exec, chunks }, marks, &to_exec, &to_select);
	CU_ASSERT_STRING_EQUAL(to_exec.data, stays);
	CU_ASSERT_STRING_EQUAL(to_select.data, asks);
	end();
}

static void test_without(void)
{
	without(EXEC, SELECT, "-----", EXEC,
		"1:ncpus=2:mem=1024kb:mpiprocs=2+1:ncpus=2:mem=2048kb+1:mem=15kb:ncpus=4:arch=\"a:b\"");
	without(EXEC, SELECT, "--x--", "(a1:ncpus=1:mem=1024kb+a2:ncpus=1)+(c1:mem=10kb:ncpus=1+c2:ncpus=3:mem=5kb)",
		"1:ncpus=2:mem=1024kb:mpiprocs=2+1:mem=15kb:ncpus=4:arch=\"a:b\"");
	without(EXEC, SELECT, "---x-", "(a1:ncpus=1:mem=1024kb+a2:ncpus=1)+(b1:ncpus=2:mem=2048kb)+(c2:ncpus=3:mem=5kb)",
		"1:ncpus=2:mem=1024kb:mpiprocs=2+1:ncpus=2:mem=2048kb+1:ncpus=3:mem=5kb:arch=\"a:b\"");
	without(EXEC, SELECT, "--xxx", "(a1:ncpus=1:mem=1024kb+a2:ncpus=1)", "1:ncpus=2:mem=1024kb:mpiprocs=2");
	/* a select with other chunks than there are (qrun -H) says nothing of them */
	without("(a:ncpus=1)+(b:ncpus=1)", "3:ncpus=1:mpiprocs=4", "-x", "(a:ncpus=1)", "1:ncpus=1");
	without("(a:ncpus=1)+(b:ncpus=1)", NULL, "-x", "(a:ncpus=1)", "1:ncpus=1");
}

static int32_t keep(const char *vnodes, const char *select, const char *want)
{
	bool fixed[8] = { true };
	struct keel_select *wanted;
	int32_t r;

	begin(vnodes, select);
	CU_ASSERT_EQUAL_FATAL(keel_resource_select_parse(want, &wanted, NULL), 0);
	r = choice_keep(&(struct choice){ exec, chunks }, fixed, wanted, &to_exec, &to_select);
	keel_resource_select_free(wanted);
	return r;
}

static void keeps(const char *want, const char *stays, const char *asks)
{
	static const char vnodes[] = "(a:ncpus=1)+(b:ncpus=2)+(c:ncpus=2)+(d:ncpus=1)+(e:ncpus=1)+(f:ncpus=1:mem=30720kb)";
	static const char select[] = "1:ncpus=1+2:ncpus=2+2:ncpus=1+1:ncpus=1:mem=30mb:arch=linux:mpiprocs=2";
	int32_t r = keep(vnodes, select, want);

	CU_ASSERT_EQUAL(r, stays ? 0 : -ENOENT);
	if (stays) {
		CU_ASSERT_STRING_EQUAL(to_exec.data, stays);
		CU_ASSERT_STRING_EQUAL(to_select.data, asks);
	}
	end();
}

static void test_keep(void)
{
	keeps("2:ncpus=2", "(a:ncpus=1)+(c:ncpus=2)+(b:ncpus=2)", "1:ncpus=1+2:ncpus=2");
	keeps("1", "(a:ncpus=1)+(f:ncpus=1:mem=30720kb)", "1:ncpus=1+1:ncpus=1:mem=30mb:arch=linux:mpiprocs=2");
	keeps("2:ncpus=1", "(a:ncpus=1)+(f:ncpus=1:mem=30720kb)+(e:ncpus=1)",
	      "1:ncpus=1+1:ncpus=1:mem=30mb:arch=linux:mpiprocs=2+1:ncpus=1");
	keeps("1:mem=30mb", "(a:ncpus=1)+(f:ncpus=1:mem=30720kb)", "1:ncpus=1+1:ncpus=1:mem=30mb:arch=linux:mpiprocs=2");
	keeps("1:ncpus=1:arch=linux", "(a:ncpus=1)+(f:ncpus=1:mem=30720kb)",
	      "1:ncpus=1+1:ncpus=1:mem=30mb:arch=linux:mpiprocs=2");
	keeps("1:ncpus=2+1:ncpus=1:mpiprocs=2", "(a:ncpus=1)+(c:ncpus=2)+(f:ncpus=1:mem=30720kb)",
	      "1:ncpus=1+1:ncpus=2+1:ncpus=1:mem=30mb:arch=linux:mpiprocs=2");
	keeps("5", "(a:ncpus=1)+(f:ncpus=1:mem=30720kb)+(e:ncpus=1)+(d:ncpus=1)+(c:ncpus=2)+(b:ncpus=2)",
	      "1:ncpus=1+1:ncpus=1:mem=30mb:arch=linux:mpiprocs=2+2:ncpus=1+2:ncpus=2");
	keeps("6", NULL, NULL);
	keeps("3:ncpus=2", NULL, NULL);
	keeps("1:ncpus=3", NULL, NULL);
	keeps("1:mem=31mb", NULL, NULL);
	keeps("1:arch=other", NULL, NULL);
	keeps("1:mpiprocs=3", NULL, NULL);
	keeps("9999:ncpus=1", NULL, NULL);
	CU_ASSERT_EQUAL(keep("(a:ncpus=1)+(b:ncpus=1)", "1:ncpus=1", "1"), -ENOENT); /* no request of each chunk */
	end();
}

TESTS_MAIN_BETWEEN("choice", set_up, tear_down, TEST(test_without), TEST(test_keep))
