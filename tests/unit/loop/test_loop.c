/* SPDX-License-Identifier: Apache-2.0
 *
 * test_loop.c - turns: what runs when; timers, fds, threads and signals.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "loop/loop.h"

#define SOON 5000 /* ms until a test gives up */

static struct loop *l;
static char trace[64]; /* what ran, in order */
static int wanted;     /* how many entries end a wait */

static void mark(char c)
{
	size_t len = strlen(trace);

	if (len + 1 < sizeof(trace)) {
		trace[len] = c;
		trace[len + 1] = '\0';
	}
}

static void mark_arg(void *arg)
{
	mark(*(const char *)arg);
}

static bool traced(void *arg)
{
	(void)arg;
	return (int)strlen(trace) >= wanted;
}

static void begin(int entries)
{
	trace[0] = '\0';
	wanted = entries;
	CU_ASSERT_EQUAL_FATAL(loop_create(&l), 0);
}

static void finish(const char *expected)
{
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, SOON), 0);
	CU_ASSERT_STRING_EQUAL(trace, expected);
	loop_destroy(l);
}

static void defer_more(void *arg)
{
	mark('1');
	CU_ASSERT_EQUAL(loop_defer(l, mark_arg, arg), 0);
	loop_turn_due(l);
}

static void test_deferred_before_turn_end(void)
{
	begin(3);
	loop_turn_end(l, mark_arg, "E");
	CU_ASSERT_EQUAL(loop_defer(l, defer_more, "2"), 0);
	finish("12E");
}

static void mark_and_defer(void *arg)
{
	mark('p');
	CU_ASSERT_EQUAL(loop_defer(l, mark_arg, arg), 0);
}

/* What came, and what it deferred, does not wait for slices of long work. */
static void test_deferred_before_timers(void)
{
	begin(3);
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 0, mark_arg, "t"));
	CU_ASSERT_EQUAL(loop_post(l, mark_and_defer, "d"), 0);
	finish("pdt");
}

static void test_turn_end_only_when_due(void)
{
	begin(1);
	loop_turn_end(l, mark_arg, "E");
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 1, mark_arg, "t"));
	finish("t");
}

static int spins;

static void spin(void *arg)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	(void)arg;
	nanosleep(&nap, NULL);
	if (++spins < 1000)
		loop_defer(l, spin, NULL);
}

static void test_endless_deferring_lets_others_in(void)
{
	begin(1);
	spins = 0;
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 20, mark_arg, "t"));
	CU_ASSERT_EQUAL(loop_defer(l, spin, NULL), 0);
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, SOON), 0);
	CU_ASSERT(spins < 1000);
	loop_destroy(l); /* with a call still queued */
}

static void slice(void *arg)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	nanosleep(&nap, NULL);
	if (++spins < 1000)
		CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 0, slice, arg));
}

/* Two of them: when the one is done the other is due. */
static void test_endless_timers_let_others_in(void)
{
	begin(1);
	spins = 0;
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 0, slice, NULL));
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 0, slice, NULL));
	CU_ASSERT_EQUAL(loop_defer(l, mark_arg, "d"), 0);
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, SOON), 0);
	CU_ASSERT(spins < 1000);
	loop_destroy(l);
}

static void test_many_deferred_in_order(void)
{
	begin(63);
	for (int i = 0; i < 63; i++)
		CU_ASSERT_EQUAL(loop_defer(l, mark_arg, (void *)&"abcdefghi"[i % 9]), 0);
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, SOON), 0);
	CU_ASSERT_NSTRING_EQUAL(trace, "abcdefghiabc", 12);
	loop_destroy(l);
}

static void test_timers_in_order_and_never_early(void)
{
	int64_t before;

	begin(3);
	before = loop_now_ms(l);
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 30, mark_arg, "c"));
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 10, mark_arg, "a"));
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 20, mark_arg, "b"));
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, SOON), 0);
	CU_ASSERT(loop_now_ms(l) - before >= 30);
	finish("abc");
}

enum { SLICED = 16 };
static int sliced[SLICED], sliced_before;

static void sliced_work(void *arg)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	int *mine = arg;

	nanosleep(&nap, NULL);
	for (int i = 0; i < SLICED; i++)
		CU_ASSERT(sliced[i] >= *mine); /* nobody has two while another has one */
	++*mine;
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 0, sliced_work, arg));
}

static void turn_of_others(void *arg)
{
	(void)arg;
	sliced_before = 0;
	for (int i = 0; i < SLICED; i++)
		sliced_before += sliced[i];
	mark('o');
}

/* Slices of many do not add up in one turn, and each has its share. */
static void test_slices_of_many(void)
{
	memset(sliced, 0, sizeof(sliced));
	begin(1);
	for (int i = 0; i < SLICED; i++)
		CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 0, sliced_work, &sliced[i]));
	loop_turn_end(l, turn_of_others, NULL);
	loop_turn_due(l);
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, SOON), 0);
	CU_ASSERT(sliced_before < SLICED);
	wanted = 20;
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, 100), -ETIMEDOUT); /* they go on */
	CU_ASSERT(sliced[SLICED - 1] > 0);
	loop_destroy(l);
}

