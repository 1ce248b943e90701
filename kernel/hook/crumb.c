/* SPDX-License-Identifier: Apache-2.0
 *
 * crumb.c - which tap runs on this thread, for a report about a crash or a standstill.
 *
 * It is asked in a signal handler: plain loads of what the interrupted thread itself wrote.
 */
#include "hook/inside.h"

_Thread_local const struct op *crumb;

static const struct tap *tap_of(const struct op *op)
{
	return op->at < op->chain->n ? op->chain->tap[op->at] : NULL;
}

bool hooks_crumb(struct hooks_crumb *ret)
{
	const struct op *op = crumb;
	const struct tap *t = op != NULL ? tap_of(op) : NULL;

	if (t == NULL)
		return false;
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
