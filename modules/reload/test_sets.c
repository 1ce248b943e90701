/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sets.c - sets on disk: what is copied into them, which of them stay.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"
#include "keel/mock.h"
#include "reload.h"

static char *dir, *sets, *set, *main_file;
static struct keel_err err;
static int32_t trusted;

static int32_t fake_trust(const char *path, struct keel_err *why)
{
	(void)path, (void)why;
	return trusted;
}
static const struct keel_renew_api fake = { .size = sizeof(fake), .trust = fake_trust };

static void set_up(void)
{
	char *modules;

	dir = scratch_new();
	modules = set_path(dir, "modules.d");
	CU_ASSERT_EQUAL_FATAL(mkdir(modules, 0755), 0);
	free(modules);
	scratch_write(dir, "main.conf", "roles = [\"server\"];\n");
	scratch_write(dir, "modules.d/one.conf", "one: {\n\tword = \"a\";\n};\n");
	scratch_write(dir, "modules.d/one.conf.bak", "no");
	main_file = set_path(dir, "main.conf");
	sets = set_path(dir, "sets");
	CU_ASSERT_EQUAL_FATAL(set_create(sets, &set, &err), 0);
	KEEL_USE_renew = &fake;
	trusted = 0;
}

static void tear_down(void)
{
	scratch_remove(dir);
	free(dir);
	free(sets);
	free(set);
	free(main_file);
}

static void expect_text(const char *of, const char *name, const char *text)
{
	char *found = text_read(of, name);

	CU_ASSERT_STRING_EQUAL(found, text);
	free(found);
}

static void the_configuration_is_copied_under_names_of_its_own(void)
{
	char *second = NULL;

	CU_ASSERT_EQUAL(set_configure(set, main_file, NULL, &err), 0);
	expect_text(set, "conf/keelson.conf", "roles = [\"server\"];\n");
	expect_text(set, "conf/modules.d/one.conf", "one: {\n\tword = \"a\";\n};\n");
	expect_text(set, "conf/modules.d/one.conf.bak", "");
	scratch_write(dir, "modules.d/one.conf", "nonsense {");
	CU_ASSERT_EQUAL_FATAL(set_create(sets, &second, &err), 0);
	CU_ASSERT_EQUAL(set_configure(second, NULL, set, &err), 0); /* what runs, whatever the files say */
	expect_text(second, "conf/modules.d/one.conf", "one: {\n\tword = \"a\";\n};\n");
	CU_ASSERT_EQUAL(text_write(second, "conf/keelson.conf", "other", false), 0);
	CU_ASSERT_EQUAL(set_conf_take(set, second), 0);
	expect_text(set, "conf/keelson.conf", "other");
	free(second);
}

static void overrides_replace_older_ones_of_a_module(void)
{
	char *second = NULL;

	CU_ASSERT_EQUAL(set_configure(set, main_file, NULL, &err), 0);
	CU_ASSERT_EQUAL(set_override(set, NULL, "one", false, &err), 0);
	CU_ASSERT_EQUAL(set_override(set, set, "two", true, &err), 0);
	CU_ASSERT_EQUAL_FATAL(set_create(sets, &second, &err), 0);
	CU_ASSERT_EQUAL(set_configure(second, main_file, NULL, &err), 0);
	CU_ASSERT_EQUAL(set_override(second, set, "one", true, &err), 0);
	expect_text(second, "conf/overrides", "two.enabled=true\none.enabled=true\n");
	free(second);
}

