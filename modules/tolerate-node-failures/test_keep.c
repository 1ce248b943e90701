/* SPDX-License-Identifier: Apache-2.0
 *
 * test_keep.c - which vnodes stay: smallest first, the primary's first, trimmed vnode by vnode; reasons; what is no text.
 */
#include "keep.h"

#include <errno.h>
#include <string.h>

#include "harness.h"

#define A "(A[0]:mem=1048576kb:ncpus=1+A[1]:mem=1048576kb:ncpus=1+A[2]:ncpus=1)"
#define B "(B:mem=1048576kb:ncpus=1+B[0]:mem=1048576kb:ncpus=1+B[1]:ncpus=1)"
#define C "(C:ncpus=2:mem=2097152kb)"
#define D "(D:ncpus=3:mem=2097152kb)"
#define E "(E:mem=1048576kb:ncpus=1+E[0]:mem=1048576kb:ncpus=1)"
#define PADDED A "+" B "+" D "+" C "+" E
#define PADDED_SELECT "1:ncpus=3:mem=2gb+2:ncpus=3:mem=2gb+2:ncpus=2:mem=2gb"
#define WANTED "ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb"

static struct keel_text text, other, why;
static int32_t code;

/* `arg`: letters of hosts that failed */
static uint32_t host_of(void *arg, const char *vnode)
{
	const char *order = "ABDCE";

	return strchr(arg, vnode[0]) ? KEEP_NOT : strchr(order, vnode[0]) ? (uint32_t)(strchr(order, vnode[0]) - order) : 9;
}

static void fresh(void)
{
	keel_text_fini(&text);
	keel_text_fini(&other);
	keel_text_fini(&why);
	keel_text_init(&text);
	keel_text_init(&other);
	keel_text_init(&why);
}

static const char *words[] = { "rack" };

static const char *kept_of(const char *exec, const char *schedselect, const char *failed, const char *select)
{
	struct keep_job job = { .exec_vnode = exec, .schedselect = schedselect, .host_of = host_of,
				.arg = (void *)(uintptr_t)failed, .words = words, .n_words = 1 };

	fresh();
	code = keep_select(&job, select, &text, &other, &why);
	return code ? "" : text.data;
}

static const char *kept(const char *failed, const char *select)
{
	return kept_of(PADDED, PADDED_SELECT, failed, select);
}

static void test_smallest_first(void)
{
	CU_ASSERT_STRING_EQUAL(kept("", WANTED), A "+" B "+" C);
	CU_ASSERT_STRING_EQUAL(kept("BC", WANTED), A "+" D "+" E);
	CU_ASSERT_STRING_EQUAL(kept("B", WANTED), A "+" D "+" C);
	CU_ASSERT_STRING_EQUAL(kept("C", WANTED), A "+" B "+" E);
	CU_ASSERT_STRING_EQUAL(kept("", PADDED_SELECT), A "+" B "+" D "+" C "+" E);
}

