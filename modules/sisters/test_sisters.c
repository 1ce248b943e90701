/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sisters.c - a primary and its sisters.
 */
#include "test_world.h"

/* ---- the primary --------------------------------------------------------------------------------------------------- */
static void a_start_waits_for_all(void)
{
	begin(0, 0);
	part.state = KEEL_PART_BEGIN;
	CU_ASSERT_EQUAL(raise_begin(), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(expected, "+b@10.0.0.2:15003KB +c@10.0.0.3:15003KC ");
	CU_ASSERT_STRING_EQUAL(keel_mock_hold(mock, 0), "sisters: hosts of the job join it (0s of 86400s)");
	up("b");
	CU_ASSERT_PTR_NOT_NULL(said("b sister.join id=1.svr run=1"));
	hear("b", "sister.joined", NULL);
	hear("b", "sister.joined", NULL);
	CU_ASSERT_FALSE(out.told);
	up("c");
	hear("c", "sister.joined", NULL);
	CU_ASSERT(out.told && out.verdict != KEEL_REJECT);
	CU_ASSERT_EQUAL(raise_prologue(), KEEL_WAIT);
	CU_ASSERT_PTR_NOT_NULL(said("c sister.order"));
	answer("b", 0, "");
	CU_ASSERT_FALSE(out.told);
	answer("c", -16, "not on this host");
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, -16);
	CU_ASSERT_STRING_EQUAL(out.text, "not on this host");
	CU_ASSERT_PTR_NOT_NULL(said("name=abort"));
	there = false;
	parts_heard.gone(parts_me, "1.svr", 1, true);
	CU_ASSERT_PTR_NOT_NULL(strstr(expected, "-b -c "));
	end();
}

static void a_join_that_fails_is_logged_as_specified(void)
{
	begin(0, 0);
	raise_begin();
	up("b");
	up("c");
	HEAR("b", "sister.failed", "status", "#-4", "code", "#15169", "text", "bad node");
	CU_ASSERT_EQUAL(out.code, -3);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Job;1.svr;job_start_error 15169 from node 10.0.0.2:15003 could not JOIN_JOB successfully"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Job;1.svr;bad node"));
	end();
}

static keel_verdict tolerate(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_task_lost *ev = event;

	(void)point;
	snprintf(arg, 128, "%s %s %lld %s", ev->host, ev->stage, (long long)ev->code, ev->text);
	return keel_answer(c, "");
}

static void a_tolerant_start_goes_on(void)
{
	char lost[128] = "";

	begin(0, 0);
	keel_mock_tap(mock, KEEL_POINT_task_lost, "lost", 0, tolerate, lost);
	raise_begin();
	up("b");
	up("c");
	hear("c", "sister.joined", NULL);
	HEAR("b", "sister.failed", "status", "#-4", "code", "#15169", "text", "bad node");
	CU_ASSERT(out.told && out.verdict != KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(lost, "b join 15169 bad node");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "job_start_error 15169 from node b could not JOIN_JOB successfully"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "ignoring error from b as job is tolerant of node failures"));
	end();
}

static void the_alarm_ends_the_wait(void)
{
	begin(0, 0);
	raise_begin();
	keel_mock_advance(mock, 31000);
	CU_ASSERT(out.told);
	CU_ASSERT_EQUAL(out.code, -30);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "sister_join_job_alarm wait time 30 secs exceeded"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "job_start_error 15059 from node 10.0.0.2:15003 could not JOIN_JOB"));
	end();
}

static keel_verdict alarm_add(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)point, (void)arg;
	keel_add(c, strcmp(((const struct keel_ev_start_alarm *)event)->stage, "join") == 0 ? 32 : 0);
	return KEEL_NEXT;
}

static void how_long_is_waited_is_asked(void)
{
	begin(0, 0);
	keel_mock_tap(mock, KEEL_POINT_start_alarm, "alarm", 0, alarm_add, NULL);
	raise_begin();
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "job waiting up to 32 secs ($sister_join_job_alarm)"));
	keel_mock_advance(mock, 31000);
	CU_ASSERT_FALSE(out.told);
	keel_mock_advance(mock, 2000);
	CU_ASSERT(out.told);
	end();
}

static void a_suspension_waits_for_all_hosts(void)
{
	run();
	CU_ASSERT_EQUAL(raise_act("suspend", &out), KEEL_WAIT);
	answer("b", 0, "");
	CU_ASSERT_FALSE(out.told);
	answer("c", 0, "");
	CU_ASSERT(out.told && out.verdict != KEEL_REJECT);
	CU_ASSERT_EQUAL(raise_act("resume", &out), KEEL_WAIT);
	answer("b", 15016, "b cannot");
	answer("c", 0, "");
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, 15016);
	CU_ASSERT_STRING_EQUAL(out.text, "b cannot");
	end();
}

