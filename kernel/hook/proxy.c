/* SPDX-License-Identifier: Apache-2.0
 *
 * proxy.c - what stands in for code that is elsewhere needs to know: what a point is, how a handler of
 * any type is called, the operation behind a hold.
 */
#include <string.h>

#include "hook/inside.h"

bool hooks_point(uint32_t id, struct hooks_point *ret)
{
	for (uint32_t i = 0; i < n_point_infos; i++) {
		const struct point_info *p = &point_infos[i];

		if (p->id != id)
			continue;
		*ret = (struct hooks_point){ p->name, p->kind, p->daemon, p->event_size };
		return true;
	}
	return false;
}

const struct keel_field *hooks_fields(uint32_t point, uint32_t *ret_n)
{
	return point_fields(point, ret_n);
}

keel_verdict hooks_invoke(uint32_t point, union keel_tap_fn fn, struct keel_call *c, const void *event)
{
	const struct tap t = { .fn = fn, .point = point };

	for (uint32_t i = 0; i < n_point_infos; i++) {
		if (point_infos[i].id == point)
			return point_infos[i].invoke(&t, c, event);
	}
	return KEEL_FAIL;
}

void hooks_proxy(struct hooks *h, struct owner *owner, keel_any_fn *fn,
		 void *(*arg_of)(void *arg, uint32_t point, const char *tap), void *arg)
{
	size_t skip = strlen(owner->pub.name) + 1;

	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		for (struct tap *t = h->point[i].taps; t != NULL; t = t->next) {
			if (t->owner != owner)
				continue;
			t->invoke = invoke_any;
			t->any = fn;
			t->arg = arg_of(arg, t->point, t->name + skip);
		}
	}
}

void hooks_bench(struct hooks *h, struct owner *owner)
{
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		for (struct tap *t = h->point[i].taps; t != NULL; t = t->next) {
			if (t->owner == owner)
				t->off |= TAP_BENCHED;
		}
	}
}

struct keel_call *hooks_hold_call(struct keel_hold *hold)
{
	return &((struct hold *)hold)->op->pub;
}
