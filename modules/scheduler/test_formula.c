/* SPDX-License-Identifier: Apache-2.0
 *
 * test_formula.c - what a formula means, and which error has which number.
 */
#include "formula.h"

#include "harness.h"
#include "pbs_error.h"

#include <math.h>
#include <string.h>

static int32_t known(void *arg, const char *name)
{
	(void)arg;
	if (strcmp(name, "arch") == 0)
		return PBSE_BAD_FORMULA_TYPE;
	return strcmp(name, "ncpus") == 0 || strcmp(name, "eligible_time") == 0 ? 0
										: PBSE_BAD_FORMULA_KW;
}

static void values(void)
{
	static const struct {
		const char *text;
		double is;
	} rows[] = {
		{ "ncpus", 4 },
		{ "ncpus + eligible_time", 14 },
		{ "2*ncpus - 1", 7 },
		{ "ncpus ** 2", 16 },
		{ "2 ** 3 ** 1", 8 },
		{ "7 % 4 * 2", 6 },
		{ "-ncpus", -4 },
		{ "(ncpus+1)*(eligible_time-ncpus)", 30 },
		{ "ncpus/8", 0.5 },
		{ "1.5e1 * ncpus", 60 },
		{ "sqrt(ncpus) + floor(2.7) + ceil(0.1)", 5 },
		{ "pow(2, ncpus)", 16 },
		{ "log(1) + log10(100) + ln(1)", 2 },
		{ "min(ncpus, 3) + max(ncpus, 9)", 12 },
		{ "ncpus / 0", 0 }, /* what cannot be computed is nothing */
		{ "log(0 - 1)", 0 },
		{ ".5 * ncpus", 2 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct formula *f = NULL;
		double v[FORMULA_NAMES] = { 0 };
		uint32_t k;

		CU_ASSERT_EQUAL_FATAL(formula_make(rows[i].text, known, NULL, &f), 0);
		for (k = 0; k < formula_count(f); k++)
			v[k] = strcmp(formula_name(f, k), "ncpus") == 0 ? 4 : 10;
		CU_ASSERT_DOUBLE_EQUAL(formula_value(f, v), rows[i].is, 1e-9);
		formula_free(f);
	}
}

static void mistakes(void)
{
	static const struct {
		const char *text;
		int32_t code;
	} rows[] = {
		{ "", PBSE_BAD_FORMULA },
		{ "ncpus +", PBSE_BAD_FORMULA },
		{ "(ncpus", PBSE_BAD_FORMULA },
		{ "ncpus ncpus", PBSE_BAD_FORMULA },
		{ "ncpus ^ 2", PBSE_BAD_FORMULA },
		{ "ncpus; 1", PBSE_BAD_FORMULA },
		{ "ncpus = 3", PBSE_BAD_FORMULA },
		{ "2ncpus", PBSE_BAD_FORMULA },
		{ ".", PBSE_BAD_FORMULA },
		{ "nosuch", PBSE_BAD_FORMULA_KW },
		{ "ncpus * nosuch(3)", PBSE_BAD_FORMULA_KW },
		{ "__import__('os')", PBSE_BAD_FORMULA_KW },
		{ "arch", PBSE_BAD_FORMULA_TYPE },
		{ "ncpus + arch", PBSE_BAD_FORMULA_TYPE },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct formula *f = NULL;

		CU_ASSERT_EQUAL(formula_make(rows[i].text, known, NULL, &f), rows[i].code);
		CU_ASSERT_PTR_NULL(f);
	}
}

static void too_much(void)
{
	char text[9000];
	struct formula *f = NULL;

	memset(text, '(', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	CU_ASSERT_EQUAL(formula_make(text, known, NULL, &f), PBSE_BAD_FORMULA);
	memset(text, 'a', 200);
	text[200] = '\0';
	CU_ASSERT_EQUAL(formula_make(text, known, NULL, &f), PBSE_BAD_FORMULA_KW);
	memset(text, '(', 4000);
	text[4000] = '\0';
	CU_ASSERT_EQUAL(formula_make(text, known, NULL, &f), PBSE_BAD_FORMULA);
	CU_ASSERT_PTR_NULL(f);
	formula_free(NULL);
}

static int32_t anything(void *arg, const char *name)
{
	(void)arg, (void)name;
	return 0;
}

/* past modules/scheduler/formula.h FORMULA_MAX */
static void the_longest(void)
{
	char text[4097];
	struct formula *f = NULL;

	memset(text, ' ', sizeof(text));
	text[0] = text[4094] = '1';
	text[1] = '+';
	text[4095] = '\0';
	CU_ASSERT_EQUAL_FATAL(formula_make(text, known, NULL, &f), 0);
	CU_ASSERT_DOUBLE_EQUAL(formula_value(f, NULL), 2, 1e-9);
	formula_free(f);
	f = NULL;
	text[4095] = '1';
	text[4096] = '\0';
	CU_ASSERT_EQUAL(formula_make(text, known, NULL, &f), PBSE_BAD_FORMULA);
	CU_ASSERT_PTR_NULL(f);
}

/* past modules/scheduler/formula.h FORMULA_NAME_MAX */
static void longest_name(void)
{
	char name[257];
	struct formula *f = NULL;
	double v[FORMULA_NAMES] = { 7 };

	memset(name, 'n', sizeof(name));
	name[255] = '\0';
	CU_ASSERT_EQUAL_FATAL(formula_make(name, anything, NULL, &f), 0);
	CU_ASSERT_STRING_EQUAL(formula_name(f, 0), name);
	CU_ASSERT_DOUBLE_EQUAL(formula_value(f, v), 7, 1e-9);
	formula_free(f);
	f = NULL;
	name[255] = 'n';
	name[256] = '\0';
	CU_ASSERT_EQUAL(formula_make(name, anything, NULL, &f), PBSE_BAD_FORMULA_KW);
	CU_ASSERT_PTR_NULL(f);
}

TESTS_MAIN("formula", TEST(values), TEST(mistakes), TEST(too_much), TEST(the_longest), TEST(longest_name))
