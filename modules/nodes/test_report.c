/* SPDX-License-Identifier: Apache-2.0
 *
 * test_report.c - mend B8: a host's report is not trusted.
 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "keel/mock.h"
#include "with_resources.h"

KEEL_ATTR_OF(node, Mom);

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static const struct keel_task_events *events;
static struct keel_mod *me;

static int32_t listen_here(struct keel_mod *mod, struct keel_mod *by, const struct keel_task_events *given)
{
	(void)mod, (void)by;
	events = given;
	return 0;
}

static void no_hosts(struct keel_mod *mod, struct keel_mod *by,
		     const char *(*host_of)(struct keel_mod *by, const char *vnode))
{
	(void)mod, (void)by, (void)host_of;
}

static void set_up(void)
{
	static const struct keel_task_api tasks = {
		.size = sizeof(tasks), .listen = listen_here, .set_host_of = no_hosts,
	};
	struct keel_module alone = keel_module;
	struct keel_err err = { 0 };

	mock = mock_with_resources();
	keel_mock_service(mock, "task", &tasks);
	alone.requires_modules = NULL;
	me = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(me);
	CU_ASSERT_PTR_NOT_NULL_FATAL(events);
}

static void say(const char *host, const char *item)
{
	const char *facts[] = { "ncpus=2", "mem=1024kb", "arch=linux", item };

	events->host_up(me, host, facts, 4);
}

static struct keel_obj *node(const char *name)
{
	return keel_find(me, "node", name);
}

static void test_strange_names_and_amounts(void)
{
	static const char *const items[] = {
		"vnode=n1:ncpus=3", "vnode=n1)+(n1", "vnode=..", "vnode=%s%n", "vnode=", "vnode=n1[0", "vnode=n1[]",
		"vnode=n1[0]x]", "vnode=n1/0", "vnode=n1 n2", "vnode=n2", "vnode=n10", "vnode=n1\033[2J", "ncpus=-4", "ncpus=1000001",
		"ncpus=2x", "ncpus=", "ncpus=99999999999999999999", "mem=-1kb", "mem=1gb", "pcpus=-1", "arch=a b", "arch=",
		"sharing=\n", "rubbish",
	};

	set_up();
	for (size_t i = 0; i < KEEL_COUNT(items); i++) {
		say("n1", items[i]);
		CU_ASSERT_PTR_NULL(node("n1"));
		if (node("n1"))
			fprintf(stderr, "taken: %s\n", items[i]);
	}
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "what host n1 reports is refused, its vnodes stay as they are: \"ncpus=-4\""));
	say("n1", "vnode=n1");
	say("n2", "vnode=n2[0]");
	CU_ASSERT_PTR_NOT_NULL(node("n1"));
	CU_ASSERT_PTR_NOT_NULL(node("n2[0]"));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

/* past modules/nodes/report.c NAME_MAX_LENGTH */
static void test_long_names_are_refused(void)
{
	char item[6 + 300] = "vnode=";
	char *host = item + 6;

	set_up();
	memset(host, 'a', 256);
	say(host, "arch=linux");
	CU_ASSERT_PTR_NULL(node(host));
	host[255] = '\0';
	say(host, item);
	CU_ASSERT_PTR_NOT_NULL(node(host));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

/* past modules/nodes/report.c WORD_MAX_LENGTH */
static void test_long_words_are_refused(void)
{
	char item[100];

	set_up();
	for (int more = 1; more >= 0; more--) {
		snprintf(item, sizeof(item), "sharing=%0*d", 64 + more, 0);
		say("n1", item);
		CU_ASSERT_EQUAL(node("n1") == NULL, more);
	}
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "this is no word"));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

/* That of the host, not of the server; in one line, past modules/nodes/report.c WORD_MAX_LENGTH it is refused. */
static void test_versions(void)
{
	static const char *const bad[] = { "version=", "version=1\n2", "version=\033[31m", NULL };
	char item[100];

	set_up();
	for (int i = 0; bad[i]; i++)
		say("n1", bad[i]);
	snprintf(item, sizeof(item), "version=%065d", 0);
	say("n1", item);
	CU_ASSERT_PTR_NULL(node("n1"));
	say("n1", "version=22.05 (Keelson 0.0.9)");
	CU_ASSERT_PTR_NOT_NULL_FATAL(node("n1"));
	CU_ASSERT_STRING_EQUAL(keel_mock_text(node("n1"), "pbs_version", NULL), "22.05 (Keelson 0.0.9)");
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static void test_vnodes_that_were_allowed(void)
{
	struct keel_obj *given;

	set_up();
	given = keel_mock_object(mock, "node", "special");
	keel_set_text(given, node_Mom, KEEL_SET, NULL, "n1", NULL);
	say("n2", "vnode=special");
	CU_ASSERT_PTR_NULL(node("n2"));
	say("n1", "vnode=special");
	CU_ASSERT_PTR_NOT_NULL(node("n1"));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static void test_one_vnode_too_many(void)
{
	enum { MOST = 4096 };
	static char names[MOST + 1][24];
	static const char *facts[MOST + 1];

	for (int i = 0; i <= MOST; i++) {
		snprintf(names[i], sizeof(names[i]), "vnode=n1[%d]", i);
		facts[i] = names[i];
	}
	set_up();
	events->host_up(me, "n1", facts, MOST + 1);
	CU_ASSERT_PTR_NULL(node("n1"));
	events->host_up(me, "n1", facts, MOST);
	CU_ASSERT_PTR_NOT_NULL(node("n1[4095]"));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

TESTS_MAIN("report", TEST(test_strange_names_and_amounts), TEST(test_long_names_are_refused),
	   TEST(test_long_words_are_refused),
	   TEST(test_versions), TEST(test_vnodes_that_were_allowed), TEST(test_one_vnode_too_many))
