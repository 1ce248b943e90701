/* SPDX-License-Identifier: Apache-2.0
 *
 * operation.c - one walk through the chain of a point: taps are called in order, their answers judged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

static const char *const verdict_names[] = { "KEEL_FAIL", "KEEL_NEXT", "KEEL_DONE", "KEEL_REJECT", "KEEL_WAIT" };
static const char *const kind_names[] = { [KEEL_GATE] = "GATE", [KEEL_ASK] = "ASK",
					  [KEEL_FOLD] = "FOLD", [KEEL_NOTE] = "NOTE" };

struct op *op_make(struct keel_mock *mock, const struct point_row *p, const void *event)
{
	struct op *op = make(sizeof(*op));

	op->mock = mock;
	op->point = p;
	op->event = event;
	op->chain = chain_ref(mock, p->id);
	return op;
}

void op_free(struct op *op)
{
	chain_unref(op->chain);
	event_free(op->copy);
	free(op->answer);
	free(op->text.data);
	free(op);
}

const char *op_label(const struct op *op)
{
	const char *id = event_id(op->point, op->event);

	return id != NULL ? id : op->point->name;
}

void op_enter(struct op *op)
{
	op->outer = op->mock->top;
	op->depth = op->outer != NULL ? op->outer->depth + 1 : 1;
	op->mock->top = op;
}

void op_leave(struct op *op)
{
	op->mock->top = op->outer;
	if (!op->is_waited_note)
		notes_drain(op->mock);
}

/* ---- one tap -------------------------------------------------------------------------------------------- */
struct call *call_begin(struct op *op, struct mod *m)
{
	struct call *c = make(sizeof(*c));

	c->pub = (struct keel_call){ m->pub.state, m->pub.conf, &m->pub };
	head_init(&c->head, op->mock, c);
	c->op = op;
	op->call = c;
	return c;
}

/* What was borrowed is gone: whoever looks into it falls over. */
void call_end(struct call *c)
{
	c->pub.state = poison_page(c->head.mock);
	c->pub.conf = c->pub.state;
	c->op->call = NULL;
	c->op = NULL;
	head_end(&c->head);
}

static keel_verdict tap_call(struct op *op, struct tap *t)
{
	struct call *c = call_begin(op, t->owner);
	union any_event event;
	uint64_t given;
	bool same;
	keel_verdict v;

	op->err = (struct keel_err){ 0 };
	IN(t->owner, event_for_call(op->mock, op->point, op->event, &event);
	   given = event_sum(op->mock, op->point, &event);
	   v = t->invoke(t, &c->pub, &event);
	   same = given == event_sum(op->mock, op->point, &event));
	if (!same)
		violation(op->mock, "event-changed", "%s has written into the event of %s", t->name, op->point->name);
	call_end(c);
	return v;
}

/* ---- judging ---------------------------------------------------------------------------------------------- */
static keel_verdict lint(struct op *op, const struct tap *t, keel_verdict v)
{
	if (verdict_is_allowed(op->point->kind, v))
		return v;
	violation(op->mock, "bad-verdict", "%s answered %s (%d) at %s, which a %s does not allow", t->name,
		  v >= KEEL_FAIL && v <= KEEL_WAIT ? verdict_names[v - KEEL_FAIL] : "something", v, op->point->name,
		  kind_names[op->point->kind]);
	err_set(&op->err, 0, "it answered %d, which a %s does not allow", v, kind_names[op->point->kind]);
	host_log(op->mock, KEEL_LOG_ERROR, "Hook", op_label(op), "%s at %s: %s; report this to its vendor",
		 t->name, op->point->name, op->err.text);
	return KEEL_FAIL;
}

static void decide(struct op *op, const struct tap *t, int32_t code)
{
	op->by = t;
	op->code = code;
}

/* True: the failure is passed over. */
static bool failed(struct op *op, struct tap *t)
{
	bool refuses = t->policy == KEEL_ON_FAIL_REJECT;

	if (op->err.text[0] == '\0')
		err_set(&op->err, 0, "it gave no reason");
	t->benched |= t->policy == KEEL_ON_FAIL_BENCH;
	host_log(op->mock, KEEL_LOG_ERROR, "Hook", op_label(op), "%s failed at %s: %s; %s", t->name,
		 op->point->name, op->err.text,
		 refuses    ? "the request is refused" :
		 t->benched ? "it is not called any more until a reload" :
			      "it is skipped");
	if (refuses)
		decide(op, t, op->err.code != 0 ? op->err.code : HOOKERROR);
	return !refuses;
}

/* KEEL_NEXT: go on with the chain; else the end of the operation. */
static keel_verdict judge(struct op *op, struct tap *t, keel_verdict v)
{
	v = lint(op, t, v);
	if (v == KEEL_NEXT)
		return v;
	if (v == KEEL_FAIL)
		return failed(op, t) ? KEEL_NEXT : KEEL_REJECT;
	decide(op, t, 0);
	if (v == KEEL_REJECT)
		op->code = op->err.code != 0 ? op->err.code : HOOK_REJECT;
	return v;
}

