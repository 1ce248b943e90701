/* SPDX-License-Identifier: Apache-2.0
 *
 * test_evolution.c - modules of other minors: what was built with frozen headers behaves, shorter structs are
 * completed at the door, a newer minor is refused.
 *
 * tests/frozen/<version>/veteran.so is tests/fixtures/frozen/veteran.c, built with the frozen headers of each
 * version in sdk/abi.
 */
#include <glob.h>
#include <stdlib.h>

#include "module/fixture.h"
#include "util/text.h"

static const struct keel_object_api *object;
static const struct keel_hook_api *hook;
static struct keel_obj *job;

static struct keel_outcome last;
static void done(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	(void)m;
	(void)arg;
	last = *o;
}

static keel_verdict raise_about(uint32_t point, const void *event)
{
	last = (struct keel_outcome){ 0 };
	return hook->raise(&k.self.pub, &(struct keel_raise){ .size = sizeof(struct keel_raise), .point = point,
							      .event = event, .done = done });
}
#define RAISE(point, ...) raise_about(KEEL_POINT_##point, KEEL_EVENT(point, __VA_ARGS__))
#define NOTE(point, ...) hooks_note(k.parts.hooks, KEEL_POINT_##point, KEEL_EVENT(point, __VA_ARGS__))

static void job_make(const char *id)
{
	object = registry_service(k.parts.registry, "object", 0, NULL, NULL);
	hook = registry_service(k.parts.registry, "hook", 0, NULL, NULL);
	job = object->draft(&k.self.pub, "job", id, &k.err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(job);
	CU_ASSERT_EQUAL(object->publish(job), 0);
}

static bool is_colour(const char *expected)
{
	char text[32] = "";

	object->text(job, object->attr(&k.self.pub, "job", "colour"), NULL, text, sizeof(text));
	return strcmp(text, expected) == 0;
}

static bool is_decided(void *arg)
{
	(void)arg;
	return last.size != 0;
}

/* The operation that waits goes on in a later turn of the loop. */
static void wait_for_decision(void)
{
	loop_run_until(k.parts.loop, is_decided, NULL, loop_now_ms(k.parts.loop) + 10000);
}

/* ---- a module of each released version --------------------------------------------------------------- */
static char *group(const char *so, const char *more)
{
	return text_format("veteran: { path = \"%s\"; %s }", so, more);
}

static void its_taps_answer(void)
{
	char names[64] = "";

	CU_ASSERT_EQUAL(RAISE(job_modify, .id = "1.svr", .job = job), KEEL_NEXT);
	CU_ASSERT_TRUE(logged("Veteran;blue;would be"));
	CU_ASSERT_TRUE(is_colour("blue"));
	CU_ASSERT_TRUE(logged("Veteran;1.svr;changed"));
	CU_ASSERT_EQUAL(RAISE(job_delete, .id = "1.svr", .job = job), KEEL_WAIT);
	NOTE(job_purged, .id = "1.svr", .job = job);
	wait_for_decision();
	CU_ASSERT_TRUE(logged("Veteran;1.svr;purged"));
	CU_ASSERT_TRUE(logged("Veteran;after the hold;went on"));
	CU_ASSERT_EQUAL(last.verdict, KEEL_DONE);
	CU_ASSERT_EQUAL(hook->fold(&k.self.pub, KEEL_POINT_job_rank, KEEL_EVENT(job_rank, .id = "1.svr"), names,
				   sizeof(names)),
			7);
	CU_ASSERT_EQUAL(RAISE(suspend_release, .id = "1.svr", .job = job), KEEL_DONE);
	NOTE(job_obit, .id = "1.svr", .job = job);
	CU_ASSERT_TRUE(logged("Veteran;job_obit;any"));
}

struct veteran_api {
	uint32_t size, version;
	struct keel_mod *self;
	int64_t (*known)(struct keel_mod *);
	void (*not_yet)(void); /* newer than the module */
};

static void its_service_answers(void)
{
	const struct veteran_api *api = registry_service(k.parts.registry, "veteran", 3, NULL, &k.err);

	CU_ASSERT_PTR_NOT_NULL_FATAL(api);
	CU_ASSERT_EQUAL(api->known(api->self), 0);
	CU_ASSERT_PTR_NULL(api->not_yet);
	CU_ASSERT_PTR_NULL(registry_service(k.parts.registry, "veteran", 4, NULL, &k.err));
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "upgrade veteran"));
}

static void one_behaves(const char *so)
{
	char *plain = group(so, ""), *strict = group(so, "strict = true; word = \"he\";");
	char *bad = group(so, "strict = true; limit = 9;");

	kernel_start();
	CU_ASSERT_EQUAL_FATAL(up(plain), 0);
	CU_ASSERT_TRUE(logged("Veteran;without it;started"));
	job_make("1.svr");
	CU_ASSERT_TRUE(is_colour("red"));
	its_taps_answer();
	its_service_answers();
	CU_ASSERT(reload(bad) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "do not go together"));
	CU_ASSERT_EQUAL(reload(strict), 0);
	CU_ASSERT_TRUE(logged("Veteran;he;configured"));
	CU_ASSERT_EQUAL(RAISE(job_modify, .id = "1.svr", .job = job), KEEL_REJECT);
	CU_ASSERT_EQUAL(last.code, 15007);
	modules_stop(k.parts.modules);
	CU_ASSERT_TRUE(logged("stopped"));
	kernel_stop();
	free(plain);
	free(strict);
	free(bad);
}

static void what_was_built_with_frozen_headers_behaves(void)
{
	char *pattern = path_join(fixtures_dir(), "../frozen/*/veteran.so");
	glob_t found = { 0 };

	CU_ASSERT_EQUAL_FATAL(glob(pattern, 0, NULL, &found), 0);
	CU_ASSERT(found.gl_pathc > 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *so = realpath(found.gl_pathv[i], NULL);

		one_behaves(so);
		free(so);
	}
	globfree(&found);
	free(pattern);
}

/* ---- shorter structs ------------------------------------------------------------------------------------ */
static void shorter_structs_are_completed(void)
{
	kernel_start();
	CU_ASSERT_EQUAL_FATAL(up("older: { limit = 4; }"), 0);
	job_make("1.svr");
	CU_ASSERT_TRUE(is_colour(""));
	CU_ASSERT_EQUAL(RAISE(job_delete, .id = "1.svr", .job = job), KEEL_WAIT);
	NOTE(job_purged, .id = "1.svr", .job = job);
	wait_for_decision();
	CU_ASSERT_EQUAL(last.verdict, KEEL_NEXT);
	CU_ASSERT_TRUE(logged("Older;;went on"));
	CU_ASSERT_TRUE(logged("Older;1.svr;purged"));
	CU_ASSERT_TRUE(logged("Older;1.svr;release, the rest is zero"));
	CU_ASSERT_FALSE(logged("rubbish"));
	CU_ASSERT_FALSE(logged("took what is not there"));
	CU_ASSERT(reload("older: { limit = 12; }") < 0);
	CU_ASSERT_EQUAL(reload(""), 0);
	kernel_stop();
}

static void a_newer_minor_is_refused_with_what_to_do(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(load("newer: { }"), -EPROTO);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "module interface 1.1, this daemon has 1.0"));
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "upgrade keelson, or build the module with -DKEEL_SDK_TARGET=0"));
	kernel_stop();
}

TESTS_MAIN("module/evolution", TEST(what_was_built_with_frozen_headers_behaves),
	   TEST(shorter_structs_are_completed), TEST(a_newer_minor_is_refused_with_what_to_do))
