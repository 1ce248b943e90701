/* SPDX-License-Identifier: Apache-2.0
 *
 * objects.c - the life of one object, and the private memory of modules on it; the engine and its API table.
 *
 *   draft -> live -> dead -> freed      a draft may die too; then nothing of it was ever stored
 *
 * A dead object has no values and no private memory left, only its id: the store front still has to
 * delete its row, and change sets may still refer to it. They free it.
 */
#include "object/objects.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "object/object.h"
#include "registry/registry.h"
#include "util/crumb.h"
#include "util/err.h"

#define ID_MAX 1024u

/* ---- private memory ------------------------------------------------------------------------ */

/* A module wants some on the objects of a class. */
struct bind {
	struct class *klass;
	struct bind *next; /* of the owner */
	uint32_t size;
	void (*fini)(struct keel_mod *, void *slot);
};

/* What it has on one object, made at first use. */
struct piece {
	struct piece *next;
	struct owner *owner;
	_Alignas(max_align_t) char bytes[];
};

static struct bind *bind_of(const struct owner *owner, const struct class *c)
{
	struct bind *b = owner->binds;

	while (b && b->klass != c)
		b = b->next;
	return b;
}

static int32_t private_bind(struct keel_mod *m, const char *klass, uint32_t size,
			    void (*fini)(struct keel_mod *, void *slot))
{
	struct class *c = class_get(objects_of(m), klass);
	struct owner *owner = owner_of(m);
	struct bind *b;

	if (size == 0)
		return -EINVAL;
	if (c && bind_of(owner, c))
		return -EEXIST;
	b = c ? malloc(sizeof(*b)) : NULL;
	if (!b)
		return -ENOMEM;
	*b = (struct bind){ c, owner->binds, size, fini };
	owner->binds = b;
	return 0;
}

/* The piece that was used last comes first: a scan of many objects looks at one of each, and another one is a cache miss. */
static void *private_slot(struct keel_mod *m, struct keel_obj *o)
{
	struct piece **at = &o->pieces, *p;
	const struct bind *b;

	while ((p = *at) && p->owner != owner_of(m))
		at = &p->next;
	if (p && at != &o->pieces) {
		*at = p->next;
		LL_PREPEND(o->pieces, p);
	}
	if (p)
		return p->bytes;
	b = o->flags & OBJ_DEAD ? NULL : bind_of(owner_of(m), o->klass);
	p = b ? calloc(1, sizeof(*p) + b->size) : NULL;
	if (!p)
		return NULL;
	p->owner = owner_of(m);
	LL_PREPEND(o->pieces, p);
	return p->bytes;
}

/* While its destructor runs, it and the object's other pieces still exist. */
static void piece_free(void *owner, struct keel_obj *o)
{
	const struct bind *b = bind_of(owner, o->klass);
	struct piece *p = o->pieces;

	while (p && p->owner != owner)
		p = p->next;
	if (!p)
		return;
	if (b->fini)
		CRUMB_CALL(p->owner, "slot destructor", NULL, b->fini(&p->owner->pub, p->bytes));
	LL_DELETE(o->pieces, p);
	free(p);
}

void objects_detach(struct owner *owner)
{
	struct bind *b;

	while ((b = owner->binds)) {
		class_each(b->klass, piece_free, owner);
		owner->binds = b->next;
		free(b);
	}
}

/* ---- begin and end ------------------------------------------------------------------------- */

struct keel_obj *obj_create(struct class *c, const char *id, size_t len)
{
	struct keel_obj *o = calloc(1, offsetof(struct keel_obj, text) + len + 1);

	if (!o)
		return NULL;
	index_key_init(&o->id, memcpy(o->text, id, len), len);
	o->klass = c;
	o->flags = OBJ_DRAFT;
	DL_APPEND(c->drafts, o);
	return o;
}

int obj_link(struct keel_obj *o)
{
	struct order *l = &o->klass->live;
	int rc = index_add(&o->klass->ids, &o->id);

	if (rc < 0)
		return rc;
	rc = order_room(o->klass);
	if (rc < 0) {
		index_remove(&o->klass->ids, &o->id);
		return rc;
	}
	DL_DELETE(o->klass->drafts, o);
	o->place = l->n++;
	l->at[o->place] = o;
	l->taken++;
	o->flags &= (uint16_t)~OBJ_DRAFT;
	return 0;
}

/* Private memory that a destructor requests meanwhile is freed, too. */
static void obj_empty(struct keel_obj *o)
{
	while (o->pieces)
		piece_free(o->pieces->owner, o);
	value_drop_all(o);
	free(o->raw);
	o->raw = NULL;
}

