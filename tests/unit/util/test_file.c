/* SPDX-License-Identifier: Apache-2.0
 *
 * test_file.c - whole small files and directories.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "util/file.h"
#include "util/text.h"

static char *dir;

static char *in_dir(const char *name)
{
	return path_join(dir, name);
}

static void test_write_and_read(void)
{
	char *path = in_dir("file"), *bytes = NULL;
	size_t len = 0;
	struct stat st;

	CU_ASSERT_EQUAL(file_write_durable(path, "a\0b", 3, 0640), 0);
	CU_ASSERT_EQUAL(file_read(path, 100, &bytes, &len), 0);
	CU_ASSERT_EQUAL(len, 3);
	CU_ASSERT_EQUAL(memcmp(bytes, "a\0b", 4), 0);
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 0640);
	free(bytes);
	CU_ASSERT_EQUAL(file_write_durable(path, "new", 3, 0600), 0);
	CU_ASSERT_EQUAL(file_read(path, 3, &bytes, NULL), 0);
	CU_ASSERT_STRING_EQUAL(bytes, "new");
	free(bytes);
	free(path);
}

static void test_large(void)
{
	char *path = in_dir("large"), *text = malloc(1000000), *bytes = NULL;
	size_t len = 0;

	memset(text, 'x', 1000000);
	CU_ASSERT_EQUAL(file_write_durable(path, text, 1000000, 0600), 0);
	CU_ASSERT_EQUAL(file_read(path, 2000000, &bytes, &len), 0);
	CU_ASSERT_EQUAL(len, 1000000);
	CU_ASSERT_EQUAL(memcmp(bytes, text, len), 0);
	free(bytes);
	CU_ASSERT_EQUAL(file_read(path, 999999, &bytes, &len), -EFBIG);
	free(text);
	free(path);
}

static void test_failures(void)
{
	char *path = in_dir("missing/file"), *bytes = NULL;

	CU_ASSERT_EQUAL(file_write_durable(path, "x", 1, 0600), -ENOENT);
	CU_ASSERT_EQUAL(file_read(path, 10, &bytes, NULL), -ENOENT);
	CU_ASSERT_PTR_NULL(bytes);
	CU_ASSERT_EQUAL(file_read(dir, 10, &bytes, NULL), -EISDIR);
	free(path);
	path = in_dir("pipe");
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	CU_ASSERT_EQUAL(file_read(path, 10, &bytes, NULL), -ENOTSUP);
	free(path);
}

/* The target cannot be replaced: nothing may be left over beside it. */
static void test_no_leftovers(void)
{
	char *path = in_dir("taken"), *inside = in_dir("taken/file");

	CU_ASSERT_EQUAL(dir_make(path, 0755), 0);
	CU_ASSERT_EQUAL(file_write_durable(inside, "x", 1, 0600), 0);
	CU_ASSERT(file_write_durable(path, "x", 1, 0600) < 0);
	CU_ASSERT_EQUAL(remove(inside), 0);
	CU_ASSERT_EQUAL(rmdir(path), 0);
	free(path);
	path = in_dir("lonely");
	CU_ASSERT_EQUAL(dir_make(path, 0755), 0);
	free(inside);
	inside = in_dir("lonely/target");
	CU_ASSERT_EQUAL(dir_make(inside, 0755), 0);
	CU_ASSERT(file_write_durable(inside, "x", 1, 0600) < 0);
	CU_ASSERT_EQUAL(rmdir(inside), 0);
	CU_ASSERT_EQUAL(rmdir(path), 0); /* empty: no temporary file stayed */
	free(inside);
	free(path);
}

static void test_dir_make(void)
{
	char *path = in_dir("a/b/c"), *file = in_dir("plain");
	struct stat st;
	mode_t mask = umask(077);

	CU_ASSERT_EQUAL(dir_make(path, 01777), 0);
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 01777);
	CU_ASSERT_EQUAL(dir_make(path, 0700), 0); /* exists: left as it is */
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 01777);
	umask(mask);
	CU_ASSERT_EQUAL(file_write_durable(file, "x", 1, 0600), 0);
	CU_ASSERT_EQUAL(dir_make(file, 0755), -ENOTDIR);
	free(file);
	free(path);
}

static void test_guard(void)
{
	char *inner = in_dir("inner"), *file = in_dir("inner/file");
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(file_guard(file, &err), 0); /* there is none */
	CU_ASSERT_EQUAL(dir_make(inner, 0755), 0);
	CU_ASSERT_EQUAL(file_write_durable(file, "x", 1, 0644), 0);
	CU_ASSERT_EQUAL(file_guard(file, &err), 0);
	CU_ASSERT_EQUAL(chmod(file, 0646), 0);
	CU_ASSERT_EQUAL(file_guard(file, &err), -EPERM);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "inner/file may be written by others (mode 0646); `chmod go-w "));
	CU_ASSERT_EQUAL(chmod(file, 0644), 0);
	CU_ASSERT_EQUAL(chmod(inner, 0757), 0);
	CU_ASSERT_EQUAL(file_guard(file, &err), -EPERM);
	CU_ASSERT_EQUAL(chmod(inner, 01777), 0); /* others cannot rename what is in it, but it is no place to keep files in */
	CU_ASSERT_EQUAL(file_guard(file, &err), 0);
	CU_ASSERT_EQUAL(file_guard(inner, &err), -EPERM);
	if (geteuid() == 0) {
		CU_ASSERT_EQUAL(chmod(inner, 0755), 0);
		CU_ASSERT_EQUAL(chmod(dir, 0757), 0); /* two above it */
		CU_ASSERT_EQUAL(file_guard(file, &err), -EPERM);
		CU_ASSERT_EQUAL(chmod(dir, 0755), 0);
		CU_ASSERT_EQUAL(chown(file, 12345, 0), 0);
		CU_ASSERT_EQUAL(file_guard(file, &err), -EPERM);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "inner/file belongs to another user (12345, mode 0644); `chown 0 "));
	}
	free(file);
	free(inner);
}

static void scratch_begin(void)
{
	dir = scratch_new();
}

static void scratch_end(void)
{
	scratch_remove(dir);
	free(dir);
}

TESTS_MAIN("util/file", TEST(scratch_begin), TEST(test_write_and_read), TEST(test_large),
	   TEST(test_failures), TEST(test_no_leftovers), TEST(test_dir_make), TEST(test_guard), TEST(scratch_end))
