/* SPDX-License-Identifier: Apache-2.0
 *
 * test_loader.c - files that are no modules, hostile ones, those of others; descriptors that lie.
 */
#include <elf.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "module/fixture.h"
#include "module/inside.h"
#include "util/file.h"
#include "util/text.h"

static char *path_of(const char *name)
{
	char *path = path_join(fixtures_dir(), name), *real = realpath(path, NULL);

	free(path);
	return real;
}

static void notes_are_read(void)
{
	char *path = path_of("job_submit.so");
	struct modfile_note note;
	struct stat st;

	CU_ASSERT_EQUAL(note_read(path, path, &st, &note, &k.err), 0);
	CU_ASSERT_EQUAL(note.major, KEEL_ABI_MAJOR);
	CU_ASSERT_EQUAL(note.minor, KEEL_ABI_MINOR);
	free(path);
}

static int note_of(const void *bytes, size_t len)
{
	struct modfile_note note;
	struct stat st;
	char *dir = scratch_new(), *file = path_join(dir, "x.so");
	int ret;

	if (file_write_durable(file, bytes, len, 0700) < 0)
		abort();
	ret = note_read(file, file, &st, &note, &k.err);
	scratch_remove(dir);
	free(dir);
	free(file);
	return ret;
}

/* past kernel/module/inside.h FILE_SIZE_MAX */
static void too_long_a_file_is_not_mapped(void)
{
	char *dir = scratch_new(), *file = path_join(dir, "x.so");

	scratch_write(dir, "x.so", "");
	CU_ASSERT_EQUAL(truncate(file, (1l << 30) + 1), 0);
	CU_ASSERT_EQUAL(note_read(file, file, &(struct stat){ 0 }, &(struct modfile_note){ 0 }, &k.err), -EFBIG);
	scratch_remove(dir);
	free(dir);
	free(file);
}

static void what_is_no_module_is_named(void)
{
	char *elf = path_of("job_submit.so"), *bytes;
	size_t len;

	CU_ASSERT(note_read("/nowhere/x.so", "/nowhere/x.so", &(struct stat){ 0 }, &(struct modfile_note){ 0 }, &k.err) == -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "/nowhere/x.so"));
	CU_ASSERT(note_read("/dev/null", "/dev/null", &(struct stat){ 0 }, &(struct modfile_note){ 0 }, &k.err) < 0);
	CU_ASSERT(note_read("/tmp", "/tmp", &(struct stat){ 0 }, &(struct modfile_note){ 0 }, &k.err) < 0);
	CU_ASSERT(note_of("", 0) < 0);
	CU_ASSERT(note_of("#!/bin/sh\n", 10) < 0);
	CU_ASSERT_EQUAL_FATAL(file_read(elf, 1 << 26, &bytes, &len), 0);
	bytes[EI_CLASS] = ELFCLASS32;
	CU_ASSERT(note_of(bytes, len) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "another kind of machine"));
	free(bytes);
	free(elf);
}

/* Every cut, and every byte of the headers and notes spoilt: refused or read, never read past the end
 * (a sanitizer or the end of the mapping would tell). */
static void damaged_files_do_no_harm(void)
{
	char *elf = path_of("job_submit.so"), *bytes;
	size_t len;

	CU_ASSERT_EQUAL_FATAL(file_read(elf, 1 << 26, &bytes, &len), 0);
	for (size_t cut = 0; cut < 700; cut += 7)
		(void)note_of(bytes, cut);
	for (size_t at = 0; at < 700; at += 3) {
		unsigned char was = (unsigned char)bytes[at];

		bytes[at] = (char)0xff;
		(void)note_of(bytes, len);
		bytes[at] = (char)was;
	}
	free(bytes);
	free(elf);
}

static void another_interface_is_refused_with_numbers(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(load("badabi: { }"), -EPROTO);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "99.0"));
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "upgrade keelson"));
	kernel_stop();
}

static void an_unresolved_symbol_is_named(void)
{
	kernel_start();
	CU_ASSERT(load("unresolved: { }") < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "nobody_defines_this"));
	kernel_stop();
}

static void only_absolute_so_files(void)
{
	struct image image;

	CU_ASSERT_EQUAL(image_open("job_submit.so", NULL, true, &image, &k.err), -EINVAL);
	CU_ASSERT_EQUAL(image_open("/tmp/job_submit.la", NULL, true, &image, &k.err), -EINVAL);
}

static void root_trusts_only_its_own(void)
{
	char *dir = scratch_new(), *file = path_join(dir, "x.so");

	if (geteuid() == 0) {
		copy_fixture("job_submit.so", file);
		CU_ASSERT_EQUAL(file_trust(file, &k.err), 0);
		CU_ASSERT_EQUAL(chmod(file, 0775), 0);
		CU_ASSERT_EQUAL(file_trust(file, &k.err), -EPERM);
		CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "chmod"));
		CU_ASSERT_EQUAL(chmod(file, 0755), 0);
		CU_ASSERT_EQUAL(chmod(dir, 0777), 0);
		CU_ASSERT_EQUAL(file_trust(file, &k.err), -EPERM);
		CU_ASSERT_EQUAL(chmod(dir, 0755), 0);
		CU_ASSERT_EQUAL(chown(file, 12345, 12345), 0);
		CU_ASSERT_EQUAL(file_trust(file, &k.err), -EPERM);
	}
	scratch_remove(dir);
	free(dir);
	free(file);
}

