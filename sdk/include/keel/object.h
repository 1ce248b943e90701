/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/object.h - classes of objects: lookup, walks, typed attributes, change sets.
 */
#ifndef KEEL_OBJECT_H
#define KEEL_OBJECT_H

#include <string.h>

#include "keel/api.h"
#include "keel/use.h"

/* A draft is not listed, found or saved until keel_publish(); the caller publishes or destroys it. Fails with NULL
 * and *err: bad or used id, or no memory. */
static inline struct keel_obj *keel_draft(struct keel_mod *mod, const char *klass, const char *id,
					  struct keel_err *err)
{
	return KEEL_MODULE_kernel.object->draft(mod, klass, id, err);
}

/* A draft becomes an object that can be found, and is saved with this turn. -EEXIST, -ENOMEM. */
static inline int32_t keel_publish(struct keel_obj *obj)
{
	return KEEL_MODULE_kernel.object->publish(obj);
}

/* Destroys the object and its stored row. Slots' destructors run; the caller's handle is invalid afterwards. */
static inline void keel_destroy(struct keel_obj *obj)
{
	KEEL_MODULE_kernel.object->destroy(obj);
}

/* A published object by its id; NULL: there is none. Borrowed until the callback returns. */
static inline struct keel_obj *keel_find(struct keel_mod *mod, const char *klass, const char *id)
{
	return KEEL_MODULE_kernel.object->find(mod, klass, id);
}

/* Its id: what to keep. Borrowed, as long as the object lives. */
static inline const char *keel_id(const struct keel_obj *obj)
{
	return KEEL_MODULE_kernel.object->id(obj);
}

/* "job", "node" ... Borrowed. */
static inline const char *keel_klass(const struct keel_obj *obj)
{
	return KEEL_MODULE_kernel.object->klass(obj);
}

/* Published objects of a class. */
static inline uint32_t keel_count(struct keel_mod *mod, const char *klass)
{
	return KEEL_MODULE_kernel.object->count(mod, klass);
}

/* Begins to walk a class in order of creation. Objects may be destroyed and created meanwhile, and the walk may go
 * on in a later turn. The caller calls keel_cursor_close(). NULL without memory. */
static inline struct keel_cursor *keel_cursor(struct keel_mod *mod, const char *klass)
{
	return KEEL_MODULE_kernel.object->cursor(mod, klass);
}

/* The next object; NULL at the end. */
static inline struct keel_obj *keel_next(struct keel_cursor *cursor)
{
	return KEEL_MODULE_kernel.object->next(cursor);
}

/* End a walk, wherever it is. */
static inline void keel_cursor_close(struct keel_cursor *cursor)
{
	KEEL_MODULE_kernel.object->cursor_close(cursor);
}

/* An attribute whose name is only known at run time; NULL: the class has none of that name. Those of known names:
 * KEEL_ATTR_OF(). */
static inline const struct keel_attr *keel_attr_find(struct keel_mod *mod, const char *klass, const char *name)
{
	return KEEL_MODULE_kernel.object->attr(mod, klass, name);
}

/* Its name. Borrowed. */
static inline const char *keel_attr_name(const struct keel_attr *attr)
{
	return KEEL_MODULE_kernel.object->attr_name(attr);
}

/* enum keel_attr_flag bits of its row. */
static inline uint32_t keel_attr_flags(const struct keel_attr *attr)
{
	return KEEL_MODULE_kernel.object->attr_flags(attr);
}

/* Has it a value? This and the get_ functions read what is committed and stored; values that are computed
 * (derived) are read with keel_get_text() and keel_emit(). */
static inline bool keel_is_set(const struct keel_obj *obj, const struct keel_attr *attr)
{
	return KEEL_MODULE_kernel.object->is_set(obj, attr);
}

/* The value of a type that is an integer (bool, long, size, time ...); 0 when unset. */
static inline int64_t keel_get_int(const struct keel_obj *obj, const struct keel_attr *attr)
{
	return KEEL_MODULE_kernel.object->get_int(obj, attr);
}

/* The value of a type that is a string; NULL when unset. Borrowed until the callback returns. */
static inline const char *keel_get_str(const struct keel_obj *obj, const struct keel_attr *attr)
{
	return KEEL_MODULE_kernel.object->get_str(obj, attr);
}

