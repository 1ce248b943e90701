/* SPDX-License-Identifier: Apache-2.0
 *
 * test_isolation.c - what the process of a module says, as the daemon takes it.
 */

#include "test_process.h"
#include "harness.h"

/* ---- its description ------------------------------------------------------------------------------------- */
static void a_description_is_taken_whole_or_not_at_all(void)
{
	struct talk m = description(KEEL_POINT_job_submit, "ATTR");
	struct keel_err err;

	for (uint32_t len = 0; len < m.len; len++) {
		daemon_begin();
		CU_ASSERT_PTR_NOT_NULL(isolated_open(&(struct talk){ .data = m.data, .len = len }, &err));
		daemon_end();
	}
	daemon_begin();
	CU_ASSERT_PTR_NULL(isolated_open(&m, &err));
	CU_ASSERT_EQUAL(iso->desc.n_taps, 1);
	CU_ASSERT_EQUAL(iso->desc.taps[0].flags, KEEL_TAP_ANY);
	CU_ASSERT_STRING_EQUAL(iso->desc.name, "fuzzed");
	daemon_end();
	free(m.data);
}

static void what_would_make_the_daemon_wait_is_refused(void)
{
	static const struct {
		uint32_t point;
		const char *kind;
	} no[] = { { KEEL_POINT_client_auth, "ATTR" }, { KEEL_POINT_start_job, "ATTR" }, { 191, "ATTR" },
		   { KEEL_POINT_job_submit, "TYPE" }, { KEEL_POINT_job_submit, "REQUEST" } };
	struct keel_err err;

	for (uint32_t i = 0; i < KEEL_COUNT(no); i++) {
		struct talk m = description(no[i].point, no[i].kind);

		daemon_begin();
		CU_ASSERT_PTR_NOT_NULL_FATAL(isolated_open(&m, &err));
		CU_ASSERT_STRING_EQUAL(err.text, "module fuzzed: its process describes it wrongly");
		daemon_end();
		free(m.data);
	}
}

/* ---- a module that serves ---------------------------------------------------------------------------------- */
static void begin(void)
{
	struct talk m = description(KEEL_POINT_job_submit, "ATTR");
	struct keel_err err = { .code = 0 };

	daemon_begin();
	keel_mock_object(mock, "job", "1.svr");
	keel_mock_object(mock, "node", "n1");
	CU_ASSERT_PTR_NULL_FATAL(isolated_open(&m, &err));
	CU_ASSERT_TRUE_FATAL(isolated_start());
	CU_ASSERT_TRUE(process.up);
	isolated_offer();
	free(m.data);
}

/* Raise a job_submit; its call's number. */
static int64_t submit(struct keel_mock_outcome *ret)
{
	struct talk_in in;

	keel_mock_raise(mock, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "1.svr", .who = "me"), ret);
	in = (struct talk_in){ .at = process.sent.data, .end = process.sent.data + process.sent.len };
	CU_ASSERT_EQUAL(take_int(&in), DOWN_call);
	return take_int(&in);
}

static void answers(int64_t verdict, int64_t code, const char *text)
{
	struct talk m = reply_begin();

	talk_int(&m, verdict);
	talk_int(&m, code);
	talk_str(&m, text);
	process_says(&m);
	free(m.data);
}

static void a_verdict_ends_the_hold_of_its_call(void)
{
	struct keel_mock_outcome out;

	begin();
	submit(&out);
	CU_ASSERT_FALSE(out.told);
	CU_ASSERT_EQUAL(process.owed, 1);
	answers(KEEL_REJECT, 15044, "not today");
	keel_mock_advance(mock, 1);
	CU_ASSERT_TRUE(out.told);
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(out.text, "not today");
	CU_ASSERT_EQUAL(process.owed, 0);
	daemon_end();
}

static void answers_are_in_order_and_none_is_owed_twice(void)
{
	struct keel_mock_outcome first, second;

	begin();
	submit(&first);
	submit(&second);
	answers(KEEL_NEXT, 0, NULL);
	keel_mock_advance(mock, 1);
	CU_ASSERT_TRUE(first.told);
	CU_ASSERT_FALSE(second.told);
	answers(KEEL_NEXT, 0, NULL);
	CU_ASSERT_EQUAL(process.lost[0], '\0');
	answers(KEEL_NEXT, 0, NULL);
	CU_ASSERT_STRING_EQUAL(process.lost, "its process sent what is no message");
	daemon_end();
}

static void what_it_owes_fails_with_it(void)
{
	struct keel_mock_outcome out;

	begin();
	submit(&out);
	process.o.ended(process.mod, process.o.arg, "its process was killed by signal 11 (Segmentation fault)", 0);
	keel_mock_advance(mock, 1);
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT); /* a GATE's policy */
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "killed by signal 11"));
	submit(&out);
	CU_ASSERT_TRUE(out.told);
	daemon_end();
}

