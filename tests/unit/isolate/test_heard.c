/* SPDX-License-Identifier: Apache-2.0
 *
 * test_heard.c - what a process answers, and in which order: a hostile one buys no time.
 */
#include "harness.h"
#include "../fuzz/isolated.h"

static struct isolate iso;
static struct keel_obj *draft;
static int ends[2];

static void begin(void)
{
	if (parts.loop == NULL)
		kernel_make();
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	draft = object->draft(&base.pub, "job", "2.svr", NULL);
	isolate_make(&iso, ends[0]);
}

/* True at the second look. */
static bool turned(void *arg)
{
	bool *looked = arg, was = *looked;

	*looked = true;
	return was;
}

static void finish(void)
{
	isolate_drop(&iso);
	close(ends[1]);
	object->destroy(draft);
	loop_run_until(parts.loop, turned, &(bool){ false }, 1000);
}

/* Has it been given up? */
static bool is_lost(void)
{
	return iso.now == NULL || iso.now->lost[0] != '\0';
}

static void says(uint32_t type, uint64_t corr, const struct buf *m)
{
	heard(iso.now, &(struct frame){ .type = type, .corr = corr, .body = m->data, .len = (uint32_t)m->len });
}

static void answers(uint64_t number)
{
	struct buf m = { 0 };

	talk_put_int(&m, KEEL_NEXT);
	talk_put_int(&m, 0);
	talk_put_str(&m, NULL);
	says(WIRE_REPLY, number, &m);
	buf_fini(&m);
}

static void has_heard(int64_t notes)
{
	struct buf m = { 0 };

	talk_put_int(&m, TALK_NOTED);
	talk_put_int(&m, notes);
	says(WIRE_EVENT, 0, &m);
	buf_fini(&m);
}

static void answers_come_in_order(void)
{
	begin();
	call_open(draft);
	call_open(draft);
	answers(1);
	CU_ASSERT_FALSE(is_lost());
	answers(2);
	CU_ASSERT_FALSE(is_lost());
	answers(2); /* again */
	CU_ASSERT_TRUE(is_lost());
	finish();
}

static void none_is_left_out(void)
{
	begin();
	call_open(draft);
	call_open(draft);
	answers(2);
	CU_ASSERT_TRUE(is_lost());
	finish();
}

/* A note that was sent behind a question is heard behind its answer: else it would pay for a call that hangs. */
static void a_note_pays_for_no_question_before_it(void)
{
	begin();
	iso.now->notes = 1;
	call_open(draft);
	iso.now->notes += 2;
	has_heard(1);
	CU_ASSERT_FALSE(is_lost());
	answers(1);
	has_heard(1);
	CU_ASSERT_FALSE(is_lost());
	call_open(draft);
	iso.now->notes++;
	has_heard(2);
	CU_ASSERT_TRUE(is_lost());
	finish();
}

/* The replay is queued as a whole, so its queue has no end: what it asks meanwhile has one. */
static void who_asks_and_does_not_read_is_given_up(void)
{
	uint64_t corr = 0;
	struct buf m = { 0 };

	begin();
	iso.now->state = PROCESS_READY;
	talk_put_int(&m, ASK_COUNT);
	talk_put_int(&m, 0);
	talk_put_str(&m, "job");
	while (!is_lost() && corr < QUEUE_MAX)
		says(WIRE_REQUEST, ++corr, &m);
	CU_ASSERT_TRUE(is_lost());
	CU_ASSERT(iso.now->out.len < QUEUE_MAX + 4096);
	buf_fini(&m);
	finish();
}

#define MANY 300
/* The sweep judges: the hold of a question lasts as long as all before it may, and while a process comes up. */
static void who_waits_behind_many_is_not_given_up_before_them(void)
{
	long longest = 0, seconds;
	struct buf out;

	begin();
	for (int i = 0; i < MANY; i++)
		call_open(draft);
	buf_init(&out);
	hooks_describe_holds(parts.hooks, &out);
	for (const char *at = out.data; at != NULL && (at = strstr(at, "s of ")) != NULL; at++) {
		seconds = strtol(at + strlen("s of "), NULL, 10);
		longest = seconds > longest ? seconds : longest;
	}
	CU_ASSERT(longest >= MANY * iso.limits.deadline_ms / 1000);
	buf_fini(&out);
	finish();

	begin();
	iso.now->state = PROCESS_READY;
	call_open(draft);
	buf_init(&out);
	hooks_describe_holds(parts.hooks, &out);
	CU_ASSERT_PTR_NOT_NULL_FATAL(strstr(out.data, "s of "));
	CU_ASSERT(strtol(strstr(out.data, "s of ") + strlen("s of "), NULL, 10) >= START_DEADLINE_MS / 1000);
	buf_fini(&out);
	finish();
}

TESTS_MAIN("isolate/heard", TEST(answers_come_in_order), TEST(none_is_left_out),
	   TEST(a_note_pays_for_no_question_before_it), TEST(who_asks_and_does_not_read_is_given_up),
	    TEST(who_waits_behind_many_is_not_given_up_before_them))
