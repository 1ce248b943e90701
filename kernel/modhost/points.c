/* SPDX-License-Identifier: Apache-2.0
 *
 * points.c - what the group "hook" tells about points: those of the map. Points that modules publish, and taps
 * beyond those of the descriptor, stay in the daemon.
 */
#include <errno.h>
#include <string.h>

#include "keel/sized.h"
#include "modhost/host.h"
#include "util/err.h"

uint32_t points_named(struct keel_mod *m, const char *name)
{
	struct hooks_point p;

	(void)m;
	for (uint32_t id = 1; name != NULL && id < KEEL_POINT_OWN; id++) {
		if (hooks_point(id, &p) && strcmp(p.name, name) == 0)
			return id;
	}
	return 0;
}

int32_t points_about(struct keel_mod *m, uint32_t point, struct keel_point_def *ret)
{
	struct keel_point_def d = { .size = sizeof(d), .doc = "" };
	struct hooks_point p;

	(void)m;
	if (!hooks_point(point, &p))
		return -ENOENT;
	d.kind = p.kind;
	d.name = p.name;
	d.event_size = p.event_size;
	d.fields = hooks_fields(point, &d.n_fields);
	keel_sized_give(ret, &d);
	return 0;
}

uint32_t points_define(struct keel_mod *m, const struct keel_point_def *def, struct keel_err *err)
{
	(void)m, (void)def;
	err_set(err, -ENOTSUP, "a module in a process of its own cannot publish a point");
	return 0;
}

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
