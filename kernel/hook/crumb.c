/* SPDX-License-Identifier: Apache-2.0
 *
 * crumb.c - which tap, timer, request or work of a module runs on this thread, for reports of a crash or a standstill.
 *
 * hooks_crumb() is called in a signal handler: plain loads of what the interrupted thread itself wrote.
 */
#include "hook/inside.h"
#include "loop/loop.h"

_Thread_local const struct op *crumb;
static _Thread_local const struct hooks_guard *guard;

void hooks_guard_begin_aside(struct hooks_guard *g, struct owner *owner, const char *what)
{
	*g = (struct hooks_guard){ .owner = owner, .what = what, .outer = guard };
	guard = g;
}

void hooks_guard_begin(struct hooks_guard *g, struct owner *owner, const char *what, const char *object)
{
	hooks_guard_begin_aside(g, owner, what);
	g->object = object;
	g->begun_ns = loop_clock_ns(owner->parts->loop);
}

void hooks_guard_end(struct hooks_guard *g)
{
	guard = g->outer;
	if (g->begun_ns != 0 && g->owner->parts->hooks != NULL)
		budget_guarded(g->owner, g->what, g->object, loop_clock_ns(g->owner->parts->loop) - g->begun_ns);
}

static const struct tap *tap_of(const struct op *op)
{
	return op->at < op->chain->n ? op->chain->tap[op->at] : NULL;
}

bool hooks_crumb(struct hooks_crumb *ret)
{
	const struct op *op = crumb;
	const struct tap *t = op != NULL ? tap_of(op) : NULL;

	if (t == NULL && guard != NULL)
		*ret = (struct hooks_crumb){ .tap = owner_name(guard->owner), .point = guard->what,
					     .object = guard->object, .depth = 1, .call = guard };
	if (t == NULL)
		return guard != NULL;
	*ret = (struct hooks_crumb){ .tap = t->name, .point = op->point->info->name,
				     .object = event_id(op->point, op->event), .depth = op->depth,
				     .call = op, .number = tap_calls(t) };
	return true;
}

uint32_t hooks_crumbs_outside(const char **names, uint32_t max)
{
	uint32_t n = 0;

	for (const struct op *op = crumb != NULL ? crumb->outer : NULL; op != NULL && n < max;
	     op = op->outer) {
		if (tap_of(op) != NULL)
			names[n++] = tap_of(op)->name;
	}
	return n;
}
