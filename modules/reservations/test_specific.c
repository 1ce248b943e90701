/* SPDX-License-Identifier: Apache-2.0
 *
 * test_specific.c - reservations made from jobs: which may be named, what they have of it, and a job that changes meanwhile.
 */
#include "test_world.h"

static const struct keel_session *ann, *bob;
static struct keel_mock_reply reply;

static struct keel_obj *job(void)
{
	return keel_find(keel_mock_self(mock), "job", "5.svr");
}

static const char *job_says(const char *attr)
{
	const char *text = keel_mock_text(job(), attr, NULL);

	return text ? text : "";
}

/* 5.svr has run for 100 s of 500. */
static void begin(void)
{
	set_up();
	move_code = 0;
	ann = keel_mock_session(mock, "ann", KEEL_USER);
	bob = keel_mock_session(mock, "bob", KEEL_USER);
	keel_mock_object(mock, "job", "5.svr");
	keel_mock_set(job(), "job_state", NULL, "R");
	keel_mock_set(job(), "queue", NULL, "workq");
	keel_mock_set(job(), "exec_vnode", NULL, "(b:ncpus=2)");
	keel_mock_set(job(), "stime", NULL, "1699999900");
	keel_mock_set(job(), "Job_Owner", NULL, "ann@mockhost");
	keel_mock_set(job(), "euser", NULL, "ann");
	keel_mock_set(job(), "Resource_List", "select", "1:ncpus=2");
	keel_mock_set(job(), "Resource_List", "walltime", "500");
}

static void sent(const struct keel_session *who, const char *attrs_text)
{
	char body[1024];

	reply = (struct keel_mock_reply){ 0 };
	snprintf(body, sizeof(body), "attrs = ( %s ); extend = \"\";", attrs_text);
	keel_mock_request(mock, who, "resv_submit", body, &reply);
	keel_mock_advance(mock, 0);
}

#define JOB(id) "(\"reserve_job\", \"\", \"" id "\")"
#define MOVE(id) "(\"qmove\", \"\", \"" id "\"), (\"interactive\", \"\", \"-10\")"

static void runs_at_once(void)
{
	sent(ann, JOB("5"));
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "R1.svr CONFIRMED"));
	CU_ASSERT_FATAL(is(5, 5));
	CU_ASSERT_EQUAL(number_of("reserve_start"), 1699999900);
	CU_ASSERT_EQUAL(number_of("reserve_end"), 1700000400);
	CU_ASSERT_STRING_EQUAL(text_of("reserve_job"), "5.svr");
	CU_ASSERT_STRING_EQUAL(text_of("schedselect"), "1:ncpus=2");
	CU_ASSERT_STRING_EQUAL(where(), "(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(held, "(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(job_says("queue"), "R1");
	CU_ASSERT_STRING_EQUAL(job_says("reserve_ID"), ID);
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "True");
	CU_ASSERT_STRING_EQUAL(records, "YB");
	restart();
	CU_ASSERT_FATAL(is(5, 5));
	CU_ASSERT_STRING_EQUAL(held, "(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(records, "YB");
}

static const struct {
	const char *attrs;
	bool other;
	int32_t code;
} refused[] = {
	{ JOB("6.svr"), false, PBSE_UNKJOBID },
	{ JOB("x"), false, PBSE_UNKJOBID },
	{ JOB(""), false, PBSE_BADTSPEC },
	{ JOB("5.svrx"), false, PBSE_UNKJOBID },
	{ JOB("99999999999999999999999999999999999999999999999999999999999999999999999999"), false, PBSE_UNKJOBID },
	{ JOB("5.svr"), true, PBSE_PERM },
	{ JOB("7[3].svr"), false, PBSE_RESV_FROM_ARRJOB },
	{ JOB("5.svr") ", " MOVE("5.svr"), false, PBSE_NOSUP },
	{ JOB("5.svr") ", (\"reserve_rrule\", \"\", \"FREQ=DAILY;COUNT=2\")", false, PBSE_NOSUP },
	{ MOVE("5.svr"), false, PBSE_BADSTATE },
};

static void is_refused(void)
{
	for (size_t i = 0; i < KEEL_COUNT(refused); i++) {
		sent(refused[i].other ? bob : ann, refused[i].attrs);
		if (reply.code != refused[i].code)
			fprintf(stderr, "row %zu: %d %s\n", i, reply.code, reply.text);
		CU_ASSERT_EQUAL(reply.code, refused[i].code);
		CU_ASSERT_PTR_NULL(resv());
		CU_ASSERT_PTR_NULL(queue());
	}
	keel_mock_set(job(), "stime", NULL, "1699999500"); /* its walltime is over */
	sent(ann, JOB("5.svr"));
	CU_ASSERT_EQUAL(reply.code, PBSE_BADTSPEC);
}

static keel_verdict job_ends(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)c, (void)point, (void)event, (void)arg;
	keel_mock_set(job(), "job_state", NULL, "E");
	return KEEL_NEXT;
}

static void its_job_ends_meanwhile(void)
{
	keel_mock_tap(mock, KEEL_POINT_resv_submit, "ends", 0, job_ends, NULL);
	sent(ann, JOB("5.svr"));
	CU_ASSERT_EQUAL(reply.code, PBSE_BADSTATE);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_PTR_NULL(queue());
	CU_ASSERT_STRING_EQUAL(records, "");
}

static void waits_for_its_job(void)
{
	keel_mock_set(job(), "job_state", NULL, "Q");
	sent(ann, MOVE("5.svr"));
	CU_ASSERT_FATAL(is(1, 1));
	CU_ASSERT_EQUAL(number_of("reserve_start"), 1893488460);
	CU_ASSERT_EQUAL(number_of("delete_idle_time"), 600);
	CU_ASSERT_EQUAL(number_of("reserve_duration"), 500);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=2");
}

static void is_moved(void)
{
	waits_for_its_job();
	answer("(b:ncpus=2)", NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "R1.svr CONFIRMED"));
	CU_ASSERT_STRING_EQUAL(job_says("queue"), "R1");
	CU_ASSERT_FALSE(specific_moves(resv()));
	CU_ASSERT(is(5, 5));
}

static void cannot_be_moved(void)
{
	waits_for_its_job();
	move_code = PBSE_PERM;
	answer("(b:ncpus=2)", NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "R1.svr FAILED"));
	CU_ASSERT_STRING_EQUAL(job_says("queue"), "workq");
	CU_ASSERT(is(5, 5));
}

TESTS_MAIN_BETWEEN("reservations from jobs", begin, tear_down, TEST(runs_at_once), TEST(is_refused), TEST(its_job_ends_meanwhile),
		   TEST(is_moved), TEST(cannot_be_moved))