static void what_other_hosts_do_is_not_saved(void)
{
	run();
	CU_ASSERT_EQUAL(raise_act("checkpoint", &out), KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, 15029);
	CU_ASSERT_PTR_NULL(said("checkpoint"));
	CU_ASSERT_EQUAL(raise_act("suspend", &out), KEEL_WAIT); /* it goes on as before */
	end();
}

static void acts_wait_for_each_other_and_the_end_for_none(void)
{
	struct keel_mock_outcome second = { 0 }, ending = { 0 };

	run();
	CU_ASSERT_EQUAL(raise_act("USR1", &out), KEEL_WAIT);
	CU_ASSERT_EQUAL(raise_act("USR2", &second), KEEL_WAIT);
	CU_ASSERT_PTR_NULL(said("USR2"));
	answer("b", 0, "");
	answer("c", 0, "");
	CU_ASSERT(out.told);
	CU_ASSERT_PTR_NOT_NULL(said("name=USR2"));
	CU_ASSERT_FALSE(second.told);
	CU_ASSERT_EQUAL(raise(KEEL_POINT_task_epilogue, KEEL_EVENT(task_epilogue, .id = "1.svr"), &ending), KEEL_WAIT);
	CU_ASSERT_EQUAL(second.code, 15016);
	CU_ASSERT_PTR_NOT_NULL(said("name=end"));
	HEAR("b", "sister.ended", "items", "[cput=00:00:07");
	CU_ASSERT_STRING_EQUAL(added, "b cput=00:00:07 1");
	CU_ASSERT_FALSE(ending.told);
	lose("c");
	keel_mock_advance(mock, 1000); /* the grace */
	CU_ASSERT(ending.told && ending.verdict != KEEL_REJECT);
	CU_ASSERT_EQUAL(fails, 0);
	end();
}

static void a_lost_host_is_logged_and_ends_the_job(void)
{
	run();
	lose("c");
	keel_mock_advance(mock, 2000);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "im_eof, lost communication with c, not killing job yet"));
	keel_mock_advance(mock, 27000);
	CU_ASSERT_EQUAL(fails, 0);
	keel_mock_advance(mock, 3000);
	CU_ASSERT_EQUAL(fails, 1);
	CU_ASSERT_EQUAL(failed_status, -14);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "im_eof, lost communication with c for > 30 secs, killing job now"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "node EOF 2 (c)"));
	end();
}

static void who_is_no_host_of_the_job_says_nothing(void)
{
	run();
	up("d");
	HEAR("d", "sister.ended", "items", "[cput=99:00:00");
	HEAR("d", "sister.output", "stream", "#1", "at", "#0", "bytes", "=bad");
	HEAR("b", "sister.order", "number", "#999999999999999999", "name", "end"); /* the primary takes no orders */
	CU_ASSERT_STRING_EQUAL(added, "");
	CU_ASSERT_STRING_EQUAL(written, "");
	CU_ASSERT_EQUAL(ends, 0);
	CU_ASSERT_EQUAL(fails, 0);
	end();
}

static void output_comes_once_over_restarts(void)
{
	struct keel_err err;

	run();
	HEAR("b", "sister.output", "stream", "#1", "at", "#0", "bytes", "=one");
	CU_ASSERT_PTR_NOT_NULL(said("b sister.got id=1.svr run=1 stream=1 at=3"));
	HEAR("b", "sister.output", "stream", "#1", "at", "#0", "bytes", "=one"); /* again */
	HEAR("c", "sister.output", "stream", "#1", "at", "#0", "bytes", "=two");
	HEAR("c", "sister.output", "stream", "#3", "at", "#0", "bytes", "=none");
	CU_ASSERT_STRING_EQUAL(written, "1:one 1:two ");
	mod = keel_mock_restart(mod, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	hear("b", "sister.joined", NULL);
	CU_ASSERT_PTR_NOT_NULL(said("b sister.got id=1.svr run=1 stream=1 at=3"));
	HEAR("b", "sister.output", "stream", "#1", "at", "#0", "bytes", "=one");
	HEAR("b", "sister.output", "stream", "#1", "at", "#3", "bytes", "=more");
	CU_ASSERT_STRING_EQUAL(written, "1:one 1:two 1:more ");
	end();
}

/* ---- a sister ------------------------------------------------------------------------------------------------------ */
/* past modules/sisters/primary.h PRIMARY_NAME_MAX */
static void a_sister_joins_and_obeys(void)
{
	follow();
	CU_ASSERT_STRING_EQUAL(expected, "+aKA "); /* the lesser name dials */
	CU_ASSERT_PTR_NOT_NULL(said("a sister.joined id=1.svr run=1 stopped=0"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Job;1.svr;JOIN_JOB as node 1"));
	HEAR("a", "sister.order", "number", "#5", "name", ORDER_ADMIT);
	CU_ASSERT_STRING_EQUAL(waiting.name, "prologue");
	wait_over(0, NULL);
	CU_ASSERT_PTR_NOT_NULL(said("a sister.answer id=1.svr run=1 number=5 code=0"));
	HEAR("a", "sister.order", "number", "#6", "name", "suspend");
	HEAR("a", "sister.order", "number", "#6", "name", "suspend");
	CU_ASSERT_EQUAL(waiting.n, 2);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "SUSPEND received"));
	wait_over(15016, "no");
	CU_ASSERT_PTR_NOT_NULL(said("number=6 code=15016 text=no"));
	HEAR("a", "sister.order", "number", "#7", "name", "0123456789012345678901234567890x"); /* one more than a name has */
	CU_ASSERT_EQUAL(waiting.n, 2);
	HEAR("a", "sister.order", "number", "#7", "name", "end");
	CU_ASSERT_EQUAL(ends, 1);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "KILL_JOB received"));
	end();
}