static void files_of_modules_are_copied_with_their_time(void)
{
	char *so = set_path(dir, "one.so"), *gone = set_path(dir, "gone.so"), *second = NULL, *copy = set_path(set, "modules/one.so");
	const struct keel_draft_module modules[] = {
		{ .name = "one", .path = so, .flags = KEEL_DRAFT_ENABLED },
		{ .name = "gone", .path = gone, .flags = KEEL_DRAFT_ENABLED },
		{ .name = "off", .path = so },
		{ .name = "folder", .path = dir, .flags = KEEL_DRAFT_ENABLED },
	};
	const struct keel_draft draft = { .n = 4, .modules = modules };
	struct stat was, is;

	scratch_write(dir, "one.so", "code");
	CU_ASSERT_EQUAL(set_modules(set, NULL, &draft, &err), 0);
	expect_text(set, "modules/one.so", "code");
	CU_ASSERT_EQUAL(stat(so, &was), 0);
	CU_ASSERT_EQUAL(stat(copy, &is), 0);
	CU_ASSERT(was.st_mtim.tv_sec == is.st_mtim.tv_sec && was.st_mtim.tv_nsec == is.st_mtim.tv_nsec);
	CU_ASSERT_EQUAL(text_write(set, "modules/gone.so", "older code", false), 0);
	CU_ASSERT_EQUAL_FATAL(set_create(sets, &second, &err), 0);
	trusted = -EPERM; /* then it is used from its place, where that is said */
	CU_ASSERT_EQUAL(set_modules(second, set, &draft, &err), 0);
	expect_text(second, "modules/one.so", "");
	expect_text(second, "modules/gone.so", "older code");
	free(so);
	free(gone);
	free(second);
	free(copy);
}

static void a_disk_is_not_filled(void)
{
	char *so = set_path(dir, "big.so");
	const struct keel_draft_module big = { .name = "big", .path = so, .flags = KEEL_DRAFT_ENABLED };
	const struct keel_draft draft = { .n = 1, .modules = &big };

	scratch_write(dir, "big.so", "");
	CU_ASSERT_EQUAL_FATAL(truncate(so, (off_t)1 << 42), 0);
	CU_ASSERT_EQUAL(set_modules(set, NULL, &draft, &err), -ENOSPC);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "for the files of modules, 4194305 MB: twice of it has to be free"));
	free(so);
}

/* The link that keelsond --last-good follows. */
static void expect_served(const char *wanted)
{
	char *link = set_path(sets, "served"), *real = realpath(link, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(real);
	CU_ASSERT_STRING_EQUAL(strrchr(real, '/'), strrchr(wanted, '/'));
	free(link);
	free(real);
}

static void the_set_that_served_stays_alone(void)
{
	char *second = NULL;

	CU_ASSERT_EQUAL_FATAL(set_create(sets, &second, &err), 0);
	CU_ASSERT_EQUAL(set_configure(second, main_file, NULL, &err), 0);
	CU_ASSERT_EQUAL(set_served(sets, second), 0);
	CU_ASSERT_EQUAL(access(set, F_OK), -1);
	expect_served(second);
	free(second);
}

static void what_failed_starts_left_goes_and_the_last_that_served_stays(void)
{
	char *failed = NULL;

	CU_ASSERT_EQUAL(set_served(sets, set), 0);
	CU_ASSERT_EQUAL_FATAL(set_create(sets, &failed, &err), 0);
	sets_tidy(sets);
	CU_ASSERT_EQUAL(access(failed, F_OK), -1);
	expect_served(set);
	free(failed);
}

static void what_cannot_be_copied_is_named(void)
{
	CU_ASSERT_EQUAL(set_configure(set, "/nowhere/keelson.conf", NULL, &err), -ENOENT);
	CU_ASSERT_STRING_EQUAL(err.text, "cannot read the configuration file /nowhere/keelson.conf: No such file or directory");
	CU_ASSERT_EQUAL(set_create("/proc/nowhere", &set, &err), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot make a directory in /proc/nowhere: "));
}

TESTS_MAIN_BETWEEN("reload/sets", set_up, tear_down, TEST(the_configuration_is_copied_under_names_of_its_own),
		   TEST(overrides_replace_older_ones_of_a_module), TEST(files_of_modules_are_copied_with_their_time), TEST(a_disk_is_not_filled),
		   TEST(the_set_that_served_stays_alone), TEST(what_failed_starts_left_goes_and_the_last_that_served_stays),
		   TEST(what_cannot_be_copied_is_named))
