/* SPDX-License-Identifier: Apache-2.0
 *
 * proxy.c - taps of a module in another process: they are calls of one function; and a record of recent events.
 *
 * A tap inside the daemon tests its condition and takes its hold without a gap. In another process the awaited event
 * may be raised between the two. So while a call is under way there, events about objects are recorded: a hold
 * whose event was raised since its tap was called is released at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/inside.h"
#include "util/text.h"

void hooks_proxy(struct hooks *h, struct owner *owner, keel_any_fn *fn,
		 void *(*arg_of)(void *arg, uint32_t point, const char *tap), void *arg)
{
	size_t skip = strlen(owner->pub.name) + 1;

	FOR_EACH_TAP(h, t) {
		if (t->owner != owner)
			continue;
		t->invoke = invoke_any;
		t->fn.generic = fn;
		t->arg = arg_of(arg, t->point, t->name + skip);
	}
}

void hooks_bench(struct hooks *h, struct owner *owner)
{
	taps_mark(h, owner, TAP_BENCHED, true);
}

void hook_bench(struct keel_mod *m)
{
	hooks_bench(owner_of(m)->parts->hooks, owner_of(m));
}

struct keel_call *hooks_hold_call(struct keel_hold *hold)
{
	return &((struct hold *)hold)->op->pub;
}

const char *hooks_call_why(const struct keel_call *c)
{
	return ((const struct op *)c)->err.text;
}

/* ---- operations raised in another process --------------------------------------------------------------- */
void hooks_raised_end(struct hooks *h, keel_outcome_fn *done, bool (*is_to_end)(const void *arg), int32_t reason)
{
	struct op *op;

	DL_FOREACH(h->parked, op) {
		if (op->done == done && op->abort == 0 && is_to_end(op->arg))
			op_abort(op, reason);
	}
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

static void requester_leave(struct op *op)
{
	op->req = NULL;
	op->gone = true; /* so that it does not get the rights of the system */
}

void hooks_requester_left(struct hooks *h, const struct keel_req *req)
{
	struct op *op;

	for (op = h->top; op != NULL; op = op->outer) {
		if (op->req == req && !op->parked)
			requester_leave(op);
	}
	DL_FOREACH(h->parked, op) {
		if (op->req == req)
			requester_leave(op);
	}
}

/* ---- recent events -------------------------------------------------------------------------------------- */
#define RECENT_SIZE 4096u /* power of two */

struct recent {
	uint32_t users;
	uint64_t n; /* recorded so far */
	struct {
		uint64_t id;
		uint32_t point;
	} ring[RECENT_SIZE];
};

/* Adds `more` (1 or -1) to the waiters of each NOTE of hook_points.def about an object, so that it passes
 * holds_match(). Not of modules' points: other processes do not know those. */
static void waiters_add(struct hooks *h, int32_t more)
{
	for (uint32_t i = 0; i < KEEL_POINT_OWN; i++) {
		struct point *p = &h->point[i];

		if (p->kind != KEEL_NOTE || p->id_at == 0)
			continue;
		p->busy += (uint32_t)more;
		p->waiters += (uint32_t)more;
	}
}

uint64_t hooks_recall(struct hooks *h)
{
	if (h->recent == NULL)
		h->recent = calloc(1, sizeof(*h->recent));
	if (h->recent == NULL)
		return 0;
	if (h->recent->users++ == 0)
		waiters_add(h, 1);
	return h->recent->n + 1;
}

void hooks_forget(struct hooks *h, uint64_t since)
{
	if (since > 0 && --h->recent->users == 0)
		waiters_add(h, -1);
}

bool hooks_told(const struct hooks *h, uint64_t since, uint32_t point, const char *id)
{
	const struct recent *r = h->recent;
	uint64_t wanted = bytes_hash(id, strlen(id)), at;

	if (since == 0)
		return false;
	at = r->n + 1 - since > RECENT_SIZE ? r->n - RECENT_SIZE : since - 1;
	for (; at < r->n; at++) {
		if (r->ring[at % RECENT_SIZE].point == point && r->ring[at % RECENT_SIZE].id == wanted)
			return true;
	}
	return false;
}

void recent_add(struct hooks *h, uint32_t point, const char *id)
{
	struct recent *r = h->recent;

	if (r == NULL || r->users == 0)
		return;
	r->ring[r->n % RECENT_SIZE].point = point;
	r->ring[r->n++ % RECENT_SIZE].id = bytes_hash(id, strlen(id));
}
