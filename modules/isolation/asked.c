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

/* Of the call, or found anew. */
static struct keel_obj *asked_obj(const struct asked *a, const char *klass, const char *id)
{
	struct keel_obj *obj = klass && id ? call_draft(a->call, klass, id) : NULL;

	return obj || !klass || !id ? obj : keel_find(a->iso->mod, klass, id);
}

/* The first three values: an object and the name of one of its attributes. NULL: there is no such thing. */
static struct keel_obj *obj_and_attr(struct asked *a, const struct value *v, const struct keel_attr **ret_attr)
{
	struct keel_obj *obj = asked_obj(a, v[0].s, v[1].s);

	*ret_attr = obj && v[2].s ? keel_attr_find(a->iso->mod, v[0].s, v[2].s) : NULL;
	return *ret_attr ? obj : NULL;
}

static void put_step(struct asked *a, int32_t code, const struct keel_err *err)
{
	talk_int(a->out, code);
	talk_int(a->out, err->code);
	talk_str(a->out, err->text);
}

static void put_gone(struct asked *a)
{
	put_step(a, -ENOENT, &(struct keel_err){ .text = "there is no such object or attribute any more" });
}

/* ---- call ------------------------------------------------------------------------------------------- */
void asked_set(struct asked *a, const struct value *v)
{
	struct keel_obj *obj = a->call && v[2].s ? asked_obj(a, v[0].s, v[1].s) : NULL;
	struct keel_err err = { .code = 0 };

	if (!obj)
		put_gone(a);
	else
		put_step(a, keel_call_set(call_of(a->call), obj, v[2].s, v[3].s, v[4].s, &err), &err);
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
	talk_int(a->out, asked_obj(a, v[0].s, v[1].s) != NULL);
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
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, v + 1, &row);

	if (!obj)
		return -ENOENT;
	if (v[0].i != 0 && a->call)
		return keel_call_get(call_of(a->call), obj, v[3].s, v[4].s, buf, len);
	return keel_get_text(obj, row, v[4].s, buf, len);
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
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, v, &row);

	if (obj)
		keel_emit(obj, row, v[3].s, &(struct keel_emit){ emit_one, a });
	talk_int(a->out, 0);
}

void asked_integer(struct asked *a, const struct value *v)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, v, &row);

	talk_int(a->out, obj && keel_is_set(obj, row));
	talk_int(a->out, obj ? keel_get_int(obj, row) : 0);
}

void asked_string(struct asked *a, const struct value *v)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, v, &row);

	talk_str(a->out, obj ? keel_get_str(obj, row) : NULL);
}

void asked_match(struct asked *a, const struct value *v)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, v, &row);
	struct keel_err err = { .code = 0 };

	if (!obj || !v[5].s)
		put_gone(a);
	else
		put_step(a, keel_match(obj, row, (int32_t)v[3].i, v[4].s, v[5].s, &err), &err);
}

/* ---- object: writing, as the system does ---------------------------------------------------------------- */
void asked_set_int(struct asked *a, const struct value *v)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, v, &row);

	if (obj)
		keel_set_int(obj, row, v[3].i);
	talk_int(a->out, obj ? 0 : -ENOENT);
}

void asked_set_text(struct asked *a, const struct value *v)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, v, &row);
	struct keel_err err = { .code = 0 };

	if (!obj || v[3].i < KEEL_SET || v[3].i > KEEL_DECR)
		put_gone(a);
	else
		put_step(a, keel_set_text(obj, row, (int32_t)v[3].i, v[4].s, v[5].s, &err), &err);
}

void asked_unset(struct asked *a, const struct value *v)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, v, &row);

	if (obj)
		keel_unset(obj, row, v[3].s);
	talk_int(a->out, obj ? 0 : -ENOENT);
}

/* ---- core ------------------------------------------------------------------------------------------------- */
struct durable {
	struct isolated *iso;
	int64_t number;
	uint32_t life;
};

static void is_durable(struct keel_mod *m, void *arg)
{
	struct durable *d = arg;
	struct isolated *iso = d->iso;

	(void)m;
	iso->n_durables--;
	if (iso->phase != DOWN && d->life == iso->life) {
		tell_begin(iso, DOWN_durable, d->number);
		tell_ignored(iso);
	}
	free(d);
}

void asked_when_durable(struct asked *a, const struct value *v)
{
	struct isolated *iso = a->iso;
	struct durable *d = iso->n_durables < CALLS_MAX ? malloc(sizeof(*d)) : NULL;

	if (d)
		*d = (struct durable){ .iso = iso, .number = v[0].i, .life = iso->life };
	if (d && keel_when_durable(iso->mod, is_durable, d) == 0) {
		iso->n_durables++;
		return;
	}
	free(d);
	keel_supervise_give_up(iso->process, "its process waits for the store too often");
}