/* Hosts stay in their order; the select follows where that is another one. */
static void test_order(void)
{
	CU_ASSERT_STRING_EQUAL(kept("", WANTED), A "+" B "+" C);
	CU_ASSERT_STRING_EQUAL(other.data, "1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb");
	CU_ASSERT_STRING_EQUAL(kept("BE", "ncpus=1+ncpus=2:mpiprocs=2+ncpus=3"), "(A[0]:ncpus=1)+(D:ncpus=3)+(C:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(other.data, "1:ncpus=1+1:ncpus=3+1:ncpus=2:mpiprocs=2");
	CU_ASSERT_STRING_EQUAL(kept_of("(A:ncpus=1)+(B:ncpus=1)+(A[1]:ncpus=1)", NULL, "", "3:ncpus=1"),
			       "(A:ncpus=1)+(A[1]:ncpus=1)+(B:ncpus=1)");
	CU_ASSERT_STRING_EQUAL(other.data, "1:ncpus=1+1:ncpus=1+1:ncpus=1");
}

static void test_trimmed(void)
{
	CU_ASSERT_STRING_EQUAL(kept("EC", WANTED), A "+" B "+(D:ncpus=2:mem=2097152kb)");
	CU_ASSERT_STRING_EQUAL(kept("", WANTED "+1:ncpus=1:mem=1gb"), A "+" B "+" C "+(E:mem=1048576kb:ncpus=1)");
	CU_ASSERT_STRING_EQUAL(kept("", "ncpus=3:mem=1500mb"),
			       "(A[0]:mem=1048576kb:ncpus=1+A[1]:mem=487424kb:ncpus=1+A[2]:ncpus=1)");
	CU_ASSERT_STRING_EQUAL(kept("", "mem=2gb"), "(A[0]:mem=1048576kb+A[1]:mem=1048576kb)");
}

static void test_place_free(void)
{
	CU_ASSERT_STRING_EQUAL(kept_of(A "+" B "+" D "+(B[2]:ncpus=1:mem=1048576kb)", NULL, "D",
				       "ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=1:mem=1gb"),
			       A "+" B "+(B[2]:ncpus=1:mem=1048576kb)");
}

static void test_without_processors(void)
{
	CU_ASSERT_STRING_EQUAL(kept_of(A "+" D "+(E:mem=1048576kb+E[0]:mem=1048576kb)", NULL, "",
				       "ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=0:mem=2gb"),
			       A "+" D "+(E:mem=1048576kb+E[0]:mem=1048576kb)");
	CU_ASSERT_STRING_EQUAL(kept_of(A "+(E:ncpus=0)", NULL, "", "ncpus=3+ncpus=0"),
			       "(A[0]:ncpus=1+A[1]:ncpus=1+A[2]:ncpus=1)+(E:ncpus=0)");
}

static void test_other_resources(void)
{
	static const char exec[] = "(a:ncpus=1)+(b:ncpus=1:gpu=2)+(c:ncpus=1)+(d:ncpus=1:f=1.5)",
			  asked[] = "ncpus=1+ncpus=1:gpu=2:arch=linux+ncpus=1:rack=2:level=3+1:ncpus=1:f=1.5";

	CU_ASSERT_STRING_EQUAL(kept_of(exec, asked, "", "ncpus=1+ncpus=1:gpu=1"), "(a:ncpus=1)+(b:ncpus=1:gpu=1)");
	CU_ASSERT_STRING_EQUAL(kept_of(exec, asked, "", "ncpus=1+ncpus=1:arch=\"linux\""), "(a:ncpus=1)+(b:ncpus=1)");
	CU_ASSERT_STRING_EQUAL(kept_of(exec, asked, "", "ncpus=1+ncpus=1:rack=2:level=2"), "(a:ncpus=1)+(c:ncpus=1)");
	CU_ASSERT_STRING_EQUAL(kept_of(exec, asked, "", "ncpus=1+ncpus=1:f=.5"), "");
	CU_ASSERT_STRING_EQUAL(kept_of(exec, asked, "", "ncpus=1+ncpus=1:f=0.5"), "(a:ncpus=1)+(d:ncpus=1:f=0.5)");
	CU_ASSERT_STRING_EQUAL(kept_of(exec, asked, "", "ncpus=1+ncpus=1:mpiprocs=4:ompthreads=2"), "(a:ncpus=1)+(c:ncpus=1)");
	kept_of(exec, asked, "", "ncpus=1+ncpus=1:rack=1");
	CU_ASSERT_EQUAL(code, -ENOENT);
	kept_of(exec, asked, "", "ncpus=1+ncpus=1:level=4");
	CU_ASSERT_EQUAL(code, -ENOENT);
	kept_of(exec, asked, "b", "ncpus=1+ncpus=1:gpu=1");
	CU_ASSERT_EQUAL(code, -ENOENT);
}

static void test_reasons(void)
{
	kept("BD", WANTED);
	CU_ASSERT_EQUAL(code, -ENOENT);
	CU_ASSERT_STRING_EQUAL(why.data, "could not satisfy select chunk (ncpus=3 mem=2gb)\n"
					   "NEED chunks for keep_select (" WANTED ")\n"
					   "HAVE chunks from job's exec_vnode: " A "+" C "+" E "\n");
	kept("", "ncpus=4");
	CU_ASSERT_EQUAL(code, -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why.data, "could not satisfy 1st select chunk (ncpus=4)  with first available chunk\n"));
	kept("A", WANTED);
	CU_ASSERT_EQUAL(code, -ENOENT);
}

