/* SPDX-License-Identifier: Apache-2.0
 *
 * test_home.c - PBS_HOME and its locks.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness.h"
#include "main/inside.h"
#include "util/file.h"
#include "util/text.h"

static char *dir, *home;
static struct keel_err err;

static void begin(void)
{
	dir = scratch_new();
	home = path_join(dir, "home");
	err.text[0] = '\0';
}

static void finish(void)
{
	scratch_remove(dir);
	free(home);
	free(dir);
}

static int mode_of(const char *name)
{
	char *path = path_join(home, name);
	struct stat st;
	int mode = stat(path, &st) < 0 ? -1 : (int)(st.st_mode & 07777);

	free(path);
	return mode;
}

static void test_layout(void)
{
	begin();
	CU_ASSERT_EQUAL(home_make(home, KEEL_ANY, &err), 0);
	CU_ASSERT_EQUAL(mode_of("server_logs"), 0755);
	CU_ASSERT_EQUAL(mode_of("mom_logs"), 0755);
	CU_ASSERT_EQUAL(mode_of("sched_logs"), 0755);
	CU_ASSERT_EQUAL(mode_of("spool"), 01777);
	CU_ASSERT_EQUAL(mode_of("undelivered"), 01777);
	CU_ASSERT_EQUAL(mode_of("aux"), 0755);
	CU_ASSERT_EQUAL(mode_of("checkpoint"), 0700);
	CU_ASSERT_EQUAL(mode_of("server_priv"), 0750);
	CU_ASSERT_EQUAL(mode_of("sched_priv"), 0750);
	CU_ASSERT_EQUAL(mode_of("mom_priv"), 0751);
	CU_ASSERT_EQUAL(mode_of("pbs_environment"), 0644);
	finish();
}

static void test_only_what_the_role_needs(void)
{
	begin();
	CU_ASSERT_EQUAL(home_make(home, KEEL_MOM, &err), 0);
	CU_ASSERT_EQUAL(mode_of("server_priv"), -1);
	CU_ASSERT_EQUAL(mode_of("mom_priv"), 0751);
	finish();
}

static void test_existing_things_are_kept(void)
{
	char *path, *text = NULL;

	begin();
	CU_ASSERT_EQUAL(home_make(home, KEEL_SERVER, &err), 0);
	path = path_join(home, "server_logs");
	CU_ASSERT_EQUAL(chmod(path, 0700), 0);
	free(path);
	scratch_write(home, "pbs_environment", "LANG=de\n");
	CU_ASSERT_EQUAL(home_make(home, KEEL_SERVER, &err), 0);
	CU_ASSERT_EQUAL(mode_of("server_logs"), 0700);
	path = path_join(home, "pbs_environment");
	CU_ASSERT_EQUAL(file_read(path, 100, &text, NULL), 0);
	CU_ASSERT_STRING_EQUAL(text, "LANG=de\n");
	free(path);
	free(text);
	finish();
}

static void test_cannot_be_made(void)
{
	begin();
	scratch_write(dir, "home", "a file");
	CU_ASSERT(home_make(home, KEEL_SERVER, &err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, home));
	finish();
}

static struct handed none;

/* In another process: 0 when the lock was refused with our pid in the sentence. */
static int refused_elsewhere(uint32_t roles)
{
	struct handed locks;
	char pid[32];
	pid_t child;
	int end = -1;

	snprintf(pid, sizeof(pid), "pid %ld", (long)getpid());
	child = fork();
	if (child == 0)
		_exit(home_lock(home, roles, &none, &locks, &err) == -EBUSY && strstr(err.text, pid) != NULL ? 0 : 1);
	waitpid(child, &end, 0);
	return end;
}

static void test_second_start_is_refused(void)
{
	struct handed locks;
	char *path, *text = NULL, pid[32];

	begin();
	CU_ASSERT_EQUAL(home_make(home, KEEL_ANY, &err), 0);
	CU_ASSERT_EQUAL(home_lock(home, KEEL_SERVER, &none, &locks, &err), 0);
	CU_ASSERT_EQUAL(refused_elsewhere(KEEL_SERVER), 0);
	CU_ASSERT_EQUAL(refused_elsewhere(KEEL_ANY), 0);
	CU_ASSERT_NOT_EQUAL(refused_elsewhere(KEEL_MOM), 0); /* another role may run */
	path = path_join(home, "server_priv/server.lock");
	CU_ASSERT_EQUAL(file_read(path, 100, &text, NULL), 0);
	snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	CU_ASSERT_STRING_EQUAL(text, pid);
	handed_close(&locks);
	CU_ASSERT_NOT_EQUAL(refused_elsewhere(KEEL_SERVER), 0);
	handed_close(&locks);
	free(text);
	free(path);
	finish();
}

/* A login daemon lives where a mom would, without what is for jobs, and never beside one. */
static void test_login(void)
{
	struct handed locks;

	begin();
	CU_ASSERT_EQUAL(home_make(home, KEEL_LOGIN, &err), 0);
	CU_ASSERT(mode_of("mom_priv/peers") == 0750 && mode_of("mom_logs") == 0755 && mode_of("run") == 0755);
	CU_ASSERT(mode_of("mom_priv/hooks") == -1 && mode_of("aux") == -1 && mode_of("server_priv") == -1);
	CU_ASSERT_EQUAL(home_lock(home, KEEL_LOGIN, &none, &locks, &err), 0);
	CU_ASSERT_EQUAL(refused_elsewhere(KEEL_MOM), 0);
	CU_ASSERT_EQUAL(refused_elsewhere(KEEL_LOGIN), 0);
	handed_close(&locks);
	finish();
}

static void test_lock_without_home(void)
{
	struct handed locks;

	begin();
	CU_ASSERT_EQUAL(home_lock(home, KEEL_SERVER, &none, &locks, &err), -ENOENT);
	CU_ASSERT_EQUAL(handed_find(&locks, "server.lock"), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "server.lock"));
	finish();
}

TESTS_MAIN("main/home", TEST(test_layout), TEST(test_only_what_the_role_needs),
	   TEST(test_existing_things_are_kept), TEST(test_cannot_be_made),
	   TEST(test_second_start_is_refused), TEST(test_login), TEST(test_lock_without_home))
