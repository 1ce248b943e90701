/* SPDX-License-Identifier: Apache-2.0
 *
 * points.c - what the group "hook" tells about points: those of the map, and those that the module publishes. Points of
 * other modules, and taps beyond those of the descriptor, stay in the daemon.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keel/sized.h"
#include "modhost/host.h"
#include "util/err.h"

/* A point that this module publishes. */
struct own_point {
	struct own_point *next;
	uint32_t id;
	struct keel_point_def def; /* its strings and fields are the module's */
};

static struct own_point *own_find(const struct host *h, uint32_t id)
{
	struct own_point *p = h->own_points;

	while (p != NULL && p->id != id)
		p = p->next;
	return p;
}

/* An id is given anew when the point that had it is gone. */
static void own_keep(struct host *h, uint32_t id, const struct keel_point_def *def)
{
	struct own_point *p = own_find(h, id);

	if (p == NULL) {
		p = calloc(1, sizeof(*p));
		if (p == NULL)
			abort();
		p->next = h->own_points;
		h->own_points = p;
	}
	p->id = id;
	KEEL_SIZED(&p->def, def);
}

/* ---- of the map, or of a row ------------------------------------------------------------------------------ */
static const struct keel_point_def *row_named(const struct host *h, const char *name)
{
	for (uint32_t i = 0; h->desc != NULL && i < h->desc->n_contribs; i++) {
		const struct keel_contrib *c = &h->desc->contribs[i];
		const struct keel_point_def *def = c->def;

		if (strcmp(c->kind, "POINT") == 0 && strcmp(def->name, name) == 0)
			return def;
	}
	return NULL;
}

static uint32_t published(struct host *h, const char *name)
{
	const struct keel_point_def *row = row_named(h, name);
	uint32_t id;

	ask_begin(h, ASK_POINT);
	talk_put_str(&h->out, name);
	id = (uint32_t)ask_code(h);
	if (id != 0 && row != NULL)
		own_keep(h, id, row);
	return id;
}

uint32_t points_named(struct keel_mod *m, const char *name)
{
	struct hooks_point p;

	if (name == NULL)
		return 0;
	for (uint32_t id = 1; id < KEEL_POINT_OWN; id++) {
		if (hooks_point(id, &p) && strcmp(p.name, name) == 0)
			return id;
	}
	return published(host_of(m), name);
}

int32_t points_about(struct keel_mod *m, uint32_t point, struct keel_point_def *ret)
{
	struct keel_point_def d = { .size = sizeof(d), .doc = "" };
	const struct own_point *own = own_find(host_of(m), point);
	struct hooks_point p;

	if (own != NULL) {
		d = own->def;
		d.size = sizeof(d);
	} else if (hooks_point(point, &p)) {
		d.kind = p.kind;
		d.name = p.name;
		d.event_size = p.event_size;
		d.fields = hooks_fields(point, &d.n_fields);
	} else {
		return -ENOENT;
	}
	keel_sized_give(ret, &d);
	return 0;
}

/* ---- published now ---------------------------------------------------------------------------------------- */
uint32_t points_define(struct keel_mod *m, const struct keel_point_def *theirs, struct keel_err *err)
{
	struct host *h = host_of(m);
	struct keel_point_def def;
	struct answer a;
	int32_t code;
	uint32_t id;

	KEEL_SIZED(&def, theirs);
	ask_begin(h, ASK_DEFINE);
	talk_put_point(&h->out, &def);
	ask(h, &a);
	id = (uint32_t)talk_int(&a.in);
	code = (int32_t)talk_int(&a.in);
	if (id == 0)
		err_set(err, code != 0 ? code : -EINVAL, "%s", talk_text(&a.in));
	else
		own_keep(h, id, theirs);
	ask_end(&a);
	return id;
}

/* ---- taps --------------------------------------------------------------------------------------------------- */
int32_t points_tap_on(struct keel_mod *m, const char *point, const char *name, int32_t order, keel_any_fn *fn,
		      void *arg, struct keel_err *err)
{
	(void)m, (void)order, (void)fn, (void)arg;
	return err_set(err, -ENOTSUP, "tap %s cannot be added at %s: the taps of a module in a process of its own are "
				      "those of its descriptor", name != NULL ? name : "", point != NULL ? point : "");
}

void points_tap_off(struct keel_mod *m, const char *point, const char *name)
{
	(void)m, (void)point, (void)name;
}
