/* SPDX-License-Identifier: Apache-2.0
 *
 * test_remains.c - what a job has before and after, compared.
 */
#include "remains.h"

#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "with_resources.h"
#include "pbs_error.h"


extern const struct keel_module keel_module;

#define HAD "(a1:ncpus=1+a2:ncpus=1)+(b1:ncpus=1+b2:ncpus=2)+(b1:ncpus=2)+(c:ncpus=3:mem=4kb)"

static void set_up(void)
{
	mock = mock_with_resources();
	keel_mock_use(mock, &keel_module);
}

/* hosts NULL: they do not fit together. gone: a letter for each part of HAD. */
static void remains(const char *has, const char *hosts, const char *stays)
{
	struct remains r;
	struct keel_err err = { 0 };
	struct keel_text text;
	int32_t code = remains_find(HAD, has, &r, &err);

	CU_ASSERT_EQUAL(code, hosts ? 0 : PBSE_IVALREQ);
	if (code || !hosts)
		return;
	keel_text_init(&text);
	CU_ASSERT(remains_hosts(&r, "a/3*0+b/0*0+b/3*2+c/5*3", &text));
	CU_ASSERT_STRING_EQUAL(text.data, hosts);
	for (uint32_t i = 0; stays[i]; i++)
		CU_ASSERT_EQUAL(r.stays[i], stays[i] == 's');
	keel_text_fini(&text);
	remains_fini(&r);
}

static void test_chunks(void)
{
	remains(HAD, "a/3*0+b/0*0+b/3*2+c/5*3", "ssssss");
	remains("(a1:ncpus=1+a2:ncpus=1)", "a/3*0", "ss----");
	remains("(a2:ncpus=1)+(b1:ncpus=2)", "a/3+b/3*2", "-s--s-");
	remains("(a1:ncpus=1)+(c:ncpus=3:mem=4kb)+(b1:ncpus=2)", "a/3+c/5*3+b/3*2", "s---ss");
	remains("(a1:ncpus=1)+(b2:ncpus=2)+(c:ncpus=2)", "a/3+b/0*2+c/5*2", "s--s-s");
	remains("(a1:ncpus=1)+(b1:ncpus=1)", "a/3+b/0", "s-s---");
	remains("(a1:ncpus=0)", "a/3*0", "s-----");
}

static void test_others(void)
{
	remains("(b1:ncpus=1)", NULL, NULL); /* the first chunk stays the first */
	remains("(a1:ncpus=2)", NULL, NULL);
	remains("(a1:ncpus=1)+(a2:ncpus=1)", NULL, NULL); /* of one chunk */
	remains("(a1:ncpus=1)+(b1:ncpus=2)+(b1:ncpus=2)", NULL, NULL);
	remains("(a1:ncpus=1)+(d:ncpus=1)", NULL, NULL);
	remains("(a1:ncpus=1)+(c:ncpus=1:mem=5kb)", NULL, NULL);
	remains("(a2:ncpus=1+a1:ncpus=1)", NULL, NULL); /* in another order */
	remains("(a1:ncpus=-1)", NULL, NULL);
}

static void test_texts(void)
{
	struct remains r;
	struct keel_err err = { 0 };
	struct keel_text text;

	CU_ASSERT_EQUAL(remains_find(HAD, "n1", &r, &err), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(remains_find("", HAD, &r, &err), PBSE_BADATVAL);
	CU_ASSERT_EQUAL_FATAL(remains_find(HAD, "(a1:ncpus=1)", &r, &err), 0);
	keel_text_init(&text);
	CU_ASSERT_FALSE(remains_hosts(&r, "a/3*0+b/0*0", &text)); /* of another exec_vnode */
	text.len = 0;
	part_text(&r.had->part[5], &text);
	part_text(&r.had->part[0], &text);
	CU_ASSERT_STRING_EQUAL(text.data, "(c:ncpus=3:mem=4kb)+(a1:ncpus=1)");
	keel_text_fini(&text);
	remains_fini(&r);
}

TESTS_MAIN_BETWEEN("remains", set_up, tear_down, TEST(test_chunks), TEST(test_others), TEST(test_texts))
