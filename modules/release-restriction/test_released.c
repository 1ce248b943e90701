/* SPDX-License-Identifier: Apache-2.0
 *
 * test_released.c - the released amounts of an exec_vnode, as text and as sums.
 */
#include "release-restriction.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { NCPUS, MEM, LIC, FOO, ARCH, WALLTIME, KINDS };
static const struct keel_resource resources[KINDS] = {
	[NCPUS] = { "ncpus", KEEL_RES_LONG, KEEL_RES_HOST | KEEL_RES_EACH | KEEL_RES_SUM },
	[MEM] = { "mem", KEEL_RES_SIZE, KEEL_RES_HOST | KEEL_RES_EACH | KEEL_RES_SUM },
	[LIC] = { "lic", KEEL_RES_LONG, KEEL_RES_HOST | KEEL_RES_FIRST },
	[FOO] = { "foo", KEEL_RES_LONG, KEEL_RES_SUM },
	[ARCH] = { "arch", KEEL_RES_STRING, KEEL_RES_HOST },
	[WALLTIME] = { "walltime", KEEL_RES_TIME, 0 },
};

static const struct keel_resource *fake_at(struct keel_mod *mod, uint32_t i)
{
	(void)mod;
	return i < KINDS ? &resources[i] : NULL;
}

static int32_t fake_text(const struct keel_res_value *v, bool in_kb, char *buf, uint32_t len)
{
	if (v->res->type == KEEL_RES_SIZE)
		return snprintf(buf, len, "%.0f%s", in_kb ? v->n / 1024 : v->n, in_kb ? "kb" : "b");
	return snprintf(buf, len, "%.0f", v->n);
}

/* A list is an array that ends with a value of no resource. */
static const struct keel_res_value *fake_get(const struct keel_reslist *list, const char *name)
{
	const struct keel_res_value *v = (const struct keel_res_value *)(const void *)list;

	while (v->res && strcmp(v->res->name, name) != 0)
		v++;
	return v->res ? v : NULL;
}

static const struct keel_resource_api api = { .size = sizeof(api), .at = fake_at,
					      .value_text = fake_text, .list_get = fake_get };

#define V(kind, amount) { .res = &resources[kind], .n = (amount) }
static const struct keel_res_value first[] = { V(NCPUS, 8), V(MEM, 2048), V(LIC, 1) };
static const struct keel_res_value second[] = { V(NCPUS, 6), { .res = &resources[ARCH], .text = "x" } };
static const struct keel_exec_part parts[] = { { "n1", 0, 3, first }, { "n2", 0, 2, second },
					       { "n1", 1, 1, first } };
static const struct keel_exec exec = { 3, 2, parts };
static const struct keel_res_value requested[] = { V(FOO, 30), V(MEM, 9999), V(NCPUS, 99), V(WALLTIME, 60),
					       { .res = NULL } };

static void shows(const char *names, const char *expected)
{
	struct keel_text text;

	KEEL_USE_resource = &api;
	keel_text_init(&text);
	released_text(&exec, names, &text);
	CU_ASSERT_STRING_EQUAL(text.data, expected);
	keel_text_fini(&text);
}

static void note(void *arg, const struct keel_res_value *v, bool in_kb)
{
	struct keel_text *out = arg;
	char amount[64];

	api.value_text(v, in_kb, amount, sizeof(amount));
	keel_text_printf(out, "%s=%s ", v->res->name, amount);
}

static void sums(const char *names, const char *expected)
{
	struct keel_text text;

	KEEL_USE_resource = &api;
	keel_text_init(&text);
	released_amounts(&exec, (const struct keel_reslist *)(const void *)requested, names, note, &text);
	CU_ASSERT_STRING_EQUAL(text.data, expected);
	keel_text_fini(&text);
}

/* Groups of one chunk part, two chunks on one vnode stay two, order is that of exec_vnode. */
static void test_text(void)
{
	shows("ncpus", "(n1:ncpus=8)+(n2:ncpus=6)+(n1:ncpus=8)");
	shows("mem,NCPUS", "(n1:ncpus=8:mem=2kb)+(n2:ncpus=6)+(n1:ncpus=8)");
	shows("lic", "(n1:lic=1)+(n2:ncpus=0)+(n1:ncpus=0)");
}

static void test_text_of_nothing(void)
{
	shows("", "(n1:ncpus=0)+(n2:ncpus=0)+(n1:ncpus=0)");
	shows("arch,walltime,foo", "(n1:ncpus=0)+(n2:ncpus=0)+(n1:ncpus=0)");
}

static void test_sums(void)
{
	sums("ncpus", "ncpus=22 ");
	sums("ncpus,mem,lic", "lic=1 mem=2kb ncpus=22 ");
	sums("mem", "mem=2kb ncpus=0 ");
}

/* An amount that the job requested as a whole is listed if no vnode has it. */
static void test_sums_of_the_job(void)
{
	sums("foo,ncpus", "foo=30 ncpus=22 ");
	sums("foo", "foo=30 ncpus=0 ");
	sums("walltime", "ncpus=0 ");
}

TESTS_MAIN("released", TEST(test_text), TEST(test_text_of_nothing), TEST(test_sums),
	   TEST(test_sums_of_the_job))
