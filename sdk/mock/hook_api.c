/* SPDX-License-Identifier: Apache-2.0
 *
 * hook_api.c - the groups "hook" and "call", and how a test raises a point.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"
#include "keel/sized.h"

/* ---- hook ------------------------------------------------------------------------------------------ */
static keel_verdict hook_raise(struct keel_mod *pub, const struct keel_raise *theirs)
{
	struct mod *m = mod_in(pub, "hook", "raise");
	struct keel_raise r; /* an older module's is shorter */

	KEEL_SIZED(&r, theirs);
	if (m == NULL || (r.changes != NULL && !changes_good(r.changes, "raise")))
		return KEEL_FAIL;
	return op_raise(m, &r);
}

/* Points of a module are raised by that module alone. */
static bool is_strangers(struct mod *m, uint32_t point)
{
	if (own_may_raise(m, point))
		return false;
	host_log(mock_of(m), KEEL_LOG_ERROR, "Hook", m->desc.name, "module %s raised point %u, which is not its own",
		 m->desc.name, point);
	return true;
}

static void hook_note(struct keel_mod *pub, uint32_t point, const void *event)
{
	struct mod *m = mod_in(pub, "hook", "note");
	const struct point_row *p = m != NULL ? point_row(mock_of(m), point) : NULL;

	if (p != NULL && p->kind == KEEL_NOTE && !is_strangers(m, point))
		note_raise(mock_of(m), p, event);
}

static int64_t hook_fold(struct keel_mod *pub, uint32_t point, const void *event, char *buf, uint32_t len)
{
	struct mod *m = mod_in(pub, "hook", "fold");
	struct text text = { 0 };
	int64_t sum;

	if (buf != NULL && len > 0)
		buf[0] = '\0';
	if (m == NULL || is_strangers(m, point))
		return 0;
	sum = op_fold(m, point, event, &text);
	if (buf != NULL && len > 0 && text.data != NULL)
		snprintf(buf, len, "%s", text.data);
	free(text.data);
	return sum;
}

static bool hook_tapped(struct keel_mod *pub, uint32_t point)
{
	struct mod *m = mod_in(pub, "hook", "tapped");
	struct keel_hold *h;
	struct op *op;

	if (m == NULL || point >= KEEL_POINT_MAX)
		return false;
	DL_FOREACH(mock_of(m)->parked, op)
		DL_FOREACH(op->holds, h)
			if (h->open && h->until_point == point)
				return true;
	return mock_of(m)->chain[point] != NULL;
}

static uint32_t hook_point(struct keel_mod *pub, const char *name)
{
	struct mod *m = mod_in(pub, "hook", "point");

	return m != NULL ? point_named(mock_of(m), name) : 0;
}

static int32_t hook_end(struct keel_mod *pub, const void *arg)
{
	struct mod *m = mod_in(pub, "hook", "end");
	struct op *op;

	DL_FOREACH(mock_of(m)->parked, op) {
		if (op->raiser != m || op->arg != arg || op->abort != 0)
			continue;
		op_abort(op, KEEL_CANCEL_OBJECT_GONE);
		return 0;
	}
	return -ENOENT;
}

const struct keel_hook_api hook_api = {
	.size = sizeof(hook_api), .raise = hook_raise, .note = hook_note, .fold = hook_fold,
	.tapped = hook_tapped, .tap_add = tap_add, .tap_remove = tap_remove, .fields = point_fields,
	.holds_text = holds_text, .point = hook_point, .about = hook_about, .end = hook_end,
};

/* ---- call --------------------------------------------------------------------------------------------- */
static struct op *op_of(struct keel_call *pub, const char *what)
{
	struct call *c = (struct call *)pub;

	if (c == NULL)
		die("call->%s() without a call", what);
	return head_good(&c->head, "call-after-return", what) ? c->op : NULL;
}

static keel_verdict call_reject(struct keel_call *c, int32_t code, const char *fmt, ...)
{
	struct op *op = op_of(c, "reject");
	va_list ap;

	if (op == NULL)
		return KEEL_REJECT;
	op->err = (struct keel_err){ 0 };
	if (fmt != NULL) {
		va_start(ap, fmt);
		err_setv(&op->err, 0, fmt, ap);
		va_end(ap);
	}
	op->err.code = code != 0 ? code : HOOK_REJECT;
	return KEEL_REJECT;
}

static keel_verdict call_fail(struct keel_call *c, const char *fmt, ...)
{
	struct op *op = op_of(c, "fail");
	va_list ap;

	if (op == NULL)
		return KEEL_FAIL;
	va_start(ap, fmt);
	err_setv(&op->err, 0, fmt, ap);
	va_end(ap);
	return KEEL_FAIL;
}

static keel_verdict call_answer(struct keel_call *c, const char *text)
{
	struct op *op = op_of(c, "answer");

	if (op == NULL)
		return KEEL_FAIL;
	if (fails(op->mock))
		return call_fail(c, "no memory for the answer");
	free(op->answer);
	op->answer = dup_text(text);
	return KEEL_DONE;
}

