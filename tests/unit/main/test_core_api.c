/* SPDX-License-Identifier: Apache-2.0
 *
 * test_core_api.c - what a module may ask of the core, and what keeps its code loaded.
 */
#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>

#include "crumbs.h"
#include "harness.h"
#include "loop/loop.h"
#include "main/inside.h"
#include "util/version.h"

static struct daemon d;
static struct owner owner;
static struct keel_mod *mod = &owner.pub;
static const struct keel_core_api *core;
static int calls, wanted;

static void called(struct keel_mod *m, void *arg)
{
	CU_ASSERT_PTR_EQUAL(m, mod);
	CU_ASSERT_PTR_EQUAL(arg, &calls);
	calls++;
}

static bool enough(void *arg)
{
	(void)arg;
	return calls >= wanted;
}

static bool gone(void *owner_)
{
	return ((struct owner *)owner_)->live == 0;
}

static void begin(int n)
{
	d = (struct daemon){ .parts = { .daemon = KEEL_MOM, .home = (char *)"/h",
					.host_name = (char *)"n1" } };
	owner = (struct owner){ .pub = { .name = "test" }, .parts = &d.parts };
	core = &core_api;
	calls = 0;
	wanted = n;
	CU_ASSERT_EQUAL_FATAL(loop_create(&d.parts.loop), 0);
}

