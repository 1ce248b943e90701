/* SPDX-License-Identifier: Apache-2.0
 *
 * test_filter.c - the kind FILTER: taps that are called for some events only.
 */
#include <stdlib.h>

#include "hook/engine.h"

static uint32_t made, dropped;
static char subject[16]; /* events about it pass */

static void *make(struct keel_mod *owner, const struct keel_mod *mod, const struct keel_match *match, uint32_t n,
		  struct keel_err *err)
{
	(void)owner, (void)n;
	if (strcmp(match->pattern, "bad") == 0) {
		snprintf(err->text, sizeof(err->text), "%s: %s: a bad pattern", match->where, mod->name);
		return NULL;
	}
	made++;
	snprintf(subject, sizeof(subject), "%s", match->pattern);
	return subject;
}

static void drop(struct keel_mod *owner, void *filter)
{
	(void)owner, (void)filter;
	dropped++;
}

static bool passes(struct keel_mod *owner, void *filter, uint32_t point, const void *event)
{
	const struct keel_ev_job_submit *ev = event;

	(void)owner;
	return point == KEEL_POINT_job_submit && strcmp(ev->id, filter) == 0;
}

static const struct keel_filter_def filter = { .size = sizeof(filter), .name = "test", .doc = "a test",
					       .make = make, .drop = drop, .passes = passes };

static int offer(const struct keel_filter_def *def)
{
	return registry_add(e.parts.registry, &e.beta, &(struct keel_contrib){ "FILTER", def }, 1, &e.err);
}

static int match(const char *pattern)
{
	struct keel_match row = { .scope = (char *)(uintptr_t)"id", .pattern = (char *)(uintptr_t)pattern,
				  .where = (char *)(uintptr_t)"here:1" };

	return hooks_filter(e.parts.hooks, &e.alpha, &row, 1, &e.err);
}

static keel_verdict one(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	note_down("one:%s", ev->id);
	return KEEL_NEXT;
}

static keel_verdict any(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_job_submit *ev = event;

	(void)c, (void)point, (void)arg;
	note_down("any:%s", ev->id);
	return KEEL_NEXT;
}

static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, one) };

static const char *both(void)
{
	trace[0] = '\0';
	RAISE(job_submit, .id = "1.svr");
	RAISE(job_submit, .id = "7.svr");
	return trace;
}

static void begin(void)
{
	engine_start();
	made = dropped = 0;
	CU_ASSERT_EQUAL(ATTACH(e.alpha, alpha), 0);
}

static void taps_are_called_for_what_passes(void)
{
	begin();
	CU_ASSERT_EQUAL(offer(&filter), 0);
	CU_ASSERT_STRING_EQUAL(both(), "one:1.svr done one:7.svr done");
	CU_ASSERT_EQUAL(match("7.svr"), 0);
	CU_ASSERT_STRING_EQUAL(both(), "done one:7.svr done");
	CU_ASSERT_EQUAL(e.hook->tap_add(&e.alpha.pub, KEEL_POINT_job_submit, "any", 5, any, NULL, &e.err), 0);
	CU_ASSERT_STRING_EQUAL(both(), "done one:7.svr any:7.svr done");
	CU_ASSERT_EQUAL(match("bad"), -EINVAL);
	CU_ASSERT_STRING_EQUAL(e.err.text, "here:1: alpha: a bad pattern");
	CU_ASSERT_STRING_EQUAL(both(), "done one:7.svr any:7.svr done");
	CU_ASSERT_EQUAL(hooks_filter(e.parts.hooks, &e.alpha, NULL, 0, &e.err), 0);
	CU_ASSERT_STRING_EQUAL(both(), "one:1.svr any:1.svr done one:7.svr any:7.svr done");
	registry_remove(e.parts.registry, &e.beta);
	engine_stop();
	CU_ASSERT_EQUAL(made, 1);
	CU_ASSERT_EQUAL(dropped, made);
}

static void one_module_offers_it(void)
{
	static const struct keel_filter_def lame = { .size = sizeof(lame), .name = "lame", .doc = "a test", .make = make };

	begin();
	CU_ASSERT_EQUAL(match("7.svr"), -ENOENT);
	CU_ASSERT_STRING_EQUAL(e.err.text, "here:1: alpha.match: no module reads this key; enable the one that keelson.conf(5) names, or remove the key");
	CU_ASSERT_EQUAL(offer(&lame), -EINVAL);
	CU_ASSERT_EQUAL(offer(&filter), 0);
	CU_ASSERT_EQUAL(offer(&filter), -EEXIST);
	CU_ASSERT_EQUAL(match("7.svr"), 0);
	registry_remove(e.parts.registry, &e.beta); /* it goes first */
	CU_ASSERT_EQUAL(dropped, 1);
	CU_ASSERT_STRING_EQUAL(both(), "one:1.svr done one:7.svr done");
	engine_stop();
}

static void a_tap_may_come_when_the_filter_is_gone(void)
{
	engine_start();
	CU_ASSERT_EQUAL(offer(&filter), 0);
	CU_ASSERT_EQUAL(match("7.svr"), 0);
	registry_remove(e.parts.registry, &e.beta);
	CU_ASSERT_EQUAL(e.hook->tap_add(&e.alpha.pub, KEEL_POINT_job_submit, "any", 5, any, NULL, &e.err), 0);
	CU_ASSERT_STRING_EQUAL(both(), "any:1.svr done any:7.svr done");
	engine_stop();
}

TESTS_MAIN("hook/filter", TEST(taps_are_called_for_what_passes), TEST(one_module_offers_it),
	   TEST(a_tap_may_come_when_the_filter_is_gone))
