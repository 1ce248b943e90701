/* SPDX-License-Identifier: Apache-2.0
 *
 * test_helpers.c - keel_hold_work() and alarms, in every order in which they can end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mocked.h"
#include "keel/alarm.h"
#include "keel/slow.h"
#include "pbs_error.h"

/* ---- a module that asks something slow who may submit ------------------------------------------------ */
struct state {
	struct keel_alarm alarm;
	int rang;
	bool again;
};
struct look {
	bool allowed, looked;
};

static int freed, looked, answered;
static bool allows;

static void look(void *arg)
{
	struct look *l = arg;

	l->allowed = allows;
	looked++;
}

static keel_verdict answer(struct keel_call *c, void *arg)
{
	const struct look *l = arg;

	answered++;
	return l->allowed ? KEEL_NEXT : keel_reject(c, PBSE_PERM, "not you");
}

static void look_free(void *arg)
{
	freed++;
	free(arg);
}

static keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)ev;
	return keel_hold_work(c, "looking up the submitter", 1000, look, answer, calloc(1, sizeof(struct look)), look_free);
}

static void ring(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	st->rang++;
	CU_ASSERT_FALSE(keel_alarm_is_set(&st->alarm));
	if (st->again)
		keel_alarm_set(mod, &st->alarm, 100, ring, arg);
	st->again = false;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_alarm_end(&st->alarm);
}

static const struct keel_tap taps[] = { KEEL_TAP(job_submit, on_submit) };

KEEL_MODULE(.name = "slow", .version = "1.0", .summary = "asks something slow", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_TAPS(taps), .stop = stop);

static struct keel_mod *module;
static struct keel_mock_outcome out;

static void set_up(void)
{
	freed = looked = answered = 0;
	allows = true;
	mock = keel_mock_new(KEEL_SERVER);
	module = keel_mock_load(mock, &keel_module, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
}

static keel_verdict submit(struct keel_req *client)
{
	static int number;
	struct keel_obj *job;
	char id[16];

	snprintf(id, sizeof(id), "%d.svr", ++number);
	job = keel_mock_draft(mock, "job", id);
	return keel_mock_raise_for(mock, client, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = id, .job = job),
				   NULL, &out);
}

static void test_answered(void)
{
	CU_ASSERT_EQUAL(submit(NULL), KEEL_WAIT);
	CU_ASSERT_EQUAL(freed, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(out.verdict, KEEL_NEXT);
	CU_ASSERT_EQUAL(freed, 1);
	allows = false;
	CU_ASSERT_EQUAL(submit(NULL), KEEL_WAIT);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(out.text, "not you");
	CU_ASSERT_EQUAL(freed, 2);
}

/* The worker comes back to nothing. */
static void test_client_gone(void)
{
	struct keel_req *client = keel_mock_client(mock, NULL);

	CU_ASSERT_EQUAL(submit(client), KEEL_WAIT);
	keel_mock_client_gone(client);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(out.verdict, KEEL_FAIL);
	CU_ASSERT_EQUAL(answered, 0);
	CU_ASSERT_EQUAL(freed, 1);
	CU_ASSERT_EQUAL(keel_mock_live(module), 0);
}

/* No hold; no worker. */
static void test_failures(void)
{
	keel_mock_fail_call(mock, 1);
	CU_ASSERT_EQUAL(submit(NULL), KEEL_REJECT); /* a GATE is closed by a tap that fails */
	CU_ASSERT_EQUAL(freed, 1);
	keel_mock_fail_call(mock, 2);
	CU_ASSERT_EQUAL(submit(NULL), KEEL_REJECT);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(out.verdict, KEEL_REJECT);
	CU_ASSERT_EQUAL(freed, 2);
	CU_ASSERT_EQUAL(looked, 0);
}

static void test_alarm(void)
{
	struct state *st = module->state;

	keel_alarm_end(&st->alarm);
	CU_ASSERT_EQUAL(keel_alarm_set(module, &st->alarm, 100, ring, NULL), 0);
	keel_mock_advance(mock, 60);
	CU_ASSERT_EQUAL(keel_alarm_set(module, &st->alarm, 100, ring, NULL), 0);
	keel_mock_advance(mock, 60);
	CU_ASSERT_EQUAL(st->rang, 0);
	keel_mock_advance(mock, 40);
	CU_ASSERT_EQUAL(st->rang, 1);
	keel_alarm_end(&st->alarm);
	keel_alarm_end(&st->alarm);
	st->again = true;
	keel_alarm_set(module, &st->alarm, 0, ring, NULL);
	keel_mock_advance(mock, 99);
	CU_ASSERT_EQUAL(st->rang, 2);
	CU_ASSERT_TRUE(keel_alarm_is_set(&st->alarm));
	keel_mock_advance(mock, 1);
	CU_ASSERT_EQUAL(st->rang, 3);
	keel_alarm_set(module, &st->alarm, 100, ring, NULL); /* stop() ends it */
}

TESTS_MAIN_BETWEEN("mock: helpers", set_up, tear_down, TEST(test_answered), TEST(test_client_gone), TEST(test_failures),
	      TEST(test_alarm))