static bool reaches(const struct op *op, const struct tap *t)
{
	if (t->gone || t->benched || (t->owner->quiet && !op->replay))
		return false;
	return (op->only == NULL || op->only == t->owner) && scope_holds(op, t);
}

/* Holds and the answer must agree. */
static keel_verdict settle(struct op *op, const struct tap *t, keel_verdict v)
{
	struct keel_err kept;

	if (v == KEEL_WAIT && op->holds == NULL) {
		violation(op->mock, "wait-without-hold", "%s at %s", t->name, op->point->name);
		err_set(&op->err, 0, "it answered WAIT and took no hold");
		return KEEL_FAIL;
	}
	if (v == KEEL_WAIT)
		return holds_settle(op);
	if (op->holds != NULL) {
		violation(op->mock, "hold-without-wait", "%s answered %d at %s", t->name, v, op->point->name);
		kept = op->err;
		holds_end(op, KEEL_CANCEL_STOPPING);
		holds_settle(op);
		op->err = kept;
	}
	return v;
}

keel_verdict op_walk(struct op *op, bool answered, keel_verdict v)
{
	for (; op->chain != NULL && op->at < op->chain->n; op->at++, answered = false) {
		struct tap *t = op->chain->tap[op->at];

		if (!answered && !reaches(op, t))
			continue;
		if (!answered)
			v = settle(op, t, tap_call(op, t));
		if (v == KEEL_WAIT)
			return v;
		if (op->abort != 0) {
			decide(op, t, 0);
			return KEEL_FAIL;
		}
		v = judge(op, t, v);
		if (v != KEEL_NEXT)
			return v;
	}
	return KEEL_NEXT;
}

/* ---- the end ------------------------------------------------------------------------------------------------ */
static const char *outcome_text(const struct op *op, keel_verdict v)
{
	if (op->point->kind == KEEL_FOLD)
		return op->text.data;
	if (v == KEEL_NEXT || v == KEEL_DONE)
		return op->answer;
	return op->err.text[0] != '\0' ? op->err.text : pbse_text(op->code);
}

void op_finish(struct op *op, keel_verdict v)
{
	bool accepted = v == KEEL_NEXT || v == KEEL_DONE;

	if (op->changes != NULL)
		changes_end(op->changes, accepted);
	op->changes = NULL;
	op_leave(op);
	if (op->done != NULL) {
		const struct keel_outcome told = {
			.size = sizeof(told), .verdict = v, .code = op->code,
			.text = outcome_text(op, v), .by = op->by != NULL ? op->by->name : NULL,
		};

		IN(op->raiser, op->done(&op->raiser->pub, op->arg, &told));
	}
	op_free(op);
}

/* ---- raising ------------------------------------------------------------------------------------------------- */
static keel_verdict refuse(struct mod *m, const struct keel_raise *r, const char *why)
{
	host_log(mock_of(m), KEEL_LOG_ERROR, "Hook", point_name(mock_of(m), r->point), "module %s raised point %u: %s",
		 m->desc.name, r->point, why);
	if (r->changes != NULL)
		changes_end(r->changes, false);
	if (r->done != NULL)
		IN(m, r->done(&m->pub, r->arg, &(struct keel_outcome){ .size = sizeof(struct keel_outcome),
								       .verdict = KEEL_FAIL, .text = why }));
	return KEEL_FAIL;
}

keel_verdict op_raise(struct mod *m, const struct keel_raise *r)
{
	struct keel_mock *mock = mock_of(m);
	const struct point_row *p = point_row(mock, r->point);
	struct op *op;
	keel_verdict v;

	if (!own_may_raise(m, r->point))
		return refuse(m, r, "it is not a point of this module");
	if (p == NULL || (p->kind != KEEL_GATE && p->kind != KEEL_ASK))
		return refuse(m, r, "it is neither a GATE nor an ASK");
	if (mock->top != NULL && mock->top->depth >= DEPTH_MAX)
		return refuse(m, r, "operations are nested too deeply");
	op = op_make(mock, p, r->event);
	op->changes = r->changes;
	op->req = r->req;
	op->raiser = m;
	op->done = r->done;
	op->arg = r->arg;
	op_enter(op);
	v = op_walk(op, false, KEEL_NEXT);
	if (v == KEEL_WAIT)
		return op_park(op);
	op_finish(op, v);
	return v;
}

int64_t op_fold(struct mod *m, uint32_t point, const void *event, struct text *text)
{
	struct keel_mock *mock = mock_of(m);
	const struct point_row *p = point_row(mock, point);
	struct op *op;
	int64_t sum;

	if (p == NULL || p->kind != KEEL_FOLD || (mock->top != NULL && mock->top->depth >= DEPTH_MAX))
		return 0;
	op = op_make(mock, p, event);
	op_enter(op);
	op_walk(op, false, KEEL_NEXT);
	op_leave(op);
	sum = op->sum;
	if (text != NULL)
		*text = op->text;
	else
		free(op->text.data);
	op->text = (struct text){ 0 };
	op_free(op);
	return sum;
}