/* slot.p of any other type, NULL when unset; what it points to belongs to the type's module. */
static inline const void *keel_get_ptr(const struct keel_obj *obj, const struct keel_attr *attr)
{
	return KEEL_MODULE_kernel.object->get_ptr(obj, attr);
}

/* As users see it: like snprintf() into buf; fails with -ENODATA when it is unset. Works for derived ones. */
static inline int32_t keel_get_text(struct keel_obj *obj, const struct keel_attr *attr, const char *key,
				    char *buf, uint32_t len)
{
	return KEEL_MODULE_kernel.object->text(obj, attr, key, buf, len);
}

/* The same, piece by piece to a function: once, or once per key (`key` NULL: all of them). */
static inline void keel_emit(struct keel_obj *obj, const struct keel_attr *attr, const char *key,
			     const struct keel_emit *emit)
{
	KEEL_MODULE_kernel.object->emit(obj, attr, key, emit);
}

/* What derive() of a row and format() of a TYPE do with a terminated text. */
static inline void keel_emit_text(const struct keel_emit *emit, const char *text)
{
	emit->fn(emit->arg, NULL, text, (uint32_t)strlen(text));
}

/* Write an integer. This and the next ones are writes by the system: at once, without permission or check
 * function, saved with this turn. Inside a GATE use keel_call_set() instead. */
static inline void keel_set_int(struct keel_obj *obj, const struct keel_attr *attr, int64_t value)
{
	KEEL_MODULE_kernel.object->set_int(obj, attr, value);
}

/* Writes a string; it is copied. Fails with -ENOMEM: the old value stays. */
static inline int32_t keel_set_str(struct keel_obj *obj, const struct keel_attr *attr, const char *text)
{
	return KEEL_MODULE_kernel.object->set_str(obj, attr, text);
}

/* Move a value of a module's own type in: the object owns it now. */
static inline void keel_set_ptr(struct keel_obj *obj, const struct keel_attr *attr, void *p)
{
	KEEL_MODULE_kernel.object->set_ptr(obj, attr, p);
}

/* Write a value of any type from its text; `op` KEEL_SET, KEEL_INCR or KEEL_DECR; `key` of a keyed type
 * (Resource_List), else NULL. 0, or a PBSE code with *err; nothing is changed then. */
static inline int32_t keel_set_text(struct keel_obj *obj, const struct keel_attr *attr, int32_t op,
				    const char *key, const char *text, struct keel_err *err)
{
	return KEEL_MODULE_kernel.object->set_text(obj, attr, op, key, text, err);
}

/* Take a value away, or one key of it. */
static inline void keel_unset(struct keel_obj *obj, const struct keel_attr *attr, const char *key)
{
	KEEL_MODULE_kernel.object->unset(obj, attr, key);
}

/* Does the object match `attr[.key] <op> value`? Returns 1 or 0; fails with a negative PBSE code and *err. For
 * status selections. */
static inline int32_t keel_match(struct keel_obj *obj, const struct keel_attr *attr, int32_t op,
				 const char *key, const char *text, struct keel_err *err)
{
	return KEEL_MODULE_kernel.object->match(obj, attr, op, key, text, err);
}

/* An empty change set: writes that are made together by keel_commit(), or not at all. The caller commits it,
 * discards it, or gives it to raise(). NULL without memory. */
static inline struct keel_changes *keel_changes(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.object->changes(mod);
}

/* Adds a change on behalf of a requester: permission, flags, check function, then parse. It fails with the PBSE
 * code of the first of them that does, and *err as users see it: the set is as it was. */
static inline int32_t keel_change(struct keel_changes *changes, const struct keel_session *session,
				  struct keel_obj *obj, const struct keel_attrop *op, struct keel_err *err)
{
	return KEEL_MODULE_kernel.object->change(changes, session, obj, op, err);
}

/* Adds a change on behalf of the system, like keel_set_text(). Fails with a PBSE code and *err. */
static inline int32_t keel_change_text(struct keel_changes *changes, struct keel_obj *obj,
				       const struct keel_attr *attr, int32_t op, const char *key,
				       const char *text, struct keel_err *err)
{
	return KEEL_MODULE_kernel.object->change_text(changes, obj, attr, op, key, text, err);
}

