/* SPDX-License-Identifier: Apache-2.0
 *
 * test_time.c - what calls took: counted exactly, estimated from those that are timed, charged to the tap that spent it; and
 * which ones the clock tick finds: those that compute or block for too long, not those that wait for a processor.
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "hook/engine.h"
#include "hook/inside.h"

#define MS (1000 * 1000)

static const struct tap *only_tap(const struct owner *owner)
{
	FOR_EACH_TAP(e.parts.hooks, t)
		if (t->owner == owner)
			return t;
	return NULL;
}

/* Ten times the hard budget: what the thread waited for a processor just before is taken off. */
static void block(void)
{
	struct timespec left = { .tv_nsec = 50 * MS };

	while (nanosleep(&left, &left) < 0) /* the tick interrupts it */
		;
}

/* Until the taps of a module have that many strikes: what waited for a processor is not blamed, and in doubt a call did. */
static void raised_until_strikes(const struct owner *owner, uint32_t n)
{
	for (int i = 0; i < 1000 && usage_of(owner).strikes < n; i++)
		RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_EQUAL(usage_of(owner).strikes, n);
}

/* ---- accounts --------------------------------------------------------------------------------- */
static uint32_t n_calls;
static keel_verdict counts(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	(void)ev;
	if (n_calls++ == 0 || n_calls % 256 == 0)
		compute_ms(1);
	return KEEL_NEXT;
}

/* The 1st, 257th, 513th ... call is timed. */
static void every_call_is_counted_and_one_in_256_is_timed(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, counts) };
	struct usage u;

	engine_start();
	ATTACH(e.alpha, alpha);
	for (n_calls = 0; n_calls < 6400;)
		hooks_raise(e.parts.hooks, &(struct keel_raise){
			.size = sizeof(struct keel_raise), .point = KEEL_POINT_job_submit,
			.event = KEEL_EVENT(job_submit, .id = "1.svr") });
	u = usage_of(&e.alpha);
	CU_ASSERT_EQUAL(u.calls, 6400);
	CU_ASSERT(u.time_ns >= 1 * MS);
	CU_ASSERT(only_tap(&e.alpha)->stat.longest_ns >= 1 * MS);
	hooks_reset_times(&e.alpha.pub);
	u = usage_of(&e.alpha);
	CU_ASSERT(u.calls == 0 && u.time_ns == 0);
	engine_stop();
}

/* Any call is found that is there at two ticks, timed or not. */
static keel_verdict at_last(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	(void)ev;
	if (++n_calls % 10 == 0)
		compute_ms(9);
	return KEEL_NEXT;
}

static void a_call_that_is_not_timed_is_judged_too(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, at_last) };

	engine_start();
	ATTACH(e.alpha, alpha);
	n_calls = 0;
	raised_until_strikes(&e.alpha, 1);
	CU_ASSERT(only_tap(&e.alpha)->stat.longest_ns >= 5 * MS);
	engine_stop();
}

/* As in a system call that cannot be interrupted: the tick comes when that is over, and knows since when it was due. */
static keel_verdict takes_no_signal(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	sigset_t all, before;

	(void)c;
	(void)ev;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	compute_ms(20);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return KEEL_NEXT;
}

static void a_call_that_takes_no_signal_is_found(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, takes_no_signal) };

	engine_start();
	ATTACH(e.alpha, alpha);
	raised_until_strikes(&e.alpha, 1);
	engine_stop();
}

/* ---- who pays ------------------------------------------------------------------------------------ */
static keel_verdict computes_long(struct keel_call *c, const struct keel_ev_job_hold *ev)
{
	(void)c;
	(void)ev;
	n_calls++;
	compute_ms(9);
	return KEEL_NEXT;
}

static keel_verdict asks_another(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	RAISE(job_hold, .id = ev->id);
	return KEEL_NEXT;
}

static void who_calls_a_slow_tap_is_not_slow(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, asks_another) };
	static const struct keel_tap beta[] = { KEEL_TAP(job_hold, computes_long,
							 .flags = KEEL_ON_FAIL_SKIP) };

	int64_t begun;

	engine_start();
	ATTACH(e.alpha, alpha);
	ATTACH(e.beta, beta);
	begun = loop_clock_ns(e.parts.loop);
	n_calls = 0;
	raised_until_strikes(&e.beta, 3);
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_EQUAL(usage_of(&e.alpha).strikes, 0);
	CU_ASSERT(usage_of(&e.beta).time_ns <= (uint64_t)(loop_clock_ns(e.parts.loop) - begun));
	CU_ASSERT_EQUAL(usage_of(&e.beta).strikes, 3);
	CU_ASSERT_EQUAL(usage_of(&e.beta).benched, 1);
	CU_ASSERT_EQUAL(usage_of(&e.beta).calls, n_calls);
	engine_stop();
}

static keel_verdict sleeps(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	(void)ev;
	block();
	return KEEL_NEXT;
}

static void blocking_counts(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, sleeps) };

	engine_start();
	ATTACH(e.alpha, alpha);
	raised_until_strikes(&e.alpha, 1);
	engine_stop();
}

