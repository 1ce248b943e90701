/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sister.c - the sister's states.
 */
#include "sister.h"

#include <string.h>

#include "harness.h"

static struct sister s;
static struct sister_act last;
static int n[DO_END + 1];
static char text[300];

static void act(void *arg, const struct sister_act *a)
{
	(void)arg;
	last = *a;
	n[a->kind]++;
	snprintf(text, sizeof(text), "%s", a->text ? a->text : "");
}

static void fresh(void)
{
	memset(&s, 0, sizeof(s));
	memset(n, 0, sizeof(n));
	s.act = act;
	s.downtime_ms = 30000;
	sister_init(&s, 0);
}

static void says_that_it_is_ready_on_each_link(void)
{
	fresh();
	sister_ready(&s);
	CU_ASSERT_EQUAL(n[SAY_JOINED], 0);
	sister_link(&s, true, 0);
	CU_ASSERT_EQUAL(n[SAY_JOINED], 1);
	sister_ready(&s);
	sister_link(&s, true, 0);
	CU_ASSERT_EQUAL(n[SAY_JOINED], 1);
	sister_asked(&s);
	CU_ASSERT_EQUAL(n[SAY_JOINED], 2);
	sister_link(&s, false, 10);
	sister_link(&s, true, 20);
	CU_ASSERT_EQUAL(n[SAY_JOINED], 3);
	fresh();
	sister_link(&s, true, 0);
	sister_asked(&s); /* nothing to say yet */
	CU_ASSERT_EQUAL(n[SAY_JOINED] + n[SAY_FAILED] + n[SAY_ENDED], 0);
	sister_ready(&s);
	CU_ASSERT_EQUAL(n[SAY_JOINED], 1);
}

static void says_why_it_failed(void)
{
	fresh();
	sister_link(&s, true, 0);
	sister_refused(&s, -3, 15169, "bad node");
	CU_ASSERT_EQUAL(n[SAY_FAILED], 1);
	CU_ASSERT_EQUAL(last.status, -3);
	CU_ASSERT_EQUAL(last.code, 15169);
	CU_ASSERT_STRING_EQUAL(text, "bad node");
	sister_ready(&s); /* it is not */
	CU_ASSERT_EQUAL(n[SAY_JOINED], 0);
	sister_asked(&s);
	CU_ASSERT_EQUAL(n[SAY_FAILED], 2);
}

/* past modules/sisters/sister.h SISTER_TEXT_MAX */
static void a_long_text_is_cut(void)
{
	char words[SISTER_TEXT_MAX + 2];

	memset(words, 'x', sizeof(words));
	words[SISTER_TEXT_MAX + 1] = '\0';
	fresh();
	sister_link(&s, true, 0);
	sister_refused(&s, -3, 15169, words);
	CU_ASSERT_EQUAL(strlen(text), SISTER_TEXT_MAX);
}

static void obeys_an_order_once(void)
{
	fresh();
	sister_link(&s, true, 0);
	sister_ready(&s);
	sister_order(&s, 7, "suspend");
	sister_order(&s, 7, "suspend"); /* under way */
	CU_ASSERT_EQUAL(n[DO_ORDER], 1);
	CU_ASSERT_EQUAL(n[SAY_ANSWER], 0);
	sister_done(&s, 7, 15016, "it cannot be stopped");
	CU_ASSERT_EQUAL(n[SAY_ANSWER], 1);
	sister_order(&s, 7, "suspend");
	CU_ASSERT_EQUAL(n[DO_ORDER], 1);
	CU_ASSERT_EQUAL(n[SAY_ANSWER], 2);
	CU_ASSERT_EQUAL(last.code, 15016);
	CU_ASSERT_STRING_EQUAL(text, "it cannot be stopped");
	sister_order(&s, 6, "resume"); /* stale */
	CU_ASSERT_EQUAL(n[DO_ORDER], 1);
	sister_order(&s, 8, "resume");
	CU_ASSERT_EQUAL(n[DO_ORDER], 2);
	sister_done(&s, 7, 0, ""); /* of an order that is over */
	CU_ASSERT_EQUAL(n[SAY_ANSWER], 2);
}

static void ends_when_what_was_written_has_been_taken(void)
{
	fresh();
	sister_link(&s, true, 0);
	sister_ready(&s);
	sister_ended(&s);
	CU_ASSERT_EQUAL(n[SAY_ENDED], 0);
	sister_asked(&s);
	CU_ASSERT_EQUAL(n[SAY_ENDED], 0);
	sister_drained(&s);
	CU_ASSERT_EQUAL(n[SAY_ENDED], 1);
	sister_drained(&s);
	CU_ASSERT_EQUAL(n[SAY_ENDED], 1);
	sister_asked(&s);
	CU_ASSERT_EQUAL(n[SAY_ENDED], 2);
}

static void ends_without_its_primary(void)
{
	fresh();
	sister_ready(&s);
	sister_link(&s, true, 0);
	sister_link(&s, false, 5000);
	sister_tick(&s, 34999);
	CU_ASSERT_EQUAL(n[DO_END], 0);
	sister_tick(&s, 35000);
	sister_tick(&s, 36000);
	CU_ASSERT_EQUAL(n[DO_END], 1);
	fresh();
	sister_ready(&s);
	sister_tick(&s, 30000); /* it never had a link, perhaps since this daemon began */
	CU_ASSERT_EQUAL(n[DO_END], 1);
	fresh();
	sister_ready(&s);
	sister_link(&s, true, 0);
	sister_tick(&s, 300000);
	CU_ASSERT_EQUAL(n[DO_END], 0);
}

TESTS_MAIN("sisters/sister", TEST(says_that_it_is_ready_on_each_link), TEST(says_why_it_failed), TEST(a_long_text_is_cut),
	   TEST(obeys_an_order_once),
	   TEST(ends_when_what_was_written_has_been_taken), TEST(ends_without_its_primary))
