/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.c - questions of scripts on a server: one object, a page of a list, is this a value? The script stands
 * still until it has the answer, and so does no more: each question is a bounded piece of work.
 *
 * A list goes on where the page before ended: the walk is kept for the next question, a few of them at a time.
 */
#include "server.h"

#include <stdlib.h>

#include "keel/jobid.h"
#include "keel/service/resv.h"

static const char *const classes[] = { "job", "node", "queue", "server", "resv" };

/* The class that a question names; NULL: none that scripts may see. */
static const char *class_of(const struct value *frame)
{
	struct value v;

	value_nth(frame, 2, &v);
	for (size_t i = 0; i < KEEL_COUNT(classes); i++)
		if (value_is(&v, classes[i]))
			return classes[i];
	return NULL;
}

/* ---- one object --------------------------------------------------------------------------------------------- */
static struct keel_obj *job_of(struct keel_mod *mod, const char *id)
{
	struct keel_obj *job = keel_find(mod, "job", id);
	char whole[600];

	if (job || keel_id_number(id) != strlen(id) || strlen(id) > 256)
		return job;
	snprintf(whole, sizeof(whole), "%s.%s", id, keel_server_name(mod));
	return keel_find(mod, "job", whole);
}

static struct keel_obj *object_of(struct keel_mod *mod, const char *klass, const char *id)
{
	if (strcmp(klass, "job") == 0)
		return job_of(mod, id);
	if (strcmp(klass, "resv") == 0)
		return keel_has(resv) ? keel_resv_find(id) : NULL;
	if (strcmp(klass, "server") == 0 && *id == '\0')
		return keel_find(mod, "server", keel_server_name(mod));
	return keel_find(mod, klass, id);
}

static void answer_object(struct state *st, const struct value *frame, struct pack *out)
{
	const char *klass = class_of(frame);
	char *id = value_nth_text(frame, 3);
	struct keel_obj *obj = klass && id ? object_of(st->mod, klass, id) : NULL;

	free(id);
	if (obj)
		pack_object(st, out, obj, NULL, NULL);
	else
		pack_nothing(out);
}

/* ---- lists -------------------------------------------------------------------------------------------------- */
#define PAGE 20		     /* objects */
#define PAGE_BYTES (256 * 1024) /* a page ends behind the object that exceeds it */
#define LOOKS 1000	     /* at objects that may not be of the queue */
#define WALKS 8

struct walk {
	struct keel_cursor *cursor; /* NULL: it is free */
	const char *klass;
	char after[280], of[64]; /* the last object that it gave, and whose jobs */
	uint64_t used;
};
struct walks {
	struct walk walk[WALKS];
	uint64_t clock;
};

static void walk_end(struct walk *w)
{
	if (w->cursor)
		keel_cursor_close(w->cursor);
	*w = (struct walk){ .cursor = NULL };
}

void answers_free(struct server *server)
{
	for (size_t i = 0; server->walks && i < WALKS; i++)
		walk_end(&server->walks->walk[i]);
	free(server->walks);
	server->walks = NULL;
}

static struct walks *walks_of(struct server *server)
{
	if (!server->walks)
		server->walks = calloc(1, sizeof(*server->walks));
	return server->walks;
}

/* The one that was used least recently gives way. */
static struct walk *walk_new(struct walks *all, struct keel_mod *mod, const char *klass, const char *of)
{
	struct walk *w = &all->walk[0];

	for (size_t i = 1; i < WALKS; i++)
		if (all->walk[i].used < w->used)
			w = &all->walk[i];
	walk_end(w);
	w->cursor = keel_cursor(mod, klass);
	w->klass = klass;
	snprintf(w->of, sizeof(w->of), "%s", of);
	return w->cursor ? w : NULL;
}

/* The walk that goes on behind `after`: one that is kept, else a new one, which looks for it. */
static struct walk *walk_find(struct walks *all, struct keel_mod *mod, const char *klass, const char *after,
			      const char *of)
{
	struct keel_obj *obj;
	struct walk *w;

	for (size_t i = 0; *after && i < WALKS; i++) {
		w = &all->walk[i];
		if (w->cursor && w->klass == klass && strcmp(w->after, after) == 0 && strcmp(w->of, of) == 0)
			return w;
	}
	w = walk_new(all, mod, klass, of);
	while (w && *after && (obj = keel_next(w->cursor)) && strcmp(keel_id(obj), after) != 0)
		continue;
	return w;
}