#define HOGS 3
static pid_t hog(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			;
	return pid;
}

static keel_verdict computes_a_little(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	(void)ev;
	compute_ms(4); /* the hard budget is 5 */
	return KEEL_NEXT;
}

static void a_busy_machine_does_not_count(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, computes_a_little) };
	cpu_set_t before, one;
	pid_t hogs[HOGS];

	engine_start();
	ATTACH(e.alpha, alpha);
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < HOGS; i++)
		hogs[i] = hog();
	for (int i = 0; i < 20 && only_tap(&e.alpha)->stat.longest_ns < 6 * MS; i++)
		RAISE(job_submit, .id = "1.svr");
	for (int i = 0; i < HOGS; i++) {
		kill(hogs[i], SIGKILL);
		waitpid(hogs[i], NULL, 0);
	}
	sched_setaffinity(0, sizeof(before), &before);
	CU_ASSERT(only_tap(&e.alpha)->stat.longest_ns > 5 * MS);
	CU_ASSERT(loop_delay_ns(e.parts.loop) > 0);
	CU_ASSERT_EQUAL(usage_of(&e.alpha).strikes, 0);
	engine_stop();
}

/* ---- budgets -------------------------------------------------------------------------------------- */
static void a_module_may_have_budgets_of_its_own(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, sleeps) };

	engine_start();
	e.alpha.budget = (struct owner_budget){ .soft_ms = 1000, .hard_ms = 2000 };
	ATTACH(e.alpha, alpha);
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_EQUAL(usage_of(&e.alpha).strikes, 0);
	e.alpha.budget = (struct owner_budget){ .strikes = OWNER_NO_STRIKES };
	raised_until_strikes(&e.alpha, 4);
	CU_ASSERT_EQUAL(usage_of(&e.alpha).benched, 0);
	e.alpha.budget = (struct owner_budget){ .strikes = 5 };
	raised_until_strikes(&e.alpha, 5);
	CU_ASSERT_EQUAL(usage_of(&e.alpha).benched, 1);
	engine_stop();
}

static void an_administrator_puts_a_tap_back(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, sleeps) };

	engine_start();
	e.alpha.budget.strikes = 1;
	ATTACH(e.alpha, alpha);
	raised_until_strikes(&e.alpha, 1);
	CU_ASSERT_EQUAL(RAISE(job_submit, .id = "1.svr"), KEEL_REJECT);
	CU_ASSERT_EQUAL(hooks_unbench(&e.alpha.pub, "alpha.nobody", "root"), -ENOENT);
	CU_ASSERT_EQUAL(hooks_unbench(&e.alpha.pub, "alpha.sleeps", "root"), 1);
	CU_ASSERT_EQUAL(RAISE(job_submit, .id = "1.svr"), KEEL_NEXT);
	engine_stop();
}

/* How many lines of the log contain `text`. */
static uint32_t logged(const char *text)
{
	uint32_t n = 0;
	char line[1024];
	int fd = dup(log_fd(e.parts.log));
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, text) != NULL;
	if (f != NULL)
		fclose(f);
	close(fd);
	return n;
}

static void slow_calls_do_not_flood_the_log(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, sleeps) };

	engine_start();
	e.alpha.budget.strikes = OWNER_NO_STRIKES;
	ATTACH(e.alpha, alpha);
	for (int i = 0; i < 100 && only_tap(&e.alpha)->stat.slow.unsaid < 7; i++) /* what waited for a processor does not count */
		RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_EQUAL(logged("the hard budget is 5 ms"), 5);
	CU_ASSERT_EQUAL(only_tap(&e.alpha)->stat.slow.unsaid, 7);
	engine_stop();
}

static keel_verdict breaks(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)ev;
	return e.call->fail(c, "no answer");
}

static void nor_do_failures_that_refuse_nothing(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, breaks, .flags = KEEL_ON_FAIL_SKIP) };
	static const struct keel_tap beta[] = { KEEL_TAP(job_submit, breaks) };

	engine_start();
	ATTACH(e.alpha, alpha);
	for (int i = 0; i < 12; i++)
		RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_EQUAL(logged("alpha.breaks failed at job_submit: no answer; "), 5);
	CU_ASSERT_EQUAL(usage_of(&e.alpha).fails, 12);
	ATTACH(e.beta, beta);
	for (int i = 0; i < 12; i++)
		RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_EQUAL(logged("beta.breaks failed at job_submit: no answer; the request is refused"), 12);
	engine_stop();
}

TESTS_MAIN("hook/time", TEST(every_call_is_counted_and_one_in_256_is_timed),
	   TEST(a_call_that_is_not_timed_is_judged_too), TEST(a_call_that_takes_no_signal_is_found), TEST(who_calls_a_slow_tap_is_not_slow),
	   TEST(blocking_counts), TEST(a_busy_machine_does_not_count),
	   TEST(a_module_may_have_budgets_of_its_own), TEST(an_administrator_puts_a_tap_back),
	   TEST(slow_calls_do_not_flood_the_log), TEST(nor_do_failures_that_refuse_nothing))
