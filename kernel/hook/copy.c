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

static const char *str_at(const void *event, uint32_t at)
{
	return *(const char *const *)((const char *)event + at);
}

static struct keel_obj *obj_at(const void *event, uint32_t at)
{
	return *(struct keel_obj *const *)((const char *)event + at);
}

static size_t length(const char *text)
{
	return text != NULL ? strlen(text) + 1 : 0;
}

/* Room for strings, and the number of objects. */
static size_t copy_measure(const struct keel_object_api *object, const struct keel_field *f, uint32_t n,
			   const void *event, uint32_t *ret_n_objs)
{
	size_t bytes = 0;

	*ret_n_objs = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (f[i].type == KEEL_FIELD_STR) {
			bytes += length(str_at(event, f[i].offset));
		} else if (f[i].type == KEEL_FIELD_OBJ && obj_at(event, f[i].offset) && object) {
			bytes += length(object->klass(obj_at(event, f[i].offset)));
			bytes += length(object->id(obj_at(event, f[i].offset)));
			++*ret_n_objs;
		}
	}
	return bytes;
}

static const char *string_put(char **at, const char *text)
{
	char *here = *at;

	if (text == NULL)
		return NULL;
	*at += length(text);
	return memcpy(here, text, length(text));
}

static struct keel_obj *obj_look_up(struct hooks *h, const struct copy_obj *o)
{
	return h->object->find(&h->self.pub, o->klass, o->id);
}

static void copy_fill(struct hooks *h, struct copy *c, const struct keel_field *f, uint32_t n, char *text)
{
	char *event = (char *)(uintptr_t)c->event;

	for (uint32_t i = 0; i < n; i++) {
		if (f[i].type == KEEL_FIELD_STR) {
			const char *copied = string_put(&text, str_at(event, f[i].offset));

			memcpy(event + f[i].offset, &copied, sizeof(copied));
		} else if (f[i].type == KEEL_FIELD_OBJ && obj_at(event, f[i].offset) && h->object) {
			struct copy_obj *o = &c->objs[c->n_objs++];

			o->at = f[i].offset;
			o->obj = obj_at(event, f[i].offset);
			o->klass = string_put(&text, h->object->klass(o->obj));
			o->id = string_put(&text, h->object->id(o->obj));
			o->draft = obj_look_up(h, o) != o->obj;
		}
	}
}

struct copy *copy_event(struct hooks *h, const struct point *p, const void *event)
{
	const struct keel_object_api *object = hooks_object(h);
	uint32_t n, n_objs;
	const struct keel_field *f = info_fields(p->info, &n);
	size_t text = copy_measure(object, f, n, event, &n_objs);
	size_t head = sizeof(struct copy) + n_objs * sizeof(struct copy_obj);
	struct copy *c = malloc(head + p->event_size + text);
	char *room;

	if (c == NULL)
		return NULL;
	room = (char *)c + head;
	memcpy(room, event, p->event_size);
	memcpy(room, &p->event_size, sizeof(uint32_t));
	c->event = room;
	c->n_objs = 0;
	copy_fill(h, c, f, n, room + p->event_size);
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
	static struct keel_obj *const nobody = NULL;

	for (uint32_t i = 0; i < c->n_objs; i++) {
		if (obj_look_up(h, &c->objs[i]) != c->objs[i].obj)
			memcpy((char *)(uintptr_t)c->event + c->objs[i].at, &nobody,
			       sizeof(nobody));
	}
}
