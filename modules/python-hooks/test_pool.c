/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pool.c - calls find a process, and each of them has one end, whatever processes do.
 */
#include "harness.h"

#include "test_process.h"

/* A call, and how it ended. */
struct called {
	struct run run;
	struct ask *ask;
	uint32_t ends;
	enum how how;
	char text[200];
};

static void done(struct run *r, struct result *result)
{
	struct called *c = (struct called *)r;

	c->ends++;
	c->how = result->how;
	snprintf(c->text, sizeof(c->text), "%s", result->text ? result->text : "");
}

static void call(struct called *c, struct hook *h)
{
	struct pack event = { .data = NULL };
	uint32_t open = pack_open_map(&event);

	pack_close(&event, open, 0);
	*c = (struct called){ .run = { .st = &st, .hook = h, .event = &events[EVENT_queuejob] } };
	c->ask = pool_ask(&c->run, &event, done);
	pack_fini(&event);
}

static void one_call(void)
{
	struct called c;
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	call(&c, h);
	CU_ASSERT_PTR_NOT_NULL(c.ask);
	comes_up(0);
	CU_ASSERT_TRUE(fakes.all[0].up);
	CU_ASSERT_EQUAL_FATAL(fakes.all[0].n_sent, 1);
	says_result(0, number_of(0, 0), "reject", "no", false);
	CU_ASSERT(c.ends == 1 && c.how == REJECTED);
	CU_ASSERT_STRING_EQUAL(c.text, "no");
	call(&c, h);
	CU_ASSERT_EQUAL_FATAL(fakes.all[0].n_sent, 2);
	says_result(0, number_of(0, 1), "accept", NULL, false);
	CU_ASSERT(c.ends == 1 && c.how == ACCEPTED);
	CU_ASSERT_EQUAL(fakes.n, 1);
	hook_free(&st, h);
	daemon_end();
}

/* Some go ahead to a process that is busy, the others wait for the next one. */
static void many_calls(void)
{
	struct called c[12];
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	for (int i = 0; i < 12; i++)
		call(&c[i], h);
	comes_up(0);
	CU_ASSERT_EQUAL(fakes.all[0].n_sent, AHEAD);
	comes_up(1);
	CU_ASSERT_EQUAL(fakes.all[1].n_sent, AHEAD);
	keel_mock_advance(mock, SLOW_MS - 1);
	CU_ASSERT_EQUAL(fakes.n, 2);
	for (uint32_t i = 0; i < 8; i++)
		says_result(0, number_of(0, i), "accept", NULL, false);
	for (uint32_t i = 0; i < 4; i++)
		says_result(1, number_of(1, i), "accept", NULL, false);
	for (int i = 0; i < 12; i++)
		CU_ASSERT(c[i].ends == 1 && c[i].how == ACCEPTED);
	hook_free(&st, h);
	daemon_end();
}

/* A script that takes long gets nothing ahead. */
static void slow_calls(void)
{
	struct called c[3];
	struct hook *h;

	daemon_begin();
	conf.processes = 1;
	h = hook_make("h1");
	call(&c[0], h);
	comes_up(0);
	h->pool->usual_us = 1000000;
	call(&c[1], h);
	CU_ASSERT_EQUAL(fakes.all[0].n_sent, 1);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	CU_ASSERT_EQUAL(fakes.all[0].n_sent, 2);
	says_result(0, number_of(0, 1), "accept", NULL, false);
	CU_ASSERT(c[0].ends == 1 && c[1].ends == 1);
	hook_free(&st, h);
	daemon_end();
}

/* What was written ahead does not wait behind a call that takes long, which is the last one of its process. */
static void a_slow_call(void)
{
	struct called c[3];
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	for (int i = 0; i < 3; i++)
		call(&c[i], h);
	comes_up(0);
	CU_ASSERT_EQUAL(fakes.all[0].n_sent, 3);
	comes_up(1);
	CU_ASSERT_EQUAL(fakes.all[1].n_sent, 0);
	keel_mock_advance(mock, SLOW_MS);
	CU_ASSERT_EQUAL(fakes.all[1].n_sent, 2);
	says_result(1, number_of(0, 1), "accept", NULL, false);
	says_result(1, number_of(0, 2), "accept", NULL, false);
	CU_ASSERT(c[0].ends == 0 && c[1].how == ACCEPTED && c[2].how == ACCEPTED && c[1].ends + c[2].ends == 2);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	CU_ASSERT(c[0].ends == 1 && c[0].how == ACCEPTED);
	CU_ASSERT_STRING_NOT_EQUAL(fakes.all[0].lost, "");
	hook_free(&st, h);
	daemon_end();
}

