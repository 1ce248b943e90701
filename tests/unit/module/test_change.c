/* SPDX-License-Identifier: Apache-2.0
 *
 * test_change.c - changes of the running set: all or nothing, and what a site says about taps.
 */
#include <stdlib.h>

#include "module/fixture.h"
#include "util/text.h"

static void expect_error(const char *text)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, text));
	if (strstr(k.err.text, text) == NULL)
		fprintf(stderr, "expected '%s', got '%s'\n", text, k.err.text);
}

/* ---- all or nothing --------------------------------------------------------------------------------- */
static void one_that_cannot_come_brings_everybody_back(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_purged: { }\njob_obit: { }\nbusy: { busy = false; }"), 0);
	CU_ASSERT(reload("job_obit: { }\njob_queued: { }\nfailing_init: { }\nbusy: { busy = true; }") < 0);
	expect_error("the fixture never starts");
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "\njob_purged\t1.0\t"));
	CU_ASSERT_PTR_NULL(strstr(described(), "job_queued"));
	hooks_note(k.parts.hooks, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = "1.svr"));
	CU_ASSERT_TRUE(logged("1.svr;fixture job_purged"));
	CU_ASSERT_EQUAL(change(UNLOAD, "busy"), 0); /* of what runs, whatever the files say */
	CU_ASSERT_PTR_NULL(strstr(described(), "job_queued"));
	kernel_stop();
}

static void what_is_not_required_is_left_out(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_purged: { }\nfailing_init: { required = false; }\n"
			   "nonesuch: { required = false; }"), 0);
	CU_ASSERT_TRUE(logged("failing_init;left out, for it is not required"));
	CU_ASSERT_TRUE(logged("nonesuch;left out, for it is not required"));
	CU_ASSERT_PTR_NULL(strstr(described(), "failing_init"));
	CU_ASSERT(reload("job_purged: { }\nnonesuch: { required = false; }") < 0); /* a reload is all or nothing */
	expect_error(": cannot read module file ");
	kernel_stop();
}

/* ---- what a site says about taps ------------------------------------------------------------------------- */
static void a_site_orders_taps(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_submit: { }\nreject: { }"), 0);
	CU_ASSERT_STRING_EQUAL(chain("job_submit"), "job_submit.on_job_submit reject.on_submit");
	/* past the greatest order, 1000 */
	CU_ASSERT(reload("job_submit: { }\nreject: { order = ( { tap = \"on_submit\"; order = 1001; } ); }") < 0);
	expect_error("expected integer from -1000 to 1000, got 1001");
	CU_ASSERT_EQUAL(reload("job_submit: { }\nreject: { order = ( { tap = \"on_submit\"; order = -5; } ); }"),
			0);
	CU_ASSERT_FALSE(k.renewed);
	CU_ASSERT_STRING_EQUAL(chain("job_submit"), "reject.on_submit job_submit.on_job_submit");
	CU_ASSERT_EQUAL(reload("job_submit: { order = ( { tap = \"on_job_submit\"; before = \"reject\"; } ); }\n"
			       "reject: { order = ( { tap = \"on_submit\"; order = -5; } ); }"),
			0);
	CU_ASSERT_STRING_EQUAL(chain("job_submit"), "job_submit.on_job_submit reject.on_submit");
	CU_ASSERT(reload("job_submit: { order = ( { tap = \"on_job_submit\"; before = \"reject\"; } ); }\n"
			 "reject: { order = ( { tap = \"on_submit\"; before = \"job_submit\"; } ); }") < 0);
	expect_error("cannot be ordered");
	CU_ASSERT_STRING_EQUAL(chain("job_submit"), "job_submit.on_job_submit reject.on_submit");
	kernel_stop();
}

static void what_is_wrong_is_said_with_its_line(void)
{
	static const struct {
		const char *said, *error;
	} bad[] = {
		{ "reject: {\norder = ( { tap = \"nope\"; } ); }", "test.conf:2: reject.order: module reject has no tap \"nope\" (it has on_submit)" },
		{ "reject: { order = 5; }", "test.conf:1: reject.order: expected a list of groups" },
		{ "reject: { order = ( { tap = \"on_submit\"; order = 5000; } ); }", "order: expected integer from -1000 to 1000, got 5000" },
		{ "reject: { order = ( { order = 5; } ); }", "reject.order.tap: expected string, got nothing (the key is required)" },
		{ "reject: { order = ( { tap = \"on_submit\"; place = 5; } ); }", "reject.order.place: expected a known key (tap, order, before, after), got \"place\"" },
		{ "reject: { order = ( { tap = \"on_submit\"; match = 5; } ); }", "reject.order.match: expected a known key" },
		{ "reject: { match = 5; }", "reject.match: expected a group of scopes and patterns" },
		{ "reject: { match = { queue = 5; }; }", "queue: expected a pattern" },
		{ "reject: {\nmatch = { colour = \"x\"; }; }", "test.conf:2: reject.match: no module reads this key; enable the one that keelson.conf(5) names, or remove the key" },
		{ "reject: {\nenable = true; }", "test.conf:2: reject.enable: expected a known key (text), got \"enable\"; every module has 'enabled'" },
		{ "nonesuch: { enabled = true; }", "test.conf:1: cannot read module file " },
		{ "nonesuch: { enabled = true; }", ".so: No such file or directory; install it there, or name its file with 'path'" },
		{ "reject: { required = 1; }", "reject.required: expected true or false, got 1" },
	};

	kernel_start();
	for (size_t i = 0; i < KEEL_COUNT(bad); i++) {
		char *path;
		struct conf *conf = NULL;
		bool stores;

		free(k.conf_path);
		k.conf_path = NULL;
		path = path_join(k.dir, "modules.d/test.conf");
		k.err.text[0] = '\0';
		configure("");
		scratch_write(k.dir, "modules.d/test.conf", bad[i].said);
		if (conf_read(k.conf_path, NULL, &conf, &k.err) == 0)
			CU_ASSERT(modules_check(k.parts.modules, conf, false, &stores, &k.err) < 0);
		expect_error(bad[i].error);
		conf_destroy(conf);
		free(path);
	}
	kernel_stop();
}

TESTS_MAIN("module/change", TEST(one_that_cannot_come_brings_everybody_back),
	   TEST(what_is_not_required_is_left_out),
	   TEST(a_site_orders_taps), TEST(what_is_wrong_is_said_with_its_line))
