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
	notes_drain(h);
	if (h->top != NULL)
		return;
	h->chores = false;
	chains_sweep(h);
	if ((h->ready != NULL || h->notes != NULL) && h->wake == NULL) /* there was no memory for it */
		ops_wake(h);
}

/* ---- judging a verdict ----------------------------------------------------------------------- */
static COLD keel_verdict verdict_refused(struct op *op, const struct tap *t, keel_verdict v)
{
	err_set(&op->err, 0, "it answered %d, which a %s does not allow", v,
		kind_name(op->point->kind));
	hooks_log(op->hooks, KEEL_LOG_ERROR, op_label(op), "%s at %s: %s; report this to its vendor",
		  t->name, op->point->info->name, op->err.text);
	return KEEL_FAIL;
}

/* Logs a failed call, with its duration when that was long. A refusal is always logged; records of skipped
 * failures are rate limited. */
static void log_failed(struct op *op, struct tap *t)
{
	const char *then = t->policy == KEEL_ON_FAIL_REJECT ? "the request is refused" :
			   t->policy == KEEL_ON_FAIL_BENCH  ? "it is not called any more until its module is restarted" :
							      "it is skipped";
	struct hooks *h = op->hooks;
	char took[32] = "", more[48] = "";
	uint32_t unsaid = 0;

	if (t->policy == KEEL_ON_FAIL_SKIP &&
	    !may_say(&t->stat.failed, loop_now_ms(h->parts->loop), &unsaid))
		return;
	if (h->slow.tap == t && h->slow.number == tap_calls(t))
		snprintf(took, sizeof(took), " after %lld ms", (long long)(h->slow.ns / 1000000));
	if (unsaid > 0)
		snprintf(more, sizeof(more), "; %u more times since the last record", unsaid);
	hooks_log(h, KEEL_LOG_ERROR, op_label(op), "%s failed at %s%s: %s; %s%s", t->name,
		  op->point->info->name, took, op->err.text, then, more);
}

static COLD bool tap_failed(struct op *op, struct tap *t, struct outcome *out)
{
	t->stat.fails++;
	if (op->err.text[0] == '\0')
		err_set(&op->err, 0, "it gave no reason");
	if (t->policy == KEEL_ON_FAIL_BENCH)
		t->off |= TAP_BENCHED;
	log_failed(op, t);
	if (t->policy != KEEL_ON_FAIL_REJECT)
		return true;
	if (op->err.code == 0)
		op->err.code = PBSE_HOOKERROR;
	*out = (struct outcome){ KEEL_REJECT, op->err.code, t };
	return false;
}

/* Returns true to go on with the next tap; else the operation ends with *out. */
static bool verdict_judge(struct op *op, struct tap *t, keel_verdict v, struct outcome *out)
{
	if (v < KEEL_FAIL || v > KEEL_WAIT || !(op->point->allowed & VERDICT_BIT(v)))
		v = verdict_refused(op, t, v);
	if (v == KEEL_NEXT)
		return true;
	if (v == KEEL_FAIL)
		return tap_failed(op, t, out);
	if (v == KEEL_REJECT && op->err.code == 0)
		op->err.code = PBSE_HOOK_REJECT;
	*out = (struct outcome){ v, v == KEEL_REJECT ? op->err.code : 0, t };
	return false;
}

/* ---- the chain -------------------------------------------------------------------------------------- */
static bool tap_reaches(const struct op *op, const struct tap *t)
{
	if (t->off & (op->special & OP_REPLAY ? TAP_GONE | TAP_BENCHED : ~(uint32_t)TAP_FILTERED))
		return false;
	if ((op->special & OP_REPLAY) && !is_replayed(op->hooks, t))
		return false;
	return !(t->off & TAP_FILTERED) || filter_passes(op, t);
}

/* A tap that is skipped. Returns false, with *out, when it is benched and its fail policy refuses the operation. */
static COLD bool tap_benched(struct op *op, const struct tap *t, struct outcome *out)
{
	if ((t->off & TAP_GONE) || !(t->off & TAP_BENCHED) || t->policy != KEEL_ON_FAIL_REJECT)
		return true;
	if ((t->off & TAP_FILTERED) && !filter_passes(op, t))
		return true;
	err_set(&op->err, 0,
		"%s was too slow or broken and is not called any more; restart its module", t->name);
	op->err.code = PBSE_HOOKERROR;
	*out = (struct outcome){ KEEL_REJECT, PBSE_HOOKERROR, t };
	return false;
}

/* Returns the verdict once holds and `v` agree: WAIT needs a hold, and any other verdict cancels those taken. */
static COLD keel_verdict verdict_settle(struct op *op, keel_verdict v)
{
	if (v == KEEL_WAIT && op->holds != NULL)
		return op_resolve(op);
	if (v == KEEL_WAIT) {
		err_set(&op->err, 0, "it answered WAIT and took no hold");
		return KEEL_FAIL;
	}
	if (op->holds != NULL) {
		struct keel_err kept = op->err;

		holds_end(op, KEEL_CANCEL_STOPPING);
		op_resolve(op);
		op->err = kept;
	}
	return v;
}

