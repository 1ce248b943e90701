/* SPDX-License-Identifier: Apache-2.0
 *
 * raise.c - the module raises points: the daemon is asked, and who waits hears of the outcome later.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "keel/sized.h"
#include "modhost/host.h"

struct raised {
	struct raised *prev, *next;
	int64_t number;
	keel_outcome_fn *done;
	void *arg;
};

union room {
	uint64_t align[32];
	char bytes[256];
};

/* ---- events ---------------------------------------------------------------------------------------- */
static bool name_of(void *arg, struct keel_obj *obj, const char **ret_klass, const char **ret_id)
{
	struct keel_obj *o = handle_check(obj);

	(void)arg;
	if (o == NULL)
		return false;
	*ret_klass = o->klass;
	*ret_id = o->id;
	return true;
}

static void put_event(struct host *h, const struct keel_point_def *p, const void *event)
{
	union room whole = { .align = { 0 } };
	uint32_t size = *(const uint32_t *)event;

	memcpy(&whole, event, size < p->event_size ? size : p->event_size);
	talk_put_event(&h->out, p->fields, p->n_fields, &whole, name_of, h);
}

/* A point of the map; false: an event of it cannot be told. */
static bool about(struct host *h, uint32_t point, const void *event, struct keel_point_def *ret)
{
	ret->size = sizeof(*ret);
	return event != NULL && map_about(&h->owner.pub, point, ret) == 0 && ret->event_size <= sizeof(union room);
}

/* ---- GATE and ASK ------------------------------------------------------------------------------------ */
static keel_verdict fail(struct host *h, const struct keel_raise *r, const char *why)
{
	const struct keel_outcome o = { .size = sizeof(o), .verdict = KEEL_FAIL, .text = why };
	char text[160];

	snprintf(text, sizeof(text), "module %s raised point %u: %s", h->owner.pub.name, r->point, why);
	host_log(h, KEEL_LOG_ERROR, text);
	if (r->done != NULL)
		r->done(&h->owner.pub, r->arg, &o);
	return KEEL_FAIL;
}

static void outcome_take(struct talk_in *in, struct keel_outcome *ret)
{
	*ret = (struct keel_outcome){ .size = sizeof(*ret) };
	ret->verdict = (keel_verdict)talk_int(in);
	ret->code = (int32_t)talk_int(in);
	ret->text = talk_str(in);
	ret->by = talk_str(in);
}

static struct raised *wait_for(struct host *h, const struct keel_raise *r)
{
	struct raised *w = malloc(sizeof(*w));

	if (w == NULL)
		abort();
	*w = (struct raised){ .number = ++h->next_raised, .done = r->done, .arg = r->arg };
	DL_APPEND(h->raised, w);
	return w;
}

static void forget(struct host *h, struct raised *w)
{
	DL_DELETE(h->raised, w);
	free(w);
}

static keel_verdict raise_asked(struct host *h, const struct keel_raise *r, const struct keel_point_def *p)
{
	struct raised *w = wait_for(h, r);
	struct keel_outcome o;
	struct answer a;

	ask_begin(h, ASK_RAISE);
	talk_put_int(&h->out, w->number);
	talk_put_int(&h->out, r->point);
	talk_put_int(&h->out, r->req != NULL ? req_number(r->req) : 0);
	put_event(h, p, r->event);
	ask(h, &a);
	outcome_take(&a.in, &o);
	if (o.verdict != KEEL_WAIT) {
		forget(h, w);
		if (r->done != NULL)
			r->done(&h->owner.pub, r->arg, &o);
	}
	ask_end(&a);
	return o.verdict;
}

keel_verdict raise_point(struct keel_mod *m, const struct keel_raise *theirs)
{
	struct host *h = host_of(m);
	struct keel_point_def p;
	struct keel_raise r;

	KEEL_SIZED(&r, theirs);
	if (r.changes != NULL)
		return fail(h, &r, "a module in a process of its own has no change sets");
	if (!about(h, r.point, r.event, &p))
		return fail(h, &r, "it is not a point that a module in a process of its own can raise");
	return raise_asked(h, &r, &p);
}

void raise_told(struct host *h, struct talk_in *in)
{
	int64_t number = talk_int(in);
	struct keel_outcome o;
	struct raised *w, was;

	outcome_take(in, &o);
	DL_FOREACH(h->raised, w) {
		if (w->number == number)
			break;
	}
	if (w == NULL || talk_bad(in))
		return;
	was = *w;
	forget(h, w);
	if (was.done != NULL)
		was.done(&h->owner.pub, was.arg, &o);
}

/* ---- NOTE and FOLD ------------------------------------------------------------------------------------- */
void raise_note(struct keel_mod *m, uint32_t point, const void *event)
{
	struct host *h = host_of(m);
	struct keel_point_def p;

	if (!about(h, point, event, &p) || p.kind != KEEL_NOTE)
		return;
	ask_begin(h, ASK_NOTE);
	talk_put_int(&h->out, point);
	put_event(h, &p, event);
	ask_code(h);
}

int64_t raise_fold(struct keel_mod *m, uint32_t point, const void *event, char *buf, uint32_t len)
{
	struct host *h = host_of(m);
	struct keel_point_def p;
	struct answer a;
	const char *why;
	char text[160];
	int64_t sum;

	if (buf != NULL && len > 0)
		buf[0] = '\0';
	if (!about(h, point, event, &p) || p.kind != KEEL_FOLD)
		return 0;
	ask_begin(h, ASK_FOLD);
	talk_put_int(&h->out, point);
	talk_put_int(&h->out, buf != NULL ? len : 0);
	put_event(h, &p, event);
	ask(h, &a);
	sum = talk_int(&a.in);
	if (buf != NULL && len > 0)
		snprintf(buf, len, "%s", talk_text(&a.in));
	else
		talk_str(&a.in);
	why = talk_str(&a.in);
	if (why != NULL) {
		snprintf(text, sizeof(text), "module %s raised point %u: %s", m->name, point, why);
		host_log(h, KEEL_LOG_ERROR, text);
	}
	ask_end(&a);
	return sum;
}
