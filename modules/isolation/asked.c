/* SPDX-License-Identifier: Apache-2.0
 *
 * asked.c - calls of the module about objects and its operation, each answered at once.
 *
 * It can do what a tap inside the daemon could do, no more: changes go through the operation's change set, writes to objects
 * are those of the system. An object is found anew by class and id each time; a draft is known within the call that named it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolation.h"

#define WALK_AT_ONCE 256

/* Finds what a message names: an object of the call, or any; its attribute. False: there is no such thing. */
bool asked_resolve(struct asked *a, const char *letters, const struct value *v)
{
	const char *klass = NULL;

	for (; *letters; letters++, v++) {
		if (*letters == 'o') {
			klass = v->s;
			a->obj = klass && v->id ? call_draft(a->call, klass, v->id) : NULL;
			if (!a->obj && klass && v->id)
				a->obj = keel_find(a->iso->mod, klass, v->id);
			if (!a->obj)
				return false;
		} else if (*letters == 'a') {
			a->attr = v->s ? keel_attr_find(a->iso->mod, klass, v->s) : NULL;
			if (!a->attr)
				return false;
		}
	}
	return true;
}

static void put_step(struct asked *a, int32_t code, const struct keel_err *err)
{
	talk_int(a->out, code);
	talk_int(a->out, err->code);
	talk_str(a->out, err->text);
}

/* ---- call ------------------------------------------------------------------------------------------- */
void asked_set(struct asked *a, const struct value *v)
{
	struct keel_err err = { .code = 0 };

	if (a->call && v[1].s)
		put_step(a, keel_call_set(call_of(a->call), a->obj, v[1].s, v[2].s, v[3].s, &err), &err);
}

void asked_hold(struct asked *a, const struct value *v)
{
	struct keel_hold_opts o = { .size = sizeof(o), .why = v[0].s, .until_point = (uint32_t)v[1].i, .until_id = v[2].s,
				    .timeout_ms = v[3].i };
	int64_t number = 0;

	if (a->call && call_hold(a->call, &o, &number) == KEEL_WAIT) {
		talk_int(a->out, KEEL_WAIT);
		talk_int(a->out, number);
	} else {
		talk_int(a->out, KEEL_FAIL);
		talk_str(a->out, "it cannot wait: without a reason, at a point that does not wait, or with too many holds");
	}
}

void asked_release(struct asked *a, const struct value *v)
{
	hold_release(a->iso, v[0].i);
}

void asked_session(struct asked *a, const struct value *v)
{
	struct talk session = { .data = NULL };

	(void)v;
	if (a->call && keel_call_session(call_of(a->call)))
		talk_row(&session, talk_session, keel_call_session(call_of(a->call)));
	talk_bytes(a->out, session.data, session.len);
	free(session.data);
}

/* ---- object: reading ---------------------------------------------------------------------------------- */
void asked_find(struct asked *a, const struct value *v)
{
	(void)v;
	talk_int(a->out, 1);
}

void asked_count(struct asked *a, const struct value *v)
{
	talk_int(a->out, v[0].s ? keel_count(a->iso->mod, v[0].s) : 0);
}

/* Walks: a piece at a time; the last one goes on where it was. */
void walk_end(struct isolated *iso)
{
	if (iso->walk.cursor)
		keel_cursor_close(iso->walk.cursor);
	iso->walk.cursor = NULL;
	free(iso->walk.klass);
	free(iso->walk.last);
	iso->walk.klass = iso->walk.last = NULL;
}

/* Behind the object called `behind`; when that is gone, from the beginning. */
static void walk_begin(struct isolated *iso, const char *klass, const char *behind)
{
	struct keel_obj *o = behind ? keel_find(iso->mod, klass, behind) : NULL, *at;

	walk_end(iso);
	iso->walk.cursor = keel_cursor(iso->mod, klass);
	iso->walk.klass = strdup(klass);
	do
		at = o && iso->walk.cursor ? keel_next(iso->walk.cursor) : NULL;
	while (at && at != o);
}