static bool is_of(struct keel_obj *obj, const struct keel_attr *queue, const char *of)
{
	const char *name = *of && queue ? keel_get_str(obj, queue) : NULL;

	return !*of || (name && strcmp(name, of) == 0);
}

static void page_pack(struct state *st, struct walk *w, struct pack *out)
{
	const struct keel_attr *queue = keel_attr_find(st->mod, "job", "queue");
	const uint32_t begin = out->len, list = pack_open_list(out), page = pack_open_list(out);
	struct keel_obj *obj = NULL;
	uint32_t n = 0, looks = 0;

	while (n < PAGE && looks < LOOKS && out->len - begin < PAGE_BYTES && (obj = keel_next(w->cursor))) {
		looks++;
		snprintf(w->after, sizeof(w->after), "%s", keel_id(obj));
		if (!is_of(obj, queue, w->of))
			continue;
		pack_object(st, out, obj, NULL, NULL);
		n++;
	}
	pack_close(out, page, n);
	pack_text(out, obj ? w->after : NULL);
	pack_close(out, list, 2);
	if (!obj)
		walk_end(w);
}

static void page_empty(struct pack *out)
{
	const uint32_t list = pack_open_list(out);

	pack_close(out, pack_open_list(out), 0);
	pack_nothing(out);
	pack_close(out, list, 2);
}

static void take_text(const struct value *frame, uint32_t n, char *buf, size_t len)
{
	char *text = value_nth_text(frame, n);

	snprintf(buf, len, "%s", text ? text : "");
	free(text);
}

static void answer_list(struct state *st, const struct value *frame, struct pack *out)
{
	struct walks *all = walks_of(st->server);
	struct walk *w = NULL;
	const char *klass = class_of(frame);
	char after[280], of[64];

	take_text(frame, 3, after, sizeof(after));
	take_text(frame, 4, of, sizeof(of));
	if (klass && all)
		w = walk_find(all, st->mod, klass, after, strcmp(klass, "job") == 0 ? of : "");
	if (!w) {
		page_empty(out);
		return;
	}
	w->used = ++all->clock;
	page_pack(st, w, out);
}

/* ---- is this a value? --------------------------------------------------------------------------------------- */
/* As a manager's request would be judged; what no request may set is parsed alone. Nothing is changed. */
static int32_t try_value(struct keel_mod *mod, const char *klass, const struct keel_attrop *op, struct keel_err *err)
{
	const struct keel_attr *attr = keel_attr_find(mod, klass, op->name);
	struct keel_changes *ch = keel_changes(mod);
	struct keel_obj *draft = ch ? keel_draft(mod, klass, "no-such.check", err) : NULL;
	int32_t code = draft ? keel_change(ch, &server_manager, draft, op, err) : PBSE_SYSTEM;

	if (draft && code == PBSE_ATTRRO && attr)
		code = keel_change_text(ch, draft, attr, op->op, op->key, op->value, err);
	keel_discard(ch);
	if (draft)
		keel_destroy(draft);
	return code;
}

static void answer_check(struct state *st, const struct value *frame, struct pack *out)
{
	const char *klass = class_of(frame);
	struct keel_err err = { 0 };
	char *text[3] = { NULL };
	int32_t code = PBSE_NOATTR;

	for (uint32_t i = 0; i < 3; i++)
		text[i] = value_nth_text(frame, 3 + i);
	if (klass && text[0] && text[2])
		code = try_value(st->mod, klass,
				 &(struct keel_attrop){ .name = text[0], .key = text[1], .value = text[2],
						       .op = KEEL_SET }, &err);
	if (code)
		pack_text(out, err.text[0] ? err.text : keel_pbse_text(code));
	else
		pack_nothing(out);
	for (uint32_t i = 0; i < 3; i++)
		free(text[i]);
}

/* ---- questions ---------------------------------------------------------------------------------------------- */
bool answer_server(struct state *st, const struct value *frame, struct pack *out)
{
	static const struct {
		const char *what;
		void (*answer)(struct state *, const struct value *frame, struct pack *out);
	} questions[] = { { "object", answer_object }, { "list", answer_list }, { "check", answer_check } };
	struct value what;

	if (!value_nth(frame, 1, &what) || !st->server)
		return false;
	for (size_t i = 0; i < KEEL_COUNT(questions); i++)
		if (value_is(&what, questions[i].what)) {
			questions[i].answer(st, frame, out);
			return true;
		}
	return false;
}
