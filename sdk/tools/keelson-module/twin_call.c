/* SPDX-License-Identifier: Apache-2.0
 *
 * twin_call.c - taps and holds of a module in a process of its own, its clock, and what it asks meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "twin_inside.h"

struct twin_seen twin_seen;

bool twin_ask(struct twin *t, struct talk_in *ret)
{
	if (modhost_ask(&t->host, ret))
		return true;
	memcpy(twin_seen.lost, t->host.lost, sizeof(twin_seen.lost));
	return false;
}

/* ---- time ------------------------------------------------------------------------------------------ */
static void turn(struct keel_mod *m, void *arg)
{
	struct twin *t = arg;
	struct talk_in in;

	t->turn = NULL;
	modhost_begin(&t->host, TALK_TURN);
	talk_put_int(&t->host.out, t->core->now_ms(m));
	twin_ask(t, &in);
	twin_settle(t);
}

void twin_settle(struct twin *t)
{
	struct talk_in in;
	int64_t next;

	if (t->host.depth > 0)
		return; /* it is in the middle of something, and will be asked behind it */
	t->core->timer_cancel(t->turn);
	t->turn = NULL;
	modhost_begin(&t->host, TALK_TURN);
	talk_put_int(&t->host.out, -1);
	if (!twin_ask(t, &in))
		return;
	next = talk_int(&in);
	twin_seen.watches |= talk_int(&in) > 0;
	if (next >= 0)
		t->turn = t->core->timer(t->mod, next - t->core->now_ms(t->mod), turn, t);
}

/* ---- what the process asks ------------------------------------------------------------------------------ */
static struct twin_call *call_find(const struct twin *t, uint64_t number)
{
	struct twin_call *c = t->calls;

	while (c != NULL && c->number != number)
		c = c->next;
	return c;
}

static void call_settle(struct twin_call *c)
{
	struct twin_call **at = &c->twin->calls;

	if (c->n_holds > 0 || c->call != NULL)
		return;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	free(c);
}


/* An object of the event by its name; nobody finds a draft. */
static struct keel_obj *draft(void *arg, const char *klass, const char *id)
{
	const struct asking *a = arg;
	const struct keel_object_api *object = a->twin->object;
	const struct keel_field *f;
	struct keel_obj *o;
	uint32_t n = 0;

	if (a->call == NULL || a->call->event == NULL)
		return NULL;
	f = a->twin->hook->fields(a->call->point, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (f[i].type != KEEL_FIELD_OBJ)
			continue;
		memcpy(&o, (const char *)a->call->event + f[i].offset, sizeof(o));
		if (o != NULL && strcmp(object->id(o), id) == 0 && strcmp(object->klass(o), klass) == 0)
			return o;
	}
	return NULL;
}

static keel_verdict resume(struct keel_call *call, void *arg);
static void cancel(struct keel_call *call, void *arg, int32_t reason);

static int32_t hold(void *arg, struct keel_hold_opts *opts, int64_t number, const char **ret_why)
{
	const struct asking *a = arg;
	struct twin_hold *h = calloc(1, sizeof(*h));
	int32_t v;

	(void)ret_why; /* the mock host keeps it for the verdict */
	if (h == NULL)
		return KEEL_FAIL;
	*h = (struct twin_hold){ .next = a->twin->holds, .call = a->call, .number = number };
	opts->resume = resume;
	opts->cancel = cancel;
	opts->arg = h;
	v = a->twin->call->hold(a->call->call, opts, &h->hold);
	if (v != KEEL_WAIT) {
		free(h);
		return v;
	}
	a->call->n_holds++;
	a->twin->holds = h;
	return v;
}

static void asked(struct twin *t, struct talk_in *in, uint64_t corr)
{
	int64_t what = talk_int(in);
	struct asking a = { t, call_find(t, (uint64_t)talk_int(in)) };
	struct whom whom = { .mod = t->mod, .call = a.call != NULL ? a.call->call : NULL, .object = t->object,
			     .api = t->call, .hook = t->hook, .draft = draft, .hold = hold, .part = twin_part,
			     .drained = twin_drained, .raise = twin_raise, .arg = &a };
	struct mp out = { 0 };

	if (answer(&whom, what, in, &out))
		modhost_reply(&t->host, corr, &out);
	else
		modhost_give_up(&t->host, "its process asked what is no question");
	mp_fini(&out);
}

