/* SPDX-License-Identifier: Apache-2.0
 *
 * operation.c - an operation from raise() to its outcome.
 *
 *   raise() -> the taps of its chain, one by one -> each verdict is judged -> outcome: change set, done(), settled()
 *                      -> a tap waits: op_park() (park.c) ... -> op_run_on()
 *
 * An operation lives on the C stack of raise(); nothing is allocated unless a tap waits. Taps never see each other's
 * verdicts. A verdict is checked: does the kind of the point allow it, did a WAIT take a hold, does the fail policy
 * turn an error into a refusal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "hook/quick.h"
#include "keel/sized.h"
#include "util/err.h"

const char *op_label(const struct op *op)
{
	const char *id = event_id(op->point, op->event);

	return id != NULL ? id : op->point->info->name;
}

void op_left(struct hooks *h, const struct op *op)
{
	if (op->from_queue)
		return;
	notes_drain(h, false);
	if (h->top != NULL)
		return;
	h->chores = false;
	chains_sweep(h);
	if ((h->ready != NULL || h->notes != NULL) && h->wake == NULL) /* there was no memory for it */
		ops_wake(h);
}

/* ---- judging a verdict ----------------------------------------------------------------------- */
/* By its fail policy. Returns KEEL_NEXT or KEEL_REJECT. A refusal is always logged; records of skipped failures are rate
 * limited. */
static COLD keel_verdict tap_failed(struct op *op, struct tap *t)
{
	const char *then = t->policy == KEEL_ON_FAIL_REJECT ? "the request is refused" :
			   t->policy == KEEL_ON_FAIL_BENCH  ? "it is not called any more until its module is restarted" :
							      "it is skipped";
	struct hooks *h = op->hooks;
	char more[48] = "";
	uint32_t unsaid = 0;

	t->stat.fails++;
	if (op->err.text[0] == '\0')
		err_set(&op->err, 0, "it gave no reason");
	if (t->policy == KEEL_ON_FAIL_BENCH)
		t->off |= TAP_BENCHED;
	if (t->policy != KEEL_ON_FAIL_SKIP || may_say(&t->stat.failed, loop_now_ms(h->parts->loop), &unsaid)) {
		if (unsaid > 0)
			snprintf(more, sizeof(more), "; %u more times since the last record", unsaid);
		hooks_log(h, KEEL_LOG_ERROR, op_label(op), "%s failed at %s: %s; %s%s", t->name,
			  op->point->info->name, op->err.text, then, more);
	}
	if (t->policy != KEEL_ON_FAIL_REJECT)
		return KEEL_NEXT;
	if (op->err.code == 0)
		op->err.code = PBSE_HOOKERROR;
	return KEEL_REJECT;
}

/* Returns what the operation does after the verdict of a tap: KEEL_NEXT: it goes on; KEEL_WAIT; else it ends so. */
static COLD keel_verdict verdict_judge(struct op *op, struct tap *t, keel_verdict v)
{
	if (v == KEEL_WAIT)
		return v;
	op->by = t;
	if (op->abort != 0)
		return KEEL_FAIL;
	if (v < KEEL_FAIL || v > KEEL_WAIT || !(op->point->allowed & VERDICT_BIT(v))) {
		err_set(&op->err, 0, "it answered %d, which a %s does not allow", v, kind_name(op->point->kind));
		hooks_log(op->hooks, KEEL_LOG_ERROR, op_label(op), "%s at %s: %s; report this to its vendor",
			  t->name, op->point->info->name, op->err.text);
		v = KEEL_FAIL;
	}
	if (v == KEEL_FAIL)
		v = tap_failed(op, t);
	if (v == KEEL_REJECT && op->err.code == 0)
		op->err.code = PBSE_HOOK_REJECT;
	return v;
}

/* ---- the chain -------------------------------------------------------------------------------------- */
/* In a replay, or where a bit of `off` is set: it may be passed over, or, benched, refuse what it guards. */
static COLD keel_verdict tap_call_maybe(struct op *op, struct tap *t)
{
	if ((t->off & TAP_GONE) || (op->replay ? !is_replayed(op->hooks, t) : (t->off & TAP_QUIET) != 0))
		return KEEL_NEXT;
	if ((t->off & TAP_FILTERED) && !filter_passes(op, t))
		return KEEL_NEXT;
	if (!(t->off & TAP_BENCHED))
		return tap_call(op, t);
	if (t->policy != KEEL_ON_FAIL_REJECT)
		return KEEL_NEXT;
	err_set(&op->err, PBSE_HOOKERROR,
		"%s was too slow or broken and is not called any more; restart its module", t->name);
	return KEEL_REJECT;
}

