/* SPDX-License-Identifier: Apache-2.0
 *
 * answer_raise.c - points that a module in a process of its own raises: its event is judged before anybody sees it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolate/asked.h"

#define TEXT_MAX (256u * 1024u)

union room {
	uint64_t align[32];
	char bytes[256];
};

static const char *text_at(const union room *event, const struct keel_field *f)
{
	const char *text;

	memcpy(&text, event->bytes + f->offset, sizeof(text));
	return text;
}

/* The class that an object of this field has to be of: the field is called like it, but for "obj", whose class the
 * event tells. */
static const char *klass_of(const struct keel_point_def *p, const union room *event, const struct keel_field *f)
{
	for (uint32_t i = 0; strcmp(f->name, "obj") == 0 && i < p->n_fields; i++) {
		if (p->fields[i].type == KEEL_FIELD_STR && strcmp(p->fields[i].name, "klass") == 0)
			return text_at(event, &p->fields[i]);
	}
	return f->name;
}

static const char *field_wrong(const struct asked *a, const struct keel_point_def *p, const union room *event,
			       const struct keel_field *f)
{
	const char *klass;
	struct keel_obj *obj;

	if (f->type == KEEL_FIELD_INT)
		return NULL;
	if (text_at(event, f) == NULL)
		return f->type == KEEL_FIELD_STR ? "its event lacks a text" : "an object of its event is not there";
	if (f->type == KEEL_FIELD_STR)
		return NULL;
	memcpy(&obj, event->bytes + f->offset, sizeof(obj));
	klass = klass_of(p, event, f);
	return klass != NULL && strcmp(klass, a->w->object->klass(obj)) == 0 ?
		       NULL : "an object of its event is of another class than its field is called";
}

/* Taps inside the daemon trust an event: no text is missing, no object gone or of another class. Why it is not like
 * that, or NULL. */
static const char *event_wrong(const struct asked *a, const struct keel_point_def *p, const union room *event)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < p->n_fields && why == NULL; i++)
		why = field_wrong(a, p, event, &p->fields[i]);
	return why;
}

/* The event of a point of the map. Why it cannot be raised, or NULL; the message may be bad as well. */
static const char *event_take(struct asked *a, int64_t point, talk_obj_fn *obj, union room *ret)
{
	struct keel_point_def p = { .size = sizeof(p) };

	if (point < 0 || point >= KEEL_POINT_OWN || a->w->hook->about(a->w->mod, (uint32_t)point, &p) < 0 ||
	    p.event_size > sizeof(union room))
		return "there is no such point";
	a->kind = p.kind;
	talk_event(a->in, p.fields, p.n_fields, ret, p.event_size, obj, a);
	return talk_bad(a->in) ? "it is no message" : event_wrong(a, &p, ret);
}

void ask_note(struct asked *a)
{
	int64_t point = talk_int(a->in);
	union room room;
	const char *why = event_take(a, point, asked_obj, &room);

	if (why == NULL && a->kind == KEEL_NOTE)
		a->w->hook->note(a->w->mod, (uint32_t)point, &room);
	asked_code(a, why == NULL ? 0 : -EINVAL);
}

void ask_fold(struct asked *a)
{
	int64_t point = talk_int(a->in), len = talk_int(a->in), sum = 0;
	char *text = len > 0 && len <= TEXT_MAX ? calloc(1, (size_t)len) : NULL;
	union room room;
	const char *why = event_take(a, point, asked_obj, &room);

	if (why == NULL && a->kind == KEEL_FOLD)
		sum = a->w->hook->fold(a->w->mod, (uint32_t)point, &room, text, text != NULL ? (uint32_t)len : 0);
	talk_put_int(a->out, sum);
	talk_put_str(a->out, text);
	talk_put_str(a->out, why);
	free(text);
}

/* ---- GATE and ASK -------------------------------------------------------------------------------------------- */
void answer_outcome(struct buf *m, const struct keel_outcome *o)
{
	talk_put_int(m, o->verdict);
	talk_put_int(m, o->code);
	talk_put_str(m, o->text);
	talk_put_str(m, o->by);
}

/* An operation may outlive what is kept of objects that are gone; those of the call end with it. */
static struct keel_obj *obj_lasting(void *arg, const char *klass, const char *id)
{
	struct asked *a = arg;
	struct keel_obj *obj = a->w->object->find(a->w->mod, klass, id);

	if (obj != NULL || a->w->call == NULL)
		return obj;
	obj = a->w->draft(a->w->arg, klass, id);
	a->drafts |= obj != NULL;
	return obj;
}

void ask_raise(struct asked *a)
{
	struct raising r = { .raise.size = sizeof(r.raise) };
	union room room;
	int64_t point;

	r.number = talk_int(a->in);
	point = talk_int(a->in);
	r.request = (uint64_t)talk_int(a->in);
	r.refused = event_take(a, point, obj_lasting, &room);
	if (r.refused == NULL && a->kind != KEEL_GATE && a->kind != KEEL_ASK)
		r.refused = "it is neither a GATE nor an ASK";
	r.drafts = a->drafts;
	r.raise.point = (uint32_t)point;
	r.raise.event = &room;
	if (!talk_bad(a->in))
		a->w->raise(a->w->arg, &r, a->out);
}