static void obj_free(void *unused, struct keel_obj *o)
{
	(void)unused;
	obj_empty(o);
	free(o);
}

void obj_retire(struct keel_obj *o)
{
	if (!o->changes && (o->flags & (OBJ_DEAD | OBJ_DIRTY | OBJ_KEEP)) == OBJ_DEAD)
		free(o);
}

void objects_saved(struct keel_obj *o)
{
	o->flags &= (uint16_t)~(OBJ_DIRTY | OBJ_KEEP);
	obj_retire(o);
}

static void obj_dirty(struct keel_obj *o)
{
	struct objects *all = o->klass->objects;

	if (o->flags & OBJ_DIRTY)
		return;
	o->flags |= OBJ_DIRTY;
	all->dirty(all->dirty_arg, o);
}

void write_touch(struct keel_obj *o)
{
	if (!(o->flags & (OBJ_DRAFT | OBJ_DEAD)) && (o->klass->def.flags & KEEL_CLASS_SAVE))
		obj_dirty(o);
}

void obj_complete(void *unused, struct keel_obj *o)
{
	struct raw *raw = o->raw;

	(void)unused;
	if (!o->klass->declared)
		return;
	if (raw) {
		struct pack_reader r = { (unsigned char *)raw->bytes, (unsigned char *)raw->bytes + raw->len, false };

		o->raw = NULL;
		if (raw_decode(o, &r, raw->n) < 0)
			value_lost();
		free(raw);
	}
	obj_reset(o);
}

void obj_reset(struct keel_obj *o)
{
	EACH_BIT(number, o->klass->reset[w] & ~o->set[w]) {
		const struct keel_attr *a = o->klass->by_number[number];

		(void)value_parse(o, a, KEEL_SET, NULL, a->def.fallback, NULL);
	}
}

/* ---- the API's part ------------------------------------------------------------------------ */

static struct keel_obj *draft(struct class *c, const char *id, struct keel_err *err)
{
	size_t len = id ? strlen(id) : 0, plain = 0;
	struct keel_obj *o;

	while (plain < len && !iscntrl((unsigned char)id[plain]))
		plain++;
	if (len == 0 || len > ID_MAX || plain < len) {
		err_set(err, PBSE_IVAL_OBJ_NAME, "%s", pbse_text(PBSE_IVAL_OBJ_NAME));
		return NULL;
	}
	if (obj_find(c, id)) {
		err_set(err, -EEXIST, "%s '%s' already exists", c->name, id);
		return NULL;
	}
	o = obj_create(c, id, len);
	if (!o)
		err_no_memory(err);
	return o;
}

static struct keel_obj *object_draft(struct keel_mod *m, const char *klass, const char *id, struct keel_err *err)
{
	struct class *c = class_find(objects_of(m), klass);
	struct keel_obj *o;
	int32_t rc = 0;

	if (!c) {
		err_set(err, -ENOENT, "no module declares the class '%s'", klass ? klass : "");
		return NULL;
	}
	o = draft(c, id, err);
	for (uint32_t i = 0; o && i < c->n_attrs && rc == 0; i++)
		if (c->listed[i]->def.fallback) /* the type accepted it when the row was added */
			rc = value_parse(o, c->listed[i], KEEL_SET, NULL, c->listed[i]->def.fallback, err);
	if (rc == 0)
		return o;
	object_destroy(o);
	return NULL;
}

/* Its values, in the order of their numbers; not its private memory. */
static int copy_slots(struct keel_obj *to, const struct keel_obj *from)
{
	const union keel_slot *slot = from->slot;

	if (value_reserve(to, from->n) < 0)
		return -ENOMEM;
	EACH_BIT(number, from->set[w]) {
		const struct keel_attr *a = from->klass->by_number[number];

		slot++;
		if (a->def.flags & KEEL_ATTR_OWN)
			continue;
		if (type_copy(a->type, slot - 1, &to->slot[to->n]) < 0)
			return -ENOMEM;
		bit_set(to->set, number);
		to->n++;
	}
	return 0;
}

static struct keel_obj *object_clone(struct keel_mod *m, struct keel_obj *from, const char *id, struct keel_err *err)
{
	struct keel_obj *o = draft(from->klass, id, err);

	(void)m;
	if (!o)
		return NULL;
	if (copy_slots(o, from) < 0 || (from->raw && raw_add(o, from->raw->bytes, from->raw->len, from->raw->n) < 0)) {
		err_no_memory(err);
		object_destroy(o);
		return NULL;
	}
	return o;
}

void obj_notify(struct keel_obj *o)
{
	EACH_BIT(number, o->set[w] & o->klass->notified[w])
		attr_changed(o->klass->by_number[number], o);
}

