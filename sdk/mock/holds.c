/* SPDX-License-Identifier: Apache-2.0
 *
 * holds.c - reasons an operation waits, and the operations that do.
 *
 * A hold ends once; then, from the clock or right after its tap, exactly one of its callbacks runs. The
 * operation goes on when its last hold has been told. One whose objects are gone fails.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

static const char *const reasons[] = {
	[KEEL_CANCEL_TIMEOUT] = "it took too long",
	[KEEL_CANCEL_CLIENT_GONE] = "the requester went away",
	[KEEL_CANCEL_OBJECT_GONE] = "what it was about is gone",
	[KEEL_CANCEL_STOPPING] = "its module is being stopped",
};

/* ---- the end of a hold -------------------------------------------------------------------------------- */
static void hold_end(struct keel_hold *h, int32_t reason)
{
	if (!h->open)
		return;
	h->open = false;
	h->reason = reason;
	h->op->n_open--;
	if (h->deadline != NULL)
		item_drop(h->head.mock, h->deadline);
	h->deadline = NULL;
	if (h->op->parked)
		op_ready(h->op);
}

void holds_end(struct op *op, int32_t reason)
{
	struct keel_hold *h;

	DL_FOREACH(op->holds, h)
		hold_end(h, reason);
}

/* Does its module hear of events? What another job gives back may end the wait of this one. */
static bool hears(const struct keel_hold *h)
{
	for (const struct tap *t = h->tap->owner->taps; t != NULL; t = t->next) {
		const struct point_row *p = point_row(h->head.mock, t->point);

		if (!t->gone && p != NULL && p->kind == KEEL_NOTE && t->point != KEEL_POINT_job_known &&
		    t->point != KEEL_POINT_node_known)
			return true;
	}
	return false;
}

static void expired(void *arg)
{
	struct keel_hold *h = arg;

	h->deadline = NULL;
	if (h->until_id == NULL && !h->could_end && !mod_is_busy(h->tap->owner) && !hears(h))
		violation(h->head.mock, "hold-never-ended", "%s: '%s'", h->tap->name, h->why);
	hold_end(h, KEEL_CANCEL_TIMEOUT);
}

void hold_release(struct keel_hold *h)
{
	if (h != NULL && head_good(&h->head, "hold-ended", "release"))
		hold_end(h, 0);
}

/* ---- taking one ------------------------------------------------------------------------------------------ */
static const char *objection(const struct op *op, const struct keel_hold_opts *o)
{
	const struct point_row *until = point_row(op->mock, o->until_point);

	if (!verdict_is_allowed(op->point->kind, KEEL_WAIT))
		return "a tap of this point cannot wait";
	if (op->closed)
		return "the operation is being ended";
	if (op->mock->freeing)
		return "the daemon ends";
	if (o->why == NULL || o->why[0] == '\0')
		return "a hold needs a reason (.why)";
	if (o->timeout_ms < 0)
		return "a hold's timeout cannot be negative";
	if (o->until_point == 0)
		return NULL;
	if (until == NULL || until->kind != KEEL_NOTE || until->fields(&(uint32_t){ 0 })[0].type != KEEL_FIELD_STR)
		return "until_point is not a NOTE about an object";
	return o->until_id == NULL || o->until_id[0] == '\0' ? "until_point without until_id" : NULL;
}

static struct keel_hold *hold_make(struct op *op, const struct keel_hold_opts *o)
{
	struct keel_hold *h = make(sizeof(*h));

	head_init(&h->head, op->mock, h);
	h->op = op;
	h->tap = op->chain->tap[op->at];
	h->tap->refs++;
	h->open = true;
	h->why = dup_text(o->why);
	h->until_point = o->until_point;
	h->until_id = o->until_point != 0 ? dup_text(o->until_id) : NULL;
	h->timeout = o->timeout_ms > 0 ? o->timeout_ms : 60000;
	h->since = op->mock->now;
	h->could_end = mod_is_busy(h->tap->owner);
	h->resume = o->resume;
	h->cancel = o->cancel;
	h->arg = o->arg;
	h->deadline = host_item(op->mock, h->timeout, expired, h);
	DL_APPEND(op->holds, h);
	op->n_open++;
	return h;
}

keel_verdict hold_take(struct keel_call *pub, const struct keel_hold_opts *opts, struct keel_hold **ret)
{
	struct call *c = (struct call *)pub;
	struct keel_hold_opts o = { 0 };
	struct keel_hold *h;
	const char *no;

	if (!head_good(&c->head, "call-after-return", "hold"))
		return KEEL_FAIL;
	memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	no = fails(c->head.mock) ? "no memory" : objection(c->op, &o);
	if (no != NULL) {
		err_set(&c->op->err, 0, "it cannot wait: %s", no);
		return KEEL_FAIL;
	}
	h = hold_make(c->op, &o);
	if (ret != NULL)
		*ret = h;
	return KEEL_WAIT;
}

