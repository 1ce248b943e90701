/* SPDX-License-Identifier: Apache-2.0
 *
 * test_run.c - taps of hooks: their order, what waits, what a result does to an operation, series of notes.
 */
#include "harness.h"

#include "test_process.h"

static struct keel_obj *job;

static void begin(void)
{
	daemon_begin();
	keel_mock_attr(mock, "job", "Priority", "long");
	keel_mock_attr(mock, "job", "comment", "string");
	job = keel_mock_object(mock, "job", "1.svr");
}

static struct hook *hook_on(const char *name, enum event_id event, int32_t order)
{
	struct hook *h = hook_make(name);

	h->events = UINT32_C(1) << event;
	h->order = order;
	h->place = HASH_COUNT(st.hooks);
	taps_follow(&st, h);
	return h;
}

static void end(void)
{
	struct hook *h, *next;

	HASH_ITER(hh, st.hooks, h, next)
		hook_free(&st, h);
	daemon_end();
}

static keel_verdict submit(struct keel_mock_outcome *out)
{
	return keel_mock_raise(mock, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "1.svr", .job = job, .who = "me@here"), out);
}

static void obit(const char *id)
{
	keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = id, .job = keel_find(st.mod, "job", id)), NULL);
	keel_mock_advance(mock, 0);
}

/* A result with one change of the job. */
static void says_change(uint32_t n, int64_t number, const char *attr, const char *text)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p), map, list, one;

	pack_text(&p, "result");
	pack_int(&p, number);
	map = pack_open_map(&p);
	pack_pair_text(&p, "how", "accept");
	pack_key(&p, "changes");
	list = pack_open_list(&p);
	one = pack_open_list(&p);
	pack_text(&p, "job");
	pack_text(&p, attr);
	pack_nothing(&p);
	pack_text(&p, text);
	pack_close(&p, one, 4);
	pack_close(&p, list, 1);
	pack_close(&p, map, 2);
	pack_close(&p, open, 3);
	says(n, &p);
}

/* By order, then by place; a hook that is off is not there. */
static void in_order(void)
{
	struct hook *h;

	begin();
	hook_on("late", EVENT_queuejob, 9);
	hook_on("b", EVENT_queuejob, 1);
	h = hook_on("a", EVENT_queuejob, 1);
	CU_ASSERT_STRING_EQUAL(keel_mock_chain(mock, KEEL_POINT_job_submit), "test.0001-0000000002-b test.0001-0000000003-a test.0009-0000000001-late");
	h->order = 20;
	taps_follow(&st, h);
	CU_ASSERT_STRING_EQUAL(keel_mock_chain(mock, KEEL_POINT_job_submit), "test.0001-0000000002-b test.0009-0000000001-late test.0020-0000000003-a");
	h->enabled = false;
	taps_follow(&st, h);
	CU_ASSERT_STRING_EQUAL(keel_mock_chain(mock, KEEL_POINT_job_submit), "test.0001-0000000002-b test.0009-0000000001-late");
	hook_free(&st, hook_find(&st, "b"));
	CU_ASSERT_STRING_EQUAL(keel_mock_chain(mock, KEEL_POINT_job_submit), "test.0009-0000000001-late");
	hook_on("my.own", EVENT_queuejob, 1);
	CU_ASSERT_STRING_EQUAL(keel_mock_chain(mock, KEEL_POINT_job_submit), "test.0001-0000000003-my_own test.0009-0000000001-late");
	end();
}

static void accepted(void)
{
	struct keel_mock_outcome out = { .told = false };

	begin();
	hook_on("h1", EVENT_queuejob, 1);
	CU_ASSERT_EQUAL(submit(&out), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(keel_mock_hold(mock, 0), "test: hook h1 (0s of 86400s)");
	comes_up(0);
	says_change(0, number_of(0, 0), "Priority", "7");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict == KEEL_NEXT);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Hook;h1;started"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Hook;h1;finished"));
	CU_ASSERT_EQUAL(hook_find(&st, "h1")->times[EVENT_queuejob].runs, 1);
	end();
}