static struct loop_timer *self, *neighbour;

static void cancel_both(void *arg)
{
	(void)arg;
	mark('x');
	loop_timer_cancel(self); /* the one that runs */
	loop_timer_cancel(neighbour);
}

static void test_cancel_in_callback(void)
{
	begin(2);
	self = loop_timer(l, 1, cancel_both, NULL);
	neighbour = loop_timer(l, 1, mark_arg, "n");
	loop_timer_cancel(NULL);
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 20, mark_arg, "z"));
	finish("xz");
}

static void cancel_neighbour(void *arg)
{
	mark('p');
	loop_timer_cancel(neighbour);
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 20, mark_arg, arg));
}

static void make_neighbour(void *arg)
{
	neighbour = loop_timer(l, 0, mark_arg, "n"); /* put off, as it is due in this turn */
	CU_ASSERT_EQUAL(loop_post(l, cancel_neighbour, arg), 0);
}

static void test_cancel_what_is_put_off(void)
{
	begin(2);
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 1, make_neighbour, "z"));
	finish("pz");
}

static void test_deadline(void)
{
	begin(1);
	CU_ASSERT_EQUAL(loop_run_until(l, never, NULL, 10), -ETIMEDOUT);
	loop_destroy(l);
}

static void stop_loop(void *arg)
{
	(void)arg;
	loop_stop(l);
}

static void test_stop_is_kept(void)
{
	begin(1);
	loop_stop(l);
	CU_ASSERT_EQUAL(loop_run_until(l, never, NULL, 10), -ETIMEDOUT);
	CU_ASSERT_EQUAL(loop_run(l), 0); /* returns at once */
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 5, stop_loop, NULL));
	CU_ASSERT_EQUAL(loop_run(l), 0);
	loop_destroy(l);
}

static void *poster(void *arg)
{
	for (int i = 0; i < 10; i++)
		loop_post(l, mark_arg, arg);
	return NULL;
}

static void test_post_from_threads(void)
{
	pthread_t a, b;
	int count = 0;

	begin(20);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&a, NULL, poster, "a"), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&b, NULL, poster, "b"), 0);
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, SOON), 0);
	for (const char *at = trace; *at != '\0'; at++)
		count += *at == 'a';
	CU_ASSERT_EQUAL(count, 10);
	CU_ASSERT_EQUAL(strlen(trace), 20);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	loop_destroy(l);
}

static pthread_t worker_thread;
static sigset_t worker_mask;

static void work(void *arg)
{
	(void)arg;
	worker_thread = pthread_self();
	pthread_sigmask(SIG_BLOCK, NULL, &worker_mask);
}

static void work_done(void *arg)
{
	CU_ASSERT_FALSE(pthread_equal(worker_thread, pthread_self()));
	mark_arg(arg);
}

static void test_work(void)
{
	begin(1);
	CU_ASSERT_EQUAL(loop_work(l, work, work_done, "w"), 0);
	finish("w");
	CU_ASSERT(sigismember(&worker_mask, SIGTERM)); /* only the loop's thread can hold it back for the next image */
	CU_ASSERT(sigismember(&worker_mask, SIGHUP));
	CU_ASSERT_FALSE(sigismember(&worker_mask, SIGSEGV));
}

static int ends[2];
static struct loop_watch *watch;

static void readable(void *arg, int events)
{
	char byte = '?';

	(void)arg;
	CU_ASSERT(events & LOOP_READABLE);
	if (read(ends[0], &byte, 1) == 1)
		mark(byte);
	else
		mark('-');
	if (byte == 'q' || byte == '?')
		loop_watch_cancel(watch);
}

static void test_watch_and_pause(void)
{
	begin(1);
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	CU_ASSERT_EQUAL(loop_watch(l, ends[0], LOOP_READABLE, readable, NULL, &watch), 0);
	CU_ASSERT_EQUAL(write(ends[1], "a", 1), 1);
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, SOON), 0);
	CU_ASSERT_EQUAL(loop_watch_set(watch, 0), 0);
	CU_ASSERT_EQUAL(write(ends[1], "q", 1), 1);
	CU_ASSERT_EQUAL(loop_run_until(l, never, NULL, 20), -ETIMEDOUT);
	CU_ASSERT_STRING_EQUAL(trace, "a");
	CU_ASSERT_EQUAL(loop_watch_set(watch, LOOP_READABLE), 0);
	wanted = 2;
	finish("aq"); /* and cancelled itself */
	CU_ASSERT_EQUAL(write(ends[1], "z", 1), 1); /* the fd is still ours */
	close(ends[0]);
	close(ends[1]);
}

static void test_watch_peer_gone(void)
{
	begin(1);
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	CU_ASSERT_EQUAL(loop_watch(l, ends[0], LOOP_READABLE, readable, NULL, &watch), 0);
	close(ends[1]);
	finish("-");
	close(ends[0]);
}

static void ignore_fd(void *arg, int events)
{
	(void)arg;
	(void)events;
}

