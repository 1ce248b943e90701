/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/queue.h - service "queue" (offered by queues): what a queue's type means, queues that modules make.
 */
#ifndef KEEL_SERVICE_QUEUE_H
#define KEEL_SERVICE_QUEUE_H

#include "keel/types.h"
#include "keel/use.h"

/* `name` or `name.key` = value; value NULL: unset. */
struct keel_queue_set {
	const char *name, *key, *value;
};

struct keel_queue_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below, as their first argument */
	/* Are jobs of this queue started? False: they wait in it for something else to happen, as its
	 * type says; also when the type is unknown now. A queue without a type starts no jobs. */
	bool (*runs)(struct keel_mod *, struct keel_obj *queue);
	/* A queue made by a module, in this turn's transaction; `who` is for the log, which has the lines of a qmgr request (spec 11
	 * section 13): `created at request of WHO`, and `attributes set: ` with each of them. Its deletion by a request is the
	 * maker's matter (point management). Fails with 15025 (there is one), 15028 (the name is too long),
	 * a code of the values, or 15010, and *err. */
	int32_t (*create)(struct keel_mod *, const char *name, const struct keel_queue_set *, uint32_t n, const char *who,
			  struct keel_err *);
	/* Sets or unsets these, with the log lines `attributes set:  at request of WHO` and one for each. Fails likewise: nothing
	 * is changed. */
	int32_t (*change)(struct keel_mod *, struct keel_obj *queue, const struct keel_queue_set *, uint32_t n,
			  const char *who, struct keel_err *);
	/* `deleted at request of WHO`. Fails with 15027 while it has jobs that are not history. */
	int32_t (*remove)(struct keel_mod *, struct keel_obj *queue, const char *who);
};

KEEL_SERVICE(queue);
#define keel_queue_create(...) KEEL_CALL(queue, create, __VA_ARGS__)
#define keel_queue_change(...) KEEL_CALL(queue, change, __VA_ARGS__)
#define keel_queue_remove(...) KEEL_CALL(queue, remove, __VA_ARGS__)
#define keel_queue_runs(...) KEEL_CALL(queue, runs, __VA_ARGS__)

#endif
