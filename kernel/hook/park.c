/* SPDX-License-Identifier: Apache-2.0
 *
 * park.c - operations that wait: on the heap, continued from the loop.
 *
 *   raise() -> op_park() -> ... a hold ends ... -> op_ready() -> turn() -> op_resolve() -> the chain goes on
 *                                                                                       -> or waits again
 *
 * The objects of the event are looked up again first. When one is gone the remaining holds are cancelled and the
 * operation fails: no tap sees a dangling handle.
 */
#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "hook/quick.h"
#include "util/err.h"

static const char *const reasons[] = {
	[KEEL_CANCEL_TIMEOUT] = "it took too long",
	[KEEL_CANCEL_CLIENT_GONE] = "the requester went away",
	[KEEL_CANCEL_OBJECT_GONE] = "what it was about is gone",
	[KEEL_CANCEL_STOPPING] = "its module is being stopped",
};

/* ---- callbacks of holds that have ended --------------------------------------------------------- */
/* Of several verdicts the one with the highest rank counts. */
static int verdict_rank(keel_verdict v)
{
	static const int by_verdict[] = { [KEEL_FAIL + 1] = 2, [KEEL_NEXT + 1] = 0,
					  [KEEL_DONE + 1] = 1, [KEEL_REJECT + 1] = 3,
					  [KEEL_WAIT + 1] = 0 };

	return v >= KEEL_FAIL && v <= KEEL_WAIT ? by_verdict[v + 1] : 2;
}

/* Calls resume or cancel of an ended hold, timed like a tap, and keeps the worst verdict in op->worst. */
static void hold_callback(struct op *op, const struct hold *hold)
{
	const struct keel_err kept = op->err;
	const struct keel_hold_opts *o = &hold->opts;
	int64_t begun_ns = loop_clock_ns(op->hooks->parts->loop);
	keel_verdict v = KEEL_FAIL;

	tap_prepare(op, hold->tap);
	crumb_drop(op);
	op->closed = op->abort != 0 || hold->reason != 0; /* cancel() takes no hold */
	if (hold->reason == 0)
		v = o->resume != NULL ? o->resume(&op->pub, o->arg) : KEEL_NEXT;
	else if (o->cancel != NULL)
		o->cancel(&op->pub, o->arg, hold->reason);
	op->closed = op->abort != 0;
	tap_took(op->hooks, hold->tap, begun_ns, 1);
	if (crumb_is_late)
		tap_late(op, hold->tap);
	hold->tap->calls_before++;
	crumb_top = op->crumb.outer;
	if (hold->reason != 0) {
		err_set(&op->err, 0, "'%s' was given up: %s", o->why, reasons[hold->reason]);
	} else if (v == KEEL_WAIT && op->n_open > 0) {
		v = KEEL_NEXT; /* it took a new hold, whose callback returns the verdict */
	} else if (v == KEEL_WAIT) {
		v = KEEL_FAIL;
		err_set(&op->err, 0, "it answered WAIT and took no hold");
	}
	if (verdict_rank(v) > verdict_rank(op->worst))
		op->worst = v;
	else
		op->err = kept;
}

/* Calls the callbacks of ended holds. Returns KEEL_WAIT while a hold is open, else the worst verdict. */
keel_verdict op_resolve(struct op *op)
{
	struct hold *hold = op->holds;
	keel_verdict worst;

	while (hold != NULL) {
		if (hold->open) {
			hold = hold->next;
			continue;
		}
		DL_DELETE(op->holds, hold);
		hold_callback(op, hold);
		hold_free(hold);
		hold = op->holds; /* the callback may have ended others, or taken new ones */
	}
	if (op->n_open > 0)
		return KEEL_WAIT;
	worst = op->worst;
	op->worst = KEEL_NEXT;
	return worst;
}

/* ---- parking ----------------------------------------------------------------------------------------- */
static void op_unready(struct op *op)
{
	if (op->ready)
		DL_DELETE2(op->hooks->ready, op, ready_prev, ready_next);
	op->ready = false;
}

static void op_free(struct op *op)
{
	struct hooks *h = op->hooks;

	op_unready(op);
	DL_DELETE(h->parked, op);
	DL_DELETE2(h->by_id[id_bucket(op_label(op))], op, twin_prev, twin);
	h->holds.parked--;
	op->raiser->live--;
	free(op->copy);
	free(op);
	if (h->retired != NULL)
		chains_sweep(h);
}

