/* SPDX-License-Identifier: Apache-2.0
 *
 * test_users.c - names by uid: asked once, told to all, forgotten in time.
 */
#include <dlfcn.h>
#include <grp.h>
#include <pwd.h>

#include "fixture.h"

/* A name service of our own: WIDE has a name that fits nowhere, SOCIAL and those behind it are in `n_groups`; while
 * `silent` they get no answer. */
enum { WIDE = 0x6ffffff1, SOCIAL, N_SOCIAL = 5, N_GROUPS = 65, FIRST_GROUP = 0x50000000 };

static _Atomic int n_groups = N_GROUPS;
static _Atomic bool silent;

int getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t len, struct passwd **found)
{
	int (*next)(uid_t, struct passwd *, char *, size_t, struct passwd **) = NULL;

	*(void **)&next = dlsym(RTLD_NEXT, "getpwuid_r");
	if (uid == WIDE)
		return ERANGE;
	if (uid < SOCIAL || uid >= SOCIAL + N_SOCIAL)
		return next(uid, pw, buf, len, found);
	while (silent)
		usleep(1000);
	*pw = (struct passwd){ .pw_name = "social", .pw_uid = uid, .pw_gid = FIRST_GROUP };
	*found = pw;
	return 0;
}

int getgrgid_r(gid_t gid, struct group *gr, char *buf, size_t len, struct group **found)
{
	int (*next)(gid_t, struct group *, char *, size_t, struct group **) = NULL;

	*(void **)&next = dlsym(RTLD_NEXT, "getgrgid_r");
	if (gid < FIRST_GROUP || gid >= FIRST_GROUP + N_GROUPS)
		return next(gid, gr, buf, len, found);
	snprintf(buf, len, "g%u", gid - FIRST_GROUP);
	*gr = (struct group){ .gr_name = buf, .gr_gid = gid };
	*found = gr;
	return 0;
}

int getgrouplist(const char *user, gid_t primary, gid_t *ids, int *n)
{
	int (*next)(const char *, gid_t, gid_t *, int *) = NULL, room = *n;

	*(void **)&next = dlsym(RTLD_NEXT, "getgrouplist");
	if (strcmp(user, "social") != 0)
		return next(user, primary, ids, n);
	*n = n_groups;
	for (int i = 0; i < *n && i < room; i++)
		ids[i] = primary + (gid_t)i;
	return room < *n ? -1 : *n;
}

static struct loop *l;
static struct users *users;
static int n_told;
static struct user *last;

static void told(void *arg, struct user *u)
{
	CU_ASSERT_PTR_NOT_NULL(arg);
	n_told++;
	user_unref(last);
	last = u;
}

static bool told_enough(void *arg)
{
	return n_told >= *(int *)arg;
}

static void wait_told(int n)
{
	CU_ASSERT_FATAL(loop_run_until(l, told_enough, &n, DEADLINE_MS) == 0);
}

static void start(void)
{
	n_told = 0;
	last = NULL;
	CU_ASSERT_FATAL(loop_create(&l) == 0);
	CU_ASSERT_FATAL(users_create(l, "host1", &users) == 0);
}

static void stop(void)
{
	user_unref(last);
	users_destroy(users);
	loop_destroy(l);
}

static void test_known(void)
{
	struct users_wait a = { .fn = told, .arg = &a }, b = { .fn = told, .arg = &b };
	char who[256];

	start();
	CU_ASSERT_EQUAL(users_ask(users, getuid(), &a), 0);
	CU_ASSERT_EQUAL(users_ask(users, getuid(), &b), 0);
	CU_ASSERT_EQUAL(n_told, 0); /* never asked on this thread */
	wait_told(2);
	CU_ASSERT_EQUAL(last->error, 0);
	snprintf(who, sizeof(who), "%s@host1", getpwuid(getuid())->pw_name);
	CU_ASSERT_STRING_EQUAL(last->who, who);
	CU_ASSERT_EQUAL(users_ask(users, getuid(), &a), 0);
	CU_ASSERT_EQUAL(n_told, 3); /* known now: told at once */
	stop();
}

static void test_unknown(void)
{
	struct users_wait a = { .fn = told, .arg = &a };

	start();
	CU_ASSERT_EQUAL(users_ask(users, 0x7ffffff1, &a), 0);
	wait_told(1);
	CU_ASSERT_EQUAL(last->error, -ENOENT);
	CU_ASSERT_PTR_NULL(last->who);
	stop();
}

/* past kernel/request/users.c PASSWD_BUF_MAX */
static void test_too_wide(void)
{
	struct users_wait a = { .fn = told, .arg = &a };

	start();
	CU_ASSERT_EQUAL(users_ask(users, WIDE, &a), 0);
	wait_told(1);
	CU_ASSERT_EQUAL(last->error, -ERANGE);
	stop();
}