static void a_part_that_was_refused_says_why(void)
{
	begin(1, 0);
	up("a");
	there = true;
	part.state = KEEL_PART_ENDED; /* what is heard first of it */
	parts_heard.refused(parts_me, &part, -4, 15169, "bad node");
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NOT_NULL(said("a sister.failed id=1.svr run=1 status=-4 code=15169 text=bad node"));
	end();
}

static void only_the_primary_orders(void)
{
	follow();
	up("c");
	sent_clear();
	HEAR("c", "sister.order", "number", "#5", "name", "end");
	hear("c", "sister.join", NULL);
	CU_ASSERT_EQUAL(ends, 0);
	CU_ASSERT_EQUAL(n_sent, 0);
	end();
}

static void one_without_the_part_says_so(void)
{
	begin(1, 0);
	up("a");
	hear("a", "sister.join", NULL);
	CU_ASSERT_PTR_NOT_NULL(said("a sister.none id=1.svr run=1"));
	end();
}

static void output_of_a_sister_goes_before_its_end(void)
{
	const char *items[] = { "cput=00:00:01" };

	follow();
	strcpy(source[0], "he\nllo");
	HEAR("a", "sister.got", "stream", "#1", "at", "#0");
	HEAR("a", "sister.got", "stream", "#2", "at", "#0");
	CU_ASSERT_PTR_NOT_NULL(said("sister.output id=1.svr run=1 stream=1 at=0 bytes=he\n"));
	sent_clear();
	HEAR("a", "sister.got", "stream", "#1", "at", "#3");
	CU_ASSERT_PTR_NULL(said("sister.output")); /* there may be more of the line */
	keel_mock_advance(mock, 2000);
	CU_ASSERT_PTR_NOT_NULL(said("stream=1 at=3 bytes=llo"));
	strcpy(source[0], "he\nllo...");
	HEAR("a", "sister.got", "stream", "#1", "at", "#6");
	CU_ASSERT_PTR_NULL(said("at=6"));
	part.state = KEEL_PART_ENDED;
	parts_heard.ended(parts_me, &part, items, 1);
	keel_mock_advance(mock, 1000);
	CU_ASSERT_PTR_NULL(said("sister.ended"));
	CU_ASSERT_PTR_NOT_NULL(said("stream=1 at=6 bytes=..."));
	HEAR("a", "sister.got", "stream", "#1", "at", "#9");
	CU_ASSERT_PTR_NOT_NULL(said("sister.ended id=1.svr"));
	end();
}

static void a_sister_ends_without_its_primary(void)
{
	follow();
	lose("a");
	keel_mock_advance(mock, 32000);
	CU_ASSERT_EQUAL(ends, 1);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "lost connection to MS on a"));
	end();
}

TESTS_MAIN("sisters", TEST(a_start_waits_for_all), TEST(a_join_that_fails_is_logged_as_specified),
	   TEST(a_tolerant_start_goes_on), TEST(the_alarm_ends_the_wait), TEST(a_suspension_waits_for_all_hosts),
	   TEST(what_other_hosts_do_is_not_saved), TEST(acts_wait_for_each_other_and_the_end_for_none), TEST(a_lost_host_is_logged_and_ends_the_job),
	   TEST(who_is_no_host_of_the_job_says_nothing), TEST(output_comes_once_over_restarts),
	   TEST(how_long_is_waited_is_asked), TEST(a_sister_joins_and_obeys), TEST(a_part_that_was_refused_says_why),
	   TEST(only_the_primary_orders), TEST(one_without_the_part_says_so),
	   TEST(output_of_a_sister_goes_before_its_end), TEST(a_sister_ends_without_its_primary))
