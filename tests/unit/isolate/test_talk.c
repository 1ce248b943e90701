/* SPDX-License-Identifier: Apache-2.0
 *
 * test_talk.c - messages between the daemon and the process of a module: what was put comes out, what is
 * not as it should be makes the reader bad and stays zero.
 */
#include <string.h>

#include "harness.h"
#include "hook/hooks.h"
#include "isolate/talk.h"
#include "keel/keel.h"

struct keel_obj {
	const char *klass, *id;
	bool nameless;
};

static struct talk_in reader(const struct buf *m)
{
	struct talk_in in;

	talk_open(&in, m->data, (uint32_t)m->len);
	return in;
}

static void test_values_come_back(void)
{
	struct buf m = { 0 };
	struct talk_in in;
	uint32_t len;

	talk_put_int(&m, -7);
	talk_put_int(&m, INT64_MAX);
	talk_put_str(&m, "text");
	talk_put_str(&m, "");
	talk_put_str(&m, NULL);
	talk_put_bytes(&m, "a\0b", 3);
	in = reader(&m);
	CU_ASSERT_EQUAL(talk_int(&in), -7);
	CU_ASSERT_EQUAL(talk_int(&in), INT64_MAX);
	CU_ASSERT_STRING_EQUAL(talk_str(&in), "text");
	CU_ASSERT_STRING_EQUAL(talk_str(&in), "");
	CU_ASSERT_PTR_NULL(talk_str(&in));
	CU_ASSERT_EQUAL(memcmp(talk_bytes(&in, &len), "a\0b", 3), 0);
	CU_ASSERT_EQUAL(len, 3);
	CU_ASSERT_TRUE(talk_done(&in));
	buf_fini(&m);
}

static void test_header(void)
{
	struct buf m = { 0 };
	struct frame_reader r;
	struct frame f;
	char *room;
	size_t len, begun;

	talk_put_int(&m, 1); /* something that is being built already */
	begun = talk_begin(&m);
	talk_put_str(&m, "x");
	talk_end(&m, begun, WIRE_EVENT, 42);
	frame_reader_init(&r, TALK_BODY_MAX);
	CU_ASSERT_EQUAL_FATAL(frame_reader_room(&r, m.len, &room, &len), 0);
	memcpy(room, m.data + begun, m.len - begun);
	frame_reader_added(&r, m.len - begun);
	CU_ASSERT_EQUAL_FATAL(frame_next(&r, &f), 1);
	CU_ASSERT_EQUAL(f.type, WIRE_EVENT);
	CU_ASSERT_EQUAL(f.corr, 42);
	CU_ASSERT_EQUAL(f.len, 3);
	frame_reader_fini(&r);
	buf_fini(&m);
}

/* bytes, and which read they are bad for */
static void test_what_is_bad(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		char read; /* i integer, s string, b bytes */
	} bad[] = {
		{ "", 0, 'i' },		  { "\xc0", 1, 'i' },	     { "\xa1\0", 2, 'i' },
		{ "\x93\1\2\3", 4, 'i' }, { "\xd3\1", 2, 'i' },	     { "", 0, 's' },
		{ "\x05", 1, 's' },	  { "\xa0", 1, 's' },	     { "\xa3" "abc", 4, 's' },
		{ "\xa3" "a\0\0", 4, 's' }, { "\xdb\xff\xff\xff\xff" "a", 6, 's' }, { "\xa5" "ab\0", 4, 's' },
		{ "\x05", 1, 'b' },	  { "\xc6\0\0\1\0" "a", 6, 'b' },
	};

	for (size_t i = 0; i < KEEL_COUNT(bad); i++) {
		struct talk_in in;
		uint32_t len = 9;

		talk_open(&in, bad[i].bytes, (uint32_t)bad[i].len);
		if (bad[i].read == 'i')
			CU_ASSERT_EQUAL(talk_int(&in), 0);
		if (bad[i].read == 's')
			CU_ASSERT_PTR_NULL(talk_str(&in));
		if (bad[i].read == 'b')
			CU_ASSERT_PTR_NULL(talk_bytes(&in, &len));
		CU_ASSERT_TRUE(talk_bad(&in));
		CU_ASSERT_FALSE(talk_done(&in));
		CU_ASSERT_EQUAL(talk_int(&in), 0); /* and stays so */
		CU_ASSERT_PTR_NULL(talk_str(&in));
	}
}

static void test_what_is_left_is_not_done(void)
{
	struct talk_in in;

	talk_open(&in, "\1\2", 2);
	CU_ASSERT_EQUAL(talk_int(&in), 1);
	CU_ASSERT_FALSE(talk_done(&in));
}

/* ---- events ------------------------------------------------------------------------------------------ */
static bool name_of(void *arg, struct keel_obj *obj, const char **ret_klass, const char **ret_id)
{
	(void)arg;
	*ret_klass = obj->klass;
	*ret_id = obj->id;
	return !obj->nameless;
}

static struct keel_obj found;
static struct keel_obj *find(void *arg, const char *klass, const char *id)
{
	(void)arg;
	found = (struct keel_obj){ klass, id, false };
	return &found;
}

static void test_an_event_comes_back(void)
{
	struct keel_obj job = { "job", "1.svr", false }, queue = { "queue", "q", true };
	const struct keel_ev_job_submit *event = KEEL_EVENT(job_submit, .id = "1.svr", .job = &job,
							    .queue = &queue, .who = NULL);
	struct keel_ev_job_submit copy;
	const struct keel_field *fields;
	struct talk_in in;
	struct buf m = { 0 };
	uint32_t n;

	fields = hooks_fields(KEEL_POINT_job_submit, &n);
	talk_put_event(&m, fields, n, event, name_of, NULL);
	in = reader(&m);
	memset(&copy, 0xff, sizeof(copy));
	talk_event(&in, fields, n, &copy, sizeof(copy), find, NULL);
	CU_ASSERT_TRUE(talk_done(&in));
	CU_ASSERT_EQUAL(copy.size, sizeof(copy));
	CU_ASSERT_STRING_EQUAL(copy.id, "1.svr");
	CU_ASSERT_PTR_EQUAL(copy.job, &found);
	CU_ASSERT_STRING_EQUAL(found.klass, "job");
	CU_ASSERT_STRING_EQUAL(found.id, "1.svr");
	CU_ASSERT_PTR_NULL(copy.queue); /* it has no name: there is none */
	CU_ASSERT_PTR_NULL(copy.who);
	buf_fini(&m);
}

static void test_an_event_that_is_cut_short(void)
{
	struct keel_obj job = { "job", "1.svr", false };
	struct keel_ev_job_obit copy;
	const struct keel_field *fields;
	struct talk_in in;
	struct buf m = { 0 };
	uint32_t n;

	fields = hooks_fields(KEEL_POINT_job_obit, &n);
	talk_put_event(&m, fields, n, KEEL_EVENT(job_obit, .id = "1.svr", .job = &job, .exit_status = 3),
		       name_of, NULL);
	for (size_t len = 0; len < m.len; len++) {
		talk_open(&in, m.data, (uint32_t)len);
		talk_event(&in, fields, n, &copy, sizeof(copy), find, NULL);
		CU_ASSERT_TRUE(talk_bad(&in));
		CU_ASSERT_EQUAL(copy.exit_status, 0);
	}
	buf_fini(&m);
}

TESTS_MAIN("talk", TEST(test_values_come_back), TEST(test_header), TEST(test_what_is_bad),
	   TEST(test_what_is_left_is_not_done), TEST(test_an_event_comes_back),
	   TEST(test_an_event_that_is_cut_short))