static int32_t object_publish(struct keel_obj *o)
{
	int rc = o->flags & OBJ_DRAFT ? obj_link(o) : -EINVAL;

	if (rc < 0)
		return rc;
	write_touch(o);
	obj_notify(o);
	return 0;
}

/* The struct is freed by objects_saved(), so that a caller up the stack may still read its id. */
void object_destroy(struct keel_obj *o)
{
	bool draft;

	if (!o || o->flags & OBJ_DEAD)
		return;
	draft = o->flags & OBJ_DRAFT;
	obj_empty(o);
	if (draft) {
		DL_DELETE(o->klass->drafts, o);
	} else {
		o->klass->live.at[o->place] = NULL;
		o->klass->live.taken--;
		index_remove(&o->klass->ids, &o->id);
	}
	o->flags |= OBJ_DEAD;
	if (draft && !(o->flags & OBJ_KEEP))
		obj_retire(o);
	else
		obj_dirty(o);
}

/* ---- the engine ----------------------------------------------------------------------------- */

struct keel_obj *objects_find(struct objects *o, const char *klass, const char *id)
{
	struct class *c = class_find(o, klass);

	return c ? obj_find(c, id) : NULL;
}

static struct keel_obj *object_find(struct keel_mod *m, const char *klass, const char *id)
{
	return id ? objects_find(objects_of(m), klass, id) : NULL;
}

const char *objects_id(const struct keel_obj *o)
{
	return o->id.text;
}

const char *objects_class(const struct keel_obj *o)
{
	return o->klass->name;
}

void *objects_store(const struct keel_obj *o)
{
	return o->klass->objects->dirty_arg;
}

static uint32_t count(struct keel_mod *m, const char *klass)
{
	const struct class *c = class_find(objects_of(m), klass);

	return c ? c->ids.n : 0;
}

static const struct keel_attr *attr(struct keel_mod *m, const char *klass, const char *name)
{
	const struct class *c = class_find(objects_of(m), klass);

	return c && name ? attr_find(c, name, strlen(name)) : NULL;
}

static const char *attr_name(const struct keel_attr *a)
{
	return a->def.name;
}

static uint32_t attr_flags(const struct keel_attr *a)
{
	return a->def.flags;
}

static void rows(struct keel_mod *m, const char *klass,
		 void (*fn)(void *arg, const struct keel_attr_def *), void *arg)
{
	const struct class *c = class_find(objects_of(m), klass);

	for (uint32_t i = 0; c && i < c->n_attrs; i++)
		fn(arg, &c->listed[i]->def);
}

static const struct keel_object_api api = {
	.size = sizeof(struct keel_object_api),
	.draft = object_draft,
	.publish = object_publish,
	.destroy = object_destroy,
	.find = object_find,
	.id = objects_id,
	.klass = objects_class,
	.count = count,
	.cursor = cursor_open,
	.next = cursor_next,
	.cursor_close = cursor_close,
	.attr = attr,
	.attr_name = attr_name,
	.attr_flags = attr_flags,
	.is_set = read_is_set,
	.get_int = read_int,
	.get_str = read_str,
	.get_ptr = read_ptr,
	.text = read_text,
	.emit = read_emit,
	.set_int = write_int,
	.set_str = write_str,
	.set_ptr = write_ptr,
	.set_text = write_text,
	.unset = write_unset,
	.match = read_match,
	.swap = object_swap,
	.changes = changes_create,
	.change = changes_ask,
	.change_text = changes_text,
	.change_peek = changes_peek,
	.change_slot = changes_slot,
	.change_each = changes_each,
	.commit = changes_commit,
	.discard = changes_discard,
	.slot_bind = private_bind,
	.slot = private_slot,
	.view = view_open,
	.view_close = view_close,
	.pack = view_pack,
	.rows = rows,
	.clone = object_clone,
	.change_emit = changes_emit,
};

int objects_create(struct registry *r, void (*dirty)(void *arg, struct keel_obj *), void *arg,
		   struct objects **ret_objects)
{
	struct objects *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return -ENOMEM;
	o->registry = r;
	o->dirty = dirty;
	o->dirty_arg = arg;
	rc = vocabulary_create(o);
	if (rc == 0)
		rc = registry_offer(r, "object", &api);
	if (rc < 0) {
		objects_destroy(o);
		return rc;
	}
	*ret_objects = o;
	return 0;
}

void objects_destroy(struct objects *o)
{
	if (!o)
		return;
	while (o->changes)
		changes_discard(o->changes);
	for (struct class *c = o->classes; c; c = c->next)
		class_each(c, obj_free, NULL);
	vocabulary_destroy(o);
	buf_fini(&o->row);
	buf_fini(&o->text);
	free(o);
}
