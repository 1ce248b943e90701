/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.h - a queue of functions to be called; that of the virtual loop, too.
 */
#ifndef KEELSON_CALLS_H
#define KEELSON_CALLS_H

#include "loop/loop.h"

struct call {
	loop_fn *fn;
	void *arg;
	struct call *prev, *next;
};

struct calls {
	struct call *first;
};

int calls_add(struct calls *c, loop_fn *fn, void *arg); /* 0 or -ENOMEM */
bool calls_take(struct calls *c, struct call *ret);     /* removes the oldest; false: none */
void calls_forget(struct calls *c, loop_fn *fn, void *arg); /* drops those with this fn and arg; fn NULL: all */

#endif
