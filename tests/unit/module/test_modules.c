/* SPDX-License-Identifier: Apache-2.0
 *
 * test_modules.c - load, order, unwinding, reload, the kernel's verbs.
 */
#include <stdlib.h>

#include "module/fixture.h"
#include "util/text.h"

static void purge(const char *id)
{
	hooks_note(k.parts.hooks, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = id));
}

static void loaded_modules_hear(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(load("job_purged: { }\njob_queued: { enabled = false; }\ntask_end: { }"), 0);
	purge("1.svr");
	CU_ASSERT_FALSE(logged("fixture job_purged"));
	CU_ASSERT_EQUAL(modules_start(k.parts.modules, &k.err), 0);
	purge("2.svr");
	CU_ASSERT_TRUE(logged("Fixture;2.svr;fixture job_purged requeued=0"));
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "\njob_purged\t1.0\t"));
	CU_ASSERT_PTR_NULL(strstr(described(), "task_end")); /* for another daemon */
	CU_ASSERT_PTR_NULL(strstr(described(), "job_queued"));
	modules_stop(k.parts.modules);
	CU_ASSERT_STRING_EQUAL(described(), "\n");
	purge("3.svr");
	CU_ASSERT_FALSE(logged("3.svr"));
	kernel_stop();
}

static void every_point_has_a_fixture(void)
{
	static const char *const names[] = {
#define HOOK(id, name, kind, daemon, doc) #name,
#include "keel/hook_points.def"
#undef HOOK
	};
	struct buf text;

	kernel_start();
	k.parts.daemon = KEEL_ANY;
	buf_init(&text);
	for (size_t i = 0; i < KEEL_COUNT(names); i++)
		buf_printf(&text, "%s: { }\n", names[i]);
	CU_ASSERT_EQUAL(up(text.data), 0);
	for (size_t i = 0; i < KEEL_COUNT(names); i++) {
		CU_ASSERT_PTR_NOT_NULL(strstr(chain(names[i]), names[i]));
	}
	buf_fini(&text);
	kernel_stop();
}

static void a_failed_init_unwinds(void)
{
	kernel_start();
	CU_ASSERT(up("job_purged: { }\nfailing_init: { }") < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "failing_init"));
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "the fixture never starts"));
	CU_ASSERT_STRING_EQUAL(described(), "\n");
	CU_ASSERT_PTR_NULL(registry_service(k.parts.registry, "failing", 0, NULL, NULL));
	CU_ASSERT_EQUAL(up("job_purged: { }"), 0);
	kernel_stop();
}

static void needs_that_form_a_loop_are_printed(void)
{
	bool stores;

	kernel_start();
	configure("cycle_a: { }\ncycle_b: { }");
	CU_ASSERT_EQUAL(modules_check(k.parts.modules, k.read, false, &stores, &k.err), -ELOOP);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "cycle_a needs cycle_b"));
	CU_ASSERT_EQUAL(load("cycle_a: { }"), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "cycle_b"));
	kernel_stop();
}

static void bad_configuration_is_refused_before_anything(void)
{
	bool stores = true;

	kernel_start();
	configure("job_purged: { colour = \"red\"; }");
	CU_ASSERT(modules_check(k.parts.modules, k.read, false, &stores, &k.err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "colour"));
	configure("nonesuch: { }");
	CU_ASSERT(modules_check(k.parts.modules, k.read, false, &stores, &k.err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "nonesuch.so"));
	configure("job_purged: { }");
	CU_ASSERT_EQUAL(modules_check(k.parts.modules, k.read, false, &stores, &k.err), 0);
	CU_ASSERT(!stores);
	kernel_stop();
}

