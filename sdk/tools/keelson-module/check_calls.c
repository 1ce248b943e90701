/* SPDX-License-Identifier: Apache-2.0
 *
 * check_calls.c - every tap at every point, with every flavour of event; and every way in which what
 * waits can end.
 *
 *   raise -> NEXT, DONE, REJECT, FAIL -> outcome
 *         -> WAIT: a hold -> by itself | what it waits for | its deadline | client, object, module gone -> outcome
 *
 * Afterwards two hours pass: timers that were not cancelled run, and use what was freed.
 */
#include "check_calls.h"

#include <stdio.h>
#include <string.h>

#include "check_beside.h"
#include "check_child.h"
#include "check_events.h"
#include "check_lifecycle.h"
#include "check_others.h"
#include "check_play.h"
#include "check_watch.h"

enum { TURNS_MAX = 3000, AFTER_MS = 7200000, HOLDS_MAX = 50, FAILURES_MAX = 40, DEADLINE_DAYS = 31 };

static const char *const endings[] = { "nothing else happened", "what it waits for happened",
				       "its hold ran into its deadline", "the client went away",
				       "the object was destroyed", "the module was unloaded", "the module was unloaded at once",
				       "everything else has happened" };

void calls_begin(struct stage *s, const struct subject *of)
{
	stage_open(s, of);
	if (!rule_broken(RULE_lifecycle_repeat)) /* else it would be said twice */
		s->leftovers = RULE_calls_memory;
	child_step("being loaded");
	if (stage_load(s) == 0)
		stage_values(s, true);
	else
		finding(RULE_lifecycle_load, "it was loaded once, and not again: %s", s->err.text);
}

void calls_go_on(struct stage *s, int64_t ms)
{
	int64_t until = keel_mock_now(s->mock) + ms;

	for (int n = 0; n < TURNS_MAX && keel_mock_now(s->mock) < until; n++) {
		int64_t since = worked_ms();
		bool more = keel_mock_next(s->mock);

		judge_time(since);
		if (!more)
			break;
	}
}

/* ---- raising ----------------------------------------------------------------------------------------- */
keel_verdict calls_raise(struct stage *s, struct raised *r)
{
	const struct point *p = r->point;
	const struct keel_object_api *object = keel_mock_group(s->mock, "object");
	const uint32_t id = p->id;
	struct keel_changes *changes = NULL;
	struct event e;
	int64_t since;
	keel_verdict verdict;

	if (!event_make(s, p, r->flavour, &e))
		return KEEL_NEXT;
	child_step("at %s with %s", p->name, r->with);
	since = worked_ms();
	if (p->kind == KEEL_GATE || p->kind == KEEL_ASK) {
		if (p->kind == KEEL_GATE && r->flavour != MINIMAL)
			changes = object->changes(keel_mock_self(s->mock));
		r->client = keel_mock_client(s->mock, keel_mock_session(s->mock, "user", KEEL_USER));
		verdict = keel_mock_raise_for(s->mock, r->client, id, &e, changes, &r->outcome);
	} else {
		verdict = keel_mock_raise(s->mock, id, &e, &r->outcome);
	}
	judge_time(since);
	return verdict;
}

/* ---- waiting ----------------------------------------------------------------------------------------- */
/* "module: why (0s of 60s)" */
static void judge_deadlines(struct stage *s)
{
	const char *text;

	for (uint32_t i = 0; (text = keel_mock_hold(s->mock, i)) != NULL; i++) {
		const char *of = strrchr(text, '(');
		long long since, seconds;

		if (of != NULL && sscanf(of, "(%llds of %llds", &since, &seconds) == 2 &&
		    seconds > DEADLINE_DAYS * 86400LL)
			finding(RULE_calls_deadline, "%s, %s", text, child_last_step());
	}
}

static void end_each(struct stage *s, const struct raised *r, void (*end)(struct keel_mock *, uint32_t))
{
	for (int n = 0; n < HOLDS_MAX && keel_mock_holds(s->mock) > 0 && !r->outcome.told; n++) {
		end(s->mock, 0);
		keel_mock_advance(s->mock, 0);
	}
}

/* A hold that its module alone releases is left to it. */
static void release_waiting(struct keel_mock *mock, uint32_t i)
{
	if (keel_mock_hold_until(mock, i) != NULL)
		keel_mock_release(mock, i);
}

void calls_end(struct stage *s, struct raised *r, enum ending how)
{
	const char *klass = event_klass(r->point), *id = klass == NULL ? NULL : stage_id(klass, flavour_cast(r->flavour));
	struct keel_obj *o = klass == NULL ? NULL : stage_object(s, klass, flavour_cast(r->flavour));

	child_step("at %s with %s, when %s", r->point->name, r->with, endings[how]);
	switch (how) {
	case BY_EVENT: end_each(s, r, release_waiting); break;
	case BY_DEADLINE: end_each(s, r, keel_mock_expire); break;
	case BY_CLIENT: keel_mock_client_gone(r->client); break;
	case BY_OBJECT:
		if (o != NULL)
			keel_mock_destroy(o);
		break;
	case BY_STOP: stage_unload(s); break;
	case AT_ONCE: stage_unload_at_once(s); break;
	case BY_OTHERS:
		others_raise(s, id);
		others_go(s, id);
		others_judge(s);
		break;
	default: break;
	}
}

