/* SPDX-License-Identifier: Apache-2.0
 *
 * test_virtual.c - a loop whose time is given: order, jumps, workers, the power cut.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "mock/virtual.h"

#define DAY_MS (24 * 3600 * 1000)

static struct loop *l;
static char trace[64];
static int64_t work_takes_ms;

static void mark(void *arg)
{
	strncat(trace, arg, sizeof(trace) - strlen(trace) - 1);
}

static int64_t work_ms(void *arg)
{
	(void)arg;
	return work_takes_ms;
}

static void begin(void)
{
	struct loop_virtual conf = { .now_ms = 100, .epoch_us = 1000000000000000, .look_ns = 1000,
				     .work_ms = work_ms };

	trace[0] = '\0';
	CU_ASSERT_EQUAL_FATAL(loop_create_virtual(&conf, &l), 0);
}

static bool all(void *arg)
{
	return strlen(trace) >= strlen(arg);
}

static void expect(const char *want)
{
	CU_ASSERT_EQUAL(loop_run_until(l, all, (void *)(uintptr_t)want, DAY_MS), 0);
	CU_ASSERT_STRING_EQUAL(trace, want);
	loop_destroy(l);
}

static void test_timers_in_order(void)
{
	struct loop_timer *cancelled;

	begin();
	loop_timer(l, 3000, mark, "c");
	loop_timer(l, 1000, mark, "a");
	cancelled = loop_timer(l, 1500, mark, "x");
	loop_timer(l, 1000, mark, "b");
	loop_timer_cancel(cancelled);
	expect("abc");
}

static void test_time_jumps(void)
{
	begin();
	CU_ASSERT_EQUAL(loop_now_ms(l), 100);
	CU_ASSERT_EQUAL(loop_time(l), 1000000000);
	CU_ASSERT_EQUAL(loop_next_ms(l), INT64_MAX);
	loop_timer(l, 5000, mark, "a");
	CU_ASSERT_EQUAL(loop_next_ms(l), 5100);
	loop_turn(l, 5099);
	CU_ASSERT_STRING_EQUAL(trace, "");
	loop_turn(l, 5100);
	CU_ASSERT_EQUAL(loop_now_ms(l), 5100);
	CU_ASSERT_EQUAL(loop_time(l), 1000000005);
	expect("a");
}

static void test_nothing_left(void)
{
	begin();
	CU_ASSERT_EQUAL(loop_run_until(l, all, "a", 2000), -ETIMEDOUT);
	CU_ASSERT_EQUAL(loop_now_ms(l), 2100);
	CU_ASSERT_EQUAL(loop_run(l), -EDEADLK);
	loop_destroy(l);
}

static void stop(void *arg)
{
	(void)arg;
	loop_stop(l);
}

static void test_run_until_stopped(void)
{
	begin();
	loop_timer(l, 1000, mark, "a");
	loop_timer(l, 2000, stop, NULL);
	loop_timer(l, 3000, mark, "b");
	CU_ASSERT_EQUAL(loop_run(l), 0);
	CU_ASSERT_STRING_EQUAL(trace, "a");
	loop_destroy(l);
}

static void defer_more(void *arg)
{
	mark(arg);
	loop_defer(l, mark, "d");
	loop_post(l, mark, "p");
	loop_turn_due(l);
}

/* Timers, posted calls, deferred ones, the end of the turn. */
static void test_a_turn(void)
{
	begin();
	loop_turn_end(l, mark, "e");
	loop_timer(l, 10, defer_more, "t");
	expect("tpde");
}

static void test_work_takes_its_time(void)
{
	begin();
	work_takes_ms = 50;
	loop_work(l, mark, mark, "w");
	loop_timer(l, 20, mark, "a");
	CU_ASSERT_EQUAL(loop_next_ms(l), 120);
	expect("aww");
	work_takes_ms = 0;
}

static void cut(void *arg)
{
	mark(arg);
	loop_freeze(l);
}

/* The worker's deed is done, nobody hears of it. */
static void test_power_cut(void)
{
	begin();
	loop_turn_end(l, mark, "e");
	loop_work(l, cut, mark, "w");
	loop_timer(l, 0, mark, "x");
	loop_turn_due(l);
	loop_turn(l, 200);
	CU_ASSERT_STRING_EQUAL(trace, "w");
	CU_ASSERT_EQUAL(loop_next_ms(l), INT64_MAX);
	loop_destroy(l);
}

static void test_the_measuring_clock(void)
{
	int64_t t;

	begin();
	t = loop_clock_ns(l);
	CU_ASSERT_EQUAL(t, 100000000);
	CU_ASSERT_EQUAL(loop_clock_ns(l) - t, 1000);
	loop_turn(l, 200);
	CU_ASSERT_EQUAL(loop_clock_ns(l), 200000000);
	loop_destroy(l);
}

static void test_no_fds(void)
{
	struct loop_watch *w;

	begin();
	CU_ASSERT_EQUAL(loop_watch(l, 0, LOOP_READABLE, NULL, NULL, &w), -ENOTSUP);
	CU_ASSERT_EQUAL(loop_signal(l, 1, NULL, NULL), -ENOTSUP);
	loop_destroy(l);
}

static void count_events(void *arg, int events)
{
	*(int *)arg = events;
}

static void test_what_a_descriptor_is_ready_for(void)
{
	struct loop_virtual conf = { .fds = true };
	struct loop_watch *w;
	int ends[2], events = 0;

	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	CU_ASSERT_EQUAL_FATAL(loop_create_virtual(&conf, &l), 0);
	CU_ASSERT_EQUAL_FATAL(loop_watch(l, ends[0], LOOP_READABLE | LOOP_WRITABLE, count_events, &events, &w), 0);
	CU_ASSERT_TRUE(loop_poll(l, 0));
	CU_ASSERT_EQUAL(events, LOOP_WRITABLE);
	CU_ASSERT_EQUAL(write(ends[1], "x", 1), 1);
	CU_ASSERT_TRUE(loop_poll(l, 0));
	CU_ASSERT_EQUAL(events, LOOP_READABLE | LOOP_WRITABLE);
	loop_watch_cancel(w);
	loop_destroy(l);
	close(ends[0]);
	close(ends[1]);
}

TESTS_MAIN("virtual", TEST(test_timers_in_order), TEST(test_time_jumps), TEST(test_nothing_left),
	   TEST(test_run_until_stopped), TEST(test_a_turn), TEST(test_work_takes_its_time),
	   TEST(test_power_cut), TEST(test_the_measuring_clock), TEST(test_no_fds), TEST(test_what_a_descriptor_is_ready_for))