/* ---- reload ----------------------------------------------------------------------------------------- */
static void reload_follows_the_configuration(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_purged: { }\njob_obit: { }"), 0);
	CU_ASSERT_EQUAL(reload("job_purged: { }\njob_obit: { }"), 0);
	CU_ASSERT_FALSE(k.renewed);
	CU_ASSERT_EQUAL(reload("job_obit: { }\njob_queued: { }"), 0);
	CU_ASSERT_TRUE(k.renewed);
	purge("1.svr");
	CU_ASSERT_FALSE(logged("fixture job_purged"));
	hooks_note(k.parts.hooks, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "2.svr"));
	CU_ASSERT_TRUE(logged("2.svr;fixture job_queued"));
	kernel_stop();
}

static void what_a_reload_cannot_use_is_told(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_purged: { }"), 0);
	CU_ASSERT_EQUAL(reload("job_purged: { }\nattribute: { }"), 0);
	CU_ASSERT_TRUE(logged("attribute job.cost_centre of attribute has no effect: no module declares the class 'job'"));
	kernel_stop();
}

/* What a module is busy with ends before its process does; what it looks after would be lost. */
static void what_is_lost_is_not_what_is_busy(void)
{
	struct modules *all;

	kernel_start();
	CU_ASSERT_EQUAL(up("busy: { busy = false; looks_after = true; }\njob_obit: { }"), 0);
	all = k.parts.modules;
	CU_ASSERT_EQUAL(modules_busy(all, "busy", &k.err), -ENOTEMPTY);
	CU_ASSERT_STRING_EQUAL(k.err.text, "module busy is busy: 2 things are looked after");
	CU_ASSERT_EQUAL(modules_busy(all, "job_obit", &k.err), 0);
	CU_ASSERT_EQUAL(reload("busy: { busy = true; }\njob_obit: { }"), 0);
	CU_ASSERT_FALSE(k.renewed);
	CU_ASSERT_EQUAL(modules_busy(all, "busy", &k.err), -EBUSY);
	kernel_stop();
}

static const struct keel_draft_module *row(const struct keel_draft *d, const char *name)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (strcmp(d->modules[i].name, name) == 0)
			return &d->modules[i];
	CU_FAIL_FATAL("no such module in the draft");
	return NULL;
}

static void a_draft_says_what_is_another(void)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} rows[] = {
		{ "job_purged", KEEL_DRAFT_ENABLED | KEEL_DRAFT_BY_FILE | KEEL_DRAFT_RUNS },
		{ "busy", KEEL_DRAFT_ENABLED | KEEL_DRAFT_BY_FILE | KEEL_DRAFT_RUNS | KEEL_DRAFT_VALUES },
		{ "reject", KEEL_DRAFT_ENABLED | KEEL_DRAFT_BY_FILE | KEEL_DRAFT_RUNS | KEEL_DRAFT_SITE },
		{ "job_obit", KEEL_DRAFT_RUNS },
		{ "job_queued", KEEL_DRAFT_ENABLED },
		{ "job_purged_too", 0 },
		{ "host_start", KEEL_DRAFT_ENABLED | KEEL_DRAFT_BY_FILE | KEEL_DRAFT_ELSEWHERE },
		{ "hold", KEEL_DRAFT_RUNS },
	};
	struct keel_draft d;

	kernel_start();
	CU_ASSERT_EQUAL(up("job_purged: { }\nbusy: { busy = false; }\nreject: { }\njob_obit: { }\nhost_start: { }\nhold: { }"), 0);
	configure("job_purged: { }\nbusy: { busy = true; }\nreject: { order = ( { tap = \"on_submit\"; order = 5; } ); }\n"
		  "job_obit: { enabled = false; }\njob_queued: { enabled = false; }\njob_purged_too: { enabled = false; }\nhost_start: { }");
	CU_ASSERT_EQUAL(conf_override(k.read, "job_queued.enabled=true", &k.err), 0);
	CU_ASSERT_EQUAL_FATAL(modules_draft(k.parts.modules, k.read, &d, &k.err), 0);
	for (size_t i = 0; i < KEEL_COUNT(rows); i++)
		CU_ASSERT_EQUAL(row(&d, rows[i].name)->flags, rows[i].flags);
	CU_ASSERT_FALSE(d.restart);
	CU_ASSERT_STRING_EQUAL(row(&d, "busy")->version, "1.0");
	CU_ASSERT_PTR_NOT_NULL(strstr(row(&d, "job_obit")->where, "test.conf:4"));
	CU_ASSERT_PTR_NULL(row(&d, "hold")->where);
	modules_draft_drop(k.parts.modules, &d);
	kernel_stop();
}

