/* SPDX-License-Identifier: Apache-2.0
 *
 * shape.c - what jobs request of vnodes, server and queue, for jobs of all owners.
 *
 * Groups of one shape share what a search for a place has found out.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

static void shape_free(struct shape *s)
{
	keel_resource_select_free(s->select);
	free(s->key);
	free(s);
}

static struct shape *shape_create(const char *key, const char *select,
				  const char *place)
{
	struct shape *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->key = strdup(key);
	if (!s->key || keel_resource_select_parse(select, &s->select, NULL) ||
	    keel_resource_place_parse(place, &s->place, NULL)) {
		shape_free(s);
		return NULL;
	}
	return s;
}

struct shape *shape_get(struct keel_mod *mod, const char *key, const char *select,
			const char *place)
{
	struct state *st = mod->state;
	struct shape *s;

	HASH_FIND_STR(st->shapes, key, s);
	if (!s && (s = shape_create(key, select, place))) {
		HASH_ADD_KEYPTR(hh, st->shapes, s->key, strlen(s->key), s);
		if (!s->hh.tbl) { /* no memory for it */
			shape_free(s);
			s = NULL;
		}
	}
	if (s)
		s->refs++;
	return s;
}

void shape_put(struct keel_mod *mod, struct shape *shape)
{
	struct state *st = mod->state;

	if (!shape || --shape->refs)
		return;
	HASH_DEL(st->shapes, shape);
	shape_free(shape);
}
