/* SPDX-License-Identifier: Apache-2.0
 *
 * shape.c - what jobs request of vnodes, server and queue, for jobs of all owners.
 *
 * Groups of one shape share what a search for a place has found out.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

static uint32_t hash(const char *key)
{
	uint32_t h = 2166136261u;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 16777619u;
	return h % BUCKETS;
}

static void shape_free(struct state *st, struct shape *s)
{
	st->resource->select_free(s->select);
	free(s->key);
	free(s);
}

static struct shape *shape_create(struct keel_mod *mod, const char *key, const char *select,
				  const char *place)
{
	struct state *st = mod->state;
	struct shape *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->key = strdup(key);
	if (!s->key || st->resource->select_parse(st->resource->self, select, &s->select, NULL) ||
	    st->resource->place_parse(place, &s->place, NULL)) {
		shape_free(st, s);
		return NULL;
	}
	return s;
}

struct shape *shape_get(struct keel_mod *mod, const char *key, const char *select,
			const char *place)
{
	struct state *st = mod->state;
	struct shape **at, *s;

	if (!st->shapes && !(st->shapes = calloc(BUCKETS, sizeof(*st->shapes))))
		return NULL;
	at = &st->shapes[hash(key)];
	for (s = *at; s && strcmp(s->key, key) != 0; s = s->chain)
		;
	if (!s && (s = shape_create(mod, key, select, place))) {
		s->chain = *at;
		*at = s;
	}
	if (s)
		s->refs++;
	return s;
}

void shape_put(struct keel_mod *mod, struct shape *shape)
{
	struct state *st = mod->state;
	struct shape **at = shape ? &st->shapes[hash(shape->key)] : NULL;

	if (!shape || --shape->refs)
		return;
	while (*at != shape)
		at = &(*at)->chain;
	*at = shape->chain;
	shape_free(st, shape);
}
