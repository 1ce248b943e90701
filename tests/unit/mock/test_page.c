/* SPDX-License-Identifier: Apache-2.0
 *
 * test_page.c - the examples of keelson-mock(3), which quotes them, and the module that they are about.
 */
#include <errno.h>

#include "harness.h"
#include "keel/mock.h"

/* ---- the module: it waits at the door without a ticket, keeps tickets, and has a timer ---------------- */

struct state {
	struct keel_timer *timer;
};

static void on_time(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->timer = NULL;
	keel_log(mod, KEEL_LOG_DEBUG, "Ticket", NULL, "time is up");
}

static void on_kept(struct keel_mod *mod, void *arg)
{
	(void)arg;
	keel_log(mod, KEEL_LOG_DEBUG, "Ticket", NULL, "it is kept");
}

static keel_verdict on_ticket(struct keel_call *c, void *arg)
{
	(void)c, (void)arg;
	return KEEL_NEXT;
}

static keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = "no ticket yet", .timeout_ms = 60000,
					     .resume = on_ticket };

	if (keel_call_get(c, ev->job, "ticket", NULL, NULL, 0) < 0)
		return keel_hold(c, &opts, NULL);
	if (keel_when_durable(c->mod, on_kept, NULL) < 0)
		return keel_fail(c, "no memory to keep the ticket");
	return KEEL_NEXT;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	st->timer = keel_timer(mod, 5000, on_time, NULL);
	return st->timer != NULL ? 0 : -ENOMEM;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->timer);
}

static const struct keel_tap taps[] = { KEEL_TAP(job_submit, on_submit) };

KEEL_MODULE(.name = "tickets", .version = "1.0", .summary = "jobs belong to tickets",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), KEEL_TAPS(taps),
	    .start = start, .stop = stop);

/* ---- for each test a host, the module and a job that is about to be submitted --------------------------- */

static struct keel_mock *mock;
static struct keel_obj *job;
static struct keel_mock_outcome out;

static void set_up(void)
{
	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_attr(mock, "job", "ticket", "string");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_load(mock, &keel_module, NULL, NULL));
	job = keel_mock_draft(mock, "job", "1.svr");
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static keel_verdict submit(const char *ticket)
{
	keel_mock_set(job, "ticket", NULL, ticket);
	return keel_mock_raise(mock, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "1.svr", .job = job), &out);
}

/* ---- the examples --------------------------------------------------------------------------------------- */

static void test_a_timer(void)
{
	keel_mock_advance(mock, 4999);          /* of five seconds */
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "time is up"));
	keel_mock_advance(mock, 1);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "time is up"));
	while (keel_mock_next(mock))            /* whatever else is to come, as far as an hour */
		if (keel_mock_now(mock) > 4600000)
			break;
}

static void wait_for_a_ticket(void)
{
	CU_ASSERT_EQUAL(submit(NULL), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(keel_mock_hold(mock, 0), "tickets: no ticket yet (0s of 60s)");
}

static void test_it_goes_on(void)
{
	wait_for_a_ticket();
	keel_mock_release(mock, 0);             /* as the module would, or raise what it awaits */
	keel_mock_advance(mock, 0);
	CU_ASSERT(out.told && out.verdict == KEEL_NEXT);
}

static void test_it_waits_too_long(void)
{
	wait_for_a_ticket();
	keel_mock_advance(mock, 60000);         /* its deadline; keel_mock_expire() wherever that is */
	CU_ASSERT(out.told && out.verdict == KEEL_REJECT);
	CU_ASSERT_EQUAL(keel_mock_ended(mock, KEEL_CANCEL_TIMEOUT), 1);
}

static void test_no_memory(void)
{
	uint32_t calls, n = 0;

	do {
		tear_down();                    /* each time on a new host */
		set_up();
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		submit("ABC-12");               /* any answer, but no crash and nothing left */
		keel_mock_advance(mock, 0);
		calls = keel_mock_calls(mock) - calls;
	} while (calls >= n);
}

static void test_the_disk_is_full(void)
{
	keel_mock_store(mock, false);
	submit("ABC-12");                       /* the module asks keel_when_durable() */
	keel_mock_advance(mock, 3600000);
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "is kept"));
	keel_mock_store(mock, true);
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "is kept"));
}

TESTS_MAIN_BETWEEN("mock: the manual page", set_up, tear_down, TEST(test_a_timer), TEST(test_it_goes_on),
		   TEST(test_it_waits_too_long), TEST(test_no_memory), TEST(test_the_disk_is_full))
