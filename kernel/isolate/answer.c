/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.c - what a module in a process of its own asks while it runs: a table of questions, each
 * answered at once.
 *
 * It can ask what a tap inside the daemon could do, no more: changes go through the operation's change set,
 * writes to objects are those of the system. An object is found anew by class and id each time; a draft is
 * known only within the call that told of it.
 */
#include "isolate/asked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WALK_MAX 256
#define TEXT_MAX (256u * 1024u)

void answer_session(struct buf *m, const struct keel_session *s)
{
	talk_put_int(m, s != NULL);
	if (s == NULL)
		return;
	talk_put_int(m, s->roles);
	talk_put_int(m, s->uid);
	talk_put_int(m, s->gid);
	talk_put_str(m, s->user);
	talk_put_str(m, s->host);
	talk_put_str(m, s->who);
	talk_put_str(m, s->group);
	talk_put_str(m, s->groups);
}

/* ---- arguments --------------------------------------------------------------------------------------- */
struct keel_obj *asked_obj(void *arg, const char *klass, const char *id)
{
	struct asked *a = arg;
	struct keel_obj *obj = a->w->draft(a->w->arg, klass, id);

	return obj != NULL ? obj : a->w->object->find(a->w->mod, klass, id);
}

/* An object and the name of one of its attributes; *ret_attr NULL: there is no such thing. */
static struct keel_obj *obj_and_attr(struct asked *a, const struct keel_attr **ret_attr)
{
	const char *klass = talk_text(a->in), *id = talk_text(a->in), *name = talk_text(a->in);
	struct keel_obj *obj = talk_bad(a->in) ? NULL : asked_obj(a, klass, id);

	*ret_attr = obj != NULL ? a->w->object->attr(a->w->mod, klass, name) : NULL;
	return *ret_attr != NULL ? obj : NULL;
}

void asked_code(struct asked *a, int64_t code)
{
	talk_put_int(a->out, code);
}

/* -ENOENT, or what went wrong, as three values. */
void asked_err(struct asked *a, int32_t code, const struct keel_err *err)
{
	asked_code(a, code);
	talk_put_int(a->out, err->code);
	talk_put_str(a->out, err->text);
}

static void put_gone(struct asked *a)
{
	asked_err(a, -ENOENT, &(struct keel_err){ .text = "there is no such object or attribute any more" });
}

/* The answer of something like snprintf(): its length, and the text. */
typedef int32_t text_fn(struct asked *a, struct keel_obj *obj, const void *what, const char *key, char *buf,
			uint32_t len);
static void put_text(struct asked *a, text_fn *fn, struct keel_obj *obj, const void *what, const char *key)
{
	char small[1024], *buf = small;
	int32_t len = fn(a, obj, what, key, small, sizeof(small));

	if (len >= (int32_t)sizeof(small)) {
		buf = (uint32_t)len < TEXT_MAX ? malloc((size_t)len + 1) : NULL;
		len = buf != NULL ? fn(a, obj, what, key, buf, (uint32_t)len + 1) : -ENOMEM;
	}
	asked_code(a, len);
	talk_put_str(a->out, len >= 0 ? buf : NULL);
	if (buf != small)
		free(buf);
}

/* ---- call ------------------------------------------------------------------------------------------- */
static void ask_set(struct asked *a)
{
	const char *klass = talk_text(a->in), *id = talk_text(a->in), *attr = talk_text(a->in);
	const char *key = talk_str(a->in), *text = talk_str(a->in);
	struct keel_err err = { 0 };
	struct keel_obj *obj = a->w->call != NULL && !talk_bad(a->in) ? asked_obj(a, klass, id) : NULL;

	if (talk_bad(a->in))
		return;
	if (obj == NULL)
		put_gone(a);
	else
		asked_err(a, a->w->api->set(a->w->call, obj, attr, key, text, &err), &err);
}

static int32_t text_get(struct asked *a, struct keel_obj *obj, const void *what, const char *key, char *buf,
			uint32_t len)
{
	return a->w->api->get(a->w->call, obj, what, key, buf, len);
}

static int32_t text_object(struct asked *a, struct keel_obj *obj, const void *what, const char *key,
			   char *buf, uint32_t len)
{
	return a->w->object->text(obj, what, key, buf, len);
}

static void ask_get(struct asked *a)
{
	const char *klass = talk_text(a->in), *id = talk_text(a->in), *attr = talk_text(a->in);
	const char *key = talk_str(a->in);
	struct keel_obj *obj = talk_bad(a->in) ? NULL : asked_obj(a, klass, id);
	const struct keel_attr *row = obj != NULL ? a->w->object->attr(a->w->mod, klass, attr) : NULL;

	if (row == NULL) {
		asked_code(a, -ENOENT);
		talk_put_str(a->out, NULL);
	} else if (a->w->call != NULL) {
		put_text(a, text_get, obj, attr, key);
	} else {
		put_text(a, text_object, obj, row, key);
	}
}

