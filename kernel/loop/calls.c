/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.c - a queue of functions to be called.
 */
#include "loop/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

int calls_add(struct calls *c, loop_fn *fn, void *arg)
{
	struct call *one = malloc(sizeof(*one));

	if (one == NULL)
		return -ENOMEM;
	*one = (struct call){ .fn = fn, .arg = arg };
	DL_APPEND(c->first, one);
	return 0;
}

bool calls_take(struct calls *c, struct call *ret)
{
	struct call *one = c->first;

	if (one == NULL)
		return false;
	*ret = *one;
	DL_DELETE(c->first, one);
	free(one);
	return true;
}

void calls_forget(struct calls *c, loop_fn *fn, void *arg)
{
	struct call *one, *next;

	DL_FOREACH_SAFE(c->first, one, next) {
		if (fn != NULL && (one->fn != fn || one->arg != arg))
			continue;
		DL_DELETE(c->first, one);
		free(one);
	}
}
