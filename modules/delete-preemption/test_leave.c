/* SPDX-License-Identifier: Apache-2.0
 *
 * test_leave.c - deleting a victim, in the mock: the point is on hold until the job is purged.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "keel/mock.h"
#include "keel/service/job.h"
#include "pbs_error.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mod *module;
static struct keel_obj *job;
static struct keel_mock_outcome out;

/* The request sent to jobs, and its callback. */
static struct question {
	char verb[16];
	struct keel_mod *me;
	keel_job_done *done;
	void *arg;
} sent;

static void jobs_ask(struct keel_mod *m, struct keel_obj *o, const struct keel_job_ask *what, struct keel_mod *me,
		keel_job_done *done, void *arg)
{
	(void)m, (void)o;
	sent = (struct question){ .me = me, .done = done, .arg = arg };
	snprintf(sent.verb, sizeof(sent.verb), "%s %s", what->verb, what->detail);
}

static void request_delete(struct keel_mod *m, struct keel_obj *o, const char *who, struct keel_mod *me,
			   keel_job_done *done, void *arg)
{
	(void)m, (void)o;
	CU_ASSERT_STRING_EQUAL(who, "sched@svr");
	sent = (struct question){ .verb = "delete", .me = me, .done = done, .arg = arg };
}

static void answer(int32_t code, const char *text)
{
	struct question q = sent;

	sent = (struct question){ .me = NULL };
	q.done(q.me, q.arg, code, text);
}

/* The module preemption's tap at its own point: calls the row's start(). */
static keel_verdict by_method(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_job_preempt *ev = event;
	const struct keel_preempt_def *row;
	struct keel_mod *owner;

	(void)point, (void)arg;
	row = keel_mock_row(mock, "PREEMPT", 0, &owner);
	return strcmp(row->letter, ev->method) == 0 ? row->start(owner, c, ev->job, ev->who) : KEEL_NEXT;
}

static void begin(const char *conf)
{
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .ask = jobs_ask,
						  .request_delete = request_delete };
	struct keel_err err = { 0 };

	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_service(mock, "job", &jobs);
	keel_mock_attr(mock, "job", "queue", "string");
	keel_mock_attr(mock, "job", "euser", "string");
	keel_mock_attr(mock, "job", "exec_host", "string");
	keel_mock_attr(mock, "queue", "kill_delay", "long");
	keel_mock_set(keel_mock_object(mock, "queue", "workq"), "kill_delay", NULL, "20");
	job = keel_mock_object(mock, "job", "1.svr");
	keel_mock_set(job, "queue", NULL, "workq");
	keel_mock_set(job, "euser", NULL, "alice");
	keel_mock_set(job, "exec_host", NULL, "n1/0");
	module = keel_mock_load(mock, &keel_module, conf, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	keel_mock_tap(mock, KEEL_POINT_job_preempt, "by_method", 1000, by_method, NULL);
	sent = (struct question){ .me = NULL };
}

static void end(void)
{
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(keel_mock_holds(mock), 0);
	CU_ASSERT_EQUAL(keel_mock_unload(module, &err), 0);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static keel_verdict preempt(void)
{
	return keel_mock_raise(mock, KEEL_POINT_job_preempt,
			       KEEL_EVENT(job_preempt, .id = "1.svr", .job = job, .method = "D",
					  .who = "sched@svr"),
			       &out);
}

static void is_gone(void)
{
	keel_mock_raise(mock, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = "1.svr", .job = job), NULL);
	keel_mock_advance(mock, 0);
}

/* A deletion that was accepted is not done: the other job must not start yet. */
static void test_until_it_is_gone(void)
{
	begin(NULL);
	CU_ASSERT_EQUAL(preempt(), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(sent.verb, "delete");
	answer(0, NULL);
	keel_mock_advance(mock, 60000);
	CU_ASSERT_FALSE(out.told);
	CU_ASSERT_STRING_EQUAL(keel_mock_hold(mock, 0),
			       "test: a victim of preemption is being deleted (60s of 320s)");
	keel_mock_raise(mock, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = "2.svr"), NULL);
	keel_mock_advance(mock, 0);
	CU_ASSERT_FALSE(out.told);
	is_gone();
	CU_ASSERT(out.told);
	CU_ASSERT_EQUAL(out.verdict, KEEL_DONE);
	end();
}

static void test_refused(void)
{
	begin(NULL);
	CU_ASSERT_EQUAL(preempt(), KEEL_WAIT);
	answer(15070, "n1 is away");
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, 15070);
	CU_ASSERT_STRING_EQUAL(out.text, "n1 is away");
	end();
}

