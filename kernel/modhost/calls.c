/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.c - taps are called, holds are resumed and cancelled; the group "call".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "modhost/host.h"
#include "util/err.h"

#define HOLD_MAGIC 0x484f4c44u
#define REPORT_EVERY_MS 20
#define REPORT_EVERY 256u

/* ---- calls -------------------------------------------------------------------------------------------- */
static struct hcall *call_create(struct host *h, uint64_t number)
{
	struct hcall *c = calloc(1, sizeof(*c));

	if (c == NULL)
		abort();
	c->pub = (struct keel_call){ h->owner.pub.state, h->owner.pub.conf, &h->owner.pub };
	c->host = h;
	c->number = number;
	DL_APPEND(h->calls, c);
	return c;
}

static void call_settle(struct hcall *c)
{
	if (c->holds != NULL)
		return;
	DL_DELETE(c->host->calls, c);
	free(c->text);
	free(c);
}

static struct hcall *call_find(struct host *h, int64_t number)
{
	struct hcall *c;

	DL_FOREACH(h->calls, c) {
		if (c->number == (uint64_t)number)
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
	c->pub.conf = c->host->owner.pub.conf;
	c->code = 0;
	text_set(c, NULL);
	c->host->current = c;
}

static void answer(struct hcall *c, keel_verdict v, uint64_t corr)
{
	struct host *h = c->host;

	h->current = NULL;
	talk_begin(&h->out);
	talk_put_int(&h->out, v);
	talk_put_int(&h->out, c->code);
	talk_put_str(&h->out, v == KEEL_NEXT || v == KEEL_WAIT ? NULL : c->text);
	host_reply(h, corr);
	call_settle(c);
}

/* A tap's row and its event; NULL: there is no such row. */
static const struct tap_row *event_take(struct host *h, struct talk_in *in, void *event, uint32_t size)
{
	int64_t number = talk_int(in);
	struct hooks_point p;
	const struct keel_field *fields;
	const struct tap_row *row;
	uint32_t n;

	if (number < 0 || h->desc == NULL || number >= h->desc->n_taps)
		return NULL;
	row = &h->taps[number];
	if (!hooks_point(row->point, &p) || p.event_size > size)
		return NULL;
	fields = hooks_fields(row->point, &n);
	talk_event(in, fields, n, event, p.event_size, handle_named, h);
	return talk_done(in) ? row : NULL;
}

union room {
	uint64_t align[32];
	char bytes[256];
};

static void skipped(struct host *h, const struct tap_row *row, const struct hcall *c)
{
	char text[700];

	snprintf(text, sizeof(text), "%s.%s failed: %s; it is skipped", h->owner.pub.name, row->name,
		 c->text != NULL ? c->text : "it gave no reason");
	host_log(h, KEEL_LOG_ERROR, text);
}

void call_run(struct host *h, struct talk_in *in, uint64_t corr)
{
	struct hcall *c = call_create(h, (uint64_t)talk_int(in));
	union room event;
	const struct tap_row *row = event_take(h, in, &event, sizeof(event));
	keel_verdict v = KEEL_FAIL;

	enter(c);
	if (row != NULL && !h->unusable)
		v = hooks_invoke(row->point, row->fn, &c->pub, &event);
	answer(c, v, corr);
}

/* ---- notes ---------------------------------------------------------------------------------------------- */
void note_run(struct host *h, struct talk_in *in)
{
	union room event;
	const struct tap_row *row = event_take(h, in, &event, sizeof(event));
	struct hcall *c = call_create(h, 0);

	enter(c);
	if (row != NULL && !h->unusable && hooks_invoke(row->point, row->fn, &c->pub, &event) == KEEL_FAIL)
		skipped(h, row, c);
	h->current = NULL;
	call_settle(c);
	h->notes++;
}

/* Tell how far we are: at the end, and now and then before. */
void notes_report(struct host *h, bool all)
{
	int64_t now = loop_clock_ns(h->parts.loop) / 1000000;

	if (h->notes == 0 || (!all && h->notes < REPORT_EVERY && now - h->notes_ms < REPORT_EVERY_MS))
		return;
	h->notes_ms = now;
	talk_begin(&h->out);
	talk_put_int(&h->out, TALK_NOTED);
	talk_put_int(&h->out, h->notes);
	h->notes = 0;
	host_event(h);
}

/* ---- holds ------------------------------------------------------------------------------------------------ */
static struct keel_hold *hold_find(struct hcall *c, int64_t number)
{
	struct keel_hold *hold = NULL;