static void call_add(struct keel_call *c, int64_t score)
{
	struct op *op = op_of(c, "add");

	if (op == NULL || op->point->kind != KEEL_FOLD)
		return;
	if (op->point->id == KEEL_POINT_client_auth)
		op->sum |= score;
	else if (__builtin_add_overflow(op->sum, score, &op->sum))
		op->sum = score > 0 ? INT64_MAX : INT64_MIN;
}

static void call_append(struct keel_call *c, const char *text)
{
	struct op *op = op_of(c, "append");

	if (op == NULL || op->point->kind != KEEL_FOLD || text == NULL || text[0] == '\0')
		return;
	text_put(&op->text, "%s%s", op->text.len > 0 ? " " : "", text);
}

static int32_t call_set(struct keel_call *c, struct keel_obj *o, const char *name, const char *key,
			const char *text, struct keel_err *err)
{
	struct op *op = op_of(c, "set");
	struct body *b = op != NULL && o != NULL ? body_of(o, "set") : NULL;
	const struct keel_attr *a;

	if (op == NULL)
		return INTERNAL;
	if (op->point->kind != KEEL_GATE)
		return err_set(err, INTERNAL, "a tap of %s may not change anything", op->point->name);
	if (b == NULL || name == NULL)
		return err_set(err, INTERNAL, "there is no object or no attribute to work on");
	a = attr_find(b->klass, name);
	if (a == NULL)
		return err_set(err, NOATTR, "%s%s", pbse_text(NOATTR), name);
	if (fails(op->mock))
		return err_set(err, INTERNAL, "no memory for a change set");
	if (op->changes == NULL)
		op->changes = changes_make(&op->mock->self);
	return changes_put(op->changes, NULL, b, a, text != NULL ? KEEL_SET : KEEL_UNSET, key, text, true, err);
}

static int32_t call_get(struct keel_call *c, struct keel_obj *o, const char *name, const char *key,
			char *buf, uint32_t len)
{
	struct op *op = op_of(c, "get");
	struct body *b = op != NULL && o != NULL ? body_of(o, "get") : NULL;
	const struct keel_attr *a = b != NULL ? attr_find(b->klass, name) : NULL;

	return a == NULL ? -ENOENT : changes_peek(op->changes, b, a, key, buf, len);
}

static const struct keel_session *call_session(struct keel_call *c)
{
	static const struct keel_session nobody = { .size = sizeof(nobody), .uid = UINT32_MAX,
						    .gid = UINT32_MAX, .user = "", .host = "", .who = "" };
	struct op *op = op_of(c, "session");

	if (op == NULL || op->gone)
		return &nobody;
	return op->req != NULL ? req_session(op->req) : NULL;
}

static int32_t call_settled(struct keel_call *c, keel_outcome_fn *fn, void *arg)
{
	(void)c, (void)fn, (void)arg;
	return -ENOTSUP;
}

const struct keel_call_api call_api = {
	.size = sizeof(call_api), .reject = call_reject, .fail = call_fail, .answer = call_answer,
	.add = call_add, .append = call_append, .set = call_set, .get = call_get, .hold = hold_take,
	.release = hold_release, .session = call_session, .settled = call_settled,
};

/* ---- a test raises ----------------------------------------------------------------------------------- */
static void on_done(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	struct keel_mock_outcome *ret = arg;

	(void)m;
	if (ret == NULL)
		return;
	ret->told = true;
	ret->verdict = out->verdict;
	ret->code = out->code;
	snprintf(ret->text, sizeof(ret->text), "%s", out->text != NULL ? out->text : "");
	snprintf(ret->by, sizeof(ret->by), "%s", out->by != NULL ? out->by : "");
}

keel_verdict keel_mock_raise_for(struct keel_mock *mock, struct keel_req *req, uint32_t point,
				 const void *event, struct keel_changes *changes,
				 struct keel_mock_outcome *ret)
{
	if (ret != NULL)
		*ret = (struct keel_mock_outcome){ .verdict = KEEL_WAIT };
	return op_raise(&mock->self, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = point, .event = event, .changes = changes,
		.req = req, .done = on_done, .arg = ret });
}

static keel_verdict raise_fold(struct keel_mock *mock, uint32_t point, const void *event,
			       struct keel_mock_outcome *ret)
{
	struct text text = { 0 };
	int64_t sum = op_fold(&mock->self, point, event, &text);

	if (ret != NULL) {
		*ret = (struct keel_mock_outcome){ .told = true, .sum = sum };
		snprintf(ret->text, sizeof(ret->text), "%s", text.data != NULL ? text.data : "");
	}
	free(text.data);
	return KEEL_NEXT;
}

keel_verdict keel_mock_raise(struct keel_mock *mock, uint32_t point, const void *event,
			     struct keel_mock_outcome *ret)
{
	const struct point_row *p = point_row(mock, point);

	if (p == NULL)
		die("there is no point %u", point);
	if (p->kind == KEEL_FOLD)
		return raise_fold(mock, point, event, ret);
	if (p->kind != KEEL_NOTE)
		return keel_mock_raise_for(mock, NULL, point, event, NULL, ret);
	note_raise(mock, p, event);
	if (ret != NULL)
		*ret = (struct keel_mock_outcome){ .told = true };
	return KEEL_NEXT;
}
