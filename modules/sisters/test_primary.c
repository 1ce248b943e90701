/* SPDX-License-Identifier: Apache-2.0
 *
 * test_primary.c - the primary's states: three hosts, what comes and what is done.
 */
#include "primary.h"

#include <string.h>

#include "harness.h"

#define N 4
static struct primary p;
static struct primary_host hosts[N];
static struct primary_act last[ACT_CUT_OFF + 1]; /* of each kind */
static int n[ACT_CUT_OFF + 1];
static char name[32], text[256];
static int tolerant; /* 1, 0; -1: task_lost has no outcome yet */

static void act(void *arg, const struct primary_act *a)
{
	(void)arg;
	last[a->kind] = *a;
	n[a->kind]++;
	if (a->name)
		snprintf(name, sizeof(name), "%s", a->name);
	if (a->text)
		snprintf(text, sizeof(text), "%s", a->text);
	if (a->kind == ACT_LOST && tolerant >= 0)
		primary_verdict(&p, a->host, a->status, a->code, a->text, tolerant);
}

static void fresh(void)
{
	memset(&p, 0, sizeof(p));
	memset(hosts, 0, sizeof(hosts));
	memset(last, 0, sizeof(last));
	memset(n, 0, sizeof(n));
	name[0] = text[0] = '\0';
	tolerant = 0;
	p.act = act;
	p.number = 1000;
	p.downtime_ms = 30000;
	primary_init(&p, N, hosts, 0);
}

static void link_all(void)
{
	for (uint32_t i = 1; i < N; i++)
		primary_link(&p, i, true, 0);
}

static void join_all(void)
{
	link_all();
	primary_step(&p, STEP_JOIN, "join", 30000, 0);
	for (uint32_t i = 1; i < N; i++)
		primary_joined(&p, i, false);
}

static void answer_all(int32_t code)
{
	for (uint32_t i = 1; i < N; i++)
		primary_answer(&p, i, hosts[i].order, code, "");
}

static void run(void)
{
	join_all();
	primary_step(&p, STEP_PROLOGUE, ORDER_ADMIT, 30000, 0);
	answer_all(0);
	primary_runs(&p);
	memset(n, 0, sizeof(n));
}

static void starts_when_all_have_joined_in_any_order(void)
{
	fresh();
	primary_link(&p, 1, true, 0);
	primary_joined(&p, 1, false); /* before this host began */
	primary_step(&p, STEP_JOIN, "join", 30000, 0);
	primary_link(&p, 2, true, 0);
	primary_link(&p, 3, true, 0);
	CU_ASSERT_EQUAL(n[ACT_ASK], 3); /* at each link: what was said on an older one is lost */
	primary_joined(&p, 3, false);
	primary_joined(&p, 3, false);
	CU_ASSERT_EQUAL(n[ACT_PASS], 0);
	primary_joined(&p, 2, false);
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 0);
	primary_step(&p, STEP_PROLOGUE, ORDER_ADMIT, 30000, 0);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 3);
	CU_ASSERT_STRING_EQUAL(name, ORDER_ADMIT);
	answer_all(0);
	CU_ASSERT_EQUAL(n[ACT_PASS], 2);
}

static void a_sister_that_refuses_fails_the_start(void)
{
	fresh();
	link_all();
	primary_step(&p, STEP_JOIN, "join", 30000, 0);
	primary_joined(&p, 1, false);
	primary_failed(&p, 2, -3, 15169, "bad node");
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 1); /* without waiting for the third */
	CU_ASSERT_EQUAL(last[ACT_REFUSE].status, -3);
	CU_ASSERT_STRING_EQUAL(text, "bad node");
	CU_ASSERT_EQUAL(n[ACT_ORDER], 1); /* the first one gives its part up */
	CU_ASSERT_STRING_EQUAL(name, "abort");
	CU_ASSERT_EQUAL(last[ACT_LOST].code, 15169);
	CU_ASSERT_STRING_EQUAL(last[ACT_LOST].stage, "join");
	primary_joined(&p, 3, false); /* late */
	CU_ASSERT_STRING_EQUAL(name, "end");
	CU_ASSERT_EQUAL(n[ACT_PASS], 0);
}

