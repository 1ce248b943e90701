/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.c - a queue of functions to be called.
 */
#include "loop/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 64

/* Makes room for one more at the end: moves the queue to the front, or enlarges the array. 0 or -ENOMEM. */
static int room(struct calls *c)
{
	size_t size = c->size == 0 ? SIZE_FIRST : c->size * 2, n = c->end - c->first;
	struct call *at;

	if (c->end < c->size)
		return 0;
	if (n <= c->size / 2 && c->size > 0) {
		memmove(c->at, c->at + c->first, n * sizeof(*c->at));
	} else {
		at = reallocarray(c->at, size, sizeof(*at));
		if (at == NULL)
			return -ENOMEM;
		memmove(at, at + c->first, n * sizeof(*at));
		c->at = at;
		c->size = size;
	}
	c->first = 0;
	c->end = n;
	return 0;
}

int calls_add(struct calls *c, loop_fn *fn, void *arg)
{
	int ret = room(c);

	if (ret == 0)
		c->at[c->end++] = (struct call){ fn, arg };
	return ret;
}

bool calls_none(const struct calls *c)
{
	return c->first == c->end;
}

bool calls_take(struct calls *c, struct call *ret)
{
	if (calls_none(c))
		return false;
	*ret = c->at[c->first++];
	if (c->first == c->end)
		c->first = c->end = 0;
	return true;
}

static void nothing(void *arg)
{
	(void)arg;
}

void calls_forget(struct calls *c, loop_fn *fn, void *arg)
{
	for (size_t i = c->first; i < c->end; i++) {
		if (c->at[i].fn == fn && c->at[i].arg == arg)
			c->at[i].fn = nothing;
	}
}

void calls_fini(struct calls *c)
{
	free(c->at);
	*c = (struct calls){ 0 };
}