/* The value as this set would make it (else the object's), like keel_get_text(). */
static inline int32_t keel_change_peek(struct keel_changes *changes, struct keel_obj *obj,
				       const struct keel_attr *attr, const char *key, char *buf, uint32_t len)
{
	return KEEL_MODULE_kernel.object->change_peek(changes, obj, attr, key, buf, len);
}

/* The same piece by piece, like keel_emit(). */
static inline void keel_change_emit(struct keel_changes *changes, struct keel_obj *obj, const struct keel_attr *attr,
				    const char *key, const struct keel_emit *emit)
{
	KEEL_MODULE_kernel.object->change_emit(changes, obj, attr, key, emit);
}

/* The slot as this set would make it: NULL when unset. */
static inline const union keel_slot *keel_change_slot(struct keel_changes *changes, struct keel_obj *obj,
						      const struct keel_attr *attr)
{
	return KEEL_MODULE_kernel.object->change_slot(changes, obj, attr);
}

/* Walk what the set holds: calls fn for each (object, attribute) once. */
static inline void keel_change_each(struct keel_changes *changes,
				    void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *),
				    void *arg)
{
	KEEL_MODULE_kernel.object->change_each(changes, fn, arg);
}

/* Make all changes, and destroy the set. */
static inline void keel_commit(struct keel_changes *changes)
{
	KEEL_MODULE_kernel.object->commit(changes);
}

/* Make none, and destroy the set. NULL is fine. */
static inline void keel_discard(struct keel_changes *changes)
{
	KEEL_MODULE_kernel.object->discard(changes);
}

/* Declares private memory of this module on each object of a class: once per class, in init(). `fini` (may be
 * NULL) runs when the object or the module goes. Fails with -EEXIST the second time, -EINVAL or -ENOMEM. */
static inline int32_t keel_slot_bind(struct keel_mod *mod, const char *klass, uint32_t size,
				     void (*fini)(struct keel_mod *, void *slot))
{
	return KEEL_MODULE_kernel.object->slot_bind(mod, klass, size, fini);
}

/* That memory of this object, zeroed at first use; NULL without memory. Not stored: the caller rebuilds it in the
 * replay (job_known ...). */
static inline void *keel_slot(struct keel_mod *mod, struct keel_obj *obj)
{
	return KEEL_MODULE_kernel.object->slot(mod, obj);
}

/* A view is a compiled list of wanted attributes for a requester's roles, for keel_pack(); n_want 0: of all. NULL
 * on no memory. */
static inline struct keel_view *keel_view(struct keel_mod *mod, const char *klass,
					  const struct keel_wanted *want, uint32_t n_want, uint32_t roles)
{
	return KEEL_MODULE_kernel.object->view(mod, klass, want, n_want, roles);
}

/* NULL is fine. */
static inline void keel_view_close(struct keel_view *view)
{
	KEEL_MODULE_kernel.object->view_close(view);
}

/* Append `[id, [[attr, key, value]...]]` to an array being built; under that id, NULL: its own. One object may
 * stand for many. 0 or -ENOMEM. */
static inline int32_t keel_pack(struct keel_obj *obj, const char *id, struct keel_view *view,
				struct keel_out *out)
{
	return KEEL_MODULE_kernel.object->pack(obj, id, view, out);
}

/* The class' attribute rows in listing order, for manuals and qmgr: calls fn for each. */
static inline void keel_rows(struct keel_mod *mod, const char *klass,
			     void (*fn)(void *arg, const struct keel_attr_def *), void *arg)
{
	KEEL_MODULE_kernel.object->rows(mod, klass, fn, arg);
}

/* Two published objects of a class exchange their places in its walk. Not stored: after a restart the walk is in
 * order of creation again. */
static inline void keel_swap(struct keel_obj *obj, struct keel_obj *other)
{
	KEEL_MODULE_kernel.object->swap(obj, other);
}

/* A draft of the same class with the same values but those of KEEL_ATTR_OWN rows; private memory is not copied.
 * Fails as keel_draft() does. */
static inline struct keel_obj *keel_clone(struct keel_mod *mod, struct keel_obj *obj, const char *id,
					  struct keel_err *err)
{
	return KEEL_MODULE_kernel.object->clone(mod, obj, id, err);
}

#endif
