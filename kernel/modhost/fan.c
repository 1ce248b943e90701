/* SPDX-License-Identifier: Apache-2.0
 *
 * fan.c - several operations as children of one, over raise(): what kernel/hook/fan.c does in the daemon.
 *
 *   fan() -> raise() each child -> ... the last verdict ... -> done() -> the hold of the parent is released
 *         -> the hold is cancelled -> children that wait are abandoned -> ... -> done()
 */
#include <stdlib.h>
#include <string.h>

#include "keel/sized.h"
#include "modhost/host.h"

struct child {
	struct fan *fan;
	struct keel_outcome outcome; /* its texts are owned */
	keel_outcome_fn *done;       /* the child's own */
	void *arg;
};

struct fan {
	struct keel_mod *mod;
	keel_fan_fn *done;
	void *arg;
	struct keel_hold *hold; /* of the parent, until it is told */
	uint32_t n, open;       /* open: children without a verdict, and one while they are raised */
	struct keel_fan_result result;
	const struct keel_outcome **outcomes;
	struct child child[];
};

static void fan_free(struct fan *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		free((char *)(uintptr_t)f->child[i].outcome.text);
		free((char *)(uintptr_t)f->child[i].outcome.by);
	}
	free(f->outcomes);
	free(f);
}

/* ---- verdicts ------------------------------------------------------------------------------------------ */
/* The higher one counts. */
static int rank(keel_verdict v)
{
	return v == KEEL_REJECT ? 3 : v == KEEL_DONE ? 1 : v == KEEL_NEXT ? 0 : 2;
}

static void tell(struct fan *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (rank(f->child[i].outcome.verdict) <= rank(f->result.worst))
			continue;
		f->result.worst = f->child[i].outcome.verdict;
		f->result.worst_at = i;
	}
	f->result.size = sizeof(f->result);
	f->result.n = f->n;
	f->result.outcomes = f->outcomes;
	if (f->done != NULL)
		f->done(f->mod, f->arg, &f->result);
}

static char *copied(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

static void child_done(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	struct child *c = arg;
	struct fan *f = c->fan;

	c->outcome = (struct keel_outcome){ .size = sizeof(c->outcome), .verdict = o->verdict, .code = o->code,
					    .text = copied(o->text), .by = copied(o->by) };
	if (c->done != NULL)
		c->done(m, c->arg, o);
	if (--f->open > 0)
		return;
	tell(f);
	if (f->hold != NULL)
		host_call.release(f->hold); /* it goes on in released() */
	else
		fan_free(f);
}

/* ---- a tap waits ---------------------------------------------------------------------------------------- */
/* What the tap that waited answers, in the words of the worst child. */
static keel_verdict answer(const struct fan *f, struct keel_call *c)
{
	const struct keel_outcome *worst = &f->child[f->result.worst_at].outcome;
	const char *text = worst->text != NULL ? worst->text : "a child failed";

	if (f->result.worst == KEEL_REJECT)
		return host_call.reject(c, worst->code, "%s", text);
	return f->result.worst == KEEL_FAIL ? host_call.fail(c, "%s", text) : KEEL_NEXT;
}

static keel_verdict released(struct keel_call *c, void *arg)
{
	struct fan *f = arg;
	keel_verdict v = answer(f, c);

	fan_free(f);
	return v;
}

static bool is_of(const void *arg, const void *fan)
{
	return ((const struct child *)arg)->fan == fan;
}

static void abandon(struct fan *f, int32_t reason)
{
	raise_abandon(host_of(f->mod), child_done, is_of, f, reason);
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct fan *f = arg;

	(void)c;
	f->hold = NULL;
	if (f->open == 0)
		fan_free(f);
	else
		abandon(f, reason);
}

static keel_verdict wait_for(struct fan *f, const struct keel_fan *spec)
{
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = spec->why, .timeout_ms = spec->timeout_ms,
					     .resume = released, .cancel = cancelled, .arg = f };

	if (spec->call == NULL || host_call.hold(spec->call, &opts, &f->hold) == KEEL_WAIT)
		return KEEL_WAIT;
	abandon(f, KEEL_CANCEL_STOPPING);
	return KEEL_FAIL;
}

/* ---- raising ---------------------------------------------------------------------------------------------- */
static void raise_child(struct fan *f, uint32_t i, const char *at, uint32_t size)
{
	struct keel_raise r = { 0 };

	memcpy(&r, at, size < sizeof(r) ? size : sizeof(r));
	f->child[i] = (struct child){ .fan = f, .done = r.done, .arg = r.arg };
	r.size = sizeof(r);
	r.done = child_done;
	r.arg = &f->child[i];
	f->open++;
	raise_point(f->mod, &r);
}

static struct fan *fan_create(struct keel_mod *m, const struct keel_fan *spec)
{
	struct fan *f = calloc(1, sizeof(*f) + spec->n * sizeof(f->child[0]));

	if (f == NULL || (f->outcomes = calloc(spec->n + 1, sizeof(*f->outcomes))) == NULL)
		abort(); /* it is started again */
	for (uint32_t i = 0; i < spec->n; i++)
		f->outcomes[i] = &f->child[i].outcome;
	f->mod = m;
	f->done = spec->done;
	f->arg = spec->arg;
	f->n = spec->n;
	f->open = 1; /* so that it is not over while we are handing out */
	return f;
}

keel_verdict raise_fan(struct keel_mod *m, const struct keel_fan *said)
{
	struct keel_fan spec;
	uint32_t stride;
	keel_verdict v;
	struct fan *f;

	KEEL_SIZED(&spec, said);
	stride = spec.n > 0 ? spec.children[0].size : 0;
	f = fan_create(m, &spec);
	for (uint32_t i = 0; i < spec.n; i++)
		raise_child(f, i, (const char *)spec.children + (size_t)i * stride, stride);
	if (f->open > 1) {
		v = wait_for(f, &spec);
		f->open--;
		return v;
	}
	f->open = 0;
	tell(f);
	v = spec.call != NULL ? answer(f, spec.call) : f->result.worst;
	fan_free(f);
	return v;
}
