/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.c - an event that outlives the call it was raised in.
 *
 * One block: the copy, its event, the strings. Objects are recorded by class and id and looked up before the copy is
 * used again. A draft cannot be looked up; its raiser keeps it until done().
 */
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"

static struct keel_obj *obj_look_up(struct hooks *h, const struct copy_obj *o)
{
	return h->object->find(&h->self.pub, o->klass, o->id);
}

/* Where strings go. `to` NULL: their length is measured only. */
struct pen {
	char *to;
	size_t len;
};

static const char *string_put(struct pen *pen, const char *text)
{
	size_t at = pen->len, len = text != NULL ? strlen(text) + 1 : 0;

	pen->len += len;
	return pen->to != NULL && text != NULL ? memcpy(pen->to + at, text, len) : NULL;
}

/* Copies what the fields of `event` point to. `c` NULL: measures it, and counts the objects. */
static uint32_t copy_fields(struct hooks *h, struct copy *c, const struct point *p, const void *event, struct pen *pen)
{
	uint32_t n_objs = 0;

	for (const struct keel_field *f = p->info->fields(); f->name != NULL; f++) {
		const char *field = (const char *)event + f->offset, *copied;
		struct copy_obj o = { .at = f->offset };

		if (f->type == KEEL_FIELD_STR) {
			copied = string_put(pen, *(const char *const *)field);
			if (c != NULL)
				memcpy((char *)(uintptr_t)c->event + o.at, &copied, sizeof(copied));
		} else if (f->type == KEEL_FIELD_OBJ && h->object != NULL) {
			o.obj = *(struct keel_obj *const *)field;
			if (o.obj == NULL)
				continue;
			o.klass = string_put(pen, h->object->klass(o.obj));
			o.id = string_put(pen, h->object->id(o.obj));
			if (c != NULL) {
				o.draft = obj_look_up(h, &o) != o.obj;
				c->objs[n_objs] = o;
			}
			n_objs++;
		}
	}
	return n_objs;
}

struct copy *copy_event(struct hooks *h, const struct point *p, const void *event)
{
	struct pen pen = { 0 };
	struct copy *c;
	uint32_t n_objs;
	size_t head;
	char *room;

	(void)hooks_object(h); /* looks it up */
	n_objs = copy_fields(h, NULL, p, event, &pen);
	head = sizeof(struct copy) + n_objs * sizeof(struct copy_obj);
	c = malloc(head + p->event_size + pen.len);
	if (c == NULL)
		return NULL;
	room = (char *)c + head;
	memcpy(room, event, p->event_size);
	memcpy(room, &p->event_size, sizeof(uint32_t));
	c->event = room;
	pen = (struct pen){ .to = room + p->event_size };
	c->n_objs = copy_fields(h, c, p, event, &pen);
	return c;
}

bool copy_valid(struct hooks *h, const struct copy *c)
{
	for (uint32_t i = 0; i < c->n_objs; i++) {
		struct keel_obj *now = obj_look_up(h, &c->objs[i]);

		if (now != c->objs[i].obj && !(c->objs[i].draft && now == NULL))
			return false;
	}
	return true;
}

void copy_refresh(struct hooks *h, struct copy *c)
{
	static struct keel_obj *const none = NULL;

	for (uint32_t i = 0; i < c->n_objs; i++) {
		if (obj_look_up(h, &c->objs[i]) != c->objs[i].obj)
			memcpy((char *)(uintptr_t)c->event + c->objs[i].at, &none, sizeof(none));
	}
}
