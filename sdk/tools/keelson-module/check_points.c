/* SPDX-License-Identifier: Apache-2.0
 *
 * check_points.c - what can be raised on a stage.
 *
 * A published point is known by its name: its id is another one in each host and after each reload. What is known of
 * it is copied, since it belongs to a module that comes and goes.
 */
#include "check_points.h"

#include <stdlib.h>
#include <string.h>

#include "check_events.h"

static struct {
	struct point own[KEEL_POINT_MAX - KEEL_POINT_OWN];
	unsigned n_map, n_own;
	bool listens[KEEL_POINT_MAX], known; /* by place in the list */
} seen;

bool is_published(const struct point *p)
{
	return p->id >= KEEL_POINT_OWN;
}

bool stage_points_seen(void)
{
	return seen.known;
}

/* False: there is no memory for it, or it has more fields than an event of this kit. */
static bool copy(const struct keel_point_def *d, uint32_t id, struct point *ret)
{
	struct keel_field *fields = calloc(d->n_fields + 1, sizeof(*fields));

	for (uint32_t i = 0; fields != NULL && i < d->n_fields; i++)
		fields[i] = (struct keel_field){ strdup(d->fields[i].name), d->fields[i].type, d->fields[i].offset };
	*ret = (struct point){ .id = id, .kind = d->kind, .daemon = KEEL_ANY, .name = strdup(d->name), .kind_name = "",
			       .doc = "", .event_size = d->event_size, .n_fields = d->n_fields, .fields = fields };
	return fields != NULL && ret->name != NULL && d->event_size <= sizeof(struct event);
}

/* "a.tap b.tap": is one of them the module's, also one that it added at run time? */
static bool listens(struct stage *s, uint32_t point)
{
	const char *at = keel_mock_chain(s->mock, point), *name = s->of->m->name;

	while (s->mod != NULL && *at != '\0') {
		if (strncmp(at, name, strlen(name)) == 0 && at[strlen(name)] == '.')
			return true;
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return false;
}

void stage_points_see(struct stage *s)
{
	const struct keel_hook_api *hook = keel_mock_group(s->mock, "hook");
	const struct point *p;

	if (seen.known)
		return;
	for (; (p = point_at(seen.n_map)) != NULL; seen.n_map++)
		seen.listens[seen.n_map] = listens(s, p->id);
	for (uint32_t id = KEEL_POINT_OWN; s->mod != NULL && id < KEEL_POINT_MAX; id++) {
		struct keel_point_def d = { .size = sizeof(d) };

		if (hook->about(keel_mock_self(s->mock), id, &d) < 0 || !copy(&d, id, &seen.own[seen.n_own]))
			continue;
		seen.listens[seen.n_map + seen.n_own++] = listens(s, id);
	}
	seen.known = true;
}

const struct point *stage_point(unsigned i)
{
	if (i < seen.n_map)
		return point_at(i);
	return i - seen.n_map < seen.n_own ? &seen.own[i - seen.n_map] : NULL;
}

bool stage_listens(unsigned i)
{
	return seen.listens[i];
}

uint32_t stage_point_id(struct stage *s, const struct point *p)
{
	const struct keel_hook_api *hook = keel_mock_group(s->mock, "hook");

	return is_published(p) ? hook->point(keel_mock_self(s->mock), p->name) : p->id;
}