static void a_tolerant_start_goes_on_without_it(void)
{
	fresh();
	tolerant = 1;
	link_all();
	primary_step(&p, STEP_JOIN, "join", 30000, 0);
	primary_failed(&p, 2, -3, 15169, "bad node");
	primary_joined(&p, 1, false);
	primary_joined(&p, 3, false);
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
	primary_step(&p, STEP_PROLOGUE, ORDER_ADMIT, 30000, 0);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 2);
	primary_answer(&p, 1, hosts[1].order, -16, "not here");
	primary_answer(&p, 3, hosts[3].order, 0, "");
	CU_ASSERT_EQUAL(n[ACT_LOST], 2);
	CU_ASSERT_STRING_EQUAL(last[ACT_LOST].stage, "prologue");
	CU_ASSERT_EQUAL(last[ACT_LOST].status, -16);
	CU_ASSERT_EQUAL(n[ACT_PASS], 2);
	primary_joined(&p, 2, false); /* it comes back: it has nothing to do with the job any more */
	CU_ASSERT_STRING_EQUAL(name, "end");
	CU_ASSERT_EQUAL(last[ACT_ORDER].host, 2);
}

static void it_waits_while_it_is_not_decided_whether_to_go_on(void)
{
	fresh();
	tolerant = -1;
	join_all();
	primary_step(&p, STEP_PROLOGUE, ORDER_ADMIT, 30000, 0);
	primary_answer(&p, 1, hosts[1].order, -16, "not here");
	primary_answer(&p, 2, hosts[2].order, 0, "");
	primary_answer(&p, 3, hosts[3].order, 0, "");
	CU_ASSERT_EQUAL(n[ACT_PASS], 1); /* of the join */
	primary_verdict(&p, 1, -16, 0, "not here", false);
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 1);
	CU_ASSERT_EQUAL(last[ACT_REFUSE].status, -16);
}

static void silence_ends_with_the_alarm(void)
{
	fresh();
	link_all();
	primary_step(&p, STEP_JOIN, "join", 30000, 0);
	primary_joined(&p, 1, false);
	primary_joined(&p, 2, false);
	primary_tick(&p, 29999, false);
	CU_ASSERT_EQUAL(n[ACT_LATE], 0);
	primary_tick(&p, 30000, false);
	CU_ASSERT_EQUAL(n[ACT_LATE], 1);
	CU_ASSERT_EQUAL(last[ACT_LOST].code, CODE_SILENT);
	CU_ASSERT_EQUAL(last[ACT_REFUSE].status, STATUS_JOIN);

	fresh();
	tolerant = 1;
	link_all();
	primary_step(&p, STEP_JOIN, "join", 30000, 0);
	primary_joined(&p, 1, false);
	primary_joined(&p, 2, false);
	primary_tick(&p, 30000, false);
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
	primary_step(&p, STEP_PROLOGUE, ORDER_ADMIT, 30000, 30000);
	primary_joined(&p, 3, false); /* silent, not failed: it may still come */
	CU_ASSERT_EQUAL(last[ACT_ORDER].host, 3);
	CU_ASSERT_STRING_EQUAL(name, ORDER_ADMIT);
	answer_all(0);
	CU_ASSERT_EQUAL(n[ACT_PASS], 2);
}

static void a_prologue_without_an_answer_fails_at_95_percent(void)
{
	fresh();
	join_all();
	primary_step(&p, STEP_PROLOGUE, ORDER_ADMIT, 40000, 0);
	primary_tick(&p, 37999, false);
	CU_ASSERT_EQUAL(n[ACT_LOST], 0);
	primary_tick(&p, 38000, false);
	CU_ASSERT_EQUAL(n[ACT_LOST], 1); /* the first one ends it */
	CU_ASSERT_EQUAL(last[ACT_LOST].code, CODE_COMM);
	CU_ASSERT_EQUAL(last[ACT_REFUSE].status, STATUS_RETRY);
}

