/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.h - run one suite of CUnit tests: the whole main() of a test program; and a directory that is
 * gone at the end.
 */
#ifndef KEELSON_TEST_HARNESS_H
#define KEELSON_TEST_HARNESS_H

#include <CUnit/Basic.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* For what must come: only a failure waits so long, and a busy machine is none. */
#define DEADLINE_MS 60000

struct test {
	const char *name;
	CU_TestFunc fn;
};
#define TEST(fn) { #fn, fn }

/* Exit status of the program: 0 when every test passed. Before and after each of them set_up() and tear_down(),
 * which may be NULL. */
static inline int tests_run_between(const char *suite_name, CU_SetUpFunc set_up, CU_TearDownFunc tear_down,
				    const struct test *tests, size_t n)
{
	CU_pSuite suite;
	unsigned failed;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 2;
	suite = CU_add_suite_with_setup_and_teardown(suite_name, NULL, NULL, set_up, tear_down);
	for (size_t i = 0; suite != NULL && i < n; i++)
		if (CU_add_test(suite, tests[i].name, tests[i].fn) == NULL)
			suite = NULL;
	if (suite == NULL)
		return 2;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failed = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failed == 0 ? 0 : 1;
}
static inline int tests_run(const char *suite_name, const struct test *tests, size_t n)
{
	return tests_run_between(suite_name, NULL, NULL, tests, n);
}
#define TESTS_MAIN(suite_name, ...) TESTS_MAIN_BETWEEN(suite_name, NULL, NULL, __VA_ARGS__)
#define TESTS_MAIN_BETWEEN(suite_name, set_up, tear_down, ...)                                     \
	int main(void)                                                                             \
	{                                                                                          \
		static const struct test tests[] = { __VA_ARGS__ };                                \
		return tests_run_between(suite_name, set_up, tear_down, tests,                     \
					 sizeof(tests) / sizeof(tests[0]));                        \
	}

/* A number below n; the same ones in each run of the program. */
static inline uint32_t pick(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

/* Before each test, where times of day are printed or read. */
static inline void in_utc(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
}

/* A new empty directory; free() the path after scratch_remove(). */
static inline char *scratch_new(void)
{
	char *path = NULL;

	if (asprintf(&path, "%s/keelson-test.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp") < 0 ||
	    mkdtemp(path) == NULL)
		abort();
	return path;
}

static inline int scratch_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void scratch_remove(const char *path)
{
	nftw(path, scratch_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

/* Write a file below a directory. */
static inline void scratch_write(const char *dir, const char *name, const char *text)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

/* For a wait that only a deadline ends. */
static inline bool never(void *arg)
{
	(void)arg;
	return false;
}

#endif