/* Runs the chain from op->at on. When `answered`, that tap has returned `v` already. */
static inline keel_verdict chain_walk(struct op *op, bool answered, keel_verdict v, struct outcome *out)
{
	const struct chain *c = op->chain;

	for (; op->at < c->n; op->at++, answered = false) {
		struct tap *t = c->tap[op->at];

		if (!answered) {
			if (likely((t->off | op->special) == 0))
				v = tap_call(op, t, false);
			else if (tap_reaches(op, t))
				v = tap_call(op, t, op->special & OP_TIMED);
			else if (tap_benched(op, t, out))
				continue;
			else
				return out->verdict;
			if (likely(v == KEEL_NEXT && op->holds == NULL))
				continue;
			if (v == KEEL_WAIT || op->holds != NULL)
				v = verdict_settle(op, v);
		}
		if (v == KEEL_WAIT)
			return v;
		if (op->abort != 0) {
			*out = (struct outcome){ KEEL_FAIL, 0, t };
			return KEEL_FAIL;
		}
		if (!verdict_judge(op, t, v, out))
			return out->verdict;
	}
	return KEEL_NEXT;
}

keel_verdict op_run(struct op *op, struct outcome *out)
{
	return chain_walk(op, false, KEEL_NEXT, out);
}

keel_verdict op_run_on(struct op *op, keel_verdict v, struct outcome *out)
{
	return chain_walk(op, true, v, out);
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
	struct op *op = (struct op *)c;
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

static void outcome_report(struct op *op, const struct outcome *out, bool accepted)
{
	const struct keel_outcome outcome = {
		.size = sizeof(outcome), .verdict = out->verdict, .code = out->code,
		.text = accepted		? op->answer :
			op->err.text[0] != '\0' ? op->err.text : pbse_text(out->code),
		.by = out->by != NULL ? out->by->name : NULL,
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
void op_finish(struct op *op, const struct outcome *out)
{
	const bool accepted = out->verdict == KEEL_NEXT || out->verdict == KEEL_DONE;
	struct hooks *h = op->hooks;

	if (op->changes != NULL && accepted)
		hooks_object(h)->commit(op->changes);
	else if (op->changes != NULL)
		hooks_object(h)->discard(op->changes);
	op->changes = NULL;
	h->reporting++;
	op_leave(h, op);
	outcome_report(op, out, accepted);
	free(op->answer);
	h->reporting--;
	if (h->retired != NULL)
		chains_sweep(h);
}

/* ---- raise ------------------------------------------------------------------------------------------ */
static keel_verdict raise_over(struct keel_mod *m, const struct keel_raise *r, keel_verdict v, const char *text)
{
	const struct keel_outcome outcome = { .size = sizeof(outcome), .verdict = v, .text = text };

	done_call(owner_of(m), r->done, r->arg, &outcome);
	return v;
}

/* No tap, but a change set to commit or a done() to call. Kept out of hook_raise(), which needs no stack
 * without it. */
__attribute__((noinline)) static keel_verdict
raise_untapped(struct hooks *h, struct keel_mod *m, const struct keel_raise *r)
{
	if (r->changes != NULL)
		hooks_object(h)->commit(r->changes);
	return raise_over(m, r, KEEL_NEXT, NULL);
}

static keel_verdict raise_refused(struct hooks *h, struct keel_mod *m, const struct keel_raise *r,
				  const char *why)
{
	const struct point *p = point_get(h, r->point);

	hooks_log(h, KEEL_LOG_ERROR, p != NULL ? p->info->name : NULL,
		  "module %s raised point %u: %s", m->name, r->point, why);
	if (r->changes != NULL)
		hooks_object(h)->discard(r->changes);
	return raise_over(m, r, KEEL_FAIL, why);
}

static keel_verdict raise_chain(struct hooks *h, struct keel_mod *m, struct point *p,
				const struct keel_raise *r)
{
	union any_event room;
	struct outcome out = { .verdict = KEEL_NEXT };
	struct op op;

	op_init(&op, h, p, event_whole(p, r->event, &room));
	op.changes = r->changes;
	op.req = r->req;
	op.raiser = owner_of(m);
	op.done = r->done;
	op.arg = r->arg;
	op_enter(h, &op);
	if (op_run(&op, &out) == KEEL_WAIT)
		return op_park(&op);
	if (op.changes == NULL && op.done == NULL && op.answer == NULL && op.settled == NULL)
		op_leave(h, &op);
	else
		op_finish(&op, &out);
	return out.verdict;
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
		return raise_refused(h, m, r, "it is neither a GATE nor an ASK");
	if (p->chain == NULL)
		return r->changes == NULL && r->done == NULL ? KEEL_NEXT : raise_untapped(h, m, r);
	if (unlikely(h->top != NULL && h->top->depth >= DEPTH_MAX))
		return raise_refused(h, m, r, "operations are nested too deeply");
	return raise_chain(h, m, p, r);
}

/* ---- FOLD ----------------------------------------------------------------------------------------- */
int64_t hooks_fold(struct hooks *h, uint32_t point, const void *event, char *buf, uint32_t len)
{
	struct point *p = point < KEEL_POINT_MAX ? &h->point[point] : NULL;
	struct outcome out = { .verdict = KEEL_NEXT };
	union any_event room;
	struct buf text;
	struct op op;

	if (buf != NULL && len > 0)
		buf[0] = '\0';
	if (p == NULL || p->chain == NULL || p->kind != KEEL_FOLD)
		return 0;
	if (h->top != NULL && h->top->depth >= DEPTH_MAX) {
		hooks_log(h, KEEL_LOG_ERROR, p->info->name, "%s was raised too deep inside others",
			  p->info->name);
		return 0;
	}
	op_init(&op, h, p, event_whole(p, event, &room));
	buf_init(&text);
	op.text = &text;
	op_enter(h, &op);
	op_run(&op, &out);
	op_leave(h, &op);
	if (buf != NULL && len > 0 && text.len > 0 && !text.failed)
		snprintf(buf, len, "%s", text.data);
	buf_fini(&text);
	return op.sum;
}