static void a_link_lost_at_the_start_is_a_failure_after_its_grace(void)
{
	fresh();
	link_all();
	primary_step(&p, STEP_JOIN, "join", 30000, 0);
	primary_joined(&p, 1, false);
	primary_link(&p, 1, false, 100);
	primary_link(&p, 1, true, 200); /* back in time */
	primary_down(&p, 1);
	CU_ASSERT_EQUAL(n[ACT_LOST], 0);
	primary_link(&p, 1, false, 300);
	primary_down(&p, 1);
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 1);
	CU_ASSERT_EQUAL(last[ACT_REFUSE].status, STATUS_JOIN);
	CU_ASSERT_EQUAL(last[ACT_LOST].code, CODE_COMM);
	fresh();
	primary_step(&p, STEP_JOIN, "join", 30000, 0);
	primary_down(&p, 1); /* the grace of a link for a job before this one */
	CU_ASSERT_EQUAL(n[ACT_LOST], 0);
}

static void suspension_stops_all_or_none(void)
{
	fresh();
	run();
	primary_step(&p, STEP_ACT, "suspend", 30000, 1000);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 3);
	primary_answer(&p, 1, hosts[1].order, 0, "");
	primary_answer(&p, 2, hosts[2].order, 15016, "cannot be stopped");
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 0); /* the third one may be at it */
	primary_answer(&p, 3, hosts[3].order, 0, "");
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 1);
	CU_ASSERT_EQUAL(last[ACT_REFUSE].code, 15016);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 5); /* two go on */
	CU_ASSERT_STRING_EQUAL(name, "resume");
	answer_all(0);
	CU_ASSERT_FALSE(hosts[1].stopped || hosts[3].stopped);

	primary_step(&p, STEP_ACT, "suspend", 30000, 2000);
	answer_all(0);
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
	p.stopped = true;
	memset(n, 0, sizeof(n));
	primary_tick(&p, 60000, false);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 0);
}

static void a_host_is_made_what_the_job_is(void)
{
	fresh();
	run();
	primary_step(&p, STEP_ACT, "suspend", 30000, 1000);
	answer_all(0);
	primary_tick(&p, 10000, false); /* the processes here are being stopped */
	CU_ASSERT_EQUAL(n[ACT_ORDER], 3);
	primary_tick(&p, 20000, false); /* they were not: nothing may stand still for ever */
	CU_ASSERT_EQUAL(n[ACT_ORDER], 6);
	CU_ASSERT_STRING_EQUAL(name, "resume");
	primary_tick(&p, 21000, false);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 6); /* once */
	answer_all(0);
	p.stopped = hosts[1].stopped = hosts[3].stopped = true;
	primary_joined(&p, 2, false);
	CU_ASSERT_STRING_EQUAL(name, "suspend");
	CU_ASSERT_EQUAL(last[ACT_ORDER].host, 2);
}

static void what_must_hold_everywhere_needs_every_host(void)
{
	fresh();
	run();
	primary_link(&p, 2, false, 1000);
	primary_step(&p, STEP_ACT, "suspend", 30000, 1000);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 0);
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 1);
	CU_ASSERT_EQUAL(last[ACT_REFUSE].code, CODE_COMM);
	primary_step(&p, STEP_ACT, "USR1", 30000, 1000); /* a signal goes to those that are there */
	CU_ASSERT_EQUAL(n[ACT_ORDER], 2);
	primary_answer(&p, 1, hosts[1].order, 0, "");
	primary_answer(&p, 3, hosts[3].order, 0, "");
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
}