static void a_bad_reload_changes_nothing(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_purged: { }"), 0);
	CU_ASSERT(reload("job_obit: { }\nbadabi: { }") < 0);
	CU_ASSERT(reload("job_purged: { x = 1; }") < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "\njob_purged\t1.0\t"));
	purge("1.svr");
	CU_ASSERT_TRUE(logged("1.svr;fixture job_purged"));
	CU_ASSERT(reload("job_purged: { }\nfailing_init: { }") < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "\njob_purged\t1.0\t"));
	CU_ASSERT_PTR_NULL(strstr(described(), "failing_init"));
	kernel_stop();
}

/* The file is replaced under the running daemon: the new code must be used, not the old mapping. */
static void a_changed_file_is_loaded_anew(void)
{
	char *so, *text;

	kernel_start();
	so = path_join(k.dir, "switch.so");
	text = text_format("job_purged: { path = \"%s\"; }\n", so);
	copy_fixture("job_purged.so", so);
	CU_ASSERT_EQUAL(up(text), 0);
	copy_fixture("job_purged.so", so); /* another inode */
	CU_ASSERT_EQUAL(reload(text), 0);
	CU_ASSERT_TRUE(k.renewed);
	purge("1.svr");
	CU_ASSERT_TRUE(logged("1.svr;fixture job_purged"));
	copy_fixture("job_obit.so", so); /* a file of another module is no update */
	CU_ASSERT(reload(text) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "holds module 'job_obit'"));
	purge("2.svr");
	CU_ASSERT_TRUE(logged("2.svr;fixture job_purged"));
	free(text);
	free(so);
	kernel_stop();
}

/* ---- a hold survives only as long as its module -------------------------------------------------- */
static uint32_t told_n;
static keel_verdict told_verdict;
static void on_done(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	(void)m;
	(void)arg;
	told_n++;
	told_verdict = out->verdict;
}

static bool is_told(void *arg)
{
	(void)arg;
	return told_n > 0;
}

static keel_verdict delete_job(void)
{
	const struct keel_hook_api *hook =
		registry_service(k.parts.registry, "hook", 0, NULL, NULL);

	told_n = 0;
	return hook->raise(&k.self.pub,
			   &(struct keel_raise){ .size = sizeof(struct keel_raise),
						 .point = KEEL_POINT_job_delete,
						 .event = KEEL_EVENT(job_delete, .id = "1.svr"),
						 .done = on_done });
}

static void holds_of_a_module(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("hold: { timeout = \"60s\"; }"), 0);
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	purge("1.svr");
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, is_told, NULL, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(told_verdict, KEEL_NEXT);
	CU_ASSERT_TRUE(logged("fixture hold resumed"));
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	CU_ASSERT_EQUAL(reload(""), 0);
	CU_ASSERT_EQUAL(told_n, 1);
	CU_ASSERT_EQUAL(told_verdict, KEEL_FAIL);
	CU_ASSERT_TRUE(logged("fixture hold cancelled: 4"));
	kernel_stop();
}

TESTS_MAIN("module/modules", TEST(loaded_modules_hear), TEST(every_point_has_a_fixture),
	   TEST(a_failed_init_unwinds), TEST(needs_that_form_a_loop_are_printed),
	   TEST(bad_configuration_is_refused_before_anything), TEST(reload_follows_the_configuration), TEST(what_a_reload_cannot_use_is_told),
	   TEST(what_is_lost_is_not_what_is_busy), TEST(a_draft_says_what_is_another), TEST(a_bad_reload_changes_nothing),
	   TEST(a_changed_file_is_loaded_anew), TEST(holds_of_a_module))
