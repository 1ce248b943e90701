/* SPDX-License-Identifier: Apache-2.0
 *
 * objects.c - create and destroy the object engine; the API group "object".
 */
#include "object/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "registry/registry.h"
#include "util/err.h"

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
