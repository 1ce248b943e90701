/* SPDX-License-Identifier: Apache-2.0
 *
 * crumb.c - what a breadcrumb says, for reports of a crash or a standstill: called in signal handlers.
 */
#include "hook/inside.h"

static const struct op *op_of(const struct crumb *c)
{
	return (const struct op *)((const char *)c - offsetof(struct op, crumb));
}

const struct tap *crumb_tap(const struct crumb *c)
{
	return c->what == NULL ? op_of(c)->chain->tap[op_of(c)->at] : NULL;
}

bool hooks_crumb(const struct crumb *c, struct hooks_crumb *ret)
{
	const struct tap *t = c != NULL ? crumb_tap(c) : NULL;

	if (c == NULL)
		return false;
	if (t == NULL)
		*ret = (struct hooks_crumb){ .owner = c->owner, .name = owner_name(c->owner), .what = c->what,
					     .object = c->object };
	else
		*ret = (struct hooks_crumb){ .is_tap = true, .owner = t->owner, .name = t->name,
					     .what = op_of(c)->point->info->name,
					     .object = event_id(op_of(c)->point, op_of(c)->event) };
	return true;
}
