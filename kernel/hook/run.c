/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - walk an operation through its chain, and end it.
 *
 * A tap's verdict is checked here: does the kind of the point allow it, does its fail policy turn an error into a
 * refusal, did a WAIT take a hold. Taps never see each other's verdicts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hook/quick.h"
#include "util/err.h"

const char *op_label(const struct op *op)
{
	const char *id = event_id(op->point, op->event);

	return id != NULL ? id : op->point->info->name;
}

void op_left(struct hooks *h, const struct op *op)
{
	if (h->notes != NULL && !op->from_queue)
		notes_drain(h);
	if (h->top != NULL)
		return;
	if (h->retired != NULL)
		chains_free(h);
	if (h->chores & CHORE_WAKE) {
		h->chores &= ~(uint32_t)CHORE_WAKE;
		ops_wake(h);
	}
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

static const char *policy_text(const struct tap *t)
{
	return t->policy == KEEL_ON_FAIL_REJECT ? "the request is refused" :
	       t->policy == KEEL_ON_FAIL_BENCH  ? "it is not called any more until a reload" :
						  "it is skipped";
}

/* Logs a failed call, with its duration when that was long. A refusal is always logged; records of skipped
 * failures are rate limited. */
static void log_failed(struct op *op, struct tap *t)
{
	struct hooks *h = op->hooks;
	char took[32] = "", more[48] = "";
	uint32_t unsaid = 0;

	if (t->policy == KEEL_ON_FAIL_SKIP &&
	    !may_say(&t->stat.failed, loop_now_ms(h->parts->loop), &unsaid))
		return;
	if (h->slow.tap == t && h->slow.number == tap_calls(t))
		snprintf(took, sizeof(took), " after %llu ms", (unsigned long long)(h->slow.ns / 1000000));
	if (unsaid > 0)
		snprintf(more, sizeof(more), "; %u more times since the last record", unsaid);
	hooks_log(h, KEEL_LOG_ERROR, op_label(op), "%s failed at %s%s: %s; %s%s", t->name,
		  op->point->info->name, took, op->err.text, policy_text(t), more);
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

static bool tap_reaches(const struct op *op, const struct tap *t)
{
	if (t->off & (op->special & OP_REPLAY ? TAP_GONE | TAP_BENCHED : ~(uint32_t)TAP_SCOPED))
		return false;
	return !(t->off & TAP_SCOPED) || scope_holds(op, t);
}

/* A tap that is skipped. Returns false, with *out, when it is benched and its fail policy refuses the operation. */
static COLD bool tap_benched(struct op *op, const struct tap *t, struct outcome *out)
{
	if ((t->off & TAP_GONE) || !(t->off & TAP_BENCHED) || t->policy != KEEL_ON_FAIL_REJECT)
		return true;
	if ((t->off & TAP_SCOPED) && !scope_holds(op, t))
		return true;
	err_set(&op->err, 0,
		"%s was too slow or broken and is not called any more; reload its module", t->name);
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
static keel_verdict chain_walk(struct op *op, bool answered, keel_verdict v, struct outcome *out)
{
	const struct chain *c = op->chain;

	for (; op->at < c->n; op->at++, answered = false) {
		struct tap *t = c->tap[op->at];

		if (!answered) {
			if (unlikely((t->off | op->special) != 0)) {
				if (!tap_reaches(op, t)) {
					if (!tap_benched(op, t, out))
						return out->verdict;
					continue;
				}
				v = op->special & OP_TIMED ? tap_call_inside(op, t) :
							     tap_call(op, t);
			} else {
				v = tap_call(op, t);
			}
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

/* ---- the end ------------------------------------------------------------------------------------ */
static void changes_end(struct op *op, bool accepted)
{
	const struct keel_object_api *object;

	if (op->changes == NULL)
		return;
	object = hooks_object(op->hooks);
	if (accepted)
		object->commit(op->changes);
	else
		object->discard(op->changes);
	op->changes = NULL;
}

static const char *outcome_text(const struct op *op, const struct outcome *out)
{
	if (out->verdict == KEEL_NEXT || out->verdict == KEEL_DONE)
		return op->answer;
	return op->err.text[0] != '\0' ? op->err.text : pbse_text(out->code);
}

void done_call(struct owner *raiser, keel_outcome_fn *done, void *arg, const struct keel_outcome *outcome)
{
	struct crumb crumb;

	if (done == NULL)
		return;
	if (raiser == &raiser->parts->hooks->self) {
		done(&raiser->pub, arg, outcome); /* of the kernel */
		return;
	}
	crumb_begin(&crumb, raiser, "done() of a raise", NULL);
	done(&raiser->pub, arg, outcome);
	crumb_end(&crumb);
}

static void outcome_report(struct op *op, const struct outcome *out)
{
	const struct keel_outcome outcome = {
		.size = sizeof(outcome), .verdict = out->verdict, .code = out->code,
		.text = outcome_text(op, out), .by = out->by != NULL ? out->by->name : NULL,
	};

	done_call(op->raiser, op->done, op->arg, &outcome);
	settled_end(op, &outcome);
}

/* Ends the change set, then calls done() and the settled callbacks. The reference keeps the chain, and the tap that
 * decided, after the operation has left the stack. */
void op_finish(struct op *op, const struct outcome *out)
{
	struct chain *kept = op->done != NULL || op->settled != NULL ? chain_ref(op->chain) : NULL;

	changes_end(op, out->verdict == KEEL_NEXT || out->verdict == KEEL_DONE);
	op_leave(op->hooks, op);
	if (kept != NULL)
		outcome_report(op, out);
	if (op->answer != NULL)
		free(op->answer);
	chain_unref(kept);
}
