/* SPDX-License-Identifier: Apache-2.0
 *
 * tap.c - what stands in a chain for a tap of another process, and the holds that such a tap takes.
 *
 *   GATE, ASK: the event goes to the process, the operation is held; the verdict that comes back ends the hold and is the
 *              tap's answer.
 *   NOTE:      the event goes to the process, in order; nothing waits.
 *
 *   a hold of the module is released  -> the process' resume() decides, the operation is held meanwhile
 *                           cancelled -> its cancel() runs
 *   the process ends                  -> the operation fails
 *
 * So holds of the module are real holds of the daemon: what they wait for is watched here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "isolation.h"

#define SLACK_MS 1000
#define DRAFTS 4

/* A verdict wanted of the process: of the tap, or of a resume(). The operation is held meanwhile. */
struct question {
	struct question *prev, *next;		/* of the call */
	struct question *all_prev, *all_next;	/* of the module, oldest first */
	struct call *call;
	struct keel_hold *hold;
	bool first, answered;
	keel_verdict verdict;
	int32_t code;
	char *text; /* owned */
};

struct hold {
	struct hold *prev, *next; /* of the call */
	struct call *call;
	struct keel_hold *hold;
	int64_t number;
};

/* One tap's part in one operation. Ends when no question and no hold of it is left. */
struct call {
	struct isolated *iso;
	const struct iso_tap *tap;
	int64_t number;
	struct question *questions;
	struct hold *holds;
	bool asked;	/* its first question is the tap's own */
	bool over;	/* the tap answered, and not WAIT: holds it took are void */
	bool lost;	/* its process ended */
	/* What find() does not give; the raiser of the event keeps them until the end. */
	struct { struct keel_obj *obj; const char *klass, *id; } draft[DRAFTS];
	uint32_t n_drafts;
};

/* ---- calls ------------------------------------------------------------------------------------------- */
struct keel_call *call_of(const struct call *c)
{
	if (!c)
		return NULL;
	return keel_held(c->questions ? c->questions->hold : c->holds->hold);
}

struct keel_obj *call_draft(const struct call *c, const char *klass, const char *id)
{
	for (uint32_t i = 0; c && i < c->n_drafts; i++)
		if (strcmp(c->draft[i].id, id) == 0 && strcmp(c->draft[i].klass, klass) == 0)
			return c->draft[i].obj;
	return NULL;
}

static void settle(struct call *c)
{
	if (c->questions || c->holds)
		return;
	slot_free(&c->iso->calls, c->number);
	free(c);
}

const char *calls_tap(const struct isolated *iso)
{
	if (iso->asked)
		return iso->asked->call->tap->name;
	return iso->last_tap < iso->desc.n_taps ? iso->taps[iso->last_tap].name : "no tap";
}

/* ---- the verdict ----------------------------------------------------------------------------------- */
static void question_free(struct question *q)
{
	struct isolated *iso = q->call->iso;

	DL_DELETE(q->call->questions, q);
	if (!q->answered) {
		owed_forget(iso, q);
		DL_DELETE2(iso->asked, q, all_prev, all_next);
	}
	free(q->text);
	free(q);
}

/* Our hold was released: the verdict is there. */
static keel_verdict question_told(struct keel_call *c, void *arg)
{
	struct question *q = arg;
	struct call *call = q->call;
	keel_verdict v = q->verdict;

	if (v == KEEL_REJECT)
		keel_reject(c, q->code, q->text ? "%s" : NULL, q->text);
	else if (v == KEEL_FAIL)
		keel_fail(c, "%s", q->text ? q->text : "");
	else if (v == KEEL_DONE && q->text)
		v = keel_answer(c, q->text);
	else if (v == KEEL_WAIT) /* its holds will answer */
		v = call->holds || call->questions->next ? KEEL_NEXT : keel_fail(c, "it answered WAIT and took no hold");
	question_free(q);
	settle(call);
	return v; /* the daemon judges what is none */
}

static void question_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct question *q = arg;
	struct call *call = q->call;

	(void)c, (void)reason;
	question_free(q);
	settle(call);
}

static void question_answer(struct question *q, keel_verdict verdict, const char *text)
{
	struct isolated *iso = q->call->iso;
	struct hold *h;

	DL_DELETE2(iso->asked, q, all_prev, all_next);
	q->answered = true;
	q->verdict = verdict;
	q->text = text ? strdup(text) : NULL;
	if (verdict != KEEL_WAIT && q->first) {
		q->call->over = true; /* holds it took all the same are void */
		DL_FOREACH(q->call->holds, h)
			keel_release(h->hold);
	}
	keel_release(q->hold);
}

