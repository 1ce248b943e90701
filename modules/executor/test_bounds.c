/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bounds.c - what is long, deep or many; how long a start waits.
 */
#pragma GCC diagnostic ignored "-Wunused-function" /* it needs some of the fixture */
#include "test_fixture.h"

/* past modules/executor/nursery.h NURSERY_ID_MAX */
static void test_longest_id(void)
{
	char id[232];

	memset(id, '7', sizeof(id));
	id[230] = '\0';
	begin();
	run(script_job(id, "exit 7\n"));
	CU_ASSERT_EQUAL(heard.ended, 1);
	CU_ASSERT_EQUAL(heard.status, 7);
	id[230] = '7';
	id[231] = '\0';
	CU_ASSERT_EQUAL(task_api.start(mod, script_job(id, "exit 7\n")), -ENAMETOOLONG);
	end();
}

/* Deeper than what is open at once, and a name that is taken already. */
static void test_deep_tree(void)
{
	char top[256], deep[300];
	int at, next;

	snprintf(top, sizeof(top), "%s/tree", base);
	snprintf(deep, sizeof(deep), "%s/deep.0", top);
	CU_ASSERT_EQUAL_FATAL(mkdir(top, 0755), 0);
	CU_ASSERT_EQUAL_FATAL(mkdir(deep, 0755), 0);
	at = open(top, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 1000; i++, at = next) {
		CU_ASSERT_EQUAL_FATAL(mkdirat(at, "d", 0755), 0);
		close(openat(at, "f", O_WRONLY | O_CREAT, 0644));
		next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		close(at);
	}
	close(at);
	tree_remove(top);
	CU_ASSERT_EQUAL(access(top, F_OK), -1);
}

/* On a disk that hosts share, the directory of a job is its primary's of now. */
static void test_whose_tree(void)
{
	char top[256], mark[300];

	snprintf(top, sizeof(top), "%s/shared", base);
	snprintf(mark, sizeof(mark), "%s/.keelson", top);
	CU_ASSERT_EQUAL_FATAL(mkdir(top, 0755), 0);
	CU_ASSERT_TRUE(tree_is_mine(top, "3", false)); /* no primary sees it */
	CU_ASSERT_EQUAL(tree_mark(top, "3"), 0);
	CU_ASSERT_TRUE(tree_is_mine(top, "3", true));
	CU_ASSERT_FALSE(tree_is_mine(top, "3", false));
	CU_ASSERT_TRUE(tree_is_mine(top, "4", false)); /* left over from an earlier run */
	CU_ASSERT_EQUAL(tree_mark(top, "10"), 0);
	CU_ASSERT_FALSE(tree_is_mine(top, "3", true)); /* it runs again elsewhere */
	CU_ASSERT_EQUAL(unlink(mark), 0);
	CU_ASSERT_EQUAL(symlink("/etc/hostname", mark), 0); /* it is the user's, who may do what users do */
	CU_ASSERT_TRUE(tree_is_mine(top, "3", false));
	CU_ASSERT_EQUAL(tree_mark(top, "3"), -ELOOP);
	CU_ASSERT_EQUAL(unlink(mark), 0);
	CU_ASSERT_EQUAL(mkfifo(mark, 0644), 0);
	CU_ASSERT_TRUE(tree_is_mine(top, "3", false));
	CU_ASSERT_EQUAL(tree_mark("/nowhere", "3"), -ENOENT);
}

static int others_heard;
static void other_started(struct keel_mod *m, struct keel_obj *job, int64_t session)
{
	(void)m, (void)job, (void)session;
	others_heard++;
}

/* As many as there are. */
static void test_listeners(void)
{
	static const struct keel_task_events other = { .size = sizeof(other), .started = other_started };
	static struct keel_mod more[20];

	begin();
	for (size_t i = 0; i < KEEL_COUNT(more); i++)
		CU_ASSERT_EQUAL(task_api.listen(mod, &more[i], &other), 0);
	CU_ASSERT_EQUAL(task_api.listen(mod, &more[3], NULL), 0);
	CU_ASSERT_EQUAL(task_api.listen(mod, &more[4], &other), 0);
	run(script_job("95.s", "exit 0\n"));
	CU_ASSERT_EQUAL(others_heard, 19);
	end();
}

static const char *this_host(struct keel_mod *m, const char *vnode)
{
	(void)m, (void)vnode;
	return "thishost";
}

static struct keel_mock_outcome decided;

static keel_verdict may_run(struct keel_obj *job, bool dry)
{
	return keel_mock_raise(mock, KEEL_POINT_start_now,
			       KEEL_EVENT(start_now, .id = keel_id(job), .job = job, .who = "who", .dry = dry,
					  .exec_vnode = dry ? "" : "(thishost:ncpus=2)"), &decided);
}

static bool is_decided(void *arg) { (void)arg; return decided.told; }

/* A start waits for a host that is linked and has not introduced itself, and fails no later than its link does. */
static void test_start_waits(void)
{
	struct keel_obj *job;

	begin();
	task_api.set_host_of(mod, mod, this_host);
	job = script_job("92.s", "true\n");
	CU_ASSERT_EQUAL(may_run(job, false), KEEL_NEXT);
	link_set(true); /* another link */
	CU_ASSERT_EQUAL(may_run(job, true), KEEL_NEXT);
	CU_ASSERT_EQUAL(may_run(job, false), KEEL_WAIT);
	CU_ASSERT_PTR_NOT_NULL(strstr(keel_mock_hold(mock, 0), "host thishost is to link again"));
	CU_ASSERT_EQUAL(task_api.start(mod, job), -ENOTCONN);
	CU_ASSERT(until(is_decided, DEADLINE_MS));
	CU_ASSERT_EQUAL(decided.verdict, KEEL_NEXT);
	run(job);
	CU_ASSERT_EQUAL(heard.ended, 1);
	link_set(true);
	CU_ASSERT_EQUAL(may_run(job, false), KEEL_WAIT);
	link_set(false);
	CU_ASSERT(until(is_decided, DEADLINE_MS));
	CU_ASSERT_EQUAL(decided.verdict, KEEL_NEXT);
	CU_ASSERT_EQUAL(task_api.start(mod, job), -ENOTCONN);
	CU_ASSERT_EQUAL(may_run(job, false), KEEL_NEXT);
	link_set(true);
	end();
}

TESTS_MAIN_BETWEEN("bounds", set_up, tear_down, TEST(test_longest_id), TEST(test_deep_tree), TEST(test_whose_tree),
		   TEST(test_listeners), TEST(test_start_waits))
