/* SPDX-License-Identifier: Apache-2.0
 *
 * raise.c - points that the module raises: a question whose answer may come later.
 *
 *   the process asks -> raise() -> its outcome is the answer
 *                               -> WAIT is the answer -> ... -> done() -> DOWN_outcome
 *
 * Its event is judged before a tap sees it. Nothing is called in the process while it waits for that answer: a tap of its own
 * is called all the same, and then the answer is WAIT. An operation ends with the process that raised it, and with the call
 * whose drafts it is about.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolation.h"

struct raised {
	struct isolated *iso; /* NULL: its process ended, no one hears of the outcome */
	int64_t number;
	int64_t call;	  /* whose drafts its event has; 0: none */
	struct talk *out; /* for the outcome while raise() runs */
};

/* ---- events ------------------------------------------------------------------------------------------- */
/* The class that an object of this field has to be of: the field is called like it, but for "obj", whose class the event
 * says. */
static const char *klass_of(const struct map_point *p, const union event_room *event, const struct keel_field *f)
{
	const char *klass = f->name;
	uint32_t n;
	const struct keel_field *fields = p->fields(&n);

	for (uint32_t i = 0; strcmp(f->name, "obj") == 0 && i < n; i++)
		if (strcmp(fields[i].name, "klass") == 0)
			memcpy(&klass, event->bytes + fields[i].offset, sizeof(klass));
	return klass;
}

/* Taps inside the daemon trust an event: no text is missing, no object gone or of another class. Why it is not like that,
 * or NULL. */
static const char *event_wrong(const struct map_point *p, const union event_room *event)
{
	uint32_t n;
	const struct keel_field *fields = p->fields(&n);

	for (uint32_t i = 0; i < n; i++) {
		const char *klass;
		void *at;

		if (fields[i].type == KEEL_FIELD_INT)
			continue;
		memcpy(&at, event->bytes + fields[i].offset, sizeof(at));
		if (!at)
			return fields[i].type == KEEL_FIELD_STR ? "its event lacks a text" : "an object of its event is not there";
		klass = klass_of(p, event, &fields[i]);
		if (fields[i].type == KEEL_FIELD_OBJ && (!klass || strcmp(klass, keel_klass(at)) != 0))
			return "an object of its event is of another class than its field is called";
	}
	return NULL;
}

/* Why it cannot be raised, or NULL; the message may be bad as well. */
static const char *event_take(struct asked *a, obj_fn *obj, const struct map_point **ret_point, union event_room *ret)
{
	const struct map_point *p = map_point(take_int(a->in));

	*ret_point = p;
	if (!p) {
		a->in->bad = true;
		return "there is no such point";
	}
	take_event(a->in, p, ret, obj, a);
	return a->in->bad ? "it is no message" : event_wrong(p, ret);
}

/* ---- NOTE and FOLD ------------------------------------------------------------------------------------- */
void asked_note(struct asked *a, const struct value *v)
{
	const struct map_point *p;
	union event_room room;
	const char *why = event_take(a, asked_obj, &p, &room);

	(void)v;
	if (!why && p->kind == KEEL_NOTE)
		keel_note(a->iso->mod, map_number(p), &room);
	talk_int(a->out, why ? -EINVAL : 0);
}

void asked_fold(struct asked *a, const struct value *v)
{
	char *text = v[0].i > 0 && v[0].i <= TEXT_MAX ? calloc(1, (size_t)v[0].i) : NULL;
	const struct map_point *p;
	union event_room room;
	const char *why = event_take(a, asked_obj, &p, &room);
	int64_t sum = 0;

	if (!why && p->kind == KEEL_FOLD)
		sum = keel_fold(a->iso->mod, map_number(p), &room, text, text ? (uint32_t)v[0].i : 0);
	talk_int(a->out, sum);
	talk_str(a->out, text);
	talk_str(a->out, why);
	free(text);
}

/* ---- GATE and ASK -------------------------------------------------------------------------------------- */
static void talk_outcome(struct talk *m, const struct keel_outcome *o)
{
	talk_int(m, o->verdict);
	talk_int(m, o->code);
	talk_str(m, o->text);
	talk_str(m, o->by);
}

static void over(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	struct raised *r = arg;
	struct isolated *iso = r->iso;

	(void)m;
	if (r->out) {
		talk_outcome(r->out, o);
	} else if (iso && iso->phase != DOWN) {
		tell_begin(iso, DOWN_outcome, r->number, (int64_t)o->verdict, (int64_t)o->code, o->text, o->by);
		tell_ignored(iso);
	}
	if (iso)
		slot_free(&iso->raised, r->number);
	free(r);
}

/* An operation may outlive what is kept of objects that are gone; those of the call end with it. */
static struct keel_obj *obj_lasting(void *arg, const char *klass, const char *id)
{
	struct asked *a = arg;
	struct keel_obj *obj = keel_find(a->iso->mod, klass, id);

	if (obj || !a->call)
		return obj;
	obj = call_draft(a->call, klass, id);
	a->drafts = a->drafts || obj;
	return obj;
}

static void refuse(struct asked *a, const struct map_point *p, const char *why)
{
	struct isolated *iso = a->iso;

	if (log_may(iso))
		iso_log(iso, KEEL_LOG_ERROR, "module %s raised point %u: %s", iso->name, p ? map_number(p) : 0, why);
	talk_outcome(a->out, &(struct keel_outcome){ .size = sizeof(struct keel_outcome), .verdict = KEEL_FAIL, .text = why });
}

void asked_raise(struct asked *a, const struct value *v)
{
	struct isolated *iso = a->iso;
	const struct map_point *p;
	union event_room room;
	const char *why = event_take(a, obj_lasting, &p, &room);
	struct keel_raise raise = { .size = sizeof(raise), .event = &room, .done = over };
	struct raised *r = NULL;
	uint32_t outer = iso->depth;
	int64_t number;

	(void)v;
	if (!why && p->kind != KEEL_GATE && p->kind != KEEL_ASK)
		why = "it is neither a GATE nor an ASK";
	if (!why && a->call && call_depth(a->call) >= RAISED_DEPTH)
		why = "operations are nested too deeply";
	if (!why) {
		r = calloc(1, sizeof(*r));
		number = r ? slot_take(&iso->raised, r) : 0;
		why = number == 0 ? "too many operations that its process raised wait" : NULL;
	}
	if (why) {
		free(r);
		refuse(a, p, why);
		return;
	}
	*r = (struct raised){ .iso = iso, .number = number, .out = a->out,
			      .call = a->call && a->drafts ? call_number(a->call) : 0 };
	raise.point = map_number(p);
	raise.arg = r;
	iso->depth = a->call ? call_depth(a->call) + 1 : 1;
	if (keel_raise(iso->mod, &raise) == KEEL_WAIT) {
		r->out = NULL;
		talk_int(a->out, KEEL_WAIT);
		talk_int(a->out, number);
	}
	iso->depth = outer;
}

/* ---- ends ----------------------------------------------------------------------------------------------- */
void raised_call_ends(struct isolated *iso, int64_t call)
{
	for (uint32_t i = 0; i < iso->raised.n; i++) {
		const struct raised *r = iso->raised.at[i].thing;

		if (r && r->call == call)
			keel_end(iso->mod, r);
	}
}

void raised_end(struct isolated *iso)
{
	for (uint32_t i = 0; i < iso->raised.n; i++) {
		struct raised *r = iso->raised.at[i].thing;

		if (!r)
			continue;
		slot_free(&iso->raised, r->number);
		r->iso = NULL;
		keel_end(iso->mod, r);
	}
}