keel_verdict op_park(struct op *stack)
{
	struct hooks *h = stack->hooks;
	struct op *op = malloc(sizeof(*op));
	struct copy *copy = op != NULL ? copy_event(h, stack->point, stack->event) : NULL;
	struct hold *hold;

	if (copy == NULL) { /* its holds are cancelled, and it fails at once */
		free(op);
		stack->abort = KEEL_CANCEL_STOPPING;
		holds_end(stack, KEEL_CANCEL_STOPPING);
		op_resolve(stack);
		err_set(&stack->err, 0, "no memory to wait");
		stack->by = stack->chain->tap[stack->at];
		op_finish(stack, KEEL_FAIL);
		return KEEL_FAIL;
	}
	*op = *stack;
	op->sole = false;
	op->copy = copy;
	op->event = copy->event;
	op->parked = true;
	DL_FOREACH(op->holds, hold)
		hold->op = op;
	DL_APPEND(h->parked, op);
	DL_APPEND2(h->by_id[id_bucket(op_label(op))], op, twin_prev, twin);
	h->holds.parked++;
	op->raiser->live++;
	op_leave(h, stack);
	return KEEL_WAIT;
}

/* ---- continuing ----------------------------------------------------------------------------------------- */
static void op_continue(struct op *op)
{
	struct hooks *h = op->hooks;
	keel_verdict v;

	op_unready(op);
	if (op->abort == 0 && !copy_valid(h, op->copy))
		op_abort(op, KEEL_CANCEL_OBJECT_GONE);
	op_enter(h, op);
	v = op_resolve(op);
	if (v != KEEL_WAIT)
		v = op_run_on(op, v);
	if (v == KEEL_WAIT) {
		op_leave(h, op);
		return;
	}
	op_finish(op, v);
	op_free(op);
}

static void ops_continue(void *arg)
{
	struct hooks *h = arg;
	struct op *op;

	h->wake = NULL;
	while ((op = h->ready) != NULL)
		op_continue(op);
	notes_drain(h, true);
}

void ops_wake(struct hooks *h)
{
	if (h->wake != NULL)
		return;
	h->wake = loop_timer(h->parts->loop, 0, ops_continue, h);
	if (h->wake != NULL)
		return;
	h->chores = true;
	hooks_log(h, KEEL_LOG_ERROR, NULL, "no memory to continue operations; they go on with the next event");
}

void op_ready(struct op *op)
{
	if (!op->ready)
		DL_APPEND2(op->hooks->ready, op, ready_prev, ready_next);
	op->ready = true;
	ops_wake(op->hooks);
}

/* The operation cannot go on: holds that were released and not called back yet are cancelled, too. */
void op_abort(struct op *op, int32_t reason)
{
	struct hold *hold;

	op->abort = reason;
	op->closed = true;
	holds_end(op, reason);
	DL_FOREACH(op->holds, hold)
		hold->reason = reason;
	if (op->parked)
		op_ready(op);
}

/* ---- a requester or a module goes -------------------------------------------------------------------------- */
void hooks_client_gone(struct hooks *h, struct keel_req *req)
{
	struct op *op;

	for (op = h->top; op != NULL; op = op->outer) {
		if (op->req == req && !op->parked) {
			op->req = NULL;
			op->gone = true;
		}
	}
	DL_FOREACH(h->parked, op) {
		if (op->req != req)
			continue;
		op->req = NULL;
		op->gone = true;
		op_abort(op, KEEL_CANCEL_CLIENT_GONE);
	}
}

uint32_t hooks_parked(const struct hooks *h)
{
	return h->holds.parked;
}

void hooks_handled(struct hooks *h, const struct keel_req *req, uint32_t parked_before)
{
	struct op *newest = h->holds.parked == parked_before + 1 ? h->parked->prev : NULL;

	if (newest != NULL && newest->req == req)
		newest->sole = true;
}

bool hooks_sole(const struct hooks *h, const struct keel_req *req)
{
	const struct op *op;

	DL_FOREACH(h->parked, op) {
		if (op->req == req)
			return op->sole;
	}
	return false;
}

/* At the end of the engine, or when its first module goes: each parked operation fails. */
void ops_end(struct hooks *h)
{
	while (h->parked != NULL) {
		op_abort(h->parked, KEEL_CANCEL_STOPPING);
		op_continue(h->parked);
	}
	loop_timer_cancel(h->wake);
	h->wake = NULL;
}

int32_t hook_end(struct keel_mod *m, const void *arg)
{
	const struct owner *owner = owner_of(m);
	struct op *op;

	DL_FOREACH(owner->parts->hooks->parked, op) {
		if (op->raiser != owner || op->arg != arg || op->abort != 0)
			continue;
		op_abort(op, KEEL_CANCEL_OBJECT_GONE);
		return 0;
	}
	return -ENOENT;
}
