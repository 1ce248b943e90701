/* SPDX-License-Identifier: Apache-2.0
 *
 * fan.c - several operations as children of one parent, which goes on when all have verdicts.
 *
 *   fan() -> raise() each child -> ... the last verdict ... -> done() -> the parent's hold is released
 *         -> the parent's hold is cancelled -> children that wait are aborted -> ... -> done()
 *
 * A fan lives until its last child has its verdict and its hold, if it took one, has been told.
 */
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"
#include "keel/sized.h"
#include "util/err.h"

struct row {
	struct fan *fan;
	struct keel_outcome outcome; /* its texts are owned */
	keel_outcome_fn *done;       /* the child's own */
	void *arg;
};

struct fan {
	struct hooks *hooks;
	struct keel_mod *owner;
	keel_fan_fn *done;
	void *arg;
	struct keel_hold *hold; /* of the parent, until it is told */
	uint32_t n, open;       /* open: children without a verdict, and one while they are raised */
	struct keel_fan_result result;
	const struct keel_outcome **outcomes; /* owned; those of the rows */
	struct row row[];
};

static void fan_free(struct fan *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		free((char *)(uintptr_t)f->row[i].outcome.text);
		free((char *)(uintptr_t)f->row[i].outcome.by);
	}
	free(f->outcomes);
	free(f);
}

/* ---- verdicts ------------------------------------------------------------------------------------ */
static void judge(struct fan *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (verdict_rank(f->row[i].outcome.verdict) <= verdict_rank(f->result.worst))
			continue;
		f->result.worst = f->row[i].outcome.verdict;
		f->result.worst_at = i;
	}
}

static void tell(struct fan *f)
{
	if (f->done == NULL)
		return;
	f->result.size = sizeof(f->result);
	f->result.n = f->n;
	f->result.outcomes = f->outcomes;
	f->done(f->owner, f->arg, &f->result);
}

/* The last verdict is there. True: and nobody needs the fan any more. */
static bool over(struct fan *f)
{
	judge(f);
	tell(f);
	if (f->hold != NULL)
		hold_release(f->hold); /* it goes on in fan_released() */
	return f->hold == NULL;
}

static char *copied(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

static void child_done(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	struct row *r = arg;
	struct fan *f = r->fan;

	r->outcome = (struct keel_outcome){ .size = sizeof(r->outcome), .verdict = out->verdict,
					    .code = out->code, .text = copied(out->text),
					    .by = copied(out->by) };
	if (r->done != NULL)
		r->done(m, r->arg, out);
	if (--f->open == 0 && over(f))
		fan_free(f);
}

/* ---- a tap waits ------------------------------------------------------------------------------------ */
/* What the tap that waited answers, in the words of the worst child. */
static keel_verdict answer(const struct fan *f, struct keel_call *c)
{
	const struct keel_outcome *worst = &f->row[f->result.worst_at].outcome;
	struct op *op = (struct op *)c;

	if (f->result.worst == KEEL_NEXT || f->result.worst == KEEL_DONE)
		return KEEL_NEXT;
	err_set(&op->err, worst->code, "%s", worst->text != NULL ? worst->text : "a child failed");
	return f->result.worst;
}

static keel_verdict fan_released(struct keel_call *c, void *arg)
{
	struct fan *f = arg;
	keel_verdict v = answer(f, c);

	fan_free(f);
	return v;
}

static void abort_children(struct fan *f, int32_t reason)
{
	struct op *op;

	for (op = f->hooks->parked; op != NULL; op = op->next) {
		if (op->done == child_done && ((const struct row *)op->arg)->fan == f)
			op_abort(op, reason);
	}
}

static void fan_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct fan *f = arg;

	(void)c;
	f->hold = NULL;
	if (f->open == 0)
		fan_free(f);
	else
		abort_children(f, reason);
}

static keel_verdict wait_for(struct fan *f, const struct keel_fan *spec)
{
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = spec->why,
					     .timeout_ms = spec->timeout_ms, .resume = fan_released,
					     .cancel = fan_cancelled, .arg = f };

	if (spec->call == NULL || hold_take(spec->call, &opts, &f->hold) == KEEL_WAIT)
		return KEEL_WAIT;
	abort_children(f, KEEL_CANCEL_STOPPING);
	return KEEL_FAIL;
}

/* ---- raising ----------------------------------------------------------------------------------------- */
static void raise_child(struct fan *f, uint32_t i, const char *at, uint32_t size)
{
	struct keel_raise r = { 0 };

	memcpy(&r, at, size < sizeof(r) ? size : sizeof(r));
	f->row[i] = (struct row){ .fan = f, .done = r.done, .arg = r.arg };
	r.size = sizeof(r);
	r.done = child_done;
	r.arg = &f->row[i];
	f->open++;
	hook_raise(f->owner, &r);
}

static struct fan *fan_create(struct keel_mod *m, const struct keel_fan *spec)
{
	struct fan *f = calloc(1, sizeof(*f) + spec->n * sizeof(f->row[0]));

	if (f == NULL)
		return NULL;
	f->outcomes = calloc(spec->n + 1, sizeof(struct keel_outcome *));
	if (f->outcomes == NULL) {
		free(f);
		return NULL;
	}
	for (uint32_t i = 0; i < spec->n; i++)
		f->outcomes[i] = &f->row[i].outcome;
	f->hooks = hooks_of(m);
	f->owner = m;
	f->done = spec->done;
	f->arg = spec->arg;
	f->n = spec->n;
	f->open = 1; /* so that it is not over while we are handing out */
	return f;
}

/* Nothing is raised: what the children gave is dropped, and everybody is told. */
static keel_verdict refuse(struct keel_mod *m, const struct keel_fan *spec, uint32_t stride)
{
	static const char why[] = "no memory for a fan of operations";
	const struct keel_outcome out = { .size = sizeof(out), .verdict = KEEL_FAIL, .text = why };
	const struct keel_fan_result result = { .size = sizeof(result), .worst = KEEL_FAIL };

	for (uint32_t i = 0; i < spec->n; i++) {
		struct keel_raise r = { 0 };

		memcpy(&r, (const char *)spec->children + (size_t)i * stride,
		       stride < sizeof(r) ? stride : sizeof(r));
		if (r.changes != NULL)
			hooks_object(hooks_of(m))->discard(r.changes);
		if (r.done != NULL)
			r.done(m, r.arg, &out);
	}
	if (spec->done != NULL)
		spec->done(m, spec->arg, &result);
	if (spec->call != NULL)
		err_set(&((struct op *)spec->call)->err, 0, "%s", why);
	return KEEL_FAIL;
}

keel_verdict hook_fan(struct keel_mod *m, const struct keel_fan *said)
{
	struct keel_fan spec;
	uint32_t stride;
	keel_verdict v;
	struct fan *f;

	KEEL_SIZED(&spec, said);
	stride = spec.n > 0 ? spec.children[0].size : 0;
	f = fan_create(m, &spec);
	if (f == NULL)
		return refuse(m, &spec, stride);
	for (uint32_t i = 0; i < spec.n; i++)
		raise_child(f, i, (const char *)spec.children + (size_t)i * stride, stride);
	if (f->open > 1) {
		v = wait_for(f, &spec);
		f->open--;
		return v;
	}
	f->open = 0;
	over(f);
	v = spec.call != NULL ? answer(f, spec.call) : f->result.worst;
	fan_free(f);
	return v;
}
