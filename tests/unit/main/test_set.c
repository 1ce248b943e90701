/* SPDX-License-Identifier: Apache-2.0
 *
 * test_set.c - sets on disk, and descriptors that one image leaves for the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/conf.h"
#include "harness.h"
#include "main/handover.h"
#include "main/set.h"
#include "util/text.h"

static char *dir, *sets, *set;
static struct keel_err err;

static void begin(void)
{
	char *modules;

	dir = scratch_new();
	modules = path_join(dir, "modules.d");
	CU_ASSERT_EQUAL_FATAL(mkdir(modules, 0755), 0);
	free(modules);
	scratch_write(dir, "keelson.conf", "roles = [\"server\"];\n");
	scratch_write(dir, "modules.d/one.conf", "one: {\n\tword = \"a\";\n};\n");
	sets = path_join(dir, "sets");
	CU_ASSERT_EQUAL_FATAL(set_create(sets, &set, &err), 0);
}

static void finish(void)
{
	scratch_remove(dir);
	free(dir);
	free(sets);
	free(set);
}

static int configure(const char *to, const char *text_from, const char *overrides_from)
{
	char *file = path_join(dir, "keelson.conf");
	int ret = set_configure(to, file, text_from, overrides_from, &err);

	free(file);
	return ret;
}

static void a_copy_of_the_configuration_is_read_under_its_own_names(void)
{
	char *copy, *file;
	struct conf *c = NULL;

	begin();
	CU_ASSERT_EQUAL(configure(set, NULL, NULL), 0);
	scratch_write(dir, "modules.d/one.conf", "nonsense {");
	copy = set_path(set, "conf");
	file = path_join(dir, "keelson.conf");
	CU_ASSERT_EQUAL_FATAL(conf_read(file, copy, &c, &err), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(conf_module(c, "one")->file, "modules.d/one.conf:1"));
	CU_ASSERT_PTR_NULL(strstr(conf_module(c, "one")->file, "sets"));
	conf_destroy(c);
	CU_ASSERT(conf_read(file, NULL, &c, &err) < 0);
	free(copy);
	free(file);
	finish();
}

static void overrides_replace_older_ones_of_a_module(void)
{
	char *second = NULL, *text;

	begin();
	CU_ASSERT_EQUAL(configure(set, NULL, NULL), 0);
	CU_ASSERT_EQUAL(set_override(set, "one", false, &err), 0);
	CU_ASSERT_EQUAL(set_override(set, "two", true, &err), 0);
	CU_ASSERT_EQUAL(set_override(set, "one", true, &err), 0);
	CU_ASSERT_EQUAL_FATAL(set_create(sets, &second, &err), 0);
	CU_ASSERT_EQUAL(configure(second, set, set), 0);
	text = set_read(second, "conf/overrides");
	CU_ASSERT_STRING_EQUAL(text, "two.enabled=true\none.enabled=true\n");
	free(text);
	free(second);
	finish();
}

static void the_set_that_served_stays_alone(void)
{
	char *second = NULL, *last;

	begin();
	CU_ASSERT_PTR_NULL(set_last(sets));
	CU_ASSERT_EQUAL_FATAL(set_create(sets, &second, &err), 0);
	CU_ASSERT_EQUAL(configure(second, NULL, NULL), 0);
	CU_ASSERT_EQUAL(set_served(sets, second), 0);
	CU_ASSERT_EQUAL(access(set, F_OK), -1);
	last = set_last(sets);
	CU_ASSERT_STRING_EQUAL(strrchr(last, '/'), strrchr(second, '/'));
	free(last);
	free(second);
	finish();
}

static void what_failed_starts_left_goes_and_the_last_that_served_stays(void)
{
	char *failed = NULL, *last;

	begin();
	CU_ASSERT_EQUAL(set_served(sets, set), 0);
	CU_ASSERT_EQUAL_FATAL(set_create(sets, &failed, &err), 0);
	sets_tidy(sets);
	CU_ASSERT_EQUAL(access(failed, F_OK), -1);
	last = set_last(sets);
	CU_ASSERT_PTR_NOT_NULL_FATAL(last);
	CU_ASSERT_STRING_EQUAL(strrchr(last, '/'), strrchr(set, '/'));
	free(failed);
	free(last);
	finish();
}

static void what_cannot_be_copied_is_named(void)
{
	begin();
	scratch_write(dir, "keelson.conf", "");
	CU_ASSERT_EQUAL(set_configure(set, "/nowhere/keelson.conf", NULL, NULL, &err), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot read the configuration file /nowhere/keelson.conf"));
	finish();
}

/* In a process of its own, for its descriptors: 0, or the number of what is wrong. */
static int handed_here(void)
{
	struct handed out = { .n = 0 }, in;
	int ends[2], lock;
	char byte = 0, **env;

	if (pipe(ends) < 0 || (ends[1] = fcntl(ends[1], F_DUPFD, 200)) < 0 || (lock = open("/dev/null", O_RDONLY)) < 0)
		return 1;
	handed_add(&out, HANDED_CLIENT, ends[0]);
	handed_add(&out, "none", -1);
	handed_add(&out, "server.lock", lock);
	env = handed_env(&out, "/run/notify");
	if (out.n != 2 || env == NULL)
		return 2;
	handed_pass(&out);
	for (char **at = env; *at != NULL; at++)
		putenv(*at);
	handed_take(&in);
	if (in.n != 2 || getenv("LISTEN_FDS") != NULL || handed_find(&in, "server.lock") < 0)
		return 3;
	if (strcmp(getenv("NOTIFY_SOCKET"), "/run/notify") != 0)
		return 4;
	lock = handed_use(&in, HANDED_CLIENT);
	if (write(ends[1], "x", 1) != 1 || read(lock, &byte, 1) != 1 || byte != 'x')
		return 5;
	if (handed_use(&in, HANDED_CLIENT) >= 0 || (fcntl(lock, F_GETFD) & FD_CLOEXEC) == 0)
		return 6;
	handed_close(&in);
	setenv("LISTEN_PID", "1", 1); /* for another process */
	setenv("LISTEN_FDS", "2", 1);
	handed_take(&in);
	return in.n == 0 ? 0 : 7;
}

static void descriptors_go_over(void)
{
	int end = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(handed_here());
	waitpid(child, &end, 0);
	CU_ASSERT_EQUAL(WEXITSTATUS(end), 0);
}

static void a_count_that_is_nonsense_is_no_work(void)
{
	char pid[24];
	pid_t child = fork();
	struct handed h;
	int end = 0;

	if (child == 0) {
		alarm(5);
		snprintf(pid, sizeof(pid), "%ld", (long)getpid());
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", "1000000000000", 1);
		handed_take(&h);
		_exit(h.n > HANDOVER_FDS);
	}
	waitpid(child, &end, 0);
	CU_ASSERT(WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

TESTS_MAIN("main/set", TEST(a_copy_of_the_configuration_is_read_under_its_own_names),
	   TEST(overrides_replace_older_ones_of_a_module), TEST(the_set_that_served_stays_alone),
	   TEST(what_failed_starts_left_goes_and_the_last_that_served_stays),
	   TEST(what_cannot_be_copied_is_named), TEST(descriptors_go_over),
	   TEST(a_count_that_is_nonsense_is_no_work))
