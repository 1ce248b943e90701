/* SPDX-License-Identifier: Apache-2.0
 *
 * test_facts.c - attributes of jobs travel to their host, and are kept there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"
#include "keel/keel.h"
#include "keel/mock.h"
#include "keel/service/facts.h"
#include "keel/service/node.h"
#include "keel/service/part.h"
#include "store.h"

extern const struct keel_module keel_module;
static const struct keel_host_fact_def name_fact = { .size = sizeof(name_fact), .name = "Job_Name", .doc = "a test" };
static const struct keel_host_fact_def files_fact = { .size = sizeof(files_fact), .name = "files", .doc = "a test" };
static const struct keel_contrib rows[] = { KEEL_ROW(HOST_FACT, name_fact), KEEL_ROW(HOST_FACT, files_fact) };
static struct keel_kernel kernel = { .size = sizeof(kernel) };
static const struct keel_module wants = {
	.magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .abi_minor = KEEL_SDK_TARGET, .size = sizeof(wants), .kernel = &kernel,
	.name = "wants", .version = "1", .summary = "a test", .roles = KEEL_SERVER | KEEL_MOM, KEEL_CONTRIBS(rows),
};

static const char *host_of(struct keel_mod *mod, const char *vnode)
{
	(void)mod;
	return strcmp(vnode, "n1") == 0 ? "mockhost" : NULL;
}
static const struct keel_node_api node = { .size = sizeof(node), .host_of = host_of };

static struct keel_part_events heard;

static int32_t listen(struct keel_mod *mod, struct keel_mod *me, const struct keel_part_events *events)
{
	(void)mod, (void)me;
	heard = events ? *events : (struct keel_part_events){ 0 };
	return 0;
}

static const struct keel_part *no_part(struct keel_mod *mod, const char *id)
{
	(void)mod, (void)id;
	return NULL;
}
static const struct keel_part_api part = { .size = sizeof(part), .listen = listen, .find = no_part };

static struct keel_mock *mock;
static struct keel_mod *module;
static char *dir;
static const struct keel_facts_api *facts;

static void set_up(void)
{
	struct keel_err err;
	char path[512];

	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/mom_priv", dir);
	mkdir(path, 0755);
	mock = keel_mock_new(KEEL_SERVER | KEEL_MOM);
	keel_mock_home(mock, dir);
	keel_mock_loopback(mock, true);
	keel_mock_attr(mock, "job", "Job_Name", "string");
	keel_mock_attr(mock, "job", "files", "string_array");
	keel_mock_attr(mock, "job", "run_version", "long");
	keel_mock_service(mock, "node", &node);
	keel_mock_service(mock, "part", &part);
	module = keel_mock_load(mock, &keel_module, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &wants, NULL, &err));
	facts = keel_mock_group(mock, "facts");
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

static bool is(const char *id, const char *attr, const char *expected)
{
	char *text = facts->text(facts->self, id, attr);
	bool ret = expected ? text && strcmp(text, expected) == 0 : text == NULL;

	free(text);
	return ret;
}

static void start_now(struct keel_obj *job, const char *vnodes, int64_t dry)
{
	keel_mock_raise(mock, KEEL_POINT_start_now,
			KEEL_EVENT(start_now, .id = keel_id(job), .job = job, .exec_vnode = vnodes, .who = "test", .dry = dry), NULL);
	keel_mock_advance(mock, 0);
}

static void attributes_are_on_the_host_before_the_start(void)
{
	struct keel_obj *job = keel_mock_object(mock, "job", "7[3].svr");

	keel_mock_set(job, "Job_Name", NULL, "a \"b\"\nc");
	start_now(job, "(n1:ncpus=1)", 1);
	CU_ASSERT_FALSE(facts->known(facts->self, "7[3].svr"));
	start_now(job, "(n1:ncpus=1)+(n2:ncpus=1)", 0);
	CU_ASSERT_TRUE(facts->known(facts->self, "7[3].svr"));
	CU_ASSERT_TRUE(is("7[3].svr", "Job_Name", "a \"b\"\nc"));
	CU_ASSERT_TRUE(is("7[3].svr", "files", NULL));
	CU_ASSERT_TRUE(is("8.svr", "Job_Name", NULL));
	keel_mock_set(job, "Job_Name", NULL, NULL);
	keel_mock_set(job, "files", NULL, "x@h:/a,y@h:/b");
	start_now(job, "(n1:ncpus=1)", 0);
	CU_ASSERT_TRUE(is("7[3].svr", "Job_Name", NULL));
	CU_ASSERT_TRUE(is("7[3].svr", "files", "x@h:/a,y@h:/b"));
	start_now(job, "(n9:ncpus=1)", 0); /* a vnode that is not known */
}

/* A host that was away is started anew while it still ends the last run. */
static void what_the_next_run_has_stays_when_the_last_one_goes(void)
{
	struct keel_obj *job = keel_mock_object(mock, "job", "7.svr");

	keel_mock_set(job, "Job_Name", NULL, "second");
	keel_mock_set(job, "run_version", NULL, "1");
	start_now(job, "(n1:ncpus=1)", 0); /* the second run */
	heard.gone(module, "7.svr", 1, true);
	CU_ASSERT_TRUE(is("7.svr", "Job_Name", "second"));
	heard.gone(module, "7.svr", 2, false);
	CU_ASSERT_FALSE(facts->known(facts->self, "7.svr"));
}

static void ids_are_no_paths(void)
{
	const char *name = "a", *value = "b";

	CU_ASSERT_FALSE(store_id_ok("../x"));
	CU_ASSERT_FALSE(store_id_ok(".x"));
	CU_ASSERT_FALSE(store_id_ok(""));
	CU_ASSERT_FALSE(store_id_ok(NULL));
	CU_ASSERT_EQUAL(store_write("/nowhere", "1.svr", &name, &value, 1), -ENOENT);
	CU_ASSERT_PTR_NULL(facts->text(facts->self, "../../etc/passwd", "x"));
}

/* past modules/job-facts/store.h FACTS_MAX */
static void too_much_is_refused(void)
{
	char *text = malloc(FACTS_MAX + 1);
	const char *name = "a", *value = text;

	memset(text, 'x', FACTS_MAX);
	text[FACTS_MAX] = '\0';
	CU_ASSERT_EQUAL(store_write(dir, "1.svr", &name, &value, 1), -E2BIG);
	text[FACTS_MAX - 3] = '\0';
	CU_ASSERT_EQUAL(store_write(dir, "1.svr", &name, &value, 1), 0);
	free(text);
	text = store_read(dir, "1.svr", "a");
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_EQUAL(strlen(text), FACTS_MAX - 3);
	free(text);
}

TESTS_MAIN_BETWEEN("job-facts", set_up, tear_down, TEST(attributes_are_on_the_host_before_the_start), TEST(what_the_next_run_has_stays_when_the_last_one_goes),
		   TEST(ids_are_no_paths),
		   TEST(too_much_is_refused))
