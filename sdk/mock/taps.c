/* SPDX-License-Identifier: Apache-2.0
 *
 * taps.c - what taps answer is looked at before the engine judges it.
 */
#include <utlist.h>

#include "hook/inside.h"
#include "host.h"

struct watched {
	struct watched *next;
	struct keel_mock *mock;
	const struct owner *owner;
	const char *name;
	bool generic;
	void *arg;
	union keel_tap_fn fn;
};

static keel_verdict call_watched(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct watched w = *(struct watched *)arg;
	const struct op *op = (const struct op *)c;
	keel_verdict v = w.generic ? w.fn.generic(c, point, event, w.arg) : point_infos[point].invoke(&(struct tap){ .fn = w.fn, .point = point }, c, event);

	if (v < KEEL_FAIL || v > KEEL_WAIT || !(op->point->allowed & VERDICT_BIT(v)))
		violation(w.mock, "bad-verdict", "%s answered %d at %s", w.name, v, op->point->info->name);
	else if (v == KEEL_WAIT && op->holds == NULL)
		violation(w.mock, "wait-without-hold", "%s at %s", w.name, op->point->info->name);
	else if (v != KEEL_WAIT && op->holds != NULL)
		violation(w.mock, "hold-without-wait", "%s at %s", w.name, op->point->info->name);
	return v;
}

void taps_watch(struct keel_mock *mock, struct owner *owner)
{
	FOR_EACH_TAP(mock->parts.hooks, t) {
		struct watched *w;

		if (t->owner != owner || t->fn.generic == call_watched)
			continue;
		w = host_alloc(sizeof(*w));
		*w = (struct watched){ .mock = mock, .owner = owner, .name = host_keep(mock, host_dup(t->name)),
				       .generic = t->invoke == invoke_any, .arg = t->arg, .fn = t->fn };
		t->invoke = invoke_any;
		t->fn.generic = call_watched;
		t->arg = w;
		LL_PREPEND(mock->watched, w);
	}
}

void taps_forget(struct keel_mock *mock, const struct owner *owner)
{
	struct watched *w, *next;

	LL_FOREACH_SAFE(mock->watched, w, next) {
		if (owner != NULL && w->owner != owner)
			continue;
		LL_DELETE(mock->watched, w);
		free(w);
	}
}