	if (c != NULL)
		DL_FOREACH(c->holds, hold) {
			if (hold->number == number)
				break;
		}
	return hold;
}

/* What it was, and it is gone. */
static struct keel_hold hold_end(struct keel_hold *hold)
{
	struct keel_hold was = *hold;

	DL_DELETE(was.call->holds, hold);
	hold->magic = 0;
	free(hold);
	return was;
}

void call_resume(struct host *h, struct talk_in *in, uint64_t corr)
{
	struct hcall *c = call_find(h, talk_int(in));
	struct keel_hold *hold = hold_find(c, talk_int(in)), was;
	keel_verdict v = KEEL_NEXT;

	if (hold == NULL) {
		c = call_create(h, 0);
		v = KEEL_FAIL;
	} else {
		was = hold_end(hold);
		enter(c);
		if (was.resume != NULL)
			v = was.resume(&c->pub, was.arg);
	}
	answer(c, v, corr);
}

void call_cancel(struct host *h, struct talk_in *in)
{
	struct hcall *c = call_find(h, talk_int(in));
	struct keel_hold *hold = hold_find(c, talk_int(in)), was;
	int32_t reason = (int32_t)talk_int(in);

	if (hold == NULL)
		return;
	was = hold_end(hold);
	enter(c);
	c->closed = true;
	if (was.cancel != NULL)
		was.cancel(&c->pub, was.arg, reason);
	c->closed = false;
	h->current = NULL;
	call_settle(c);
}

static keel_verdict group_hold(struct keel_call *call, const struct keel_hold_opts *opts,
			       struct keel_hold **ret_hold)
{
	struct hcall *c = (struct hcall *)call;
	struct host *h = c->host;
	struct keel_hold_opts o = { .size = sizeof(o) };
	struct keel_hold *hold;
	struct answer a;
	const char *text;
	int32_t code;

	memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	hold = c->closed || c->number == 0 ? NULL : calloc(1, sizeof(*hold));
	if (hold == NULL) {
		text_set(c, strdup(c->closed ? "it cannot wait: the operation is being ended" :
					       "it cannot wait: a tap of this point cannot wait"));
		return KEEL_FAIL;
	}
	*hold = (struct keel_hold){ .magic = HOLD_MAGIC, .call = c, .number = ++h->next_hold,
				    .resume = o.resume, .cancel = o.cancel, .arg = o.arg };
	ask_begin(h, ASK_HOLD);
	talk_put_int(&h->out, hold->number);
	talk_put_str(&h->out, o.why);
	talk_put_int(&h->out, o.until_point);
	talk_put_str(&h->out, o.until_id);
	talk_put_int(&h->out, o.timeout_ms);
	ask(h, &a);
	code = (int32_t)talk_int(&a.in);
	text_set(c, code == KEEL_WAIT || (text = talk_str(&a.in)) == NULL ? NULL : strdup(text));
	ask_end(&a);
	if (code != KEEL_WAIT) {
		free(hold);
		return KEEL_FAIL;
	}
	DL_APPEND(c->holds, hold);
	if (ret_hold != NULL)
		*ret_hold = hold;
	return KEEL_WAIT;
}

static void group_release(struct keel_hold *hold)
{
	struct host *h;

	if (hold == NULL || hold->magic != HOLD_MAGIC)
		return;
	h = hold->call->host;
	talk_begin(&h->out);
	talk_put_int(&h->out, TALK_RELEASE);
	talk_put_int(&h->out, hold->number);
	host_event(h);
}

/* ---- verdicts: they go with the answer ------------------------------------------------------------------ */
static keel_verdict text_setv(struct keel_call *call, int32_t code, const char *fmt, va_list ap, keel_verdict v)
{
	struct hcall *c = (struct hcall *)call;
	struct keel_err err = { 0 };

	if (fmt != NULL)
		err_setv(&err, 0, fmt, ap);
	text_set(c, fmt != NULL ? strdup(err.text) : NULL);
	c->code = code;
	return v;
}

static keel_verdict group_reject(struct keel_call *call, int32_t code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_setv(call, code != 0 ? code : PBSE_HOOK_REJECT, fmt, ap, KEEL_REJECT);
	va_end(ap);
	return KEEL_REJECT;
}

static keel_verdict group_fail(struct keel_call *call, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_setv(call, 0, fmt, ap, KEEL_FAIL);
	va_end(ap);
	return KEEL_FAIL;
}

static keel_verdict group_answer(struct keel_call *call, const char *text)
{
	text_set((struct hcall *)call, text != NULL ? strdup(text) : NULL);
	return KEEL_DONE;
}

static void group_add(struct keel_call *call, int64_t score)
{
	(void)call, (void)score; /* of a FOLD, which is not isolated */
}

static void group_append(struct keel_call *call, const char *text)
{
	(void)call, (void)text;
}

static int32_t group_set(struct keel_call *call, struct keel_obj *obj, const char *attr, const char *key,
			 const char *text, struct keel_err *err)
{
	struct host *h = ((struct hcall *)call)->host;
	struct keel_obj *o = handle_check(obj);
	struct answer a;
	int32_t code, pbse;

	if (o == NULL || attr == NULL)
		return err_set(err, PBSE_INTERNAL, "there is no object or no attribute to work on");
	ask_begin(h, ASK_SET);
	talk_put_str(&h->out, o->klass);
	talk_put_str(&h->out, o->id);
	talk_put_str(&h->out, attr);
	talk_put_str(&h->out, key);
	talk_put_str(&h->out, text);
	ask(h, &a);
	code = (int32_t)talk_int(&a.in);
	pbse = (int32_t)talk_int(&a.in);
	if (code != 0) {
		err_set(err, code, "%s", talk_text(&a.in));
		if (err != NULL)
			err->code = pbse;
	}
	ask_end(&a);
	return code;
}

/* Of a call's text-like questions. */
static int32_t group_get(struct keel_call *call, struct keel_obj *obj, const char *attr, const char *key,
			 char *buf, uint32_t len)
{
	struct host *h = ((struct hcall *)call)->host;
	struct keel_obj *o = handle_check(obj);
	struct answer a;
	int32_t code;

	if (o == NULL || attr == NULL)
		return -ENOENT;
	ask_begin(h, ASK_GET);
	talk_put_str(&h->out, o->klass);
	talk_put_str(&h->out, o->id);
	talk_put_str(&h->out, attr);
	talk_put_str(&h->out, key);
	ask(h, &a);
	code = (int32_t)talk_int(&a.in);
	if (code >= 0 && len > 0)
		snprintf(buf, len, "%s", talk_text(&a.in));
	ask_end(&a);
	return code;
}

static const char *borrow_text(struct host *h, const char *text)
{
	return borrow(h, text, strlen(text) + 1);
}

static const struct keel_session *group_session(struct keel_call *call)
{
	struct host *h = ((struct hcall *)call)->host;
	struct keel_session *s = NULL, got;
	struct answer a;

	ask_begin(h, ASK_SESSION);
	ask(h, &a);
	if (talk_int(&a.in) != 0) {
		session_take(&a.in, &got);
		s = borrow(h, &got, sizeof(got));
		s->user = borrow_text(h, got.user);
		s->host = borrow_text(h, got.host);
		s->who = borrow_text(h, got.who);
		s->group = got.group != NULL ? borrow_text(h, got.group) : NULL;
		s->groups = got.groups != NULL ? borrow_text(h, got.groups) : NULL;
	}
	ask_end(&a);
	return s;
}

static int32_t group_settled(struct keel_call *pub, keel_outcome_fn *fn, void *arg)
{
	(void)pub, (void)fn, (void)arg;
	return -ENOTSUP;
}

const struct keel_call_api host_call = {
	.size = sizeof(host_call),
	.version = KEEL_ABI_MINOR,
	.reject = group_reject,
	.fail = group_fail,
	.answer = group_answer,
	.add = group_add,
	.append = group_append,
	.set = group_set,
	.get = group_get,
	.hold = group_hold,
	.release = group_release,
	.session = group_session,
	.settled = group_settled,
};