struct durable {
	struct twin *twin;
	int64_t number;
};

static void is_durable(struct keel_mod *m, void *arg)
{
	struct durable *d = arg;

	(void)m;
	modhost_begin(&d->twin->host, TALK_DURABLE);
	talk_put_int(&d->twin->host.out, d->number);
	modhost_tell(&d->twin->host);
	twin_settle(d->twin);
	free(d);
}

static void when_durable(struct twin *t, int64_t number)
{
	struct durable *d = malloc(sizeof(*d));

	if (d == NULL)
		return;
	*d = (struct durable){ t, number };
	if (t->core->when_durable(t->mod, is_durable, d) < 0)
		free(d);
}

static void released(struct twin *t, int64_t number)
{
	for (struct twin_hold *h = t->holds; h != NULL; h = h->next)
		if (h->number == number) {
			t->call->release(h->hold);
			return;
		}
}

static void logged(const struct twin *t, struct talk_in *in)
{
	uint32_t event = (uint32_t)talk_int(in);
	const char *klass = talk_str(in), *object = talk_str(in);

	t->core->log(t->mod, event, klass, object, "%s", talk_text(in));
}

void twin_heard(void *arg, const struct frame *f)
{
	struct twin *t = arg;
	struct talk_in in;
	int64_t what;

	talk_open(&in, f->body, f->len);
	if (f->type == WIRE_REQUEST) {
		asked(t, &in, f->corr);
		return;
	}
	what = talk_int(&in);
	switch (what) {
	case TALK_LOG: logged(t, &in); break;
	case TALK_NOTED: break;
	case TALK_RELEASE: released(t, talk_int(&in)); break;
	case TALK_ANSWER:
	case TALK_ANSWER_OUT: twin_answered(t, what, &in); break;
	case TALK_WHEN_DURABLE: when_durable(t, talk_int(&in)); break;
	default: modhost_give_up(&t->host, "its process told what nobody understands"); break;
	}
}

/* ---- verdicts --------------------------------------------------------------------------------------- */
static keel_verdict verdict_of(const struct twin *t, struct keel_call *c, struct talk_in *in)
{
	int64_t verdict = talk_int(in);
	int32_t code = (int32_t)talk_int(in);
	const char *text = talk_str(in);

	switch (verdict) {
	case KEEL_REJECT: return t->call->reject(c, code, text != NULL ? "%s" : NULL, text);
	case KEEL_FAIL: return text != NULL ? t->call->fail(c, "%s", text) : KEEL_FAIL;
	case KEEL_DONE: return text != NULL ? t->call->answer(c, text) : KEEL_DONE;
	default: return (keel_verdict)verdict;
	}
}

/* The question that was begun is about this call, whose callback runs. */
static keel_verdict verdict_ask(struct twin_call *c, struct keel_call *call)
{
	struct twin *t = c->twin;
	keel_verdict v;
	struct talk_in in;

	c->call = call;
	if (twin_ask(t, &in))
		v = verdict_of(t, call, &in);
	else
		v = t->call->fail(call, "%s", twin_seen.lost);
	c->call = NULL;
	c->event = NULL;
	call_settle(c);
	twin_settle(t);
	return v;
}

static struct twin_call *hold_end(struct twin_hold *h)
{
	struct twin_call *c = h->call;
	struct twin_hold **at = &c->twin->holds;

	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	free(h);
	c->n_holds--;
	return c;
}

static keel_verdict resume(struct keel_call *call, void *arg)
{
	struct twin_hold *h = arg;
	int64_t number = h->number;
	struct twin_call *c = hold_end(h);

	modhost_begin(&c->twin->host, TALK_RESUME);
	talk_put_int(&c->twin->host.out, (int64_t)c->number);
	talk_put_int(&c->twin->host.out, number);
	return verdict_ask(c, call);
}

