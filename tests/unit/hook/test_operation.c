/* SPDX-License-Identifier: Apache-2.0
 *
 * test_operation.c - verdicts, policies, change sets, scores, benches.
 */
#include "hook/engine.h"
#include "hook/inside.h"

static keel_verdict next_verdict;
static keel_verdict answers(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	(void)ev;
	note_down("answers");
	return next_verdict;
}

static keel_verdict later(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	(void)ev;
	note_down("later");
	return KEEL_NEXT;
}

static void verdicts_end_or_continue(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, answers) };
	static const struct keel_tap beta[] = { KEEL_TAP(job_submit, later, .order = 1) };
	static const struct {
		keel_verdict says, gets;
		int32_t code;
		const char *trace;
	} rows[] = {
		{ KEEL_NEXT, KEEL_NEXT, 0, "answers later done" },
		{ KEEL_DONE, KEEL_DONE, 0, "answers done" },
		{ KEEL_REJECT, KEEL_REJECT, 15169, "answers done" },
		{ KEEL_FAIL, KEEL_REJECT, 15136, "answers done" }, /* fail closed */
		{ KEEL_WAIT, KEEL_REJECT, 15136, "answers done" }, /* without a hold */
		{ 77, KEEL_REJECT, 15136, "answers done" },
	};

	engine_start();
	CU_ASSERT_EQUAL(RAISE(job_submit, .id = "1.svr"), KEEL_NEXT);
	ATTACH(e.alpha, alpha);
	ATTACH(e.beta, beta);
	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		trace[0] = '\0';
		next_verdict = rows[i].says;
		CU_ASSERT_EQUAL(RAISE(job_submit, .id = "1.svr"), rows[i].gets);
		CU_ASSERT_EQUAL(told.verdict, rows[i].gets);
		CU_ASSERT_EQUAL(told.code, rows[i].code);
		CU_ASSERT_STRING_EQUAL(trace, rows[i].trace);
		CU_ASSERT(told.verdict != KEEL_REJECT || told.text[0] != '\0');
	}
	CU_ASSERT_STRING_EQUAL(told.by, "alpha.answers");
	engine_stop();
}

static keel_verdict rejects(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	if (ev->who == NULL)
		return e.call->reject(c, 15007, NULL);
	return e.call->reject(c, 15010, "not %s", ev->who);
}

static void a_reject_has_words(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, rejects) };

	engine_start();
	ATTACH(e.alpha, alpha);
	RAISE(job_submit, .id = "1.svr");
	CU_ASSERT_EQUAL(told.code, 15007);
	CU_ASSERT_STRING_EQUAL(told.text, "Unauthorized Request ");
	RAISE(job_submit, .id = "1.svr", .who = "user@host");
	CU_ASSERT_EQUAL(told.code, 15010);
	CU_ASSERT_STRING_EQUAL(told.text, "not user@host");
	engine_stop();
}

static keel_verdict sets(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	char now[16];

	CU_ASSERT_EQUAL(e.call->set(c, ev->job, "Priority", NULL, "7", NULL), 0);
	CU_ASSERT_EQUAL(e.call->set(c, ev->job, "Nonsense", NULL, "7", NULL), 15002);
	CU_ASSERT_EQUAL(e.call->get(c, ev->job, "Priority", NULL, now, sizeof(now)), 1);
	CU_ASSERT_STRING_EQUAL(now, "7");
	return KEEL_NEXT;
}

static void changes_are_committed_or_leave_no_trace(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, sets) };
	static const struct keel_tap beta[] = { KEEL_TAP(job_submit, answers, .order = 1) };
	struct keel_changes *moved;

	engine_start();
	ATTACH(e.alpha, alpha);
	ATTACH(e.beta, beta);
	next_verdict = KEEL_NEXT;
	RAISE(job_submit, .id = "1.svr", .job = &job1);
	CU_ASSERT_EQUAL(commits, 1);
	CU_ASSERT_STRING_EQUAL(trace, "answers commit done");
	next_verdict = KEEL_REJECT;
	moved = calloc(1, sizeof(*moved));
	raise_point(KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "1.svr", .job = &job1), moved,
		    NULL);
	CU_ASSERT_EQUAL(commits, 1);
	CU_ASSERT_EQUAL(discards, 1);
	hooks_detach(e.parts.hooks, &e.alpha);
	hooks_detach(e.parts.hooks, &e.beta);
	moved = calloc(1, sizeof(*moved));
	moved->n = 5;
	raise_point(KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "1.svr"), moved, NULL);
	CU_ASSERT_EQUAL(commits, 6);
	engine_stop();
}