static void question_fail(struct question *q, const char *why)
{
	char text[400];

	snprintf(text, sizeof(text), "module %s: %s", q->call->iso->name, why);
	question_answer(q, KEEL_FAIL, text);
}

static void answered(struct isolated *iso, void *arg, struct talk_in *in, const char *why)
{
	struct question *q = arg;
	int64_t verdict = in ? take_int(in) : 0, code = in ? take_int(in) : 0;
	const char *text = in ? take_str(in) : NULL;

	if (!in) {
		question_fail(q, why);
	} else if (in->bad || in->at != in->end) {
		in->bad = true;
		question_fail(q, "its process sent what is no verdict");
	} else {
		q->code = (int32_t)code;
		question_answer(q, verdict >= INT32_MIN && verdict <= INT32_MAX ? (keel_verdict)verdict : INT32_MAX, text);
	}
	(void)iso;
}

uint32_t calls_asked(const struct isolated *iso)
{
	const struct question *q;
	uint32_t n = 0;

	DL_FOREACH2(iso->asked, q, all_next)
		n++;
	return n;
}

void calls_lose(struct isolated *iso)
{
	struct slots *calls = &iso->calls;

	for (uint32_t i = 0; i < calls->n; i++) {
		struct call *c = calls->at[i].thing;
		struct hold *h;

		if (!c)
			continue;
		c->lost = true;
		DL_FOREACH(c->holds, h)
			keel_release(h->hold);
	}
}

/* ---- asking ----------------------------------------------------------------------------------------- */
/* The operation is held for the answer to a message that is begun next. The hold ends by itself, but never before supervise, which
 * knows what is late, has judged all that is before it. NULL: it cannot be held, as hold() has said. */
static struct question *question_create(struct call *call, struct keel_call *c)
{
	struct isolated *iso = call->iso;
	struct question *q = calloc(1, sizeof(*q));
	struct keel_hold_opts o = { .size = sizeof(o), .why = "its process is asked", .resume = question_told,
				    .cancel = question_cancelled, .arg = q, .timeout_ms = ((int64_t)iso->n_owed + 1) * (iso->limits.deadline + 250) + SLACK_MS };

	if (!q)
		return NULL;
	q->call = call;
	q->first = !call->asked;
	if (keel_hold(c, &o, &q->hold) != KEEL_WAIT) {
		free(q);
		return NULL;
	}
	call->asked = true;
	DL_APPEND(call->questions, q);
	DL_APPEND2(iso->asked, q, all_prev, all_next);
	return q;
}

/* The message that was begun carries it. */
static void question_send(struct question *q)
{
	if (!tell(q->call->iso, answered, q))
		question_fail(q, "its process does not hear");
}

static bool name_of(void *arg, struct keel_obj *obj, const char **ret_klass, const char **ret_id)
{
	struct call *c = arg;
	const struct isolated *iso = c->iso;

	*ret_klass = keel_klass(obj);
	*ret_id = keel_id(obj);
	if (keel_find(iso->mod, *ret_klass, *ret_id) == obj)
		return true;
	if (c->number == 0 || c->n_drafts == DRAFTS)
		return false;
	c->draft[c->n_drafts].obj = obj;
	c->draft[c->n_drafts].klass = *ret_klass;
	c->draft[c->n_drafts++].id = *ret_id;
	return true;
}

/* An answer that comes at once is waited for, before this processor is left to sleep: waking it takes longer than most taps
 * do. After a look in vain some calls are not looked after. */
static void look_for(struct isolated *iso, int64_t number)
{
	const struct call *c;
	int64_t until;

	if (iso->reading || iso->blind > 0) {
		iso->blind -= iso->blind > 0;
		return;
	}
	iso->blind = BLIND_CALLS;
	until = keel_clock_us(iso->st->mod) + LOOK_US;
	do {
		keel_supervise_look(iso->process);
		c = slot_get(&iso->calls, number);
		if (!c || !c->questions || c->questions->answered) {
			iso->blind = 0;
			return;
		}
	} while (iso->phase == SERVING && keel_clock_us(iso->st->mod) < until);
}

