/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.c - taps are called, holds are resumed and cancelled; the group call.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "host.h"
#include "pbs_error.h"

#define HOLD_MAGIC 0x484f4c44u

struct keel_hold {
	unsigned magic;
	struct keel_hold *prev, *next;
	struct hcall *call;
	int64_t number;
	struct keel_hold_opts o;
};

/* ---- calls -------------------------------------------------------------------------------------------- */
static struct hcall *call_create(int64_t number)
{
	struct hcall *c = own(calloc(1, sizeof(*c)));

	c->pub = (struct keel_call){ host.mod.state, host.mod.conf, &host.mod };
	c->number = number;
	DL_APPEND(host.calls, c);
	return c;
}

static void call_settle(struct hcall *c)
{
	if (c->holds)
		return;
	DL_DELETE(host.calls, c);
	free(c->text);
	free(c);
}

static struct hcall *call_find(int64_t number)
{
	struct hcall *c;

	DL_FOREACH(host.calls, c) {
		if (c->number == number)
			break;
	}
	return c;
}

static void text_set(struct hcall *c, char *text)
{
	free(c->text);
	c->text = text;
}

static void enter(struct hcall *c)
{
	c->pub.conf = host.mod.conf;
	c->code = 0;
	text_set(c, NULL);
	host.current = c;
}

static void answer(struct hcall *c, keel_verdict v)
{
	host.current = NULL;
	reply_begin();
	talk_int(&host.out, v);
	talk_int(&host.out, c->code);
	talk_str(&host.out, v == KEEL_NEXT || v == KEEL_WAIT ? NULL : c->text);
	frame_end();
	call_settle(c);
}

/* Call a tap with the event in the message. */
static keel_verdict invoke(struct hcall *c, int64_t tap, struct talk_in *in)
{
	const struct map_point *p = map_point(take_int(in));
	union event_room event;

	enter(c);
	if (!p || host.unusable || tap < 0 || tap >= host.desc->n_taps)
		return KEEL_FAIL;
	take_event(in, p, &event, handle_new);
	if (host.taps[tap].flags & KEEL_TAP_ANY)
		return host.taps[tap].fn.generic(&c->pub, map_number(p), &event, host.taps[tap].arg);
	return map_call(map_number(p), host.taps[tap].fn, &c->pub, &event);
}

void on_call(const struct value *v, struct talk_in *in)
{
	struct hcall *c = call_create(v[0].i);

	answer(c, invoke(c, v[1].i, in));
}

void on_note(const struct value *v, struct talk_in *in)
{
	struct hcall *c = call_create(0);
	char text[700];

	if (invoke(c, v[0].i, in) == KEEL_FAIL && !host.unusable) {
		snprintf(text, sizeof(text), "%s.%s failed: %s; it is skipped", host.name, host.taps[v[0].i].name,
			 c->text ? c->text : "it gave no reason");
		host_log(KEEL_LOG_ERROR, text);
	}
	host.current = NULL;
	call_settle(c);
	reply_begin();
	frame_end();
}

/* ---- holds ------------------------------------------------------------------------------------------------ */
static struct keel_hold *hold_find(struct hcall *c, int64_t number)
{
	struct keel_hold *hold = NULL;

	if (c)
		DL_FOREACH(c->holds, hold) {
			if (hold->number == number)
				break;
		}
	return hold;
}

/* What it was; it is gone. */
static struct keel_hold_opts hold_end(struct keel_hold *hold)
{
	struct keel_hold_opts was = hold->o;

	DL_DELETE(hold->call->holds, hold);
	hold->magic = 0;
	free(hold);
	return was;
}

void on_resume(const struct value *v, struct talk_in *in)
{
	struct hcall *c = call_find(v[0].i);
	struct keel_hold *hold = hold_find(c, v[1].i);
	struct keel_hold_opts was;

	(void)in;
	if (!hold) {
		answer(call_create(0), KEEL_FAIL);
		return;
	}
	was = hold_end(hold);
	enter(c);
	answer(c, was.resume ? was.resume(&c->pub, was.arg) : KEEL_NEXT);
}

void on_cancel(const struct value *v, struct talk_in *in)
{
	struct hcall *c = call_find(v[0].i);
	struct keel_hold *hold = hold_find(c, v[1].i);
	struct keel_hold_opts was;

	(void)in;
	if (hold) {
		was = hold_end(hold);
		enter(c);
		c->closed = true;
		if (was.cancel)
			was.cancel(&c->pub, was.arg, (int32_t)v[2].i);
		c->closed = false;
		host.current = NULL;
		call_settle(c);
	}
	reply_begin();
	frame_end();
}

