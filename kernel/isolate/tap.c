/* SPDX-License-Identifier: Apache-2.0
 *
 * tap.c - proxy taps: what stands in a chain for a tap of another process.
 *
 *   GATE, ASK: the event goes to the process, the operation is held; the verdict that comes back ends the
 *              hold and is the tap's answer.
 *   NOTE:      the event goes to the process, in order; nobody waits.
 *
 * While a change of the modules starts the process, questions wait for it. After its end they fail until the next one
 * is up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "isolate/inside.h"
#include "util/text.h"

#define WHY "its process is asked"
#define SLACK_MS 1000
#define STEPS 4 /* until a process is up */

/* ---- calls and their end ------------------------------------------------------------------------- */
void iso_release(const struct isolate *iso, struct keel_hold *hold)
{
	iso->call->release(hold);
}

void call_settle(struct iso_call *c)
{
	if (c->questions != NULL || c->holds != NULL)
		return;
	if (c->n_drafts > 0 && c->process != NULL)
		raised_call_ends(c->process, c->number);
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
		iso_release(call->iso, h->hold);
}

static void answered(struct process *p, struct pending *pending, struct talk_in *in, const char *why)
{
	struct iso_question *q = (struct iso_question *)pending;
	const char *text = NULL;

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
			why = p->lost;
			text = NULL;
		} else {
			q->verdict = verdict >= INT32_MIN && verdict <= INT32_MAX ? (keel_verdict)verdict :
										    INT32_MAX;
		}
	}
	if (why != NULL)
		q->text = text_format("module %s: %s", p->iso->name, why);
	else
		q->text = text != NULL ? strdup(text) : NULL;
	if (q->verdict != KEEL_WAIT && q->first)
		call_over(q->call);
	iso_release(p->iso, q->hold);
}

/* ---- asking ----------------------------------------------------------------------------------------- */
static void question_send(struct process *p, struct iso_question *q)
{
	struct isolate *iso = p->iso;
	size_t begun = iso->scratch.len;
	bool known = pending_open(p, &q->pending, answered);

	q->process = q->call->process = p;
	buf_add(&iso->scratch, q->message, q->len);
	talk_end(&iso->scratch, begun, WIRE_REQUEST, q->pending.id);
	if (!known) {
		q->pending.id = 0;
		process_give_up(p, "no memory for a question to its process");
	}
	process_send(iso, p, begun); /* when it cannot, the process is being given up, and the call with it */
}

/* The message leaves iso->scratch. False: no memory. */
static bool question_keep(struct isolate *iso, struct iso_question *q, size_t begun)
{
	struct buf *m = &iso->scratch;

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
	q->text = text_format("module %s: %s", q->call->iso->name, why);
	iso_release(q->call->iso, q->hold);
}

/* When the hold of a question ends by itself: never before the sweep, which knows who is late, has judged all that is before
 * it, and the steps of a process that is not up. */
static int64_t longest_ms(const struct isolate *iso)
{
	int64_t each = iso->limits.deadline_ms + LOOK_MAX_MS, ahead = iso->n_questions;

	if (iso->now != NULL)
		ahead += iso->now->notes;
	return (ahead + 1) * each + (process_up(iso->now) ? 0 : STEPS * START_DEADLINE_MS) + SLACK_MS;
}

static struct iso_question *question_create(struct iso_call *call, struct keel_call *c)
{
	struct isolate *iso = call->iso;
	struct iso_question *q = calloc(1, sizeof(*q));
	struct keel_hold_opts opts = { .size = sizeof(opts), .why = WHY, .resume = question_told,
				       .cancel = question_cancelled, .arg = q,
				       .timeout_ms = longest_ms(iso) };

	if (q == NULL)
		return NULL;
	q->call = call;
	q->first = !call->asked;
	if (iso->call->hold(c, &opts, &q->hold) != KEEL_WAIT) {
		free(q);
		return NULL;
	}
	call->asked = true;
	DL_APPEND(call->questions, q);
	DL_APPEND2(iso->questions, q, all_prev, all_next);
	iso->n_questions++;
	return q;
}

keel_verdict call_ask(struct iso_call *call, struct keel_call *c, size_t begun)
{
	struct process *p = call->process != NULL ? call->process : call->iso->now;
	bool hears = call->process != NULL ? process_hears(p) : process_up(p);
	struct isolate *iso = call->iso;
	struct iso_question *q = question_create(call, c);

	if (q == NULL) {
		iso->scratch.len = begun;
		call_settle(call);
		return KEEL_FAIL; /* hold() has said why */
	}
	if (!question_keep(iso, q, begun))
		question_fail(q, "no memory");
	else if (hears)
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

uint32_t calls_fail(struct isolate *iso, const char *why)
{
	struct iso_question *q;
	uint32_t failed = 0;

	DL_FOREACH2(iso->questions, q, all_next) {
		if (q->answered)
			continue;
		unsend(q);
		question_fail(q, why);
		failed++;
	}
	return failed;
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

/* Its call's number, or 0: *ret_verdict says why. */
static uint64_t call_begin(const struct iso_tap *t, struct keel_call *c, const void *event, keel_verdict *ret_verdict)
{
	struct isolate *iso = t->iso;
	struct iso_call *call = calloc(1, sizeof(*call));
	uint64_t number = ++iso->next_call;
	size_t begun;

	if (call == NULL) {
		*ret_verdict = iso->call->fail(c, "no memory");
		return 0;
	}
	*call = (struct iso_call){ .iso = iso, .tap = t, .number = number, .depth = iso->raising,
				   .since = hooks_recall(iso->parts->hooks) };
	HASH_ADD(hh, iso->calls, number, sizeof(call->number), call);
	if (!hash_holds(call)) {
		free(call);
		*ret_verdict = iso->call->fail(c, "no memory");
		return 0;
	}
	begun = talk_begin(&iso->scratch);
	talk_put_int(&iso->scratch, TALK_CALL);
	talk_put_int(&iso->scratch, (int64_t)number);
	talk_put_int(&iso->scratch, t->number);
	put_event(iso, call, t, event);
	*ret_verdict = call_ask(call, c, begun);
	return *ret_verdict == KEEL_WAIT ? number : 0;
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
		return iso->call->fail(c, "module %s: its process has %u events to hear of", iso->name, p->notes);
	begun = talk_begin(&iso->scratch);
	talk_put_int(&iso->scratch, TALK_NOTE);
	talk_put_int(&iso->scratch, t->number);
	put_event(iso, NULL, t, event);
	talk_end(&iso->scratch, begun, WIRE_EVENT, 0);
	process_owes(p);
	if (process_send(iso, p, begun) < 0)
		return iso->call->fail(c, "module %s: its process does not hear", iso->name);
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
	uint64_t number;
	keel_verdict v;

	if (iso->serves && !iso->returns && !process_up(iso->now))
		return iso->call->fail(c, "module %s: its process ended, the next one is not up yet", iso->name);
	if (iso->n_questions >= CALLS_MAX)
		return iso->call->fail(c, "module %s: its process has %u calls to answer", iso->name,
				       iso->n_questions);
	number = call_begin(t, c, event, &v);
	if (number != 0 && process_up(iso->now))
		look_for(iso->now, number);
	return v;
}

keel_verdict tap_proxy(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct iso_tap *t = arg;

	(void)point;
	return t->kind == KEEL_NOTE ? note(t, c, event) : gate(t, c, event);
}
