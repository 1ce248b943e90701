/* SPDX-License-Identifier: Apache-2.0
 *
 * operation.c - raise a GATE or an ASK, add up a FOLD.
 *
 * An operation lives on the C stack of raise(); nothing is allocated unless a tap waits. Then it moves
 * to the heap (park.c), and raise() returns KEEL_WAIT.
 */
#include <stdio.h>

#include "hook/quick.h"
#include "keel/sized.h"

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
	if (unlikely(r->point >= KEEL_POINT_OWN) && !own_may_raise(h, r->point, owner_of(m)))
		return raise_refused(h, m, r, "it is not a point of this module");

	if (unlikely(p->kind != KEEL_GATE && p->kind != KEEL_ASK))
		return raise_refused(h, m, r, "it is neither a GATE nor an ASK");
	if (p->chain == NULL)
		return r->changes == NULL && r->done == NULL ? KEEL_NEXT : raise_untapped(h, m, r);
	if (unlikely(h->top != NULL && h->top->depth >= DEPTH_MAX))
		return raise_refused(h, m, r, "operations are nested too deeply");
	return raise_chain(h, m, p, r);
}

/* ---- FOLD ----------------------------------------------------------------------------------------- */
static int64_t fold_chain(struct hooks *h, struct point *p, const void *event, struct buf *text)
{
	union any_event room;
	struct outcome out = { .verdict = KEEL_NEXT };
	struct op op;

	op_init(&op, h, p, event_whole(p, event, &room));
	op.text = text;
	op_enter(h, &op);
	op_run(&op, &out);
	op_leave(h, &op);
	return op.sum;
}

int64_t hooks_fold(struct hooks *h, uint32_t point, const void *event, char *buf, uint32_t len)
{
	struct point *p = point < KEEL_POINT_MAX ? &h->point[point] : NULL;
	struct buf text;
	int64_t sum;

	if (buf != NULL && len > 0)
		buf[0] = '\0';
	if (p == NULL || p->chain == NULL || p->kind != KEEL_FOLD)
		return 0;
	if (h->top != NULL && h->top->depth >= DEPTH_MAX) {
		hooks_log(h, KEEL_LOG_ERROR, p->info->name, "%s was raised too deep inside others",
			  p->info->name);
		return 0;
	}
	buf_init(&text);
	sum = fold_chain(h, p, event, &text);
	if (buf != NULL && len > 0 && text.len > 0 && !text.failed)
		snprintf(buf, len, "%s", text.data);
	buf_fini(&text);
	return sum;
}
