/* SPDX-License-Identifier: Apache-2.0
 *
 * test_health.c - pure parts: quantiles of accounts, and the three forms of a report.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "health.h"

static void quantiles(void)
{
	struct keel_account before = { 0 }, now = { 0 };

	CU_ASSERT_EQUAL(quantile(&now, &before, 0.5), 0);
	now.count = 100;
	now.bucket[4] = 90; /* 8 to 16 us */
	now.bucket[21] = 10; /* 1 to 2 s */
	CU_ASSERT_DOUBLE_EQUAL(quantile(&now, &before, 0.5), 12.4e-6, 1e-6);
	CU_ASSERT_TRUE(quantile(&now, &before, 0.99) > 1 && quantile(&now, &before, 0.99) < 2.1);
	before = now;
	now.count++;
	now.bucket[0]++;
	CU_ASSERT_TRUE(quantile(&now, &before, 0.99) <= 1e-6);
	now.count++;
	now.bucket[KEEL_ACCOUNT_BUCKETS - 1]++;
	CU_ASSERT_TRUE(quantile(&now, &before, 0.99) > 1000);
}

static struct report report;

static const char *printed(void (*print)(const struct report *, struct keel_text *))
{
	static char text[65536];
	struct keel_text out;

	keel_text_init(&out);
	print(&report, &out);
	snprintf(text, sizeof(text), "%s", out.data);
	keel_text_fini(&out);
	return text;
}

static void contains(const char *text, const char *part)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
	if (!strstr(text, part))
		fprintf(stderr, "expected '%s' in '%s'\n", part, text);
}

static void forms(void)
{
	struct keel_account account = { .count = 3, .sum_ns = 1500000000 };
	const char *text;

	memset(&report, 0, sizeof(report));
	account.bucket[3] = 1;
	account.bucket[31] = 2;
	report_put(&report, FIGURE_VERSIONS, "a\"b\\c\n\xc3", 2);
	report_put(&report, FIGURE_VERSIONS, "1", 1);
	report_put(&report, FIGURE_SCHEDULING, NULL, 0);
	report_put(&report, FIGURE_REQUEST_QUANTILE, "0.5", 0.00025);
	report_account(&report, FIGURE_COMMITS, &account);
	report_put(&report, FIGURE_STALL, "hour", 90000);
	report_why(&report, "a \"word\"\n");
	text = printed(print_json);
	contains(text, "{\"status\": \"degraded\", \"why\": [\"a \\\"word\\\"?\"], \"notes\": [], \"hosts_by_version\": "
		       "{\"a\\\"b\\\\c??\": 2, \"1\": 1}, \"scheduling\": false, \"request_seconds\": {\"p50\": 0.00025}, "
		       "\"stall_longest_seconds\": {\"hour\": 90000}}\n");
	text = printed(print_metrics);
	contains(text, "# TYPE keelson_hosts_by_version gauge\nkeelson_hosts_by_version{version=\"a\\\"b\\\\c??\"} 2\n"
		       "keelson_hosts_by_version{version=\"1\"} 1\n# HELP keelson_scheduling ");
	contains(text, "keelson_commit_duration_seconds_bucket{le=\"1.6e-05\"} 1\n");
	contains(text, "keelson_commit_duration_seconds_bucket{le=\"+Inf\"} 3\nkeelson_commit_duration_seconds_sum 1.5\n"
		       "keelson_commit_duration_seconds_count 3\n");
	text = printed(print_text);
	contains(text, "degraded     a \"word\"?\n");
	contains(text, "scheduling   off\nrequests     250 us p50\nstalls       1.04 d in the last hour\n");
}

static void bounds(void)
{
	memset(&report, 0, sizeof(report));
	for (int i = 0; i < FIGURES + 5; i++)
		report_put(&report, FIGURE_JOBS, "x", i);
	for (int i = 0; i < WORDS + 5; i++)
		report_why(&report, "%d", i);
	CU_ASSERT_EQUAL(report.n, FIGURES);
	CU_ASSERT_EQUAL(report.n_why, WORDS);
}

TESTS_MAIN("modules/server-health", TEST(quantiles), TEST(forms), TEST(bounds))
