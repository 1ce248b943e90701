/* SPDX-License-Identifier: Apache-2.0
 *
 * test_clause.c - the text of depend: read, written, refused; and what ends mean.
 */
#include "dependencies.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"

/* Read and written again. */
static const char *again(const char *text)
{
	static char buf[1000];
	struct clause c;
	struct keel_text out;
	int32_t code = clause_parse(text, "svr", NULL, &c);

	if (code) {
		snprintf(buf, sizeof(buf), "%d", code);
		return buf;
	}
	keel_text_init(&out);
	CU_ASSERT_TRUE(clause_text(&c, "svr", NULL, &out));
	snprintf(buf, sizeof(buf), "%s", out.data);
	keel_text_fini(&out);
	clause_fini(&c);
	return buf;
}

static void test_texts(void)
{
	static const struct {
		const char *text, *then;
	} rows[] = {
		{ "afterok:34", "afterok:34.svr@svr" },
		{ "afterok:34.svr", "afterok:34.svr@svr" },
		{ "afterok:34.SVR@svr", "afterok:34.svr@svr" },
		{ "afterok:34@svr\\:15001", "afterok:34.svr@svr" },
		{ "afterok:1:2:3", "afterok:1.svr@svr:2.svr@svr:3.svr@svr" },
		{ "afterok:1:1:2:1,after:1", "afterok:1.svr@svr:2.svr@svr,after:1.svr@svr" },
		{ "runone:7", "runone:7.svr@svr" },
		{ "afterany:12[],on:3", "afterany:12[].svr@svr,on:3" },
		{ "after:1,afternotok:2,before:3,beforeok:4,beforenotok:5,beforeany:6",
		  "after:1.svr@svr,afternotok:2.svr@svr,before:3.svr@svr,beforeok:4.svr@svr,"
		  "beforenotok:5.svr@svr,beforeany:6.svr@svr" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CU_ASSERT_STRING_EQUAL(again(rows[i].text), rows[i].then);
}

static void test_refused(void)
{
	static const char *const bad[] = { "", "afterok", "afterok:", "after:x", "sometimes:1", "on:0",
					   "on:-1", "on:1:2", "on:9999999", "afterok:1,", ",afterok:1",
					   "afterok:1::2", "afterok:1x", "afterok:1.svr.x@",
					   "afterok:99999999999999999999", "AFTEROK:1" };
	static const char *const other[] = { "afterok:1.elsewhere", "afterok:1.svr@elsewhere",
					     "afterok:1[2]", "afterok:1[2-3].svr", "runone:1[2]" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (strcmp(again(bad[i]), "15014") != 0 && strcmp(again(bad[i]), "15054") != 0)
			CU_FAIL(bad[i]);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		CU_ASSERT_STRING_EQUAL(again(other[i]), "15054");
}

/* One past modules/dependencies/clause.c ITEMS_MAX, past modules/dependencies/clause.c COUNT_MAX */
static void test_bounds(void)
{
	static char text[100000];
	struct clause c;
	size_t at = (size_t)snprintf(text, sizeof(text), "afterok");

	CU_ASSERT_STRING_EQUAL(again("on:1000000"), "on:1000000");
	CU_ASSERT_STRING_EQUAL(again("on:1000001"), "15014");
	for (int i = 1; i <= 10000; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, ":%d", i);
	CU_ASSERT_EQUAL_FATAL(clause_parse(text, "svr", NULL, &c), 0);
	CU_ASSERT_EQUAL(c.n, 10000);
	clause_fini(&c);
	snprintf(text + at, sizeof(text) - at, ":10001");
	CU_ASSERT_EQUAL(clause_parse(text, "svr", NULL, &c), PBSE_BADATVAL);
}

/* A name past modules/dependencies/dependencies.h ID_MAX */
static void test_a_long_name(void)
{
	const struct item item = { .n = 12, .type = AFTER };
	char server[ID_MAX + 1] = "", id[ID_MAX];

	memset(server, 's', sizeof(server) - 1);
	item_id(&item, server, id);
	CU_ASSERT_EQUAL(strlen(id), ID_MAX - 1);
}

static void test_judge(void)
{
	const struct fate waiting = { 0 }, running = { .started = true, .exit = -1 },
			  good = { .started = true, .over = true },
			  failed = { .started = true, .over = true, .exit = 271 },
			  deleted = { .over = true }, dropped = { .over = true, .dropped = true };
	static const struct {
		enum type type;
		enum verdict waiting, running, good, failed, deleted, dropped;
	} rows[] = {
		{ AFTER, WAITS, DONE, DONE, DONE, WAITS, NEVER },
		{ AFTER_OK, WAITS, WAITS, DONE, NEVER, WAITS, NEVER },
		{ AFTER_NOT_OK, WAITS, WAITS, NEVER, DONE, DONE, NEVER },
		{ AFTER_ANY, WAITS, WAITS, DONE, DONE, DONE, DONE },
		{ BEFORE, WAITS, DONE, DONE, DONE, WAITS, NEVER },
		{ BEFORE_OK, WAITS, WAITS, DONE, NEVER, WAITS, NEVER },
		{ BEFORE_NOT_OK, WAITS, WAITS, NEVER, DONE, DONE, NEVER },
		{ BEFORE_ANY, WAITS, WAITS, DONE, DONE, DONE, DONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CU_ASSERT_EQUAL(type_judge(rows[i].type, &waiting), rows[i].waiting);
		CU_ASSERT_EQUAL(type_judge(rows[i].type, &running), rows[i].running);
		CU_ASSERT_EQUAL(type_judge(rows[i].type, &good), rows[i].good);
		CU_ASSERT_EQUAL(type_judge(rows[i].type, &failed), rows[i].failed);
		CU_ASSERT_EQUAL(type_judge(rows[i].type, &deleted), rows[i].deleted);
		CU_ASSERT_EQUAL(type_judge(rows[i].type, &dropped), rows[i].dropped);
	}
}

TESTS_MAIN("clause", TEST(test_texts), TEST(test_refused), TEST(test_judge), TEST(test_bounds), TEST(test_a_long_name))
