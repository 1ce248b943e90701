/* SPDX-License-Identifier: Apache-2.0
 *
 * test_outbox.c - after a kill the rows that are left become the end of the files of their days, once.
 */
#include "accounting.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/test_outbox.XXXXXX";

/* Objects are rows of this table, attributes the addresses of their numbers. */
static struct keel_obj {
	const char *id, *value[2];
	bool gone;
} table[8];
static uint32_t n_table, at;
static const int numbers[2] = { 0, 1 };

static const struct keel_attr *fake_attr(struct keel_mod *mod, const char *klass, const char *name)
{
	(void)mod, (void)klass;
	return (const struct keel_attr *)&numbers[strcmp(name, "lines") == 0];
}

static const char *fake_str(const struct keel_obj *o, const struct keel_attr *a)
{
	return o->value[*(const int *)(const void *)a];
}

static const char *fake_id(const struct keel_obj *o)
{
	return o->id;
}

static uint32_t fake_count(struct keel_mod *mod, const char *klass)
{
	(void)mod, (void)klass;
	return n_table;
}

static struct keel_cursor *fake_cursor(struct keel_mod *mod, const char *klass)
{
	(void)mod, (void)klass;
	at = 0;
	return (struct keel_cursor *)&at;
}

static struct keel_obj *fake_next(struct keel_cursor *c)
{
	(void)c;
	return at < n_table ? &table[at++] : NULL;
}

static void fake_close(struct keel_cursor *c)
{
	(void)c;
}

static struct keel_obj *fake_find(struct keel_mod *mod, const char *klass, const char *id)
{
	(void)mod, (void)klass;
	for (uint32_t i = 0; i < n_table; i++)
		if (strcmp(table[i].id, id) == 0)
			return &table[i];
	return NULL;
}

static void fake_destroy(struct keel_obj *o)
{
	o->gone = true;
}

static uint32_t n_logged;
static void fake_log(struct keel_mod *mod, uint32_t event, const char *klass, const char *object,
		     const char *fmt, ...)
{
	(void)mod; (void)event; (void)klass; (void)object; (void)fmt;
	n_logged++;
}

static const struct keel_core_api core = { .log = fake_log };
static const struct keel_object_api object = { .attr = fake_attr, .get_str = fake_str, .id = fake_id,
	.count = fake_count, .cursor = fake_cursor, .next = fake_next, .cursor_close = fake_close,
	.find = fake_find, .destroy = fake_destroy };
static struct state st;
static struct keel_mod mod = { .state = &st };

static void row(const char *id, const char *day, const char *lines)
{
	table[n_table++] = (struct keel_obj){ .id = id, .value = { day, lines } };
}

static void file_is(const char *day, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, day);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs(text, f);
	fclose(f);
}

static const char *file_text(const char *day)
{
	static char text[512];
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, day);
	f = fopen(path, "r");
	text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
	if (f)
		fclose(f);
	return text;
}

static void replay(void)
{
	st = (struct state){ .core = &core, .object = &object, .journal.dir = dir };
	n_logged = 0;
	outbox_find(&mod);
	outbox_replay(&mod);
}

#define ROW1 "00000000000000000001"
#define ROW2 "00000000000000000002"
#define ROW3 "00000000000000000010"

/* However much of the two rows the kill let through. */
static void test_each_cut(void)
{
	const char *whole = "old;E;0\none;Q;1\none;S;1\ntwo;E;1\n", *rows = "one;Q;1\none;S;1\ntwo;E;1\n";
	size_t cut, old = strlen(whole) - strlen(rows);

	for (cut = 0; cut <= strlen(rows); cut++) {
		char text[128];

		snprintf(text, sizeof(text), "%.*s", (int)(old + cut), whole);
		file_is("20260101", text);
		n_table = 0;
		row(ROW2, "20260101", "two;E;1\n");
		row(ROW1, "20260101", "one;Q;1\none;S;1\n");
		replay();
		CU_ASSERT_STRING_EQUAL(file_text("20260101"), whole);
		CU_ASSERT(table[0].gone && table[1].gone);
		CU_ASSERT_EQUAL(st.outbox.last, 2);
	}
}

static void test_days(void)
{
	file_is("20260102", "a\n");
	unlink("20260103");
	n_table = 0;
	row(ROW1, "20260102", "a\n");
	row(ROW2, "20260102", "b\n");
	row(ROW3, "20260103", "c\n");
	replay();
	CU_ASSERT_STRING_EQUAL(file_text("20260102"), "a\nb\n");
	CU_ASSERT_STRING_EQUAL(file_text("20260103"), "c\n");
	CU_ASSERT_EQUAL(st.outbox.last, 10);
}

/* A file that cannot be written keeps its rows; a name that is no name is left alone. */
static void test_trouble(void)
{
	n_table = 0;
	row(ROW1, "../outside", "x\n");
	row(ROW2, "nowhere", "y\n");
	st.journal.dir = NULL;
	st = (struct state){ .core = &core, .object = &object, .journal.dir = (char[]){ "/nonexistent" } };
	n_logged = 0;
	outbox_find(&mod);
	outbox_replay(&mod);
	CU_ASSERT(!table[0].gone && !table[1].gone);
	CU_ASSERT_EQUAL(n_logged, 1);
}

static void test_empty(void)
{
	n_table = 0;
	replay();
	CU_ASSERT_EQUAL(st.outbox.last, 0);
	CU_ASSERT_EQUAL(n_logged, 0);
}

int main(void)
{
	unsigned failures = 1;

	if (!mkdtemp(dir) || CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	CU_pSuite suite = CU_add_suite("outbox", NULL, NULL);

	if (suite && CU_add_test(suite, "each cut", test_each_cut) && CU_add_test(suite, "days", test_days) &&
	    CU_add_test(suite, "trouble", test_trouble) && CU_add_test(suite, "empty", test_empty)) {
		CU_basic_set_mode(CU_BRM_VERBOSE);
		CU_basic_run_tests();
		failures = CU_get_number_of_failures();
	}
	CU_cleanup_registry();
	return failures ? 1 : 0;
}