static void test_watch_refused(void)
{
	FILE *file = tmpfile();

	begin(1);
	watch = NULL;
	CU_ASSERT_EQUAL(loop_watch(l, fileno(file), LOOP_READABLE, ignore_fd, NULL, &watch), -EPERM);
	CU_ASSERT(loop_watch(l, 9999, LOOP_READABLE, ignore_fd, NULL, &watch) < 0);
	CU_ASSERT_PTR_NULL(watch);
	loop_watch_cancel(NULL);
	loop_destroy(l);
	fclose(file);
}

static void signal_came(void *arg, int signum)
{
	(void)arg;
	CU_ASSERT_EQUAL(signum, SIGUSR1);
	mark('s');
}

static void test_signal(void)
{
	begin(1);
	CU_ASSERT_EQUAL(loop_signal(l, SIGUSR1, signal_came, NULL), 0);
	CU_ASSERT_EQUAL(loop_signal(l, 0, signal_came, NULL), -EINVAL);
	raise(SIGUSR1);
	finish("s");
}

static void test_destroy_with_leftovers(void)
{
	begin(1);
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	CU_ASSERT_PTR_NOT_NULL(loop_timer(l, 1000000, mark_arg, "n"));
	CU_ASSERT_EQUAL(loop_watch(l, ends[0], LOOP_READABLE, ignore_fd, NULL, &watch), 0);
	CU_ASSERT_EQUAL(loop_post(l, mark_arg, "p"), 0);
	loop_destroy(l); /* the leak checker of sanitizers is the judge */
	loop_destroy(NULL);
	close(ends[0]);
	close(ends[1]);
}

/* ---- the tick -------------------------------------------------------------------------------- */
static volatile uint64_t ticks_awake, ticks_asleep, ticks_of_turn, turn_seen;
static void ticked(void *arg, uint64_t turn, int64_t late_ns)
{
	(void)arg, (void)late_ns;
	if (turn == LOOP_ASLEEP) {
		ticks_asleep++;
		return;
	}
	ticks_of_turn = turn == turn_seen ? ticks_of_turn + 1 : 1;
	turn_seen = turn;
	ticks_awake++;
}

/* Until it has seen five ticks of this turn. */
static void compute(void *arg)
{
	time_t late = time(NULL) + SOON / 1000;

	(void)arg;
	ticks_of_turn = 0;
	while (ticks_of_turn < 5 && time(NULL) < late)
		;
	mark('c');
}

static void test_tick_while_a_turn_lasts(void)
{
	struct loop *other;

	begin(1);
	ticks_asleep = 0;
	CU_ASSERT_EQUAL(loop_tick(l, 1, NULL, ticked, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(loop_create(&other), 0);
	CU_ASSERT_EQUAL(loop_tick(other, 1, NULL, ticked, NULL), -EBUSY);
	loop_destroy(other); /* it is not the one that ticks */
	CU_ASSERT_EQUAL(loop_defer(l, compute, NULL), 0);
	CU_ASSERT_EQUAL(loop_run_until(l, traced, NULL, SOON), 0);
	CU_ASSERT(ticks_of_turn >= 5);
	loop_destroy(l);
	ticks_awake = 0;
	begin(1);
	CU_ASSERT_EQUAL(loop_tick(l, 1, NULL, ticked, NULL), 0); /* the first one has let go of it */
	loop_tick_end(l);
	loop_destroy(l);
}

static void test_no_tick_while_it_sleeps(void)
{
	begin(1);
	ticks_awake = ticks_asleep = 0;
	CU_ASSERT_EQUAL(loop_tick(l, 1, NULL, ticked, NULL), 0);
	CU_ASSERT_EQUAL(loop_run_until(l, never, NULL, 100), -ETIMEDOUT);
	CU_ASSERT(ticks_asleep + ticks_awake <= 10); /* one behind each turn, and there are few */
	loop_destroy(l);
}

static void test_wall_clock(void)
{
	begin(1);
	CU_ASSERT(loop_time(l) - (int64_t)time(NULL) <= 1);
	CU_ASSERT(loop_time_us(l) / 1000000 - loop_time(l) <= 1);
	loop_destroy(l);
}

TESTS_MAIN("loop", TEST(test_deferred_before_turn_end), TEST(test_deferred_before_timers), TEST(test_turn_end_only_when_due),
	   TEST(test_endless_deferring_lets_others_in), TEST(test_endless_timers_let_others_in), TEST(test_slices_of_many),
	   TEST(test_many_deferred_in_order),
	   TEST(test_timers_in_order_and_never_early), TEST(test_cancel_in_callback),
	   TEST(test_cancel_what_is_put_off), TEST(test_deadline), TEST(test_stop_is_kept), TEST(test_post_from_threads), TEST(test_work),
	   TEST(test_watch_and_pause), TEST(test_watch_peer_gone), TEST(test_watch_refused),
	   TEST(test_signal), TEST(test_destroy_with_leftovers),
	   TEST(test_tick_while_a_turn_lasts), TEST(test_no_tick_while_it_sleeps), TEST(test_wall_clock))