static void test_what_is_no_text(void)
{
	static const char *const selects[] = { "", "+", "ncpus", "2:", "ncpus=", "=1", "ncpus=1+", "1:ncpus=1:+1" };
	static const char *const execs[] = { "", "(", "()", "A:ncpus=1", "(A:ncpus=1", "(A:ncpus=1)+", "(A:ncpus)", "(A:ncpus=1)x" };

	for (size_t i = 0; i < sizeof(selects) / sizeof(selects[0]); i++) {
		kept("", selects[i]);
		CU_ASSERT_EQUAL(code, -EINVAL);
	}
	for (size_t i = 0; i < sizeof(execs) / sizeof(execs[0]); i++) {
		kept_of(execs[i], NULL, "", "ncpus=1");
		CU_ASSERT_EQUAL(code, -EINVAL);
	}
	kept("", "1:0x3=inf:ncpus=nan");
	CU_ASSERT_EQUAL(code, -ENOENT);
}

static const char *good_of(const char *exec, const char *schedselect, const char *failed)
{
	struct keep_job job = { .exec_vnode = exec, .schedselect = schedselect, .host_of = host_of,
				.arg = (void *)(uintptr_t)failed };

	fresh();
	code = keep_good(&job, &text, &other);
	return code ? "" : text.data;
}

static void test_without(void)
{
	CU_ASSERT_STRING_EQUAL(good_of(PADDED, PADDED_SELECT, "B"), A "+" D "+" C "+" E);
	CU_ASSERT_STRING_EQUAL(other.data, "1:mem=2097152kb:ncpus=3+1:ncpus=3:mem=2097152kb+1:ncpus=2:mem=2097152kb+1:mem=2097152kb:ncpus=2");
	CU_ASSERT_STRING_EQUAL(good_of("(a:ncpus=1)+(b:ncpus=2:mem=4kb+c:ncpus=1:mem=1kb)", "1:ncpus=1+1:ncpus=3:mpiprocs=3", "b"),
			       "(a:ncpus=1)+(c:ncpus=1:mem=1kb)");
	CU_ASSERT_STRING_EQUAL(other.data, "1:ncpus=1+1:ncpus=1:mem=1kb:mpiprocs=3");
	good_of(PADDED, PADDED_SELECT, "A");
	CU_ASSERT_EQUAL(code, -ENOENT);
}

/* Ten thousand chunks are looked at once, not each for each. */
static void test_many(void)
{
	struct keel_text exec;
	clock_t began = clock();

	keel_text_init(&exec);
	for (int i = 0; i < 10000; i++)
		keel_text_printf(&exec, "%s(n%d:ncpus=%d)", i ? "+" : "", i, 1 + i % 3);
	kept_of(exec.data, "10000:ncpus=1", "", "9000:ncpus=1");
	CU_ASSERT_EQUAL(code, 0);
	CU_ASSERT(clock() - began < CLOCKS_PER_SEC / 2);
	keel_text_fini(&exec);
	fresh();
}

TESTS_MAIN("keep", TEST(test_smallest_first), TEST(test_order), TEST(test_trimmed), TEST(test_place_free), TEST(test_without_processors),
	   TEST(test_other_resources), TEST(test_reasons), TEST(test_what_is_no_text), TEST(test_without), TEST(test_many))
