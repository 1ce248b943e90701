/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.h - a queue of functions to be called.
 */
#ifndef KEELSON_CALLS_H
#define KEELSON_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "loop/loop.h"

struct call {
	loop_fn *fn;
	void *arg;
};

/* at[first..end) are queued. */
struct calls {
	struct call *at;
	size_t first, end, size;
};

int calls_add(struct calls *c, loop_fn *fn, void *arg); /* 0 or -ENOMEM */
bool calls_take(struct calls *c, struct call *ret);     /* removes the oldest; false: none */
void calls_forget(struct calls *c, loop_fn *fn, void *arg); /* drops those with this fn and arg */
bool calls_none(const struct calls *c);
void calls_fini(struct calls *c);

#endif