void asked_walk(struct asked *a, const struct value *v)
{
	struct isolated *iso = a->iso;
	const char *klass = v[0].s ? v[0].s : "", *behind = v[1].s, *ids[WALK_AT_ONCE];
	int64_t want = v[2].i < WALK_AT_ONCE ? v[2].i : WALK_AT_ONCE, n = 0;
	struct keel_obj *o;

	if (!iso->walk.klass || !iso->walk.last || !behind || strcmp(iso->walk.klass, klass) != 0 ||
	    strcmp(iso->walk.last, behind) != 0)
		walk_begin(iso, klass, behind);
	while (iso->walk.cursor && n < want && (o = keel_next(iso->walk.cursor)) != NULL)
		ids[n++] = keel_id(o);
	talk_int(a->out, n);
	for (int64_t i = 0; i < n; i++)
		talk_str(a->out, ids[i]);
	free(iso->walk.last);
	iso->walk.last = n > 0 ? strdup(ids[n - 1]) : NULL;
	if (n < want)
		walk_end(iso);
}

void asked_attr(struct asked *a, const struct value *v)
{
	const struct keel_attr *row = v[0].s && v[1].s ? keel_attr_find(a->iso->mod, v[0].s, v[1].s) : NULL;

	talk_int(a->out, row != NULL);
	talk_int(a->out, row ? keel_attr_flags(row) : 0);
}

/* What something like snprintf() returns, and the text. */
static int32_t text_get(struct asked *a, const struct value *v, char *buf, uint32_t len)
{
	if (v[0].i != 0 && a->call)
		return keel_call_get(call_of(a->call), a->obj, v[2].s, v[3].s, buf, len);
	return keel_get_text(a->obj, a->attr, v[3].s, buf, len);
}

void asked_text(struct asked *a, const struct value *v)
{
	char small[1024], *buf = small;
	int32_t len = text_get(a, v, small, sizeof(small));

	if (len >= (int32_t)sizeof(small)) {
		buf = (uint32_t)len < TEXT_MAX ? malloc((size_t)len + 1) : NULL;
		len = buf ? text_get(a, v, buf, (uint32_t)len + 1) : -ENOMEM;
	}
	talk_int(a->out, len);
	talk_str(a->out, len >= 0 ? buf : NULL);
	if (buf != small)
		free(buf);
}

static void emit_one(void *arg, const char *key, const char *text, uint32_t len)
{
	struct asked *a = arg;

	if (a->out->len > TEXT_MAX)
		return;
	talk_int(a->out, 1);
	talk_str(a->out, key);
	talk_bytes(a->out, text, len);
}

void asked_emit(struct asked *a, const struct value *v)
{
	keel_emit(a->obj, a->attr, v[2].s, &(struct keel_emit){ emit_one, a });
	talk_int(a->out, 0);
}

void asked_integer(struct asked *a, const struct value *v)
{
	(void)v;
	talk_int(a->out, keel_is_set(a->obj, a->attr));
	talk_int(a->out, keel_get_int(a->obj, a->attr));
}

void asked_string(struct asked *a, const struct value *v)
{
	(void)v;
	talk_str(a->out, keel_get_str(a->obj, a->attr));
}

/* ---- object: writing, as the system does ---------------------------------------------------------------- */
void asked_set_int(struct asked *a, const struct value *v)
{
	keel_set_int(a->obj, a->attr, v[2].i);
	talk_int(a->out, 1);
}

void asked_set_text(struct asked *a, const struct value *v)
{
	struct keel_err err = { .code = 0 };

	if (v[2].i >= KEEL_SET && v[2].i <= KEEL_DECR)
		put_step(a, keel_set_text(a->obj, a->attr, (int32_t)v[2].i, v[3].s, v[4].s, &err), &err);
}

void asked_unset(struct asked *a, const struct value *v)
{
	keel_unset(a->obj, a->attr, v[2].s);
	talk_int(a->out, 1);
}
