/* SPDX-License-Identifier: Apache-2.0
 *
 * test_evolution.c - modules of other minors: shorter structs are completed at the door, a newer minor is refused.
 */
#include "module/fixture.h"

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

TESTS_MAIN("module/evolution", TEST(shorter_structs_are_completed), TEST(a_newer_minor_is_refused_with_what_to_do))