static void an_alarm(void)
{
	struct called c[3];
	struct hook *h;

	daemon_begin();
	conf.processes = 1;
	h = hook_make("h1");
	h->alarm = 5;
	for (int i = 0; i < 3; i++)
		call(&c[i], h);
	comes_up(0);
	keel_mock_advance(mock, SLOW_MS - 1);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	keel_mock_advance(mock, 4999); /* counts from the answer before */
	CU_ASSERT(c[0].ends == 1 && c[1].ends == 0);
	keel_mock_advance(mock, 1);
	CU_ASSERT(c[1].ends == 1 && c[1].how == ALARM && c[2].ends == 0);
	CU_ASSERT_STRING_NOT_EQUAL(fakes.all[0].lost, "");
	says_result(0, number_of(0, 2), "accept", NULL, false); /* too late: it does not count */
	ends(0);
	comes_up(1);
	CU_ASSERT_EQUAL(number_of(1, 0), number_of(0, 2));
	says_result(1, number_of(1, 0), "accept", NULL, false);
	CU_ASSERT(c[2].ends == 1 && c[2].how == ACCEPTED);
	hook_free(&st, h);
	daemon_end();
}

static void answers_late(struct keel_supervised *p)
{
	on_look = NULL;
	says_result((uint32_t)(p - fakes.all), number_of(0, 0), "accept", NULL, false);
}

/* The answer is there, the daemon was busy. */
static void no_alarm(void)
{
	struct called c;
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	h->alarm = 5;
	call(&c, h);
	comes_up(0);
	on_look = answers_late;
	keel_mock_advance(mock, 5000);
	CU_ASSERT(c.ends == 1 && c.how == ACCEPTED);
	hook_free(&st, h);
	daemon_end();
}

static void a_death(void)
{
	struct called c[2];
	struct hook *h;

	daemon_begin();
	conf.processes = 1;
	h = hook_make("h1");
	call(&c[0], h);
	call(&c[1], h);
	comes_up(0);
	dies(0, "its process was killed by signal 11 (Segmentation fault)");
	CU_ASSERT(c[0].ends == 1 && c[0].how == EXCEPTION && c[1].ends == 0);
	CU_ASSERT_STRING_EQUAL(c[0].text, "its process was killed by signal 11 (Segmentation fault)");
	keel_mock_advance(mock, 1000);
	comes_up(1);
	says_result(1, number_of(1, 0), "accept", NULL, false);
	CU_ASSERT(c[1].ends == 1 && c[1].how == ACCEPTED);
	hook_free(&st, h);
	daemon_end();
}

/* Processes that come to nothing: calls fail for a while, then it is tried again. One past modules/python-hooks/pool.h FAILS_MAX */
static void never_up(void)
{
	struct called c, later;
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	call(&c, h);
	for (uint32_t i = 0; i < FAILS_MAX; i++) {
		CU_ASSERT_EQUAL(c.ends, 0);
		keel_mock_advance(mock, 2000);
		CU_ASSERT_EQUAL_FATAL(fakes.n, i + 1);
		dies(i, "its process ended with status 1");
	}
	keel_mock_advance(mock, 10);
	CU_ASSERT(c.ends == 1 && c.how == BROKEN);
	CU_ASSERT_STRING_EQUAL(c.text, "its process ended with status 1");
	call(&later, h);
	CU_ASSERT(later.ends == 1 && later.how == BROKEN && !later.ask);
	CU_ASSERT_EQUAL(fakes.n, FAILS_MAX);
	keel_mock_advance(mock, BROKEN_MS + 10);
	call(&later, h);
	comes_up(FAILS_MAX);
	says_result(FAILS_MAX, number_of(FAILS_MAX, 0), "accept", NULL, false);
	CU_ASSERT(later.ends == 1 && later.how == ACCEPTED);
	hook_free(&st, h);
	daemon_end();
}