static void an_order_is_given_again_until_it_is_answered(void)
{
	uint64_t order;

	fresh();
	run();
	primary_step(&p, STEP_ACT, "suspend", 30000, 1000);
	order = hosts[1].order;
	primary_link(&p, 1, false, 1100);
	primary_link(&p, 1, true, 1200);
	CU_ASSERT_EQUAL(n[ACT_ASK], 1);
	primary_joined(&p, 1, false);
	CU_ASSERT_EQUAL(last[ACT_ORDER].number, order);
	primary_answer(&p, 1, order - 1, 0, ""); /* of an older one */
	CU_ASSERT(hosts[1].owes);
	answer_all(0);
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
	primary_answer(&p, 1, order, 15016, "again"); /* answered already */
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 0);

	primary_step(&p, STEP_ACT, "resume", 30000, 2000);
	primary_tick(&p, 32000, false);
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 1); /* none has answered in time */
	CU_ASSERT_EQUAL(last[ACT_REFUSE].code, CODE_COMM);
}

static void a_host_that_is_away_too_long_ends_the_job(void)
{
	fresh();
	run();
	primary_link(&p, 3, false, 1000);
	for (int64_t now = 1000; now < 31000; now += 1000)
		primary_tick(&p, now, false);
	CU_ASSERT_EQUAL(n[ACT_AWAY], 3); /* at once, after 6 and after 22 s */
	CU_ASSERT_EQUAL(n[ACT_FAIL], 0);
	primary_tick(&p, 31000, false);
	CU_ASSERT_EQUAL(n[ACT_FAIL], 1);
	CU_ASSERT_EQUAL(last[ACT_FAIL].status, STATUS_LOST);
	CU_ASSERT_STRING_EQUAL(last[ACT_LOST].stage, "run");
	primary_tick(&p, 90000, false);
	CU_ASSERT_EQUAL(n[ACT_FAIL], 1);

	fresh();
	run();
	primary_link(&p, 3, false, 1000);
	primary_tick(&p, 25000, false);
	primary_link(&p, 3, true, 26000);
	primary_joined(&p, 3, false);
	primary_tick(&p, 90000, false);
	CU_ASSERT_EQUAL(n[ACT_LOST], 0);
}

static void one_that_is_cut_off_itself_counts_no_time(void)
{
	fresh();
	run();
	for (uint32_t i = 1; i < N; i++)
		primary_link(&p, i, false, 1000);
	for (int64_t now = 1000; now < 100000; now += 1000)
		primary_tick(&p, now, true);
	CU_ASSERT_EQUAL(n[ACT_LOST], 0);
	CU_ASSERT_EQUAL(n[ACT_CUT_OFF], 3); /* said once, of each */
	primary_tick(&p, 100000, false);
	primary_tick(&p, 128999, false);
	CU_ASSERT_EQUAL(n[ACT_LOST], 0);
	primary_tick(&p, 129000, false);
	CU_ASSERT_EQUAL(n[ACT_LOST], 3);
}

static void a_sister_without_its_part_is_lost_once_the_job_runs(void)
{
	fresh();
	link_all();
	primary_step(&p, STEP_JOIN, "join", 30000, 0);
	primary_nothing(&p, 1); /* the server's message is on its way */
	CU_ASSERT_EQUAL(n[ACT_LOST], 0);
	fresh();
	run();
	primary_nothing(&p, 1);
	CU_ASSERT_EQUAL(n[ACT_FAIL], 1);
	fresh();
	run();
	tolerant = 1;
	primary_ended(&p, 1);
	CU_ASSERT_EQUAL(n[ACT_LOST], 1);
	CU_ASSERT_EQUAL(n[ACT_FAIL], 0);
}

static void the_end_waits_for_those_that_are_there(void)
{
	fresh();
	run();
	primary_link(&p, 3, false, 1000);
	primary_step(&p, STEP_END, "end", 60000, 2000);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 2);
	primary_ended(&p, 1);
	primary_ended(&p, 2);
	CU_ASSERT_EQUAL(n[ACT_PASS], 0); /* it may come back */
	primary_down(&p, 3);
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
	CU_ASSERT_EQUAL(n[ACT_FAIL], 0);
	CU_ASSERT_STRING_EQUAL(last[ACT_LOST].stage, "end");
	primary_joined(&p, 3, false);
	CU_ASSERT_STRING_EQUAL(name, "end");

	fresh();
	run();
	primary_step(&p, STEP_END, "end", 60000, 2000);
	primary_tick(&p, 62000, false);
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
}

