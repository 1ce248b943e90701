/* SPDX-License-Identifier: Apache-2.0
 *
 * departed.c - objects that went before the process has heard what happened to them.
 *
 * A job ends, everybody is told, and in the same turn it is destroyed: a tap inside the daemon has looked at it by
 * then, the process has not even read the event. So a copy is kept until it has been told all that was sent
 * before, and is found under the object's id by whoever asks outside of calls.
 * Invariant: a departed belongs to one process and is a draft; when its class goes, the draft goes first.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "isolate/inside.h"

static void let_go(struct process *p, struct departed *d)
{
	DL_DELETE(p->departed, d);
	p->n_departed--;
	free(d->id);
	free(d);
}

static void end(struct process *p, struct departed *d)
{
	struct keel_obj *obj = d->obj;

	let_go(p, d);
	p->iso->object->destroy(obj);
}

static void keep(struct process *p, struct keel_obj *obj)
{
	struct departed *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return;
	d->id = strdup(objects_id(obj));
	d->obj = d->id != NULL ? objects_copy(obj) : NULL;
	if (d->obj == NULL) {
		free(d->id);
		free(d);
		return;
	}
	d->until = p->told + p->notes;
	DL_APPEND(p->departed, d);
	p->n_departed++;
}

/* Somebody else ends our copy: its class goes. */
static void lose(struct process *p, const struct keel_obj *obj)
{
	struct departed *d, *next;

	DL_FOREACH_SAFE(p->departed, d, next) {
		if (d->obj == obj)
			let_go(p, d);
	}
}

static void object_ends(void *arg, struct keel_obj *obj)
{
	const struct isolate *iso = arg;

	if (objects_is_draft(obj)) {
		if (iso->now != NULL)
			lose(iso->now, obj);
	} else if (process_hears(iso->now) && iso->now->notes > 0 && iso->now->n_departed < DEPARTED_MAX) {
		keep(iso->now, obj);
	}
}

void departed_unwatch(struct isolate *iso)
{
	if (iso->end.fn != NULL)
		objects_end_forget(iso->parts->objects, &iso->end);
	iso->end.fn = NULL;
}

void departed_watch(struct isolate *iso)
{
	departed_unwatch(iso); /* an init() that failed is not followed by fini() */
	iso->end = (struct objects_end){ .fn = object_ends, .arg = iso };
	objects_end_tell(iso->parts->objects, &iso->end);
}

struct keel_obj *departed_find(const struct process *p, const char *klass, const char *id)
{
	const struct departed *d;

	DL_FOREACH(p->departed, d) {
		if (strcmp(d->id, id) == 0 && strcmp(objects_class(d->obj), klass) == 0)
			return d->obj;
	}
	return NULL;
}

void departed_told(struct process *p)
{
	while (p->departed != NULL && p->departed->until <= p->told)
		end(p, p->departed);
}

void departed_drop(struct process *p)
{
	while (p->departed != NULL)
		end(p, p->departed);
}