/* The hold of a question lasts as long as all before it may: supervise is the judge. */
static void a_call_behind_many_is_not_given_up_before_them(void)
{
	enum { MANY = 300 };
	static struct keel_mock_outcome out[MANY];

	begin();
	for (int i = 0; i < MANY; i++)
		submit(&out[i]);
	keel_mock_advance(mock, (MANY - 1) * 250);
	CU_ASSERT_FALSE(out[MANY - 1].told);
	CU_ASSERT_EQUAL(process.owed, MANY);
	while (process.owed > 0)
		answers(KEEL_NEXT, 0, NULL);
	keel_mock_advance(mock, 1);
	CU_ASSERT_TRUE(out[MANY - 1].told);
	daemon_end();
}

/* ---- what it asks -------------------------------------------------------------------------------------------- */
static struct talk question(enum up what, int64_t call, ...)
{
	struct talk m = { .data = NULL };
	va_list values;

	talk_int(&m, what);
	talk_int(&m, call);
	va_start(values, call);
	talk_values(&m, up_arguments[what], values);
	va_end(values);
	return m;
}

/* The answer to it. */
static struct talk_in asks(struct talk *m)
{
	struct talk_in in;

	process.sent.len = 0;
	process_says(m);
	free(m->data);
	in = (struct talk_in){ .at = process.sent.data, .end = process.sent.data + process.sent.len };
	take_int(&in);
	return in;
}

static void it_reads_and_writes_objects_by_name(void)
{
	struct talk m;
	struct talk_in in;

	begin();
	keel_mock_attr(mock, "job", "Priority", "long");
	m = question(UP_find, 0, "job", "1.svr");
	in = asks(&m);
	CU_ASSERT_EQUAL(take_int(&in), 1);
	m = question(UP_set_int, 0, "job", "1.svr", "Priority", (int64_t)7);
	in = asks(&m);
	CU_ASSERT_EQUAL(take_int(&in), 1);
	m = question(UP_integer, 0, "job", "1.svr", "Priority");
	in = asks(&m);
	CU_ASSERT_EQUAL(take_int(&in), 1);
	CU_ASSERT_EQUAL(take_int(&in), 7);
	m = question(UP_integer, 0, "job", "2.svr", "Priority");
	in = asks(&m);
	CU_ASSERT_EQUAL(take_int(&in), 0);
	CU_ASSERT_EQUAL(process.lost[0], '\0');
	daemon_end();
}

static void a_question_that_is_cut_off_ends_it(void)
{
	struct talk m = question(UP_set_text, 0, "job", "1.svr", "comment", (int64_t)KEEL_SET, NULL, "hello");

	for (uint32_t len = 0; len < m.len; len++) {
		begin();
		process_says(&(struct talk){ .data = m.data, .len = len });
		CU_ASSERT_STRING_EQUAL(process.lost, "its process sent what is no message");
		daemon_end();
	}
	free(m.data);
}

/* past modules/isolation/isolation.h UNREAD_MAX */
static void one_that_asks_and_does_not_read_is_given_up(void)
{
	struct talk m = question(UP_count, 0, "job");
	uint32_t n = 0;

	begin();
	process.deaf = true;
	while (process.lost[0] == '\0' && n++ < UNREAD_MAX)
		process_says(&m);
	CU_ASSERT_STRING_EQUAL(process.lost, "its process does not read what it is told");
	free(m.data);
	daemon_end();
}

static bool finds_9(int64_t call)
{
	struct talk m = question(UP_find, call, "job", "9.svr");
	struct talk_in in = asks(&m);

	return take_int(&in) == 1;
}

static void a_draft_is_there_within_its_call_only(void)
{
	struct keel_mock_outcome out;
	struct keel_obj *draft;
	struct talk_in in;
	int64_t call;

	begin();
	draft = keel_mock_draft(mock, "job", "9.svr");
	keel_mock_raise(mock, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "9.svr", .job = draft, .who = "me"), &out);
	in = (struct talk_in){ .at = process.sent.data, .end = process.sent.data + process.sent.len };
	take_int(&in);
	call = take_int(&in);
	CU_ASSERT_FALSE(finds_9(0));
	CU_ASSERT_TRUE(finds_9(call));
	answers(KEEL_NEXT, 0, NULL);
	keel_mock_advance(mock, 1);
	CU_ASSERT_FALSE(finds_9(call));
	CU_ASSERT_EQUAL(process.lost[0], '\0');
	keel_mock_destroy(draft);
	daemon_end();
}

