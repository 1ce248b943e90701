/* SPDX-License-Identifier: Apache-2.0
 *
 * crumb.h - breadcrumbs: which callback of which module runs on this thread, for reports of a crash, a standstill or
 * an overrun of a budget.
 *
 * A caller of a module puts a crumb on its stack around the call. Handlers of signals read them: plain stores,
 * no lock and no clock. The calls of taps have crumbs, too (kernel/hook, which also finds the overruns).
 */
#ifndef KEELSON_CRUMB_H
#define KEELSON_CRUMB_H

#include <signal.h>
#include <stdatomic.h>

#include "util/owner.h"

struct crumb {
	const struct crumb *outer;
	struct owner *owner; /* NULL: the kernel */
	const char *what;    /* "timer"; NULL: a tap, of the operation that contains the crumb */
	const char *object;  /* the id or name it is about, or NULL */
	uint64_t number;     /* no other on this thread has it */
};

extern _Thread_local const struct crumb *crumb_top; /* the innermost; NULL: the kernel's own code runs */
extern _Thread_local uint64_t crumb_count;
/* Set by the clock tick: the innermost call has lasted at least a tick's time. */
extern _Thread_local volatile sig_atomic_t crumb_is_late;
/* Called at the end of such a call; set by kernel/hook. */
extern void (*crumb_late)(const struct crumb *c);

static inline void crumb_begin(struct crumb *c, struct owner *owner, const char *what, const char *object)
{
	*c = (struct crumb){ crumb_top, owner, what, object, ++crumb_count };
	atomic_signal_fence(memory_order_release); /* a handler reads what it points to */
	crumb_top = c;
}

static inline void crumb_end(const struct crumb *c)
{
	if (__builtin_expect(crumb_is_late, 0))
		crumb_late(c);
	crumb_top = c->outer;
}

/* Runs a statement that calls into the module `owner`. */
#define CRUMB_CALL(owner, what, object, ...)                         \
	do {                                                         \
		struct crumb crumb_here;                             \
                                                                     \
		crumb_begin(&crumb_here, (owner), (what), (object)); \
		__VA_ARGS__;                                         \
		crumb_end(&crumb_here);                              \
	} while (0)

#endif