static void test_too_long(void)
{
	struct keel_err err = { 0 };

	begin("timeout = \"10s\";");
	CU_ASSERT_EQUAL(preempt(), KEEL_WAIT);
	CU_ASSERT_EQUAL(keel_mock_unload(module, &err), -16);
	CU_ASSERT_STRING_EQUAL(err.text, "module delete-preemption is busy: 1 jobs are being deleted; try again");
	keel_mock_advance(mock, 30000); /* the queue's kill_delay is added */
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT);
	CU_ASSERT_EQUAL(keel_mock_ended(mock, KEEL_CANCEL_TIMEOUT), 1);
	answer(0, NULL); /* late: the hold has ended */
	end();
}

static void test_grace(void)
{
	begin("grace_signal = \"USR1\"; grace = \"5s\";");
	CU_ASSERT_EQUAL(preempt(), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(sent.verb, "signal USR1");
	answer(0, NULL);
	keel_mock_advance(mock, 4999);
	CU_ASSERT_STRING_EQUAL(sent.verb, "");
	keel_mock_advance(mock, 1);
	CU_ASSERT_STRING_EQUAL(sent.verb, "delete");
	is_gone();
	answer(0, NULL);
	CU_ASSERT_EQUAL(out.verdict, KEEL_DONE);
	/* it ends by itself in the grace: nothing is deleted */
	CU_ASSERT_EQUAL(preempt(), KEEL_WAIT);
	answer(0, NULL);
	is_gone();
	keel_mock_advance(mock, 10000);
	CU_ASSERT_STRING_EQUAL(sent.verb, "");
	CU_ASSERT_EQUAL(out.verdict, KEEL_DONE);
	/* the signal fails: deleted at once */
	CU_ASSERT_EQUAL(preempt(), KEEL_WAIT);
	answer(15016, NULL);
	CU_ASSERT_STRING_EQUAL(sent.verb, "delete");
	is_gone();
	answer(0, NULL);
	end();
}

static void cycle(uint64_t number)
{
	keel_mock_raise(mock, KEEL_POINT_cycle_begin, KEEL_EVENT(cycle_begin, .cycle = number), NULL);
}

static void cycle_ends(uint64_t number)
{
	keel_mock_raise(mock, KEEL_POINT_cycle_end, KEEL_EVENT(cycle_end, .cycle = number), NULL);
}

static uint32_t room(void)
{
	struct keel_mod *owner;
	const struct keel_preempt_def *row = keel_mock_row(mock, "PREEMPT", 0, &owner);

	return row->room(owner);
}

static void test_scope(void)
{
	begin("user = \"^bob$\";");
	CU_ASSERT_EQUAL(preempt(), KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(out.text, "such jobs are not deleted");
	end();
}

static void test_cap(void)
{
	begin("max_per_cycle = 1;");
	cycle(1);
	CU_ASSERT_EQUAL(room(), 1);
	CU_ASSERT_EQUAL(preempt(), KEEL_WAIT);
	CU_ASSERT_EQUAL(room(), 0);
	answer(0, NULL);
	is_gone();
	CU_ASSERT_EQUAL(preempt(), KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(out.text, "enough jobs were deleted in this cycle");
	cycle_ends(1);
	cycle(2);
	/* a job that is not deleted is not counted */
	CU_ASSERT_EQUAL(preempt(), KEEL_WAIT);
	answer(15169, NULL);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(room(), 1);
	end();
}

/* A scheduler of the site's own has no cycles in this server. */
static void test_no_cycle(void)
{
	begin("max_per_cycle = 1;");
	cycle(1);
	cycle_ends(1);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(preempt(), KEEL_WAIT);
		answer(0, NULL);
		is_gone();
		CU_ASSERT_EQUAL(out.verdict, KEEL_DONE);
	}
	end();
}

static void test_configuration(void)
{
	struct keel_err err = { 0 };

	begin(NULL);
	CU_ASSERT_NOT_EQUAL(keel_mock_check(mock, &keel_module, "queue = \"(\";", &err), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "pattern \"(\" cannot be understood at character"));
	CU_ASSERT_NOT_EQUAL(keel_mock_check(mock, &keel_module, "timeout = 0;", &err), 0);
	end();
}

/* Whichever call fails, the point is rejected or on hold; nothing is leaked. */
static void test_failures(void)
{
	begin("grace_signal = \"USR1\";");
	for (uint32_t n = 1; n < 8; n++) {
		keel_mock_fail_call(mock, n);
		if (preempt() == KEEL_WAIT) {
			answer(0, NULL);
			keel_mock_advance(mock, 20000);
			if (sent.me != NULL)
				answer(0, NULL);
			is_gone();
		}
		CU_ASSERT(out.told);
		keel_mock_fail_call(mock, 0);
	}
	end();
}

TESTS_MAIN("leave", TEST(test_until_it_is_gone), TEST(test_refused), TEST(test_too_long), TEST(test_grace),
	   TEST(test_scope), TEST(test_cap), TEST(test_no_cycle), TEST(test_configuration), TEST(test_failures))
