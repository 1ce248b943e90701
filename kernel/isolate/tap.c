/* SPDX-License-Identifier: Apache-2.0
 *
 * tap.c - proxy taps: what stands in a chain for a tap of another process.
 *
 *   GATE, ASK: the event goes to the process, the operation is held; the verdict that comes back ends the
 *              hold and is the tap's answer. Holds of the module's own are real holds; when one is
 *              released the process is asked for the verdict of its resume(), and the operation is held
 *              again meanwhile.
 *   NOTE:      the event goes to the process, in order; nobody waits.
 *
 * While no process is there, questions wait for the next one, each up to its deadline.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "isolate/inside.h"

#define WHY "its process is asked"
#define SLACK_MS 1000 /* the sweep comes first: it knows better what is wrong */

/* ---- calls and their end ------------------------------------------------------------------------- */
static void release(const struct isolate *iso, struct keel_hold *hold)
{
	iso->call->release(hold);
}

static void call_settle(struct iso_call *c)
{
	if (c->questions != NULL || c->holds != NULL)
		return;
	HASH_DEL(c->iso->calls, c);
	hooks_forget(c->iso->parts->hooks, c->since);
	free(c);
}

struct iso_call *call_find(const struct process *p, uint64_t number)
{
	struct iso_call *c;

	HASH_FIND(hh, p->iso->calls, &number, sizeof(number), c);
	return c != NULL && c->process == p ? c : NULL;
}

struct keel_call *call_of(const struct iso_call *c)
{
	return hooks_hold_call(c->questions != NULL ? c->questions->hold : c->holds->hold);
}

/* An answer that comes all the same is for nobody. */
static void unsend(struct iso_question *q)
{
	if (q->pending.id != 0)
		HASH_DEL(q->process->pending, &q->pending);
	q->pending.id = 0;
	q->process = NULL;
}

static void question_free(struct iso_question *q)
{
	struct isolate *iso = q->call->iso;

	unsend(q);
	DL_DELETE(q->call->questions, q);
	DL_DELETE2(iso->questions, q, all_prev, all_next);
	iso->n_questions--;
	free(q->text);
	free(q->message);
	free(q);
}

/* ---- the verdict ----------------------------------------------------------------------------------- */
static keel_verdict verdict_of(struct iso_question *q, struct keel_call *c)
{
	const struct keel_call_api *call = q->call->iso->call;

	switch (q->verdict) {
	case KEEL_REJECT:
		return call->reject(c, q->code, q->text != NULL ? "%s" : NULL, q->text);
	case KEEL_FAIL:
		return call->fail(c, "%s", q->text != NULL ? q->text : "");
	case KEEL_DONE:
		return q->text != NULL ? call->answer(c, q->text) : KEEL_DONE;
	case KEEL_WAIT:
		return q->call->holds != NULL || q->call->questions->next != NULL ?
			       KEEL_NEXT : /* they will answer */
			       call->fail(c, "it answered WAIT and took no hold");
	default:
		return q->verdict; /* the engine judges it */
	}
}

/* Our hold was released: the verdict is there. */
static keel_verdict question_told(struct keel_call *c, void *arg)
{
	struct iso_question *q = arg;
	struct iso_call *call = q->call;
	keel_verdict v = verdict_of(q, c);

	question_free(q);
	call_settle(call);
	return v;
}

static void question_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct iso_question *q = arg;
	struct iso_call *call = q->call;

	(void)c, (void)reason;
	question_free(q);
	call_settle(call);
}

/* The tap itself has answered, and does not wait: holds it took all the same are void. */
static void call_over(struct iso_call *call)
{
	struct iso_hold *h;

	call->over = true;
	DL_FOREACH(call->holds, h)
		release(call->iso, h->hold);
}

static void answered(struct process *p, struct pending *pending, struct talk_in *in, const char *why)
{
	struct iso_question *q = (struct iso_question *)pending;
	const char *text = why;

	unsend(q);
	p->of_use = true;
	q->answered = true;
	q->verdict = KEEL_FAIL;
	if (in != NULL) {
		int64_t verdict = talk_int(in);

		q->code = (int32_t)talk_int(in);
		text = talk_str(in);
		if (!talk_done(in)) {
			process_give_up(p, "its process sent what is no verdict");
			text = p->lost;
		} else {
			q->verdict = verdict >= INT32_MIN && verdict <= INT32_MAX ? (keel_verdict)verdict :
										    INT32_MAX;
		}
	}
	q->text = text != NULL ? strdup(text) : NULL;
	if (q->verdict != KEEL_WAIT && q == q->call->first)
		call_over(q->call);
	release(p->iso, q->hold);
}