static void no_process(void)
{
	struct called c;
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	fakes.refuses = true;
	call(&c, h);
	keel_mock_advance(mock, 5000);
	CU_ASSERT(c.ends == 1 && c.how == BROKEN);
	CU_ASSERT_STRING_EQUAL(c.text, "no more processes");
	hook_free(&st, h);
	daemon_end();
}

static void broken(void)
{
	struct called c;
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	call(&c, h);
	keel_mock_advance(mock, 0);
	says_word(0, "broken", "SyntaxError: invalid syntax");
	ends(0);
	keel_mock_advance(mock, 10);
	CU_ASSERT(c.ends == 1 && c.how == BROKEN);
	CU_ASSERT_STRING_EQUAL(c.text, "SyntaxError: invalid syntax");
	pool_retire(h); /* another script */
	call(&c, h);
	CU_ASSERT_EQUAL(c.ends, 0);
	comes_up(1);
	says_result(1, number_of(1, 0), "accept", NULL, false);
	CU_ASSERT(c.ends == 1 && c.how == ACCEPTED);
	hook_free(&st, h);
	daemon_end();
}

static void nonsense(void)
{
	struct called c;
	struct pack junk;
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	for (uint32_t i = 0; i < 4; i++) {
		junk = (struct pack){ .data = NULL };
		call(&c, h);
		keel_mock_advance(mock, 2000);
		comes_up(i);
		if (i == 0)
			says_result(i, number_of(i, 0) + 1, "accept", NULL, false);
		else if (i == 1)
			says_word(i, "up", NULL);
		else if (i == 2)
			says_result(i, number_of(i, 0), "maybe", NULL, false);
		else
			says(i, &junk);
		CU_ASSERT(c.ends == 1 && c.how == EXCEPTION);
		CU_ASSERT_STRING_EQUAL(fakes.all[i].lost, "its process sent what is no message");
		ends(i);
	}
	hook_free(&st, h);
	daemon_end();
}

/* Another version: what runs ends, what was ahead goes to the next one. */
static void another_version(void)
{
	struct called c[2];
	struct hook *h;

	daemon_begin();
	conf.processes = 1;
	h = hook_make("h1");
	call(&c[0], h);
	call(&c[1], h);
	comes_up(0);
	pool_retire(h);
	CU_ASSERT_STRING_EQUAL(fakes.all[0].lost, "");
	comes_up(1);
	CU_ASSERT_EQUAL(number_of(1, 0), number_of(0, 1));
	says_result(0, number_of(0, 0), "accept", NULL, false);
	CU_ASSERT_EQUAL(c[0].ends, 1);
	CU_ASSERT_STRING_NOT_EQUAL(fakes.all[0].lost, "");
	ends(0);
	says_result(1, number_of(1, 0), "accept", NULL, true); /* it wants to go itself */
	CU_ASSERT_EQUAL(c[1].ends, 1);
	CU_ASSERT_STRING_NOT_EQUAL(fakes.all[1].lost, "");
	ends(1);
	call(&c[0], h);
	comes_up(2);
	says_result(2, number_of(2, 0), "accept", NULL, false);
	CU_ASSERT_EQUAL(c[0].ends, 1);
	hook_free(&st, h);
	daemon_end();
}

static void idle(void)
{
	struct called c;
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	call(&c, h);
	comes_up(0);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	keel_mock_advance(mock, 59999);
	CU_ASSERT_STRING_EQUAL(fakes.all[0].lost, "");
	keel_mock_advance(mock, 1);
	CU_ASSERT_STRING_EQUAL(fakes.all[0].lost, "it was idle");
	ends(0);
	CU_ASSERT_TRUE(fakes.all[0].gone);
	hook_free(&st, h);
	daemon_end();
}