/* ---- bounds: what is beyond is refused, or ends it ------------------------------------------------------------ */
/* past modules/isolation/described.c ROWS_MAX */
static void a_table_of_too_many_rows_is_refused(void)
{
	struct keel_err err;

	for (int64_t n = 1024; n <= 1025; n++) {
		struct talk m = reply_begin();

		talk_int(&m, 0);
		talk_str(&m, NULL);
		for (int i = 0; i < 4; i++)
			talk_str(&m, "x");
		talk_int(&m, KEEL_SERVER);
		talk_int(&m, 0);
		talk_int(&m, 0);
		talk_int(&m, 0); /* rules */
		talk_int(&m, 0); /* rows */
		talk_int(&m, 0); /* taps */
		talk_int(&m, n); /* requires */
		for (int64_t i = 0; i < n; i++)
			talk_str(&m, "y");
		talk_int(&m, 0);
		daemon_begin();
		CU_ASSERT_EQUAL(isolated_open(&m, &err) == NULL, n == 1024);
		daemon_end();
		free(m.data);
	}
}

/* past modules/isolation/isolation.h CALLS_MAX */
static void a_call_too_many_fails_by_its_policy(void)
{
	static struct keel_mock_outcome out[CALLS_MAX + 1];

	begin();
	for (uint32_t i = 0; i <= CALLS_MAX; i++)
		submit(&out[i]);
	CU_ASSERT_FALSE(out[CALLS_MAX - 1].told);
	CU_ASSERT_TRUE(out[CALLS_MAX].told);
	CU_ASSERT_PTR_NOT_NULL(strstr(out[CALLS_MAX].text, "has 1024 calls to answer"));
	daemon_end();
}

/* past modules/isolation/isolation.h NOTES_MAX */
static void a_note_too_many_fails(void)
{
	struct iso_tap note;

	begin();
	note = iso->iso_taps[0];
	note.kind = KEEL_NOTE;
	note.point = map_point(KEEL_POINT_job_queued);
	keel_mock_tap(mock, KEEL_POINT_job_queued, "notes", 0, tap_called, &note);
	for (uint32_t i = 0; i < NOTES_MAX; i++)
		keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "1.svr"), NULL);
	CU_ASSERT_EQUAL(process.owed, NOTES_MAX);
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "events to hear of"));
	keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "1.svr"), NULL);
	CU_ASSERT_EQUAL(process.owed, NOTES_MAX);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "its process has 65536 events to hear of"));
	daemon_end();
}

/* past modules/isolation/isolation.h TEXT_MAX */
static void a_text_that_is_too_long_is_not_given(void)
{
	struct keel_obj *job;
	struct talk_in in;
	struct talk m;
	char *text = malloc(TEXT_MAX + 2);

	begin();
	job = keel_mock_object(mock, "job", "3.svr");
	keel_mock_attr(mock, "job", "comment", "string");
	for (uint32_t len = TEXT_MAX - 1; len <= TEXT_MAX; len++) {
		memset(text, 'x', len);
		text[len] = '\0';
		keel_mock_set(job, "comment", NULL, text);
		m = question(UP_text, 0, (int64_t)0, "job", "3.svr", "comment", NULL);
		in = asks(&m);
		CU_ASSERT_EQUAL(take_int(&in), len < TEXT_MAX ? (int64_t)len : -ENOMEM);
	}
	free(text);
	daemon_end();
}

/* ---- numbers ------------------------------------------------------------------------------------------------ */
static void an_old_number_names_nothing(void)
{
	struct slots s = { .at = NULL };
	int thing, other;
	int64_t first = slot_take(&s, &thing), second;

	CU_ASSERT_PTR_EQUAL(slot_get(&s, first), &thing);
	slot_free(&s, first);
	CU_ASSERT_PTR_NULL(slot_get(&s, first));
	second = slot_take(&s, &other);
	CU_ASSERT_NOT_EQUAL(first, second);
	CU_ASSERT_PTR_NULL(slot_get(&s, first));
	CU_ASSERT_PTR_NULL(slot_get(&s, 0));
	CU_ASSERT_PTR_NULL(slot_get(&s, -1));
	for (uint32_t i = 1; i < CALLS_MAX; i++)
		CU_ASSERT_NOT_EQUAL(slot_take(&s, &thing), 0);
	CU_ASSERT_EQUAL(slot_take(&s, &thing), 0);
	free(s.at);
}

TESTS_MAIN("isolation", TEST(a_description_is_taken_whole_or_not_at_all), TEST(what_would_make_the_daemon_wait_is_refused),
	   TEST(a_verdict_ends_the_hold_of_its_call), TEST(answers_are_in_order_and_none_is_owed_twice),
	   TEST(what_it_owes_fails_with_it), TEST(a_call_behind_many_is_not_given_up_before_them),
	   TEST(it_reads_and_writes_objects_by_name), TEST(a_question_that_is_cut_off_ends_it),
	   TEST(one_that_asks_and_does_not_read_is_given_up), TEST(a_draft_is_there_within_its_call_only),
	   TEST(a_table_of_too_many_rows_is_refused), TEST(a_call_too_many_fails_by_its_policy), TEST(a_note_too_many_fails),
	   TEST(a_text_that_is_too_long_is_not_given), TEST(an_old_number_names_nothing))
