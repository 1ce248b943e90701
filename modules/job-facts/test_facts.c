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
	keel_mock_service(mock, "node", &node);
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

static void ids_are_no_paths(void)
{
	const struct facts f = { .bytes = (char[]){ "a\0b" }, .len = 4 };

	CU_ASSERT_FALSE(store_id_ok("../x"));
	CU_ASSERT_FALSE(store_id_ok(".x"));
	CU_ASSERT_FALSE(store_id_ok(""));
	CU_ASSERT_FALSE(store_id_ok(NULL));
	CU_ASSERT_EQUAL(store_write("/nowhere", "1.svr", &f), -ENOENT);
	CU_ASSERT_PTR_NULL(facts->text(facts->self, "../../etc/passwd", "x"));
}

static bool file_is(const char *id)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/mom_priv/facts/%s", dir, id);
	return access(path, F_OK) == 0;
}

static void file_unlink(const char *id)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/mom_priv/facts/%s", dir, id);
	CU_ASSERT_EQUAL(unlink(path), 0);
}

static void a_daemon_that_was_restarted_knows_them(void)
{
	struct keel_obj *job = keel_mock_object(mock, "job", "7.svr");
	struct keel_err err;

	keel_mock_set(job, "Job_Name", NULL, "seven");
	start_now(job, "(n1:ncpus=1)", 0);
	file_unlink("7.svr"); /* no file is read where the daemon has it in memory */
	CU_ASSERT_TRUE(is("7.svr", "Job_Name", "seven"));
	start_now(job, "(n1:ncpus=1)", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ours = keel_mock_reload(ours, &err));
	facts = keel_mock_group(mock, "facts");
	CU_ASSERT_TRUE(is("7.svr", "Job_Name", "seven"));
}

/* past modules/job-facts/job-facts.c KEPT_MAX */
static void of_many_jobs_the_files_are_read(void)
{
	struct keel_obj *job;
	char id[32];

	for (int i = 0; i <= 1024; i++) {
		snprintf(id, sizeof(id), "%d.svr", i);
		job = keel_mock_object(mock, "job", id);
		keel_mock_set(job, "Job_Name", NULL, id);
		start_now(job, "(n1:ncpus=1)", 0);
	}
	CU_ASSERT_TRUE(is("0.svr", "Job_Name", "0.svr"));
	CU_ASSERT_TRUE(file_is("1.svr"));
	file_unlink("1.svr"); /* the oldest now */
	file_unlink("1024.svr");
	CU_ASSERT_FALSE(facts->known(facts->self, "1.svr"));
	CU_ASSERT_TRUE(is("1024.svr", "Job_Name", "1024.svr"));
}

/* past modules/job-facts/store.h FACTS_MAX */
static void too_much_is_refused(void)
{
	char *bytes = calloc(1, FACTS_MAX + 1);
	struct facts f = { .bytes = bytes, .len = FACTS_MAX + 1 };

	memset(bytes, 'x', FACTS_MAX - 1);
	bytes[1] = '\0';
	CU_ASSERT_EQUAL(store_write(dir, "1.svr", &f), -E2BIG);
	f.len = FACTS_MAX;
	CU_ASSERT_EQUAL(store_write(dir, "1.svr", &f), 0);
	free(bytes);
	f = store_read(dir, "1.svr");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f.bytes);
	CU_ASSERT_EQUAL(strlen(facts_value(&f, "x")), FACTS_MAX - 3);
	free(f.bytes);
}

/* What a file or a server says is looked at within its bytes. */
static void halves_have_no_value(void)
{
	struct facts f = facts_copy("a\0b", 3);

	CU_ASSERT_STRING_EQUAL(facts_value(&f, "a"), "b");
	CU_ASSERT_PTR_NULL(facts_value(&f, "b"));
	f.len = 2;
	CU_ASSERT_PTR_NULL(facts_value(&f, "a"));
	f.len = 0;
	CU_ASSERT_PTR_NULL(facts_value(&f, "a"));
	free(f.bytes);
}

TESTS_MAIN_BETWEEN("job-facts", set_up, tear_down, TEST(attributes_are_on_the_host_before_the_start), TEST(ids_are_no_paths),
		   TEST(a_daemon_that_was_restarted_knows_them), TEST(of_many_jobs_the_files_are_read), TEST(too_much_is_refused),
		   TEST(halves_have_no_value))