/* An operation that waits in one hook comes to those behind it, whatever happens to one before. */
static void stays_in_line(void)
{
	struct keel_mock_outcome out = { .told = false };
	struct hook *h;

	begin();
	h = hook_on("first", EVENT_queuejob, 1);
	h->enabled = false;
	taps_follow(&st, h);
	hook_on("second", EVENT_queuejob, 2);
	hook_on("third", EVENT_queuejob, 3);
	CU_ASSERT_EQUAL(submit(&out), KEEL_WAIT);
	h->enabled = true;
	taps_follow(&st, h);
	comes_up(0);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_FALSE(out.told);
	comes_up(1);
	says_result(1, number_of(1, 0), "reject", "no", false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict == KEEL_REJECT);
	end();
}

static void answers_at_once(struct keel_supervised *p)
{
	on_look = NULL;
	says_result((uint32_t)(p - fakes.all), number_of(0, p->n_sent - 1), "accept", NULL, false);
}

/* An answer that comes at once is the tap's: the operation does not leave the stack. */
static void at_once(void)
{
	struct keel_mock_outcome out = { .told = false };

	begin();
	hook_on("h1", EVENT_queuejob, 1);
	submit(&out);
	comes_up(0);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	keel_mock_advance(mock, 0);
	st.pools->blind = 0;
	on_look = answers_at_once;
	CU_ASSERT_EQUAL(submit(&out), KEEL_NEXT);
	CU_ASSERT_PTR_NULL(on_look);
	end();
}

/* The words of spec 32 5.2. */
static void refused(void)
{
	static const struct {
		const char *how, *text, *words, *log;
	} rows[] = {
		{ "reject", "no", "no", "Hook;h1;no" },
		{ "reject", NULL, "queuejob request rejected by 'h1'", "Hook;h1;queuejob request rejected by 'h1'" },
		{ "exception", "NameError: x", "request rejected as filter hook 'h1' encountered an exception. Please inform Admin",
		  "Hook;h1;queuejob hook 'h1' encountered an exception, request rejected" },
	};
	struct keel_mock_outcome out;

	begin();
	hook_on("h1", EVENT_queuejob, 1);
	hook_on("h2", EVENT_queuejob, 2);
	for (uint32_t i = 0; i < KEEL_COUNT(rows); i++) {
		out = (struct keel_mock_outcome){ .told = false };
		submit(&out);
		if (i == 0)
			comes_up(0);
		says_result(0, number_of(0, i), rows[i].how, rows[i].text, false);
		keel_mock_advance(mock, 0);
		CU_ASSERT(out.told && out.verdict == KEEL_REJECT && out.code == PBSE_HOOKERROR);
		CU_ASSERT_STRING_EQUAL(out.text, rows[i].words);
		CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, rows[i].log));
	}
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Hook;h1;Error evaluating Python script: NameError: x"));
	CU_ASSERT_EQUAL(fakes.n, 1); /* h2 did not run */
	CU_ASSERT_EQUAL(hook_find(&st, "h1")->times[EVENT_queuejob].errors, 1);
	end();
}

