/* SPDX-License-Identifier: Apache-2.0
 *
 * object.c - the group object: an object is a name, each read and write a question to the daemon. What would need memory of
 * the daemon (drafts, change sets, views, values of other modules' types) is not there and says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "host.h"

#define WALK_STEP 128
#define ATTR_ALIVE 0x41545452u

/* It lives as long as the process. */
struct keel_attr {
	unsigned magic;
	struct keel_attr *next;
	char *klass, *name;
	uint32_t flags;
};

/* ---- attributes ------------------------------------------------------------------------------------- */
static const struct keel_attr *object_attr(struct keel_mod *m, const char *klass, const char *name)
{
	struct keel_attr *a;
	struct answer answer;

	(void)m;
	if (!klass || !name)
		return NULL;
	LL_FOREACH(host.attrs, a) {
		if (strcmp(a->name, name) == 0 && strcmp(a->klass, klass) == 0)
			return a;
	}
	ask(&answer, UP_attr, klass, name);
	if (take_int(&answer.in) != 0) {
		a = own(calloc(1, sizeof(*a)));
		*a = (struct keel_attr){ .magic = ATTR_ALIVE, .klass = own(strdup(klass)), .name = own(strdup(name)),
					 .flags = (uint32_t)take_int(&answer.in) };
		LL_PREPEND(host.attrs, a);
	}
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

/* NULL: one of them is none. */
static struct keel_obj *both(const struct keel_obj *obj, const struct keel_attr *a)
{
	struct keel_obj *o = handle_check(obj);

	return a && a->magic == ATTR_ALIVE ? o : NULL;
}

/* ---- objects ------------------------------------------------------------------------------------------ */
static struct keel_obj *object_find(struct keel_mod *m, const char *klass, const char *id)
{
	(void)m;
	return klass && id && ask_code(UP_find, klass, id) != 0 ? handle_new(klass, id) : NULL;
}

static const char *object_id(const struct keel_obj *obj)
{
	const struct keel_obj *o = handle_check(obj);

	return o ? o->id : "";
}

static const char *object_klass(const struct keel_obj *obj)
{
	const struct keel_obj *o = handle_check(obj);

	return o ? o->klass : "";
}

static uint32_t object_count(struct keel_mod *m, const char *klass)
{
	(void)m;
	return (uint32_t)ask_code(UP_count, klass);
}

/* ---- walks: a piece of the class at a time ------------------------------------------------------------- */
struct keel_cursor {
	char *klass, *ids[WALK_STEP];
	char *last; /* the id that was fetched last, NULL at the beginning */
	uint32_t n, at;
	bool ended;
};

static struct keel_cursor *object_cursor(struct keel_mod *m, const char *klass)
{
	struct keel_cursor *c = own(calloc(1, sizeof(*c)));

	(void)m;
	c->klass = own(strdup(klass));
	return c;
}

static void ids_free(struct keel_cursor *c)
{
	while (c->n > 0)
		free(c->ids[--c->n]);
	c->at = 0;
}

static void fetch(struct keel_cursor *c)
{
	struct answer a;
	int64_t n;

	ids_free(c);
	ask(&a, UP_walk, c->klass, c->last, (int64_t)WALK_STEP);
	for (n = take_int(&a.in); n > 0 && c->n < WALK_STEP; n--)
		c->ids[c->n++] = own(strdup(take_str(&a.in)));
	ask_end(&a);
	c->ended = c->n < WALK_STEP;
	free(c->last);
	c->last = c->n > 0 ? own(strdup(c->ids[c->n - 1])) : NULL;
}

static struct keel_obj *object_next(struct keel_cursor *c)
{
	if (c && c->at == c->n && !c->ended)
		fetch(c);
	return c && c->at < c->n ? handle_new(c->klass, c->ids[c->at++]) : NULL;
}

static void object_cursor_close(struct keel_cursor *c)
{
	if (!c)
		return;
	ids_free(c);
	free(c->klass);
	free(c->last);
	free(c);
}

/* ---- reading --------------------------------------------------------------------------------------------- */
static bool object_is_set(const struct keel_obj *obj, const struct keel_attr *a)
{
	struct keel_obj *o = both(obj, a);

	return o && ask_code(UP_integer, o->klass, o->id, a->name) != 0;
}

static int64_t object_get_int(const struct keel_obj *obj, const struct keel_attr *a)
{
	struct keel_obj *o = both(obj, a);
	struct answer answer;
	int64_t n;

	if (!o)
		return 0;
	ask(&answer, UP_integer, o->klass, o->id, a->name);
	take_int(&answer.in);
	n = take_int(&answer.in);
	ask_end(&answer);
	return n;
}

static const char *object_get_str(const struct keel_obj *obj, const struct keel_attr *a)
{
	struct keel_obj *o = both(obj, a);
	struct answer answer;
	const char *text;

	if (!o)
		return NULL;
	ask(&answer, UP_string, o->klass, o->id, a->name);
	text = borrow_text(take_str(&answer.in));
	ask_end(&answer);
	return text;
}

static int32_t object_text(struct keel_obj *obj, const struct keel_attr *a, const char *key, char *buf, uint32_t len)
{
	struct keel_obj *o = both(obj, a);
	struct answer answer;

	if (!o)
		return -ENOENT;
	ask(&answer, UP_text, (int64_t)0, o->klass, o->id, a->name, key);
	return text_take(&answer, buf, len);
}

static void object_emit(struct keel_obj *obj, const struct keel_attr *a, const char *key, const struct keel_emit *emit)
{
	struct keel_obj *o = both(obj, a);
	struct answer answer;

	if (!o)
		return;
	ask(&answer, UP_emit, o->klass, o->id, a->name, key);
	while (take_int(&answer.in) == 1) {
		const char *its = take_str(&answer.in), *text;
		uint32_t len;

		text = take_bytes(&answer.in, &len);
		if (text)
			emit->fn(emit->arg, its, text, len);
	}
	ask_end(&answer);
}

/* ---- writing, as the system does --------------------------------------------------------------------------- */
static void object_set_int(struct keel_obj *obj, const struct keel_attr *a, int64_t n)
{
	struct keel_obj *o = both(obj, a);

	if (o)
		ask_code(UP_set_int, o->klass, o->id, a->name, n);
}

static int32_t object_set_text(struct keel_obj *obj, const struct keel_attr *a, int32_t op, const char *key, const char *text,
			       struct keel_err *err)
{
	struct keel_obj *o = both(obj, a);
	struct answer answer;

	if (!o)
		return fail_with(err, -ENOENT, "there is no object or no attribute");
	ask(&answer, UP_set_text, o->klass, o->id, a->name, (int64_t)op, key, text);
	return step_take(&answer, err);
}

static int32_t object_set_str(struct keel_obj *o, const struct keel_attr *a, const char *text)
{
	return object_set_text(o, a, KEEL_SET, NULL, text, NULL);
}

static void object_unset(struct keel_obj *obj, const struct keel_attr *a, const char *key)
{
	struct keel_obj *o = both(obj, a);

	if (o)
		ask_code(UP_unset, o->klass, o->id, a->name, key);
}

/* ---- what is not here ---------------------------------------------------------------------------------------- */
REFUSED_ERR(draft, struct keel_obj *, NULL, struct keel_mod *, const char *, const char *)
REFUSED_ERR(clone, struct keel_obj *, NULL, struct keel_mod *, struct keel_obj *, const char *)
REFUSED(publish, int32_t, -ENOTSUP, struct keel_obj *)
REFUSED(destroy, void, , struct keel_obj *)
REFUSED(swap, void, , struct keel_obj *, struct keel_obj *)
REFUSED_ERR(match, int32_t, -ENOTSUP, struct keel_obj *, const struct keel_attr *, int32_t, const char *, const char *)
REFUSED(get_ptr, const void *, NULL, const struct keel_obj *, const struct keel_attr *)
REFUSED(set_ptr, void, , struct keel_obj *, const struct keel_attr *, void *)
REFUSED(changes, struct keel_changes *, NULL, struct keel_mod *)
REFUSED_ERR(change, int32_t, -ENOTSUP, struct keel_changes *, const struct keel_session *, struct keel_obj *,
	    const struct keel_attrop *)
REFUSED_ERR(change_text, int32_t, -ENOTSUP, struct keel_changes *, struct keel_obj *, const struct keel_attr *, int32_t, const char *,
	    const char *)
REFUSED(change_peek, int32_t, -ENOTSUP, struct keel_changes *, struct keel_obj *, const struct keel_attr *, const char *, char *,
	uint32_t)
REFUSED(change_slot, const union keel_slot *, NULL, struct keel_changes *, struct keel_obj *, const struct keel_attr *)
REFUSED(change_each, void, , struct keel_changes *, void (*)(void *, struct keel_obj *, const struct keel_attr *), void *)
REFUSED(change_emit, void, , struct keel_changes *, struct keel_obj *, const struct keel_attr *, const char *,
	const struct keel_emit *)
REFUSED(commit, void, , struct keel_changes *)
REFUSED(view, struct keel_view *, NULL, struct keel_mod *, const char *, const struct keel_wanted *, uint32_t, uint32_t)
REFUSED(view_close, void, , struct keel_view *)
REFUSED(pack, int32_t, -ENOTSUP, struct keel_obj *, const char *, struct keel_view *, struct keel_out *)
REFUSED(rows, void, , struct keel_mod *, const char *, void (*)(void *, const struct keel_attr_def *), void *)

const struct keel_object_api host_object = {
	.size = sizeof(host_object), .draft = draft, .publish = publish, .destroy = destroy,
	.find = object_find, .id = object_id, .klass = object_klass, .count = object_count, .cursor = object_cursor,
	.next = object_next, .cursor_close = object_cursor_close, .attr = object_attr, .attr_name = object_attr_name,
	.attr_flags = object_attr_flags, .is_set = object_is_set, .get_int = object_get_int, .get_str = object_get_str,
	.get_ptr = get_ptr, .text = object_text, .emit = object_emit, .set_int = object_set_int,
	.set_str = object_set_str, .set_ptr = set_ptr, .set_text = object_set_text, .unset = object_unset,
	.match = match, .changes = changes, .change = change,
	.change_text = change_text, .change_peek = change_peek, .change_slot = change_slot,
	.change_each = change_each, .commit = commit, .discard = commit, .slot_bind = slot_bind,
	.slot = slot_get, .view = view, .view_close = view_close, .pack = pack, .rows = rows,
	.swap = swap, .clone = clone, .change_emit = change_emit,
};
