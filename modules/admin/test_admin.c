/* SPDX-License-Identifier: Apache-2.0
 *
 * test_admin.c - the answers, in the mock: what is shown of modules, points, taps and holds, and who is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "keel/mock.h"
#include "pbs_error.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mock_reply reply;

static keel_verdict waits(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	(void)ev;
	return keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = "a test",
						      .timeout_ms = 60000 }, NULL);
}

static keel_verdict passes(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	(void)c, (void)ev;
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_delete, waits, .order = 10, .after = "x"),
	KEEL_TAP(job_delete, passes, .order = -10, .flags = KEEL_ON_FAIL_SKIP),
};

static void begin(void)
{
	static struct keel_module other;

	other = keel_module;
	other.name = "other";
	other.vendor = "a\nb";
	other.contribs = NULL;
	other.n_contribs = 0;
	other.taps = taps;
	other.n_taps = KEEL_COUNT(taps);
	other.needs = other.needs_end;
	mock = keel_mock_new(KEEL_SERVER);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, NULL, NULL));
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &other, NULL, NULL));
}

static void end(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

/* The answer as JSON, but with its tabs; or the words of the refusal. */
static const char *ask(const char *verb, const char *body)
{
	static char json[1 << 16];
	const char *from;
	char *to = json;

	reply = (struct keel_mock_reply){ 0 };
	keel_mock_request(mock, NULL, verb, body, &reply);
	CU_ASSERT_TRUE_FATAL(reply.told);
	if (reply.code)
		return reply.text;
	for (from = reply.json; *from; from++, to++) {
		*to = strncmp(from, "\\u0009", 6) == 0 ? '\t' : *from;
		from += *to == '\t' ? 5 : 0;
	}
	*to = '\0';
	return json;
}

static void shows(const char *verb, const char *body, const char *text)
{
	const char *got = ask(verb, body);

	CU_ASSERT_PTR_NOT_NULL(strstr(got, text));
	if (strstr(got, text) == NULL)
		fprintf(stderr, "%s: expected '%s', got '%s'\n", verb, text, got);
}

static void modules(void)
{
	begin();
	shows("keelson.modules", NULL,
	      "name\tversion\tvendor\tabi\tstate\truns\tsince\ttaps\tcalls\ttime_ns\troles\tpath");
	shows("keelson.modules", NULL, "other\t1.0\ta?b\t");
	shows("keelson.modules", NULL, "\trunning\tinside\t");
	end();
}

static void points_and_chains(void)
{
	begin();
	shows("keelson.hooks", NULL, "\"job_delete GATE taps=2 may this job be deleted?\"");
	shows("keelson.hooks", "args = [ \"job_delete\" ];",
	      "{\"lines\": [\"1 other.passes order=-10 on_fail=skip calls=0 fails=0 longest=0ns\", "
	      "\"2 other.waits order=10 on_fail=reject after=x calls=0 fails=0 longest=0ns\"]}");
	shows("keelson.hooks", "args = [ \"nonesuch\" ];", "there is no hook point 'nonesuch'; 'keelson hooks' lists them");
	CU_ASSERT_EQUAL(reply.code, PBSE_IVALREQ);
	end();
}

static void times_and_what_becomes_of_them(void)
{
	struct keel_mock_outcome out = { 0 };

	begin();
	keel_mock_raise(mock, KEEL_POINT_job_delete, KEEL_EVENT(job_delete, .id = "1.svr"), &out);
	shows("keelson.hook_times", NULL,
	      "{\"lines\": [\"hook\tpoint\ttap\tcalls\ttime_ns\tlongest_ns\tfails\tstrikes\tstate\", ");
	shows("keelson.hook_times", "args = [ \"job_delete\" ];", "\"job_delete/other.waits\tjob_delete\tother.waits\t1\t");
	shows("keelson.hook_times", "args = [ \"nonesuch\" ];", "there is no hook point 'nonesuch'");
	shows("keelson.hook_reset", NULL, "{\"lines\": []}");
	shows("keelson.hook_times", NULL, "\tother.waits\t0\t0\t0\t0\t0\ton\"");
	shows("keelson.hook_unbench", "args = [ \"other.waits\" ];", "{\"lines\": [\"other.waits is called\"]}");
	shows("keelson.hook_unbench", "args = [ \"nobody\" ];", "there is no tap 'nobody'; 'keelson hooks --time' lists them");
	shows("keelson.hook_unbench", NULL, "there is no tap ''; ");
	end();
}

/* The table's head, and no line for what runs. */
static void what_is_off(void)
{
	begin();
	shows("keelson.modules_off", NULL, "{\"lines\": [\"state\tname\twhy\"");
	CU_ASSERT_PTR_NULL(strstr(ask("keelson.modules_off", NULL), "off\tadmin"));
	end();
}

static void holds(void)
{
	struct keel_mock_outcome out = { 0 };

	begin();
	CU_ASSERT_STRING_EQUAL(ask("keelson.holds", NULL), "{\"lines\": []}");
	keel_mock_raise(mock, KEEL_POINT_job_delete, KEEL_EVENT(job_delete, .id = "1.svr"), &out);
	keel_mock_advance(mock, 2000);
	CU_ASSERT_STRING_EQUAL(ask("keelson.holds", NULL), "{\"lines\": [\"1.svr job_delete other: a test (2s of 60s)\"]}");
	end();
}

static void some_are_for_managers(void)
{
	static const char *const verbs[] = { "keelson.hook_reset", "keelson.hook_unbench" };
	const struct keel_session *operator;

	begin();
	operator = keel_mock_session(mock, "op", KEEL_OPERATOR);
	for (size_t i = 0; i < KEEL_COUNT(verbs); i++) {
		reply = (struct keel_mock_reply){ 0 };
		keel_mock_request(mock, operator, verbs[i], NULL, &reply);
		CU_ASSERT_EQUAL(reply.code, PBSE_PERM);
	}
	reply = (struct keel_mock_reply){ 0 };
	keel_mock_request(mock, operator, "keelson.modules", NULL, &reply);
	CU_ASSERT(reply.told && reply.code == 0);
	end();
}

TESTS_MAIN("modules/admin", TEST(modules), TEST(points_and_chains), TEST(times_and_what_becomes_of_them), TEST(what_is_off), TEST(holds),
	   TEST(some_are_for_managers))
