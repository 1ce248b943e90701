/* SPDX-License-Identifier: Apache-2.0
 *
 * test_limit.c - the language of limits: read, combined, written; what is refused leaves no trace.
 */
#include "limit.h"

#include <stdlib.h>

#include "harness.h"
#include "pbs_error.h"

static struct limit_list list;

static const char *text(void)
{
	static char copy[1024];
	struct keel_text t;

	keel_text_init(&t);
	limit_text(&list, &t);
	snprintf(copy, sizeof(copy), "%s", t.data);
	keel_text_fini(&t);
	return copy;
}

static int32_t parse(int32_t op, const char *words)
{
	return limit_parse(&list, op, words, limit_count, NULL);
}

static void test_read(void)
{
	CU_ASSERT_EQUAL(parse(KEEL_SET, "[u:alice=2], [ g : PBS_GENERIC = 5 ],[o:PBS_ALL=0]"), 0);
	CU_ASSERT_STRING_EQUAL(text(), "[g:PBS_GENERIC=5],[o:PBS_ALL=0],[u:alice=2]");
	CU_ASSERT_EQUAL(limit_find(&list, "u:alice")->n, 2);
	CU_ASSERT_EQUAL(limit_find(&list, "o:PBS_ALL")->n, 0);
	CU_ASSERT_PTR_NULL(limit_find(&list, "u:bob"));
	CU_ASSERT_PTR_NULL(limit_find(NULL, "u:bob"));
	CU_ASSERT_EQUAL(parse(KEEL_SET, "[p:\"two words\"=1]"), 0);
	CU_ASSERT_STRING_EQUAL(text(), "[p:\"two words\"=1]");
	CU_ASSERT_EQUAL(limit_find(&list, "p:two words")->n, 1);
	limit_fini(&list);
}

static void test_combine(void)
{
	CU_ASSERT_EQUAL(parse(KEEL_SET, "[u:alice=2],[u:alice=3]"), 0);
	CU_ASSERT_STRING_EQUAL(text(), "[u:alice=3]");
	CU_ASSERT_EQUAL(parse(KEEL_INCR, "[u:bob=1],[u:alice=4]"), 0);
	CU_ASSERT_STRING_EQUAL(text(), "[u:alice=4],[u:bob=1]");
	CU_ASSERT_EQUAL(parse(KEEL_DECR, "[u:alice],[u:nobody]"), 0);
	CU_ASSERT_STRING_EQUAL(text(), "[u:bob=1]");
	CU_ASSERT_EQUAL(parse(KEEL_DECR, "[u:bob=7]"), 0);
	CU_ASSERT_EQUAL(list.n, 0);
	limit_fini(&list);
}

static void test_refused(void)
{
	static const char *const bad[] = {
		"",		 "5",		  "[]",		    "[u:alice]",      "[u:alice=]",
		"[u:alice=-1]",	 "[u:alice=1.5]", "[u:alice=x]",    "[x:alice=1]",    "[u:=1]",
		"[u:alice=1",	 "[u:alice=1],",  "[u:a;b=1]",	    "[u:a/b=1]",      "[o:alice=1]",
		"[u:PBS_ALL=1]", "[u:alice=1] x", "u:alice=1",	    "[ualice=1]",     "[u:\"a=1]",
		"[u:\"a[\"=1]",	 "[u:al ice=1]",  "[u:alice=1][u:b=1]", "[u:alice=1234567890123456789]",
		"[u:a*=1]",	 "[o:PBS_GENERIC=1]",
	};

	CU_ASSERT_EQUAL(parse(KEEL_SET, "[u:alice=2]"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL(parse(KEEL_SET, bad[i]), PBSE_BADATVAL);
		CU_ASSERT_EQUAL(parse(KEEL_INCR, bad[i]), PBSE_BADATVAL);
	}
	CU_ASSERT_EQUAL(parse(KEEL_SET, "[u:bob=1],[u:carol=]"), PBSE_BADATVAL);
	CU_ASSERT_STRING_EQUAL(text(), "[u:alice=2]");
	limit_fini(&list);
}

static void test_many(void)
{
	char words[64], entity[32];
	int i;

	for (i = 0; i < 3000; i++) {
		snprintf(words, sizeof(words), "[u:user%d=%d]", (i * 7919) % 3000, i);
		CU_ASSERT_EQUAL(parse(KEEL_INCR, words), 0);
	}
	CU_ASSERT_EQUAL(list.n, 3000);
	for (i = 0; i < 3000; i++) {
		snprintf(entity, sizeof(entity), "u:user%d", (i * 7919) % 3000);
		CU_ASSERT_EQUAL(limit_find(&list, entity)->n, i);
	}
	limit_fini(&list);
}

/* past modules/entity-limits/limit.c NAME_MAX_LEN */
static void test_long_name(void)
{
	char words[300];

	for (int more = 0; more <= 1; more++) {
		snprintf(words, sizeof(words), "[u:%0*d=1]", 255 + more, 7);
		CU_ASSERT_EQUAL(parse(KEEL_SET, words), more ? PBSE_BADATVAL : 0);
		CU_ASSERT_EQUAL(strlen(list.v[0].entity), 257);
	}
	limit_fini(&list);
}

/* past modules/entity-limits/limit.c LIMITS_MAX */
static void test_too_many(void)
{
	struct keel_text t;

	keel_text_init(&t);
	for (int i = 0; i < 16384; i++)
		keel_text_printf(&t, "%s[u:u%d=1]", i ? "," : "", i);
	CU_ASSERT_EQUAL(parse(KEEL_SET, t.data), 0);
	CU_ASSERT_EQUAL(list.n, 16384);
	CU_ASSERT_EQUAL(parse(KEEL_INCR, "[u:u7=2]"), 0);
	CU_ASSERT_EQUAL(parse(KEEL_INCR, "[u:one=1]"), LIMIT_TOO_MANY);
	keel_text_str(&t, ",[u:u7=1]"); /* no new entity, but one more to read */
	CU_ASSERT_EQUAL(parse(KEEL_SET, t.data), LIMIT_TOO_MANY);
	CU_ASSERT_EQUAL(list.n, 16384);
	keel_text_fini(&t);
	limit_fini(&list);
}

TESTS_MAIN("limit", TEST(test_long_name), TEST(test_too_many), TEST(test_read), TEST(test_combine), TEST(test_refused), TEST(test_many))