static void finish(void)
{
	CU_ASSERT_EQUAL(loop_run_until(d.parts.loop, enough, NULL, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(owner.live, 0);
	loop_destroy(d.parts.loop);
}

static void test_every_entry_is_there(void)
{
	const char *at = (const char *)&core_api;
	void (*entry)(void);

	for (size_t i = 8; i < core_api.size; i += sizeof(entry)) {
		memcpy(&entry, at + i, sizeof(entry));
		CU_ASSERT(entry != NULL);
	}
}

static void test_facts(void)
{
	struct keel_err err = { 0 };

	begin(0);
	CU_ASSERT_EQUAL(core->daemon(mod), KEEL_MOM);
	CU_ASSERT_STRING_EQUAL(core->fact(mod, KEEL_FACT_HOME), "/h");
	CU_ASSERT_STRING_EQUAL(core->fact(mod, KEEL_FACT_HOST_NAME), "n1");
	CU_ASSERT_STRING_EQUAL(core->fact(mod, KEEL_FACT_VERSION), KEELSON_VERSION_TEXT);
	CU_ASSERT_PTR_NULL(core->fact(mod, KEEL_FACT_VERSION + 1));
	CU_ASSERT_EQUAL(core->error(&err, 15001, "no %s", "x"), 15001);
	CU_ASSERT_STRING_EQUAL(err.text, "no x");
	CU_ASSERT_EQUAL(err.code, 15001);
	finish();
}

static void test_timers_count(void)
{
	struct keel_timer *late;

	begin(1);
	CU_ASSERT_PTR_NOT_NULL(core->timer(mod, 1, called, &calls));
	late = core->timer(mod, 1000000, called, &calls);
	CU_ASSERT_EQUAL(owner.live, 2);
	core->timer_cancel(late);
	core->timer_cancel(NULL);
	CU_ASSERT_EQUAL(owner.live, 1);
	finish();
}

/* However many there were since: it is never taken for one of them. */
static void test_timer_over(void)
{
	struct keel_timer *fired, *others[5000];

	begin(1);
	fired = core->timer(mod, 0, called, &calls);
	CU_ASSERT_EQUAL(loop_run_until(d.parts.loop, enough, NULL, DEADLINE_MS), 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 5000; i++)
			others[i] = core->timer(mod, 1000000, called, &calls);
		core->timer_cancel(fired);
		CU_ASSERT_EQUAL(owner.live, 5000);
		for (int i = 0; i < 5000; i++)
			core->timer_cancel(others[i]);
		core->timer_cancel(others[0]);
		CU_ASSERT_EQUAL(owner.live, 0);
	}
	finish();
}

static void test_defer_counts(void)
{
	begin(2);
	CU_ASSERT_EQUAL(core->defer(mod, called, &calls), 0);
	CU_ASSERT_EQUAL(core->defer(mod, called, &calls), 0);
	CU_ASSERT_EQUAL(owner.live, 2);
	finish();
}

static void work(void *arg)
{
	(void)arg;
}

static void test_work_counts(void)
{
	begin(1);
	CU_ASSERT_EQUAL(core->work(mod, work, called, &calls), 0);
	CU_ASSERT_EQUAL(owner.live, 1);
	finish();
}

static sem_t gate;
static int stuck;

static void work_stuck(void *arg)
{
	(void)arg;
	__atomic_add_fetch(&stuck, 1, __ATOMIC_RELAXED);
	sem_wait(&gate);
}

/* A module that waits for a server that hangs keeps its own threads, not those of the others. */
static void test_work_that_hangs(void)
{
	enum { MANY = 40 };
	struct owner other = { .pub = { .name = "other" } };

	begin(1);
	other.parts = &d.parts;
	stuck = 0;
	sem_init(&gate, 0, 0);
	for (int i = 0; i < MANY; i++)
		CU_ASSERT_EQUAL(core->work(&other.pub, work_stuck, NULL, NULL), 0);
	CU_ASSERT_EQUAL(core->work(mod, work, called, &calls), 0);
	CU_ASSERT_EQUAL(loop_run_until(d.parts.loop, enough, NULL, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(calls, 1);
	CU_ASSERT(__atomic_load_n(&stuck, __ATOMIC_RELAXED) <= 4);
	CU_ASSERT_EQUAL(other.live, MANY);
	for (int i = 0; i < MANY; i++)
		sem_post(&gate);
	CU_ASSERT_EQUAL(loop_run_until(d.parts.loop, gone, &other, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(stuck, MANY);
	sem_destroy(&gate);
	finish();
}

static struct keel_watch *watch;

static void cancel_watch(struct keel_mod *m, void *arg)
{
	called(m, arg);
	core->watch_cancel(watch);
}

static void test_watch_for_room(void)
{
	int ends[2];

	begin(1);
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	watch = core->watch_fd(mod, ends[0], cancel_watch, &calls);
	CU_ASSERT_PTR_NOT_NULL_FATAL(watch);
	CU_ASSERT_EQUAL(core->watch_for(watch, 4), -EINVAL);
	CU_ASSERT_EQUAL(core->watch_for(watch, 0), 0);
	CU_ASSERT_EQUAL(core->watch_for(watch, KEEL_READABLE | KEEL_WRITABLE), 0);
	finish(); /* there is room at once */
	close(ends[0]);
	close(ends[1]);
}

static void test_watch_counts(void)
{
	int ends[2];

	begin(1);
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	watch = core->watch_fd(mod, ends[0], cancel_watch, &calls);
	CU_ASSERT_PTR_NOT_NULL_FATAL(watch);
	CU_ASSERT_EQUAL(owner.live, 1);
	CU_ASSERT_EQUAL(write(ends[1], "x", 1), 1);
	finish();
	begin(0);
	CU_ASSERT_PTR_NULL(core->watch_fd(mod, 9999, cancel_watch, &calls));
	core->watch_cancel(NULL);
	core->watch_cancel(watch); /* it has ended above */
	CU_ASSERT_EQUAL(core->watch_for(watch, 0), -EINVAL);
	finish();
	close(ends[0]);
	close(ends[1]);
}

/* ---- faults ------------------------------------------------------------------------------------------------ */
static const char *where; /* the fault is */

static void faults(struct keel_mod *m, void *arg)
{
	(void)m, (void)arg;
	raise(SIGSEGV);
}

static void fault_at_work(void *arg)
{
	if (arg != NULL)
		raise(SIGSEGV);
}

static void fault(void)
{
	int ends[2];

	begin(1);
	if (strcmp(where, "timer") == 0)
		core->timer(mod, 0, faults, NULL);
	else if (strcmp(where, "defer") == 0)
		core->defer(mod, faults, NULL);
	else if (strcmp(where, "work") == 0)
		core->work(mod, fault_at_work, faults, mod);
	else if (strcmp(where, "done") == 0)
		core->work(mod, fault_at_work, faults, NULL);
	else if (pipe(ends) == 0 && write(ends[1], "x", 1) == 1)
		core->watch_fd(mod, ends[0], faults, NULL);
	loop_run_until(d.parts.loop, enough, NULL, DEADLINE_MS);
}

static void test_a_fault_names_its_module(void)
{
	static const struct {
		const char *where, *words;
	} cases[] = {
		{ "timer", "timer of test" },	    { "defer", "deferred call of test" },
		{ "work", "worker of test" },	    { "done", "done() of work of test" }, { "watch", "watch of test" },
	};

	for (size_t i = 0; i < KEEL_COUNT(cases); i++) {
		where = cases[i].where;
		CU_ASSERT_STRING_EQUAL(last_words_of(fault), cases[i].words);
	}
}

TESTS_MAIN("main/core_api", TEST(test_every_entry_is_there), TEST(test_facts), TEST(test_timers_count),
	   TEST(test_timer_over),
	   TEST(test_defer_counts), TEST(test_work_counts),
	   TEST(test_work_that_hangs),
	   TEST(test_watch_counts), TEST(test_watch_for_room),
	   TEST(test_a_fault_names_its_module))
