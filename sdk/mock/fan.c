/* SPDX-License-Identifier: Apache-2.0
 *
 * fan.c - several operations as children of one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

struct child {
	struct fan *fan;
	keel_outcome_fn *done;
	void *arg;
	struct keel_outcome outcome;
};

struct fan {
	struct mod *mod;
	struct keel_fan spec;
	struct keel_hold *hold;
	uint32_t missing; /* verdicts; one more while the children are raised */
	struct keel_fan_result result;
	const struct keel_outcome **outcomes;
	struct child child[];
};

static void fan_free(struct fan *f)
{
	for (uint32_t i = 0; i < f->spec.n; i++) {
		free((char *)(uintptr_t)f->child[i].outcome.text);
		free((char *)(uintptr_t)f->child[i].outcome.by);
	}
	free(f->outcomes);
	free(f);
}

static void tell(struct fan *f)
{
	struct keel_fan_result *r = &f->result;

	*r = (struct keel_fan_result){ .size = sizeof(*r), .n = f->spec.n, .outcomes = f->outcomes };
	for (uint32_t i = 0; i < r->n; i++) {
		f->outcomes[i] = &f->child[i].outcome;
		if (verdict_rank(f->outcomes[i]->verdict) > verdict_rank(r->worst)) {
			r->worst = f->outcomes[i]->verdict;
			r->worst_at = i;
		}
	}
	if (f->spec.done != NULL)
		f->spec.done(&f->mod->pub, f->spec.arg, r);
}

static void child_done(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	struct child *c = arg;
	struct fan *f = c->fan;

	c->outcome = *out;
	c->outcome.text = out->text != NULL ? dup_text(out->text) : NULL;
	c->outcome.by = out->by != NULL ? dup_text(out->by) : NULL;
	if (c->done != NULL)
		c->done(m, c->arg, out);
	if (--f->missing > 0)
		return;
	tell(f);
	if (f->hold != NULL)
		hold_end(f->hold, 0);
	else
		fan_free(f);
}

/* ---- a tap waits ----------------------------------------------------------------------------------------- */
static keel_verdict answer(const struct fan *f, struct keel_call *c)
{
	const struct keel_outcome *worst = &f->child[f->result.worst_at].outcome;

	if (f->result.worst == KEEL_NEXT || f->result.worst == KEEL_DONE)
		return KEEL_NEXT;
	err_set(&((struct call *)c)->op->err, worst->code, "%s",
		worst->text != NULL ? worst->text : "a child failed");
	return f->result.worst;
}

static keel_verdict released(struct keel_call *c, void *arg)
{
	struct fan *f = arg;
	keel_verdict v = answer(f, c);

	fan_free(f);
	return v;
}

static void abort_children(struct fan *f, int32_t reason)
{
	struct op *op;

	DL_FOREACH(mock_of(f->mod)->parked, op)
		if (op->done == child_done && ((struct child *)op->arg)->fan == f)
			op_abort(op, reason);
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct fan *f = arg;

	(void)c;
	f->hold = NULL;
	if (f->missing == 0)
		fan_free(f);
	else
		abort_children(f, reason);
}

static keel_verdict wait_for(struct fan *f)
{
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = f->spec.why,
					     .timeout_ms = f->spec.timeout_ms, .resume = released,
					     .cancel = cancelled, .arg = f };
	keel_verdict v = KEEL_WAIT;

	if (f->spec.call != NULL)
		v = hold_take(f->spec.call, &opts, &f->hold);
	if (v != KEEL_WAIT)
		abort_children(f, KEEL_CANCEL_STOPPING);
	else if (f->hold != NULL)
		f->hold->could_end = true; /* its end is this host's business */
	f->missing--;
	return v;
}

keel_verdict fan_raise(struct mod *m, const struct keel_fan *said)
{
	struct keel_fan spec = { 0 };
	keel_verdict v;
	struct fan *f;

	memcpy(&spec, said, said->size < sizeof(spec) ? said->size : sizeof(spec));
	f = make(sizeof(*f) + spec.n * sizeof(f->child[0]));
	*f = (struct fan){ .mod = m, .spec = spec, .missing = spec.n + 1 };
	f->outcomes = make((spec.n + 1) * sizeof(*f->outcomes));
	for (uint32_t i = 0; i < spec.n; i++) {
		const char *at = (const char *)spec.children + (size_t)i * spec.children[0].size;
		struct keel_raise r = { 0 };

		memcpy(&r, at, spec.children[0].size < sizeof(r) ? spec.children[0].size : sizeof(r));
		f->child[i] = (struct child){ .fan = f, .done = r.done, .arg = r.arg };
		r.done = child_done;
		r.arg = &f->child[i];
		op_raise(m, &r);
	}
	if (f->missing > 1)
		return wait_for(f);
	f->missing = 0;
	tell(f);
	v = spec.call != NULL ? answer(f, spec.call) : f->result.worst;
	fan_free(f);
	return v;
}
