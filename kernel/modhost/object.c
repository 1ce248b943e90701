/* SPDX-License-Identifier: Apache-2.0
 *
 * object.c - the group "object": an object is a name, each read and write a question to the daemon. What
 * would need memory of the daemon (drafts, change sets, views, values of other modules' types) is not there
 * and says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "modhost/host.h"
#include "util/err.h"

#define WALK_STEP 128
#define ATTR_ALIVE 0x41545452u
#define NOT_HERE "a module in a process of its own cannot do this"

/* Interned: it lives as long as the process. */
struct keel_attr {
	unsigned magic;
	struct keel_attr *prev, *next;
	struct host *host;
	char *klass, *name;
	uint32_t flags;
};

/* ---- attributes ------------------------------------------------------------------------------------- */
static struct keel_attr *attr_new(struct host *h, const char *klass, const char *name, uint32_t flags)
{
	struct keel_attr *a = calloc(1, sizeof(*a));

	if (a == NULL || (a->klass = strdup(klass)) == NULL || (a->name = strdup(name)) == NULL)
		abort();
	a->magic = ATTR_ALIVE;
	a->host = h;
	a->flags = flags;
	DL_APPEND(h->attrs, a);
	return a;
}

static const struct keel_attr *object_attr(struct keel_mod *m, const char *klass, const char *name)
{
	struct host *h = host_of(m);
	struct keel_attr *a;
	struct answer answer;

	if (klass == NULL || name == NULL)
		return NULL;
	DL_FOREACH(h->attrs, a) {
		if (strcmp(a->name, name) == 0 && strcmp(a->klass, klass) == 0)
			return a;
	}
	ask_begin(h, ASK_ATTR);
	talk_put_str(&h->out, klass);
	talk_put_str(&h->out, name);
	ask(h, &answer);
	if (talk_int(&answer.in) != 0)
		a = attr_new(h, klass, name, (uint32_t)talk_int(&answer.in));
	ask_end(&answer);
	return a;
}

static const char *object_attr_name(const struct keel_attr *a)
{
	return a->name;
}

static uint32_t object_attr_flags(const struct keel_attr *a)
{
	return a->flags;
}

/* A question about an object and an attribute, begun. False: one of them is none. */
static bool about(enum talk_ask what, const struct keel_obj *obj, const struct keel_attr *a)
{
	struct keel_obj *o = handle_check(obj);

	if (o == NULL || a == NULL || a->magic != ATTR_ALIVE)
		return false;
	ask_begin(o->host, what);
	talk_put_str(&o->host->out, o->klass);
	talk_put_str(&o->host->out, o->id);
	talk_put_str(&o->host->out, a->name);
	return true;
}

/* ---- objects ------------------------------------------------------------------------------------------ */
static struct keel_obj *object_find(struct keel_mod *m, const char *klass, const char *id)
{
	struct host *h = host_of(m);

	if (klass == NULL || id == NULL)
		return NULL;
	ask_begin(h, ASK_FIND);
	talk_put_str(&h->out, klass);
	talk_put_str(&h->out, id);
	return ask_code(h) != 0 ? handle_new(h, klass, id) : NULL;
}

static const char *object_id(const struct keel_obj *obj)
{
	const struct keel_obj *o = handle_check(obj);

	return o != NULL ? o->id : "";
}

static const char *object_klass(const struct keel_obj *obj)
{
	const struct keel_obj *o = handle_check(obj);

	return o != NULL ? o->klass : "";
}

static uint32_t object_count(struct keel_mod *m, const char *klass)
{
	struct host *h = host_of(m);

	ask_begin(h, ASK_COUNT);
	talk_put_str(&h->out, klass);
	return (uint32_t)ask_code(h);
}

/* ---- walks: a piece of the class at a time ------------------------------------------------------------- */
struct keel_cursor {
	struct host *host;
	char *klass, *last; /* last: the id that was fetched last, NULL at the beginning */
	char **ids;
	uint32_t n, at;
	bool ended;
};

static void ids_free(struct keel_cursor *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		free(c->ids[i]);
	free(c->ids);
	c->ids = NULL;
	c->n = c->at = 0;
}

static struct keel_cursor *object_cursor(struct keel_mod *m, const char *klass)
{
	struct keel_cursor *c = calloc(1, sizeof(*c));

	if (c == NULL || (c->klass = strdup(klass)) == NULL) {
		free(c);
		return NULL;
	}
	c->host = host_of(m);
	return c;
}

static void fetch(struct keel_cursor *c)
{
	struct answer a;
	int64_t n;

	ids_free(c);
	ask_begin(c->host, ASK_WALK);
	talk_put_str(&c->host->out, c->klass);
	talk_put_str(&c->host->out, c->last);
	talk_put_int(&c->host->out, WALK_STEP);
	ask(c->host, &a);
	n = talk_int(&a.in);
	if (n > WALK_STEP)
		n = WALK_STEP;
	c->ids = calloc((size_t)(n > 0 ? n : 1), sizeof(*c->ids));
	while (c->ids != NULL && c->n < n)
		c->ids[c->n++] = strdup(talk_text(&a.in));
	ask_end(&a);
	c->ended = c->n < WALK_STEP;
	if (c->n > 0) {
		free(c->last);
		c->last = strdup(c->ids[c->n - 1]);
	}
}

