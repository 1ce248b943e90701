/* SPDX-License-Identifier: Apache-2.0
 *
 * test_note.c - events in order: after the operation on their object, one after the other, never without
 * end; replay.
 */
#include "hook/engine.h"

static keel_verdict on_signal(struct keel_call *c, const struct keel_ev_job_signal *ev)
{
	(void)c;
	NOTE(job_suspended, .id = ev->id, .job = ev->job);
	NOTE(job_obit, .id = "2.svr", .job = &job2);
	NOTE(job_resumed, .id = ev->id, .job = ev->job);
	note_down("signal");
	return KEEL_NEXT;
}

#define LISTENER(point)                                                                            \
	static keel_verdict on_##point(struct keel_call *c, const struct keel_ev_##point *ev)      \
	{                                                                                          \
		(void)c;                                                                           \
		note_down(#point ":%s:%d", ev->id, ev->job != NULL);                               \
		return KEEL_NEXT;                                                                  \
	}
LISTENER(job_suspended)
LISTENER(job_obit)
LISTENER(job_resumed)
LISTENER(job_known)

static const struct keel_tap taps[] = {
	KEEL_TAP(job_signal, on_signal),
	KEEL_TAP(job_suspended, on_job_suspended),
	KEEL_TAP(job_obit, on_job_obit),
	KEEL_TAP(job_resumed, on_job_resumed),
	KEEL_TAP(job_known, on_job_known),
};

static void notes_of_the_same_object_wait(void)
{
	char id[] = "1.svr";

	engine_start();
	CU_ASSERT_EQUAL(ATTACH(e.alpha, taps), 0);
	RAISE(job_signal, .id = id, .job = &job1);
	CU_ASSERT_STRING_EQUAL(
		trace, "job_obit:2.svr:1 signal job_suspended:1.svr:1 job_resumed:1.svr:1 done");
	engine_stop();
}

static keel_verdict destroys(struct keel_call *c, const struct keel_ev_job_signal *ev)
{
	(void)c;
	NOTE(job_suspended, .id = ev->id, .job = ev->job);
	job1.exists = false;
	return KEEL_NEXT;
}

static void a_waiting_note_survives_its_object(void)
{
	static const struct keel_tap more[] = { KEEL_TAP(job_signal, destroys) };

	engine_start();
	CU_ASSERT_EQUAL(hooks_attach(e.parts.hooks, &e.alpha, taps + 1, 3, &e.err),
			0);
	CU_ASSERT_EQUAL(ATTACH(e.beta, more), 0);
	RAISE(job_signal, .id = "1.svr", .job = &job1);
	CU_ASSERT_STRING_EQUAL(trace, "job_suspended:1.svr:0 done");
	engine_stop();
}

static uint32_t rounds;
static keel_verdict ping(struct keel_call *c, const struct keel_ev_job_suspended *ev)
{
	(void)c;
	if (++rounds < 100)
		NOTE(job_resumed, .id = ev->id, .job = ev->job);
	else
		note_down("enough");
	return KEEL_NEXT;
}

static keel_verdict pong(struct keel_call *c, const struct keel_ev_job_resumed *ev)
{
	(void)c;
	NOTE(job_suspended, .id = ev->id, .job = ev->job);
	return KEEL_NEXT;
}

static void notes_that_answer_each_other_let_the_loop_in(void)
{
	static const struct keel_tap both[] = { KEEL_TAP(job_suspended, ping),
						KEEL_TAP(job_resumed, pong) };

	engine_start();
	rounds = 0;
	CU_ASSERT_EQUAL(ATTACH(e.alpha, both), 0);
	NOTE(job_suspended, .id = "1.svr", .job = &job1);
	CU_ASSERT(rounds > 4);
	CU_ASSERT(rounds < 30);
	CU_ASSERT_EQUAL(run_until("enough"), 0);
	CU_ASSERT_EQUAL(rounds, 100);
	engine_stop();
}

static void notes_of_unknown_points_do_nothing(void)
{
	engine_start();
	e.hook->note(&e.alpha.pub, 9999, NULL);
	e.hook->note(&e.alpha.pub, KEEL_POINT_job_submit, NULL);
	CU_ASSERT_EQUAL(e.hook->fold(&e.alpha.pub, 9999, NULL, NULL, 0), 0);
	CU_ASSERT_FALSE(e.hook->tapped(&e.alpha.pub, 9999));
	engine_stop();
}

TESTS_MAIN("hook/note", TEST(notes_of_the_same_object_wait),
	   TEST(a_waiting_note_survives_its_object),
	   TEST(notes_that_answer_each_other_let_the_loop_in),
	   TEST(notes_of_unknown_points_do_nothing))