/* ---- asking ----------------------------------------------------------------------------------------- */
static void question_send(struct process *p, struct iso_question *q)
{
	struct isolate *iso = p->iso;
	size_t begun = iso->scratch.len;

	process_owes(p);
	q->process = q->call->process = p;
	q->pending.id = ++p->next_id;
	q->pending.fn = answered;
	mp_raw(&iso->scratch, q->message, q->len);
	talk_end(&iso->scratch, begun, WIRE_REQUEST, q->pending.id);
	HASH_ADD(hh, p->pending, id, sizeof(q->pending.id), &q->pending);
	process_send(iso, p, begun); /* when it cannot, the process is being given up, and the call with it */
}

/* The message leaves iso->scratch. False: no memory. */
static bool question_keep(struct isolate *iso, struct iso_question *q, size_t begun)
{
	struct mp *m = &iso->scratch;

	q->len = m->len - begun;
	q->message = m->failed ? NULL : malloc(q->len);
	if (q->message != NULL)
		memcpy(q->message, m->data + begun, q->len);
	m->len = begun;
	m->failed = false;
	return q->message != NULL;
}

static void question_fail(struct iso_question *q, const char *why)
{
	q->answered = true;
	q->verdict = KEEL_FAIL;
	q->text = strdup(why);
	release(q->call->iso, q->hold);
}

static struct iso_question *question_create(struct iso_call *call, struct keel_call *c)
{
	struct isolate *iso = call->iso;
	struct iso_question *q = calloc(1, sizeof(*q));

	if (q == NULL)
		return NULL;
	q->call = call;
	if (iso->call->hold(c,
			    &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts),
						      .why = WHY,
						      .timeout_ms = iso->limits.deadline_ms + SLACK_MS,
						      .resume = question_told,
						      .cancel = question_cancelled,
						      .arg = q },
			    &q->hold) != KEEL_WAIT) {
		free(q);
		return NULL;
	}
	if (call->first == NULL)
		call->first = q;
	DL_APPEND(call->questions, q);
	DL_APPEND2(iso->questions, q, all_prev, all_next);
	iso->n_questions++;
	return q;
}

/* The message begun in iso->scratch asks for a verdict, of the process that knows the call or the one that
 * serves. KEEL_FAIL: *call is over, if it has nothing else. */
static keel_verdict ask(struct iso_call *call, struct keel_call *c, size_t begun)
{
	struct process *p = call->process != NULL ? call->process : call->iso->now;
	struct isolate *iso = call->iso;
	struct iso_question *q = question_create(call, c);

	if (q == NULL) {
		iso->scratch.len = begun;
		call_settle(call);
		return KEEL_FAIL; /* hold() has said why */
	}
	if (!question_keep(iso, q, begun))
		question_fail(q, "no memory");
	else if (process_up(p))
		question_send(p, q);
	return KEEL_WAIT;
}

void calls_flush(struct isolate *iso)
{
	struct iso_question *q;

	DL_FOREACH2(iso->questions, q, all_next) {
		if (q->process == NULL && !q->answered)
			question_send(iso->now, q);
	}
}

/* The oldest question is the one that is being answered. Those behind it were not begun. What a resume() would
 * say, nobody else knows. */
static bool can_move(const struct process *p, const struct iso_question *q)
{
	return q->process == p && &q->pending != p->pending && q == q->call->first;
}

bool calls_can_move(const struct process *p)
{
	const struct iso_question *q;
	uint32_t n = 1;

	DL_FOREACH2(p->iso->questions, q, all_next)
		n += can_move(p, q);
	return n > 1 && n == HASH_COUNT(p->pending) && p->holds == NULL;
}

void calls_take_back(struct process *p)
{
	struct iso_question *q;

	DL_FOREACH2(p->iso->questions, q, all_next) {
		if (can_move(p, q)) {
			unsend(q);
			q->call->process = NULL;
		}
	}
}

static uint32_t questions_fail(struct isolate *iso, const struct process *p, const char *why)
{
	struct iso_question *q;
	uint32_t failed = 0;

	DL_FOREACH2(iso->questions, q, all_next) {
		if (q->process != p || q->answered)
			continue;
		unsend(q);
		question_fail(q, why);
		failed++;
	}
	return failed;
}

