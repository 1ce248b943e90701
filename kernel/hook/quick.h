/* SPDX-License-Identifier: Apache-2.0
 *
 * quick.h - the few steps every call of every tap goes through; inline, because together they are to
 * cost no more than a handful of nanoseconds. tests/bench/bench_hook.c measures them.
 */
#ifndef KEELSON_HOOK_QUICK_H
#define KEELSON_HOOK_QUICK_H

#include "hook/inside.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define COLD __attribute__((noinline, cold)) /* so that the frame of its caller stays small, and needs no guard */

/* Leaves alone what only parked operations use, and the text: it would cost more than the rest. Field by field in the
 * order of the struct, which makes a few wide stores; a memset() would be a loop. */
static inline void op_init(struct op *op, struct hooks *h, struct point *p, const void *event)
{
	op->crumb.what = NULL;
	op->hooks = h;
	op->point = p;
	op->chain = p->chain;
	op->event = event;
	op->replay = 0;
	op->at = op->generation = 0;
	op->holds = NULL;
	op->n_open = 0;
	op->worst = KEEL_NEXT;
	op->abort = 0;
	op->parked = op->closed = op->gone = op->from_queue = op->ready = false;
	op->changes = NULL;
	op->req = NULL;
	op->raiser = NULL;
	op->done = NULL;
	op->arg = NULL;
	op->answer = NULL;
	op->sum = 0;
	op->text = NULL;
	op->settled = NULL;
}

static inline void op_enter(struct hooks *h, struct op *op)
{
	struct op *outer = h->top;

	op->outer = outer;
	op->depth = 1;
	if (outer != NULL)
		op->depth = outer->depth + 1;
	h->top = op;
}

static inline void op_leave(struct hooks *h, struct op *op)
{
	h->top = op->outer;
	if (unlikely(h->chores))
		op_left(h, op);
}

static inline void tap_prepare(struct op *op, const struct tap *t)
{
	struct keel_mod *m = &t->owner->pub;

	op->pub = (struct keel_call){ m->state, m->conf, m };
	op->err.code = 0;
	op->err.text[0] = '\0';
}

static inline void crumb_drop(struct op *op)
{
	op->crumb.outer = crumb_top;
	atomic_signal_fence(memory_order_release); /* the tick reads what it points to */
	crumb_top = &op->crumb;
}

static inline keel_verdict tap_call(struct op *op, struct tap *t)
{
	const struct crumb *outer = crumb_top;
	keel_verdict v;

	tap_prepare(op, t);
	crumb_drop(op);
	if (unlikely(--t->countdown == 0))
		v = tap_invoke_timed(op, t);
	else
		v = t->invoke(t, &op->pub, op->event);
	if (unlikely(crumb_is_late))
		tap_late(op, t);
	crumb_top = outer;
	return v;
}

#endif