static void test_many_groups(void)
{
	struct users_wait a = { .fn = told, .arg = &a };

	start();
	CU_ASSERT_EQUAL(users_ask(users, SOCIAL, &a), 0);
	wait_told(1);
	CU_ASSERT_EQUAL(last->error, 0);
	CU_ASSERT_EQUAL(strncmp(last->groups, "g0,g1,", 6), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(last->groups, ",g64"));
	stop();
}

static void known(uint32_t uid)
{
	struct users_wait w = { .fn = told, .arg = &w };
	int n = n_told;

	CU_ASSERT_EQUAL(users_ask(users, uid, &w), 0);
	wait_told(n + 1);
}

static bool is_past(void *arg)
{
	return loop_now_ms(l) > *(int64_t *)arg;
}

static void pass(int64_t ms)
{
	int64_t until = loop_now_ms(l) + ms;

	CU_ASSERT_EQUAL(loop_run_until(l, is_past, &until, DEADLINE_MS), 0);
}

/* mend A12: who has left a group is no member a second later, for access lists either */
static void test_left_group(void)
{
	start();
	known(SOCIAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(last->groups, ",g64"));
	n_groups = 2;
	pass(1000);
	known(SOCIAL);
	CU_ASSERT_STRING_EQUAL(last->groups, "g0,g1");
	n_groups = N_GROUPS;
	stop();
}

/* A name service that gives no answer delays users it knew once, and no others of them at all.
 * past kernel/request/users.c REFRESHES_MAX */
static void test_silent(void)
{
	struct users_wait w[N_SOCIAL];

	start();
	for (uint32_t i = 0; i < N_SOCIAL; i++)
		known(SOCIAL + i);
	pass(1000);
	silent = true;
	n_told = 0;
	for (uint32_t i = 0; i < N_SOCIAL; i++) {
		w[i] = (struct users_wait){ .fn = told, .arg = w };
		CU_ASSERT_EQUAL(users_ask(users, SOCIAL + i, &w[i]), 0);
		CU_ASSERT_EQUAL(n_told, i == N_SOCIAL - 1); /* for the fifth nothing is looked up */
	}
	wait_told(N_SOCIAL);
	CU_ASSERT_STRING_EQUAL(last->name, "social");
	CU_ASSERT_EQUAL(users_ask(users, SOCIAL, &w[0]), 0);
	CU_ASSERT_EQUAL(n_told, N_SOCIAL + 1); /* at once */
	silent = false;
	stop();
}

static void test_forgotten(void)
{
	struct users_wait a = { .fn = told, .arg = &a }, b = { .fn = told, .arg = &b };

	start();
	CU_ASSERT_EQUAL(users_ask(users, getuid(), &a), 0);
	CU_ASSERT_EQUAL(users_ask(users, getuid(), &b), 0);
	users_forget(&a);
	users_forget(&a);
	wait_told(1);
	CU_ASSERT_EQUAL(loop_run_until(l, told_enough, &(int){ 2 }, 5), -ETIMEDOUT);
	stop();
}

/* past kernel/request/users.c ENTRIES_MAX: the oldest goes */
static void test_more_than_are_kept(void)
{
	static struct users_wait waits[5000];

	start();
	for (uint32_t i = 0; i < 5000; i++) {
		waits[i] = (struct users_wait){ .fn = told, .arg = waits };
		CU_ASSERT_EQUAL(users_ask(users, 0x70000000 + i, &waits[i]), 0);
	}
	wait_told(5000);
	CU_ASSERT_EQUAL(users_ask(users, getuid(), &waits[0]), 0);
	wait_told(5001);
	CU_ASSERT_EQUAL(last->error, 0);
	stop();
}

/* The user outlives its entry and everything else. */
static void test_reference(void)
{
	struct users_wait a = { .fn = told, .arg = &a };
	struct user *kept;

	start();
	CU_ASSERT_EQUAL(users_ask(users, getuid(), &a), 0);
	wait_told(1);
	kept = last;
	last = NULL;
	stop();
	CU_ASSERT_PTR_NOT_NULL(strstr(kept->who, "@host1"));
	user_unref(kept);
}

static bool thread_is_done(void *arg)
{
	(void)arg;
	return n_told > 0;
}

static void ask_again(void *arg)
{
	(void)arg;
	n_told++;
}

static void no_work(void *arg)
{
	(void)arg;
}

static void test_destroyed_while_asking(void)
{
	struct users_wait a = { .fn = told, .arg = &a };

	start();
	CU_ASSERT_EQUAL(users_ask(users, getuid(), &a), 0);
	users_destroy(users);
	users = NULL;
	/* Other work, done after the lookup that nobody waits for. */
	for (int i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(loop_work(l, no_work, ask_again, &n_told), 0);
	CU_ASSERT_EQUAL(loop_run_until(l, thread_is_done, NULL, DEADLINE_MS), 0);
	wait_told(8);
	stop();
}

TESTS_MAIN("users", TEST(test_known), TEST(test_unknown), TEST(test_too_wide), TEST(test_many_groups),
	   TEST(test_left_group), TEST(test_silent), TEST(test_forgotten), TEST(test_more_than_are_kept),
	   TEST(test_reference), TEST(test_destroyed_while_asking))