/* Holds of the module cannot be resumed by anybody. */
static void holds_end(struct process *p)
{
	struct iso_call *c;
	struct iso_hold *h;

	for (c = p->iso->calls; c != NULL; c = c->hh.next) {
		if (c->process != p)
			continue;
		c->process = NULL;
		DL_FOREACH(c->holds, h) {
			HASH_DEL(p->holds, h);
			release(p->iso, h->hold);
		}
	}
}

uint32_t calls_fail(struct process *p, const char *why)
{
	uint32_t failed = questions_fail(p->iso, p, why);

	holds_end(p);
	return failed;
}

uint32_t calls_fail_waiting(struct isolate *iso, const char *why)
{
	return questions_fail(iso, NULL, why);
}

const char *calls_tap(const struct process *p)
{
	const struct isolate *iso = p->iso;
	const struct iso_question *q;

	DL_FOREACH2(iso->questions, q, all_next) {
		if (q->process == p)
			return q->call->tap->name;
	}
	return p->last_tap < iso->desc.n_taps ? iso->taps[p->last_tap].name : "no tap";
}

/* ---- holds of the module's own ----------------------------------------------------------------------- */
static struct iso_call *hold_free(struct iso_hold *h)
{
	struct iso_call *call = h->call;

	if (call->process != NULL)
		HASH_DEL(call->process->holds, h);
	DL_DELETE(call->holds, h);
	free(h);
	return call;
}

static void tell_cancelled(struct iso_call *call, int64_t number, int32_t reason)
{
	struct isolate *iso = call->iso;
	size_t begun = talk_begin(&iso->scratch);

	talk_put_int(&iso->scratch, TALK_CANCEL);
	talk_put_int(&iso->scratch, (int64_t)call->number);
	talk_put_int(&iso->scratch, number);
	talk_put_int(&iso->scratch, reason);
	talk_end(&iso->scratch, begun, WIRE_EVENT, 0);
	process_send(iso, call->process, begun);
}

static keel_verdict hold_resumed(struct keel_call *c, void *arg)
{
	struct iso_hold *h = arg;
	int64_t number = h->number;
	struct iso_call *call = hold_free(h);
	struct isolate *iso = call->iso;
	size_t begun;

	if (!process_up(call->process)) {
		call_settle(call);
		return iso->call->fail(c, "its process ended while it waited");
	}
	if (call->over) {
		tell_cancelled(call, number, KEEL_CANCEL_STOPPING);
		call_settle(call);
		return KEEL_NEXT;
	}
	begun = talk_begin(&iso->scratch);
	talk_put_int(&iso->scratch, TALK_RESUME);
	talk_put_int(&iso->scratch, (int64_t)call->number);
	talk_put_int(&iso->scratch, number);
	return ask(call, c, begun);
}

static void hold_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct iso_hold *h = arg;
	int64_t number = h->number;
	struct iso_call *call = hold_free(h);

	(void)c;
	tell_cancelled(call, number, reason);
	call_settle(call);
}

keel_verdict call_hold(struct iso_call *call, struct keel_hold_opts *opts, int64_t number)
{
	struct isolate *iso = call->iso;
	struct iso_hold *h = calloc(1, sizeof(*h)), *same;
	keel_verdict v;

	HASH_FIND(hh, call->process->holds, &number, sizeof(number), same);
	if (h == NULL || same != NULL || HASH_COUNT(call->process->holds) >= CALLS_MAX) {
		free(h);
		return KEEL_FAIL;
	}
	*h = (struct iso_hold){ .call = call, .number = number };
	opts->resume = hold_resumed;
	opts->cancel = hold_cancelled;
	opts->arg = h;
	v = iso->call->hold(call_of(call), opts, &h->hold);
	if (v != KEEL_WAIT) {
		free(h);
		return v;
	}
	DL_APPEND(call->holds, h);
	HASH_ADD(hh, call->process->holds, number, sizeof(h->number), h);
	if (opts->until_id != NULL &&
	    hooks_told(iso->parts->hooks, call->since, opts->until_point, opts->until_id))
		release(iso, h->hold);
	return v;
}

void call_release(struct process *p, int64_t number)
{
	struct iso_hold *h;

	HASH_FIND(hh, p->holds, &number, sizeof(number), h);
	if (h != NULL)
		release(p->iso, h->hold);
}

/* ---- events ------------------------------------------------------------------------------------------ */
struct naming {
	struct isolate *iso;
	struct iso_call *call; /* NULL: a note, which has no drafts */
};

