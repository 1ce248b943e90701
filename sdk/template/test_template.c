/* SPDX-License-Identifier: Apache-2.0
 *
 * test_template.c - the module against a host of a few lines: no daemon, only the SDK's headers.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/keel.h"

extern const struct keel_module keel_module;

/* What the module did to its host, and what the host would say. */
static struct {
	const char *ticket; /* of the job; NULL: none */
	char rejected[128];
	int holds, logged;
	struct keel_hold_opts hold;
	keel_fn *timer_fn;
	void *timer_arg;
	bool no_hold, released, timer_cancelled;
} host;
static struct keel_mod mod;
static struct keel_call call;

static void host_log(struct keel_mod *m, uint32_t event, const char *klass, const char *object,
		     const char *fmt, ...)
{
	(void)m, (void)event, (void)klass, (void)object, (void)fmt;
	host.logged++;
}

static struct keel_timer *host_timer(struct keel_mod *m, int64_t after_ms, keel_fn *fn, void *arg)
{
	(void)m, (void)after_ms;
	host.timer_fn = fn;
	host.timer_arg = arg;
	return (struct keel_timer *)&host;
}

static void host_timer_cancel(struct keel_timer *t)
{
	host.timer_cancelled = t != NULL;
}

static keel_verdict host_reject(struct keel_call *c, int32_t pbse, const char *fmt, ...)
{
	va_list args;
	int n = snprintf(host.rejected, sizeof(host.rejected), "%d ", (int)pbse);

	(void)c;
	va_start(args, fmt);
	vsnprintf(host.rejected + n, sizeof(host.rejected) - (size_t)n, fmt, args);
	va_end(args);
	return KEEL_REJECT;
}

static keel_verdict host_fail(struct keel_call *c, const char *fmt, ...)
{
	(void)c, (void)fmt;
	return KEEL_FAIL;
}

static int32_t host_get(struct keel_call *c, struct keel_obj *o, const char *attr, const char *key,
			char *buf, uint32_t len)
{
	(void)c, (void)o, (void)key;
	CU_ASSERT_STRING_EQUAL(attr, "ticket");
	return host.ticket == NULL ? -61 : snprintf(buf, len, "%s", host.ticket);
}

static keel_verdict host_hold(struct keel_call *c, const struct keel_hold_opts *opts,
			      struct keel_hold **ret_hold)
{
	(void)c;
	if (host.no_hold)
		return KEEL_FAIL;
	host.holds++;
	host.hold = *opts;
	*ret_hold = (struct keel_hold *)&host;
	return KEEL_WAIT;
}

static void host_release(struct keel_hold *h)
{
	CU_ASSERT_PTR_EQUAL(h, &host);
	host.released = true;
	CU_ASSERT_EQUAL(host.hold.resume(&call, host.hold.arg), KEEL_NEXT);
}

static const struct keel_core_api core = { .size = sizeof(core), .log = host_log, .timer = host_timer,
					   .timer_cancel = host_timer_cancel };
static const struct keel_call_api calls = { .size = sizeof(calls), .reject = host_reject,
					    .fail = host_fail, .get = host_get, .hold = host_hold,
					    .release = host_release };

/* The verdict about a job with this ticket, where a pause is so long. */
static keel_verdict submit(const char *ticket, int64_t pause)
{
	static struct { const void *core, *call; } state;
	static int64_t conf;

	memset(&host, 0, sizeof(host));
	host.ticket = ticket;
	state.core = &core;
	state.call = &calls;
	conf = pause;
	mod = (struct keel_mod){ .state = &state, .conf = &conf, .name = keel_module.name };
	call = (struct keel_call){ .state = &state, .conf = &conf, .mod = &mod };
	return keel_module.taps[0].fn.job_submit(&call, KEEL_EVENT(job_submit, .id = "1.svr"));
}

static void test_with_a_ticket(void)
{
	CU_ASSERT_EQUAL(submit("ABC-12", 2000), KEEL_NEXT);
	CU_ASSERT_EQUAL(host.logged, 1);
	CU_ASSERT_EQUAL(host.holds, 0);
}

static void test_with_a_wrong_one(void)
{
	CU_ASSERT_EQUAL(submit("nonsense", 2000), KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(host.rejected, "15014 ticket: expected KEY-NUMBER, got 'nonsense'");
}

static void test_without(void)
{
	CU_ASSERT_EQUAL(submit(NULL, 2000), KEEL_WAIT);
	CU_ASSERT_EQUAL(host.holds, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(host.timer_fn);
	host.timer_fn(&mod, host.timer_arg);
	CU_ASSERT(host.released);
}

static void test_cancelled(void)
{
	CU_ASSERT_EQUAL(submit(NULL, 2000), KEEL_WAIT);
	host.hold.cancel(&call, host.hold.arg, 1);
	CU_ASSERT(host.timer_cancelled);
}

static void test_no_pause(void)
{
	CU_ASSERT_EQUAL(submit(NULL, 0), KEEL_NEXT);
	CU_ASSERT_EQUAL(host.holds, 0);
}

static void test_no_hold(void)
{
	memset(&host, 0, sizeof(host));
	(void)submit("X-1", 1); /* the host is set up */
	host.ticket = NULL;
	host.no_hold = true;
	CU_ASSERT_EQUAL(keel_module.taps[0].fn.job_submit(&call, KEEL_EVENT(job_submit, .id = "1")),
			KEEL_FAIL);
}

int main(void)
{
	CU_pSuite s;
	unsigned failed;

	if (CU_initialize_registry() != CUE_SUCCESS || !(s = CU_add_suite("template", NULL, NULL)))
		return 1;
	CU_add_test(s, "a job with a ticket passes", test_with_a_ticket);
	CU_add_test(s, "a ticket that is none is refused", test_with_a_wrong_one);
	CU_add_test(s, "a job without waits and passes", test_without);
	CU_add_test(s, "whoever goes away takes the timer along", test_cancelled);
	CU_add_test(s, "no pause, no wait", test_no_pause);
	CU_add_test(s, "a hold that is refused", test_no_hold);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failed = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failed != 0;
}
