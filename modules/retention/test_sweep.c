/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sweep.c - which files of a folder go.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "sweep.h"

static char *dir;

static void file(const char *name, size_t bytes)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	for (size_t i = 0; i < bytes; i++)
		fputc('x', f);
	fclose(f);
}

static bool there(const char *name)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return lstat(path, &st) == 0;
}

static int64_t noon(int year, int month, int day, int hour)
{
	struct tm tm = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour, .tm_isdst = -1 };

	return mktime(&tm);
}

static void test_names(void)
{
	static const char *const good[] = { "20260131", "20260131.gz", "20260131.1.gz", "20260131-20260201", "20260131-20260201.xz", "20260131.12" };
	static const char *const bad[] = { "", "2026013", "202601310", "20261331", "20260100", "20260131.txt", "20260131.gz.old", "keep",
					   "20260131~", ".20260131", "20260131.", "20260131-2026", "99999999", "20260131/x",
					   "20260131.0000000000000000000000000000000000000000000.gz" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_EQUAL(day_of_name(good[i]), 20260131);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(day_of_name(bad[i]), 0);
}

static void test_days(void)
{
	struct sweep s = { .days = 2, .now = noon(2026, 3, 2, 12) };
	char path[256], target[256];

	s.dir = dir = scratch_new();
	file("20260226.1.gz", 10);
	file("20260227", 10);
	file("20260228", 10);
	file("20260301", 10);
	file("20260302", 10);
	file("20270101", 10);
	file("keep", 10);
	file("20200101.txt", 10);
	snprintf(path, sizeof(path), "%s/20200101", dir);
	snprintf(target, sizeof(target), "%s/keep", dir);
	CU_ASSERT_EQUAL(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s/20200102", dir);
	CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
	sweep_run(&s);
	CU_ASSERT_EQUAL(s.deleted, 2);
	CU_ASSERT_EQUAL(s.freed, 20);
	CU_ASSERT_EQUAL(s.oldest, 20260226);
	CU_ASSERT_EQUAL(s.error, 0);
	CU_ASSERT(!there("20260226.1.gz") && !there("20260227"));
	CU_ASSERT(there("20260228") && there("20260301") && there("20260302") && there("20270101"));
	CU_ASSERT(there("keep") && there("20200101.txt") && there("20200101") && there("20200102"));
	scratch_remove(dir);
	free(dir);
}

static void test_bytes(void)
{
	struct sweep s = { .size = 100, .now = noon(2026, 3, 2, 12) };

	s.dir = dir = scratch_new();
	file("20260228", 60);
	file("20260301", 60);
	file("20260302", 60);
	sweep_run(&s);
	CU_ASSERT_EQUAL(s.deleted, 2);
	CU_ASSERT(there("20260302"));
	file("20260301", 60);
	file("20260302", 300); /* never today's */
	s.now = noon(2026, 3, 2, 0); /* nor yesterday's in the first hour */
	sweep_run(&s);
	CU_ASSERT(there("20260301") && there("20260302"));
	s.now = noon(2026, 3, 2, 2);
	sweep_run(&s);
	CU_ASSERT(!there("20260301") && there("20260302"));
	scratch_remove(dir);
	free(dir);
}

static void test_errors_and_thousands(void)
{
	struct sweep s = { .days = 1, .now = noon(2026, 3, 2, 12), .dir = (char *)"/no/such/folder" };
	char name[32];

	sweep_run(&s);
	CU_ASSERT_EQUAL(s.error, ENOENT);
	s = (struct sweep){ .days = 1, .now = s.now };
	s.dir = dir = scratch_new();
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "%04d0101.%d", 2000 + i % 20, i);
		file(name, 1);
	}
	sweep_run(&s);
	CU_ASSERT_EQUAL(s.deleted, 3000);
	scratch_remove(dir);
	free(dir);
}

TESTS_MAIN("sweep", TEST(test_names), TEST(test_days), TEST(test_bytes), TEST(test_errors_and_thousands))