static bool name_of(void *arg, struct keel_obj *obj, const char **ret_klass, const char **ret_id)
{
	struct naming *n = arg;
	const struct keel_object_api *object = n->iso->object;

	*ret_klass = object->klass(obj);
	*ret_id = object->id(obj);
	if (object->find(&n->iso->owner->pub, *ret_klass, *ret_id) == obj)
		return true;
	if (n->call == NULL || n->call->n_drafts == KEEL_COUNT(n->call->draft))
		return false;
	n->call->draft[n->call->n_drafts].obj = obj;
	n->call->draft[n->call->n_drafts].klass = *ret_klass;
	n->call->draft[n->call->n_drafts++].id = *ret_id;
	return true;
}

static void put_event(struct isolate *iso, struct iso_call *call, const struct iso_tap *t,
		      const void *event)
{
	struct naming naming = { iso, call };
	uint32_t n;
	const struct keel_field *fields = hooks_fields(t->point, &n);

	talk_put_event(&iso->scratch, fields, n, event, name_of, &naming);
}

static keel_verdict note(const struct iso_tap *t, struct keel_call *c, const void *event)
{
	struct isolate *iso = t->iso;
	struct process *p = iso->now;
	size_t begun;

	if (!process_hears(p) || p->state < PROCESS_READY) {
		iso->notes_lost++; /* replay tells what is there */
		return KEEL_NEXT;
	}
	if (p->notes >= NOTES_MAX && p->state == PROCESS_UP)
		return iso->call->fail(c, "its process has %u events to hear of", p->notes);
	begun = talk_begin(&iso->scratch);
	talk_put_int(&iso->scratch, TALK_NOTE);
	talk_put_int(&iso->scratch, t->number);
	put_event(iso, NULL, t, event);
	talk_end(&iso->scratch, begun, WIRE_EVENT, 0);
	process_owes(p);
	if (process_send(iso, p, begun) < 0)
		return iso->call->fail(c, "its process does not hear");
	p->notes++;
	p->last_tap = t->number;
	return KEEL_NEXT;
}

/* Look for an answer that comes at once, before this processor is left to sleep: waking it takes longer than
 * most taps do. After a look in vain some calls are not looked after. */
static void look_for(struct process *p, uint64_t number)
{
	struct isolate *iso = p->iso;
	struct loop *loop = iso->parts->loop;
	int64_t until;

	if (p->pumping)
		return;
	if (iso->blind > 0) {
		iso->blind--;
		return;
	}
	until = loop_clock_ns(loop) + LOOK_NS;
	p->users++;
	iso->blind = BLIND_CALLS;
	do {
		struct iso_call *call;

		process_pump(p);
		call = p->iso != NULL ? call_find(p, number) : NULL;
		if (call == NULL || call->questions == NULL || call->questions->pending.id == 0) {
			iso->blind = 0;
			break;
		}
	} while (p->fd >= 0 && loop_clock_ns(loop) < until);
	process_unuse(p);
}

static keel_verdict gate(const struct iso_tap *t, struct keel_call *c, const void *event)
{
	struct isolate *iso = t->iso;
	struct iso_call *call;
	uint64_t number;
	keel_verdict v;
	size_t begun;

	if (iso->now == NULL &&
	    iso->again_ms - loop_now_ms(iso->parts->loop) > iso->limits.deadline_ms)
		return iso->call->fail(c, "its process ended too often and is not there now");
	if (iso->n_questions >= CALLS_MAX)
		return iso->call->fail(c, "its process has %u calls to answer", iso->n_questions);
	call = calloc(1, sizeof(*call));
	if (call == NULL)
		return iso->call->fail(c, "no memory");
	*call = (struct iso_call){ .iso = iso, .tap = t, .number = ++iso->next_call,
				   .since = hooks_recall(iso->parts->hooks) };
	HASH_ADD(hh, iso->calls, number, sizeof(call->number), call);
	begun = talk_begin(&iso->scratch);
	talk_put_int(&iso->scratch, TALK_CALL);
	talk_put_int(&iso->scratch, (int64_t)call->number);
	talk_put_int(&iso->scratch, t->number);
	put_event(iso, call, t, event);
	number = call->number;
	v = ask(call, c, begun);
	if (v == KEEL_WAIT && process_up(iso->now))
		look_for(iso->now, number);
	return v;
}

keel_verdict tap_proxy(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct iso_tap *t = arg;

	(void)point;
	return t->kind == KEEL_NOTE ? note(t, c, event) : gate(t, c, event);
}
