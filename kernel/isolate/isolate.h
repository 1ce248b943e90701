/* SPDX-License-Identifier: Apache-2.0
 *
 * isolate.h - a module in a process of its own, as kernel/module sees it: a descriptor like any other,
 * whose functions ask that process. The daemon never maps the file.
 */
#ifndef KEELSON_ISOLATE_H
#define KEELSON_ISOLATE_H

#include "keel/module.h"
#include "wire/buf.h"
#include "util/owner.h"

struct isolate;

struct isolate_limits {
	int64_t memory;       /* bytes of address space */
	int64_t deadline_ms;  /* how long one call may take */
	int64_t deaths, within_ms; /* so many in that time, and it is not started again */
	const char *user;     /* when the daemon is root; copied */
};

/* Start the process, let it open and describe the file. Waits; for start-up. `name` and `path` are
 * copied. What may not be isolated is refused by name. */
int isolate_open(struct parts *parts, const char *name, const char *path,
		 const struct isolate_limits *limits, struct isolate **ret_isolate, struct keel_err *err);
/* The same without waiting: `done` is called once, from the loop, with 0 or -errno and *err; the isolate
 * can be closed at any time, then it is not called. */
typedef void isolate_done_fn(void *arg, int ret, const struct keel_err *err);
int isolate_begin(struct parts *parts, const char *name, const char *path,
		  const struct isolate_limits *limits, isolate_done_fn *done, void *arg,
		  struct isolate **ret_isolate, struct keel_err *err);
void isolate_close(struct isolate *iso); /* NULL is fine */
/* isolate_close() from inside `done`. */
void isolate_end_soon(struct isolate *iso);

/* What it is, with functions that ask the process; owned by the isolate. They find it by owner.isolate. */
const struct keel_module *isolate_descriptor(const struct isolate *iso);
/* Ask its check() about a filled configuration. While the daemon serves this, init(), start() and reconf() are
 * begun, no more: isolate_settled() tells how far they are. 1: not yet; 0: done; -errno: *err, of which step
 * *ret_what says. A failure is told once, isolate_unsettled() forgets it. */
int isolate_settled(struct isolate *iso, const char **ret_what, struct keel_err *err);
void isolate_unsettled(struct isolate *iso);
int isolate_check(struct isolate *iso, const void *conf, struct keel_err *err);
/* Its taps are in their chains: from now on they are asked there. */
void isolate_attach(struct isolate *iso, struct owner *owner);

/* "process PID up, restarts: N", appended: what an administrator sees. */
void isolate_describe(const struct isolate *iso, struct buf *out);

#endif
