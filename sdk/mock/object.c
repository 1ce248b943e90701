/* SPDX-License-Identifier: Apache-2.0
 *
 * object.c - objects, their handles, walks through a class, and modules' memory on objects.
 *
 * A body is the object; a handle is what a module is given. In a strict mock each outermost callback is
 * given handles of its own, which end with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

/* ---- handles -------------------------------------------------------------------------------------- */
static struct keel_obj *handle_make(struct body *b)
{
	struct keel_obj *o = make(sizeof(*o));

	head_init(&o->head, b->klass->owner->head.mock, o);
	o->body = b;
	return o;
}

struct keel_obj *handle_of(struct body *b)
{
	struct keel_mock *mock = b->handle->head.mock;

	if (!mock->strict || mock->frame == NULL)
		return b->handle;
	if (b->fresh == NULL) {
		b->fresh = handle_make(b);
		LL_PREPEND(mock->fresh, b->fresh);
	}
	return b->fresh;
}

void handles_retire(struct keel_mock *mock)
{
	while (mock->fresh != NULL) {
		struct keel_obj *o = mock->fresh;

		mock->fresh = o->next;
		o->body->fresh = NULL;
		head_end(&o->head);
	}
}

/* A module with memory on the object is told when it goes (its destructor): until then it may keep it. */
static bool is_told_of(const struct body *b)
{
	const struct frame *f = b->klass->owner->head.mock->frame;
	const struct priv *p;

	if (f == NULL || b->dead)
		return false;
	LL_FOREACH(b->privs, p)
		if (p->bind->owner == f->mod && p->bind->fini != NULL)
			return true;
	return false;
}

bool obj_good(const struct keel_obj *o, const char *what)
{
	return (o->head.ended && is_told_of(o->body)) || head_good(&o->head, "object-after-return", what);
}

struct body *body_of(const struct keel_obj *o, const char *what)
{
	if (o == NULL)
		die("%s() was called with no object", what);
	if (!obj_good(o, what))
		return NULL;
	if (o->body->dead) {
		violation(o->head.mock, "object-freed", "%s() of %s %s", what, o->body->klass->name,
			  o->body->id);
		return NULL;
	}
	return o->body;
}

bool keel_mock_same(const struct keel_obj *a, const struct keel_obj *b)
{
	return a != NULL && b != NULL ? a->body == b->body : a == b;
}

/* ---- life ------------------------------------------------------------------------------------------- */
static struct body *body_begin(struct klass *c, const char *id, struct keel_err *err)
{
	struct body *b;

	if (id == NULL || id[0] == '\0') {
		err_set(err, -EINVAL, "an object of class '%s' needs an id", c->name);
		return NULL;
	}
	b = make(sizeof(*b));
	b->klass = c;
	b->id = dup_text(id);
	b->draft = true;
	b->handle = handle_make(b);
	DL_APPEND(c->drafts, b);
	return b;
}

struct body *body_make(struct klass *c, const char *id, struct keel_err *err)
{
	struct body *b;

	if (id != NULL && body_find(c->owner->head.mock, c->name, id) != NULL) {
		err_set(err, -EEXIST, "%s '%s' exists already", c->name, id);
		return NULL;
	}
	b = body_begin(c, id, err);
	for (struct keel_attr *a = b != NULL ? c->owner->head.mock->attrs : NULL; a != NULL; a = a->next)
		if (a->klass == c && a->def.fallback != NULL && KEEL_ATTR_HAS_VALUE(&a->def))
			value_fallback(b, a);
	return b;
}

int body_publish(struct body *b)
{
	struct keel_mock *mock = b->handle->head.mock;

	if (!b->draft)
		return -EINVAL;
	if (body_find(mock, b->klass->name, b->id) != NULL)
		return -EEXIST;
	DL_DELETE(b->klass->drafts, b);
	DL_APPEND(b->klass->live, b);
	b->draft = false;
	for (struct keel_attr *a = mock->attrs; a != NULL; a = a->next)
		if (a->klass == b->klass && value_at(b, a) != NULL)
			told_changed(b, a);
	return 0;
}

void body_destroy(struct body *b)
{
	if (b->dead)
		return;
	privs_free(b);
	changes_forget(b->handle->head.mock, NULL, b);
	cursors_step_back(b);
	values_drop_all(b);
	if (b->draft)
		DL_DELETE(b->klass->drafts, b);
	else
		DL_DELETE(b->klass->live, b);
	b->dead = true;
	DL_APPEND(b->klass->dead, b);
}

void body_free(struct body *b)
{
	privs_free(b);
	values_drop_all(b);
	while (b->blobs != NULL) {
		struct blob *x = b->blobs;

		b->blobs = x->next;
		free(x->name);
		free(x->bytes);
		free(x);
	}
	head_end(&b->handle->head);
	free(b->id);
	free(b);
}

struct body *body_find(struct keel_mock *mock, const char *klass, const char *id)
{
	const struct klass *c = klass_find(mock, klass);
	struct body *b = c != NULL ? c->live : NULL;

	while (b != NULL && strcmp(b->id, id) != 0)
		b = b->next;
	return b;
}

struct body *body_clone(struct body *from, const char *id, struct keel_err *err)
{
	struct body *b = body_begin(from->klass, id, err);