/* ---- descriptors ------------------------------------------------------------------------------------ */
static const void *some_table;
static const struct keel_need no_place[] = { { .name = "node" } };
static const struct keel_need no_name[] = { { .at = &some_table } };
static const struct keel_need whole[] = { { .name = "node", .at = &some_table } };
static const struct keel_conf_rule outside[] = {
	{ .size = sizeof(outside[0]), .type = KEEL_CONF_INT, .offset = 8, .key = "x" },
};
static const struct keel_tap bad_tap[] = { { .size = sizeof(bad_tap[0]), .point = 251 } };

static const struct keel_conf_rule kernels_key[] = {
	{ .size = sizeof(kernels_key[0]), .type = KEEL_CONF_INT, .key = "order" } };

#define GOOD                                                                                       \
	.magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .size = sizeof(struct keel_module),      \
	.name = "x", .version = "1", .summary = "s", .roles = KEEL_ANY

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	(void)c, (void)ev;
	return KEEL_NEXT;
}

static int lint(const struct keel_module *d)
{
	struct module m = { 0 };
	int ret = descriptor_lint(&m, "x.so", d, &k.err);

	free(m.rules);
	free(m.taps);
	return ret;
}

static const struct keel_contrib many_rows[4097] = { 0 };
static const struct keel_tap wide_tap[] = { { .size = 4097, .point = KEEL_POINT_job_queued, .name = "wide",
					      .fn = { .job_queued = on_queued } } };

/* past kernel/module/lint.c ROWS_MAX, past kernel/module/lint.c STRIDE_MAX, past kernel/module/lint.c BLOCK_MAX */
#pragma GCC diagnostic ignored "-Woverride-init"
static void descriptors_that_lie_are_refused(void)
{
	static const struct keel_module good = { GOOD }, bad[] = {
		{ GOOD, .magic = 1 },
		{ GOOD, .abi_major = 2 },
		{ GOOD, .abi_minor = 9 },
		{ GOOD, .size = 16 },
		{ GOOD, .name = NULL },
		{ GOOD, .name = "Not Good" },
		{ GOOD, .version = NULL },
		{ GOOD, .roles = 0 },
		{ GOOD, .roles = 64 },
		{ GOOD, .flags = 1u << 30 },
		{ GOOD, .state_size = (64u << 20) + 1 },
		{ GOOD, .n_contribs = 4097, .contribs = many_rows },
		{ GOOD, .n_taps = 1, .taps = wide_tap },
		{ GOOD, .n_taps = 1 },
		{ GOOD, .taps = bad_tap }, /* not counted: it would never be called */
		{ GOOD, .n_conf = UINT32_MAX, .conf = outside },
		{ GOOD, .needs = no_place, .needs_end = no_place + 1 },
		{ GOOD, .needs = no_name, .needs_end = no_name + 1 },
		{ GOOD, .needs = whole, .needs_end = (const void *)((const char *)whole + 1) },
		{ GOOD, .needs = no_place },
		{ GOOD, .n_conf = 1, .conf = outside, .conf_size = 15 },
		{ GOOD, .n_taps = 1, .taps = bad_tap },
		{ GOOD, .n_conf = 1, .conf = kernels_key, .conf_size = 8 },
	};

	CU_ASSERT_EQUAL(lint(&good), 0);
	for (size_t i = 0; i < KEEL_COUNT(bad); i++) {
		k.err.text[0] = '\0';
		CU_ASSERT(lint(&bad[i]) < 0);
		CU_ASSERT(k.err.text[0] != '\0');
	}
}

/* A newer module's tables have longer rows: they are walked in its stride, and are rows like any others then. */
static void longer_rows_become_rows_of_this_kernel(void)
{
	static const struct {
		struct keel_conf_rule rule;
		uint64_t news;
	} rows[] = {
		{ { .size = sizeof(rows[0]), .type = KEEL_CONF_INT, .offset = 0, .key = "a" }, 1 },
		{ { .size = sizeof(rows[0]), .type = KEEL_CONF_INT, .offset = 8, .key = "b" }, 2 },
	};
	static const struct {
		struct keel_tap tap;
		uint64_t news;
	} taps[] = {
		{ { .size = sizeof(taps[0]), .point = KEEL_POINT_job_queued, .name = "one", .fn = { .job_queued = on_queued } }, 1 },
		{ { .size = sizeof(taps[0]), .point = KEEL_POINT_job_queued, .name = "two", .fn = { .job_queued = on_queued } }, 2 },
	};
	const struct keel_module d = { GOOD, .conf = &rows[0].rule, .n_conf = 2, .conf_size = 16,
				       .taps = &taps[0].tap, .n_taps = 2 };
	struct module m = { 0 };

	CU_ASSERT_EQUAL_FATAL(descriptor_lint(&m, "x.so", &d, &k.err), 0);
	CU_ASSERT_STRING_EQUAL(rule_at(m.rules, 1).key, "b");
	CU_ASSERT_STRING_EQUAL(m.taps[1].name, "two");
	free(m.rules);
	free(m.taps);
}

TESTS_MAIN("module/loader", TEST(notes_are_read), TEST(what_is_no_module_is_named),
	   TEST(too_long_a_file_is_not_mapped),
	   TEST(damaged_files_do_no_harm), TEST(another_interface_is_refused_with_numbers),
	   TEST(an_unresolved_symbol_is_named), TEST(only_absolute_so_files),
	   TEST(root_trusts_only_its_own), TEST(descriptors_that_lie_are_refused),
	   TEST(longer_rows_become_rows_of_this_kernel))
