/* SPDX-License-Identifier: Apache-2.0
 *
 * test_select.c - select and exec_vnode at their bounds and one above.
 */
#include "resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"

extern const struct keel_module keel_module;
KEEL_USE_OPT(resource);

static struct keel_err err;
static char name[257], value[4097]; /* one longer than allowed */

static void set_up(void)
{
	err = (struct keel_err){ 0 };
	mock = keel_mock_new(KEEL_SERVER);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, NULL, &err));
	memset(name, 'n', 256);
	memset(value, 'v', 4096);
	for (int i = 0; i < 2; i++) {
		struct keel_obj *res = keel_mock_object(mock, "resource", i ? name + 1 : "colour");

		keel_mock_set(res, "type", NULL, "string");
		keel_mock_set(res, "flag", NULL, "h");
	}
}

static int32_t KEEL_PRINTF(1, 2) chosen(const char *fmt, ...)
{
	struct keel_select *select = NULL;
	char text[8192];
	int32_t code;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	code = keel_resource_select_parse(text, &select, &err);
	if (!code)
		keel_resource_select_free(select);
	return code;
}

/* past modules/resources/select.c PART_COUNT_MAX */
static void test_parts(void)
{
	static char text[16385 * 2];
	struct keel_select *select = NULL;

	memset(text, '1', sizeof(text) - 1);
	for (size_t i = 1; i < sizeof(text) - 1; i += 2)
		text[i] = '+';
	CU_ASSERT_EQUAL(keel_resource_select_parse(text, &select, &err), PBSE_BADATVAL);
	CU_ASSERT_STRING_EQUAL(err.text, "a select has at most 16384 parts; ask for equal chunks in one, as in "
					 "1000:ncpus=64");
	text[sizeof(text) - 3] = '\0';
	CU_ASSERT_EQUAL(keel_resource_select_parse(text, &select, &err), 0);
	keel_resource_select_free(select);
}

/* past modules/resources/select.c CHUNK_COUNT_MAX */
static void test_chunks(void)
{
	CU_ASSERT_EQUAL(chosen("65536:ncpus=1"), 0);
	CU_ASSERT_EQUAL(chosen("65535:ncpus=1+1:ncpus=2"), 0);
	CU_ASSERT_EQUAL(chosen("65537:ncpus=1"), PBSE_BADATVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a job has at most 65536 chunks"));
	CU_ASSERT_EQUAL(chosen("65536:ncpus=1+1:ncpus=2"), PBSE_BADATVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a job has at most 65536 chunks"));
}

/* past modules/resources/select.c NAME_MAX_LEN, past modules/resources/select.c VALUE_MAX_LEN (with its end) */
static void test_lengths(void)
{
	CU_ASSERT_EQUAL(chosen("1:%s=x", name + 1), 0);
	CU_ASSERT_EQUAL(chosen("1:%s=x", name), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(chosen("1:colour=%s", value + 1), 0);
	CU_ASSERT_EQUAL(chosen("1:colour=%s", value), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(chosen("1:colour=\"%s\"", value + 1), 0);
	CU_ASSERT_EQUAL(chosen("1:colour=\"%s\"", value), PBSE_BADATVAL);
}

/* past modules/resources/exec.c VNODE_NAME_MAX */
static void test_vnode(void)
{
	for (int more = 0; more <= 1; more++) {
		struct keel_exec *exec = NULL;
		char text[300];
		int32_t code;

		snprintf(text, sizeof(text), "(%s:ncpus=1)", name + 1 - more);
		code = keel_resource_exec_parse(text, &exec, &err);
		CU_ASSERT_EQUAL(code, more ? PBSE_BADATVAL : 0);
		if (code)
			continue;
		CU_ASSERT_STRING_EQUAL(exec->part[0].vnode, name + 1);
		keel_resource_exec_free(exec);
	}
}

TESTS_MAIN_BETWEEN("select", set_up, tear_down, TEST(test_chunks), TEST(test_parts), TEST(test_lengths), TEST(test_vnode))
