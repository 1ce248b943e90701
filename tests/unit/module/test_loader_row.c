/* SPDX-License-Identifier: Apache-2.0
 *
 * test_loader_row.c - modules that load others, by a key of their groups.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "module/fixture.h"
#include "util/text.h"

static bool is_mapped(const char *name)
{
	char *path = text_format("%s/%s.so", fixtures_dir(), name);
	void *so = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	free(path);
	if (so != NULL)
		dlclose(so);
	return so != NULL;
}

static bool turned(void *arg)
{
	return ++*(int *)arg > 5;
}

static void submit(void)
{
	const struct keel_hook_api *hook = registry_service(k.parts.registry, "hook", 0, NULL, NULL);

	hook->raise(&k.self.pub, &(struct keel_raise){ .size = sizeof(struct keel_raise), .point = KEEL_POINT_job_submit,
						       .event = KEEL_EVENT(job_submit, .id = "1.svr", .who = "me") });
	loop_run_until(k.parts.loop, turned, &(int){ 0 }, 1000);
}

static void a_module_is_lent_and_not_mapped(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("lease: { lent = \"yes\"; }\nlender: { }"), 0);
	CU_ASSERT_FALSE(is_mapped("lease"));
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "lease, lent by lender"));
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "\tinside\t"));
	submit();
	CU_ASSERT_TRUE(logged("lent lease: the system waits"));
	kernel_stop();
}

static void its_first_choice_is_to_be_mapped(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_queued: { lent = \"no\"; }\nlender: { }"), 0);
	CU_ASSERT_TRUE(is_mapped("job_queued"));
	CU_ASSERT_PTR_NULL(strstr(described(), "lent by"));
	kernel_stop();
}

static void refused(const char *conf, const char *text)
{
	kernel_start();
	CU_ASSERT(up(conf) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, text));
	CU_ASSERT_STRING_EQUAL(described(), "\n");
	kernel_stop();
}

/* Another one fails while it is not ready yet. */
static void it_goes_before_its_lender(void)
{
	kernel_start();
	CU_ASSERT(up("failing_init: { }\nlease: { lent = \"yes\"; }\nlender: { }") < 0);
	modules_stop(k.parts.modules);
	CU_ASSERT_TRUE(logged("0 are lent still"));
	kernel_stop();
}

static void a_key_that_no_module_offers_is_refused(void)
{
	refused("job_queued: { lent = \"yes\"; }", "job_queued.lent: expected a known key");
	refused("job_queued: { lent = \"yes\"; }\nlender: { enabled = false; }", "job_queued.lent: expected a known key");
}

static void its_keys_are_checked_like_any(void)
{
	refused("job_queued: { lent = \"perhaps\"; }\nlender: { }",
		"job_queued.lent: expected one of \"no\", \"yes\", got \"perhaps\"");
	refused("job_queued: { lent = \"yes\"; lent_how = { now = 1; }; }\nlender: { }",
		"job_queued.lent_how.now: expected a known key");
	refused("job_queued: { lent = \"yes\"; lent_how = 7; }\nlender: { }", "job_queued.lent_how: expected a group");
}

/* An object that is there before the module. */
static void job_make(void)
{
	static const struct keel_class_def job = { .size = sizeof(job), .name = "job", .doc = "a test",
						   .known_point = KEEL_POINT_job_known };
	static const struct keel_contrib rows[] = { KEEL_ROW(CLASS, job) };
	const struct keel_object_api *object = registry_service(k.parts.registry, "object", 0, NULL, NULL);

	CU_ASSERT_EQUAL_FATAL(registry_add(k.parts.registry, &k.self, rows, 1, &k.err), 0);
	object->publish(object->draft(&k.self.pub, "job", "1.svr", NULL));
}

static int times_known(void)
{
	char *log = log_text();
	int n = 0;

	for (const char *at = log; (at = strstr(at, "knows 1.svr")) != NULL; at++)
		n++;
	free(log);
	return n;
}

static void a_replay_is_for_one_module(void)
{
	kernel_start();
	job_make();
	CU_ASSERT_EQUAL(up("lease: { lent = \"yes\"; lent_how = { then = \"replay\"; }; }\n"
			   "start_job: { lent = \"yes\"; }\nlender: { }"), 0);
	CU_ASSERT_EQUAL(times_known(), 3);
	registry_remove(k.parts.registry, &k.self);
	kernel_stop();
}

static void a_benched_module_is_not_called(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("lease: { lent = \"yes\"; lent_how = { then = \"bench\"; }; }\nlender: { }"), 0);
	submit();
	CU_ASSERT_FALSE(logged("waits"));
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "benched"));
	kernel_stop();
}

static void other_words_are_another_set(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_started: { lent = \"yes\"; }\nlender: { }"), 0);
	CU_ASSERT_EQUAL(reload("job_started: { lent = \"yes\"; }\nlender: { }"), 0);
	CU_ASSERT_FALSE(k.renewed);
	CU_ASSERT_EQUAL(reload("job_started: { lent = \"yes\"; lent_how = { then = \"bench\"; }; }\nlender: { }"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "benched"));
	CU_ASSERT_EQUAL(reload("job_started: { }\nlender: { }"), 0);
	CU_ASSERT_PTR_NULL(strstr(described(), "lent by"));
	kernel_stop();
}

TESTS_MAIN("module/loader_row", TEST(a_module_is_lent_and_not_mapped), TEST(its_first_choice_is_to_be_mapped), TEST(it_goes_before_its_lender),
	   TEST(a_key_that_no_module_offers_is_refused), TEST(its_keys_are_checked_like_any),
	   TEST(a_replay_is_for_one_module), TEST(a_benched_module_is_not_called), TEST(other_words_are_another_set))
