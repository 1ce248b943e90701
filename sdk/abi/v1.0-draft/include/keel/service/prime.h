/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/prime.h - service "prime": what time of day it is, and will be, to a scheduler.
 */
#ifndef KEEL_SERVICE_PRIME_H
#define KEEL_SERVICE_PRIME_H

#include "keel/types.h"

struct keel_prime_api {
	uint32_t size, version;
	struct keel_mod *self; /* first argument of every function below that takes a keel_mod */
	/* Is it prime time at `when` (seconds since 1970)? Without a calendar it always is. */
	bool (*is_prime)(struct keel_mod *, int64_t when);
	/* When prime time begins or ends next after `when`; 0: never, as far as a year goes. */
	int64_t (*next_change)(struct keel_mod *, int64_t when);
	/* The same, or when a dedicated time begins or ends, whatever is first. */
	int64_t (*next_event)(struct keel_mod *, int64_t when);
	/* May the job start at `start`? 0, or why not: a number of keel/sched_reason.def. */
	int32_t (*conflict)(struct keel_mod *, struct keel_obj *job, int64_t start);
};

#endif
