/* SPDX-License-Identifier: Apache-2.0
 *
 * call.c - what a tap may do with its operation: the group "call".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"
#include "registry/registry.h"
#include "util/err.h"

static keel_verdict call_reject(struct keel_call *c, int32_t code, const char *fmt, ...)
{
	struct op *op = op_of(c);
	va_list ap;

	op->err.text[0] = '\0';
	if (fmt != NULL) {
		va_start(ap, fmt);
		err_setv(&op->err, 0, fmt, ap);
		va_end(ap);
	}
	op->err.code = code != 0 ? code : PBSE_HOOK_REJECT;
	return KEEL_REJECT;
}

static keel_verdict call_fail(struct keel_call *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_setv(&op_of(c)->err, 0, fmt, ap);
	va_end(ap);
	return KEEL_FAIL;
}

static keel_verdict call_answer(struct keel_call *c, const char *text)
{
	struct op *op = op_of(c);
	char *copy = text != NULL ? strdup(text) : NULL;

	if (text != NULL && copy == NULL)
		return call_fail(c, "no memory for the answer");
	free(op->answer);
	op->answer = copy;
	return KEEL_DONE;
}

static void call_add(struct keel_call *c, int64_t score)
{
	struct op *op = op_of(c);

	if (op->point->kind != KEEL_FOLD)
		return;
	if (op->point->info->id == KEEL_POINT_client_auth) /* a FOLD of bits */
		op->sum |= score;
	else if (__builtin_add_overflow(op->sum, score, &op->sum))
		op->sum = score > 0 ? INT64_MAX : INT64_MIN;
}

static void call_append(struct keel_call *c, const char *text)
{
	struct op *op = op_of(c);

	if (op->text == NULL || text == NULL || text[0] == '\0')
		return;
	if (op->text->len > 0)
		buf_str(op->text, " ");
	buf_str(op->text, text);
}

/* ---- the change set -------------------------------------------------------------------------------- */
static const struct keel_attr *attr_of(struct op *op, struct keel_obj *obj, const char *name, struct keel_err *err)
{
	const struct keel_object_api *object = hooks_object(op->hooks);
	const struct keel_attr *a = NULL;

	if (object == NULL || obj == NULL || name == NULL) {
		err_set(err, PBSE_INTERNAL, "there is no object or no attribute to work on");
		return NULL;
	}
	a = object->attr(op->pub.mod, object->klass(obj), name);
	if (a == NULL)
		err_set(err, PBSE_NOATTR, "%s%s", pbse_text(PBSE_NOATTR), name);
	return a;
}

static int32_t call_set(struct keel_call *c, struct keel_obj *obj, const char *name, const char *key,
			const char *text, struct keel_err *err)
{
	struct op *op = op_of(c);
	const struct keel_attr *a;

	if (op->point->kind != KEEL_GATE)
		return err_set(err, PBSE_INTERNAL, "a tap of %s may not change anything", op->point->info->name);
	a = attr_of(op, obj, name, err);
	if (a == NULL)
		return err != NULL && err->code != 0 ? err->code : PBSE_NOATTR;
	if (op->changes == NULL)
		op->changes = op->hooks->object->changes(&op->hooks->self.pub);
	if (op->changes == NULL)
		return err_set(err, PBSE_INTERNAL, "no memory for a change set");
	return op->hooks->object->change_text(op->changes, obj, a,
					      text != NULL ? KEEL_SET : KEEL_UNSET, key, text, err);
}

static int32_t call_get(struct keel_call *c, struct keel_obj *obj, const char *name, const char *key,
			char *buf, uint32_t len)
{
	struct op *op = op_of(c);
	const struct keel_attr *a = attr_of(op, obj, name, NULL);

	if (a == NULL)
		return -ENOENT;
	if (op->changes != NULL)
		return op->hooks->object->change_peek(op->changes, obj, a, key, buf, len);
	return op->hooks->object->text(obj, a, key, buf, len);
}

static void call_emit(struct keel_call *c, struct keel_obj *obj, const struct keel_attr *a, const char *key,
		      const struct keel_emit *emit)
{
	struct op *op = op_of(c);

	hooks_object(op->hooks)->change_emit(op->changes, obj, a, key, emit);
}

static void call_each(struct keel_call *c, void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg)
{
	struct op *op = op_of(c);

	if (op->changes != NULL)
		hooks_object(op->hooks)->change_each(op->changes, fn, arg);
}

static const struct keel_session *call_session(struct keel_call *c)
{
	static const struct keel_session nobody = { .size = sizeof(nobody), .uid = UINT32_MAX,
						    .gid = UINT32_MAX, .user = "", .host = "",
						    .who = "" };
	const struct op *op = op_of(c);
	struct hooks *h = op->hooks;

	if (op->gone)
		return &nobody; /* never NULL: that would be the system */
	if (h->request == NULL)
		h->request = registry_service(h->parts->registry, "request", 0, NULL, NULL);
	return op->req != NULL && h->request != NULL ? h->request->session(op->req) : NULL;
}

const struct keel_call_api call_api = {
	.size = sizeof(call_api),
	.version = KEEL_ABI_MINOR,
	.reject = call_reject,
	.fail = call_fail,
	.answer = call_answer,
	.add = call_add,
	.append = call_append,
	.set = call_set,
	.get = call_get,
	.hold = hold_take,
	.release = hold_release,
	.session = call_session,
	.settled = call_settled,
	.held = hold_call,
	.emit = call_emit,
	.each = call_each,
};