static keel_verdict group_hold(struct keel_call *call, const struct keel_hold_opts *opts, struct keel_hold **ret_hold)
{
	struct hcall *c = (struct hcall *)call;
	struct keel_hold_opts o = { .size = sizeof(o) };
	struct keel_hold *hold;
	struct answer a;
	const char *why = NULL;

	memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	if (c->closed || c->number == 0) {
		text_set(c, strdup(c->closed ? "it cannot wait: the operation is being ended" :
					       "it cannot wait: a tap of this point cannot wait"));
		return KEEL_FAIL;
	}
	hold = own(calloc(1, sizeof(*hold)));
	*hold = (struct keel_hold){ .magic = HOLD_MAGIC, .call = c, .o = o };
	ask(&a, UP_hold, o.why, (int64_t)o.until_point, o.until_id, o.timeout_ms);
	if (take_int(&a.in) == KEEL_WAIT)
		hold->number = take_int(&a.in);
	else
		why = take_str(&a.in);
	text_set(c, why ? strdup(why) : NULL);
	ask_end(&a);
	if (hold->number == 0) {
		free(hold);
		return KEEL_FAIL;
	}
	DL_APPEND(c->holds, hold);
	if (ret_hold)
		*ret_hold = hold;
	return KEEL_WAIT;
}

static void group_release(struct keel_hold *hold)
{
	if (hold && hold->magic == HOLD_MAGIC)
		told(UP_release, hold->number);
}

static struct keel_call *group_held(struct keel_hold *hold)
{
	return hold && hold->magic == HOLD_MAGIC ? &hold->call->pub : NULL;
}

/* ---- verdicts: they go with the answer ------------------------------------------------------------------ */
static void text_setv(struct keel_call *call, int32_t code, const char *fmt, va_list ap)
{
	struct hcall *c = (struct hcall *)call;
	char text[sizeof(((struct keel_err *)0)->text)];

	if (fmt)
		vsnprintf(text, sizeof(text), fmt, ap);
	text_set(c, fmt ? strdup(text) : NULL);
	c->code = code;
}

static keel_verdict group_reject(struct keel_call *call, int32_t code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_setv(call, code, fmt, ap);
	va_end(ap);
	return KEEL_REJECT;
}

static keel_verdict group_fail(struct keel_call *call, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_setv(call, 0, fmt, ap);
	va_end(ap);
	return KEEL_FAIL;
}

static keel_verdict group_answer(struct keel_call *call, const char *text)
{
	text_set((struct hcall *)call, text ? strdup(text) : NULL);
	return KEEL_DONE;
}

static int32_t group_set(struct keel_call *call, struct keel_obj *obj, const char *attr, const char *key, const char *text,
			 struct keel_err *err)
{
	struct keel_obj *o = handle_check(obj);
	struct answer a;

	(void)call;
	if (!o || !attr)
		return fail_with(err, PBSE_INTERNAL, "there is no object or no attribute to work on");
	ask(&a, UP_set, o->klass, o->id, attr, key, text);
	return step_take(&a, err);
}

static int32_t group_get(struct keel_call *call, struct keel_obj *obj, const char *attr, const char *key, char *buf,
			 uint32_t len)
{
	struct keel_obj *o = handle_check(obj);
	struct answer a;

	(void)call;
	if (!o || !attr)
		return -ENOENT;
	ask(&a, UP_text, (int64_t)1, o->klass, o->id, attr, key);
	return text_take(&a, buf, len);
}

static const struct keel_session *group_session(struct keel_call *call)
{
	struct keel_session s = { .size = sizeof(s) };
	struct talk_in in = { .bad = false };
	const char *bytes;
	struct answer a;
	uint32_t len;

	(void)call;
	ask(&a, UP_session);
	bytes = take_bytes(&a.in, &len);
	in.at = borrow(bytes, len);
	in.end = in.at + len;
	ask_end(&a);
	if (len == 0)
		return NULL;
	take_row(&in, talk_session, &s);
	return borrow(&s, sizeof(s));
}

REFUSED(add, void, , struct keel_call *, int64_t)
REFUSED(append, void, , struct keel_call *, const char *)
REFUSED(emit, void, , struct keel_call *, struct keel_obj *, const struct keel_attr *, const char *, const struct keel_emit *)
REFUSED(each, void, , struct keel_call *, void (*)(void *, struct keel_obj *, const struct keel_attr *), void *)
REFUSED(settled, int32_t, -ENOTSUP, struct keel_call *, keel_outcome_fn *, void *)

const struct keel_call_api host_call = {
	.size = sizeof(host_call), .reject = group_reject, .fail = group_fail, .answer = group_answer, .add = add,
	.append = append, .set = group_set, .get = group_get, .hold = group_hold, .release = group_release,
	.session = group_session, .settled = settled, .held = group_held, .emit = emit, .each = each,
};
