/* SPDX-License-Identifier: Apache-2.0
 *
 * test_slots.c - a job gets its vnodes: all of them or none, and where it has them already the same again.
 */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "harness.h"
#include "keel/mock.h"

#define JOB "1.svr"
#define PLACES "(n1:ncpus=2)+(n1:ncpus=1)+(n2:ncpus=2)"
#define HOSTS "n1/0*2+n1/2+n2/0*2"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static const struct keel_node_api *nodes;
static struct keel_obj *vnode[2];

static int32_t listen_to_nobody(struct keel_mod *mod, struct keel_mod *me, const struct keel_task_events *events)
{
	(void)mod, (void)me, (void)events;
	return 0;
}

static void no_hosts(struct keel_mod *mod, struct keel_mod *me,
		     const char *(*host_of)(struct keel_mod *me, const char *vnode))
{
	(void)mod, (void)me, (void)host_of;
}

static void set_up(void)
{
	static const struct keel_task_api tasks = {
		.size = sizeof(tasks), .listen = listen_to_nobody, .set_host_of = no_hosts,
	};
	const char *build = getenv("KEELSON_BUILD");
	struct keel_module alone = keel_module;
	struct keel_err err = { 0 };
	char path[4096];

	mock = keel_mock_new(KEEL_SERVER);
	snprintf(path, sizeof(path), "%s/modules/resources.so", build != NULL ? build : ".");
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load_file(mock, path, NULL, &err));
	keel_mock_service(mock, "task", &tasks);
	alone.requires_modules = NULL;
	CU_ASSERT_PTR_NOT_NULL(keel_mock_load(mock, &alone, NULL, &err));
	CU_ASSERT_STRING_EQUAL_FATAL(err.text, "");
	nodes = keel_mock_group(mock, "node");
	for (int i = 0; i < 2; i++) {
		const char *const names[] = { "n1", "n2" };

		vnode[i] = keel_mock_object(mock, "node", names[i]);
		keel_mock_set(vnode[i], "Mom", NULL, names[i]);
	}
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static void assigned(const char *hosts)
{
	struct keel_err err = { 0 };
	char *got = NULL;

	CU_ASSERT_EQUAL_FATAL(nodes->assign(nodes->self, JOB, PLACES, KEEL_SHARE_SHARED, &got, &err), 0);
	CU_ASSERT_STRING_EQUAL(got, hosts);
	free(got);
}

static void the_same_again(void)
{
	assigned(HOSTS);
	assigned(HOSTS);
	CU_ASSERT_EQUAL(nodes->jobs_on(nodes->self, vnode[0]), 1);
	nodes->release(nodes->self, JOB, PLACES, NULL, true);
	CU_ASSERT_EQUAL(nodes->jobs_on(nodes->self, vnode[0]), 0);
}

/* The second vnode is more than there is memory for. Sanitizers have an address space of their own. */
static void refused_it_is_nowhere(void)
{
#if !defined(__SANITIZE_ADDRESS__)
	struct rlimit before;
	struct keel_err err = { 0 };
	char *got = NULL;
	int32_t code;

	getrlimit(RLIMIT_AS, &before);
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_AS, &(struct rlimit){ 1u << 30, before.rlim_max }), 0);
	code = nodes->assign(nodes->self, JOB, "(n1:ncpus=2)+(n2:ncpus=500000000)", KEEL_SHARE_SHARED, &got, &err);
	setrlimit(RLIMIT_AS, &before);
	CU_ASSERT_EQUAL(code, PBSE_SYSTEM);
	CU_ASSERT_PTR_NULL(got);
	CU_ASSERT_EQUAL(nodes->jobs_on(nodes->self, vnode[0]), 0);
	CU_ASSERT_EQUAL(nodes->jobs_on(nodes->self, vnode[1]), 0);
#endif
	assigned(HOSTS);
}

TESTS_MAIN_BETWEEN("slots", set_up, tear_down, TEST(the_same_again), TEST(refused_it_is_nowhere))