/* Returns the verdict once holds and `v` agree: WAIT needs a hold, and any other verdict cancels those taken. */
static COLD keel_verdict verdict_settle(struct op *op, keel_verdict v)
{
	struct keel_err kept = op->err;

	if (v == KEEL_WAIT && op->holds != NULL)
		return op_resolve(op);
	if (v == KEEL_WAIT) {
		err_set(&op->err, 0, "it answered WAIT and took no hold");
		return KEEL_FAIL;
	}
	holds_end(op, KEEL_CANCEL_STOPPING);
	op_resolve(op);
	op->err = kept;
	return v;
}

keel_verdict op_run(struct op *op)
{
	const struct chain *c = op->chain;

	for (; op->at < c->n; op->at++) {
		struct tap *t = c->tap[op->at];
		keel_verdict v = likely((t->off | op->replay) == 0) ? tap_call(op, t) : tap_call_maybe(op, t);

		if (likely(v == KEEL_NEXT && op->holds == NULL))
			continue;
		if (v == KEEL_WAIT || op->holds != NULL)
			v = verdict_settle(op, v);
		v = verdict_judge(op, t, v);
		if (v != KEEL_NEXT)
			return v;
	}
	return KEEL_NEXT;
}

keel_verdict op_run_on(struct op *op, keel_verdict v)
{
	v = verdict_judge(op, op->chain->tap[op->at], v);
	if (v != KEEL_NEXT)
		return v;
	op->at++;
	return op_run(op);
}

/* ---- the outcome ------------------------------------------------------------------------------------ */
struct settled {
	struct settled *next;
	struct owner *owner;
	keel_outcome_fn *fn;
	void *arg;
};