/* ---- telling ------------------------------------------------------------------------------------------------- */
/* NEXT, DONE, FAIL, REJECT: the worst of several counts. */
static int verdict_rank(keel_verdict v)
{
	return v == KEEL_REJECT ? 3 : v == KEEL_DONE ? 1 : v == KEEL_NEXT || v == KEEL_WAIT ? 0 : 2;
}

static keel_verdict tell_released(struct op *op, const struct keel_hold *h)
{
	struct mod *m = h->tap->owner;
	struct call *c = call_begin(op, m);
	keel_verdict v = KEEL_NEXT;

	if (h->resume != NULL)
		IN(m, v = h->resume(&c->pub, h->arg));
	call_end(c);
	if (v != KEEL_WAIT)
		return v;
	if (op->n_open > 0) /* it took a new hold, which will answer */
		return KEEL_NEXT;
	violation(op->mock, "wait-without-hold", "resume() of %s at %s", h->tap->name, op->point->name);
	err_set(&op->err, 0, "it answered WAIT and took no hold");
	return KEEL_FAIL;
}

static keel_verdict tell_cancelled(struct op *op, const struct keel_hold *h)
{
	struct mod *m = h->tap->owner;
	struct call *c = call_begin(op, m);

	op->closed = true;
	if (h->cancel != NULL)
		IN(m, h->cancel(&c->pub, h->arg, h->reason));
	op->closed = op->abort != 0;
	call_end(c);
	err_set(&op->err, 0, "'%s' was given up: %s", h->why, reasons[h->reason]);
	return KEEL_FAIL;
}

static void hold_free(struct keel_hold *h)
{
	h->head.mock->ended_holds[h->reason]++;
	tap_unref(h->tap);
	free(h->why);
	free(h->until_id);
	h->op = NULL;
	head_end(&h->head);
}

static void tell(struct op *op, struct keel_hold *h)
{
	const struct keel_err kept = op->err;
	keel_verdict v;

	op->err = (struct keel_err){ 0 };
	v = h->reason == 0 ? tell_released(op, h) : tell_cancelled(op, h);
	if (verdict_rank(v) > verdict_rank(op->worst))
		op->worst = v;
	else
		op->err = kept;
}

keel_verdict holds_settle(struct op *op)
{
	struct keel_hold *h = op->holds;
	keel_verdict worst;

	while (h != NULL) {
		if (h->open) {
			h = h->next;
			continue;
		}
		DL_DELETE(op->holds, h);
		tell(op, h);
		hold_free(h);
		h = op->holds;
	}
	if (op->n_open > 0)
		return KEEL_WAIT;
	worst = op->worst;
	op->worst = KEEL_NEXT;
	return worst;
}

/* ---- waiting ---------------------------------------------------------------------------------------------------- */
keel_verdict op_park(struct op *op)
{
	op->copy = event_copy(op->point, op->event);
	op->event = &op->copy->event;
	op->parked = true;
	DL_APPEND(op->mock->parked, op);
	op_leave(op);
	return KEEL_WAIT;
}

static void go_on(struct op *op)
{
	keel_verdict v;

	op->ready = false;
	if (op->abort == 0 && !event_valid(op->copy))
		op_abort(op, KEEL_CANCEL_OBJECT_GONE);
	op->ready = false;
	op_enter(op);
	v = holds_settle(op);
	if (v != KEEL_WAIT)
		v = op_walk(op, true, v);
	if (v == KEEL_WAIT) {
		op_leave(op);
		return;
	}
	DL_DELETE(op->mock->parked, op);
	op_finish(op, v);
}

static struct op *next_ready(const struct keel_mock *mock)
{
	struct op *op;

	DL_FOREACH(mock->parked, op)
		if (op->ready)
			break;
	return op;
}

static void turn(void *arg)
{
	struct keel_mock *mock = arg;
	struct op *op;

	mock->wake = NULL;
	while ((op = next_ready(mock)) != NULL)
		go_on(op);
	notes_late(mock);
}

void op_ready(struct op *op)
{
	op->ready = true;
	if (op->mock->wake == NULL)
		op->mock->wake = host_item(op->mock, 0, turn, op->mock);
}

void op_abort(struct op *op, int32_t reason)
{
	struct keel_hold *h;

	op->abort = reason;
	op->closed = true;
	holds_end(op, reason);
	DL_FOREACH(op->holds, h)
		h->reason = reason;
	if (op->parked)
		op_ready(op);
}

/* ---- somebody leaves ------------------------------------------------------------------------------------------------ */
void ops_client_gone(struct keel_mock *mock, struct keel_req *req)
{
	struct op *op;

	for (op = mock->top; op != NULL; op = op->outer)
		if (op->req == req && !op->parked) {
			op->req = NULL;
			op->gone = true;
		}
	DL_FOREACH(mock->parked, op) {
		if (op->req != req)
			continue;
		op->req = NULL;
		op->gone = true;
		op_abort(op, KEEL_CANCEL_CLIENT_GONE);
	}
}

