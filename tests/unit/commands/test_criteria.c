/* SPDX-License-Identifier: Apache-2.0
 *
 * test_criteria.c - options of qselect as a list for the server; dates.
 */
#include <errno.h>

#include "capture.h"
#include "criteria.h"
#include "date.h"

static void one(int letter, const char *value, const char *name, const char *resource,
		enum batch_op op, const char *expected)
{
	struct criteria c;

	criteria_init(&c);
	CU_ASSERT_EQUAL(criteria_take(&c, letter, value), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c.first);
	CU_ASSERT_STRING_EQUAL(c.first->name, name);
	CU_ASSERT_STRING_EQUAL(c.first->resource ? c.first->resource : "", resource);
	CU_ASSERT_STRING_EQUAL(c.first->value, expected);
	CU_ASSERT_EQUAL(c.first->op, op);
	criteria_fini(&c);
}

static void test_letters(void)
{
	one('p', ".ge.-5", ATTR_p, "", GE, "-5");
	one('p', "7", ATTR_p, "", EQ, "7");
	one('r', "n", ATTR_r, "", EQ, "FALSE");
	one('s', "QR", ATTR_state, "", EQ, "QR");
	one('h', "uo", ATTR_h, "", EQ, "uo");
	one('c', ".ne.c=5", ATTR_c, "", NE, "c=5");
	one('N', ".eq.x", ATTR_N, "", EQ, ".eq.x");
	one('u', "a,b@h", ATTR_owner, "", EQ, "a,b@h");
	one('J', "", ATTR_array, "", EQ, "True");
	one('H', "", ATTR_state, "", EQ, "FMX");
	one('a', ".lt.202401011200", ATTR_a, "", LT, "1704110400");
	one('t', "s.gt.202401011200.30", ATTR_stime, "", GT, "1704110430");
	one('t', "t202401011200", ATTR_estimated, "start_time", EQ, "1704110400");
	one('t', "g.le.00:10:00", ATTR_eligible_time, "", LE, "00:10:00");
	one('l', "ncpus.gt.2", ATTR_l, "ncpus", GT, "2");
	one('q', "q1", ATTR_q, "", EQ, "q1");
}

static void test_several(void)
{
	struct criteria c;

	criteria_init(&c);
	CU_ASSERT_EQUAL(criteria_take(&c, 'l', "ncpus.gt.2,walltime.lt.1:0:0"), 0);
	CU_ASSERT_EQUAL(criteria_take(&c, 'x', ""), 0);
	CU_ASSERT_EQUAL(criteria_take(&c, 'T', ""), 0);
	CU_ASSERT_EQUAL(criteria_take(&c, 'q', "@srv:15001"), 0);
	CU_ASSERT_STRING_EQUAL(c.first->next->resource, "walltime");
	CU_ASSERT_STRING_EQUAL(c.first->next->value, "1:0:0");
	CU_ASSERT_EQUAL(c.first->next->op, LT);
	CU_ASSERT_PTR_NULL(c.first->next->next);
	CU_ASSERT(c.history && c.expand);
	CU_ASSERT_STRING_EQUAL(c.where.server, "srv:15001");
	criteria_fini(&c);
}

static void test_illegal(void)
{
	static const struct {
		int letter;
		const char *value;
	} rows[] = {
		{ 's', "Z" },	    { 's', "" },	{ 'h', "x" },	    { 'p', "" },
		{ 'p', ".ge." },    { 'p', "1x" },	{ 'r', "yes" },	    { 'c', "c=" },
		{ 'c', "x" },	    { 'l', "" },	{ 'l', "ncpus=3" }, { 'l', "ncpus.zz.3" },
		{ 'l', "ncpus" },   { 'l', ".eq.3" },	{ 'l', "a.eq.1," }, { 'l', "a.eq.,b.eq.1" },
		{ 't', "" },	    { 't', "z1200" },	{ 't', "s" },	    { 't', "s.gt." },
		{ 'a', "" },	    { 'a', "1" },	{ 'a', "2560" },    { 'N', "" },
		{ 't', "gx" },	    { 'u', "" },
	};
	struct criteria c;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		criteria_init(&c);
		CU_ASSERT_EQUAL(criteria_take(&c, rows[i].letter, rows[i].value), -EINVAL);
		criteria_fini(&c);
	}
	CU_ASSERT_EQUAL(criteria_take(&c, 'q', "a@"), -EDESTADDRREQ);
	CU_ASSERT_EQUAL(criteria_take(&c, '?', ""), -ENOTSUP);
}

static void date(const char *text, long expected)
{
	long long when = 0;

	/* now: Fri Mar  1 10:00:00 2024 */
	CU_ASSERT_EQUAL(date_parse(text, 1709287200, &when), expected < 0 ? -EINVAL : 0);
	if (expected >= 0)
		CU_ASSERT_EQUAL(when, expected);
}

static void test_dates(void)
{
	date("1200", 1709294400);
	date("0900", 1709287200 + 23 * 3600);
	date("0900.30", 1709287200 + 23 * 3600 + 30);
	date("150900", 1710493200);
	date("010900", 1711962000);
	date("03150900", 1710493200);
	date("02150900", 1739610000);
	date("2402150900", 1707987600);
	date("202402150900", 1707987600);
	date("197001010000", 0);
	date("2402300900", -1);
	date("12345", -1);
	date("", -1);
	date("12", -1);
	date("1200.5", -1);
	date("1200x", -1);
	date("13010000", -1);
	date("20240215090000", -1);
}

TESTS_MAIN_BETWEEN("criteria", in_utc, NULL, TEST(test_letters), TEST(test_several), TEST(test_illegal),
		   TEST(test_dates))
