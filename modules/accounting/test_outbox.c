/* SPDX-License-Identifier: Apache-2.0
 *
 * test_outbox.c - after a kill the rows that are left become the end of the files of their days, once.
 */
#include "accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "keel/mock.h"

extern const struct keel_module keel_module;

static char *dir;

static struct keel_mock *mock;
static struct keel_mod *mod; /* the test's own, with this state */
static struct state st;

static void set_up(void)
{
	dir = scratch_new();
	mock = keel_mock_new(KEEL_SERVER);
	mod = keel_mock_self(mock);
	mod->state = &st;
	keel_mock_attr_def(mock, &outbox_day);
	keel_mock_attr_def(mock, &outbox_lines);
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

static void row(const char *id, const char *day, const char *lines)
{
	struct keel_obj *o = keel_mock_object(mock, outbox_class.name, id);

	keel_mock_set(o, outbox_day.name, NULL, day);
	keel_mock_set(o, outbox_lines.name, NULL, lines);
}

static uint32_t rows_left(void)
{
	return keel_count(mod, outbox_class.name);
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

static void replay(char *journal_dir)
{
	st = (struct state){ .journal.dir = journal_dir };
	keel_mock_use(mock, &keel_module);
	outbox_find(mod);
	outbox_replay(mod);
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
		tear_down();
		set_up();
		file_is("20260101", text);
		row(ROW2, "20260101", "two;E;1\n");
		row(ROW1, "20260101", "one;Q;1\none;S;1\n");
		replay(dir);
		CU_ASSERT_STRING_EQUAL(file_text("20260101"), whole);
		CU_ASSERT_EQUAL(rows_left(), 0);
		CU_ASSERT_EQUAL(st.outbox.last, 2);
	}
}

static void test_days(void)
{
	file_is("20260102", "a\n");
	row(ROW1, "20260102", "a\n");
	row(ROW2, "20260102", "b\n");
	row(ROW3, "20260103", "c\n");
	replay(dir);
	CU_ASSERT_STRING_EQUAL(file_text("20260102"), "a\nb\n");
	CU_ASSERT_STRING_EQUAL(file_text("20260103"), "c\n");
	CU_ASSERT_EQUAL(st.outbox.last, 10);
}

/* A file that cannot be written keeps its rows; a name that is no name is left alone. */
static void test_trouble(void)
{
	row(ROW1, "../outside", "x\n");
	row(ROW2, "nowhere", "y\n");
	replay((char[]){ "/nonexistent" });
	CU_ASSERT_EQUAL(rows_left(), 2);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_log(mock, 0));
	CU_ASSERT_PTR_NULL(keel_mock_log(mock, 1));
}

static void test_empty(void)
{
	replay(dir);
	CU_ASSERT_EQUAL(st.outbox.last, 0);
	CU_ASSERT_PTR_NULL(keel_mock_log(mock, 0));
}

TESTS_MAIN_BETWEEN("outbox", set_up, tear_down, TEST(test_each_cut), TEST(test_days), TEST(test_trouble),
		   TEST(test_empty))