static bool holds_leave(struct op *op, const struct mod *m)
{
	struct keel_hold *h;
	bool any = false;

	DL_FOREACH(op->holds, h) {
		if (h->tap->owner != m)
			continue;
		hold_end(h, KEEL_CANCEL_STOPPING);
		h->reason = KEEL_CANCEL_STOPPING;
		any = true;
	}
	return any;
}

static struct op *concerned(struct keel_mock *mock, const struct mod *m)
{
	struct op *op;

	DL_FOREACH(mock->parked, op)
		if (holds_leave(op, m) || op->raiser == m)
			break;
	return op;
}

bool ops_concern(struct keel_mock *mock, const struct mod *m)
{
	const struct keel_hold *h;
	const struct op *op;

	DL_FOREACH(mock->parked, op) {
		if (op->raiser == m)
			return true;
		DL_FOREACH(op->holds, h)
			if (h->tap->owner == m)
				return true;
	}
	return false;
}

void ops_leave(struct keel_mock *mock, struct mod *m)
{
	struct op *op;

	while ((op = concerned(mock, m)) != NULL) {
		if (op->raiser == m)
			op_abort(op, KEEL_CANCEL_STOPPING);
		go_on(op);
	}
}

void ops_end(struct keel_mock *mock)
{
	while (mock->parked != NULL) {
		op_abort(mock->parked, KEEL_CANCEL_STOPPING);
		go_on(mock->parked);
	}
}

void holds_match(struct keel_mock *mock, const struct point_row *p, const void *event)
{
	const char *id = event_id(p, event);
	struct keel_hold *h;
	struct op *op;

	if (id == NULL)
		return;
	DL_FOREACH(mock->parked, op)
		DL_FOREACH(op->holds, h)
			if (h->open && h->until_point == p->id && strcmp(h->until_id, id) == 0)
				hold_end(h, 0);
	for (op = mock->top; op != NULL; op = op->outer)
		DL_FOREACH(op->holds, h)
			if (h->open && h->until_point == p->id && strcmp(h->until_id, id) == 0)
				hold_end(h, 0);
}

/* ---- showing ------------------------------------------------------------------------------------------------------------ */
static void show(const struct keel_hold *h, struct text *t)
{
	text_put(t, "%s%s: %s (%llds of %llds)", t->len > 0 ? ", " : "", h->tap->owner->desc.name, h->why,
		 (long long)(h->head.mock->now - h->since) / 1000, (long long)h->timeout / 1000);
}

int32_t holds_text(struct keel_mod *pub, const char *id, char *buf, uint32_t len)
{
	struct mod *m = mod_in(pub, "hook", "holds_text");
	struct text t = { 0 };
	struct keel_hold *h;
	struct op *op;
	int32_t ret;

	if (buf != NULL && len > 0)
		buf[0] = '\0';
	if (m == NULL || id == NULL)
		return 0;
	DL_FOREACH(mock_of(m)->parked, op)
		if (strcmp(op_label(op), id) == 0)
			DL_FOREACH(op->holds, h)
				show(h, &t);
	ret = (int32_t)t.len;
	if (buf != NULL && len > 0 && t.len > 0) {
		size_t n = t.len < len - 1 ? t.len : len - 1;

		memcpy(buf, t.data, n);
		buf[n] = '\0';
	}
	free(t.data);
	return ret;
}

static struct keel_hold *open_hold(struct keel_mock *mock, uint32_t i)
{
	struct keel_hold *h;
	struct op *op;

	DL_FOREACH(mock->parked, op)
		DL_FOREACH(op->holds, h)
			if (h->open && i-- == 0)
				return h;
	return NULL;
}

uint32_t keel_mock_holds(struct keel_mock *mock)
{
	uint32_t n = 0;

	while (open_hold(mock, n) != NULL)
		n++;
	return n;
}

const char *keel_mock_hold(struct keel_mock *mock, uint32_t i)
{
	struct keel_hold *h = open_hold(mock, i);
	struct text t = { 0 };

	if (h == NULL)
		return NULL;
	show(h, &t);
	return ring(mock, t.data);
}

const char *keel_mock_hold_until(struct keel_mock *mock, uint32_t i)
{
	const struct keel_hold *h = open_hold(mock, i);

	if (h == NULL || h->until_id == NULL)
		return NULL;
	return ring(mock, print_text("%s %s", point_name(mock, h->until_point), h->until_id));
}

void keel_mock_release(struct keel_mock *mock, uint32_t i)
{
	struct keel_hold *h = open_hold(mock, i);

	if (h == NULL)
		die("there is no open hold %u to release", i);
	hold_end(h, 0);
}

void keel_mock_expire(struct keel_mock *mock, uint32_t i)
{
	struct keel_hold *h = open_hold(mock, i);

	if (h == NULL)
		die("there is no open hold %u to expire", i);
	hold_end(h, KEEL_CANCEL_TIMEOUT);
}

uint32_t keel_mock_ended(struct keel_mock *mock, int32_t reason)
{
	return reason >= 0 && reason < (int32_t)KEEL_COUNT(mock->ended_holds) ? mock->ended_holds[reason] : 0;
}