	for (uint32_t i = 0; b != NULL && i < from->n; i++) {
		union keel_slot slot;

		if (!(from->value[i].attr->def.flags & KEEL_ATTR_OWN) &&
		    slot_copy(from->value[i].attr->type, &from->value[i].slot, &slot))
			value_put(b, from->value[i].attr, slot);
	}
	return b;
}

/* ---- walks --------------------------------------------------------------------------------------------- */
struct keel_cursor {
	struct head head;
	struct mod *mod;
	struct klass *klass; /* NULL: withdrawn, or never there */
	struct body *at;     /* NULL: before the first */
	struct keel_cursor *next; /* of its class */
	struct keel_cursor *all_prev, *all_next;
};

struct keel_cursor *cursor_open(struct keel_mod *pub, const char *klass)
{
	struct mod *m = mod_in(pub, "object", "cursor");
	struct keel_cursor *cursor;

	if (m == NULL || fails(mock_of(m)))
		return NULL;
	cursor = make(sizeof(*cursor));
	head_init(&cursor->head, mock_of(m), cursor);
	cursor->mod = m;
	m->n_open_handles++;
	DL_APPEND2(mock_of(m)->cursors, cursor, all_prev, all_next);
	cursor->klass = klass_find(mock_of(m), klass);
	if (cursor->klass != NULL)
		LL_PREPEND(cursor->klass->cursors, cursor);
	return cursor;
}

struct keel_obj *cursor_next(struct keel_cursor *cursor)
{
	struct body *b;

	if (cursor == NULL || !head_good(&cursor->head, "cursor-ended", "next") || cursor->klass == NULL)
		return NULL;
	b = cursor->at != NULL ? cursor->at->next : cursor->klass->live;
	if (b == NULL)
		return NULL;
	cursor->at = b;
	return handle_of(b);
}

void cursor_close(struct keel_cursor *cursor)
{
	if (cursor == NULL || !head_good(&cursor->head, "cursor-ended", "cursor_close"))
		return;
	if (cursor->klass != NULL)
		LL_DELETE(cursor->klass->cursors, cursor);
	cursor->mod->n_open_handles--;
	DL_DELETE2(cursor->head.mock->cursors, cursor, all_prev, all_next);
	head_end(&cursor->head);
}

void cursors_fini(struct keel_mock *mock)
{
	while (mock->cursors != NULL)
		cursor_close(mock->cursors);
}

void cursors_step_back(struct body *b)
{
	struct keel_cursor *c;

	LL_FOREACH(b->klass->cursors, c)
		if (c->at == b)
			c->at = b == b->klass->live ? NULL : b->prev;
}

void cursors_end(struct klass *klass)
{
	while (klass->cursors != NULL) {
		struct keel_cursor *c = klass->cursors;

		klass->cursors = c->next;
		c->klass = NULL;
	}
}

/* ---- memory of modules ------------------------------------------------------------------------------------ */
static struct bind *bind_of(const struct klass *c, const struct mod *m)
{
	struct bind *b = c->binds;

	while (b != NULL && b->owner != m)
		b = b->next;
	return b;
}

int32_t slot_bind(struct keel_mod *pub, const char *klass, uint32_t size,
		  void (*fini)(struct keel_mod *, void *slot))
{
	struct mod *m = mod_in(pub, "object", "slot_bind");
	struct klass *c;
	struct bind *b;

	if (m == NULL || fails(mock_of(m)))
		return -ENOMEM;
	c = klass_get(mock_of(m), klass);
	if (size == 0)
		return -EINVAL;
	if (bind_of(c, m) != NULL)
		return -EEXIST;
	b = make(sizeof(*b));
	*b = (struct bind){ .next = c->binds, .owner = m, .size = size, .fini = fini };
	c->binds = b;
	return 0;
}

void *slot_get(struct keel_mod *pub, struct keel_obj *o)
{
	struct mod *m = mod_in(pub, "object", "slot");
	struct body *b = m != NULL ? body_of(o, "slot") : NULL;
	struct bind *bind = b != NULL ? bind_of(b->klass, m) : NULL;
	struct priv *p;

	if (bind == NULL)
		return NULL;
	LL_FOREACH(b->privs, p)
		if (p->bind == bind)
			return p->memory;
	if (fails(mock_of(m)))
		return NULL;
	p = make(sizeof(*p));
	p->bind = bind;
	p->memory = make(bind->size);
	LL_PREPEND(b->privs, p);
	return p->memory;
}

static void priv_free(struct body *b, struct priv *p)
{
	struct mod *m = p->bind->owner;

	LL_DELETE(b->privs, p);
	if (p->bind->fini != NULL)
		IN(m, p->bind->fini(&m->pub, p->memory));
	free(p->memory);
	free(p);
}

void privs_free(struct body *b)
{
	while (b->privs != NULL)
		priv_free(b, b->privs);
}

static void bind_leave(struct body *list, const struct bind *bind)
{
	struct priv *p, *next;

	for (struct body *b = list; b != NULL; b = b->next)
		LL_FOREACH_SAFE(b->privs, p, next)
			if (p->bind == bind)
				priv_free(b, p);
}

void binds_leave(struct keel_mock *mock, struct mod *m)
{
	for (struct klass *c = mock->klasses; c != NULL; c = c->next) {
		struct bind *bind = bind_of(c, m);

		if (bind == NULL)
			continue;
		bind_leave(c->live, bind);
		bind_leave(c->drafts, bind);
		LL_DELETE(c->binds, bind);
		free(bind);
	}
}
