/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.c - objects to and from the rows of the store, and their replay at start.
 */
#include <errno.h>
#include <string.h>

#include "object/object.h"
#include "util/err.h"

#define MANY_TAPS 4u /* look at most values of an object, between them; fetching those for fewer costs more than it saves */

static uint32_t encode_values(struct buf *m, struct keel_obj *o)
{
	uint32_t n = 0, at = 0;

	EACH_BIT(number, o->set[w]) {
		const struct keel_attr *a = o->klass->by_number[number];
		const union keel_slot *slot = &o->slot[at++];

		if (!(a->def.flags & KEEL_ATTR_SAVE))
			continue;
		raw_encode(m, a, slot);
		n++;
	}
	return n;
}

/* Raw pairs come first: of two pairs of one name the later one counts. */
int objects_encode(struct keel_obj *o, const char **ret_klass, const char **ret_id,
		   const void **ret_bytes, uint32_t *ret_len, bool *ret_deleted)
{
	struct buf *m = &o->klass->objects->row;
	uint32_t n = 0;

	*ret_klass = o->klass->name;
	*ret_id = o->id.text;
	*ret_bytes = NULL;
	*ret_len = 0;
	*ret_deleted = o->flags & OBJ_DEAD;
	if (*ret_deleted || o->flags & OBJ_DRAFT) {
		/* Not freed before objects_saved(), even when change sets release it meanwhile. */
		o->flags = (uint16_t)((o->flags & ~OBJ_DIRTY) | OBJ_KEEP);
		return o->flags & OBJ_SAVED ? 0 : -ENODATA;
	}
	buf_reset(m);
	(void)pack_open_map(m);
	if (o->raw) {
		buf_add(m, o->raw->bytes, o->raw->len);
		n = o->raw->n;
	}
	n += encode_values(m, o);
	if (m->failed || m->len > UINT32_MAX)
		return -ENOMEM;
	pack_close(m, 0, n);
	o->flags &= (uint16_t)~OBJ_DIRTY;
	o->flags |= OBJ_SAVED;
	*ret_bytes = m->data;
	*ret_len = (uint32_t)m->len;
	return 0;
}

void objects_redirty(struct keel_obj *o)
{
	o->flags |= OBJ_DIRTY;
}

int objects_decode(struct objects *o, const char *klass, const char *id, const void *bytes,
		   uint32_t len, struct keel_err *err)
{
	struct pack_reader r = { bytes, (const unsigned char *)bytes + len, false };
	struct pack_value map = pack_next(&r);
	struct class *c = class_get(o, klass);
	struct keel_obj *obj = c ? obj_create(c, id, strlen(id)) : NULL;
	int rc;

	if (!obj)
		return err_set(err, -ENOMEM, "no memory to load %s '%s'", klass, id);
	rc = map.kind == PACK_MAP ? raw_decode(obj, &r, map.n) : -EPROTO;
	if (rc == 0 && r.at != r.end)
		rc = -EPROTO;
	if (rc == 0)
		rc = obj_link(obj);
	if (rc < 0) {
		object_destroy(obj);
		return err_set(err, rc, "the stored row of %s '%s' %s", klass, id,
			       rc == -EPROTO ? "is damaged; restore the store from a backup" :
			       rc == -EEXIST ? "is there twice; restore the store from a backup" :
					       "needs more memory than there is");
	}
	obj->flags |= OBJ_SAVED;
	obj_reset(obj);
	obj_notify(obj);
	return 0;
}

void objects_loaded(struct objects *o)
{
	for (struct class *c = o->classes; c; c = c->next)
		if (c->has_raw)
			class_each(c, obj_complete, NULL);
}

void objects_replay(struct objects *o, const struct objects_listener *to)
{
	for (struct class *c = o->classes; c; c = c->next) {
		uint32_t point = c->declared ? c->def.known_point : 0, n = point ? to->wants(to->arg, point) : 0;
		struct keel_cursor *cursor = n > 0 ? cursor_of(c, n >= MANY_TAPS) : NULL;
		struct keel_obj *obj;

		if (n > 0 && !cursor)
			value_lost();
		while ((obj = cursor_next(cursor)))
			to->known(to->arg, point, obj->id.text, obj);
		cursor_close(cursor);
	}
}