static void an_alarm(void)
{
	struct keel_mock_outcome out = { .told = false };

	begin();
	hook_on("h1", EVENT_queuejob, 1)->alarm = 2;
	submit(&out);
	comes_up(0);
	keel_mock_advance(mock, 2000);
	CU_ASSERT_TRUE(out.told && out.verdict == KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(out.text, "request rejected as filter hook 'h1' got an alarm call. Please inform Admin");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Hook;h1;alarm call while running queuejob hook 'h1', request rejected"));
	ends(0);
	end();
}

/* A change that is no value. */
static void a_bad_change(void)
{
	struct keel_mock_outcome out = { .told = false };

	begin();
	hook_on("h1", EVENT_queuejob, 1);
	submit(&out);
	comes_up(0);
	says_change(0, number_of(0, 0), "Priority", "much");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict == KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(out.text, "queuejob event: rejected request");
	end();
}

static void gone_meanwhile(void)
{
	struct keel_mock_outcome out = { .told = false };

	begin();
	hook_on("h1", EVENT_queuejob, 1);
	submit(&out);
	comes_up(0);
	keel_mock_expire(mock, 0); /* its operation ends */
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	submit(&out);
	hook_free(&st, hook_find(&st, "h1")); /* while its script runs */
	says_result(0, number_of(0, 1), "reject", "no", false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(out.told && out.verdict == KEEL_REJECT);
	ends(0);
	end();
}

static void passed_over(void)
{
	struct hook *h;

	begin();
	h = hook_on("h1", EVENT_queuejob, 1);
	h->user = HOOK_OWNER;
	CU_ASSERT_EQUAL(submit(NULL), KEEL_NEXT);
	h->user = HOOK_ADMIN;
	free(h->script);
	h->script = NULL;
	CU_ASSERT_EQUAL(submit(NULL), KEEL_NEXT);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Hook;h1;Hook has no script content. Skipping hook."));
	st.started = false;
	CU_ASSERT_EQUAL(submit(NULL), KEEL_NEXT);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Hook;process_hooks;Python interpreter not started, skipping hooks"));
	CU_ASSERT_EQUAL(fakes.n, 0);
	st.started = true;
	end();
}

/* Of a note: one after the other; what is about the same object in its order. */
static void notes(void)
{
	begin();
	conf.processes = 1;
	keel_mock_object(mock, "job", "2.svr");
	hook_on("h1", EVENT_postqueuejob, 1);
	hook_on("h2", EVENT_postqueuejob, 2);
	obit("1.svr");
	obit("1.svr");
	comes_up(0);
	CU_ASSERT_EQUAL(fakes.n, 1);
	CU_ASSERT_EQUAL(fakes.all[0].n_sent, 1);
	obit("2.svr"); /* does not wait for the others */
	CU_ASSERT_EQUAL(fakes.all[0].n_sent, 2);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	keel_mock_advance(mock, 0);
	comes_up(1);
	CU_ASSERT_EQUAL(fakes.all[0].n_sent, 2); /* the second series of 1.svr waits */
	says_result(1, number_of(1, 0), "accept", NULL, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(fakes.all[0].n_sent, 3);
	says_result(0, number_of(0, 1), "reject", "no", false);
	says_result(0, number_of(0, 2), "exception", "no", false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(fakes.all[1].n_sent, 1); /* both ended there */
	CU_ASSERT_PTR_NULL(st.runs->lines);
	CU_ASSERT_EQUAL(st.runs->n_notes, 0);
	end();
}

static uint32_t n_over;
static bool is_accepted;

static void over(struct state *s, void *arg, bool accepted)
{
	(void)s, (void)arg;
	n_over++;
	is_accepted = accepted;
}

static void now(void)
{
	struct hook *h;

	begin();
	n_over = 0;
	h = hook_on("h1", EVENT_periodic, 1);
	CU_ASSERT_FALSE(run_goes(&st, h, EVENT_periodic));
	CU_ASSERT_EQUAL(run_now(&st, EVENT_periodic, h, over, NULL), 0);
	CU_ASSERT_TRUE(run_goes(&st, h, EVENT_periodic));
	comes_up(0);
	CU_ASSERT_EQUAL_FATAL(fakes.all[0].n_sent, 1);
	says_result(0, number_of(0, 0), "reject", "no", false);
	keel_mock_advance(mock, 0);
	CU_ASSERT(n_over == 1 && !is_accepted && !run_goes(&st, h, EVENT_periodic));
	CU_ASSERT_EQUAL(run_now(&st, EVENT_periodic, NULL, over, NULL), 0);
	keel_mock_advance(mock, 0);
	says_result(0, number_of(0, 1), "accept", NULL, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT(n_over == 2 && is_accepted);
	run_now(&st, EVENT_periodic, h, over, NULL);
	end(); /* while it runs: over() is not called */
}

TESTS_MAIN("run", TEST(in_order), TEST(stays_in_line), TEST(accepted), TEST(at_once), TEST(refused), TEST(an_alarm), TEST(a_bad_change), TEST(gone_meanwhile),
	   TEST(passed_over), TEST(notes), TEST(now))