static struct keel_obj *object_next(struct keel_cursor *c)
{
	if (c == NULL)
		return NULL;
	if (c->at == c->n && !c->ended)
		fetch(c);
	return c->at < c->n ? handle_new(c->host, c->klass, c->ids[c->at++]) : NULL;
}

static void object_cursor_close(struct keel_cursor *c)
{
	if (c == NULL)
		return;
	ids_free(c);
	free(c->klass);
	free(c->last);
	free(c);
}

/* ---- reading --------------------------------------------------------------------------------------------- */
static bool object_is_set(const struct keel_obj *o, const struct keel_attr *a)
{
	return about(ASK_INT, o, a) && ask_code(o->host) != 0;
}

static int64_t object_get_int(const struct keel_obj *o, const struct keel_attr *a)
{
	struct answer answer;
	int64_t n;

	if (!about(ASK_INT, o, a))
		return 0;
	ask(o->host, &answer);
	talk_int(&answer.in);
	n = talk_int(&answer.in);
	ask_end(&answer);
	return n;
}

static const char *object_get_str(const struct keel_obj *o, const struct keel_attr *a)
{
	struct answer answer;
	const char *text;

	if (!about(ASK_STR, o, a))
		return NULL;
	ask(o->host, &answer);
	text = talk_str(&answer.in);
	if (text != NULL)
		text = borrow(o->host, text, strlen(text) + 1);
	ask_end(&answer);
	return text;
}

static const void *object_get_ptr(const struct keel_obj *o, const struct keel_attr *a)
{
	(void)a;
	if (handle_check(o) != NULL)
		host_log(o->host, KEEL_LOG_ERROR, "get_ptr(): " NOT_HERE);
	return NULL;
}

static int32_t object_text(struct keel_obj *o, const struct keel_attr *a, const char *key, char *buf,
			   uint32_t len)
{
	struct answer answer;
	int32_t code;

	if (!about(ASK_TEXT, o, a))
		return -ENOENT;
	talk_put_str(&o->host->out, key);
	ask(o->host, &answer);
	code = (int32_t)talk_int(&answer.in);
	if (code >= 0 && len > 0)
		snprintf(buf, len, "%s", talk_text(&answer.in));
	ask_end(&answer);
	return code;
}

static void object_emit(struct keel_obj *o, const struct keel_attr *a, const char *key,
			const struct keel_emit *emit)
{
	struct answer answer;

	if (!about(ASK_EMIT, o, a))
		return;
	talk_put_str(&o->host->out, key);
	ask(o->host, &answer);
	while (talk_int(&answer.in) == 1 && !talk_bad(&answer.in)) {
		const char *its = talk_str(&answer.in);
		uint32_t len;
		const char *text = talk_bytes(&answer.in, &len);

		if (!talk_bad(&answer.in))
			emit->fn(emit->arg, its, text, len);
	}
	ask_end(&answer);
}

/* A code, a PBSE code and a text. */
static int32_t code_and_err(struct host *h, struct keel_err *err)
{
	struct answer a;
	int32_t code, pbse;

	ask(h, &a);
	code = (int32_t)talk_int(&a.in);
	pbse = (int32_t)talk_int(&a.in);
	if (code != 0 && err != NULL) {
		err_set(err, code, "%s", talk_text(&a.in));
		err->code = pbse;
	}
	ask_end(&a);
	return code;
}

static int32_t object_match(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
			    const char *text, struct keel_err *err)
{
	if (!about(ASK_MATCH, o, a))
		return err_set(err, -ENOENT, "there is no object or no attribute");
	talk_put_int(&o->host->out, op);
	talk_put_str(&o->host->out, key);
	talk_put_str(&o->host->out, text);
	return code_and_err(o->host, err);
}

/* ---- writing, as the system does --------------------------------------------------------------------------- */
static void object_set_int(struct keel_obj *o, const struct keel_attr *a, int64_t n)
{
	if (!about(ASK_SET_INT, o, a))
		return;
	talk_put_int(&o->host->out, n);
	ask_code(o->host);
}

static int32_t object_set_text(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
			       const char *text, struct keel_err *err)
{
	if (!about(ASK_SET_TEXT, o, a))
		return err_set(err, -ENOENT, "there is no object or no attribute");
	talk_put_int(&o->host->out, op);
	talk_put_str(&o->host->out, key);
	talk_put_str(&o->host->out, text);
	return code_and_err(o->host, err);
}

static int32_t object_set_str(struct keel_obj *o, const struct keel_attr *a, const char *text)
{
	return object_set_text(o, a, KEEL_SET, NULL, text, NULL);
}