static void a_restarted_primary_learns_all_again(void)
{
	fresh();
	p.running = true;
	link_all();
	CU_ASSERT_EQUAL(n[ACT_ASK], 3);
	primary_joined(&p, 1, false);
	primary_step(&p, STEP_ACT, "suspend", 30000, 0);
	CU_ASSERT_EQUAL(n[ACT_REFUSE], 1); /* what the others are is not known yet */
	CU_ASSERT_EQUAL(n[ACT_ORDER], 0);
	primary_joined(&p, 2, true); /* stopped, by an act that was cut short */
	primary_tick(&p, 1000, false);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 1);
	CU_ASSERT_STRING_EQUAL(name, "resume");
	primary_step(&p, STEP_END, "end", 60000, 2000);
	CU_ASSERT_EQUAL(n[ACT_ORDER], 4); /* also to the one that was not heard of */
	primary_ended(&p, 1);
	primary_ended(&p, 2);
	CU_ASSERT_EQUAL(n[ACT_PASS], 0);
	primary_ended(&p, 3);
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
}

static void released_hosts_are_not_waited_for(void)
{
	fresh();
	run();
	primary_released(&p, 2);
	primary_link(&p, 2, false, 1000);
	primary_tick(&p, 99000, false);
	CU_ASSERT_EQUAL(n[ACT_LOST] + n[ACT_AWAY], 0);
	primary_step(&p, STEP_END, "end", 60000, 100000);
	primary_ended(&p, 1);
	primary_ended(&p, 3);
	CU_ASSERT_EQUAL(n[ACT_PASS], 1);
}

static void a_loss_between_the_steps_is_not_forgotten(void)
{
	fresh();
	join_all();
	primary_step(&p, STEP_PROLOGUE, ORDER_ADMIT, 30000, 0);
	answer_all(0);
	primary_link(&p, 1, false, 100);
	primary_down(&p, 1); /* launch is under way here */
	CU_ASSERT_EQUAL(n[ACT_FAIL], 1);
	CU_ASSERT_EQUAL(last[ACT_FAIL].status, STATUS_RETRY); /* the program has not begun: nothing of it is to begin */
	primary_runs(&p); /* it has, meanwhile */
	CU_ASSERT_EQUAL(n[ACT_FAIL], 2);
	CU_ASSERT_EQUAL(last[ACT_FAIL].status, STATUS_LOST);
}

TESTS_MAIN("sisters/primary", TEST(starts_when_all_have_joined_in_any_order), TEST(a_sister_that_refuses_fails_the_start),
	   TEST(a_tolerant_start_goes_on_without_it), TEST(it_waits_while_it_is_not_decided_whether_to_go_on),
	   TEST(silence_ends_with_the_alarm), TEST(a_prologue_without_an_answer_fails_at_95_percent),
	   TEST(a_link_lost_at_the_start_is_a_failure_after_its_grace), TEST(suspension_stops_all_or_none),
	   TEST(a_host_is_made_what_the_job_is), TEST(what_must_hold_everywhere_needs_every_host),
	   TEST(an_order_is_given_again_until_it_is_answered), TEST(a_host_that_is_away_too_long_ends_the_job),
	   TEST(one_that_is_cut_off_itself_counts_no_time), TEST(a_sister_without_its_part_is_lost_once_the_job_runs),
	   TEST(the_end_waits_for_those_that_are_there), TEST(a_restarted_primary_learns_all_again),
	   TEST(released_hosts_are_not_waited_for), TEST(a_loss_between_the_steps_is_not_forgotten))
