/* SPDX-License-Identifier: Apache-2.0
 *
 * test_settings.c - lines of sched_config, good and bad.
 */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "keel/setting.h"

static uint32_t bad[8], n_bad, n_old;

static void said(void *arg, uint32_t line, const char *why)
{
	(void)arg;
	CU_ASSERT(why && *why);
	if (n_bad < 8)
		bad[n_bad++] = line;
}

static void old(void *arg, const char *name)
{
	(void)arg, (void)name;
	n_old++;
}

static struct settings *read_text(const char *text)
{
	n_bad = n_old = 0;
	return settings_read(text, said, old, NULL);
}

static void good_lines(void)
{
	struct settings *s = read_text("# a comment\n\n"
				       "by_queue: True prime\n"
				       "by_queue: False\tnon_prime # behind it\n"
				       "  strict_ordering :on ALL\n"
				       "fair_share: 0\n"
				       "job_sort_key: \"job_priority HIGH\" ALL\n"
				       "job_sort_key: \"ncpus LOW\"\n"
				       "resources: \"ncpus, mem\"\n"
				       "round_robin: true none\n"
				       "dedicated_prefix: ded\r\n"
				       "dedicated_prefix: special");

	CU_ASSERT_EQUAL(n_bad, 0);
	CU_ASSERT_STRING_EQUAL(s->value[SET_by_queue][0], "True");
	CU_ASSERT_STRING_EQUAL(s->value[SET_by_queue][1], "False");
	CU_ASSERT_STRING_EQUAL(s->value[SET_strict_ordering][1], "True");
	CU_ASSERT_STRING_EQUAL(s->value[SET_fair_share][0], "False");
	CU_ASSERT_STRING_EQUAL(s->value[SET_job_sort_key][0], "job_priority HIGH\nncpus LOW");
	CU_ASSERT_STRING_EQUAL(s->value[SET_resources][0], "ncpus, mem");
	CU_ASSERT_PTR_NULL(s->value[SET_round_robin][0]);
	CU_ASSERT_STRING_EQUAL(s->value[SET_dedicated_prefix][0], "special");
	settings_free(s);
}

static void bad_lines(void)
{
	struct settings *s = read_text("by_queue True\n"
				       "nosuch: 1\n"
				       "by_queue: perhaps\n"
				       "by_queue:\n"
				       "resources: \"ncpus\n"
				       "by_queue: True sometimes\n"
				       "by_queue: True all more\n"
				       "preempt_order: SCR\n"
				       "strict_ordering: true");
	uint32_t i;

	CU_ASSERT_EQUAL(n_bad, 7);
	for (i = 0; i < n_bad; i++)
		CU_ASSERT_EQUAL(bad[i], i + 1);
	CU_ASSERT_EQUAL(n_old, 1);
	CU_ASSERT_PTR_NULL(s->value[SET_by_queue][0]);
	CU_ASSERT_STRING_EQUAL(s->value[SET_strict_ordering][0], "True");
	settings_free(s);
	settings_free(NULL);
}

/* A setting that another module reads. */
static void seconds(void)
{
	CU_ASSERT_EQUAL(keel_setting_seconds("1:30:00"), 5400);
	CU_ASSERT_EQUAL(keel_setting_seconds("90:00"), 5400);
	CU_ASSERT_EQUAL(keel_setting_seconds("5400"), 5400);
	CU_ASSERT_EQUAL(keel_setting_seconds("-1"), 0);
	CU_ASSERT_EQUAL(keel_setting_seconds("x"), 0);
	CU_ASSERT_EQUAL(keel_setting_seconds("9:9:9:9:9:9:9:9:9:9:9:9:9:9"), 0);
}

TESTS_MAIN("settings", TEST(seconds), TEST(good_lines), TEST(bad_lines))