static void ask_hold(struct asked *a)
{
	struct keel_hold_opts o = { .size = sizeof(o) };
	int64_t number = talk_int(a->in);
	const char *why = NULL;

	o.why = talk_str(a->in);
	o.until_point = (uint32_t)talk_int(a->in);
	o.until_id = talk_str(a->in);
	o.timeout_ms = talk_int(a->in);
	if (talk_bad(a->in))
		return;
	asked_code(a, a->w->call != NULL ? a->w->hold(a->w->arg, &o, number, &why) : KEEL_FAIL);
	talk_put_str(a->out, why);
}

static void ask_session(struct asked *a)
{
	answer_session(a->out, a->w->call != NULL ? a->w->api->session(a->w->call) : NULL);
}

/* ---- object: reading ---------------------------------------------------------------------------------- */
static void ask_find(struct asked *a)
{
	const char *klass = talk_text(a->in), *id = talk_text(a->in);

	asked_code(a, !talk_bad(a->in) && asked_obj(a, klass, id) != NULL);
}

static void ask_count(struct asked *a)
{
	asked_code(a, a->w->object->count(a->w->mod, talk_text(a->in)));
}

/* ---- walks: a piece at a time; the last one goes on where it was ---------------------------------------- */
void walk_end(struct walk *w, const struct keel_object_api *object)
{
	if (w->cursor != NULL)
		object->cursor_close(w->cursor);
	free(w->klass);
	free(w->last);
	*w = (struct walk){ .cursor = NULL };
}

/* Behind the object called `behind`; when that is gone, from the beginning. */
static void walk_begin(struct asked *a, struct walk *w, const char *klass, const char *behind)
{
	const struct keel_object_api *object = a->w->object;
	struct keel_obj *o = behind != NULL ? object->find(a->w->mod, klass, behind) : NULL, *at;

	walk_end(w, object);
	w->cursor = object->cursor(a->w->mod, klass);
	w->klass = strdup(klass);
	do
		at = o != NULL && w->cursor != NULL ? object->next(w->cursor) : NULL;
	while (at != NULL && at != o);
}

static bool walk_goes_on(const struct walk *w, const char *klass, const char *behind)
{
	return w->klass != NULL && w->last != NULL && behind != NULL && strcmp(w->klass, klass) == 0 &&
	       strcmp(w->last, behind) == 0;
}

static void ask_walk(struct asked *a)
{
	const char *klass = talk_text(a->in), *behind = talk_str(a->in), *ids[WALK_MAX];
	int64_t want = talk_int(a->in), n = 0;
	struct walk once = { .cursor = NULL }, *w = a->w->walk != NULL ? a->w->walk : &once;
	struct keel_obj *o;

	if (talk_bad(a->in))
		return;
	if (want > WALK_MAX)
		want = WALK_MAX;
	if (!walk_goes_on(w, klass, behind))
		walk_begin(a, w, klass, behind);
	while (w->cursor != NULL && n < want && (o = a->w->object->next(w->cursor)) != NULL)
		ids[n++] = a->w->object->id(o);
	asked_code(a, n);
	for (int64_t i = 0; i < n; i++)
		talk_put_str(a->out, ids[i]);
	free(w->last);
	w->last = n > 0 ? strdup(ids[n - 1]) : NULL;
	if (n == 0 || n < want || w == &once)
		walk_end(w, a->w->object);
}

static void ask_attr(struct asked *a)
{
	const char *klass = talk_text(a->in), *name = talk_text(a->in);
	const struct keel_attr *row = talk_bad(a->in) ? NULL : a->w->object->attr(a->w->mod, klass, name);

	asked_code(a, row != NULL);
	talk_put_int(a->out, row != NULL ? a->w->object->attr_flags(row) : 0);
}

static void ask_text(struct asked *a)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, &row);
	const char *key = talk_str(a->in);

	if (obj != NULL) {
		put_text(a, text_object, obj, row, key);
	} else {
		asked_code(a, -ENOENT);
		talk_put_str(a->out, NULL);
	}
}

static void emit_one(void *arg, const char *key, const char *text, uint32_t len)
{
	struct asked *a = arg;

	if (a->out->len > TEXT_MAX)
		return;
	talk_put_int(a->out, 1);
	talk_put_str(a->out, key);
	talk_put_bytes(a->out, text, len);
}

static void ask_emit(struct asked *a)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, &row);
	const char *key = talk_str(a->in);

	if (obj != NULL && !talk_bad(a->in))
		a->w->object->emit(obj, row, key, &(struct keel_emit){ emit_one, a });
	talk_put_int(a->out, 0);
}

