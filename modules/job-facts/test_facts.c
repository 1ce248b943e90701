/* SPDX-License-Identifier: Apache-2.0
 *
 * test_facts.c - attributes of jobs travel to their host, and are kept there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
static struct keel_mod *ours;
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
	ours = keel_mock_load(mock, &keel_module, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ours);
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
	heard.gone(ours, "7.svr", 1, true);
	CU_ASSERT_TRUE(is("7.svr", "Job_Name", "second"));
	heard.gone(ours, "7.svr", 2, false);
	CU_ASSERT_FALSE(facts->known(facts->self, "7.svr"));
}

static void a_daemon_that_was_restarted_knows_them(void)
{
	struct keel_obj *job = keel_mock_object(mock, "job", "7.svr");
	struct keel_err err;

	keel_mock_set(job, "run_version", NULL, "4");
	keel_mock_set(job, "Job_Name", NULL, "first");
	start_now(job, "(n1:ncpus=1)", 0);
	keel_mock_set(job, "Job_Name", NULL, "seven\n8.svr 1 1\n");
	start_now(job, "(n1:ncpus=1)", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ours = keel_mock_reload(ours, &err));
	facts = keel_mock_group(mock, "facts");
	CU_ASSERT_TRUE(is("7.svr", "Job_Name", "seven\n8.svr 1 1\n"));
	CU_ASSERT_FALSE(facts->known(facts->self, "8.svr"));
	heard.gone(ours, "7.svr", 4, false);
	CU_ASSERT_TRUE(facts->known(facts->self, "7.svr"));
	keel_mock_advance(mock, 3601 * 1000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ours = keel_mock_reload(ours, &err));
	facts = keel_mock_group(mock, "facts");
	CU_ASSERT_FALSE(facts->known(facts->self, "7.svr")); /* of no part, and nothing waits for them any more */
}

/* ---- the store ------------------------------------------------------------------------------------------------- */
static char path[512];

static void opened(struct store *s)
{
	*s = (struct store){ .fd = -1 };
	snprintf(path, sizeof(path), "%s/store", dir);
	CU_ASSERT_EQUAL_FATAL(store_open(s, path), 0);
}

static bool has(const struct store *s, const char *id, const char *name, const char *expected)
{
	const char *value = store_value(s, id, name);

	return expected ? value && strcmp(value, expected) == 0 : value == NULL;
}

static void ids_are_names(void)
{
	struct store s;
	char id[258];

	opened(&s);
	CU_ASSERT_EQUAL(store_put(&s, "../x", 1, "a\0b", 4, 1), -EINVAL);
	CU_ASSERT_EQUAL(store_put(&s, "", 1, "a\0b", 4, 1), -EINVAL);
	CU_ASSERT_EQUAL(store_put(&s, "1 2", 1, "a\0b", 4, 1), -EINVAL);
	memset(id, 'x', sizeof(id));
	id[256] = '\0';
	CU_ASSERT_EQUAL(store_put(&s, id, 1, "a\0b", 4, 1), -EINVAL);
	id[255] = '\0';
	CU_ASSERT_EQUAL(store_put(&s, id, 1, "a\0b", 4, 1), 0);
	store_close(&s);
	opened(&s);
	CU_ASSERT_TRUE(has(&s, id, "a", "b"));
	store_close(&s);
}

/* past modules/job-facts/store.h FACTS_MAX */
static void too_much_is_refused(void)
{
	char *bytes = calloc(1, FACTS_MAX + 1);
	struct store s;

	memset(bytes, 'x', FACTS_MAX - 1);
	bytes[1] = '\0';
	opened(&s);
	CU_ASSERT_EQUAL(store_put(&s, "1.svr", 1, bytes, FACTS_MAX + 1, 1), -E2BIG);
	CU_ASSERT_FALSE(store_has(&s, "1.svr"));
	CU_ASSERT_EQUAL(store_put(&s, "1.svr", 1, bytes, FACTS_MAX, 1), 0);
	free(bytes);
	store_close(&s);
	opened(&s);
	CU_ASSERT_TRUE_FATAL(store_has(&s, "1.svr"));
	CU_ASSERT_EQUAL(strlen(store_value(&s, "1.svr", "x")), FACTS_MAX - 3);
	store_close(&s);
}