static void what_is_no_gate_is_refused(void)
{
	struct keel_changes *moved;

	engine_start();
	moved = calloc(1, sizeof(*moved));
	CU_ASSERT_EQUAL(raise_point(KEEL_POINT_job_queued, NULL, moved, NULL), KEEL_FAIL);
	CU_ASSERT_EQUAL(raise_point(9999, NULL, NULL, NULL), KEEL_FAIL);
	CU_ASSERT_EQUAL(raise_point(0, NULL, NULL, NULL), KEEL_FAIL);
	CU_ASSERT_EQUAL(discards, 1);
	CU_ASSERT_EQUAL(told.n, 3);
	engine_stop();
}

static keel_verdict gives(struct keel_call *c, const struct keel_ev_job_hold *ev)
{
	(void)ev;
	return e.call->answer(c, "ncpus,mem");
}

static keel_verdict vetoes(struct keel_call *c, const struct keel_ev_job_hold *ev)
{
	(void)ev;
	return e.call->reject(c, 15007, "an ASK cannot be vetoed");
}

static void the_first_answer_wins(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_hold, gives, .order = 5) };
	static const struct keel_tap beta[] = { KEEL_TAP(job_hold, vetoes, .order = 1) };
	struct point *p;

	engine_start();
	p = &e.parts.hooks->point[KEEL_POINT_job_hold]; /* no point is an ASK today */
	p->kind = KEEL_ASK;
	p->allowed &= ~VERDICT_BIT(KEEL_REJECT);
	ATTACH(e.alpha, alpha);
	ATTACH(e.beta, beta);
	CU_ASSERT_EQUAL(RAISE(job_hold, .id = "1.svr"), KEEL_DONE);
	CU_ASSERT_STRING_EQUAL(told.text, "ncpus,mem");
	CU_ASSERT_STRING_EQUAL(told.by, "alpha.gives");
	engine_stop();
}

static keel_verdict ranks(struct keel_call *c, const struct keel_ev_job_rank *ev)
{
	(void)ev;
	e.call->add(c, INT64_MAX - 1);
	return KEEL_NEXT;
}

static keel_verdict is_user(struct keel_call *c, const struct keel_ev_client_auth *ev)
{
	(void)ev;
	e.call->add(c, KEEL_USER | KEEL_OPERATOR);
	e.call->append(c, "item");
	return KEEL_NEXT;
}

static keel_verdict breaks(struct keel_call *c, const struct keel_ev_client_auth *ev)
{
	(void)ev;
	e.call->append(c, "a=1");
	return e.call->fail(c, "no answer from %s", "somewhere");
}

static void scores_add_up_and_roles_unite(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_rank, ranks),
						 KEEL_TAP(client_auth, is_user, .order = 2) };
	static const struct keel_tap beta[] = { KEEL_TAP(job_rank, ranks),
						KEEL_TAP(client_auth, is_user, .order = 3),
						KEEL_TAP(client_auth, breaks, .order = -1) };
	char text[64];

	engine_start();
	CU_ASSERT_EQUAL(e.hook->fold(&e.alpha.pub, KEEL_POINT_client_auth, NULL, text, 64), 0);
	ATTACH(e.alpha, alpha);
	ATTACH(e.beta, beta);
	CU_ASSERT_EQUAL(e.hook->fold(&e.alpha.pub, KEEL_POINT_client_auth,
				     KEEL_EVENT(client_auth, .user = "u"), text, sizeof(text)), 3);
	CU_ASSERT_STRING_EQUAL(text, "a=1 item item");
	e.hook->fold(&e.alpha.pub, KEEL_POINT_client_auth, KEEL_EVENT(client_auth), text, 5);
	CU_ASSERT_STRING_EQUAL(text, "a=1 ");
	CU_ASSERT_EQUAL(e.hook->fold(&e.alpha.pub, KEEL_POINT_job_rank, KEEL_EVENT(job_rank), NULL,
				     0), INT64_MAX);
	engine_stop();
}

static keel_verdict broken(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)ev;
	note_down("broken");
	return e.call->fail(c, "broken");
}