static void object_unset(struct keel_obj *o, const struct keel_attr *a, const char *key)
{
	if (!about(ASK_UNSET, o, a))
		return;
	talk_put_str(&o->host->out, key);
	ask_code(o->host);
}

/* There are no pointers to values, behind which one could change. */
/* ---- what is not here: a word in the log, and the answer of something that failed ----------------------------- */
static void not_here(struct host *h, const char *what)
{
	char text[160];

	snprintf(text, sizeof(text), "%s(): " NOT_HERE, what);
	host_log(h, KEEL_LOG_ERROR, text);
}

static struct keel_obj *object_draft(struct keel_mod *m, const char *klass, const char *id,
				     struct keel_err *err)
{
	(void)klass, (void)id;
	not_here(host_of(m), "draft");
	err_set(err, -ENOTSUP, NOT_HERE);
	return NULL;
}

static struct keel_obj *object_clone(struct keel_mod *m, struct keel_obj *o, const char *id,
				     struct keel_err *err)
{
	(void)o;
	return object_draft(m, NULL, id, err);
}

static int32_t object_publish(struct keel_obj *o)
{
	(void)o;
	return -ENOTSUP;
}

static void object_destroy(struct keel_obj *o)
{
	if (handle_check(o) != NULL)
		not_here(o->host, "destroy");
}

static void object_swap(struct keel_obj *a, struct keel_obj *b)
{
	(void)b;
	if (handle_check(a) != NULL)
		not_here(a->host, "swap");
}

static void object_set_ptr(struct keel_obj *o, const struct keel_attr *a, void *p)
{
	(void)a, (void)p;
	if (handle_check(o) != NULL)
		not_here(o->host, "set_ptr");
}

static struct keel_changes *object_changes(struct keel_mod *m)
{
	not_here(host_of(m), "changes");
	return NULL;
}

static int32_t object_change(struct keel_changes *c, const struct keel_session *s, struct keel_obj *o,
			     const struct keel_attrop *op, struct keel_err *err)
{
	(void)c, (void)s, (void)o, (void)op;
	return err_set(err, -ENOTSUP, NOT_HERE);
}

static int32_t object_change_text(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
				  int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)c, (void)o, (void)a, (void)op, (void)key, (void)text;
	return err_set(err, -ENOTSUP, NOT_HERE);
}

static int32_t object_change_peek(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
				  const char *key, char *buf, uint32_t len)
{
	(void)c;
	return object_text(o, a, key, buf, len);
}

static const union keel_slot *object_change_slot(struct keel_changes *c, struct keel_obj *o,
						 const struct keel_attr *a)
{
	(void)c, (void)o, (void)a;
	return NULL;
}

static void object_change_each(struct keel_changes *c,
			       void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg)
{
	(void)c, (void)fn, (void)arg;
}

static void object_commit(struct keel_changes *c)
{
	(void)c;
}

static struct keel_view *object_view(struct keel_mod *m, const char *klass, const struct keel_wanted *want,
				     uint32_t n_want, uint32_t roles)
{
	(void)klass, (void)want, (void)n_want, (void)roles;
	not_here(host_of(m), "view");
	return NULL;
}

static void object_view_close(struct keel_view *v)
{
	(void)v;
}

static int32_t object_pack(struct keel_obj *o, const char *id, struct keel_view *v, struct keel_out *out)
{
	(void)o, (void)id, (void)v, (void)out;
	return -ENOTSUP;
}

static void object_rows(struct keel_mod *m, const char *klass,
			void (*fn)(void *arg, const struct keel_attr_def *), void *arg)
{
	(void)klass, (void)fn, (void)arg;
	not_here(host_of(m), "rows");
}

const struct keel_object_api host_object = {
	.size = sizeof(host_object),
	.version = KEEL_ABI_MINOR,
	.draft = object_draft,
	.publish = object_publish,
	.destroy = object_destroy,
	.find = object_find,
	.id = object_id,
	.klass = object_klass,
	.count = object_count,
	.cursor = object_cursor,
	.next = object_next,
	.cursor_close = object_cursor_close,
	.attr = object_attr,
	.attr_name = object_attr_name,
	.attr_flags = object_attr_flags,
	.is_set = object_is_set,
	.get_int = object_get_int,
	.get_str = object_get_str,
	.get_ptr = object_get_ptr,
	.text = object_text,
	.emit = object_emit,
	.set_int = object_set_int,
	.set_str = object_set_str,
	.set_ptr = object_set_ptr,
	.set_text = object_set_text,
	.unset = object_unset,
	.match = object_match,
	.changes = object_changes,
	.change = object_change,
	.change_text = object_change_text,
	.change_peek = object_change_peek,
	.change_slot = object_change_slot,
	.change_each = object_change_each,
	.commit = object_commit,
	.discard = object_commit,
	.slot_bind = slot_bind,
	.slot = slot_get,
	.view = object_view,
	.view_close = object_view_close,
	.pack = object_pack,
	.rows = object_rows,
	.swap = object_swap,
	.clone = object_clone,
};