int32_t call_settled(struct keel_call *c, keel_outcome_fn *fn, void *arg)
{
	struct op *op = op_of(c);
	struct settled *s;

	if (fn == NULL || (op->point->kind != KEEL_GATE && op->point->kind != KEEL_ASK))
		return -EINVAL;
	s = malloc(sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	*s = (struct settled){ .next = op->settled, .owner = owner_of(c->mod), .fn = fn, .arg = arg };
	op->settled = s;
	s->owner->live++;
	return 0;
}

static void done_call(struct owner *raiser, keel_outcome_fn *done, void *arg, const struct keel_outcome *outcome)
{
	if (done == NULL)
		return;
	if (raiser == &raiser->parts->hooks->self) { /* the kernel */
		done(&raiser->pub, arg, outcome);
		return;
	}
	CRUMB_CALL(raiser, "done() of a raise", NULL, done(&raiser->pub, arg, outcome));
}

static void outcome_report(struct op *op, keel_verdict v)
{
	const bool accepted = v == KEEL_NEXT || v == KEEL_DONE;
	const int32_t code = v == KEEL_REJECT ? op->err.code : 0;
	const struct keel_outcome outcome = {
		.size = sizeof(outcome), .verdict = v, .code = code,
		.text = accepted		? op->answer :
			op->err.text[0] != '\0' ? op->err.text : pbse_text(code),
		.by = v != KEEL_NEXT ? op->by->name : NULL,
	};
	struct settled *s;

	done_call(op->raiser, op->done, op->arg, &outcome);
	while ((s = op->settled) != NULL) {
		op->settled = s->next;
		s->owner->live--;
		CRUMB_CALL(s->owner, "settled callback", NULL, s->fn(&s->owner->pub, s->arg, &outcome));
		free(s);
	}
}

/* Ends the change set, then calls done() and the settled callbacks. */
void op_finish(struct op *op, keel_verdict v)
{
	struct hooks *h = op->hooks;

	if (op->changes != NULL && (v == KEEL_NEXT || v == KEEL_DONE))
		hooks_object(h)->commit(op->changes);
	else if (op->changes != NULL)
		hooks_object(h)->discard(op->changes);
	op->changes = NULL;
	h->reporting++;
	op_leave(h, op);
	outcome_report(op, v);
	free(op->answer);
	h->reporting--;
	if (h->retired != NULL)
		chains_sweep(h);
}

/* ---- raise ------------------------------------------------------------------------------------------ */
/* No tap is called. `why` NULL: accepted. Kept out of hook_raise(), which needs no stack without it. */
__attribute__((noinline)) static keel_verdict raise_end(struct hooks *h, struct keel_mod *m, const struct keel_raise *r,
							const char *why)
{
	const struct keel_outcome outcome = { .size = sizeof(outcome), .text = why,
					      .verdict = why != NULL ? KEEL_FAIL : KEEL_NEXT };
	const struct point *p = point_get(h, r->point);

	if (why != NULL)
		hooks_log(h, KEEL_LOG_ERROR, p != NULL ? p->info->name : NULL,
			  "module %s raised point %u: %s", m->name, r->point, why);
	if (r->changes != NULL && why != NULL)
		hooks_object(h)->discard(r->changes);
	else if (r->changes != NULL)
		hooks_object(h)->commit(r->changes);
	done_call(owner_of(m), r->done, r->arg, &outcome);
	return outcome.verdict;
}

static keel_verdict raise_chain(struct hooks *h, struct keel_mod *m, struct point *p, const struct keel_raise *r)
{
	union any_event room;
	keel_verdict v;
	struct op op;

	op_init(&op, h, p, event_whole(p, r->event, &room));
	op.changes = r->changes;
	op.req = r->req;
	op.raiser = owner_of(m);
	op.done = r->done;
	op.arg = r->arg;
	op_enter(h, &op);
	v = op_run(&op);
	if (v == KEEL_WAIT)
		return op_park(&op);
	if (op.changes == NULL && op.done == NULL && op.answer == NULL && op.settled == NULL)
		op_leave(h, &op);
	else
		op_finish(&op, v);
	return v;
}

/* For a caller that was built with an older, shorter keel_raise. */
static __attribute__((noinline)) keel_verdict raise_short(struct keel_mod *m, const struct keel_raise *theirs)
{
	struct keel_raise r;

	KEEL_SIZED(&r, theirs);
	return hook_raise(m, &r);
}

keel_verdict hook_raise(struct keel_mod *m, const struct keel_raise *r)
{
	struct hooks *h = hooks_of(m);
	struct point *p;

	if (unlikely(r->size < sizeof(*r)))
		return raise_short(m, r);
	p = r->point < KEEL_POINT_MAX ? &h->point[r->point] : &h->point[0];
	if (unlikely(p->kind != KEEL_GATE && p->kind != KEEL_ASK))
		return raise_end(h, m, r, "it is neither a GATE nor an ASK");
	if (p->chain == NULL)
		return r->changes == NULL && r->done == NULL ? KEEL_NEXT : raise_end(h, m, r, NULL);
	if (unlikely(h->top != NULL && h->top->depth >= DEPTH_MAX))
		return raise_end(h, m, r, "operations are nested too deeply");
	return raise_chain(h, m, p, r);
}

/* ---- FOLD ----------------------------------------------------------------------------------------- */
int64_t hooks_fold(struct hooks *h, uint32_t point, const void *event, char *buf, uint32_t len)
{
	struct point *p = point < KEEL_POINT_MAX ? &h->point[point] : NULL;
	union any_event room;
	struct buf text;
	struct op op;

	if (buf != NULL && len > 0)
		buf[0] = '\0';
	if (p == NULL || p->chain == NULL || p->kind != KEEL_FOLD)
		return 0;
	if (h->top != NULL && h->top->depth >= DEPTH_MAX) {
		hooks_log(h, KEEL_LOG_ERROR, p->info->name, "%s was raised too deep inside others", p->info->name);
		return 0;
	}
	op_init(&op, h, p, event_whole(p, event, &room));
	buf_init(&text);
	op.text = &text;
	op_enter(h, &op);
	op_run(&op);
	op_leave(h, &op);
	if (buf != NULL && len > 0 && text.len > 0 && !text.failed)
		snprintf(buf, len, "%s", text.data);
	buf_fini(&text);
	return op.sum;
}