/* As in the daemon: it is told, and the call is over by then. */
static void cancel(struct keel_call *call, void *arg, int32_t reason)
{
	struct twin_hold *h = arg;
	int64_t number = h->number;
	struct twin_call *c = hold_end(h);
	struct twin *t = c->twin;

	(void)call;
	modhost_begin(&t->host, TALK_CANCEL);
	talk_put_int(&t->host.out, (int64_t)c->number);
	talk_put_int(&t->host.out, number);
	talk_put_int(&t->host.out, reason);
	call_settle(c);
	modhost_tell(&t->host);
	twin_settle(t);
}

/* ---- it is asked while it asks ------------------------------------------------------------------------ */
/* As in the daemon, it is not called before it has its answer: the question waits, and its operation. */
struct later {
	struct twin_call *call;
	struct keel_timer *timer;
	struct keel_hold *hold;
	struct mp message;
};

static struct twin_call *later_end(struct later *l)
{
	struct twin_call *c = l->call;

	c->twin->core->timer_cancel(l->timer);
	mp_fini(&l->message);
	free(l);
	return c;
}

static void later_now(struct keel_mod *m, void *arg)
{
	struct later *l = arg;

	(void)m;
	l->timer = NULL;
	l->call->twin->call->release(l->hold);
}

static keel_verdict later_ask(struct keel_call *call, void *arg)
{
	struct later *l = arg;
	struct twin *t = l->call->twin;

	mp_raw(&t->host.out, l->message.data, l->message.len);
	l->call->n_holds--;
	return verdict_ask(later_end(l), call);
}

static void later_cancelled(struct keel_call *call, void *arg, int32_t reason)
{
	struct later *l = arg;

	(void)call, (void)reason;
	l->call->n_holds--;
	call_settle(later_end(l));
}

/* The question that was begun. */
static keel_verdict ask_later(struct twin_call *c, struct keel_call *call)
{
	struct twin *t = c->twin;
	struct later *l = calloc(1, sizeof(*l));
	keel_verdict v = KEEL_FAIL;

	if (l == NULL) {
		t->host.out.len = 0;
	} else {
		l->call = c;
		l->message = t->host.out;
		t->host.out = (struct mp){ 0 };
		v = t->call->hold(call, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts),
								  .why = "its process is asked", .resume = later_ask,
								  .cancel = later_cancelled, .arg = l }, &l->hold);
	}
	c->event = NULL;
	if (v == KEEL_WAIT) {
		c->n_holds++;
		l->timer = t->core->timer(t->mod, 0, later_now, l);
	} else {
		call_settle(l != NULL ? later_end(l) : c);
	}
	return v;
}

/* ---- taps ---------------------------------------------------------------------------------------------- */
static bool name_of(void *arg, struct keel_obj *obj, const char **ret_klass, const char **ret_id)
{
	const struct keel_object_api *object = ((const struct twin *)arg)->object;

	*ret_klass = object->klass(obj);
	*ret_id = object->id(obj);
	return true;
}

static void event_put(struct twin *t, uint32_t point, int64_t row, const void *event)
{
	const struct keel_field *f;
	uint32_t n;

	f = t->hook->fields(point, &n);
	talk_put_int(&t->host.out, row);
	talk_put_event(&t->host.out, f, n, event, name_of, t);
}

static keel_verdict note(struct twin *t, uint32_t point, int64_t row, const void *event)
{
	modhost_begin(&t->host, TALK_NOTE);
	event_put(t, point, row, event);
	modhost_tell(&t->host);
	twin_settle(t);
	return KEEL_NEXT;
}

keel_verdict twin_tap(struct keel_call *call, uint32_t point, uint32_t kind, int64_t row, const void *event)
{
	struct twin *t = call->mod->state;
	struct twin_call *c;

	if (kind == KEEL_NOTE)
		return note(t, point, row, event);
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return t->call->fail(call, "no memory");
	*c = (struct twin_call){ .next = t->calls, .twin = t, .number = ++t->n_calls, .event = event, .point = point };
	t->calls = c;
	modhost_begin(&t->host, TALK_CALL);
	talk_put_int(&t->host.out, (int64_t)c->number);
	event_put(t, point, row, event);
	return t->host.depth > 0 ? ask_later(c, call) : verdict_ask(c, call);
}