static keel_verdict gate(const struct iso_tap *t, struct keel_call *c, const void *event)
{
	struct isolated *iso = t->iso;
	struct call *call;
	struct question *q;

	if (iso->phase != SERVING)
		return keel_fail(c, "module %s: its process ended, the next one is not up yet", iso->name);
	call = calloc(1, sizeof(*call));
	if (call)
		*call = (struct call){ .iso = iso, .tap = t, .number = slot_take(&iso->calls, call) };
	if (!call || call->number == 0) {
		free(call);
		return keel_fail(c, "module %s: its process has %u calls to answer", iso->name, iso->calls.used);
	}
	q = question_create(call, c);
	if (!q) {
		settle(call);
		return KEEL_FAIL;
	}
	talk_int(tell_begin(iso, DOWN_call, call->number, (int64_t)t->number), map_number(t->point));
	talk_event(&iso->out, t->point, event, name_of, call);
	question_send(q);
	look_for(iso, call->number);
	return KEEL_WAIT;
}

static keel_verdict note(const struct iso_tap *t, struct keel_call *c, const void *event)
{
	struct isolated *iso = t->iso;
	struct call none = { .iso = iso };

	if (iso->phase == DOWN) {
		iso->notes_lost++; /* the replay brings what is there */
		return KEEL_NEXT;
	}
	if (iso->n_owed >= NOTES_MAX && iso->phase == SERVING)
		return keel_fail(c, "module %s: its process has %u events to hear of", iso->name, iso->n_owed);
	talk_int(tell_begin(iso, DOWN_note, (int64_t)t->number), map_number(t->point));
	talk_event(&iso->out, t->point, event, name_of, &none);
	iso->last_tap = t->number;
	if (tell_ignored(iso))
		return KEEL_NEXT;
	return keel_fail(c, "module %s: its process does not hear", iso->name);
}

keel_verdict tap_called(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct iso_tap *t = arg;

	(void)point;
	return t->kind == KEEL_NOTE ? note(t, c, event) : gate(t, c, event);
}

/* ---- holds that the module took --------------------------------------------------------------------- */
static struct call *hold_free(struct hold *h)
{
	struct call *call = h->call;

	slot_free(&call->iso->holds, h->number);
	DL_DELETE(call->holds, h);
	free(h);
	return call;
}

static void tell_cancelled(struct call *call, int64_t number, int32_t reason)
{
	if (call->lost)
		return;
	tell_begin(call->iso, DOWN_cancel, call->number, number, (int64_t)reason);
	tell_ignored(call->iso);
}

static keel_verdict hold_resumed(struct keel_call *c, void *arg)
{
	struct hold *h = arg;
	int64_t number = h->number;
	struct call *call = hold_free(h);
	struct question *q = NULL;
	keel_verdict v = KEEL_NEXT;

	if (call->lost) {
		v = keel_fail(c, "module %s: its process ended while it waited", call->iso->name);
	} else if (call->over) {
		tell_cancelled(call, number, KEEL_CANCEL_STOPPING);
	} else if ((q = question_create(call, c)) == NULL) {
		v = KEEL_FAIL;
	} else {
		tell_begin(call->iso, DOWN_resume, call->number, number);
		question_send(q);
		return KEEL_WAIT;
	}
	settle(call);
	return v;
}

static void hold_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct hold *h = arg;
	int64_t number = h->number;
	struct call *call = hold_free(h);

	(void)c;
	tell_cancelled(call, number, reason);
	settle(call);
}

keel_verdict call_hold(struct call *call, struct keel_hold_opts *o, int64_t *ret_number)
{
	struct isolated *iso = call->iso;
	struct hold *h = calloc(1, sizeof(*h));
	keel_verdict v;

	if (h)
		*h = (struct hold){ .call = call, .number = slot_take(&iso->holds, h) };
	if (!h || h->number == 0) {
		free(h);
		return KEEL_FAIL;
	}
	o->resume = hold_resumed;
	o->cancel = hold_cancelled;
	o->arg = h;
	v = keel_hold(call_of(call), o, &h->hold);
	if (v == KEEL_WAIT) {
		*ret_number = h->number;
		DL_APPEND(call->holds, h);
		return v;
	}
	slot_free(&iso->holds, h->number);
	free(h);
	return v;
}

void hold_release(struct isolated *iso, int64_t number)
{
	const struct hold *h = slot_get(&iso->holds, number);

	if (h)
		keel_release(h->hold);
}