/* ---- a case ------------------------------------------------------------------------------------------ */
/* Returns whether the operation waited. */
static bool call_once(const struct subject *of, const struct point *p, enum flavour f, enum ending how)
{
	struct raised r = { .point = p, .flavour = f, .with = flavour_name(f) };
	struct stage s;
	bool waits;
	char after[256];

	calls_begin(&s, of);
	waits = s.mod != NULL && calls_raise(&s, &r) == KEEL_WAIT;
	if (waits)
		judge_deadlines(&s);
	calls_end(&s, &r, waits || how == AT_ONCE ? how : BY_ITSELF);
	calls_go_on(&s, AFTER_MS);
	snprintf(after, sizeof(after), "%s with %s, when %s", p->name, flavour_name(f), endings[how]);
	if (waits && !r.outcome.told && s.mod != NULL && !rule_broken(RULE_calls_wait) &&
	    !rule_broken(RULE_calls_deadline))
		finding(RULE_calls_hold_ends, "it still waits after %s", after);
	child_step("being unloaded after %s", after);
	stage_close(&s, after);
	return waits;
}

/* Returns point i if the module has a tap there, also one added at run time; *ret_more: there is such a point. */
static const struct point *listened(const struct subject *of, unsigned i, bool *ret_more)
{
	struct stage s;

	if (!stage_points_seen()) {
		calls_begin(&s, of);
		stage_points_see(&s);
		stage_close(&s, "a load");
	}
	*ret_more = point_at(i) != NULL;
	return *ret_more && stage_listens(i) ? point_at(i) : NULL;
}

static bool call_case(void *arg, unsigned i)
{
	const struct subject *of = arg;
	bool more;
	const struct point *p = listened(of, i / N_FLAVOURS, &more);
	enum flavour f = (enum flavour)(i % N_FLAVOURS);

	if (p == NULL)
		return more;
	if (call_once(of, p, f, BY_ITSELF))
		for (int how = BY_EVENT; how < N_ENDINGS; how++)
			call_once(of, p, f, (enum ending)how);
	else if (f == USUAL)
		call_once(of, p, f, AT_ONCE);
	return more;
}

/* ---- failures ---------------------------------------------------------------------------------------- */
/* Returns whether there was an n-th allocation, or call. */
static bool fail_once(const struct subject *of, const struct point *p, unsigned n, bool of_memory)
{
	char with[64], after[128];
	struct raised r = { .point = p, .flavour = USUAL, .with = with };
	struct stage s;
	unsigned calls;
	bool reached;

	calls_begin(&s, of);
	s.leftovers = RULE_calls_failures;
	snprintf(with, sizeof(with), "%s %u failing", of_memory ? "allocation" : "API call", n);
	snprintf(after, sizeof(after), "%s with %s", p->name, with);
	calls = keel_mock_calls(s.mock);
	if (of_memory)
		watch_fail(n);
	else
		keel_mock_fail_call(s.mock, n);
	if (s.mod != NULL)
		calls_raise(&s, &r);
	calls_go_on(&s, AFTER_MS);
	reached = of_memory ? watch_failed() : keel_mock_calls(s.mock) - calls >= n;
	watch_fail(0);
	keel_mock_fail_call(s.mock, 0);
	stage_close(&s, after);
	return reached;
}

static bool failure_case(void *arg, unsigned i)
{
	const struct subject *of = arg;
	bool more;
	const struct point *p = listened(of, i / 2, &more);

	for (unsigned n = 1; p != NULL && n < FAILURES_MAX && fail_once(of, p, n, i % 2 == 0); n++)
		;
	return more;
}

/* ---- days ---------------------------------------------------------------------------------------------- */
static bool same(const struct play *a, const struct play *b)
{
	return strcmp(a->answers.data, b->answers.data) == 0 && strcmp(a->values.data, b->values.data) == 0;
}

/* The days must be the same with and without the question whether a job may start. Not judged when two plays of the same days
 * differ. */
static void judge_dry(const struct play *asked, const struct subject *of)
{
	struct play again, not_asked;

	play_days(&not_asked, of, NOT_ASKED, false);
	if (!same(asked, &not_asked)) {
		play_days(&again, of, ASKED_UNHEARD, false);
		if (same(asked, &again) &&
		    play_compare(RULE_calls_dry, "asked dry before", &asked->answers, "not asked", &not_asked.answers))
			play_compare(RULE_calls_dry, "asked dry before", &asked->values, "not asked", &not_asked.values);
		play_forget(&again);
	}
	play_forget(&not_asked);
}

/* Jobs after each other, which may wait for each other. */
static bool days_case(void *arg, unsigned i)
{
	const struct point *point;
	struct play p;
	unsigned n = 0;

	(void)i;
	play_days(&p, arg, ASKED_UNHEARD, false);
	while ((point = point_at(n)) != NULL && point->id != KEEL_POINT_start_now)
		n++;
	if (point != NULL && stage_listens(n))
		judge_dry(&p, arg);
	play_forget(&p);
	return false;
}

static void run_all(const struct subject *of, enum rule crash, enum rule hang)
{
	static bool (*const cases[])(void *arg, unsigned i) = { call_case, request_case, verb_case, value_case, row_case, days_case };

	for (size_t i = 0; i < KEEL_COUNT(cases); i++)
		child_cases(cases[i], (void *)(uintptr_t)of, crash, hang);
}

void check_calls(const struct subject *s)
{
	struct subject without = *s, with = *s;

	look_from_to(RULE_calls_crash, RULE_calls_requests);
	with.optional = true;
	without.optional = false;
	run_all(&with, RULE_calls_crash, RULE_calls_budget);
	if (!rule_broken(RULE_calls_crash) && !rule_broken(RULE_calls_memory) && !rule_broken(RULE_calls_budget))
		child_cases(failure_case, &with, RULE_calls_failures, RULE_calls_failures);
	if (beside_has_spare() && !rule_broken(RULE_calls_crash))
		run_all(&without, RULE_calls_needs, RULE_calls_budget);
}