/* What a file or a server says is looked at within its bytes. */
static void halves_have_no_value(void)
{
	struct store s;

	opened(&s);
	store_put(&s, "1.svr", 1, "a\0b", 3, 1);
	CU_ASSERT_TRUE(has(&s, "1.svr", "a", "b"));
	CU_ASSERT_TRUE(has(&s, "1.svr", "b", NULL));
	store_put(&s, "1.svr", 1, "a\0b", 2, 1);
	CU_ASSERT_TRUE(has(&s, "1.svr", "a", NULL));
	store_put(&s, "1.svr", 1, "", 0, 1);
	CU_ASSERT_TRUE(has(&s, "1.svr", "a", NULL));
	CU_ASSERT_TRUE(store_has(&s, "1.svr"));
	store_close(&s);
}

static bool all_are_kept(void *arg, const char *id, int64_t at)
{
	(void)arg, (void)id, (void)at;
	return true;
}

/* Killed in a write, at each of its bytes: what came before is there, and what comes after it. */
static void a_torn_tail_is_no_record(void)
{
	struct store s;
	off_t first, both;

	opened(&s);
	store_put(&s, "1.svr", 1, "a\0one", 6, 1);
	first = s.size;
	store_put(&s, "2.svr", 1, "a\0two", 6, 1);
	both = s.size;
	store_close(&s);
	for (off_t cut = both - 1; cut > first; cut--) {
		CU_ASSERT_EQUAL_FATAL(truncate(path, cut), 0);
		opened(&s);
		CU_ASSERT_TRUE(has(&s, "1.svr", "a", "one"));
		CU_ASSERT_FALSE(store_has(&s, "2.svr"));
		store_put(&s, "4.svr", 1, "a\0four", 7, 1); /* behind the tail: it is read by the next daemon */
		store_close(&s);
		opened(&s);
		CU_ASSERT_TRUE(has(&s, "4.svr", "a", "four"));
		CU_ASSERT_FALSE(store_has(&s, "2.svr"));
		store_close(&s);
		CU_ASSERT_EQUAL_FATAL(truncate(path, first), 0);
		opened(&s);
		store_put(&s, "2.svr", 1, "a\0two", 6, 1);
		store_close(&s);
	}
	CU_ASSERT_EQUAL_FATAL(truncate(path, first + 1), 0);
	opened(&s);
	CU_ASSERT_EQUAL(store_shorten(&s, all_are_kept, NULL), 0);
	store_put(&s, "3.svr", 1, "a\0three", 8, 1);
	store_close(&s);
	opened(&s);
	CU_ASSERT_TRUE(has(&s, "1.svr", "a", "one"));
	CU_ASSERT_TRUE(has(&s, "3.svr", "a", "three"));
	store_close(&s);
}

static bool are_young(void *arg, const char *id, int64_t at)
{
	(void)arg, (void)id;
	return at > 1;
}

static void a_long_file_is_shortened(void)
{
	char *bytes = calloc(1, 100000);
	struct store s;

	memcpy(bytes, "a\0b", 3);
	opened(&s);
	store_put(&s, "1.svr", 1, "a\0old", 6, 1);
	store_put(&s, "2.svr", 1, "a\0young", 8, 2);
	for (int i = 0; i < 11 && !store_is_long(&s); i++)
		CU_ASSERT_EQUAL(store_put(&s, "3.svr", 1, bytes, 100000, 2), 0);
	CU_ASSERT_TRUE(store_is_long(&s));
	store_drop(&s, "3.svr");
	CU_ASSERT_EQUAL(store_shorten(&s, are_young, NULL), 0);
	CU_ASSERT_FALSE(store_is_long(&s));
	CU_ASSERT_TRUE(s.size < 100);
	CU_ASSERT_FALSE(store_has(&s, "1.svr"));
	store_put(&s, "4.svr", 1, "a\0new", 6, 2); /* into the new file */
	store_close(&s);
	opened(&s);
	CU_ASSERT_TRUE(has(&s, "2.svr", "a", "young"));
	CU_ASSERT_TRUE(has(&s, "4.svr", "a", "new"));
	CU_ASSERT_FALSE(store_has(&s, "1.svr"));
	CU_ASSERT_FALSE(store_has(&s, "3.svr"));
	store_close(&s);
	free(bytes);
}

TESTS_MAIN_BETWEEN("job-facts", set_up, tear_down, TEST(attributes_are_on_the_host_before_the_start),
		   TEST(what_the_next_run_has_stays_when_the_last_one_goes),
		   TEST(a_daemon_that_was_restarted_knows_them), TEST(ids_are_names), TEST(too_much_is_refused),
		   TEST(halves_have_no_value), TEST(a_torn_tail_is_no_record), TEST(a_long_file_is_shortened))