static void cancelled(void)
{
	struct called c[2];
	struct hook *h;

	daemon_begin();
	conf.processes = 1;
	h = hook_make("h1");
	call(&c[0], h);
	ask_cancel(c[0].ask); /* it waits */
	call(&c[0], h);
	comes_up(0);
	ask_cancel(c[0].ask); /* it runs, to its end */
	call(&c[1], h);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	says_result(0, number_of(0, 1), "accept", NULL, false);
	CU_ASSERT(c[0].ends == 0 && c[1].ends == 1);
	hook_free(&st, h);
	daemon_end();
}

static void loading(void)
{
	struct called c[2];
	struct hook *h;

	daemon_begin();
	h = hook_make("h1");
	h->loading = true;
	call(&c[0], h);
	keel_mock_advance(mock, 1000);
	CU_ASSERT_EQUAL(fakes.n, 0);
	h->loading = false;
	pool_wake(h);
	comes_up(0);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	CU_ASSERT_EQUAL(c[0].ends, 1);
	free(h->script);
	h->script = NULL; /* there is none after all */
	h->loading = true;
	call(&c[1], h);
	h->loading = false;
	pool_wake(h);
	CU_ASSERT(c[1].ends == 1 && c[1].how == ACCEPTED);
	hook_free(&st, h);
	daemon_end();
}

static void the_hook_goes(void)
{
	struct called c[6];
	struct hook *h;

	daemon_begin();
	conf.processes = 1;
	h = hook_make("h1");
	for (int i = 0; i < 6; i++)
		call(&c[i], h);
	comes_up(0);
	hook_free(&st, h);
	for (int i = 1; i < 6; i++)
		CU_ASSERT(c[i].ends == 1 && c[i].how == ACCEPTED);
	CU_ASSERT_EQUAL(c[0].ends, 0);
	says_result(0, number_of(0, 0), "reject", "no", false);
	CU_ASSERT(c[0].ends == 1 && c[0].how == REJECTED);
	ends(0);
	CU_ASSERT_PTR_NULL(st.pools->all);
	daemon_end();
}

/* ---- checks ----------------------------------------------------------------------------------------------- */
static uint32_t n_checked;
static char checked_text[300];

static void checked(struct state *s, void *arg, const char *why)
{
	(void)s, (void)arg;
	n_checked++;
	snprintf(checked_text, sizeof(checked_text), "%s", why ? why : "good");
}

static void says_checked(uint32_t n, int64_t number, const char *why)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p);

	pack_text(&p, "checked");
	pack_int(&p, number);
	pack_text(&p, why);
	pack_close(&p, open, 3);
	says(n, &p);
}

static void checks(void)
{
	daemon_begin();
	n_checked = 0;
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(pool_check(&st, "h1", "pass", 4, checked, NULL), 0);
	CU_ASSERT_EQUAL(fakes.n, 1);
	says_checked(0, number_of(0, 0), NULL);
	CU_ASSERT_STRING_EQUAL(checked_text, "good");
	says_checked(0, number_of(0, 1), "SyntaxError: invalid syntax");
	CU_ASSERT_STRING_EQUAL(checked_text, "SyntaxError: invalid syntax");
	keel_mock_advance(mock, 10000);
	CU_ASSERT_EQUAL(n_checked, 3);
	CU_ASSERT_STRING_EQUAL(checked_text, "it could not be compiled within 10 s");
	pool_check(&st, "h1", "pass", 4, checked, NULL); /* while it ends */
	ends(0);
	dies(1, "its process was killed by signal 9 (Killed)");
	CU_ASSERT_EQUAL(n_checked, 4);
	CU_ASSERT_STRING_EQUAL(checked_text, "it could not be compiled: its process was killed by signal 9 (Killed)");
	fakes.refuses = true;
	pool_check(&st, "h1", "pass", 4, checked, NULL);
	CU_ASSERT_EQUAL(n_checked, 5);
	CU_ASSERT_STRING_EQUAL(checked_text, "no more processes");
	daemon_end();
}

TESTS_MAIN("pool", TEST(one_call), TEST(many_calls), TEST(slow_calls), TEST(a_slow_call), TEST(an_alarm), TEST(no_alarm), TEST(a_death), TEST(never_up),
	   TEST(no_process), TEST(broken), TEST(nonsense), TEST(another_version), TEST(idle), TEST(cancelled), TEST(loading),
	   TEST(the_hook_goes), TEST(checks))