static void fail_policies(void)
{
	static const struct keel_tap alpha[] = {
		KEEL_TAP(job_submit, broken, .flags = KEEL_ON_FAIL_SKIP),
		KEEL_TAP(job_modify, (keel_job_modify_fn *)NULL),
	};
	static const struct keel_tap beta[] = {
		KEEL_TAP(job_submit, broken, .flags = KEEL_ON_FAIL_BENCH),
	};

	engine_start();
	CU_ASSERT_EQUAL(hooks_attach(e.parts.hooks, &e.alpha, alpha, 1, &e.err), 0);
	ATTACH(e.beta, beta);
	CU_ASSERT_EQUAL(RAISE(job_submit, .id = "1.svr"), KEEL_NEXT);
	CU_ASSERT_EQUAL(RAISE(job_submit, .id = "1.svr"), KEEL_NEXT);
	CU_ASSERT_STRING_EQUAL(trace, "broken broken done broken done");
	engine_stop();
}

static keel_verdict dawdles(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	struct hooks_crumb now;

	(void)c;
	(void)ev;
	CU_ASSERT(hooks_crumb(crumb_top, &now) && strcmp(now.name, "alpha.dawdles") == 0);
	CU_ASSERT(strcmp(now.object, "1.svr") == 0 && strcmp(now.what, "job_submit") == 0);
	compute_ms(9);
	note_down("slow");
	return KEEL_NEXT;
}

static void slow_taps_are_benched(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, dawdles) };
	struct usage usage;

	engine_start();
	ATTACH(e.alpha, alpha);
	do { /* in doubt a call has waited for a processor */
		trace[0] = '\0';
		CU_ASSERT_EQUAL(RAISE(job_submit, .id = "1.svr"), KEEL_NEXT);
		CU_ASSERT_STRING_EQUAL(trace, "slow done");
		usage = usage_of(&e.alpha);
	} while (usage.strikes < 3 && usage.calls < 1000);
	CU_ASSERT_EQUAL(RAISE(job_submit, .id = "1.svr"), KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(trace, "slow done done");
	CU_ASSERT_PTR_NOT_NULL(strstr(told.text, "alpha.dawdles"));
	CU_ASSERT_PTR_NULL(crumb_top);
	usage = usage_of(&e.alpha);
	CU_ASSERT(usage.taps == 1 && usage.benched == 1 && usage.strikes == 3 && usage.calls >= 3);
	CU_ASSERT(usage.time_ns >= 9000000);
	CU_ASSERT_EQUAL(usage_of(&e.beta).taps, 0);
	engine_stop();
}

static keel_verdict deepens(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	note_down("d");
	return RAISE(job_submit, .id = ev->id) == KEEL_FAIL ? KEEL_DONE : KEEL_NEXT;
}

static void nesting_has_an_end(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, deepens) };
	uint32_t deep = 0;

	engine_start();
	ATTACH(e.alpha, alpha);
	RAISE(job_submit, .id = "1.svr");
	for (const char *at = trace; *at != '\0'; at++)
		deep += *at == 'd' && (at[1] == ' ' || at[1] == '\0');
	CU_ASSERT_EQUAL(deep, 16);
	engine_stop();
}

static keel_verdict reads_all(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	note_down("%s:%s", ev->id, ev->who == NULL ? "none" : "some");
	return KEEL_NEXT;
}

static void a_short_event_is_completed(void)
{
	static const struct keel_tap alpha[] = { KEEL_TAP(job_submit, reads_all) };
	struct {
		uint32_t size, reserved;
		const char *id;
	} old = { sizeof(old), 0, "1.svr" };

	engine_start();
	ATTACH(e.alpha, alpha);
	raise_point(KEEL_POINT_job_submit, &old, NULL, NULL);
	CU_ASSERT_STRING_EQUAL(trace, "1.svr:none done");
	engine_stop();
}

TESTS_MAIN("hook/operation", TEST(verdicts_end_or_continue), TEST(a_reject_has_words),
	   TEST(changes_are_committed_or_leave_no_trace), TEST(what_is_no_gate_is_refused),
	   TEST(the_first_answer_wins), TEST(scores_add_up_and_roles_unite), TEST(fail_policies),
	   TEST(slow_taps_are_benched), TEST(nesting_has_an_end), TEST(a_short_event_is_completed))
