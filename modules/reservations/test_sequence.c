/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sequence.c - vnodes of many times as one text: what is written is read again, and what is no such text is refused.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static char seen[4096];

static int32_t note(void *arg, const char *set, size_t len, uint32_t first, uint32_t last)
{
	size_t at = strlen(seen);

	(void)arg;
	snprintf(seen + at, sizeof(seen) - at, "%.*s %u-%u;", (int)len, set, (unsigned)first, (unsigned)last);
	return 0;
}

static int32_t read_text(const char *text, uint32_t n)
{
	seen[0] = '\0';
	return sequence_each(text, n, note, NULL);
}

static const char *written(const char *const *nodes, uint32_t n)
{
	static char text[4096];
	struct span *span = calloc(n + 1, sizeof(*span));
	struct keel_text t;

	for (uint32_t i = 0; i < n; i++)
		span[i].nodes = (char *)(uintptr_t)nodes[i];
	keel_text_init(&t);
	CU_ASSERT_EQUAL(sequence_write(span, n, &t), 0);
	snprintf(text, sizeof(text), "%s", t.data);
	keel_text_fini(&t);
	free(span);
	return text;
}
#define WRITTEN(...) \
	written((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void reading(void)
{
	CU_ASSERT_EQUAL(read_text("3#(a:ncpus=1){0-1}(b:ncpus=1+c:ncpus=2){2}", 3), 0);
	CU_ASSERT_STRING_EQUAL(seen, "(a:ncpus=1) 0-1;(b:ncpus=1+c:ncpus=2) 2-2;");
	CU_ASSERT_EQUAL(read_text("5#(a:ncpus=1){0,2-3}", 5), 0);
	CU_ASSERT_STRING_EQUAL(seen, "(a:ncpus=1) 0-0;(a:ncpus=1) 2-3;");
	CU_ASSERT_EQUAL(read_text("2#", 2), 0);
	CU_ASSERT_STRING_EQUAL(seen, "");
}

static void refusals(void)
{
	static const char *const bad[] = {
		"", "3", "#", "x#(a){0}", "4#(a){0}", "-3#(a){0}", "3#a{0}", "3#(a)", "3#(a){", "3#(a){}", "3#(a){3}",
		"3#(a){0", "3#(a){0-}", "3#(a){2-1}", "3#(a){0-3}", "3#(a){0,}", "3#(a){-1}", "3#(a){99999999999999999999}",
		"99999999999999999999#(a){0}", "3#(a){0}x", "3#(a){0}(b)", "3 #(a){0}", "3#(a){ 0}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (read_text(bad[i], 3) != -EINVAL) {
			printf("taken: %s\n", bad[i]);
			CU_FAIL("a bad text was taken");
		}
}

static void writing(void)
{
	CU_ASSERT_STRING_EQUAL(WRITTEN("(a:ncpus=1)", "(a:ncpus=1)", "(b:ncpus=1)", "(a:ncpus=1)"),
			       "4#(a:ncpus=1){0-1,3}(b:ncpus=1){2}");
	CU_ASSERT_STRING_EQUAL(WRITTEN("(b:ncpus=1)", NULL, "(a:ncpus=1)"), "3#(b:ncpus=1){0}(a:ncpus=1){2}");
	CU_ASSERT_STRING_EQUAL(WRITTEN(NULL, NULL), "2#");
	CU_ASSERT_STRING_EQUAL(WRITTEN("(a:x=1)"), "1#(a:x=1){0}");
}

static void many(void)
{
	static char text[64][24];
	const char *nodes[1000];
	char *copy;

	for (uint32_t i = 0; i < 64; i++)
		snprintf(text[i], sizeof(text[i]), "(n%u:ncpus=1)", (unsigned)i);
	for (uint32_t i = 0; i < 1000; i++)
		nodes[i] = text[i / 50];
	copy = strdup(written(nodes, 1000));
	CU_ASSERT_EQUAL(read_text(copy, 1000), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(copy, "(n0:ncpus=1){0-49}(n1:ncpus=1){50-99}"));
	CU_ASSERT_PTR_NOT_NULL(strstr(copy, "(n19:ncpus=1){950-999}"));
	free(copy);
}

TESTS_MAIN("sequence of vnodes", TEST(reading), TEST(refusals), TEST(writing), TEST(many))