static void ask_int(struct asked *a)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, &row);

	asked_code(a, obj != NULL && a->w->object->is_set(obj, row));
	talk_put_int(a->out, obj != NULL ? a->w->object->get_int(obj, row) : 0);
}

static void ask_str(struct asked *a)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, &row);

	talk_put_str(a->out, obj != NULL ? a->w->object->get_str(obj, row) : NULL);
}

static void ask_match(struct asked *a)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, &row);
	int32_t op = (int32_t)talk_int(a->in);
	const char *key = talk_str(a->in), *text = talk_text(a->in);
	struct keel_err err = { 0 };

	if (obj == NULL)
		put_gone(a);
	else if (!talk_bad(a->in))
		asked_err(a, a->w->object->match(obj, row, op, key, text, &err), &err);
}

/* ---- object: writing, as the system does ---------------------------------------------------------------- */
static void ask_set_int(struct asked *a)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, &row);
	int64_t n = talk_int(a->in);

	if (obj != NULL && !talk_bad(a->in))
		a->w->object->set_int(obj, row, n);
	asked_code(a, obj != NULL ? 0 : -ENOENT);
}

static void ask_set_text(struct asked *a)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, &row);
	int64_t op = talk_int(a->in);
	const char *key = talk_str(a->in), *text = talk_str(a->in);
	struct keel_err err = { 0 };

	if (obj == NULL || op < KEEL_SET || op > KEEL_DECR)
		put_gone(a);
	else if (!talk_bad(a->in))
		asked_err(a, a->w->object->set_text(obj, row, (int32_t)op, key, text, &err), &err);
}

static void ask_unset(struct asked *a)
{
	const struct keel_attr *row;
	struct keel_obj *obj = obj_and_attr(a, &row);
	const char *key = talk_str(a->in);

	if (obj != NULL && !talk_bad(a->in))
		a->w->object->unset(obj, row, key);
	asked_code(a, obj != NULL ? 0 : -ENOENT);
}

/* ---- hook ------------------------------------------------------------------------------------------------ */
static void ask_tapped(struct asked *a)
{
	asked_code(a, a->w->hook->tapped(a->w->mod, (uint32_t)talk_int(a->in)));
}

static int32_t text_holds(struct asked *a, struct keel_obj *obj, const void *what, const char *key,
			  char *buf, uint32_t len)
{
	(void)obj, (void)key;
	return a->w->hook->holds_text(a->w->mod, what, buf, len);
}

static void ask_holds_text(struct asked *a)
{
	put_text(a, text_holds, NULL, talk_text(a->in), NULL);
}

/* ---- request ------------------------------------------------------------------------------------------- */
static void ask_part(struct asked *a)
{
	uint64_t request = (uint64_t)talk_int(a->in);
	uint32_t len;
	const void *body = talk_bytes(a->in, &len);

	if (!talk_bad(a->in))
		asked_code(a, a->w->part(a->w->arg, request, body, len));
}

static void ask_drained(struct asked *a)
{
	asked_code(a, a->w->drained(a->w->arg, (uint64_t)talk_int(a->in)));
}

/* ---- the table ------------------------------------------------------------------------------------------- */
static void (*const questions[ASK_LAST])(struct asked *a) = {
	[ASK_SET] = ask_set,	       [ASK_GET] = ask_get,
	[ASK_HOLD] = ask_hold,	       [ASK_SESSION] = ask_session,
	[ASK_FIND] = ask_find,	       [ASK_COUNT] = ask_count,
	[ASK_WALK] = ask_walk,	       [ASK_ATTR] = ask_attr,
	[ASK_TEXT] = ask_text,	       [ASK_EMIT] = ask_emit,
	[ASK_INT] = ask_int,	       [ASK_STR] = ask_str,
	[ASK_SET_INT] = ask_set_int,   [ASK_SET_TEXT] = ask_set_text,
	[ASK_UNSET] = ask_unset,       [ASK_MATCH] = ask_match,
	[ASK_TAPPED] = ask_tapped,
	[ASK_NOTE] = ask_note,	       [ASK_HOLDS_TEXT] = ask_holds_text,
	[ASK_PART] = ask_part,	       [ASK_DRAINED] = ask_drained,
	[ASK_RAISE] = ask_raise,       [ASK_FOLD] = ask_fold,
};

bool answer(const struct whom *w, int64_t what, struct talk_in *in, struct buf *out)
{
	struct asked a = { .w = w, .in = in, .out = out };

	if (talk_bad(in) || what <= 0 || what >= ASK_LAST || questions[what] == NULL)
		return false;
	questions[what](&a);
	return !talk_bad(in);
}
