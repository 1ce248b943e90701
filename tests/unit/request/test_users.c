/* SPDX-License-Identifier: Apache-2.0
 *
 * test_users.c - names by uid: looked up once for all clients of a uid, and again in time.
 */
#include <dlfcn.h>
#include <grp.h>
#include <pwd.h>
#include <utlist.h>

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

static struct kernel k;
static struct user *last; /* of know() */

static uint32_t n_waiting(void)
{
	const struct client *c;
	uint32_t n = 0;

	DL_FOREACH(k.parts.router->clients, c)
		n += c->user == NULL;
	return n;
}

static bool few_wait(void *arg)
{
	return n_waiting() <= *(uint32_t *)arg;
}

static void wait_waiting(uint32_t n)
{
	CU_ASSERT_FATAL(loop_run_until(k.parts.loop, few_wait, &n, DEADLINE_MS) == 0);
}

/* A client of this uid connects. */
static struct client *come(uint32_t uid)
{
	int fds[2];

	CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	CU_ASSERT_FATAL(client_create(k.parts.router, fds[0], uid, 0) == 0);
	close(fds[1]);
	return k.parts.router->clients->prev;
}

/* It comes, its user is looked up, it goes; returns what was found, valid until the next call. */
static struct user *know(uint32_t uid)
{
	struct client *c = come(uid);

	while (c->user == NULL)
		wait_waiting(n_waiting() - 1);
	user_unref(last);
	last = c->user;
	last->refs++;
	client_drop(c);
	return last;
}

static void start(void)
{
	kernel_start(&k);
	k.parts.router->limits.clients_per_uid = 1000;
}

static void stop(void)
{
	user_unref(last);
	last = NULL;
	kernel_stop(&k);
}

static void test_known(void)
{
	struct client *a, *b, *c;
	char who[256];

	start();
	a = come(getuid());
	b = come(getuid());
	CU_ASSERT_EQUAL(n_waiting(), 2); /* never looked up on this thread */
	CU_ASSERT_EQUAL(k.parts.router->n_shares, 1);
	wait_waiting(0);
	CU_ASSERT_PTR_EQUAL(a->user, b->user);
	CU_ASSERT_EQUAL(a->user->error, 0);
	snprintf(who, sizeof(who), "%s@host1.example.org", getpwuid(getuid())->pw_name);
	CU_ASSERT_STRING_EQUAL(a->user->who, who);
	c = come(getuid());
	CU_ASSERT_PTR_NOT_NULL(c->user); /* known now */
	stop();
}

static void test_unknown(void)
{
	struct user *u;

	start();
	u = know(0x7ffffff1);
	CU_ASSERT_EQUAL(u->error, -ENOENT);
	CU_ASSERT_PTR_NULL(u->who);
	stop();
}

/* past kernel/request/users.c PASSWD_BUF_MAX */
static void test_too_wide(void)
{
	start();
	CU_ASSERT_EQUAL(know(WIDE)->error, -ERANGE);
	stop();
}

static void test_many_groups(void)
{
	struct user *u;

	start();
	u = know(SOCIAL);
	CU_ASSERT_EQUAL(u->error, 0);
	CU_ASSERT_EQUAL(strncmp(u->groups, "g0,g1,", 6), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(u->groups, ",g64"));
	stop();
}

static bool is_past(void *arg)
{
	return loop_now_ms(k.parts.loop) > *(int64_t *)arg;
}

static void pass(int64_t ms)
{
	int64_t until = loop_now_ms(k.parts.loop) + ms;

	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, is_past, &until, DEADLINE_MS), 0);
}

/* mend A12: who has left a group is no member a second later, for access lists either */
static void test_left_group(void)
{
	start();
	CU_ASSERT_PTR_NOT_NULL(strstr(know(SOCIAL)->groups, ",g64"));
	n_groups = 2;
	pass(1000);
	CU_ASSERT_STRING_EQUAL(know(SOCIAL)->groups, "g0,g1");
	n_groups = N_GROUPS;
	stop();
}

/* A name service that gives no answer delays users it knew once, and no others of them at all.
 * past kernel/request/users.c REFRESHES_MAX */
static void test_silent(void)
{
	start();
	for (uint32_t i = 0; i < N_SOCIAL; i++)
		know(SOCIAL + i);
	pass(1000);
	silent = true;
	for (uint32_t i = 0; i < N_SOCIAL; i++)
		CU_ASSERT_EQUAL(come(SOCIAL + i)->user != NULL, i == N_SOCIAL - 1); /* for the fifth nothing is looked up */
	wait_waiting(0);
	CU_ASSERT_STRING_EQUAL(k.parts.router->clients->user->name, "social");
	CU_ASSERT_PTR_NOT_NULL(come(SOCIAL)->user); /* at once */
	silent = false;
	stop();
}

/* mend B4: past kernel/request/limits.def deciding: a user whose name service is silent takes a part of the managers' places only. */
static void test_deciding(void)
{
	uint32_t n = 0;
	int fds[2];

	start();
	k.parts.router->limits.clients = 9;
	k.parts.router->limits.reserve = 8;
	k.parts.router->limits.reserve_root = 2;
	silent = true;
	for (uint32_t i = 0; i < 5; i++)
		come(SOCIAL);
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
	if (client_create(k.parts.router, fds[0], SOCIAL, 0) == 0)
		n++;
	else
		close(fds[0]);
	close(fds[1]);
	CU_ASSERT_EQUAL(n, 0);
	come(SOCIAL + 1);
	silent = false;
	wait_waiting(0);
	CU_ASSERT_EQUAL(k.parts.router->n_clients, 1); /* no manager is among them */
	come(SOCIAL);
	stop();
}

static void test_gone_before(void)
{
	struct client *a, *b;

	start();
	a = come(getuid());
	b = come(getuid());
	client_drop(a);
	wait_waiting(0);
	CU_ASSERT_EQUAL(b->user->error, 0);
	CU_ASSERT_EQUAL(k.parts.router->n_clients, 1);
	stop();
}

/* past kernel/request/users.c SHARES_MAX: the oldest goes */
static void test_more_than_are_kept(void)
{
	start();
	for (uint32_t i = 0; i < 1500; i++)
		know(0x70000000 + i);
	CU_ASSERT_EQUAL(k.parts.router->n_shares, 1024);
	CU_ASSERT_EQUAL(know(getuid())->error, 0);
	stop();
}

/* The user outlives everything else. */
static void test_reference(void)
{
	struct user *kept;

	start();
	kept = know(getuid());
	kept->refs++;
	stop();
	CU_ASSERT_PTR_NOT_NULL(strstr(kept->who, "@host1"));
	user_unref(kept);
}

static void test_destroyed_while_looking(void)
{
	start();
	come(getuid());
	come(WIDE);
	stop();
}

TESTS_MAIN("users", TEST(test_known), TEST(test_unknown), TEST(test_too_wide), TEST(test_many_groups),
	   TEST(test_left_group), TEST(test_silent), TEST(test_deciding), TEST(test_gone_before), TEST(test_more_than_are_kept),
	   TEST(test_reference), TEST(test_destroyed_while_looking))
